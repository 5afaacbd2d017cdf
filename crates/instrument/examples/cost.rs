//! What placement takes: the time for each function, and its part of all that is done to modules when a program is linked.
//!
//! `cargo run --release -p deadheat-instrument --example cost -- [LEVEL] FILE...`, where files are bitcode (`clang -flto -c`) or
//! objects with bitcode in them. Each is compiled with `--placement off` and `full`, five times each in turn, and the least of
//! the times counts. Finding out what functions do to other threads, which is done for the whole link, is part of `full`.

use deadheat_instrument::effects::Facts;
use deadheat_instrument::module::{Cost, Options, Placement, compile_measured, summary};
use std::error::Error;
use std::time::{Duration, Instant};

const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1).peekable();
    let level = args.next_if(|word| word.parse::<u8>().is_ok());
    let opt_level = level.map_or(Ok(2), |level| level.parse())?;
    println!("| module | functions | all ms | placing ms: off | full | µs a function | part of all % |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for file in args {
        let bitcode = std::fs::read(&file)?;
        let mut least: [Option<Cost>; 2] = [None; 2];
        for _ in 0..RUNS {
            for (placement, least) in [Placement::Off, Placement::Full].into_iter().zip(&mut least) {
                let cost = measure(&bitcode, &file, opt_level, placement)?;
                if least.is_none_or(|least| cost.placing < least.placing) {
                    *least = Some(cost);
                }
            }
        }
        let [Some(off), Some(full)] = least else { continue };
        let name = file.rsplit('/').next().unwrap_or(&file);
        println!(
            "| {name} | {} | {:.1} | {:.2} | {:.2} | {:.0} | {:.1} |",
            full.functions,
            milliseconds(full.all),
            milliseconds(off.placing),
            milliseconds(full.placing),
            milliseconds(full.placing) * 1e3 / full.functions.max(1) as f64,
            milliseconds(full.placing) * 100.0 / milliseconds(full.all),
        );
    }
    Ok(())
}

fn measure(bitcode: &[u8], file: &str, opt_level: u8, placement: Placement) -> Result<Cost, Box<dyn Error>> {
    let options = Options {
        opt_level,
        cpu: "x86-64".into(),
        pic: true,
        placement,
        ..Options::default()
    };
    let mut summing = Duration::ZERO;
    if placement != Placement::Off {
        let begun = Instant::now();
        summary(bitcode, file)?;
        summing = begun.elapsed();
    }
    let (_, mut cost) = compile_measured(bitcode, file, &options, &Facts::default())?;
    cost.placing += summing;
    cost.all += summing;
    Ok(cost)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
