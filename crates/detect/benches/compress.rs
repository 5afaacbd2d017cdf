//! Array compression against one state for each element: `cargo bench -p deadheat-detect --bench compress`.
//!
//! Prints the counters of each workload (race checks, shadow states, bytes) first, then the times; with a filter as
//! argument only the times.

use deadheat_detect::compress::Compress;
use deadheat_detect::{Analysis, Driver, fasttrack::FastTrack};
use deadheat_event::{ArrayId, Detector, Event, Indices, Mode, Op, SiteId, Stats, SyncId, Tables, ThreadId};

const THREADS: u32 = 4;
const LEN: u64 = 1_000_000;
const SWEEPS: usize = 10;

/// Pieces of a trace and the order in which they are played, so that a long trace needs little memory.
struct Workload {
    name: &'static str,
    pieces: Vec<Vec<Event>>,
    order: Vec<usize>,
}

fn main() {
    let filtered = std::env::args().len() > 2;
    for workload in workloads().filter(|_| !filtered) {
        let plain = run(FastTrack::default(), &workload);
        let compressed = run(Compress::<FastTrack>::default(), &workload);
        println!("{}: {} events", workload.name, plain.events);
        for (name, plain, compressed) in [
            (
                "race checks",
                plain.race_checks + plain.same_epoch_reads + plain.same_epoch_writes,
                compressed.race_checks + compressed.same_epoch_reads + compressed.same_epoch_writes,
            ),
            ("shadow states", plain.shadow_states, compressed.shadow_states),
            ("bytes", plain.bytes, compressed.bytes),
        ] {
            let ratio = compressed as f64 / plain as f64;
            println!("  {name:14} fasttrack {plain:>12}  compressed {compressed:>12}  ratio {ratio:.7}");
        }
        println!(
            "  commits {}, mode changes {}, peak states {}",
            compressed.commits, compressed.mode_changes, compressed.shadow_states_peak
        );
    }
    divan::main();
}

fn run(detector: impl Detector, workload: &Workload) -> Stats {
    let mut driver = Driver::new(detector);
    let tables = Tables::default();
    for piece in &workload.order {
        driver.process(&workload.pieces[*piece], &tables, &mut |_| ());
    }
    driver.finish(&mut |_| ());
    driver.stats()
}

#[divan::bench(args = ["sweep", "unrolled", "ranges", "random", "small", "phases"], sample_count = 5, sample_size = 1)]
fn fasttrack(bencher: divan::Bencher<'_, '_>, name: &str) {
    bencher
        .with_inputs(|| of(name))
        .bench_refs(|workload| run(FastTrack::default(), workload));
}

#[divan::bench(args = ["sweep", "unrolled", "ranges", "random", "small", "phases"], sample_count = 5, sample_size = 1)]
fn compressed(bencher: divan::Bencher<'_, '_>, name: &str) {
    bencher
        .with_inputs(|| of(name))
        .bench_refs(|workload| run(Compress::<FastTrack>::default(), workload));
}

fn workloads() -> impl Iterator<Item = Workload> {
    ["sweep", "unrolled", "ranges", "random", "small", "phases"]
        .into_iter()
        .map(of)
}

fn of(name: &str) -> Workload {
    match name {
        "sweep" => sweep("sweep", 1),
        "unrolled" => sweep("unrolled", 4),
        "ranges" => ranges(),
        "random" => random("random", 1, LEN),
        "small" => random("small", 20_000, 10),
        _ => phases(),
    }
}

fn event(thread: u32, site: u32, op: Op) -> Event {
    Event {
        thread: ThreadId(thread),
        site: SiteId(site),
        op,
    }
}

fn new_array(array: u32, len: u64) -> Event {
    event(
        0,
        0,
        Op::NewArray {
            array: ArrayId(array),
            len,
        },
    )
}

fn write(thread: u32, site: u32, array: u32, indices: Indices) -> Event {
    event(
        thread,
        site,
        Op::ArrayWrite {
            array: ArrayId(array),
            indices,
        },
    )
}

fn read(thread: u32, site: u32, array: u32, indices: Indices) -> Event {
    event(
        thread,
        site,
        Op::ArrayRead {
            array: ArrayId(array),
            indices,
        },
    )
}

fn barrier() -> Vec<Event> {
    let barrier = SyncId(1);
    let enter = (0..THREADS).map(|t| event(t, 0, Op::BarrierEnter { barrier }));
    let leave = (0..THREADS).map(|t| event(t, 0, Op::BarrierLeave { barrier }));
    enter.chain(leave).collect()
}

/// Each thread reads and writes its block, element by element; then all meet.
fn sweep(name: &'static str, statements: u64) -> Workload {
    let block = LEN / u64::from(THREADS);
    let mut pieces = vec![vec![new_array(0, LEN)], barrier()];
    for t in 0..THREADS {
        let first = u64::from(t) * block;
        pieces.push(
            (first..first + block)
                .flat_map(|i| {
                    let site = 1 + 2 * (i % statements) as u32;
                    [
                        read(t, site, 0, Indices::one(i)),
                        write(t, site + 1, 0, Indices::one(i)),
                    ]
                })
                .collect(),
        );
    }
    let mut order = vec![0];
    for _ in 0..SWEEPS {
        order.extend([2, 3, 4, 5, 1]);
    }
    Workload { name, pieces, order }
}

/// Each thread writes its block as one range, then reads all: what static coalescing makes of a sweep.
fn ranges() -> Workload {
    let block = LEN / u64::from(THREADS);
    let all = Indices::new(0, LEN - 1, 1).expect("in bounds");
    let mut round = Vec::new();
    for t in 0..THREADS {
        let first = u64::from(t) * block;
        let mine = Indices::new(first, first + block - 1, 1).expect("in bounds");
        round.push(write(t, 1, 0, mine));
    }
    round.extend(barrier());
    round.extend((0..THREADS).map(|t| read(t, 2, 0, all)));
    round.extend(barrier());
    let mut order = vec![0];
    order.extend([1; SWEEPS]);
    Workload {
        name: "ranges",
        pieces: vec![vec![new_array(0, LEN)], round],
        order,
    }
}

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// A thread accesses elements at random under a lock, 100 at a time.
fn random(name: &'static str, arrays: u32, len: u64) -> Workload {
    let mut seed = 0x2545_f491_4f6c_dd1d;
    let made = (0..arrays).map(|array| new_array(array, len)).collect();
    let lock = SyncId(2);
    let mut events = Vec::new();
    for turn in 0..20_000u32 {
        let t = turn % THREADS;
        events.push(event(
            t,
            0,
            Op::Acquire {
                lock,
                mode: Mode::Exclusive,
            },
        ));
        for _ in 0..100 {
            let array = (next(&mut seed) >> 20) as u32 % arrays;
            let index = Indices::one((next(&mut seed) >> 20) % len);
            events.push(if next(&mut seed).is_multiple_of(3) {
                write(t, 1, array, index)
            } else {
                read(t, 2, array, index)
            });
        }
        events.push(event(t, 0, Op::Release { lock }));
    }
    Workload {
        name,
        pieces: vec![made, events],
        order: vec![0, 1],
    }
}

/// Random accesses, then sweeps, twice.
fn phases() -> Workload {
    let mut random = random("phases", 1, LEN);
    random.pieces[1].extend(barrier());
    let sweep = sweep("phases", 1);
    let mut pieces = random.pieces;
    pieces.extend(sweep.pieces);
    let sweeps: Vec<usize> = sweep.order[1..].iter().map(|piece| piece + 2).collect();
    let mut order = vec![0, 1];
    order.extend(&sweeps);
    order.push(1);
    order.extend(&sweeps);
    Workload {
        name: "phases",
        pieces,
        order,
    }
}
