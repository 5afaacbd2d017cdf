//! `deadheat explain-checks`: what became of the check of each access, beside the source.

mod html;

use super::check::{self, Purpose};
use super::compilers::Language;
use crate::args::{ExplainChecks, Target};
use crate::files::Output;
use anyhow::{Context, Result, bail};
use deadheat_instrument::decisions::{self, Decision, Rule};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &ExplainChecks) -> Result<ExitCode> {
    let html = match &args.html {
        Some(path) => Some(Output::open(path, &args.file)?),
        None => None,
    };
    let made = tempfile::tempdir().context("cannot make a temporary directory")?;
    let program = match Language::of(&args.file) {
        Some(_) => {
            let target = Target {
                target: args.file.clone(),
                arguments: Vec::new(),
                cflags: args.cflags.clone(),
                rustflags: args.rustflags.clone(),
                keep: None,
            };
            check::program(&target, made.path(), Purpose::Explain(args.build.placement))?
        }
        None if args.build.placement.is_some() => {
            bail!("--placement is for sources; {} is built", args.file.display())
        }
        None => args.file.clone(),
    };
    let found = decisions::read(&program).with_context(|| format!("cannot read {}", args.file.display()))?;
    let Some(mut found) = found else {
        bail!(
            "{} does not say what became of its checks; give the source, or build with DEADHEAT_EXPLAIN=1",
            args.file.display()
        );
    };
    if !args.all {
        found.retain(|decision| !is_of_others(&decision.file));
    }
    let sources = sources(found);
    match html {
        Some(output) => output.write(html::page(&sources).as_bytes())?,
        None => io::stdout().lock().write_all(text(&sources).as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a source belongs to the system or the toolchain.
fn is_of_others(path: &str) -> bool {
    path.starts_with("/usr/") || path.starts_with("/rustc/") || path.contains("/rustlib/")
}

/// A source and what became of the accesses in it.
struct Source {
    path: String,
    /// As far as it can be read.
    lines: Vec<String>,
    /// By line, each with how often it is there: a function may be in several others.
    notes: BTreeMap<u32, Vec<(Decision, usize)>>,
}

fn sources(found: Vec<Decision>) -> Vec<Source> {
    let mut by_file: BTreeMap<String, Vec<Decision>> = BTreeMap::new();
    for decision in found {
        by_file.entry(decision.file.clone()).or_default().push(decision);
    }
    let source = |(path, found): (String, Vec<Decision>)| {
        let text = std::fs::read(&path).unwrap_or_default();
        let lines = String::from_utf8_lossy(&text)
            .lines()
            .map(str::to_owned)
            .collect();
        let mut notes: BTreeMap<u32, Vec<(Decision, usize)>> = BTreeMap::new();
        for decision in found {
            let here = notes.entry(decision.line).or_default();
            let like = |other: &&mut (Decision, usize)| alike(&other.0, &decision);
            match here.iter_mut().find(like) {
                Some((_, count)) => *count += 1,
                None => here.push((decision, 1)),
            }
        }
        for here in notes.values_mut() {
            here.sort_by(|(one, _), (other, _)| (one.column, one).cmp(&(other.column, other)));
        }
        Source { path, lines, notes }
    };
    by_file.into_iter().map(source).collect()
}

/// Whether two say the same to the reader of a line.
fn alike(one: &Decision, other: &Decision) -> bool {
    let key = |it: &Decision| (it.column, it.write, it.bytes, it.rule, it.by);
    key(one) == key(other)
}

impl Source {
    /// How many of the accesses of a line have a check of their own, and how many there are.
    fn share(&self, line: u32) -> Option<(usize, usize)> {
        let here = self.notes.get(&line)?;
        let sum = |only: Option<Rule>| {
            let counted = here
                .iter()
                .filter(|(it, _)| only.is_none_or(|rule| it.rule == rule));
            counted.map(|(_, count)| count).sum()
        };
        Some((sum(Some(Rule::Checked)), sum(None)))
    }
}

/// What is to be said of an access, in words.
fn words(decision: &Decision, count: usize) -> String {
    let mut text = String::from(if decision.write { "write" } else { "read" });
    match decision.bytes {
        Some(1) => text.push_str(" of 1 byte"),
        Some(bytes) => drop(write!(text, " of {bytes} bytes")),
        None => {}
    }
    let _ = write!(text, ": {}", decision.rule.about());
    if let Some(line) = decision.by {
        let _ = write!(text, ", in line {line}");
    }
    if count > 1 {
        let _ = write!(text, " ({count} times)");
    }
    text
}

/// How many accesses there are of each rule.
fn summary(sources: &[Source]) -> Vec<(Rule, usize)> {
    let all = || {
        let notes = sources.iter().flat_map(|source| source.notes.values());
        notes.flatten()
    };
    let count = |rule: Rule| {
        all()
            .filter(|(it, _)| it.rule == rule)
            .map(|(_, count)| count)
            .sum()
    };
    Rule::ALL
        .into_iter()
        .map(|rule| (rule, count(rule)))
        .filter(|&(_, count)| count > 0)
        .collect()
}

/// For people: lines with accesses, how many of them are checked there, and why the others are not.
fn text(sources: &[Source]) -> String {
    let mut text = String::new();
    for source in sources {
        let _ = writeln!(text, "{}", source.path);
        for (&line, here) in &source.notes {
            let (checked, all) = source.share(line).unwrap_or_default();
            let code = source
                .lines
                .get(line as usize - 1)
                .map_or("", |code| code.trim_end());
            let share = format!("{checked}/{all}");
            let _ = writeln!(text, "{line:6} {share:>7}  {code}");
            for (decision, count) in here.iter().filter(|(it, _)| it.rule != Rule::Checked) {
                let _ = writeln!(text, "{:16}- {}", "", words(decision, *count));
            }
        }
        text.push('\n');
    }
    let summary = summary(sources);
    let all: usize = summary.iter().map(|(_, count)| count).sum();
    let _ = writeln!(text, "{all} accesses, of which");
    for (rule, count) in summary {
        let _ = writeln!(text, "{count:6}  {}: {}", rule.as_str(), rule.about());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(line: u32, rule: Rule, by: Option<u32>, function: &str) -> Decision {
        Decision {
            file: "/no/such.c".into(),
            line,
            column: 3,
            function: function.into(),
            write: false,
            bytes: Some(4),
            rule,
            by,
        }
    }

    #[test]
    fn the_text_has_lines_reasons_and_a_summary() {
        let sources = sources(vec![
            decision(7, Rule::Checked, None, "f"),
            decision(7, Rule::Covered, Some(5), "f"),
            decision(7, Rule::Covered, Some(5), "g"),
        ]);
        assert_eq!(
            text(&sources),
            "/no/such.c\n     7     1/3  \n                - read of 4 bytes: a check before it stands for it, in line 5 (2 times)\n\n\
             3 accesses, of which\n     1  checked: checked where it is\n     2  covered: a check before it stands for it\n"
        );
        let page = html::page(&sources);
        assert!(
            page.contains("in line 5 (2 times)") && page.contains("<tr class=\"some\">"),
            "{page}"
        );
    }
}
