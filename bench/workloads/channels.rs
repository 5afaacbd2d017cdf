//! A pipeline over channels: a source sends blocks of text, workers count their letters, a sink adds up what they found; the
//! channel in between has a bound. Checked by counting alone.
// suite: rust
// size: 1200000 quick: 4000 sweep: 150000 300000 600000 1200000
#![allow(unexpected_cfgs)]

#[path = "include/workload.rs"]
mod workload;

use std::process::ExitCode;
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender};
use std::sync::{Barrier, Mutex};
use std::thread;
use workload::{arguments, scramble, verdict, Numbers};

type Counts = [u64; 26];

#[cfg(race)]
type Tally = workload::Unguarded<u64>;
#[cfg(not(race))]
type Tally = Mutex<u64>;

fn add(tally: &Tally, number: u64) {
    #[cfg(race)]
    // SAFETY: none. Workers end whenever they like.
    unsafe {
        *tally.get() += number; //~ RACE tally
    }
    #[cfg(not(race))]
    {
        *tally.lock().unwrap() += number;
    }
}

fn total(tally: Tally) -> u64 {
    #[cfg(race)]
    // SAFETY: the tally is owned.
    return unsafe { *tally.get() };
    #[cfg(not(race))]
    tally.into_inner().unwrap()
}

fn block(number: usize) -> Vec<u8> {
    let mut numbers = Numbers(number as u64);
    (0..16)
        .flat_map(|_| numbers.next().to_le_bytes())
        .map(|byte| b'a' + byte % 26)
        .collect()
}

fn count(counts: &mut Counts, block: &[u8]) {
    for &letter in block {
        counts[usize::from(letter - b'a')] += 1;
    }
}

fn work(blocks: &Mutex<Receiver<Vec<u8>>>, results: Sender<Counts>, tally: &Tally) {
    let mut done = 0;
    loop {
        let next = blocks.lock().unwrap().recv();
        let Ok(block) = next else { break };
        let mut counts = [0; 26];
        count(&mut counts, &block);
        // The sink lives until all workers have dropped their senders.
        let _ = results.send(counts);
        done += 1;
    }
    drop(results);
    add(tally, done);
}

fn main() -> ExitCode {
    let arguments = arguments(1_200_000, 1, 1 << 40);
    let (blocks, incoming) = sync_channel(64);
    let (results, found) = channel();
    let incoming = Mutex::new(incoming);
    let tally = Tally::new(0);
    let start = Barrier::new(arguments.threads);
    let mut sum: Counts = [0; 26];
    thread::scope(|scope| {
        for _ in 0..arguments.threads {
            let (incoming, tally, results, start) = (&incoming, &tally, results.clone(), &start);
            scope.spawn(move || {
                // As in `workload::team`: one that comes late is not to be ordered after one that has ended.
                start.wait();
                work(incoming, results, tally);
            });
        }
        drop(results);
        scope.spawn(move || {
            for number in 0..arguments.size {
                if blocks.send(block(number)).is_err() {
                    break;
                }
            }
        });
        for counts in found {
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    });
    let mut expected: Counts = [0; 26];
    for number in 0..arguments.size {
        count(&mut expected, &block(number));
    }
    let checksum = sum.iter().fold(0, |checksum, &count| scramble(checksum ^ count));
    verdict(sum == expected && total(tally) == arguments.size as u64, checksum)
}
