//! Compares a program's runs with what its source and the kept report say.

use super::program::{Pair, Program};
use super::run::{self, Order, Place, Ran, shown};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What `deadheat check` exits with if it reported a race.
const RACES: i32 = 66;

/// All there is to check about a program.
pub fn check(program: &Program) -> Result<(), String> {
    let native = run::native(program)?;
    let place = Place::new()?;
    let kept = place.file(&program.source.file_stem().unwrap_or_default().to_string_lossy());
    let orders = [Order::Written, Order::Reversed];
    for order in orders.into_iter().take(1 + usize::from(program.both_orders)) {
        let expected = place.run(&mut Command::new(&native), order)?;
        for number in 0..runs() {
            let first = number == 0 && order == Order::Written;
            let command = if first {
                run::check_source(program, &kept)?
            } else {
                run::check_program(program, &kept)
            };
            observed(program, &place, command, order, &expected)
                .map_err(|problem| format!("run {}, turns {order:?}: {problem}", number + 1))?;
        }
    }
    if program.races.is_empty() || program.varies {
        return Ok(());
    }
    compare_report(program, &place, &kept)
}

fn runs() -> u32 {
    let set = std::env::var("DEADHEAT_RUNS")
        .ok()
        .and_then(|text| text.parse().ok());
    set.unwrap_or(1).max(1)
}

/// One run: the pairs of lines, the output, the status.
fn observed(
    program: &Program,
    place: &Place,
    mut command: Command,
    order: Order,
    native: &Ran,
) -> Result<(), String> {
    let json = place.file("report.json");
    let _ = fs::remove_file(&json);
    command.args(["--format", "json", "--output"]).arg(&json);
    let ran = place.run(&mut command, order)?;
    let text = fs::read_to_string(&json).map_err(|_| {
        format!(
            "no report (status {}):\n{}\n{}",
            ran.status,
            shown(&command),
            ran.stderr
        )
    })?;
    let report = serde_json::from_str(&text).map_err(|error| format!("the report is no JSON: {error}"))?;
    let mut problems = String::new();
    let found = pairs(program, &report);
    for pair in program.races.iter().filter(|&pair| !found.contains(pair)) {
        let _ = writeln!(problems, "missed: {}", lines(program, *pair));
    }
    for (pair, race) in unexpected(program, &report) {
        let _ = writeln!(problems, "not expected: {}\n{race}", lines(program, pair));
    }
    if ran.stdout != native.stdout {
        let _ = writeln!(problems, "prints {:?} instead of {:?}", ran.stdout, native.stdout);
    }
    // With races the status is deadheat's own.
    let status = if found.is_empty() { native.status } else { RACES };
    if ran.status != status {
        let _ = writeln!(
            problems,
            "exits with {} instead of {status}\n{}",
            ran.status, ran.stderr
        );
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!("{problems}{}", shown(&command)))
}

/// The races of a report: for each the pairs of lines that it may be at, and the accesses.
fn races<'a>(program: &'a Program, report: &'a Value) -> impl Iterator<Item = (Vec<Pair>, &'a Value)> {
    let races = report["races"].as_array().map_or(&[][..], Vec::as_slice);
    races.iter().map(|race| {
        let accesses = &race["accesses"];
        let (ones, twos) = (lines_of(program, &accesses[0]), lines_of(program, &accesses[1]));
        let pair = |one: u64| twos.iter().map(move |two| (one.min(*two), one.max(*two)));
        (ones.iter().flat_map(|one| pair(*one)).collect(), accesses)
    })
}

/// Pairs of lines of the program that were reported.
fn pairs(program: &Program, report: &Value) -> BTreeSet<Pair> {
    races(program, report).flat_map(|race| race.0).collect()
}

/// Races none of whose lines are marked: the first lines named, and the accesses.
fn unexpected(program: &Program, report: &Value) -> BTreeMap<Pair, String> {
    races(program, report)
        .filter(|(pairs, _)| !pairs.iter().any(|pair| program.races.contains(pair)))
        .map(|(pairs, race)| (pairs[0], serde_json::to_string_pretty(race).unwrap_or_default()))
        .collect()
}

/// The lines of the innermost frame in the program's own source, and those checked together with it; 0 if there is none.
fn lines_of(program: &Program, access: &Value) -> Vec<u64> {
    let list = |key: &str| access[key].as_array().map_or(&[][..], Vec::as_slice);
    let own = |frame: &&Value| {
        let file = frame["file"].as_str();
        file.is_some_and(|file| Path::new(file).ends_with(&program.source))
    };
    let line = |frame: &Value| frame["line"].as_u64();
    let first = list("frames").iter().find(own).and_then(line).unwrap_or(0);
    let also = list("also").iter().filter(own).filter_map(line);
    std::iter::once(first).chain(also).collect()
}

fn lines(program: &Program, (one, two): Pair) -> String {
    let text = fs::read_to_string(super::root().join(&program.source)).unwrap_or_default();
    let line = |number: u64| {
        let found = usize::try_from(number)
            .ok()
            .and_then(|number| text.lines().nth(number.checked_sub(1)?));
        found.map_or("no line of the program", str::trim).to_owned()
    };
    format!("{one}: `{}` and {two}: `{}`", line(one), line(two))
}

/// The text for people, against what is kept.
fn compare_report(program: &Program, place: &Place, kept: &Path) -> Result<(), String> {
    let text = place.file("report.txt");
    let mut command = run::check_program(program, kept);
    command.args(["--color", "never", "--output"]).arg(&text);
    place.run(&mut command, Order::Written)?;
    let text = fs::read_to_string(&text).map_err(|error| format!("no text report: {error}"))?;
    let found = normalised(&text);
    let path = program.report();
    if std::env::var_os("DEADHEAT_BLESS").is_some() {
        return fs::write(&path, found).map_err(|error| error.to_string());
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if found == expected {
        return Ok(());
    }
    let mut message = String::from("the report has changed; if that is meant: cargo xtask bless\n");
    let (old, new): (BTreeSet<&str>, BTreeSet<&str>) = (expected.lines().collect(), found.lines().collect());
    for line in expected.lines().filter(|line| !new.contains(line)) {
        let _ = writeln!(message, "- {line}");
    }
    for line in found.lines().filter(|line| !old.contains(line)) {
        let _ = writeln!(message, "+ {line}");
    }
    Err(message)
}

/// Without what differs from run to run and from machine to machine: addresses, ids, paths outside the repository, and
/// the frames of libraries, whose lines change with their versions.
fn normalised(text: &str) -> String {
    let root = super::root().display().to_string() + "/";
    let mut out = String::new();
    for line in text.replace(&root, "").lines() {
        let Some(line) = shortened(line) else { continue };
        out.push_str(&numbers(&line));
        out.push('\n');
    }
    out
}

/// A line without what is outside the repository; nothing if there is nothing else in it.
fn shortened(line: &str) -> Option<String> {
    let trimmed = line.trim_start();
    if trimmed.starts_with("deadheat check ") {
        return Some("    deadheat check …".to_owned());
    }
    let frame = trimmed.starts_with('#');
    let ours = line.contains(" tests/programs/") || line.contains(" tests/libraries/");
    if frame && !ours {
        return None;
    }
    if frame {
        // Frames that were left out leave gaps in the numbers.
        let rest = trimmed.split_once(' ').map_or("", |(_, rest)| rest);
        return Some(format!("    # {rest}"));
    }
    Some(line.to_owned())
}

/// Addresses and process ids as words.
fn numbers(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("0x") {
        let (before, number) = rest.split_at(at);
        out.push_str(before);
        out.push_str("ADDRESS");
        rest = number[2..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    out.push_str(rest);
    out
}
