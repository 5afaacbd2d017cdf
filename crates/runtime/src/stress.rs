//! Real threads on one cell: nothing is lost, nothing is made up, whatever they come upon each other in. `DEADHEAT_CASES` times as
//! long as usual, if it is set.

use crate::cell::{self, Cell, Found};
use crate::intern::{self, Index};
use crate::places::Place;
use crate::registry::SLOTS;
use crate::thread::Thread;
use crate::{readers, side, sync};
use deadheat_detect::hb::HbThread;
use deadheat_event::{AccessKind, Mode, Slot};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};

const THREADS: u32 = 4;
const ROUNDS: u32 = 20_000;

/// How many times as much as usual is to be done.
pub fn times() -> u32 {
    let times = std::env::var("DEADHEAT_CASES");
    times.ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// Numbers that look random, the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// Neighbouring bytes as accesses have them.
    fn mask(&mut self) -> u8 {
        let size = 1u64 << self.below(4);
        let at = self.below(8 / size) * size;
        (((1u16 << size) - 1) << at) as u8
    }
}

/// Runs `work` in threads that begin together, and gives what each of them returns.
fn in_threads<R: Send>(work: impl Fn(u32) -> R + Sync) -> Vec<R> {
    let start = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|n| {
                let (work, start) = (&work, &start);
                scope.spawn(move || {
                    start.wait();
                    work(n)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("it did not panic"))
            .collect()
    })
}

/// Runs `work`, so many rounds of it, in threads that know nothing of each other, and gives what they found.
fn run_in(
    slot: impl Fn(u32) -> u32 + Sync,
    rounds: u32,
    work: impl Fn(&mut Thread, &mut Random, &mut Vec<Found>) + Sync,
) -> Vec<Found> {
    let found = in_threads(|n| {
        let mut t = Thread::new(n, HbThread::after(Slot(slot(n)), 0), true);
        let (mut random, mut found) = (Random(u64::from(n)), Vec::new());
        for _ in 0..rounds * times() {
            work(&mut t, &mut random, &mut found);
        }
        found
    });
    found.into_iter().flatten().collect()
}

fn run(work: impl Fn(&mut Thread, &mut Random, &mut Vec<Found>) + Sync) -> Vec<Found> {
    run_in(|n| n + 1, ROUNDS, work)
}

/// A slot for every other thread that shadow words have no room for.
fn near_and_far(n: u32) -> u32 {
    if n.is_multiple_of(2) { n + 1 } else { SLOTS + n }
}

fn any(t: &mut Thread, cell: &Cell, random: &mut Random, found: &mut Vec<Found>) {
    let (mask, at) = (random.mask(), Place(random.below(3) as u32 + 1));
    match random.below(8) {
        0 => side::atomic(t, cell, mask, AccessKind::Read, at, found),
        1 => side::atomic(t, cell, mask, AccessKind::Write, at, found),
        2..5 => cell::access::<true>(t, cell, false, mask, at, found),
        _ => cell::access::<false>(t, cell, false, mask, at, found),
    }
}

/// Some accesses under a lock.
fn locked(t: &mut Thread, lock: usize, cell: &Cell, random: &mut Random, found: &mut Vec<Found>) {
    sync::acquire(t, lock, Mode::Exclusive);
    for _ in 0..random.below(4) {
        any(t, cell, random, found);
    }
    sync::release(t, lock, Mode::Exclusive);
}

#[test]
fn threads_that_share_a_lock_never_race() {
    const LOCK: usize = 0x5_0000_0000;
    let (cell, lock) = (Cell::default(), Mutex::new(()));
    let found = run(|t, random, found| {
        let _guard = lock.lock();
        locked(t, LOCK, &cell, random, found);
    });
    assert!(found.is_empty(), "{:?}", found[0]);
    side::reset(&cell);
}

#[test]
fn threads_that_only_read_never_race_and_are_all_on_record() {
    let cell = Cell::default();
    let found = run(|t, random, found| {
        let mask = random.mask();
        cell::access::<false>(t, &cell, false, mask, Place(1), found);
    });
    assert!(found.is_empty());
    let (write, read) = cell.load();
    assert_eq!(write, 0, "reads alone need no side state");
    let all = (0..THREADS).all(|n| {
        let own = readers::each(read).filter(|read| cell::epoch(*read).0 == Slot(n + 1));
        own.fold(0, |bytes, read| bytes | cell::bytes(read)) == 0xff
    });
    assert!(all, "every thread has read every byte");
}

#[test]
fn threads_without_a_lock_race_on_every_byte() {
    let cell = Cell::default();
    let found = run(|t, random, found| any(t, &cell, random, found));
    let bytes = found.iter().fold(0, |bytes, found| bytes | found.mask);
    assert_eq!(bytes, 0xff);
    side::reset(&cell);
    assert_eq!(cell.load(), (0, 0));
}

#[test]
fn near_and_far_threads_that_share_a_lock_never_race() {
    const LOCK: usize = 0x5_0000_1000;
    let (cell, lock) = (Cell::default(), Mutex::new(()));
    // Their clocks are long, so fewer rounds.
    let found = run_in(near_and_far, ROUNDS / 20, |t, random, found| {
        let _guard = lock.lock();
        locked(t, LOCK, &cell, random, found);
    });
    assert!(found.is_empty(), "{:?}", found[0]);
    side::reset(&cell);
}

#[test]
fn near_and_far_threads_without_a_lock_race_on_every_byte() {
    let cell = Cell::default();
    let found = run_in(near_and_far, ROUNDS, |t, random, found| {
        any(t, &cell, random, found)
    });
    let bytes = found.iter().fold(0, |bytes, found| bytes | found.mask);
    assert_eq!(bytes, 0xff);
    assert!(
        found.iter().any(|found| found.prior.slot.0 > SLOTS),
        "far ones, too"
    );
    side::reset(&cell);
    assert_eq!(cell.load(), (0, 0));
}

#[test]
fn an_index_that_grows_under_its_readers_gives_each_entry_one_id() {
    const ENTRIES: usize = 5_000;
    for _ in 0..times() {
        let index = Index::new();
        let values: Vec<AtomicU64> = (0..=ENTRIES).map(|_| AtomicU64::new(0)).collect();
        let count = AtomicU32::new(0);
        let ids = in_threads(|n| {
            let mut random = Random(n.into());
            let mut ids = vec![0; ENTRIES];
            for _ in 0..4 * ENTRIES {
                let value = random.below(ENTRIES as u64);
                let is = |id: u32| values[id as usize].load(Ordering::Relaxed) == value + 1;
                let make = || {
                    let id = count.fetch_add(1, Ordering::Relaxed) + 1;
                    values[id as usize].store(value + 1, Ordering::Relaxed);
                    Some(id)
                };
                let id = index.find_or_add(intern::mix(0, value), is, make);
                let id = id.expect("there is room");
                assert!(ids[value as usize] == 0 || ids[value as usize] == id);
                ids[value as usize] = id;
            }
            ids
        });
        for value in 0..ENTRIES {
            let mut known = ids.iter().map(|ids| ids[value]).filter(|id| *id != 0);
            let first = known.next();
            assert!(known.all(|id| Some(id) == first), "{value}");
        }
    }
}
