//! `deadheat cc` and `deadheat c++`: clang, for projects that build themselves (`CC="deadheat cc"`).
//!
//! An object is an ordinary one, so that archivers, `nm` and configure scripts find what they expect, and has its bitcode
//! in a section. A link goes through this command under its name as a linker, which instruments that bitcode.

use super::compilers::{self, Language};
use super::home::Home;
use super::{run, shim};
use anyhow::{Context, Result, bail};
use deadheat_instrument::module::Placement;
use deadheat_instrument::{bitcode, driver};
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What the user's own words mean for ours.
#[derive(Debug, Default, PartialEq, Eq)]
struct Line {
    /// The words for clang: the user's, but for those that choose when to compile and how to link.
    words: Vec<OsString>,
    /// The linker that the user asked for.
    linker: Option<OsString>,
    /// Objects that will be written, if nothing is linked.
    objects: Vec<PathBuf>,
    /// Which checks to leave out.
    placement: Option<Placement>,
}

/// An option of ours, for lines that reach clang as they are.
const PLACEMENT: &str = "-fdeadheat-placement=";

/// Sanitizers that keep a shadow of memory or a heap of their own.
const CONFLICTING: &[&str] = &[
    "thread",
    "address",
    "hwaddress",
    "kernel-address",
    "kernel-hwaddress",
    "memory",
    "kernel-memory",
    "memtag",
    "leak",
    "dataflow",
    "numerical",
    "type",
];

/// Options whose next word is not a file to be compiled.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-I",
    "-L",
    "-D",
    "-U",
    "-x",
    "-include",
    "-include-pch",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-T",
    "-u",
    "-z",
    "-arch",
    "-target",
    "--param",
    "--sysroot",
    "-dumpdir",
    "-mllvm",
];

/// Command lines longer than this go to clang through a file.
const LONG: usize = 64 << 10;

/// Runs clang with these arguments.
pub fn run(language: Language, arguments: Vec<OsString>) -> Result<ExitCode> {
    // Options may stand in files, which build systems write when a line gets long.
    let line = Line::read(driver::expand(arguments).context("cannot read a response file")?)?;
    let home = Home::open()?;
    let clang = compilers::find_clang()?;
    let mut command = Command::new(&clang);
    if language == Language::Cpp {
        command.arg("--driver-mode=g++");
    }
    // In front of the user's, which may say otherwise; and silent where there is nothing to compile or to link.
    // Not the option of the driver, which does not go with some others. The bitcode is that from before the optimiser.
    command.args([
        "--start-no-unused-arguments",
        "-Xclang",
        "-fembed-bitcode=all",
        "-g",
    ]);
    command
        .arg(compilers::ld_path(&home))
        .arg("--end-no-unused-arguments");
    if let Some(linker) = &line.linker {
        command.env("DEADHEAT_LD", found(&clang, linker));
    }
    if let Some(placement) = line.placement {
        command.env(shim::PLACEMENT, placement.as_str());
    }
    let mut file;
    if line.words.iter().map(|word| word.len() + 1).sum::<usize>() > LONG {
        file = tempfile::NamedTempFile::new().context("cannot make a response file")?;
        file.write_all(&driver::response_text(&line.words))
            .context("cannot write a response file")?;
        let mut word = OsString::from("@");
        word.push(file.path());
        command.arg(word);
    } else {
        command.args(&line.words);
    }
    let end = run::attended(&mut command)?;
    for object in &line.objects {
        hide_bitcode(object).with_context(|| format!("cannot finish {}", object.display()))?;
    }
    Ok(ExitCode::from(end.status()))
}

/// The linker that clang means by a name: it has one of its own in a directory that is not in the path.
fn found(clang: &OsStr, linker: &OsStr) -> OsString {
    if linker.as_encoded_bytes().contains(&b'/') {
        return linker.to_owned();
    }
    let mut question = OsString::from("-print-prog-name=");
    question.push(linker);
    let answer = Command::new(clang).arg(question).output();
    let path = answer
        .ok()
        .and_then(|answer| String::from_utf8(answer.stdout).ok());
    match path.as_deref().map(str::trim_end) {
        Some(path) if !path.is_empty() => path.into(),
        _ => linker.to_owned(),
    }
}

/// Gives the section with the bitcode another name, see [`bitcode::name_to_hide`].
fn hide_bitcode(object: &Path) -> std::io::Result<()> {
    let Ok(data) = fs::read(object) else {
        // Not written, or not where it was expected.
        return Ok(());
    };
    match bitcode::name_to_hide(&data) {
        Some((at, name)) => OpenOptions::new()
            .write(true)
            .open(object)?
            .write_all_at(name, at),
        None => Ok(()),
    }
}

impl Line {
    fn read(arguments: Vec<OsString>) -> Result<Line> {
        let mut line = Line::default();
        let (mut compiles, mut output, mut sources) = (false, None, Vec::new());
        let mut sanitizers: Vec<String> = Vec::new();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            // Names that are not UTF-8 are files.
            let text = argument.to_str().unwrap_or_default();
            if let Some(list) = text.strip_prefix("-fsanitize=") {
                sanitizers.extend(list.split(',').map(str::to_owned));
            } else if let Some(list) = text.strip_prefix("-fno-sanitize=") {
                let off: Vec<&str> = list.split(',').collect();
                sanitizers.retain(|name| !off.contains(&"all") && !off.contains(&name.as_str()));
            } else if let Some(name) = text.strip_prefix(PLACEMENT) {
                let placement = Placement::parse(name)
                    .with_context(|| format!("{text}: there are off, redundant and full"))?;
                line.placement = Some(placement);
                continue;
            } else if is_lto(text) {
                // All is compiled when it is linked anyway.
                continue;
            } else if let Some(path) = text.strip_prefix("--ld-path=") {
                line.linker = Some(path.into());
                continue;
            } else if let Some(name) = text.strip_prefix("-fuse-ld=") {
                line.linker = Some(if name.contains('/') {
                    name.into()
                } else {
                    format!("ld.{name}").into()
                });
                continue;
            } else if matches!(text, "-c" | "-E" | "-S" | "-M" | "-MM" | "-fsyntax-only") {
                compiles = text == "-c";
            } else if WITH_VALUE.contains(&text) {
                let value = arguments.next();
                if text == "-o" {
                    output = value.clone();
                }
                line.words.push(argument);
                line.words.extend(value);
                continue;
            } else if !text.starts_with('-') || text == "-" {
                sources.push(PathBuf::from(&argument));
            }
            line.words.push(argument);
        }
        refuse(&sanitizers)?;
        if compiles {
            line.objects = match output {
                Some(output) => vec![output.into()],
                None => sources
                    .iter()
                    .filter_map(|source| default_object(source))
                    .collect(),
            };
        }
        Ok(line)
    }
}

/// Whether an option is about clang's own way of compiling when it links.
fn is_lto(option: &str) -> bool {
    matches!(
        option,
        "-flto"
            | "-ffat-lto-objects"
            | "-fsplit-lto-unit"
            | "-fwhole-program-vtables"
            | "-fvirtual-function-elimination"
    ) || option.starts_with("-flto=")
        || option.starts_with("-flto-jobs=")
        || option.starts_with("-fthin-link-bitcode=")
}

/// Explains why one of these sanitizers cannot be used.
fn refuse(sanitizers: &[String]) -> Result<()> {
    for name in sanitizers {
        if CONFLICTING.contains(&name.as_str()) {
            bail!(
                "-fsanitize={name} and deadheat cannot both watch the same memory; build without it, or apart for each"
            );
        }
        if name == "cfi" || name.starts_with("cfi-") {
            bail!(
                "-fsanitize={name} needs clang's own link-time optimisation, and deadheat compiles at the link in its own way; build without it"
            );
        }
    }
    Ok(())
}

/// The object that a source is compiled to if nothing is said.
fn default_object(source: &Path) -> Option<PathBuf> {
    Some(Path::new(source.file_name()?).with_extension(OsStr::new("o")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Line> {
        Line::read(text.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn what_is_written_is_known() {
        for (text, expect) in [
            ("-c a.c", &["a.o"][..]),
            ("-c src/a.c -I include b.cc", &["a.o", "b.o"]),
            ("-c a.c -o out/x.o", &["out/x.o"]),
            ("-c -x c -", &["-.o"]),
            ("-c -include-pch all.pch a.c", &["a.o"]),
            ("a.c -o a", &[]),
            ("-E a.c -o a.i", &[]),
        ] {
            let objects = read(text).unwrap().objects;
            assert_eq!(
                objects,
                expect.iter().map(PathBuf::from).collect::<Vec<_>>(),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_ours_to_say_is_taken_out() {
        let line = read("-O2 -flto=thin -fuse-ld=lld -g1 -fdeadheat-placement=off a.o -o a -Wl,-O1").unwrap();
        assert_eq!(line.words, ["-O2", "-g1", "a.o", "-o", "a", "-Wl,-O1"]);
        assert_eq!(line.linker, Some("ld.lld".into()));
        assert_eq!(line.placement, Some(Placement::Off));
        assert!(read("-fdeadheat-placement=most a.c").is_err());
    }

    #[test]
    fn sanitizers_that_get_in_the_way_are_refused() {
        for text in [
            "-fsanitize=thread a.c",
            "-fsanitize=undefined,address a.c",
            "-fsanitize=cfi-icall -flto a.c",
            "-fno-sanitize=memory -fsanitize=memory a.c",
        ] {
            assert!(
                read(text).unwrap_err().to_string().contains("-fsanitize="),
                "{text}"
            );
        }
        for text in [
            "-fsanitize=undefined a.c",
            "-fsanitize=undefined,address -fno-sanitize=address a.c",
            "-fsanitize=thread -fno-sanitize=all a.c",
        ] {
            assert!(read(text).is_ok(), "{text}");
        }
    }
}
