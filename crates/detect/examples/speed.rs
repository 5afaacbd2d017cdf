//! How fast FastTrack goes through a `.dht` trace, decoding included, on a machine that does other things as well.
//!
//! ```sh
//! cargo run --release -p deadheat-detect --example speed -- mixed.dht 5 20000000
//! ```
//!
//! The trace (its first events, if a number is given) is analysed several times. The time of each run is cut into pieces of
//! about ten thousand events, a third of a millisecond, and of each piece the shortest time of all runs counts: a run that
//! was interrupted there, or had just lost its caches to somebody else, does not. With nothing else running, all runs and
//! the sum of the shortest times are nearly the same.

use deadheat_detect::select::{self, Choice};
use deadheat_trace::Source;
use std::error::Error;
use std::fs::File;
use std::time::Instant;

/// Events in a piece, at least.
const PIECE: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("which trace?")?;
    let runs: usize = args.next().map_or(Ok(5), |runs| runs.parse())?;
    let limit: usize = args.next().map_or(Ok(usize::MAX), |limit| limit.parse())?;
    let mut best = Vec::new();
    for run in 1..=runs {
        let (events, races, pieces) = analyse(&path, limit)?;
        let whole: f64 = pieces.iter().sum();
        best.resize(pieces.len(), f64::INFINITY);
        for (best, piece) in best.iter_mut().zip(&pieces) {
            *best = piece.min(*best);
        }
        let shortest: f64 = best.iter().sum();
        let rate = |seconds: f64| events as f64 / seconds / 1e6;
        println!(
            "run {run}: {events} events, {races} races, {:.1} million a second; shortest pieces so far: {:.1}",
            rate(whole),
            rate(shortest)
        );
    }
    Ok(())
}

/// One run: events, races, and the seconds of each piece.
fn analyse(path: &str, limit: usize) -> Result<(usize, usize, Vec<f64>), Box<dyn Error>> {
    let mut source = deadheat_trace::dht::Reader::new(File::open(path)?)?;
    // By way of the table of all detectors and layers, as `deadheat analyze` does: what is inlined depends on it.
    let mut analysis = select::analysis(&Choice::default())?;
    let (mut block, mut pieces) = (Vec::new(), Vec::new());
    let (mut events, mut races, mut unseen) = (0, 0, 0);
    let mut start = Instant::now();
    while events < limit && source.next_block(&mut block)? {
        analysis.process(&block, source.tables(), &mut |_| races += 1);
        events += block.len();
        unseen += block.len();
        if unseen >= PIECE {
            let end = Instant::now();
            pieces.push((end - start).as_secs_f64());
            (start, unseen) = (end, 0);
        }
    }
    analysis.finish(&mut |_| races += 1);
    pieces.push(start.elapsed().as_secs_f64());
    Ok((events, races, pieces))
}
