//! The tables of a measurement: time, memory, races, counters.

use super::counters;
use super::markdown::{Table, megabytes, number};
use super::results::{Point, Quantity, Results};
use super::stat::{Spread, geometric_mean};
use super::tools::NATIVE;
use crate::meter::thousands;
use std::fmt::Write;

/// Everything.
pub fn all(results: &Results) -> String {
    let mut text = String::new();
    for threads in results.threads() {
        let s = if threads == 1 { "" } else { "s" };
        for (quantity, title, unit) in [
            (Quantity::Time, "Time", "native s"),
            (Quantity::Memory, "Peak memory", "native MB"),
        ] {
            let _ = writeln!(text, "## {title}, {threads} thread{s}\n");
            let _ = writeln!(text, "{}", measured(results, threads, quantity, unit));
        }
    }
    let races = races(results);
    if !races.is_empty() {
        let _ = writeln!(text, "## Races reported\n\n{races}");
    }
    let counted = counted(results);
    if !counted.is_empty() {
        let _ = writeln!(text, "## Counters of deadheat\n\n{counted}");
        for (name, meaning) in counters::NAMES {
            let _ = writeln!(text, "- {name}: {meaning}");
        }
    }
    text
}

/// Multiples of native, and what native took.
fn measured(results: &Results, threads: u64, quantity: Quantity, unit: &str) -> Table {
    let tools: Vec<&str> = results
        .tool_names()
        .into_iter()
        .filter(|name| *name != NATIVE)
        .collect();
    let mut head = vec!["workload".to_owned(), "size".to_owned(), unit.to_owned()];
    head.extend(tools.iter().map(|tool| format!("{tool} ×")));
    let mut table = Table::new(1, head);
    let suites = suites(results);
    for suite in &suites {
        let rows = rows(results, threads, |of| of == *suite);
        for first in &rows {
            let mut row = vec![first.workload.clone(), first.size.to_string()];
            // What the first tool took is not native's.
            let native = results.native(first);
            let spread = native.and_then(|native| native.spread(quantity));
            let problem = native.and_then(Point::problem);
            row.push(match (spread, problem) {
                (Some(spread), _) => cell(spread, |value| plain(quantity, value)),
                (None, Some((word, _))) => word.to_owned(),
                (None, None) => "–".to_owned(),
            });
            row.extend(tools.iter().map(|tool| ratio(results, first, tool, quantity)));
            table.row(row);
        }
        if rows.len() > 1 && suites.len() > 1 {
            table.row(means(
                results,
                &rows,
                &tools,
                quantity,
                &format!("**mean of {suite}**"),
            ));
        }
    }
    let rows = rows(results, threads, |_| true);
    table.row(means(results, &rows, &tools, quantity, "**mean**"));
    table
}

/// The suites, in order.
fn suites(results: &Results) -> Vec<&str> {
    let mut suites: Vec<&str> = results.workloads().into_iter().map(|(_, suite)| suite).collect();
    suites.dedup();
    suites
}

/// The points that rows are made of, by any tool that was run: native's if there is one.
fn rows(results: &Results, threads: u64, of: impl Fn(&str) -> bool) -> Vec<&Point> {
    let first = results.tool_names().first().copied().unwrap_or(NATIVE).to_owned();
    let points = results.points.iter();
    points
        .filter(|point| point.tool == first && point.threads == threads && of(&point.suite))
        .collect()
}

fn ratio(results: &Results, row: &Point, tool: &str, quantity: Quantity) -> String {
    let Some(point) = results.beside(row, tool) else {
        return "–".to_owned();
    };
    match (results.ratio(point, quantity), point.problem()) {
        (Some(spread), _) => cell(spread, number),
        (None, Some((word, _))) => word.to_owned(),
        // Without native, what was measured itself.
        (None, None) => point.spread(quantity).map_or("–".to_owned(), |spread| {
            format!("({})", plain(quantity, spread.median))
        }),
    }
}

fn means(results: &Results, rows: &[&Point], tools: &[&str], quantity: Quantity, name: &str) -> Vec<String> {
    let mut row = vec![name.to_owned(), String::new(), String::new()];
    row.extend(tools.iter().map(|tool| {
        let (mean, of) = mean(results, rows, tool, quantity);
        match mean {
            Some(mean) if of == rows.len() => format!("**{}**", number(mean)),
            // Means of different programs cannot be compared.
            Some(mean) => format!("{} ({of} of {})", number(mean), rows.len()),
            None => "–".to_owned(),
        }
    }));
    row
}

/// The geometric mean of a tool's ratios, and of how many workloads.
pub fn mean(results: &Results, rows: &[&Point], tool: &str, quantity: Quantity) -> (Option<f64>, usize) {
    let ratios: Vec<f64> = rows
        .iter()
        .filter_map(|row| results.ratio(results.beside(row, tool)?, quantity))
        .map(|spread| spread.median)
        .collect();
    (geometric_mean(ratios.iter().copied()), ratios.len())
}

fn plain(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Time => number(value),
        Quantity::Memory => megabytes(value),
    }
}

/// The median, and the quartiles where they are something else.
fn cell(spread: Spread, print: impl Fn(f64) -> String) -> String {
    let [low, median, high] = [spread.low, spread.median, spread.high].map(print);
    if low == high {
        median
    } else {
        format!("{median} ({low}–{high})")
    }
}

/// How many races each tool reported, where one did. The workloads are free of races.
fn races(results: &Results) -> Table {
    let mut head = vec!["workload", "tool", "threads", "races"];
    // Of one size it is clear which.
    let several = results
        .workloads()
        .iter()
        .any(|(name, _)| results.sizes(name).len() > 1);
    if several {
        head.insert(3, "size");
    }
    let mut table = Table::new(2, head);
    for point in results.points.iter().filter(|point| point.races() > 0) {
        let mut row = vec![
            point.workload.clone(),
            point.tool.clone(),
            point.threads.to_string(),
            point.races().to_string(),
        ];
        if several {
            row.insert(3, point.size.to_string());
        }
        table.row(row);
    }
    table
}

/// The counters, the variants of a workload below each other.
fn counted(results: &Results) -> Table {
    let counted = || results.points.iter().filter(|point| !point.counters.is_empty());
    let mut head = vec!["workload".to_owned(), "threads".to_owned(), "size".to_owned()];
    head.extend(counters::NAMES.iter().map(|(name, _)| (*name).to_owned()));
    head.insert(5, "check ratio".to_owned());
    // Of one tool it is clear whose they are.
    let several = counted().any(|point| Some(&point.tool) != counted().next().map(|first| &first.tool));
    if several {
        head.insert(1, "tool".to_owned());
    }
    let mut table = Table::new(1 + usize::from(several), head);
    for point in counted() {
        let mut row = vec![
            point.workload.clone(),
            point.threads.to_string(),
            point.size.to_string(),
        ];
        row.extend(counters::NAMES.iter().map(|(name, _)| {
            let value = point.counters.get(*name);
            value.map_or("–".to_owned(), |value| thousands(*value))
        }));
        let ratio = counters::check_ratio(&point.counters);
        row.insert(5, ratio.map_or("–".to_owned(), number));
        if several {
            row.insert(1, point.tool.clone());
        }
        table.row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::results::Outcome;
    use super::super::results::tests::{point, results};
    use super::*;

    #[test]
    fn ratios_means_and_what_went_wrong_are_shown() {
        let mut all_points = results(vec![
            point("fft", NATIVE, &[1.0, 1.0], 10),
            point("fft", "tsan", &[4.0, 4.0], 40),
            point("lu", NATIVE, &[1.0, 1.0], 10),
            point("lu", "tsan", &[9.0, 9.0], 40),
        ]);
        let text = all(&all_points);
        assert!(text.contains("| fft | 100 | 1.00 | 4.00 |"), "{text}");
        assert!(text.contains("| **mean** |  |  | **6.00** |"), "{text}");
        all_points.points[3].samples[0].outcome = Outcome::Late;
        all_points.points[1].samples[0].races = 2;
        let text = all(&all_points);
        assert!(text.contains("| lu | 100 | 1.00 | timeout |"), "{text}");
        assert!(text.contains("| **mean** |  |  | 4.00 (1 of 2) |"), "{text}");
        assert!(text.contains("| fft | tsan | 2 | 2 |"), "{text}");
        let mut larger = all_points.points[1].clone();
        larger.size = 700;
        all_points.points.push(larger);
        let text = all(&all_points);
        assert!(text.contains("| fft | tsan | 2 | 700 | 2 |"), "{text}");
    }

    #[test]
    fn without_native_nothing_is_called_native() {
        let alone = results(vec![point("fft", "deadheat", &[3.0], 10)]);
        let text = all(&alone);
        assert!(text.contains("| fft | 100 | – | (3.00) |"), "{text}");
    }

    #[test]
    fn the_spread_is_shown_where_there_is_one() {
        let spread = Spread::of([1.0, 1.5, 2.0].into_iter()).unwrap();
        assert_eq!(cell(spread, number), "1.50 (1.25–1.75)");
    }

    #[test]
    fn counters_have_their_ratio_beside_them() {
        let mut all_points = results(vec![point("fft", "deadheat", &[1.0], 10)]);
        let counters = &mut all_points.points[0].counters;
        counters.insert("accesses".to_owned(), 4000);
        counters.insert("checks".to_owned(), 1000);
        let text = all(&all_points);
        assert!(
            text.contains("| fft | 2 | 100 | 4,000 | 1,000 | 0.25 | – |"),
            "{text}"
        );
        let mut variant = all_points.points[0].clone();
        variant.tool = "pl".to_owned();
        all_points.points.push(variant);
        let text = all(&all_points);
        assert!(text.contains("| fft | deadheat | 2 | 100 | 4,000 |"), "{text}");
        assert!(text.contains("| fft | pl | 2 | 100 | 4,000 |"), "{text}");
    }
}
