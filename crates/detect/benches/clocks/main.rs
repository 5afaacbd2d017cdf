//! Which clock representation? `cargo bench -p deadheat-detect --bench clocks`
//!
//! Prints, for 2 to 1,000 threads and four ways of sharing locks, the time of one critical section (acquire and
//! release) with flat clocks copied at each release, flat clocks copied only when they changed (what `detect::hb` does),
//! sparse clocks and tree clocks. All four are fed the same schedule and must agree on what every thread knows.

mod tree;

use deadheat_detect::hb::{self, HbSync, HbThread};
use deadheat_event::{Mode, Slot, SyncId, SyncOp};
use std::hint::black_box;
use std::time::Instant;
use tree::TreeClock;

const THREADS: [usize; 6] = [2, 8, 32, 128, 512, 1000];

/// A representation under test: threads and locks, and what a critical section does to them.
trait Clocks {
    fn new(threads: usize, locks: usize) -> Self;
    fn section(&mut self, thread: usize, lock: usize);
    fn knows(&self, thread: usize, of: usize) -> u64;
}

/// A full vector, copied at each release.
struct Flat {
    threads: Vec<Vec<u64>>,
    locks: Vec<Vec<u64>>,
}

impl Clocks for Flat {
    fn new(threads: usize, locks: usize) -> Flat {
        let clock = |t| (0..threads).map(|u| u64::from(u == t)).collect();
        Flat {
            threads: (0..threads).map(clock).collect(),
            locks: vec![vec![0; threads]; locks],
        }
    }

    fn section(&mut self, thread: usize, lock: usize) {
        let (mine, lock) = (&mut self.threads[thread], &mut self.locks[lock]);
        for (m, l) in mine.iter_mut().zip(lock.iter()) {
            *m = (*m).max(*l);
        }
        lock.copy_from_slice(mine);
        mine[thread] += 1;
    }

    fn knows(&self, thread: usize, of: usize) -> u64 {
        self.threads[thread][of]
    }
}

/// What the detectors use: an acquire of something known does nothing, a release of something unchanged shares a copy.
struct Lazy {
    threads: Vec<HbThread>,
    locks: Vec<HbSync>,
}

impl Clocks for Lazy {
    fn new(threads: usize, locks: usize) -> Lazy {
        Lazy {
            threads: (0..threads)
                .map(|t| HbThread::new(Slot(t as u32), None))
                .collect(),
            locks: (0..locks).map(|_| HbSync::default()).collect(),
        }
    }

    fn section(&mut self, thread: usize, lock: usize) {
        let id = SyncId(lock as u64);
        let (thread, lock) = (&mut self.threads[thread], &mut self.locks[lock]);
        hb::sync(thread, SyncOp::Acquire(id, Mode::Exclusive), lock);
        hb::sync(thread, SyncOp::Release(id, Mode::Exclusive), lock);
    }

    fn knows(&self, thread: usize, of: usize) -> u64 {
        self.threads[thread].get(Slot(of as u32))
    }
}

/// Only the entries that are not 0, sorted by thread.
struct Sparse {
    threads: Vec<Vec<(u32, u64)>>,
    locks: Vec<Vec<(u32, u64)>>,
    merged: Vec<(u32, u64)>,
}

impl Clocks for Sparse {
    fn new(threads: usize, locks: usize) -> Sparse {
        Sparse {
            threads: (0..threads).map(|t| vec![(t as u32, 1)]).collect(),
            locks: vec![Vec::new(); locks],
            merged: Vec::new(),
        }
    }

    fn section(&mut self, thread: usize, lock: usize) {
        let (mine, lock, merged) = (&mut self.threads[thread], &mut self.locks[lock], &mut self.merged);
        merged.clear();
        let (mut i, mut j) = (0, 0);
        while i < mine.len() || j < lock.len() {
            let a = mine.get(i).copied().unwrap_or((u32::MAX, 0));
            let b = lock.get(j).copied().unwrap_or((u32::MAX, 0));
            merged.push(if a.0 == b.0 { (a.0, a.1.max(b.1)) } else { a.min(b) });
            i += usize::from(a.0 <= b.0);
            j += usize::from(b.0 <= a.0);
        }
        std::mem::swap(mine, merged);
        lock.clone_from(mine);
        let own = mine
            .binary_search_by_key(&(thread as u32), |e| e.0)
            .expect("a thread knows itself");
        mine[own].1 += 1;
    }

    fn knows(&self, thread: usize, of: usize) -> u64 {
        let clock = &self.threads[thread];
        clock
            .binary_search_by_key(&(of as u32), |e| e.0)
            .map_or(0, |place| clock[place].1)
    }
}

struct Tree {
    threads: Vec<TreeClock>,
    locks: Vec<TreeClock>,
    stack: Vec<u32>,
}

impl Clocks for Tree {
    fn new(threads: usize, locks: usize) -> Tree {
        Tree {
            threads: (0..threads)
                .map(|t| TreeClock::of_thread(t as u32, threads))
                .collect(),
            locks: vec![TreeClock::empty(); locks],
            stack: Vec::new(),
        }
    }

    fn section(&mut self, thread: usize, lock: usize) {
        let (mine, lock) = (&mut self.threads[thread], &mut self.locks[lock]);
        mine.join(lock, &mut self.stack);
        lock.copy_from(mine, &mut self.stack);
        mine.tick();
    }

    fn knows(&self, thread: usize, of: usize) -> u64 {
        self.threads[thread].get(of as u32)
    }
}

/// A schedule: which thread takes which lock next.
type Schedule = Vec<(usize, usize)>;

fn schedules(threads: usize, sections: usize) -> Vec<(&'static str, usize, Schedule)> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    // Everybody uses every lock.
    let shared = (0..sections)
        .map(|_| (random(threads), random(threads)))
        .collect();
    // Clients talk to one server, each over a lock of its own.
    let star = (0..sections / 2)
        .flat_map(|_| {
            let client = random(threads.max(2) - 1) + 1;
            [(client % threads, client), (0, client)]
        })
        .collect();
    // Each thread shares a lock with its neighbour only.
    let neighbours = (0..sections)
        .map(|_| {
            let t = random(threads);
            (t, (t + random(2)) % threads)
        })
        .collect();
    // Nineteen times in twenty a thread takes a lock that it took last.
    let own = (0..sections)
        .map(|_| {
            let t = random(threads);
            (t, if random(20) == 0 { random(threads) } else { t })
        })
        .collect();
    vec![
        ("own locks", threads, own),
        ("shared locks", threads, shared),
        ("star", threads + 1, star),
        ("neighbours", threads, neighbours),
    ]
}

fn measure<C: Clocks>(threads: usize, locks: usize, schedule: &Schedule) -> (f64, C) {
    let mut best = f64::INFINITY;
    let mut last = None;
    for _ in 0..3 {
        let mut clocks = C::new(threads, locks);
        let start = Instant::now();
        for &(thread, lock) in schedule {
            clocks.section(black_box(thread), black_box(lock));
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / schedule.len() as f64);
        last = Some(clocks);
    }
    (best, last.expect("measured three times"))
}

fn agree(threads: usize, a: &impl Clocks, b: &impl Clocks, name: &str) {
    for t in 0..threads {
        for u in 0..threads {
            assert_eq!(a.knows(t, u), b.knows(t, u), "{name}: what {t} knows of {u}");
        }
    }
}

fn main() {
    println!("| locks | threads | flat, copied | flat, lazy | sparse | tree |");
    println!("|---|---:|---:|---:|---:|---:|");
    for threads in THREADS {
        let sections = 4_000_000 / threads.max(20);
        for (name, locks, schedule) in schedules(threads, sections) {
            let (flat_time, flat) = measure::<Flat>(threads, locks, &schedule);
            let (lazy_time, lazy) = measure::<Lazy>(threads, locks, &schedule);
            let (sparse_time, sparse) = measure::<Sparse>(threads, locks, &schedule);
            let (tree_time, tree) = measure::<Tree>(threads, locks, &schedule);
            agree(threads, &flat, &lazy, "lazy");
            agree(threads, &flat, &sparse, "sparse");
            agree(threads, &flat, &tree, "tree");
            println!(
                "| {name} | {threads} | {flat_time:.0} ns | {lazy_time:.0} ns | {sparse_time:.0} ns | {tree_time:.0} ns |"
            );
        }
    }
}
