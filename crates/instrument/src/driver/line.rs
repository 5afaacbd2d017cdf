//! What a command line asks for: which inputs may hold bitcode, how to compile it, what comes out.

use super::words::{Word, value};
use super::{Error, Face};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A linker's command line.
#[derive(Debug)]
pub struct Line {
    /// All of it, but for what concerns optimisation at link time.
    pub parts: Vec<Part>,
    /// What it makes.
    pub output: Output,
    /// 0 to 3.
    pub level: u8,
    /// LLVM's name of the processor.
    pub cpu: String,
    /// Whether code can be loaded anywhere.
    pub pic: bool,
    /// The file that it makes.
    pub file: PathBuf,
    /// Shared libraries that `-l` means, as far as it is known where they are.
    pub libraries: Vec<PathBuf>,
}

impl Line {
    /// The words that are no inputs.
    pub fn words(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let words = self.parts.iter().filter_map(|part| match part {
            Part::Words(words) => Some(words),
            Part::Input { .. } => None,
        });
        words.flatten().map(|word| word.text.to_string_lossy())
    }
}

/// A part of a command line.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// Of no interest.
    Words(Vec<Word>),
    /// A file that may have to be replaced by another.
    Input {
        /// The word or words that name it.
        words: Vec<Word>,
        /// Where it is.
        path: PathBuf,
    },
}

/// What a link makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A program.
    Program,
    /// A shared library.
    Shared,
    /// An object, to be linked again.
    Object,
    /// Nothing: there are no inputs, or the compiler is not to link.
    Nothing,
}

const STATIC: &str = "static programs cannot be checked: the runtime is a shared library, and takes over functions of \
                      libc that a static program brings along; link dynamically (for Rust, that is without \
                      `-C target-feature=+crt-static`)";

const NARROW: &str = "programs for addresses of 32 bits cannot be checked: the shadow needs the room of x86-64; build without \
                      `-m32` or `-mx32`";

/// Reads the command line.
pub fn read(words: Vec<Word>, face: Face) -> Result<Line, Error> {
    let mut reader = Reader {
        face,
        mode: Mode::default(),
        saved: Vec::new(),
        found: Vec::new(),
        paths: Vec::new(),
        inputs: false,
        output: Output::Program,
        links: true,
        whole_static: false,
        interpreter: false,
        narrow: false,
        plugin_level: None,
        level: None,
        cpu: None,
        pie: None,
        file: None,
    };
    let mut words = words.as_slice();
    while let Some((word, rest)) = words.split_first() {
        let taken = reader.word(word, rest.first());
        words = &words[taken.min(words.len())..];
    }
    reader.line()
}

struct Reader {
    face: Face,
    mode: Mode,
    saved: Vec<Mode>,
    found: Vec<Found>,
    /// Where libraries are looked for, whatever the order of the options.
    paths: Vec<PathBuf>,
    inputs: bool,
    output: Output,
    links: bool,
    whole_static: bool,
    interpreter: bool,
    /// For addresses of 32 bits.
    narrow: bool,
    plugin_level: Option<u8>,
    level: Option<u8>,
    cpu: Option<String>,
    pie: Option<bool>,
    file: Option<PathBuf>,
}

/// What `-l` means at this place.
#[derive(Clone, Copy, Default)]
struct Mode {
    no_shared: bool,
}

enum Found {
    Words(Vec<Word>),
    File(Word),
    Library {
        words: Vec<Word>,
        name: Vec<u8>,
        mode: Mode,
    },
}

impl Reader {
    /// Takes one option with its value, or an input. Answers how many words that were.
    fn word(&mut self, word: &Word, next: Option<&Word>) -> usize {
        let for_linker = word.passed || self.face == Face::Linker;
        if let Some(taken) = self.plugin(word, next, for_linker) {
            return taken;
        }
        if let Some(taken) = self.library(word, next) {
            return taken;
        }
        let bytes = word.bytes();
        if for_linker && let Some((b"elf_i386" | b"elf32_x86_64", _)) = value(word, next, "-m", false) {
            self.narrow = true;
        }
        let output = value(word, next, "-o", false).or_else(|| {
            let long = for_linker.then(|| value(word, next, "--output", true));
            long.flatten()
        });
        if let Some((file, taken)) = output {
            self.file = Some(PathBuf::from(OsStr::from_bytes(file)));
            self.keep([Some(word), next.filter(|_| taken == 2)]);
            return taken;
        }
        if !bytes.starts_with(b"-") && !bytes.is_empty() {
            self.inputs = true;
            self.found.push(Found::File(word.clone()));
            return 1;
        }
        if for_linker {
            self.linker_option(bytes);
        } else {
            self.compiler_option(bytes);
        }
        self.keep([Some(word), None]);
        1
    }

    fn keep(&mut self, words: [Option<&Word>; 2]) {
        let words = words.into_iter().flatten().cloned().collect();
        self.found.push(Found::Words(words));
    }

    /// Options for the linker's plugin are read and dropped: for the real linker there is nothing left to optimise.
    fn plugin(&mut self, word: &Word, next: Option<&Word>, for_linker: bool) -> Option<usize> {
        if !for_linker {
            return word.bytes().starts_with(b"-flto").then_some(1);
        }
        for name in ["-plugin-opt", "--plugin-opt"] {
            if let Some((value, taken)) = value(word, next, name, true) {
                self.plugin_option(value);
                return Some(taken);
            }
        }
        for name in ["-plugin", "--plugin"] {
            if let Some((_, taken)) = value(word, next, name, true) {
                return Some(taken);
            }
        }
        if let Some(level) = word.bytes().strip_prefix(b"--lto-O") {
            self.plugin_level = self::level(level);
            return Some(1);
        }
        None
    }

    fn plugin_option(&mut self, option: &[u8]) {
        if let Some(level) = option.strip_prefix(b"O") {
            self.plugin_level = self::level(level);
        } else if let Some(cpu) = option.strip_prefix(b"mcpu=") {
            self.cpu = Some(String::from_utf8_lossy(cpu).into_owned());
        }
    }

    fn library(&mut self, word: &Word, next: Option<&Word>) -> Option<usize> {
        let paths = value(word, next, "--library-path", true).or_else(|| value(word, next, "-L", false));
        if let Some((path, taken)) = paths {
            self.paths.push(PathBuf::from(OsStr::from_bytes(path)));
            self.keep([Some(word), next.filter(|_| taken == 2)]);
            return Some(taken);
        }
        let (name, taken) =
            value(word, next, "--library", true).or_else(|| value(word, next, "-l", false))?;
        self.inputs = true;
        self.found.push(Found::Library {
            words: std::iter::once(word).chain(next).take(taken).cloned().collect(),
            name: name.to_owned(),
            mode: self.mode,
        });
        Some(taken)
    }

    fn linker_option(&mut self, option: &[u8]) {
        match option {
            b"-Bstatic" | b"-dn" | b"-non_shared" => self.mode.no_shared = true,
            b"-static" | b"--static" => {
                self.mode.no_shared = true;
                self.whole_static |= self.face == Face::Linker;
            }
            b"-Bdynamic" | b"-dy" | b"-call_shared" => self.mode.no_shared = false,
            b"--push-state" => self.saved.push(self.mode),
            b"--pop-state" => self.mode = self.saved.pop().unwrap_or_default(),
            b"-shared" | b"--shared" | b"-Bshareable" => self.output = Output::Shared,
            b"-r" | b"--relocatable" | b"-i" => self.output = Output::Object,
            b"-pie" | b"--pie" | b"--pic-executable" => self.pie = Some(true),
            b"-no-pie" | b"--no-pie" => self.pie = Some(false),
            _ => {
                let interpreter = [&b"-dynamic-linker"[..], b"--dynamic-linker", b"-I"];
                self.interpreter |= interpreter.iter().any(|name| option.starts_with(name));
            }
        }
    }

    fn compiler_option(&mut self, option: &[u8]) {
        match option {
            b"-static" | b"--static" | b"-static-pie" | b"--static-pie" => self.whole_static = true,
            b"-shared" | b"--shared" => self.output = Output::Shared,
            b"-r" => self.output = Output::Object,
            b"-c" | b"-S" | b"-E" | b"-fsyntax-only" | b"-M" | b"-MM" => self.links = false,
            b"-pie" | b"--pie" => self.pie = Some(true),
            b"-no-pie" | b"-nopie" | b"--no-pie" => self.pie = Some(false),
            _ => {
                if let Some(level) = option.strip_prefix(b"-O") {
                    self.level = self::level(level);
                }
            }
        }
    }

    fn line(mut self) -> Result<Line, Error> {
        if !self.links || !self.inputs {
            self.output = Output::Nothing;
        }
        let program = self.output == Output::Program;
        if self.whole_static && program && !self.interpreter {
            return Err(Error(STATIC.to_owned()));
        }
        if self.narrow && self.output != Output::Nothing {
            return Err(Error(NARROW.to_owned()));
        }
        // A compiler that is told nothing makes position-independent programs today; a linker does not.
        let pie = self.pie.unwrap_or(self.face == Face::Compiler);
        let paths = std::mem::take(&mut self.paths);
        let libraries = self.found.iter().filter_map(|found| match found {
            Found::Library { name, mode, .. } => library(name, *mode, &paths).filter(|path| is_shared(path)),
            _ => None,
        });
        Ok(Line {
            libraries: libraries.collect(),
            file: self.file.unwrap_or_else(|| PathBuf::from("a.out")),
            parts: self.found.into_iter().map(|found| found.part(&paths)).collect(),
            output: self.output,
            level: self.plugin_level.or(self.level).unwrap_or(2),
            cpu: self.cpu.unwrap_or_else(|| "x86-64".to_owned()),
            pic: pie || !program,
        })
    }
}

impl Found {
    fn part(self, paths: &[PathBuf]) -> Part {
        match self {
            Found::Words(words) => Part::Words(words),
            Found::File(word) => Part::Input {
                path: PathBuf::from(&word.text),
                words: vec![word],
            },
            Found::Library { words, name, mode } => {
                match library(&name, mode, paths).filter(|path| !is_shared(path)) {
                    Some(path) => Part::Input { words, path },
                    // Shared, or of the system: the linker knows where.
                    None => Part::Words(words),
                }
            }
        }
    }
}

/// The archive or shared library that `-l name` means, if it is in `paths`.
fn library(name: &[u8], mode: Mode, paths: &[PathBuf]) -> Option<PathBuf> {
    let file = |prefix: &[u8], suffix: &[u8]| [prefix, name, suffix].concat();
    let names = match name.strip_prefix(b":") {
        Some(exact) => vec![exact.to_owned()],
        None if mode.no_shared => vec![file(b"lib", b".a")],
        None => vec![file(b"lib", b".so"), file(b"lib", b".a")],
    };
    let mut candidates = paths
        .iter()
        .flat_map(|path| names.iter().map(move |name| path.join(OsStr::from_bytes(name))));
    candidates.find(|path| path.is_file())
}

fn is_shared(library: &Path) -> bool {
    library.extension() == Some(OsStr::new("so"))
}

fn level(text: &[u8]) -> Option<u8> {
    match text {
        [digit @ b'0'..=b'3'] => Some(digit - b'0'),
        b"" | b"g" => Some(1),
        b"s" | b"z" => Some(2),
        [b'4'..=b'9'] | b"fast" => Some(3),
        _ => None,
    }
}

/// Whether a library is one that must stay as it is: the intrinsics that compilers put calls to into any code, also
/// into checks.
pub fn is_left_alone(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    name.strip_prefix(b"lib").is_some_and(is_intrinsic)
}

/// The same of a member of an archive: rustc puts all of a static library's Rust into one.
pub fn is_intrinsic(name: &[u8]) -> bool {
    name.starts_with(b"compiler_builtins-") || name.starts_with(b"profiler_builtins-")
}

#[cfg(test)]
mod tests {
    use super::super::words;
    use super::*;
    use std::ffi::OsString;

    fn line(face: Face, arguments: &str) -> Result<Line, Error> {
        let arguments = arguments.split_whitespace().map(OsString::from).collect();
        read(words::split(arguments, face), face)
    }

    /// The words that are left.
    fn left(line: &Line) -> String {
        let mut texts = Vec::new();
        for part in &line.parts {
            let (Part::Words(words) | Part::Input { words, .. }) = part;
            texts.extend(words.iter().map(|word| word.text.to_str().unwrap()));
        }
        texts.join(" ")
    }

    #[test]
    fn what_rustc_says_about_optimisation_is_taken_out() {
        let line = line(
            Face::Compiler,
            "-m64 a.o -Wl,-plugin-opt=O0,-plugin-opt=mcpu=znver3 -flto=thin -Wl,--gc-sections -pie -o a",
        )
        .unwrap();
        assert_eq!((line.level, line.cpu.as_str(), line.pic), (0, "znver3", true));
        assert_eq!(left(&line), "-m64 a.o --gc-sections -pie -o a");
    }

    #[test]
    fn what_clang_says_about_optimisation_is_taken_out() {
        let line = line(
            Face::Linker,
            "-pie -plugin /usr/lib/LLVMgold.so -plugin-opt=mcpu=x86-64-v3 -plugin-opt O3 a.o -lc -o a",
        )
        .unwrap();
        assert_eq!((line.level, line.cpu.as_str(), line.pic), (3, "x86-64-v3", true));
        assert_eq!(left(&line), "-pie a.o -lc -o a");
    }

    #[test]
    fn the_output_is_no_input() {
        for (face, text) in [(Face::Compiler, "a.o -o b.o"), (Face::Linker, "a.o --output b.o")] {
            let line = line(face, text).unwrap();
            let inputs: Vec<_> = line
                .parts
                .iter()
                .filter_map(|part| match part {
                    Part::Input { path, .. } => path.to_str(),
                    Part::Words(_) => None,
                })
                .collect();
            assert_eq!(inputs, ["a.o"]);
        }
    }

    #[test]
    fn kinds_of_output() {
        for (face, text, output, pic) in [
            (Face::Compiler, "a.o", Output::Program, true),
            (Face::Compiler, "-no-pie a.o", Output::Program, false),
            (Face::Linker, "a.o", Output::Program, false),
            (Face::Linker, "-pie a.o", Output::Program, true),
            (Face::Compiler, "-shared a.o", Output::Shared, true),
            (Face::Linker, "-shared a.o", Output::Shared, true),
            (Face::Compiler, "-Wl,-r a.o", Output::Object, true),
            (Face::Linker, "-r a.o", Output::Object, true),
            (Face::Compiler, "--version", Output::Nothing, true),
            (Face::Compiler, "-c a.c", Output::Nothing, true),
            (Face::Linker, "-v", Output::Nothing, true),
        ] {
            let line = line(face, text).unwrap();
            assert_eq!((line.output, line.pic), (output, pic), "{text}");
        }
    }

    #[test]
    fn static_programs_are_refused_and_static_libraries_are_not() {
        for (face, text, refused) in [
            (Face::Compiler, "-static a.o", true),
            (Face::Compiler, "-static-pie a.o", true),
            (Face::Linker, "-static a.o", true),
            (Face::Linker, "-static -pie --no-dynamic-linker a.o", true),
            (Face::Compiler, "-Wl,-Bstatic a.o -lfoo -Wl,-Bdynamic", false),
            (Face::Compiler, "-static-libgcc a.o", false),
            (Face::Linker, "-dynamic-linker /lib64/ld.so -Bstatic a.o", false),
        ] {
            assert_eq!(line(face, text).is_err(), refused, "{text}");
        }
    }

    #[test]
    fn programs_for_small_machines_are_refused() {
        for (text, refused) in [
            ("-m elf_i386 a.o", true),
            ("-melf32_x86_64 a.o", true),
            ("-m elf_x86_64 a.o", false),
        ] {
            assert_eq!(line(Face::Linker, text).is_err(), refused, "{text}");
        }
    }

    #[test]
    fn libraries_are_found_as_a_linker_finds_them() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for file in [
            "one/libx.a",
            "two/libx.so",
            "two/libx.a",
            "two/liby.a",
            "two/odd.lib",
        ] {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "").unwrap();
        }
        let (one, two) = (root.join("one"), root.join("two"));
        let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
        for (text, expect) in [
            (format!("-L{one} -L{two} -lx"), "one/libx.a"),
            (format!("-lx -L{two} -L {one}"), "-lx"),
            (format!("-L{two} -Wl,-Bstatic -lx -Wl,-Bdynamic"), "two/libx.a"),
            (
                format!("-L{two} -Wl,--push-state,-Bstatic,--pop-state -l x"),
                "-l",
            ),
            (format!("-L{two} -l:odd.lib"), "two/odd.lib"),
            (format!("-Wl,--library-path={two} -Wl,--library=y"), "two/liby.a"),
            (format!("-L{one} -lnothing"), "-lnothing"),
        ] {
            let line = line(Face::Compiler, &text).unwrap();
            let found = line.parts.iter().find_map(|part| match part {
                Part::Input { path, .. } => Some(path.strip_prefix(root).unwrap()),
                Part::Words(words) if words[0].bytes().starts_with(b"-l") => Some(Path::new(&words[0].text)),
                Part::Words(_) => None,
            });
            assert_eq!(found, Some(Path::new(expect)), "{text}");
        }
    }
}
