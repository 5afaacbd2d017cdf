//! Workloads: one source each, whose first comment lines say what it is.
//!
//! ```text
//! // suite: java-grande
//! // size: 2000 quick: 100 sweep: 250 500 1000 2000
//! // flags: -lm
//! ```
//!
//! `NAME [THREADS [SIZE]]` runs one. It checks its own result and ends with the line `ok CHECKSUM`. Built with `-DRACE` or
//! `--cfg race` it has a race that is known, and the lines that can be part of it end with `//~ RACE NAME`.

use crate::native::compilers::Language;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// The suites there are.
pub const SUITES: [&str; 8] = [
    "java-grande",
    "splash",
    "nas",
    "goldilocks",
    "tree-rdit",
    "server",
    "c++",
    "rust",
];

/// A workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The name of its file, without the extension.
    pub name: String,
    /// Its source.
    pub path: PathBuf,
    /// What that is written in.
    pub language: Language,
    /// Whose theme it has.
    pub suite: String,
    /// The size for a measurement.
    pub size: u64,
    /// The size for a quick one.
    pub quick: u64,
    /// Sizes to plot cost against.
    pub sweep: Vec<u64>,
    /// Flags for the compiler.
    pub flags: Vec<String>,
    /// Lines that can be part of the known race of its racing version. None: there is no such version.
    pub marked: Vec<u32>,
}

impl Workload {
    /// Reads what the head of a source says.
    pub fn parse(path: &Path, text: &str) -> Result<Workload> {
        let language = Language::of(path).context("it is neither C, C++ nor Rust")?;
        let name = path.file_stem().and_then(|name| name.to_str());
        let mut workload = Workload {
            name: name.context("its name is not UTF-8")?.to_owned(),
            path: path.to_owned(),
            language,
            suite: String::new(),
            size: 0,
            quick: 0,
            sweep: Vec::new(),
            flags: Vec::new(),
            marked: marked(text),
        };
        let head = text.lines().map_while(|line| line.trim().strip_prefix("//"));
        for line in head.map(str::trim) {
            if let Some(suite) = line.strip_prefix("suite:") {
                suite.trim().clone_into(&mut workload.suite);
            } else if let Some(flags) = line.strip_prefix("flags:") {
                workload.flags.extend(flags.split_whitespace().map(str::to_owned));
            } else if line.starts_with("size:") {
                workload.set_sizes(line)?;
            }
        }
        if !SUITES.contains(&workload.suite.as_str()) {
            let known = SUITES.join(", ");
            match workload.suite.as_str() {
                "" => bail!("its head has no line `// suite: NAME`; there are {known}"),
                other => bail!("there is no suite `{other}`; there are {known}"),
            }
        }
        if workload.size == 0 || workload.quick == 0 {
            bail!("its head has no line `// size: N quick: M`, with numbers above 0");
        }
        Ok(workload)
    }

    /// `size: N quick: M sweep: A B C`.
    fn set_sizes(&mut self, line: &str) -> Result<()> {
        let mut of = "";
        for word in line.split_whitespace() {
            if let Some(name) = word.strip_suffix(':') {
                of = name;
                continue;
            }
            let number: u64 = word
                .replace('_', "")
                .parse()
                .with_context(|| format!("`{line}`: `{word}` is not a number"))?;
            match of {
                "size" => self.size = number,
                "quick" => self.quick = number,
                "sweep" => self.sweep.push(number),
                other => bail!("`{line}`: there is no `{other}:`; there are size:, quick: and sweep:"),
            }
        }
        Ok(())
    }
}

/// Lines with a mark, counted from 1.
fn marked(text: &str) -> Vec<u32> {
    let lines = (1..).zip(text.lines());
    let marked = lines.filter(|(_, line)| {
        line.split_once("//~")
            .is_some_and(|(_, mark)| mark.split_whitespace().next() == Some("RACE"))
    });
    marked.map(|(number, _)| number).collect()
}

/// All workloads of a directory, by suite and name, and why some sources are none.
pub fn find(directory: &Path) -> Result<(Vec<Workload>, Vec<String>)> {
    let entries = std::fs::read_dir(directory).with_context(|| {
        format!(
            "cannot read the workloads in {}; run this in the repository, or name a directory with --workloads",
            directory.display()
        )
    })?;
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for entry in entries {
        let path = entry?.path();
        if Language::of(&path).is_none() {
            continue;
        }
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        match Workload::parse(&path, &text) {
            Ok(workload) => found.push(workload),
            Err(error) => wrong.push(format!("{}: {error:#}", path.display())),
        }
    }
    let place = |suite: &str| SUITES.iter().position(|known| *known == suite);
    found.sort_by(|a, b| (place(&a.suite), &a.name).cmp(&(place(&b.suite), &b.name)));
    wrong.sort();
    Ok((found, wrong))
}

/// Whether one of `patterns`, which may have `*` and `?`, is `text`.
pub fn matches(patterns: &[String], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    patterns.iter().any(|pattern| {
        let pattern: Vec<char> = pattern.chars().collect();
        is_match(&pattern, &text)
    })
}

fn is_match(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        (['*', rest @ ..], _) => (0..=text.len()).any(|skipped| is_match(rest, &text[skipped..])),
        (['?', pattern @ ..], [_, text @ ..]) => is_match(pattern, text),
        ([a, pattern @ ..], [b, text @ ..]) if a == b => is_match(pattern, text),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, text: &str) -> Result<Workload> {
        Workload::parse(Path::new(name), text)
    }

    const HEAD: &str =
        "// Transposes.\n// suite: splash\n// size: 2_000 quick: 100 sweep: 10 20 40\n// flags: -lm -DX=1\n";

    #[test]
    fn the_head_says_what_it_is() {
        let text = format!(
            "{HEAD}\nint x;\n  x++; //~ RACE x\n// size: 3 quick: 4\n#endif //~ RACER\nx--; //~ RACE x\n"
        );
        let workload = parse("dir/fft.c", &text).unwrap();
        assert_eq!(
            (workload.name.as_str(), workload.suite.as_str()),
            ("fft", "splash")
        );
        assert_eq!((workload.size, workload.quick), (2000, 100));
        assert_eq!(workload.sweep, [10, 20, 40]);
        assert_eq!(workload.flags, ["-lm", "-DX=1"]);
        assert_eq!(workload.marked, [7, 10]);
        assert_eq!(workload.language, Language::C);
    }

    #[test]
    fn what_is_missing_is_named() {
        for (text, part) in [
            ("int x;", "// suite: NAME"),
            ("// suite: specint", "no suite `specint`; there are java-grande"),
            ("// suite: nas", "// size: N quick: M"),
            ("// suite: nas\n// size: big", "`big` is not a number"),
            ("// suite: nas\n// size: 1 quik: 2", "no `quik:`"),
        ] {
            let error = format!("{:#}", parse("a.c", text).unwrap_err());
            assert!(error.contains(part), "{error}");
        }
        assert!(parse("a.py", HEAD).is_err());
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, text, expect) in [
            ("fft", "fft", true),
            ("fft", "fft2", false),
            ("l*", "lufact", true),
            ("*sort", "integersort", true),
            ("r?dix", "radix", true),
            ("*", "", true),
            ("a*b*c", "aXbYbc", true),
            ("a*b*c", "aXcYb", false),
        ] {
            assert_eq!(matches(&[pattern.to_owned()], text), expect, "{pattern} {text}");
        }
    }
    /// What a source takes for its size if none is given: the first number behind its words, or the first of all.
    fn default_size(text: &str) -> Option<u64> {
        let call = text.lines().find(|line| {
            line.contains("= arguments(") || line.contains("<< arguments(") || line.contains(")arguments(")
        })?;
        let given = call.split_once("arguments(")?.1;
        let numbers = given.split(',').map(|word| word.trim().replace('_', ""));
        numbers.filter_map(|word| word.parse().ok()).next()
    }

    #[test]
    fn all_workloads_have_a_race_and_are_as_large_by_themselves_as_their_heads_say() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/workloads");
        let (found, wrong) = find(&directory).unwrap();
        assert_eq!(wrong, [""; 0]);
        assert_eq!(found.len(), 36);
        for workload in found {
            let name = &workload.name;
            assert!(!workload.marked.is_empty(), "{name}");
            let text = std::fs::read_to_string(&workload.path).unwrap();
            assert_eq!(default_size(&text), Some(workload.size), "{name}");
            assert!(
                workload.sweep.is_sorted() && workload.sweep.last() == Some(&workload.size),
                "{name}"
            );
            assert!(workload.quick < workload.sweep[0], "{name}");
        }
    }
}
