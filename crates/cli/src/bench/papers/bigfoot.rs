//! BigFoot, Tables 1 and 2: its five checkers as variants of deadheat.

use super::Sources;
use crate::bench::counters::check_ratio;
use crate::bench::markdown::{Table, megabytes, number};
use crate::bench::results::{Point, Quantity, Results};
use crate::bench::stat::geometric_mean;
use crate::bench::tools::{DEADHEAT, NATIVE};
use anyhow::Result;

/// A column, and the tool that is it.
const VARIANTS: [(&str, &str); 5] = [
    ("FT", "ft"),
    ("RC", "rc"),
    ("SS", "ss"),
    ("SC", "sc"),
    ("BF", DEADHEAT),
];

/// Of each row of what was measured: of several numbers of threads, the largest.
fn rows(results: &Results) -> Vec<&Point> {
    let threads = results.threads().last().copied().unwrap_or(0);
    let workloads = results.workloads();
    workloads
        .iter()
        .filter_map(|(name, _)| results.point(name, threads, NATIVE))
        .collect()
}

/// What a variant takes on top of native, as a multiple of it.
fn overhead(results: &Results, native: &Point, tool: &str, quantity: Quantity) -> Option<f64> {
    let point = results.beside(native, tool)?;
    Some(results.ratio(point, quantity)?.median - 1.0)
}

/// The five columns, then four as parts of the first.
fn table(
    results: &Results,
    quantity: Quantity,
    names: &[&str],
    head: impl Fn(&Point) -> Vec<String>,
) -> Table {
    let mut columns: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    columns.extend(VARIANTS.iter().map(|(name, _)| (*name).to_owned()));
    columns.extend(VARIANTS[1..].iter().map(|(name, _)| format!("{name}/FT")));
    let mut table = Table::new(1, columns);
    let mut sums: Vec<Vec<f64>> = vec![Vec::new(); 9];
    let cell = |value: Option<f64>| value.map_or("–".to_owned(), number);
    for native in rows(results) {
        let five = VARIANTS.map(|(_, tool)| overhead(results, native, tool, quantity));
        let parts = [1, 2, 3, 4].map(|n| Some(five[n]? / five[0]?));
        let all: Vec<Option<f64>> = five.into_iter().chain(parts).collect();
        for (sum, value) in sums.iter_mut().zip(&all) {
            sum.extend(value.filter(|value| *value > 0.0));
        }
        table.row(head(native).into_iter().chain(all.into_iter().map(cell)));
    }
    let mut means = vec!["**mean**".to_owned()];
    means.resize(names.len(), String::new());
    let programs = rows(results).len();
    means.extend(sums.into_iter().map(|sum| {
        let of = sum.len();
        let mean = geometric_mean(sum.into_iter());
        // Means of different programs cannot be compared.
        match mean {
            Some(mean) if of < programs => format!("{} ({of} of {programs})", number(mean)),
            mean => cell(mean),
        }
    }));
    table.row(means);
    table
}

/// What the columns are, and how one that is empty is filled.
const COLUMNS: &str = "FT checks each access and RC leaves out redundant checks, both without compressed shadow; SS and SC are the same \
                       with it; BF is deadheat as it is. They are measured with `--tools native,ft,rc,ss,sc,deadheat`.";

/// Time.
pub fn table_1(sources: &Sources<'_>) -> Result<String> {
    let results = sources.results()?;
    let table = table(
        results,
        Quantity::Time,
        &["program", "check ratio", "base s"],
        |native| {
            let ratio = results
                .beside(native, DEADHEAT)
                .and_then(|point| check_ratio(&point.counters));
            vec![
                native.workload.clone(),
                ratio.map_or("–".to_owned(), number),
                native
                    .spread(Quantity::Time)
                    .map_or("–".to_owned(), |spread| number(spread.median)),
            ]
        },
    );
    Ok(format!(
        "{table}\nOverhead is what comes on top of the base, as a multiple of it. The means are geometric, of overheads above 0, and say of how many programs where these are not all. {COLUMNS}\n"
    ))
}

/// Memory.
pub fn table_2(sources: &Sources<'_>) -> Result<String> {
    let results = sources.results()?;
    let table = table(results, Quantity::Memory, &["program", "base MB"], |native| {
        let base = native.spread(Quantity::Memory);
        vec![
            native.workload.clone(),
            base.map_or("–".to_owned(), |spread| megabytes(spread.median)),
        ]
    });
    Ok(format!(
        "{table}\nPeak memory of the process, not the smallest heap as there; what comes on top of the base, as a multiple of it. {COLUMNS}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::results::tests::{point, results};

    #[test]
    fn a_mean_says_of_how_many_programs_it_is() {
        let measured = results(vec![
            point("crypt", NATIVE, &[1.0], 10),
            point("crypt", "ft", &[4.0], 10),
            point("crypt", DEADHEAT, &[3.0], 10),
            point("fft", NATIVE, &[1.0], 10),
            point("fft", "ft", &[4.0], 10),
            // Nothing comes on top.
            point("fft", DEADHEAT, &[0.9], 10),
        ]);
        let text = table(&measured, Quantity::Time, &["program"], |native| {
            vec![native.workload.clone()]
        })
        .to_string();
        let mean = text.lines().last().unwrap_or_default();
        assert!(
            mean.starts_with("| **mean** | 3.00 | – | – | – | 2.00 (1 of 2) |"),
            "{text}"
        );
    }
}
