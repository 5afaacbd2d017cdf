//! SHRINKWRAP, Tables 5.1 and 5.2.

use super::Sources;
use super::traces::analyse;
use crate::bench::markdown::{Table, number};
use crate::bench::results::{Point, Quantity};
use crate::bench::stat::geometric_mean;
use crate::bench::tables::mean;
use crate::bench::tools::NATIVE;
use crate::meter::thousands;
use anyhow::Result;
use deadheat_detect::select::Choice;

/// Programs that wait more than they compute: shown, and left out of means, as there.
const WAITING: [&str; 5] = ["elevator", "philosophers", "philo", "hedc", "jbb"];

/// Race checks and shadow states of FastTrack, and with compressed arrays.
pub fn table_5_1(sources: &Sources<'_>) -> Result<String> {
    let head = [
        "program",
        "race checks: FastTrack",
        "compressed ×",
        "shadow states: FastTrack",
        "compressed ×",
    ];
    let mut table = Table::new(1, head);
    let (mut checks, mut states) = (Vec::new(), Vec::new());
    for (name, path) in &sources.traces()?.files {
        let plain = analyse(path, &Choice::default())?.stats;
        let compress = Choice {
            compress: true,
            ..Choice::default()
        };
        let small = analyse(path, &compress)?.stats;
        let ratio = |before: u64, after: u64| (before > 0).then(|| after as f64 / before as f64);
        let pair = (
            ratio(plain.race_checks, small.race_checks),
            ratio(plain.shadow_states, small.shadow_states),
        );
        checks.extend(pair.0.filter(|ratio| *ratio > 0.0));
        states.extend(pair.1.filter(|ratio| *ratio > 0.0));
        let cell = |ratio: Option<f64>| ratio.map_or("–".to_owned(), number);
        table.row([
            name.clone(),
            thousands(plain.race_checks),
            cell(pair.0),
            thousands(plain.shadow_states),
            cell(pair.1),
        ]);
    }
    let cell = |ratios: Vec<f64>| geometric_mean(ratios.into_iter()).map_or("–".to_owned(), number);
    table.row([
        "**geo. mean**".to_owned(),
        String::new(),
        cell(checks),
        String::new(),
        cell(states),
    ]);
    Ok(table.to_string())
}

/// Slowdowns. Each of what was measured; of several numbers of threads, the largest.
pub fn table_5_2(sources: &Sources<'_>) -> Result<String> {
    let results = sources.results()?;
    let columns = ["empty", "ft", "ss"];
    let threads = results.threads().last().copied().unwrap_or(0);
    let mut table = Table::new(
        1,
        [
            "program",
            "threads",
            "base s",
            "EMPTY ×",
            "FASTTRACK ×",
            "SHRINKWRAP ×",
        ],
    );
    let mut counted: Vec<&Point> = Vec::new();
    for (name, _) in results.workloads() {
        let Some(native) = results.point(name, threads, NATIVE) else {
            continue;
        };
        let waits = WAITING.contains(&name);
        if !waits {
            counted.push(native);
        }
        let star = if waits { " \\*" } else { "" };
        let mut row = vec![format!("{name}{star}"), threads.to_string()];
        row.push(
            native
                .spread(Quantity::Time)
                .map_or("–".to_owned(), |spread| number(spread.median)),
        );
        row.extend(columns.map(|tool| {
            let ratio = results
                .beside(native, tool)
                .and_then(|point| results.ratio(point, Quantity::Time));
            ratio.map_or("–".to_owned(), |spread| number(spread.median))
        }));
        table.row(row);
    }
    let mut row = vec!["**geo. mean**".to_owned(), String::new(), String::new()];
    row.extend(columns.map(|tool| {
        mean(results, &counted, tool, Quantity::Time)
            .0
            .map_or("–".to_owned(), number)
    }));
    table.row(row);
    Ok(format!(
        "{table}\nFASTTRACK is deadheat with a check for each access, SHRINKWRAP the same with compressed shadow; they are measured \
         with `--tools native,empty,ft,ss`. Programs with \\* wait more than they compute and are not in the means.\n"
    ))
}
