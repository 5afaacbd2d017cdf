//! Goldilocks, Tables 1 and 2.

use super::Sources;
use super::traces::analyse;
use crate::bench::markdown::{Table, number};
use crate::bench::results::{Quantity, Results};
use crate::bench::tools::NATIVE;
use crate::meter::thousands;
use anyhow::{Context, Result};
use deadheat_detect::select::{Choice, DetectorName};
use std::path::Path;

fn by(detector: DetectorName) -> Choice {
    Choice {
        detector,
        ..Choice::default()
    }
}

/// The native time of a program, if it was measured, with any number of threads.
fn native(results: &Results, name: &str) -> Option<f64> {
    let threads = *results.threads().last()?;
    Some(
        results
            .point(name, threads, NATIVE)?
            .spread(Quantity::Time)?
            .median,
    )
}

/// What times are multiples of: the program's own time, or, if no measurement has it, that of an analysis that checks nothing.
fn base(sources: &Sources<'_>, name: &str, path: &Path) -> Result<f64> {
    match sources.results {
        Some(results) => native(results, name).with_context(|| format!("{name} was not measured natively")),
        None => Ok(analyse(path, &by(DetectorName::Empty))?.seconds()),
    }
}

/// What [`base`] is.
fn base_name(sources: &Sources<'_>) -> &'static str {
    if sources.results.is_some() {
        "native"
    } else {
        "empty"
    }
}

/// What the times of a table are, and the slowdowns.
fn note(sources: &Sources<'_>) -> String {
    let base = match sources.results {
        Some(_) => "the native program's",
        None => {
            "that of an analysis of the same trace that checks nothing (--from RESULTS.json: the native program's)"
        }
    };
    format!(
        "Times are those of the analysis of a trace, without reading it and without running the program; slowdown is that time as a \
         multiple of {base}.\n"
    )
}

/// The three algorithms.
pub fn table_1(sources: &Sources<'_>) -> Result<String> {
    let detectors = [DetectorName::Vc, DetectorName::Eraser, DetectorName::Goldilocks];
    let base_s = format!("{} s", base_name(sources));
    let mut head = vec!["program".to_owned(), base_s, "accesses".to_owned()];
    for detector in detectors {
        head.push(format!("{detector} s"));
        head.push("slowdown".to_owned());
    }
    let mut table = Table::new(1, head);
    for (name, path) in &sources.traces()?.files {
        let base = base(sources, name, path)?;
        let mut row = vec![name.clone(), number(base), String::new()];
        for detector in detectors {
            let done = analyse(path, &by(detector))?;
            row[2] = thousands(done.accesses());
            row.extend([number(done.seconds()), number(done.seconds() / base)]);
        }
        table.row(row);
    }
    Ok(format!("{table}\n{}", note(sources)))
}

/// Goldilocks with all checks, and where a location is left alone after its first race.
pub fn table_2(sources: &Sources<'_>) -> Result<String> {
    let head = [
        "program",
        "s",
        "slowdown",
        "race checks",
        "s*",
        "slowdown*",
        "race checks*",
    ];
    let mut table = Table::new(1, head);
    for (name, path) in &sources.traces()?.files {
        let base = base(sources, name, path)?;
        let mut row = vec![name.clone()];
        for disable_after_race in [false, true] {
            let choice = Choice {
                disable_after_race,
                ..by(DetectorName::Goldilocks)
            };
            let done = analyse(path, &choice)?;
            row.extend([number(done.seconds()), number(done.seconds() / base)]);
            row.push(thousands(done.stats.race_checks));
        }
        table.row(row);
    }
    Ok(format!(
        "{table}\n\\* where a location is left alone after its first race. {}",
        note(sources)
    ))
}
