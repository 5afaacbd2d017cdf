//! Events a second and memory of prediction on generated traces, by model.
//!
//! ```sh
//! cargo run --release -p deadheat-predict --example throughput -- [EVENTS...]
//! ```

use deadheat_predict::{Model, Options, predict};
use deadheat_trace::generate::{Config, Generator, Pattern};
use std::time::Instant;

fn main() {
    let sizes: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let sizes = if sizes.is_empty() {
        vec![1_000_000, 10_000_000]
    } else {
        sizes
    };
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    println!(
        "| pattern | events | model | races | pairs | undecided | seconds | M events/s | peak MiB so far |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for events in sizes {
        for pattern in [Pattern::Mixed, Pattern::SharedSpot, Pattern::Multiset] {
            for model in Model::ALL {
                let config = Config {
                    pattern,
                    events,
                    races: 100,
                    ..Config::default()
                };
                let options = Options {
                    model,
                    jobs,
                    ..Options::default()
                };
                let started = Instant::now();
                let (predictions, stopped) = predict(&mut Generator::new(&config), &options, &mut |_| {});
                assert!(stopped.is_none(), "the trace is well-formed");
                let (outcome, seconds) = (predictions.outcome, started.elapsed().as_secs_f64());
                println!(
                    "| {pattern} | {events} | {model} | {} | {} | {} | {seconds:.1} | {:.2} | {} |",
                    predictions.races.len(),
                    outcome.pairs,
                    outcome.undecided.pairs + outcome.undecided.windows,
                    events as f64 / 1e6 / seconds,
                    peak()
                );
            }
        }
    }
}

/// The most memory that this process has had, in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
