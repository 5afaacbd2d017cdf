//! Goldilocks Figure 4 on this machine: the cost of one access against the number of threads.
//!
//! `cargo bench -p deadheat-detect --bench figure4 [-- --svg FILE]`
//!
//! The patterns are the paper's: every thread works on variables that each have a lock (`sharedspot`), on variables of
//! its own (`localspot`), or on a multiset. The time is that of the whole analysis divided by the number of accesses, so
//! the cost of the synchronisation around an access is in it, as in the paper.

use deadheat_detect::goldilocks::Goldilocks;
use deadheat_detect::{Analysis, Driver, baseline::Empty, eraser::Eraser, fasttrack::FastTrack, vc::Vc};
use deadheat_event::{Detector, Event, Tables};
use deadheat_trace::Source;
use deadheat_trace::generate::{Config, Generator, Pattern};
use std::fmt::Write;
use std::time::Instant;

const THREADS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const PATTERNS: [Pattern; 3] = [Pattern::SharedSpot, Pattern::LocalSpot, Pattern::Multiset];
const DETECTORS: [&str; 5] = ["empty", "vc", "eraser", "goldilocks", "fasttrack"];
const EVENTS: u64 = 400_000;
const RUNS: usize = 5;

fn events(pattern: Pattern, threads: u32) -> (Vec<Event>, Tables) {
    let mut source = Generator::new(&Config {
        pattern,
        threads,
        events: EVENTS,
        locks: 64.max(threads),
        variables: 64.max(u64::from(threads)),
        ..Config::default()
    });
    let (mut all, mut block) = (Vec::new(), Vec::new());
    while source.next_block(&mut block).expect("a generator does not fail") {
        all.extend_from_slice(&block);
    }
    (all, source.tables().clone())
}

/// Nanoseconds for each access: the best of several runs, because only disturbances make a run longer.
fn cost<D: Detector + Default>(events: &[Event], tables: &Tables) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let mut driver = Driver::new(D::default());
        let mut races = 0;
        let start = Instant::now();
        driver.process(events, tables, &mut |_| races += 1);
        let time = start.elapsed().as_secs_f64() * 1e9;
        let stats = driver.stats();
        assert_eq!(races, 0, "the patterns are free of races");
        best = best.min(time / (stats.reads + stats.writes) as f64);
    }
    best
}

fn measure(detector: &str, events: &[Event], tables: &Tables) -> f64 {
    match detector {
        "empty" => cost::<Empty>(events, tables),
        "vc" => cost::<Vc>(events, tables),
        "eraser" => cost::<Eraser>(events, tables),
        "goldilocks" => cost::<Goldilocks>(events, tables),
        _ => cost::<FastTrack>(events, tables),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let svg = args
        .iter()
        .position(|arg| arg == "--svg")
        .and_then(|at| args.get(at + 1));
    let mut curves: Vec<Vec<Vec<f64>>> = Vec::new();
    for pattern in PATTERNS {
        println!("\n{pattern}: nanoseconds for each access\n");
        println!("| threads | {} |", DETECTORS.join(" | "));
        println!("|---:|{}", "---:|".repeat(DETECTORS.len()));
        let mut rows = Vec::new();
        for threads in THREADS {
            let (events, tables) = events(pattern, threads);
            let row: Vec<f64> = DETECTORS.iter().map(|d| measure(d, &events, &tables)).collect();
            let cells: Vec<String> = row.iter().map(|ns| format!("{ns:.0}")).collect();
            println!("| {threads} | {} |", cells.join(" | "));
            rows.push(row);
        }
        curves.push(rows);
    }
    if let Some(file) = svg {
        std::fs::write(file, plot(&curves)).unwrap_or_else(|e| panic!("{file}: {e}"));
    }
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
