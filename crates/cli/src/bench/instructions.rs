//! `--instructions`: how many instructions the paths of a check take, exactly, so that CI sees when they grow.
//!
//! `bench/micro` has a loop for each path: `paths.c` those of a check of one access, `placed.c` those of checks that stand
//! for many. What it takes is counted by stepping (`measure.c`): the shadow lies where callgrind cannot have it, and virtual
//! machines often have no counters. The figures that are expected stand in a file in the repository.

use super::build::{Builder, Version};
use super::markdown::{Table, number};
use super::measure::{Meter, Run};
use super::progress::Progress;
use super::put;
use super::tools;
use super::workload::Workload;
use crate::native::compilers::Language;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Turns of each loop. Every instruction is two switches between processes.
const TURNS: u64 = 200;

/// So often a path is counted if no two counts agree.
const TRIES: usize = 6;

/// Growth that is let through, in percent.
const LIMIT: f64 = 2.0;

/// The same for paths that take more than [`LONG`] instructions a turn: they look things up by address, and how far they
/// have to look depends on where a program was put.
const LONG_LIMIT: f64 = 10.0;
const LONG: u64 = 100;

fn limit(expected: u64) -> f64 {
    if expected / TURNS > LONG {
        LONG_LIMIT
    } else {
        LIMIT
    }
}

/// The file of figures, beside the programs.
const EXPECTED: &str = "expected.txt";

/// The programs that have the paths, and how they are built.
const SOURCES: [(&str, &tools::Build); 2] = [("paths.c", &tools::EACH), ("placed.c", &tools::OURS)];

/// Instructions for each path: native, and with deadheat.
type Counts = BTreeMap<String, (u64, u64)>;

/// Counts, and compares with the file in `directory`; `bless` writes it instead.
pub fn run(directory: &Path, bless: bool, builder: &Builder, meter: &Meter) -> Result<ExitCode> {
    let mut counts = Counts::new();
    for (source, build) in SOURCES {
        counts.extend(count(&directory.join(source), build, builder, meter)?);
    }
    let file = directory.join(EXPECTED);
    let expected = match bless {
        true => {
            std::fs::write(&file, print(&counts))
                .with_context(|| format!("cannot write {}", file.display()))?;
            counts.clone()
        }
        false => {
            let text = std::fs::read_to_string(&file)
                .with_context(|| format!("cannot read {}; --bless writes it", file.display()))?;
            parse(&text).with_context(|| file.display().to_string())?
        }
    };
    put(table(&counts, &expected))?;
    let grown = grown(&counts, &expected);
    for line in &grown {
        put(line)?;
    }
    if grown.is_empty() {
        put(format_args!(
            "No path has grown by more than {LIMIT} % ({LONG_LIMIT} % if it takes more than {LONG})."
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    put("If that is meant: deadheat bench --instructions --bless")?;
    Ok(ExitCode::FAILURE)
}

fn count(source: &Path, build: &tools::Build, builder: &Builder, meter: &Meter) -> Result<Counts> {
    std::fs::metadata(source).with_context(|| {
        format!(
            "cannot read {}; run this in the repository, or name the directory with --micro",
            source.display()
        )
    })?;
    let workload = Workload {
        name: source
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        path: source.to_owned(),
        language: Language::C,
        suite: String::new(),
        size: 0,
        quick: 0,
        sweep: Vec::new(),
        flags: Vec::new(),
        marked: Vec::new(),
    };
    let plain = tools::named(tools::NATIVE).context("a tool of the table")?;
    let program = |build| builder.program(&workload, build, Version::Clean);
    let (native, ours) = (program(&plain.build)?, program(build)?);
    let list = Command::new(&native)
        .arg("list")
        .output()
        .context("cannot run the program of the paths")?;
    let names = String::from_utf8_lossy(&list.stdout).into_owned();
    let progress = Progress::new(names.lines().count() as u64);
    let mut counts = Counts::new();
    for name in names.lines() {
        progress.say(name);
        let once = |program: &Path| {
            let words = [program.into(), name.into(), OsString::from(TURNS.to_string())];
            meter.instructions(&Run {
                command: words.into(),
                environment: Vec::new(),
            })
        };
        let steps = |program: &Path| agreed(|| once(program));
        let both = (steps(&native), steps(&ours));
        let both = (
            both.0.with_context(|| name.to_owned())?,
            both.1.with_context(|| name.to_owned())?,
        );
        counts.insert(name.to_owned(), both);
        progress.step();
    }
    Ok(counts)
}

/// The first count that comes twice, of at most [`TRIES`]. A virtual machine may lose a trap, and the program then runs on unseen: such a count
/// is too low, and not the same another time.
fn agreed(mut count: impl FnMut() -> Result<u64>) -> Result<u64> {
    let mut counts = Vec::new();
    for _ in 0..TRIES {
        let steps = count()?;
        if counts.contains(&steps) {
            return Ok(steps);
        }
        counts.push(steps);
    }
    bail!(
        "the instructions of the same run were counted as {counts:?}: this machine cannot step through a program"
    )
}

fn print(counts: &Counts) -> String {
    let mut text = format!(
        "# Instructions of {TURNS} turns: path, native, deadheat. deadheat bench --instructions --bless\n"
    );
    for (name, (native, ours)) in counts {
        text.push_str(&format!("{name} {native} {ours}\n"));
    }
    text
}

fn parse(text: &str) -> Result<Counts> {
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, native, ours] = words[..] else {
                bail!("`{line}` is not a path and two numbers");
            };
            let number = |word: &str| {
                word.parse()
                    .with_context(|| format!("`{line}`: `{word}` is not a number"))
            };
            Ok((name.to_owned(), (number(native)?, number(ours)?)))
        })
        .collect()
}

/// What takes more than it may.
fn grown(counts: &Counts, expected: &Counts) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, (_, now)) in counts {
        match expected.get(name) {
            None => lines.push(format!("{name} is not in the file of expected figures")),
            Some((_, before)) if *now as f64 > *before as f64 * (1.0 + limit(*before) / 100.0) => {
                lines.push(format!(
                    "{name} takes {now} instructions, and {before} were expected"
                ));
            }
            Some(_) => {}
        }
    }
    for name in expected.keys().filter(|name| !counts.contains_key(*name)) {
        lines.push(format!("{name} is expected and was not run"));
    }
    lines
}

fn table(counts: &Counts, expected: &Counts) -> Table {
    let mut table = Table::new(1, ["path", "native", "deadheat", "more", "expected", "change"]);
    let each = |count: u64| count as f64 / TURNS as f64;
    for (name, (native, ours)) in counts {
        let before = expected.get(name).map(|(_, before)| *before);
        table.row([
            name.clone(),
            number(each(*native)),
            number(each(*ours)),
            number(each(*ours) - each(*native)),
            before.map_or("–".to_owned(), |before| number(each(before))),
            before.map_or("–".to_owned(), |before| {
                format!("{:+.1} %", (*ours as f64 / before as f64 - 1.0) * 100.0)
            }),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_they_were_written() {
        let counts = Counts::from([("read8".to_owned(), (800, 2600)), ("call".to_owned(), (1, 2))]);
        assert_eq!(parse(&print(&counts)).unwrap(), counts);
        for text in ["read8 1", "read8 1 x"] {
            assert!(parse(text).is_err());
        }
    }

    #[test]
    fn a_count_is_believed_when_it_comes_again() {
        let of = |counts: &[u64]| {
            let mut counts = counts.iter().copied();
            agreed(|| Ok(counts.next().unwrap_or_default()))
        };
        assert_eq!(of(&[9, 9]).ok(), Some(9));
        assert_eq!(of(&[9, 4, 9]).ok(), Some(9));
        assert!(of(&[1, 2, 3, 4, 5, 6, 6]).is_err());
    }

    #[test]
    fn growth_beyond_the_limit_is_named() {
        let of = |ours| Counts::from([("read8".to_owned(), (800, ours))]);
        assert!(grown(&of(1020), &of(1000)).is_empty());
        assert!(grown(&of(500), &of(1000)).is_empty());
        assert!(grown(&of(1021), &of(1000))[0].contains("1021"));
        let long = 2 * LONG * TURNS;
        assert!(grown(&of(long + long / 10), &of(long)).is_empty());
        assert_eq!(grown(&of(long + long / 9), &of(long)).len(), 1);
        assert_eq!(grown(&of(1000), &Counts::new()).len(), 1);
        assert_eq!(grown(&Counts::new(), &of(1000)).len(), 1);
    }
}
