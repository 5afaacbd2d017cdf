//! `deadheat bench compare`: what got slower or bigger from one measurement to another, beyond noise.
//!
//! What is compared is the multiple of native in the same repetition, so that a machine that is slower today is not taken
//! for a slower tool. It has changed if the middle halves of the repetitions (from the first quartile to the third) have
//! nothing in common and the medians differ by more than a threshold. Fewer than [`ENOUGH`] repetitions do not show how far
//! they scatter, so whoever reads of a change is told so. A multiple that is no longer there is worse, and so are races
//! that were not reported before: the workloads have none.

use super::markdown::{Table, number};
use super::put;
use super::results::{Machine, Point, Quantity, Results};
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
    /// `time`, `memory` or `races`; or what is wrong now.
    pub what: &'static str,
    /// What it was and is.
    pub how: How,
}

/// What has changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    /// The multiple of native before, and now.
    Ratio(f64, f64),
    /// There was a multiple, and now there is none.
    Broken,
    /// So many races are reported, and there were none.
    Races(u64),
}

impl Change {
    /// Whether it is for the worse.
    pub fn is_worse(&self) -> bool {
        match self.how {
            How::Ratio(old, new) => new > old,
            How::Broken | How::Races(_) => true,
        }
    }
}

/// Runs the command. The tools are those whose changes count, by pattern.
pub fn run(old: &Path, new: &Path, threshold: f64, names: &[String]) -> Result<ExitCode> {
    let (old, new) = (Results::read(old)?, Results::read(new)?);
    known(names, &old, &new)?;
    let counts = |tool: &str| match names {
        [] => is_ours(tool),
        names => matches(names, tool),
    };
    let (changes, compared) = changes(&old, &new, threshold / 100.0);
    let (ours, others): (Vec<&Change>, Vec<&Change>) =
        changes.iter().partition(|change| counts(&change.tool));
    let compared: Vec<&Point> = compared.into_iter().filter(|point| counts(&point.tool)).collect();
    if compared.is_empty() && ours.is_empty() {
        bail!(
            "nothing can be compared: no workload with the same threads, size and tool has a multiple of native in both files; \
             --tools names tools other than deadheat's"
        );
    }
    if let Some(line) = differ(&old.machine, &new.machine) {
        put(format_args!("{line}\n"))?;
    }
    let mut table = Table::new(3, ["workload", "tool", "what", "before ×", "now ×", "change"]);
    for change in &ours {
        table.row(row(change));
    }
    if !table.is_empty() {
        put(&table)?;
    }
    // What is broken has nothing to do with noise.
    let others = others
        .iter()
        .filter(|change| matches!(change.how, How::Ratio(..)));
    let others = others.count();
    if others > 0 {
        put(format_args!(
            "{others} of the others changed as well, so the machine may not have been quiet."
        ))?;
    }
    let few = few(&old, &compared);
    if few > 0 {
        put(format_args!(
            "{few} of the {} compared have fewer than {ENOUGH} runs, which do not show noise: a change of these may be none. Measure with --runs {ENOUGH} or more.",
            compared.len()
        ))?;
    }
    for (word, one, other) in [("before", &old, &new), ("now", &new, &old)] {
        for name in alone(one, other, counts) {
            put(format_args!("Only measured {word}: {name}"))?;
        }
    }
    let worse = ours.iter().filter(|change| change.is_worse()).count();
    let broken = match ours.iter().filter(|change| change.how == How::Broken).count() {
        0 => String::new(),
        broken => format!(" ({broken} broken)"),
    };
    put(format_args!(
        "{} compared, {worse} worse{broken}, {} better.",
        compared.len(),
        ours.len() - worse
    ))?;
    Ok(ExitCode::from(u8::from(worse > 0)))
}

/// Refuses the name of a tool that neither file has: nothing of it would be compared, and that would look well.
fn known(names: &[String], old: &Results, new: &Results) -> Result<()> {
    let mut there: Vec<&str> = old.tool_names();
    there.extend(
        new.tool_names()
            .into_iter()
            .filter(|name| !old.tool_names().contains(name)),
    );
    there.retain(|tool| *tool != NATIVE);
    for name in names {
        if !there.iter().any(|tool| matches(std::slice::from_ref(name), tool)) {
            bail!(
                "neither file has a tool `{name}` that could be compared; there are {}",
                there.join(", ")
            );
        }
    }
    Ok(())
}

/// In what the machines differ, if they do.
fn differ(old: &Machine, new: &Machine) -> Option<String> {
    let pairs = [
        (old.cpu.clone(), new.cpu.clone()),
        (format!("{} cores", old.cores), format!("{} cores", new.cores)),
        // Of the same machine with another kernel, some kilobytes.
        (
            format!("{} kB", old.memory >> 10),
            format!("{} kB", new.memory >> 10),
        ),
        (format!("Linux {}", old.kernel), format!("Linux {}", new.kernel)),
    ];
    let parts: Vec<String> = pairs
        .iter()
        .filter(|(old, new)| old != new)
        .map(|(old, new)| format!("{old} and {new}"))
        .collect();
    (!parts.is_empty()).then(|| format!("The machines differ: {}.", parts.join(", ")))
}

fn is_ours(tool: &str) -> bool {
    // A row that is no longer in the table was ours: the others do not come and go.
    tools::named(tool).is_none_or(|tool| tool.build.compiler == Compiler::Ours)
}

fn row(change: &Change) -> [String; 6] {
    let (before, now, difference) = match change.how {
        How::Ratio(old, new) => {
            let percent = format!("{:+.1} %", (new / old - 1.0) * 100.0);
            (number(old), number(new), percent)
        }
        How::Broken => ("ok".to_owned(), "–".to_owned(), "broken".to_owned()),
        How::Races(races) => ("0".to_owned(), races.to_string(), "reported".to_owned()),
    };
    let head = [change.name.clone(), change.tool.clone(), change.what.to_owned()];
    let [name, tool, what] = head;
    [name, tool, what, before, now, difference]
}

/// All differences beyond noise, and the points that were compared: those with a multiple on both sides.
pub fn changes<'a>(old: &Results, new: &'a Results, threshold: f64) -> (Vec<Change>, Vec<&'a Point>) {
    let (mut changes, mut compared) = (Vec::new(), Vec::new());
    for now in new.points.iter().filter(|point| point.tool != NATIVE) {
        let Some(before) = old.beside(now, &now.tool) else {
            continue;
        };
        let mut change = |what, how| {
            changes.push(Change {
                name: name(now),
                tool: now.tool.clone(),
                what,
                how,
            });
        };
        let ratios = |quantity| (old.ratio(before, quantity), new.ratio(now, quantity));
        match (ratios(Quantity::Time), before.problem(), now.problem()) {
            ((Some(_), Some(_)), ..) => compared.push(now),
            (_, None, Some((word, _))) => change(word, How::Broken),
            ((Some(_), None), ..) => change("no native", How::Broken),
            ((None, _), ..) => {}
        }
        if let (0, races @ 1..) = (before.races(), now.races()) {
            change("races", How::Races(races));
        }
        for (quantity, what) in [(Quantity::Time, "time"), (Quantity::Memory, "memory")] {
            if let (Some(a), Some(b)) = ratios(quantity)
                && a.apart(b)
                && (b.median / a.median - 1.0).abs() > threshold
            {
                change(what, How::Ratio(a.median, b.median));
            }
        }
    }
    (changes, compared)
}

/// Of how many points that were compared one side has too few repetitions to show noise.
fn few(old: &Results, compared: &[&Point]) -> usize {
    let is_few = |now: &&&Point| {
        let before = old.beside(now, &now.tool);
        before.is_some_and(|before| now.samples.len().min(before.samples.len()) < ENOUGH)
    };
    compared.iter().filter(is_few).count()
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
        assert_eq!(slower[0].how, How::Ratio(3.1, 3.6));
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
        assert_eq!(changes(&old, &new, 0.03), (vec![], vec![]));
    }

    #[test]
    fn without_a_multiple_on_both_sides_nothing_is_compared() {
        let old = measured(&[3.0, 3.1], 20);
        assert_eq!(changes(&old, &old, 0.03).1.len(), 1);
        let mut alone = old.clone();
        alone.points.remove(0);
        let (broken, compared) = changes(&old, &alone, 0.03);
        assert_eq!((broken.len(), compared), (1, vec![]));
        assert!(broken[0].what == "no native" && broken[0].is_worse());
        assert_eq!(changes(&alone, &old, 0.03), (vec![], vec![]));
        let mut wrong = old.clone();
        wrong.points[0].samples[0].outcome = Outcome::Late;
        assert_eq!(compare(&old, &wrong)[0].how, How::Broken);
        assert_eq!(changes(&wrong, &wrong, 0.03), (vec![], vec![]));
    }

    #[test]
    fn races_where_there_were_none_are_worse() {
        let old = measured(&[3.0, 3.1], 20);
        let mut new = old.clone();
        new.points[1].samples[1].races = 2;
        let changes = compare(&old, &new);
        assert_eq!(changes.len(), 1);
        assert!(changes[0].how == How::Races(2) && changes[0].is_worse());
        assert_eq!(compare(&new, &new), []);
        assert_eq!(compare(&new, &old), []);
    }

    #[test]
    fn what_differs_between_machines_is_said() {
        let one = Machine {
            cpu: "A".to_owned(),
            cores: 2,
            memory: 5 << 20,
            kernel: "6.1".to_owned(),
        };
        assert_eq!(differ(&one, &one), None);
        let other = Machine {
            cores: 4,
            kernel: "6.2".to_owned(),
            ..one.clone()
        };
        assert_eq!(
            differ(&one, &other).as_deref(),
            Some("The machines differ: 2 cores and 4 cores, Linux 6.1 and Linux 6.2.")
        );
    }

    #[test]
    fn a_tool_that_neither_file_has_is_refused() {
        let (old, new) = (
            measured(&[3.0], 20),
            results(vec![point("fft", "tsan", &[1.0], 1)]),
        );
        let known = |name: &str| known(&[name.to_owned()], &old, &new);
        assert!(known("tsan").is_ok() && known("d*").is_ok());
        assert!(known(NATIVE).is_err(), "everything is a multiple of it");
        let error = known("tsen").unwrap_err().to_string();
        assert!(
            error.contains("`tsen`") && error.contains("deadheat, tsan"),
            "{error}"
        );
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
        let few = |old, new| few(old, &changes(old, new, 0.03).1);
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
