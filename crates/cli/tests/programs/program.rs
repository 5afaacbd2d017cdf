//! What a source says about itself: directives at its head, and marks at the ends of its racing lines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Two lines that race, the smaller first; a line that races with itself twice.
pub type Pair = (u64, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
    Rust,
}

impl Language {
    pub const ALL: [Language; 3] = [Language::C, Language::Cpp, Language::Rust];

    pub fn directory(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Rust => "rust",
        }
    }

    pub fn extension(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Rust => "rs",
        }
    }
}

#[derive(Debug)]
pub struct Program {
    /// Below the repository.
    pub source: PathBuf,
    pub language: Language,
    /// For the compiler.
    pub flags: Vec<String>,
    /// The two accesses may come in either order.
    pub both_orders: bool,
    /// The report is not the same each time, only its lines are.
    pub varies: bool,
    /// What the processor must have.
    pub cpu: Option<String>,
    /// A header that must be installed.
    pub needs: Option<String>,
    /// The source, beside the program's, of a library that nobody instruments.
    pub library: Option<String>,
    /// The file, beside the program's, of rules for functions of such libraries.
    pub rules: Option<String>,
    /// Known to fail. Tests that are ignored can be run all the same.
    pub ignored: bool,
    pub races: BTreeSet<Pair>,
}

const MARK: &str = "//~ RACE ";

impl Program {
    pub fn parse(source: &Path, text: &str) -> Result<Program, String> {
        let extension = source.extension().and_then(|extension| extension.to_str());
        let language = Language::ALL
            .into_iter()
            .find(|language| Some(language.extension()) == extension);
        let mut program = Program {
            source: source.to_owned(),
            language: language.ok_or("no known language")?,
            flags: Vec::new(),
            both_orders: false,
            varies: false,
            cpu: None,
            needs: None,
            library: None,
            rules: None,
            ignored: false,
            races: races(text)?,
        };
        for line in text.lines().take_while(|line| line.starts_with("//")) {
            program.directive(line)?;
        }
        let named = source
            .file_stem()
            .is_some_and(|stem| stem.to_string_lossy().ends_with("_race"));
        if named == program.races.is_empty() {
            return Err("a program's name ends in `_race` if and only if lines are marked in it".to_owned());
        }
        Ok(program)
    }

    fn directive(&mut self, line: &str) -> Result<(), String> {
        let Some((name, value)) = line.strip_prefix("// ").and_then(|line| line.split_once(": ")) else {
            return Ok(());
        };
        match (name, value) {
            ("flags", flags) => self.flags = flags.split_whitespace().map(str::to_owned).collect(),
            ("orders", "both") => self.both_orders = true,
            ("report", "varies") => self.varies = true,
            ("cpu", feature) => self.cpu = Some(feature.to_owned()),
            ("needs", header) => self.needs = Some(header.to_owned()),
            ("library", source) => self.library = Some(source.to_owned()),
            ("rules", file) => self.rules = Some(file.to_owned()),
            ("ignored", _) => self.ignored = true,
            // One word and a colon can only be meant as a directive.
            (word, _) if word.chars().all(|c| c.is_ascii_lowercase()) => {
                return Err(format!("the directive `{line}` is not known"));
            }
            _ => {}
        }
        Ok(())
    }

    pub fn can_run_here(&self) -> bool {
        let header = self.needs.as_ref();
        self.has_cpu() && header.is_none_or(|header| is_installed(header))
    }

    fn has_cpu(&self) -> bool {
        let Some(feature) = &self.cpu else {
            return true;
        };
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        info.split_whitespace().any(|word| word == feature)
    }

    /// Where the expected report is kept.
    pub fn report(&self) -> PathBuf {
        super::root().join(self.source.with_extension("report"))
    }
}

fn is_installed(header: &str) -> bool {
    // The last is where clang has its own.
    let directories = [
        "/usr/include",
        "/usr/include/x86_64-linux-gnu",
        "/usr/lib/llvm-22/lib/clang/22/include",
    ];
    { directories.iter() }.any(|directory| Path::new(directory).join(header).is_file())
}

/// The marked lines that share a name, paired.
fn races(text: &str) -> Result<BTreeSet<Pair>, String> {
    let mut marked: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        if let Some((_, names)) = line.split_once(MARK) {
            for name in names.split_whitespace() {
                marked.entry(name).or_default().push(number);
            }
        }
    }
    let pair = |(name, lines): (&str, Vec<u64>)| match lines[..] {
        [line] => Ok((line, line)),
        [one, two] => Ok((one, two)),
        _ => Err(format!("more than two lines are marked `{name}`")),
    };
    marked.into_iter().map(pair).collect()
}
