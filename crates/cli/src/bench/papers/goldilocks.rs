//! Goldilocks, Tables 1 and 2.

use super::Sources;
use super::traces::analyse;
use crate::bench::markdown::{Table, number};
use crate::bench::results::{Quantity, Results};
use crate::bench::tools::NATIVE;
use crate::meter::thousands;
use anyhow::Result;
use deadheat_detect::select::{Choice, DetectorName};

fn by(detector: DetectorName) -> Choice {
    Choice {
        detector,
        ..Choice::default()
    }
}

/// The native time of a program, if it was measured, with any number of threads.
fn native(results: Option<&Results>, name: &str) -> Option<f64> {
    let results = results?;
    let threads = *results.threads().last()?;
    Some(
        results
            .point(name, threads, NATIVE)?
            .spread(Quantity::Time)?
            .median,
    )
}

/// Time and slowdown: of the analysis of the trace, as a multiple of native.
fn pair(seconds: f64, native: Option<f64>) -> [String; 2] {
    [
        number(seconds),
        native.map_or("–".to_owned(), |native| number(seconds / native)),
    ]
}

/// The three algorithms.
pub fn table_1(sources: &Sources<'_>) -> Result<String> {
    let detectors = [DetectorName::Vc, DetectorName::Eraser, DetectorName::Goldilocks];
    let mut head = vec!["program".to_owned(), "native s".to_owned(), "accesses".to_owned()];
    for detector in detectors {
        head.push(format!("{detector} s"));
        head.push("slowdown".to_owned());
    }
    let mut table = Table::new(1, head);
    for (name, path) in &sources.traces()?.files {
        let native = native(sources.results, name);
        let mut row = vec![name.clone(), native.map_or("–".to_owned(), number), String::new()];
        for detector in detectors {
            let done = analyse(path, &by(detector))?;
            row[2] = thousands(done.accesses());
            row.extend(pair(done.seconds(), native));
        }
        table.row(row);
    }
    Ok(format!("{table}\n{OFFLINE}"))
}

const OFFLINE: &str = "Times are those of the analysis of a trace, without reading it and without running the program; \
                       slowdown is that time as a multiple of the native one (--from RESULTS.json has it).\n";

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
        let native = native(sources.results, name);
        let mut row = vec![name.clone()];
        for disable_after_race in [false, true] {
            let choice = Choice {
                disable_after_race,
                ..by(DetectorName::Goldilocks)
            };
            let done = analyse(path, &choice)?;
            row.extend(pair(done.seconds(), native));
            row.push(thousands(done.stats.race_checks));
        }
        table.row(row);
    }
    Ok(format!(
        "{table}\n\\* where a location is left alone after its first race. {OFFLINE}"
    ))
}
