//! How long the solvers take on the same windows.
//!
//! ```sh
//! cargo run --release -p deadheat-predict --features z3 --example solvers -- [WINDOW...] [order | z3]
//! cargo run --release -p deadheat-predict --features z3 --example solvers -- FILE.dht [--window N] [--timeout SECONDS] [order | z3]
//! ```
//!
//! Windows are made to be hard: a few threads hand values on through plain variables and locks, so that the order of critical
//! sections and the sources of reads are free, and no pair of accesses is decided without a solver. Or they are those of a recorded program, by the
//! default model.

use deadheat_predict::{Model, Options, Outcome, SolverName, predict};
use deadheat_trace::{Source, open, text};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1)?.parse::<u64>().ok()
    };
    let timeout = Duration::from_secs(after("--timeout").unwrap_or(600));
    let only: Option<SolverName> = words.iter().find_map(|word| word.parse().ok());
    let file = words.iter().find(|word| Path::new(word).is_file());
    let sizes: Vec<usize> = match (file, after("--window")) {
        (_, Some(window)) => vec![usize::try_from(window).unwrap_or(usize::MAX)],
        (Some(_), None) => vec![Options::default().window],
        (None, None) => {
            let sizes: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
            if sizes.is_empty() {
                vec![200, 400, 1000]
            } else {
                sizes
            }
        }
    };
    println!("| events in a window | solver | pairs solved | undecided | races | seconds in the solver |");
    println!("|---|---|---|---|---|---|");
    for window in sizes {
        for solver in SolverName::ALL {
            if only.is_some_and(|only| only != solver) {
                continue;
            }
            let options = Options {
                model: if file.is_some() { Model::Rdit } else { Model::Mc },
                window,
                solver,
                timeout,
                ..Options::default()
            };
            let (races, outcome) = match file {
                Some(file) => {
                    let mut source = open(Path::new(file)).expect("a trace");
                    run(&mut *source, &options)
                }
                None => run(&mut text::read(hard(window).as_bytes(), None), &options),
            };
            println!(
                "| {window} | {solver} | {} | {} | {races} | {:.3} |",
                outcome.solved,
                outcome.undecided.pairs,
                outcome.solving.as_secs_f64()
            );
        }
    }
}

fn run(source: &mut dyn Source, options: &Options) -> (usize, Outcome) {
    let (predictions, stopped) = predict(source, options, &mut |_| {});
    assert!(stopped.is_none(), "the trace is well-formed");
    assert_eq!(predictions.outcome.rejected, 0, "all witnesses are good");
    (predictions.races.len(), predictions.outcome)
}

/// Rounds of: write a number, take a lock, pass the state on, give the lock back, read another's number.
fn hard(events: usize) -> String {
    let mut trace = String::new();
    let mut states = [0_u64; 2];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..events / 7 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (thread, lock, slot) = (random >> 60 & 3, (random >> 50 & 1) as usize, random >> 40 & 7);
        let (state, site) = (states[lock], random >> 20 & 15);
        states[lock] = (state + (random >> 33 & 1)) % 3;
        let _ = writeln!(
            trace,
            "T{thread} w d{slot} @a.c:{site}; T{thread} acq L{lock}; T{thread} r s{lock} ={state}; \
             T{thread} w s{lock} ={}; T{thread} rel L{lock}; T{thread} w e{slot} @b.c:{site}; \
             T{thread} r d{} @c.c:{site}",
            states[lock],
            (slot + 1) % 8
        );
    }
    trace
}
