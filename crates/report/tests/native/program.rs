//! Programs that are compiled for a test, and what other tools say about them: `nm` about symbols, `readelf` about
//! segments, the source about lines.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Where the made-up process has its modules.
pub const BASE: u64 = 0x5555_5555_0000;

/// A compiled program.
pub struct Program {
    pub directory: TempDir,
    pub path: PathBuf,
    source: String,
    symbols: HashMap<String, u64>,
    segments: Vec<Segment>,
    pub build_id: Option<String>,
}

struct Segment {
    offset: u64,
    address: u64,
    file_size: u64,
}

/// Whether there is such a command.
pub fn exists(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok()
}

/// The newest clang there is.
pub fn clang() -> Option<String> {
    (14..=22)
        .rev()
        .map(|version| format!("clang-{version}"))
        .chain(["clang".to_owned()])
        .find(|name| exists(name))
}

#[track_caller]
fn run(directory: &Path, words: &[&str]) -> String {
    let output = Command::new(words[0])
        .args(&words[1..])
        .current_dir(directory)
        .env("LC_ALL", "C")
        .output()
        .unwrap_or_else(|error| panic!("{words:?}: {error}"));
    assert!(
        output.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

impl Program {
    /// Compiles a file of `programs/`, by its name's extension, with the words of `flags`.
    #[track_caller]
    pub fn new(compiler: &str, name: &str, flags: &str) -> Program {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native/programs");
        let directory = tempfile::tempdir().expect("a temporary directory");
        for file in std::fs::read_dir(sources).expect("the sources") {
            let file = file.expect("a source").path();
            std::fs::copy(&file, directory.path().join(file.file_name().unwrap())).expect("a copy");
        }
        let mut words = vec![compiler, name, "-o", "program"];
        words.extend(flags.split_whitespace());
        run(directory.path(), &words);
        let path = directory.path().join("program");
        Program {
            source: std::fs::read_to_string(directory.path().join(name)).expect("the source"),
            symbols: symbols(&path),
            segments: segments(&path),
            build_id: build_id(&path),
            path,
            directory,
        }
    }

    /// Runs a command in the directory of the program.
    #[track_caller]
    pub fn run(&self, words: &str) {
        run(
            self.directory.path(),
            &words.split_whitespace().collect::<Vec<_>>(),
        );
    }

    /// The address of a symbol in the process.
    #[track_caller]
    pub fn address(&self, symbol: &str) -> u64 {
        BASE + { self.symbols.get(symbol) }
            .unwrap_or_else(|| panic!("no {symbol} in {:?}", self.symbols.keys()))
    }

    /// The symbol whose name contains a word.
    #[track_caller]
    pub fn containing(&self, word: &str) -> u64 {
        let mut found = self.symbols.iter().filter(|(name, _)| name.contains(word));
        BASE + found.next().unwrap_or_else(|| panic!("no {word}")).1
    }

    /// The return address at a mark of the source.
    #[track_caller]
    pub fn mark(&self, name: &str) -> u64 {
        self.address(&format!("mark_{name}"))
    }

    /// The line of the source that ends in `LINE name`.
    #[track_caller]
    pub fn line(&self, name: &str) -> u32 {
        let end = format!("// LINE {name}");
        let at = self.source.lines().position(|line| line.ends_with(&end));
        at.unwrap_or_else(|| panic!("no line {name}")) as u32 + 1
    }

    /// The wire's lines for the program, mapped page by page as the kernel does it: without what is zero-filled.
    pub fn modules(&self) -> String {
        self.modules_as(&self.path.display().to_string(), self.build_id.as_deref())
    }

    /// The same with another path and build id.
    pub fn modules_as(&self, path: &str, build_id: Option<&str>) -> String {
        let mut lines = String::new();
        let page = |number: u64| number & !0xfff;
        for segment in &self.segments {
            let start = BASE + page(segment.address);
            let end = page(BASE + segment.address + segment.file_size + 0xfff);
            let (offset, id) = (page(segment.offset), build_id.unwrap_or("-"));
            writeln!(lines, "module\t{start:x}\t{end:x}\t{offset:x}\t{id}\t{path}").unwrap();
        }
        lines
    }
}

fn symbols(path: &Path) -> HashMap<String, u64> {
    let text = run(Path::new("."), &["nm", path.to_str().unwrap()]);
    let parse = |line: &str| {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        Some((words.nth(1)?.to_owned(), address))
    };
    text.lines().filter_map(parse).collect()
}

fn segments(path: &Path) -> Vec<Segment> {
    let text = run(Path::new("."), &["readelf", "-lW", path.to_str().unwrap()]);
    let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).expect("a number");
    text.lines()
        .filter(|line| line.trim_start().starts_with("LOAD"))
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            Segment {
                offset: number(words[1]),
                address: number(words[2]),
                file_size: number(words[4]),
            }
        })
        .collect()
}

fn build_id(path: &Path) -> Option<String> {
    let text = run(Path::new("."), &["readelf", "-nW", path.to_str().unwrap()]);
    let line = text.lines().find(|line| line.contains("Build ID:"))?;
    Some(line.rsplit(' ').next()?.to_owned())
}
