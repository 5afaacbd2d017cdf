//! Tests of the linker driver: a script stands for the real linker and keeps what it is given.

use deadheat_instrument::driver::{self, CACHE_LIMIT, Config, Face};
use deadheat_instrument::module::Placement;
use object::read::archive::ArchiveFile;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use tempfile::TempDir;

/// A directory with a linker in it that only writes down how it was called.
struct Bench {
    directory: TempDir,
    warnings: Mutex<Vec<String>>,
}

impl Bench {
    fn new() -> Bench {
        let directory = tempfile::tempdir().unwrap();
        // Inputs are gone when the driver is done, so they are copied.
        let script = "\
#!/bin/sh
here=$(dirname \"$0\")
rm -rf \"$here/seen\"; mkdir \"$here/seen\"
case $1 in @*) cp \"${1#@}\" \"$here/seen/response\"; eval set -- $(tr '\\n' ' ' < \"${1#@}\");; esac
for word; do
    echo \"$word\" >> \"$here/seen/words\"
    case $word in /*.o|/*.a|/*.rlib) cp \"$word\" \"$here/seen/\";; esac
done
[ ! -e \"$here/fail\" ] || exit 3
";
        let path = directory.path().join("linker");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Bench {
            directory,
            warnings: Mutex::default(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// An object that is bitcode, with one function of this name.
    fn bitcode(&self, name: &str) -> String {
        self.rustc(name, &["--emit", "obj", "-Clinker-plugin-lto"])
    }

    /// An object with its bitcode in a section.
    fn embedded(&self, name: &str) -> String {
        // Rustc does so only in libraries.
        let library = fs::read(self.rustc(name, &["--emit", "link", "-Cembed-bitcode=yes"])).unwrap();
        let archive = ArchiveFile::parse(&library[..]).unwrap();
        let mut members = archive.members().map(Result::unwrap);
        let object = members
            .find(|member| member.name().ends_with(b".rcgu.o"))
            .unwrap();
        let path = self.text(&format!("{name}.o"));
        fs::write(&path, object.data(&library[..]).unwrap()).unwrap();
        path
    }

    /// An object without bitcode.
    fn plain(&self, name: &str) -> String {
        self.rustc(name, &["--emit", "obj", "-Cembed-bitcode=no"])
    }

    fn rustc(&self, name: &str, flags: &[&str]) -> String {
        let text = format!("#[unsafe(no_mangle)] pub fn {name}(p: &mut u32) {{ *p = p.wrapping_add(1); }}\n");
        self.compiled(name, &text, flags)
    }

    /// An object of this source.
    fn compiled(&self, name: &str, text: &str, flags: &[&str]) -> String {
        let source = self.path("source.rs");
        fs::write(&source, format!("#![no_std]\n{text}")).unwrap();
        let object = self.text(&format!("{name}.o"));
        let status = Command::new("rustc")
            .args(["--edition", "2024", "--crate-type", "lib", "-o"])
            .arg(&object)
            .args(flags)
            .arg(&source)
            .status()
            .unwrap();
        assert!(status.success());
        object
    }

    /// An archive of these objects, made by `ar`.
    fn archive(&self, name: &str, flags: &str, objects: &[&str]) -> String {
        let path = self.text(name);
        let mut ar = Command::new("ar");
        // It does not know the symbols of bitcode, which is no matter here.
        assert!(
            ar.arg(flags)
                .arg(&path)
                .args(objects)
                .output()
                .unwrap()
                .status
                .success()
        );
        path
    }

    fn config(&self) -> Config {
        Config {
            program: self.path("linker").into(),
            runtime: PathBuf::from("/runtime/libdeadheat_rt.so"),
            cache: Some(self.path("cache")),
            cache_limit: CACHE_LIMIT,
            identity: b"test".to_vec(),
            count: false,
            log: false,
            record: false,
            selection: deadheat_instrument::select::Selection::default(),
            placement: Placement::Full,
            explain: false,
        }
    }

    fn link_with(&self, config: &Config, face: Face, words: &[&str]) -> Result<i32, String> {
        let words = words.iter().map(OsString::from).collect();
        let warn = |message: &str| self.warnings.lock().unwrap().push(message.to_owned());
        let status = driver::link(face, words, config, &warn).map_err(|error| error.to_string())?;
        Ok(status.code().unwrap())
    }

    /// Links, and answers with the words that the real linker got.
    fn link(&self, face: Face, words: &[&str]) -> Vec<String> {
        assert_eq!(self.link_with(&self.config(), face, words), Ok(0));
        let words = fs::read_to_string(self.path("seen/words")).unwrap();
        words.lines().map(str::to_owned).collect()
    }

    /// The file of this name that the real linker got.
    fn seen(&self, name: &str) -> Vec<u8> {
        fs::read(self.path("seen").join(name)).unwrap()
    }
}

/// Whether an object was instrumented: it calls the runtime.
fn is_instrumented(object: &[u8]) -> bool {
    object.starts_with(b"\x7fELF") && has(object, b"__deadheat_write4")
}

fn has(data: &[u8], part: &[u8]) -> bool {
    data.windows(part.len()).any(|window| window == part)
}

/// Members of an archive: name and whether it was instrumented.
fn members(data: &[u8]) -> Vec<(String, bool)> {
    let archive = ArchiveFile::parse(data).unwrap();
    archive
        .members()
        .map(|member| {
            let member = member.unwrap();
            let name = String::from_utf8(member.name().to_vec()).unwrap();
            (name, is_instrumented(member.data(data).unwrap()))
        })
        .collect()
}

const RUNTIME_WORDS: [&str; 4] = [
    "-Wl,--push-state",
    "-Wl,--no-as-needed",
    "/runtime/libdeadheat_rt.so",
    "-Wl,--pop-state",
];

#[test]
fn objects_are_instrumented_and_the_rest_stays_in_place() {
    let bench = Bench::new();
    let (one, two, three) = (bench.bitcode("one"), bench.embedded("two"), bench.plain("three"));
    let words = bench.link(
        Face::Compiler,
        &[
            "-m64",
            &one,
            "-Wl,--start-group",
            &two,
            &three,
            "-Wl,--end-group,--version-script=exports",
            "-Wl,-plugin-opt=O2",
            "-o",
            &bench.text("out"),
        ],
    );
    assert_eq!(words[..4], RUNTIME_WORDS);
    let names: Vec<&str> = words[4..]
        .iter()
        .map(|word| word.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "-m64",
            "one.o",
            "-Wl,--start-group",
            "two.o",
            "three.o",
            "-Wl,--end-group",
            "-Wl,--version-script=exports",
            "-o",
            "out"
        ]
    );
    assert!(is_instrumented(&bench.seen("one.o")));
    assert!(is_instrumented(&bench.seen("two.o")));
    assert_eq!(words[8], three, "it has no bitcode");
    assert_eq!(bench.seen("three.o"), fs::read(&three).unwrap());
}

#[test]
fn a_linker_is_called_as_a_linker() {
    let bench = Bench::new();
    let one = bench.bitcode("one");
    let words = bench.link(
        Face::Linker,
        &[
            "-pie",
            "-plugin",
            "/x.so",
            "-plugin-opt=O0",
            &one,
            "-lc",
            "-o",
            "out",
        ],
    );
    assert_eq!(
        words[..5],
        [
            "--push-state",
            "--no-as-needed",
            "/runtime/libdeadheat_rt.so",
            "--pop-state",
            "-pie"
        ]
    );
    assert_eq!(words[6..], ["-lc", "-o", "out"]);
    assert!(is_instrumented(&bench.seen("one.o")));
}

#[test]
fn archives_keep_their_members_and_get_a_symbol_table() {
    let bench = Bench::new();
    let (one, two, three) = (bench.bitcode("one"), bench.plain("two"), bench.embedded("three"));
    let archive = bench.archive("libmixed.a", "rcD", &[&one, &two, &three]);
    let words = bench.link(Face::Compiler, &[&archive]);
    assert!(words[4].ends_with("/libmixed.a") && words[4] != archive);
    let made = bench.seen("libmixed.a");
    let expect = [("one.o", true), ("two.o", false), ("three.o", true)];
    assert_eq!(members(&made), expect.map(|(name, is)| (name.to_owned(), is)));
    let symbols: Vec<Vec<u8>> = ArchiveFile::parse(&made[..])
        .unwrap()
        .symbols()
        .unwrap()
        .unwrap()
        .map(|symbol| symbol.unwrap().name().to_vec())
        .collect();
    for name in ["one", "two", "three"] {
        assert!(symbols.contains(&name.as_bytes().to_vec()), "{name}");
    }
}

#[test]
fn archives_without_bitcode_and_compiler_builtins_are_left_alone() {
    let bench = Bench::new();
    let plain = bench.archive("libplain.a", "rcD", &[&bench.plain("one")]);
    let builtins = bench.archive("libcompiler_builtins-1.rlib", "rcD", &[&bench.embedded("two")]);
    let words = bench.link(Face::Compiler, &[&plain, &builtins]);
    assert_eq!(words[4..], [plain, builtins]);
}

#[test]
fn libraries_are_found_by_name_and_thin_archives_filled() {
    let bench = Bench::new();
    bench.archive("libnamed.a", "rcD", &[&bench.bitcode("one")]);
    bench.archive("libthin.a", "rcTD", &[&bench.bitcode("two")]);
    let path = format!("-L{}", bench.directory.path().display());
    let words = bench.link(
        Face::Compiler,
        &[
            &path,
            "-Wl,--whole-archive",
            "-lnamed",
            "-Wl,--no-whole-archive",
            "-l:libthin.a",
            "-lm",
        ],
    );
    assert_eq!(words[5], "-Wl,--whole-archive");
    assert!(words[6].ends_with("/libnamed.a"), "{words:?}");
    assert!(words[8].ends_with("/libthin.a"), "{words:?}");
    assert_eq!(words[9], "-lm");
    assert_eq!(members(&bench.seen("libnamed.a")), [("one.o".to_owned(), true)]);
    assert_eq!(members(&bench.seen("libthin.a")), [("two.o".to_owned(), true)]);
}

#[test]
fn inputs_within_words_for_the_linker_are_replaced_there() {
    let bench = Bench::new();
    let archive = bench.archive("libinner.a", "rcD", &[&bench.bitcode("one")]);
    let words = bench.link(
        Face::Compiler,
        &[
            &format!("-Wl,--whole-archive,{archive},--no-whole-archive"),
            "-Xlinker",
            "-lm",
        ],
    );
    assert_eq!(words[4], "-Wl,--whole-archive");
    let made = words[5].strip_prefix("-Wl,").unwrap();
    assert!(made.ends_with("/libinner.a") && made != archive);
    assert_eq!(words[6..], ["-Wl,--no-whole-archive", "-Wl,-lm"]);
}

#[test]
fn response_files_are_read_and_long_lines_written_to_one() {
    let bench = Bench::new();
    let one = bench.bitcode("one");
    let file = bench.path("arguments");
    fs::write(&file, format!("{one} \"-L/a b\"\n-o out")).unwrap();
    let words = bench.link(Face::Compiler, &[&format!("@{}", file.display())]);
    assert_eq!(words[5..], ["-L/a b", "-o", "out"]);
    assert!(is_instrumented(&bench.seen("one.o")));
    assert!(!bench.path("seen/response").exists());

    let long: Vec<String> = (0..3000).map(|n| format!("-L/a/long/path/number/{n}")).collect();
    let mut words: Vec<&str> = long.iter().map(String::as_str).collect();
    words.push(&one);
    let words = bench.link(Face::Compiler, &words);
    assert!(bench.path("seen/response").exists());
    assert_eq!(words.len(), 4 + 3000 + 1);
    assert_eq!(words[4 + 2999], "-L/a/long/path/number/2999");
}

#[test]
fn an_object_gets_no_runtime() {
    let bench = Bench::new();
    let one = bench.bitcode("one");
    for (face, word) in [
        (Face::Linker, "-r"),
        (Face::Compiler, "-r"),
        (Face::Compiler, "-Wl,-r"),
    ] {
        let words = bench.link(face, &[word, &one, "-o", "out.o"]);
        assert_eq!(words[0], word);
        assert!(is_instrumented(&bench.seen("one.o")));
    }
}

#[test]
fn what_does_not_link_is_passed_on_as_it_is() {
    let bench = Bench::new();
    for words in [&["--version"][..], &["-flto", "-c", "a.c"]] {
        assert_eq!(bench.link(Face::Compiler, words), words);
    }
}

#[test]
fn static_programs_are_refused_with_a_reason() {
    let bench = Bench::new();
    let one = bench.bitcode("one");
    let refused = bench.link_with(&bench.config(), Face::Compiler, &["-static", &one]);
    assert!(refused.unwrap_err().contains("shared library"));
}

#[test]
fn the_real_linkers_status_is_ours() {
    let bench = Bench::new();
    fs::write(bench.path("fail"), "").unwrap();
    assert_eq!(bench.link_with(&bench.config(), Face::Compiler, &["a.o"]), Ok(3));
    let config = Config {
        program: "no-such-linker".into(),
        ..bench.config()
    };
    let error = bench.link_with(&config, Face::Compiler, &["a.o"]).unwrap_err();
    assert!(error.contains("no-such-linker"), "{error}");
}

#[test]
fn bitcode_that_cannot_be_read_is_named() {
    let bench = Bench::new();
    let bad = bench.text("bad.o");
    fs::write(&bad, b"BC\xc0\xde and nothing more").unwrap();
    let archive = bench.archive("libbad.a", "rcD", &[&bad]);
    for (input, part) in [(&bad, "bad.o"), (&archive, "libbad.a: bad.o")] {
        let error = bench
            .link_with(&bench.config(), Face::Compiler, &[input])
            .unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

/// What the real linker gets for `one.o` and an archive of `two.o`.
fn products(bench: &Bench, inputs: &[&str]) -> [Vec<u8>; 2] {
    bench.link(Face::Compiler, inputs);
    [bench.seen("one.o"), bench.seen("libtwo.a")]
}

#[test]
fn results_come_from_the_cache_and_damage_to_it_does_not_matter() {
    let bench = Bench::new();
    let one = bench.bitcode("one");
    let archive = bench.archive("libtwo.a", "rcD", &[&bench.bitcode("two")]);
    let inputs = [one.as_str(), archive.as_str()];
    let first = products(&bench, &inputs);
    let blobs = || -> Vec<PathBuf> {
        let entries = fs::read_dir(bench.path("cache/blobs")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    // Two objects and an archive, and what is known of two modules.
    assert_eq!(blobs().len(), 5);
    let stamps = || -> Vec<u64> {
        use std::os::unix::fs::MetadataExt;
        blobs()
            .iter()
            .map(|path| fs::metadata(path).unwrap().ino())
            .collect()
    };
    let before = stamps();
    assert_eq!(products(&bench, &inputs), first);
    assert_eq!(stamps(), before, "nothing was written again");
    let damages: [fn(&Path); 3] = [
        |path| fs::write(path, b"").unwrap(),
        |path| {
            let mut data = fs::read(path).unwrap();
            let at = data.len() / 2;
            data[at] ^= 1;
            fs::write(path, data).unwrap();
        },
        |path| fs::remove_file(path).unwrap(),
    ];
    for damage in damages {
        blobs().iter().for_each(|path| damage(path));
        assert_eq!(products(&bench, &inputs), first);
    }
}

#[test]
fn options_and_versions_do_not_share_results() {
    let bench = Bench::new();
    let one = bench.bitcode("one");
    let kept = || fs::read_dir(bench.path("cache/keys")).unwrap().count();
    bench.link(Face::Compiler, &["-Wl,-plugin-opt=O0", &one]);
    // The object, and what is known of the module whatever the options.
    assert_eq!(kept(), 2);
    bench.link(Face::Compiler, &["-Wl,-plugin-opt=O2", &one]);
    assert_eq!(kept(), 3);
    bench.link(
        Face::Compiler,
        &["-Wl,-plugin-opt=O2,-plugin-opt=mcpu=x86-64-v3", &one],
    );
    assert_eq!(kept(), 4);
    let config = Config {
        placement: Placement::Off,
        ..bench.config()
    };
    assert_eq!(
        bench.link_with(&config, Face::Compiler, &["-Wl,-plugin-opt=O2", &one]),
        Ok(0)
    );
    assert_eq!(kept(), 5);
    let config = Config {
        identity: b"other".to_vec(),
        ..bench.config()
    };
    assert_eq!(
        bench.link_with(&config, Face::Compiler, &["-Wl,-plugin-opt=O2", &one]),
        Ok(0)
    );
    assert_eq!(kept(), 7);
}

#[test]
fn a_cache_that_cannot_be_written_costs_one_warning() {
    let bench = Bench::new();
    let one = bench.bitcode("one");
    fs::write(bench.path("file"), "").unwrap();
    let config = Config {
        cache: Some(bench.path("file")),
        ..bench.config()
    };
    assert_eq!(bench.link_with(&config, Face::Compiler, &[&one]), Ok(0));
    assert!(is_instrumented(&bench.seen("one.o")));
    assert_eq!(bench.warnings.lock().unwrap().len(), 1);
}

/// A write and a read with a call in between. The check of the write stands for the read, unless the call may release.
// SAFETY: compiled and linked, never run.
const CALLER: &str = "unsafe extern \"C\" { fn step(); }
#[unsafe(no_mangle)] pub unsafe fn caller(p: *mut u32) {
    unsafe { p.write_volatile(1); step(); p.read_volatile(); }
}";
const QUIET: &str = "#[unsafe(no_mangle)] pub extern \"C\" fn step() {}";
const RELEASING: &str = "use core::sync::atomic::{AtomicU32, Ordering};
static STATE: AtomicU32 = AtomicU32::new(0);
#[unsafe(no_mangle)] pub extern \"C\" fn step() { inner() }
#[inline(never)] fn inner() { STATE.store(1, Ordering::Release) }";

#[test]
fn what_other_modules_do_decides_about_checks() {
    let bench = Bench::new();
    let lto: &[&str] = &["--emit", "obj", "-Clinker-plugin-lto"];
    let caller = bench.compiled("caller", CALLER, lto);
    let quiet = bench.compiled("quiet", QUIET, lto);
    let releasing = bench.compiled("releasing", RELEASING, lto);
    let plain = bench.compiled("plain", QUIET, &["--emit", "obj", "-Cembed-bitcode=no"]);
    let archive = bench.archive("quiet.a", "rc", &[&quiet]);
    let checked = |words: &[&str]| {
        let mut all = vec!["-Wl,-plugin-opt=O2", &caller];
        all.extend(words);
        bench.link(Face::Compiler, &all);
        has(&bench.seen("caller.o"), b"__deadheat_read4")
    };
    // Each with the same cache: what was known is part of the key.
    for (words, expected) in [
        (&[&*quiet][..], false),
        (&[&releasing], true),
        (&[&plain], true),
        (&[&quiet, &plain], true),
        (&[&archive], true),
        (&[&quiet, "-shared"], true),
        (&[&quiet, "-Wl,--wrap=step"], true),
        (&[], true),
        (&[&quiet], false),
    ] {
        assert_eq!(checked(words), expected, "{words:?}");
    }
}
