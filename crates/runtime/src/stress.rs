//! Real threads on one cell, and on one region: nothing is lost, nothing is made up, whatever they come upon each other in. `DEADHEAT_CASES` times as
//! long as usual, if it is set.

use crate::cell::{self, Cell, Found};
use crate::intern::{self, Index};
use crate::owners::{self, Owner};
use crate::places::Place;
use crate::registry::SLOTS;
use crate::thread::Thread;
use crate::{checks, readers, shadow, side, summary, sync};
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

/// Memory of a test's own, and threads with names that no other test has.
struct Region {
    base: usize,
    slot: u32,
}

impl Region {
    fn new(number: u32) -> Region {
        shadow::reserve_once();
        owners::init();
        summary::begin();
        Region {
            base: 0x0500_0000_0000 + (number as usize) * LARGE,
            slot: 9200 + 10 * number,
        }
    }

    fn run(
        &self,
        rounds: u32,
        work: impl Fn(&mut Thread, &mut Random, &mut Vec<Found>) + Sync,
    ) -> Vec<Found> {
        let found = in_threads(|n| {
            let mut t = Thread::new(n, HbThread::after(Slot(n + 1), 0), true);
            let inside = AtomicU32::new(1);
            // SAFETY: there until it is gone, below.
            t.owner = unsafe { Owner::new(self.slot + n, &raw const inside) };
            let (mut random, mut found) = (Random(u64::from(n)), Vec::new());
            for _ in 0..rounds * times() {
                work(&mut t, &mut random, &mut found);
            }
            t.owner.gone();
            found
        });
        found.into_iter().flatten().collect()
    }

    /// Some access, large or small, to the first two of its regions, or a change between cells and summaries.
    fn touch(&self, t: &mut Thread, random: &mut Random, write: bool, found: &mut Vec<Found>) {
        let at = Place(random.below(3) as u32 + 1);
        let start = self.base + 8 * random.below(512) as usize;
        let (addr, pieces) = match random.below(8) {
            0 => (self.base, (1, 0, 8192)),
            1 => (self.base, (512, 16, 8)),
            2 => (self.base + 8, (512, 16, 8)),
            3 => (start, (1, 0, 8 * random.below(512) as usize + 8)),
            4 => (start + 4, (1, 0, 4)),
            5 => (start, (1, 0, 8)),
            6 => return summary::expand(t, owners::region(start)),
            _ => return summary::compress(t, owners::region(start), false),
        };
        let tell = |_: &mut Thread, _: usize, new: &[Found]| found.extend(new);
        if write {
            checks::touch::<true>(t, addr, pieces, at, tell);
        } else {
            checks::touch::<false>(t, addr, pieces, at, tell);
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        shadow::reset(self.base, LARGE);
    }
}

/// So much memory that its shadow is given back in pages.
const LARGE: usize = 1 << 16;

#[test]
fn threads_that_share_a_lock_never_race_in_a_region_that_is_compressed_and_expanded() {
    const LOCK: usize = 0x5_0000_2000;
    let (region, lock) = (Region::new(0), Mutex::new(()));
    let found = region.run(ROUNDS / 10, |t, random, found| {
        // Changes between cells and summaries happen at any time, accesses do not.
        let _guard = lock.lock();
        sync::acquire(t, LOCK, Mode::Exclusive);
        let write = random.below(2) == 0;
        region.touch(t, random, write, found);
        sync::release(t, LOCK, Mode::Exclusive);
        drop(_guard);
        if random.below(4) == 0 {
            summary::expand(t, owners::region(region.base));
            summary::compress(t, owners::region(region.base), true);
        }
    });
    assert!(found.is_empty(), "{:?}", found[0]);
}

#[test]
fn reads_of_a_region_that_is_compressed_and_expanded_are_all_on_record() {
    let region = Region::new(1);
    let found = region.run(ROUNDS / 10, |t, random, found| {
        region.touch(t, random, false, found)
    });
    assert!(found.is_empty(), "{:?}", found[0]);
    // All have read all of it, by now. A thread that knows nothing of them races with one of them at every granule.
    let inside = AtomicU32::new(1);
    let mut t = Thread::new(9, HbThread::after(Slot(40), 0), true);
    // SAFETY: there until it is gone, below.
    t.owner = unsafe { Owner::new(region.slot + 9, &raw const inside) };
    let mut granules = Vec::new();
    checks::touch::<true>(
        &mut t,
        region.base,
        (1, 0, 8192),
        Place(1),
        |_, granule, found| {
            assert!(found.iter().all(|found| found.prior.kind == AccessKind::Read));
            granules.push(granule);
        },
    );
    t.owner.gone();
    granules.dedup();
    assert_eq!(
        granules,
        Vec::from_iter((region.base..region.base + 8192).step_by(8))
    );
}

#[test]
fn shadow_that_is_given_back_has_no_access_on_record() {
    let region = Region::new(3);
    let barrier = Barrier::new(THREADS as usize);
    let addr = |n: u32| region.base + 64 * n as usize;
    let rounds = ROUNDS / 10 * times();
    in_threads(|n| {
        let mut t = Thread::new(n, HbThread::after(Slot(n + 1), 0), true);
        let inside = AtomicU32::new(1);
        // SAFETY: there until it is gone, below.
        t.owner = unsafe { Owner::new(region.slot + n, &raw const inside) };
        for _ in 0..rounds {
            barrier.wait();
            if n == 0 {
                let regions = [owners::region(region.base)];
                let is_empty = |_| (1..THREADS).all(|n| shadow::cell(addr(n)).load() == (0, 0));
                (0..3).for_each(|_| owners::give_back(&regions, is_empty));
            } else {
                let mut found = Vec::new();
                t.owner.enter(addr(n));
                let own = t.owner.owns(shadow::cell(addr(n)));
                // Long enough to be waited for.
                (0..200 * n).for_each(|_| std::hint::spin_loop());
                cell::access::<true>(&mut t, shadow::cell(addr(n)), own, 0xff, Place(1), &mut found);
                t.owner.leave();
            }
            barrier.wait();
            let written = |n: &u32| shadow::cell(addr(*n)).load() != (0, 0);
            assert_eq!((1..THREADS).filter(written).count() as u32, THREADS - 1);
            barrier.wait();
            if n == 0 {
                // Everybody's, after some rounds.
                shadow::cells(region.base, 512)
                    .into_iter()
                    .flatten()
                    .for_each(|cell| cell.set((0, 0)));
            }
        }
        t.owner.gone();
    });
}

#[test]
fn threads_without_a_lock_race_in_a_region_that_is_compressed_and_expanded() {
    let region = Region::new(2);
    let found = region.run(ROUNDS / 20, |t, random, found| {
        region.touch(t, random, true, found)
    });
    assert!(!found.is_empty());
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
