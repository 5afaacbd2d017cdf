//! `deadheat bench compare`: what got slower or bigger from one measurement to another, beyond noise.
//!
//! What is compared is the multiple of native in the same repetition, so that a machine that is slower today is not taken
//! for a slower tool. It has changed if the middle halves of the repetitions (from the first quartile to the third) have
//! nothing in common and the medians differ by more than a threshold. Fewer than [`ENOUGH`] repetitions do not show how far
//! they scatter, so whoever reads of a change is told so.

use super::markdown::{Table, number};
use super::put;
use super::results::{Point, Quantity, Results};
use super::tools::{self, Compiler, NATIVE};
use super::workload::matches;
use anyhow::{Result, bail};
use std::path::Path;
use std::process::ExitCode;

/// So many repetitions say something about noise.
const ENOUGH: usize = 3;

/// A difference beyond noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What it is about.
    pub name: String,
    /// The tool.
    pub tool: String,
    /// `time` or `memory`; or what is wrong now.
    pub what: &'static str,
    /// Multiple of native before, and now.
    pub ratios: Option<(f64, f64)>,
}

impl Change {
    /// Whether it is for the worse.
    pub fn is_worse(&self) -> bool {
        self.ratios.is_none_or(|(old, new)| new > old)
    }
}

/// Runs the command. The tools are those whose changes count, by pattern.
pub fn run(old: &Path, new: &Path, threshold: f64, names: &[String]) -> Result<ExitCode> {
    let (old, new) = (Results::read(old)?, Results::read(new)?);
    let (changes, compared) = changes(&old, &new, threshold / 100.0);
    if compared == 0 {
        bail!("the two files have nothing in common: no workload with the same threads, size and tool");
    }
    if old.machine != new.machine {
        put(format_args!(
            "The machines differ: {} and {}.\n",
            old.machine.cpu, new.machine.cpu
        ))?;
    }
    let counts = |tool: &str| match names {
        [] => is_ours(tool),
        names => matches(names, tool),
    };
    let (ours, others): (Vec<&Change>, Vec<&Change>) =
        changes.iter().partition(|change| counts(&change.tool));
    let mut table = Table::new(3, ["workload", "tool", "what", "before ×", "now ×", "change"]);
    for change in &ours {
        table.row(row(change));
    }
    if !table.is_empty() {
        put(&table)?;
    }
    if !others.is_empty() {
        put(format_args!(
            "{} of the others changed as well, so the machine may not have been quiet.",
            others.len()
        ))?;
    }
    let few = few(&old, &new, counts);
    if few > 0 {
        put(format_args!(
            "{few} of them with fewer than {ENOUGH} runs, which do not show noise: a change of these may be none. Measure with --runs {ENOUGH} or more."
        ))?;
    }
    for (word, one, other) in [("before", &old, &new), ("now", &new, &old)] {
        for name in alone(one, other, counts) {
            put(format_args!("Only measured {word}: {name}"))?;
        }
    }
    let worse = ours.iter().filter(|change| change.is_worse()).count();
    put(format_args!(
        "{compared} compared, {worse} worse, {} better.",
        ours.len() - worse
    ))?;
    Ok(ExitCode::from(u8::from(worse > 0)))
}

fn is_ours(tool: &str) -> bool {
    // A row that is no longer in the table was ours: the others do not come and go.
    tools::named(tool).is_none_or(|tool| tool.build.compiler == Compiler::Ours)
}

fn row(change: &Change) -> [String; 6] {
    let head = [change.name.clone(), change.tool.clone(), change.what.to_owned()];
    let [name, tool, what] = head;
    match change.ratios {
        Some((old, new)) => {
            let percent = format!("{:+.1} %", (new / old - 1.0) * 100.0);
            [name, tool, what, number(old), number(new), percent]
        }
        None => [
            name,
            tool,
            what,
            "ok".to_owned(),
            "–".to_owned(),
            "broken".to_owned(),
        ],
    }
}

/// All differences beyond noise, and how many points were compared.
pub fn changes(old: &Results, new: &Results, threshold: f64) -> (Vec<Change>, usize) {
    let (mut changes, mut compared) = (Vec::new(), 0);
    for now in new.points.iter().filter(|point| point.tool != NATIVE) {
        let Some(before) = old.beside(now, &now.tool) else {
            continue;
        };
        compared += 1;
        let change = |what, ratios| Change {
            name: name(now),
            tool: now.tool.clone(),
            what,
            ratios,
        };
        if let (None, Some((word, _))) = (before.problem(), now.problem()) {
            changes.push(change(word, None));
            continue;
        }
        for (quantity, what) in [(Quantity::Time, "time"), (Quantity::Memory, "memory")] {
            let ratios = (old.ratio(before, quantity), new.ratio(now, quantity));
            if let (Some(a), Some(b)) = ratios
                && a.apart(b)
                && (b.median / a.median - 1.0).abs() > threshold
            {
                changes.push(change(what, Some((a.median, b.median))));
            }
        }
    }
    (changes, compared)
}

/// Of how many points that count and are in both, one side has too few repetitions to show noise.
fn few(old: &Results, new: &Results, counts: impl Fn(&str) -> bool) -> usize {
    let points = new.points.iter();
    let measured = points.filter(|point| point.tool != NATIVE && counts(&point.tool));
    let is_few = |now: &&Point| {
        let before = old.beside(now, &now.tool);
        before.is_some_and(|before| now.samples.len().min(before.samples.len()) < ENOUGH)
    };
    measured.filter(is_few).count()
}

/// The points that count and are only in the first.
fn alone(one: &Results, other: &Results, counts: impl Fn(&str) -> bool) -> Vec<String> {
    let points = one.points.iter();
    let measured = points.filter(|point| point.tool != NATIVE && counts(&point.tool));
    measured
        .filter(|point| other.beside(point, &point.tool).is_none())
        .map(|point| format!("{} with {}", name(point), point.tool))
        .collect()
}

/// Workload, threads and size.
fn name(point: &Point) -> String {
    format!("{} {} {}", point.workload, point.threads, point.size)
}

#[cfg(test)]
mod tests {
    use super::super::results::Outcome;
    use super::super::results::tests::{point, results};
    use super::*;

    fn measured(seconds: &[f64], megabytes: u64) -> Results {
        let native = vec![1.0; seconds.len()];
        results(vec![
            point("fft", NATIVE, &native, 10),
            point("fft", "deadheat", seconds, megabytes),
        ])
    }

    fn compare(old: &Results, new: &Results) -> Vec<Change> {
        changes(old, new, 0.03).0
    }

    #[test]
    fn what_is_beyond_noise_is_named() {
        let old = measured(&[3.0, 3.1, 3.2], 20);
        assert_eq!(compare(&old, &old), []);
        let slower = compare(&old, &measured(&[3.5, 3.6, 3.7], 20));
        assert_eq!(slower.len(), 1);
        assert!(slower[0].what == "time" && slower[0].is_worse());
        assert_eq!(slower[0].ratios, Some((3.1, 3.6)));
        let faster = compare(&old, &measured(&[2.0, 2.1, 2.2], 20));
        assert!(!faster[0].is_worse());
        let bigger = compare(&old, &measured(&[3.0, 3.1, 3.2], 40));
        assert!(bigger[0].what == "memory" && bigger[0].is_worse());
    }

    #[test]
    fn noise_is_not() {
        let old = measured(&[3.0, 3.1, 3.2], 20);
        // The middle halves overlap.
        assert_eq!(compare(&old, &measured(&[2.9, 3.15, 4.0], 20)), []);
        // They do not, but the difference is small.
        assert_eq!(
            compare(
                &measured(&[3.0, 3.0, 3.0], 20),
                &measured(&[3.05, 3.05, 3.05], 20)
            ),
            []
        );
        // The machine was slower as a whole.
        let mut slow = measured(&[6.0, 6.2, 6.4], 20);
        for sample in &mut slow.points[0].samples {
            sample.seconds = 2.0;
        }
        assert_eq!(compare(&old, &slow), []);
    }

    #[test]
    fn what_no_longer_works_is_worse() {
        let old = measured(&[3.0, 3.1], 20);
        let mut new = old.clone();
        new.points[1].samples[0].outcome = Outcome::Wrong("wrong 1".to_owned());
        let change = &compare(&old, &new)[0];
        assert!(change.what == "wrong" && change.is_worse());
        assert_eq!(
            compare(&new, &old),
            [],
            "and what works now is no change to worry about"
        );
    }

    #[test]
    fn only_what_is_in_both_is_compared() {
        let old = measured(&[3.0], 20);
        let mut new = old.clone();
        new.points[1].size = 7;
        assert_eq!(changes(&old, &new, 0.03), (vec![], 0));
    }

    #[test]
    fn what_only_one_has_is_named() {
        let old = measured(&[3.0], 20);
        let mut new = old.clone();
        assert_eq!(alone(&old, &new, |_| true), Vec::<String>::new());
        new.points[1].size = 7;
        // The native program is what others are compared with, and no point of its own.
        new.points[0].threads = 9;
        assert_eq!(alone(&old, &new, |_| true), ["fft 2 100 with deadheat"]);
        assert_eq!(alone(&new, &old, |_| true), ["fft 2 7 with deadheat"]);
        assert_eq!(alone(&new, &old, |tool| tool == "tsan"), Vec::<String>::new());
    }

    #[test]
    fn fewer_than_three_runs_on_either_side_say_nothing_of_noise() {
        let (two, three) = (measured(&[3.0, 3.1], 20), measured(&[3.0, 3.1, 3.2], 20));
        let few = |old, new| few(old, new, |_| true);
        assert_eq!((few(&two, &three), few(&three, &two)), (1, 1));
        assert_eq!(few(&three, &three), 0);
        let mut other = two.clone();
        other.points[1].size = 7;
        assert_eq!(few(&three, &other), 0, "what is not compared does not count");
    }

    #[test]
    fn ours_are_the_rows_that_deadheat_builds() {
        assert!(is_ours("deadheat") && is_ours("empty") && is_ours("deadheat-of-before"));
        assert!(!is_ours("tsan") && !is_ours("drd"));
    }
}
