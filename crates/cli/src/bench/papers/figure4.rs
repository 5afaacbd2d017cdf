//! Goldilocks' Figure 4 on this machine: the cost of one access against the number of threads.
//!
//! The patterns are the paper's: every thread works on variables that each have a lock (`sharedspot`), on variables of
//! its own (`localspot`), or on a multiset. The time is that of the whole analysis divided by the number of accesses, so
//! the cost of the synchronisation around an access is in it, as in the paper.

use super::Sources;
use super::traces::analyse_events;
use crate::bench::markdown::Table;
use anyhow::{Context, Result};
use deadheat_detect::select::{Choice, DetectorName};
use deadheat_trace::generate::{Config, Generator, Pattern};
use deadheat_trace::read_all;
use std::fmt::Write;

const THREADS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const PATTERNS: [Pattern; 3] = [Pattern::SharedSpot, Pattern::LocalSpot, Pattern::Multiset];
const DETECTORS: [DetectorName; 5] = [
    DetectorName::Empty,
    DetectorName::Vc,
    DetectorName::Eraser,
    DetectorName::Goldilocks,
    DetectorName::FastTrack,
];
const EVENTS: u64 = 200_000;

/// The table, and with `--svg DIR` the plot.
pub fn figure_4(sources: &Sources<'_>) -> Result<String> {
    let mut text = String::new();
    let mut curves = Vec::new();
    for pattern in PATTERNS {
        let mut head = vec![format!("{pattern}: threads")];
        head.extend(DETECTORS.iter().map(|detector| format!("{detector} ns")));
        let mut table = Table::new(0, head);
        let mut rows = Vec::new();
        for threads in THREADS {
            let row = costs(pattern, threads)?;
            let cells = row.iter().map(|ns| format!("{ns:.0}"));
            table.row([threads.to_string()].into_iter().chain(cells));
            rows.push(row);
        }
        text.push_str(&format!("{table}\n"));
        curves.push(rows);
    }
    if let Some(directory) = sources.svg {
        let file = directory.join("goldilocks-figure-4.svg");
        std::fs::create_dir_all(directory)
            .and_then(|()| std::fs::write(&file, plot(&curves)))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(text)
}

/// Nanoseconds for each access, the synchronisation around it included, by detector.
fn costs(pattern: Pattern, threads: u32) -> Result<Vec<f64>> {
    let mut generator = Generator::new(&Config {
        pattern,
        threads,
        events: EVENTS,
        locks: 64.max(threads),
        variables: 64.max(u64::from(threads)),
        ..Config::default()
    });
    let (events, tables) = read_all(&mut generator)?;
    DETECTORS
        .iter()
        .map(|&detector| {
            let choice = Choice {
                detector,
                ..Choice::default()
            };
            let done = analyse_events(&events, &tables, &choice)?;
            Ok(done.seconds() * 1e9 / done.accesses().max(1) as f64)
        })
        .collect()
}

/// Three plots side by side, both axes logarithmic.
fn plot(curves: &[Vec<Vec<f64>>]) -> String {
    const COLOURS: [&str; 5] = ["#888888", "#d1495b", "#edae49", "#00798c", "#30638e"];
    let (width, height, gap) = (260.0, 220.0, 70.0);
    let most = curves
        .iter()
        .flatten()
        .flatten()
        .fold(1.0, |a: f64, b| a.max(*b))
        .log10()
        .ceil();
    let x = |i: usize| width * i as f64 / (THREADS.len() - 1) as f64;
    let y = |ns: f64| height - height * ns.max(1.0).log10() / most;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        (width + gap) * 3.0 + 32.0,
        height + 110.0
    );
    for (n, (pattern, rows)) in PATTERNS.iter().zip(curves).enumerate() {
        let left = 62.0 + (width + gap) * n as f64;
        let _ = writeln!(svg, "<g transform=\"translate({left},40)\">");
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"-15\" text-anchor=\"middle\">{pattern}</text>",
            width / 2.0
        );
        for power in 0..=most as i32 {
            let at = y(10f64.powi(power));
            let _ = writeln!(
                svg,
                "<line x1=\"0\" x2=\"{width}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>"
            );
            let _ = writeln!(
                svg,
                "<text x=\"-5\" y=\"{:.1}\" text-anchor=\"end\">{} ns</text>",
                at + 4.0,
                10i64.pow(power as u32)
            );
        }
        for (i, threads) in THREADS.iter().enumerate() {
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{threads}</text>",
                x(i),
                height + 15.0
            );
        }
        for (d, colour) in COLOURS.iter().enumerate() {
            let points: Vec<String> = rows
                .iter()
                .enumerate()
                .map(|(i, row)| format!("{:.1},{:.1}", x(i), y(row[d])))
                .collect();
            let _ = writeln!(
                svg,
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{}\"/>",
                points.join(" ")
            );
        }
        let _ = writeln!(svg, "</g>");
    }
    for (d, (name, colour)) in DETECTORS.iter().zip(COLOURS).enumerate() {
        let (at, down) = (60 + 150 * d, height + 85.0);
        let _ = writeln!(
            svg,
            "<rect x=\"{at}\" y=\"{}\" width=\"14\" height=\"4\" fill=\"{colour}\"/>",
            down - 6.0
        );
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{down}\">{name}</text>", at + 20);
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\">threads</text>\n</svg>",
        60 + 150 * 5,
        height + 85.0
    );
    svg
}
