//! SHRINKWRAP, Tables 5.1 and 5.2.

use super::{Sources, arrays};
use crate::bench::markdown::{Table, number};
use crate::bench::results::{Point, Quantity};
use crate::bench::stat::geometric_mean;
use crate::bench::tables::mean;
use crate::bench::tools::NATIVE;
use crate::meter::thousands;
use anyhow::{Context, Result};
use deadheat_detect::select::{self, Choice, DetectorName};
use deadheat_event::Stats;
use deadheat_trace::read_all;
use std::path::Path;

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
    let mut ratios = [Vec::new(), Vec::new()];
    for (name, path) in &sources.traces()?.files {
        let [plain, compressed] = both(path)?;
        let mut row = vec![name.clone()];
        let counted = [
            (plain.race_checks, compressed.race_checks),
            (plain.shadow_states, compressed.shadow_states),
        ];
        for ((plain, compressed), ratios) in counted.into_iter().zip(&mut ratios) {
            let ratio = (plain > 0).then(|| compressed as f64 / plain as f64);
            ratios.extend(ratio.filter(|ratio| *ratio > 0.0));
            row.push(thousands(plain));
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
        "{table}\nOf the analysis of a trace by FastTrack, without and with compressed arrays; states are those at the end, which FastTrack has \
         for each element, in groups of 64. Arrays are blocks of memory whose accesses part them into 16 or more elements of one size, so \
         that a matrix in one block is one array, and not one for each row as in Java. Means are of ratios above 0.\n"
    ))
}

/// What FastTrack counts on a trace whose blocks are arrays, without and with compression.
fn both(path: &Path) -> Result<[Stats; 2]> {
    let mut source = crate::traces::open(path)?;
    let (mut events, tables) = read_all(&mut *source).with_context(|| path.display().to_string())?;
    arrays::make(&mut events, &tables);
    let count = |compress| -> Result<Stats> {
        let mut analysis = select::analysis(&Choice {
            detector: DetectorName::FastTrack,
            compress,
            ..Choice::default()
        })?;
        analysis.process(&events, &tables, &mut |_| ());
        analysis.finish(&mut |_| ());
        Ok(analysis.stats())
    };
    Ok([count(false)?, count(true)?])
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    #[test]
    fn a_block_that_is_filled_and_halved_has_two_states() {
        let mut text = String::from("main alloc 0x1000:1024\n");
        let fill = |text: &mut String, thread: &str, from: u64, to: u64| {
            for n in from..to {
                let _ = writeln!(text, "{thread} w {:#x}:8", 0x1000 + 8 * n);
            }
        };
        fill(&mut text, "main", 0, 128);
        text.push_str("main fork A; main fork B\n");
        fill(&mut text, "A", 0, 64);
        fill(&mut text, "B", 64, 128);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("halves.txt");
        std::fs::write(&path, text).unwrap();
        let [plain, compressed] = both(&path).unwrap();
        assert_eq!((plain.race_checks, plain.shadow_states), (256, 128));
        // The whole at once, and each half.
        assert_eq!((compressed.race_checks, compressed.shadow_states), (3, 2));
    }
}
