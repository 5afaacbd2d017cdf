//! SHRINKWRAP, Tables 5.1 and 5.2.

use super::Sources;
use crate::bench::markdown::{Table, number};
use crate::bench::results::{Point, Quantity};
use crate::bench::stat::geometric_mean;
use crate::bench::tables::mean;
use crate::bench::tools::NATIVE;
use crate::meter::thousands;
use anyhow::Result;

/// Programs that wait more than they compute: shown, and left out of means, as there.
const WAITING: [&str; 5] = ["elevator", "philosophers", "philo", "hedc", "jbb"];

/// Race checks and shadow states of FastTrack, and with compressed arrays.
pub fn table_5_1(sources: &Sources<'_>) -> Result<String> {
    let results = sources.results()?;
    let threads = results.threads().last().copied().unwrap_or(0);
    let head = [
        "program",
        "race checks: FastTrack",
        "compressed ×",
        "shadow states: FastTrack",
        "compressed ×",
    ];
    let mut table = Table::new(1, head);
    let mut ratios = [Vec::new(), Vec::new()];
    for (name, _) in results.workloads() {
        let mut row = vec![name.to_owned()];
        for (counter, ratios) in ["race-checks", "shadow-states"].iter().zip(&mut ratios) {
            let of = |tool| {
                results
                    .point(name, threads, tool)?
                    .counters
                    .get(*counter)
                    .copied()
            };
            let (plain, compressed) = (of("ft"), of("ss"));
            let ratio = match (plain, compressed) {
                (Some(plain), Some(compressed)) if plain > 0 => Some(compressed as f64 / plain as f64),
                _ => None,
            };
            ratios.extend(ratio.filter(|ratio| *ratio > 0.0));
            row.push(plain.map_or("–".to_owned(), thousands));
            row.push(ratio.map_or("–".to_owned(), number));
        }
        table.row(row);
    }
    let [checks, states] =
        ratios.map(|ratios| geometric_mean(ratios.into_iter()).map_or("–".to_owned(), number));
    table.row([
        "**geo. mean**".to_owned(),
        String::new(),
        checks,
        String::new(),
        states,
    ]);
    Ok(format!(
        "{table}\nFastTrack is deadheat with a check for each access, counted with `--tools ft,ss`; a state is that of eight bytes, or of \
         what is written down once for many. Means are of ratios above 0.\n"
    ))
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
