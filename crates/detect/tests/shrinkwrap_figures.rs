//! The worked examples of SHRINKWRAP, row by row: Figures 2.10 to 2.13, 2.15, 3.4 and 4.4, and the table of ⊕.
//!
//! Where a figure and the thesis's own rules disagree, the rules count, and the test says so.

use deadheat_detect::Elements;
use deadheat_detect::clock::VectorClock;
use deadheat_detect::compress::{Array, Compress, Footprint, Mode};
use deadheat_detect::hb::HbThread;
use deadheat_detect::history::Class;
use deadheat_detect::vc::{Location, Vc};
use deadheat_event::{
    Access, AccessKind, Addr, ArrayId, Detector, Indices, Mode as LockMode, Place, Prior, RaceKind, Races,
    SiteId, Slot, SyncId, SyncOp,
};

const M: SyncId = SyncId(0);
const A: ArrayId = ArrayId(0);

/// Two threads, a lock, a barrier, a variable `x`, and an array with one state for each element and a compressed one.
struct World {
    vc: Vc,
    compress: Compress<Vc>,
    threads: [HbThread; 2],
    compressing: [<Compress<Vc> as Detector>::Thread; 2],
    lock: <Vc as Detector>::Sync,
    lock_twin: <Vc as Detector>::Sync,
    barrier: <Vc as Detector>::Sync,
    barrier_twin: <Vc as Detector>::Sync,
    x: Location,
    fine: Elements<Location>,
    array: Array<Location>,
    races: Found,
}

#[derive(Default)]
struct Found(Vec<(Indices, Option<Prior>)>);

impl Races for Found {
    fn race(&mut self, _: RaceKind, indices: Indices, _: &Access, prior: Option<Prior>) {
        self.0.push((indices, prior));
    }
}

impl World {
    /// Threads 1 and 2 at these times, and arrays of `len` elements.
    fn new(times: [u64; 2], len: u64) -> World {
        let (mut vc, mut compress) = (Vc::default(), Compress::with_min_len(Vc::default(), 0));
        let mut array = Array::default();
        compress.new_array(&mut array, Some(len));
        let mut world = World {
            threads: [0, 1].map(|t| vc.start(Slot(t), None)),
            compressing: [0, 1].map(|t| compress.start(Slot(t), None)),
            vc,
            compress,
            lock: Default::default(),
            lock_twin: Default::default(),
            barrier: Default::default(),
            barrier_twin: Default::default(),
            x: Location::default(),
            fine: Elements::default(),
            array,
            races: Found::default(),
        };
        // Nobody acquires this, so it only lets time go by.
        for (t, time) in times.into_iter().enumerate() {
            for _ in 1..time {
                let op = SyncOp::Send(SyncId(9));
                world.vc.sync(&mut world.threads[t], op, &mut Default::default());
                world
                    .compress
                    .sync(&mut world.compressing[t], op, &mut Default::default());
            }
        }
        world
    }

    fn access(&self, kind: AccessKind, place: Place) -> Access {
        Access {
            place,
            kind,
            atomic: false,
            site: SiteId(0),
        }
    }

    /// Thread `t` accesses `x`. Whether that races.
    fn x(&mut self, t: usize, kind: AccessKind) -> bool {
        let place = Place::Memory {
            addr: Addr(0),
            size: 8,
        };
        let access = self.access(kind, place);
        self.vc
            .access(&mut self.threads[t - 1], &mut self.x, &access)
            .is_some()
    }

    /// Thread `t` writes an element.
    fn write(&mut self, t: usize, index: u64) {
        let indices = Indices::one(index);
        let access = self.access(AccessKind::Write, Place::Array { array: A, indices });
        let thread = &mut self.threads[t - 1];
        self.vc
            .array(thread, A, &mut self.fine, indices, &access, &mut self.races);
        let thread = &mut self.compressing[t - 1];
        self.compress
            .array(thread, A, &mut self.array, indices, &access, &mut self.races);
    }

    /// What the driver does before thread `t` synchronises.
    fn commit(&mut self, t: usize) {
        let thread = &mut self.compressing[t - 1];
        while let Some(id) = self.compress.pending(thread) {
            self.compress.commit(thread, id, &mut self.array, &mut self.races);
        }
    }

    fn acquire(&mut self, t: usize) {
        self.sync_lock(t, SyncOp::Acquire(M, LockMode::Exclusive));
    }

    fn release(&mut self, t: usize) {
        self.sync_lock(t, SyncOp::Release(M, LockMode::Exclusive));
    }

    fn sync_lock(&mut self, t: usize, op: SyncOp) {
        self.commit(t);
        self.vc.sync(&mut self.threads[t - 1], op, &mut self.lock);
        self.compress
            .sync(&mut self.compressing[t - 1], op, &mut self.lock_twin);
    }

    fn barrier(&mut self) {
        for op in [SyncOp::Enter(M), SyncOp::Leave(M)] {
            for t in [1, 2] {
                self.commit(t);
                self.vc.sync(&mut self.threads[t - 1], op, &mut self.barrier);
                self.compress
                    .sync(&mut self.compressing[t - 1], op, &mut self.barrier_twin);
            }
        }
    }

    fn c(&self, t: usize) -> [u64; 2] {
        let clock = pair(&self.threads[t - 1].clock());
        assert_eq!(
            clock,
            pair(&self.compressing[t - 1].inner().clock()),
            "the layer does not change clocks"
        );
        clock
    }

    /// What somebody who knows nothing learns from the lock.
    fn l(&mut self) -> [u64; 2] {
        let mut observer = self.vc.start(Slot(2), None);
        let op = SyncOp::Acquire(M, LockMode::Exclusive);
        self.vc.sync(&mut observer, op, &mut self.lock);
        pair(&observer.clock())
    }

    fn row(&mut self) -> [[u64; 2]; 5] {
        let (r, w) = (reads(&self.x), writes(&self.x));
        [self.c(1), self.c(2), r, w, self.l()]
    }

    fn w_fine(&mut self, len: u64) -> Vec<[u64; 2]> {
        (0..len).map(|index| writes(self.fine.get(index))).collect()
    }

    fn w_compressed(&self, len: u64) -> Vec<[u64; 2]> {
        (0..len).map(|index| writes(&self.array.state(index))).collect()
    }
}

fn pair(clock: &VectorClock) -> [u64; 2] {
    [clock.get(Slot(0)), clock.get(Slot(1))]
}

fn reads(location: &Location) -> [u64; 2] {
    let kind = AccessKind::Read;
    pair(&location.clock(Class { kind, atomic: false }))
}

fn writes(location: &Location) -> [u64; 2] {
    let kind = AccessKind::Write;
    pair(&location.clock(Class { kind, atomic: false }))
}

#[test]
fn figure_2_10_clocks_of_a_program_that_locks() {
    use AccessKind::{Read, Write};
    let mut w = World::new([1, 1], 0);
    // c1, c2, r, w, l
    assert_eq!(w.row(), [[1, 0], [0, 1], [0, 0], [0, 0], [0, 0]]);
    w.acquire(1);
    assert_eq!(w.row(), [[1, 0], [0, 1], [0, 0], [0, 0], [0, 0]]);
    assert!(!w.x(1, Read));
    assert_eq!(w.row(), [[1, 0], [0, 1], [1, 0], [0, 0], [0, 0]]);
    assert!(!w.x(1, Write));
    assert_eq!(w.row(), [[1, 0], [0, 1], [1, 0], [1, 0], [0, 0]]);
    w.release(1);
    assert_eq!(w.row(), [[2, 0], [0, 1], [1, 0], [1, 0], [1, 0]]);
    w.acquire(2);
    assert_eq!(w.row(), [[2, 0], [1, 1], [1, 0], [1, 0], [1, 0]]);
    assert!(!w.x(2, Read));
    assert_eq!(w.row(), [[2, 0], [1, 1], [1, 1], [1, 0], [1, 0]]);
    assert!(!w.x(2, Write));
    assert_eq!(w.row(), [[2, 0], [1, 1], [1, 1], [1, 1], [1, 0]]);
    w.release(2);
    assert_eq!(w.row(), [[2, 0], [1, 2], [1, 1], [1, 1], [1, 1]]);
}

#[test]
fn figure_2_11_a_race_is_caught_at_the_second_read() {
    use AccessKind::{Read, Write};
    let mut w = World::new([1, 1], 0);
    assert_eq!(w.row()[..4], [[1, 0], [0, 1], [0, 0], [0, 0]]);
    assert!(!w.x(1, Read));
    assert_eq!(w.row()[..4], [[1, 0], [0, 1], [1, 0], [0, 0]]);
    assert!(!w.x(1, Write));
    assert_eq!(w.row()[..4], [[1, 0], [0, 1], [1, 0], [1, 0]]);
    assert!(w.x(2, Read), "w is not known to thread 2");
}

#[test]
fn figure_2_12_threads_sweep_an_array_under_a_lock() {
    let mut w = World::new([10, 30], 4);
    let mut fine = vec![[0, 0]; 4];
    let check = |w: &mut World, clocks: [[u64; 2]; 3], fine: &[[u64; 2]], coarse: [u64; 2]| {
        assert_eq!([w.c(1), w.c(2), w.l()], clocks);
        assert_eq!(w.w_fine(4), fine);
        assert_eq!(w.w_compressed(4), [coarse; 4]);
        assert_eq!((w.array.mode(), w.array.states()), (&Mode::Coarse, 1));
    };
    check(&mut w, [[10, 0], [0, 30], [0, 0]], &fine, [0, 0]);
    for index in 0..4 {
        w.write(1, index);
        fine[index as usize] = [10, 0];
        if index < 3 {
            check(&mut w, [[10, 0], [0, 30], [0, 0]], &fine, [0, 0]);
        }
    }
    w.commit(1);
    check(&mut w, [[10, 0], [0, 30], [0, 0]], &fine, [10, 0]);
    w.release(1);
    check(&mut w, [[11, 0], [0, 30], [10, 0]], &fine, [10, 0]);
    w.acquire(2);
    check(&mut w, [[11, 0], [10, 30], [10, 0]], &fine, [10, 0]);
    for index in 0..4 {
        w.write(2, index);
        fine[index as usize] = [10, 30];
        if index < 3 {
            check(&mut w, [[11, 0], [10, 30], [10, 0]], &fine, [10, 0]);
        }
    }
    w.commit(2);
    check(&mut w, [[11, 0], [10, 30], [10, 0]], &fine, [10, 30]);
    w.release(2);
    check(&mut w, [[11, 0], [10, 31], [10, 30]], &fine, [10, 30]);
    // The figure has this in the column of thread 2, but it is c1 that changes.
    w.acquire(1);
    check(&mut w, [[11, 30], [10, 31], [10, 30]], &fine, [10, 30]);
    assert!(w.races.0.is_empty());
    assert_eq!(w.compress.stats().race_checks, 2, "one for each sweep");
    assert_eq!(w.vc.stats().race_checks, 8);
}

/// Figures 2.13 and 2.15: thread 1 has initialised the array, then each thread writes its half, in the order given.
///
/// The figures print thread 1's part of w as [11,30], its whole clock. By rule [VC-WRITE] of Figure 2.9 only the own
/// component changes: [11,0]. No check can tell the two: who knows thread 1's time 11 knows what it knew then.
fn halves(order: [(usize, u64); 4], mode: &Mode, class_of: impl Fn(u64) -> usize) {
    let mut w = World::new([10, 30], 4);
    for index in 0..4 {
        w.write(1, index);
    }
    w.commit(1);
    let check = |w: &World, clocks: [[u64; 2]; 2], classes: [[u64; 2]; 2]| {
        assert_eq!([w.c(1), w.c(2)], clocks);
        let expected: Vec<_> = (0..4).map(|index| classes[class_of(index)]).collect();
        assert_eq!(w.w_compressed(4), expected);
    };
    check(&w, [[10, 0], [0, 30]], [[10, 0], [10, 0]]);
    w.barrier();
    check(&w, [[11, 30], [10, 31]], [[10, 0], [10, 0]]);
    // w' in Figure 2.13: one state for the whole array reports a race where there is none.
    let mut whole = w.array.state(0);
    let place = Place::Array {
        array: A,
        indices: Indices::one(0),
    };
    let access = w.access(AccessKind::Write, place);
    let first = w.vc.access(&mut w.threads[order[0].0 - 1], &mut whole, &access);
    let second = w.vc.access(&mut w.threads[2 - order[0].0], &mut whole, &access);
    assert!(first.is_none() && second.is_some());

    for (thread, index) in order {
        w.write(thread, index);
    }
    w.commit(1);
    w.commit(2);
    check(&w, [[11, 30], [10, 31]], [[11, 0], [10, 31]]);
    assert_eq!((w.array.mode(), w.array.states()), (mode, 2));
    w.barrier();
    check(&w, [[12, 31], [11, 32]], [[11, 0], [10, 31]]);
    assert!(w.races.0.is_empty());
}

#[test]
fn figure_2_13_threads_divide_an_array_into_blocks() {
    for order in [
        [(1, 0), (2, 2), (1, 1), (2, 3)],
        [(2, 2), (2, 3), (1, 0), (1, 1)],
        [(1, 0), (1, 1), (2, 2), (2, 3)],
    ] {
        halves(order, &Mode::Block(2), |index| index as usize / 2);
    }
}

#[test]
fn figure_2_15_threads_divide_an_array_by_stride() {
    for order in [[(1, 0), (2, 1), (1, 2), (2, 3)], [(2, 1), (2, 3), (1, 0), (1, 2)]] {
        halves(order, &Mode::Stride(2), |index| index as usize % 2);
    }
}

#[test]
fn figure_3_4_transitions_on_an_array_of_eight() {
    // The mode before, the footprint, the mode after, how many states.
    let table = [
        (Mode::Coarse, (0, 3, 1), Mode::Block(4), 2),
        (Mode::Block(4), (0, 1, 1), Mode::Block(2), 4),
        (Mode::Coarse, (0, 6, 2), Mode::Stride(2), 2),
        (Mode::Stride(2), (0, 4, 4), Mode::Stride(4), 4),
    ];
    let mut w = World::new([1, 1], 8);
    for (before, (b, e, k), after, states) in table {
        if before == Mode::Coarse {
            w = World::new([1, 1], 8);
        }
        assert_eq!(*w.array.mode(), before);
        let old: Vec<_> = w.w_compressed(8);
        let fp = Footprint::new(b, e, k).expect("small");
        // A span of its own, so that the footprint is not united with the one before.
        w.release(1);
        let time = w.c(1)[0];
        for index in fp.iter() {
            w.write(1, index);
        }
        w.commit(1);
        assert_eq!((w.array.mode(), w.array.states()), (&after, states));
        let expected: Vec<_> = (0..8)
            .map(|index| {
                if fp.contains(index) {
                    [time, 0]
                } else {
                    old[index as usize]
                }
            })
            .collect();
        assert_eq!(w.w_compressed(8), expected);
    }
}

#[test]
fn figure_4_4_and_the_table_of_extending_a_footprint() {
    let fp = |b, e, k| Footprint::new(b, e, k).expect("small");
    let check =
        |before: Footprint, index, after| assert_eq!(before.extend(index), after, "{before:?} ⊕ {index}");
    // The table.
    check(Footprint::EMPTY, 0, Some(fp(0, 0, 1)));
    check(fp(0, 0, 1), 1, Some(fp(0, 1, 1)));
    check(fp(0, 1, 1), 2, Some(fp(0, 2, 1)));
    check(fp(0, 0, 1), 4, Some(fp(0, 4, 4)));
    check(fp(0, 4, 4), 8, Some(fp(0, 8, 4)));
    // The lines of the figure, in their order.
    check(Footprint::EMPTY, 7, Some(fp(7, 7, 1)));
    check(fp(5, 5, 1), 5 + 3, Some(fp(5, 8, 3)));
    check(fp(5, 5, 1), 5 - 3, Some(fp(2, 5, 3)));
    check(fp(2, 11, 3), 8, Some(fp(2, 11, 3)));
    check(fp(2, 11, 3), 11 + 3, Some(fp(2, 14, 3)));
    check(fp(5, 11, 3), 5 - 3, Some(fp(2, 11, 3)));
    // ⊕ is undefined in all other cases, also where a footprint would exist (footnote 4).
    check(fp(0, 4, 4), 2, None);
    check(fp(2, 11, 3), 9, None);
    check(fp(2, 11, 3), 17, None);
    check(fp(2, 11, 3), 0, None);
    // The normal form: canonical empty and single footprints, b ≡ e (mod k).
    assert_eq!(fp(5, 3, 2), Footprint::EMPTY);
    assert_eq!(fp(5, 6, 2), fp(5, 5, 1));
    assert_eq!(fp(0, 9, 4), fp(0, 8, 4));
}

/// Rule [OPT ACQ] lets a footprint live across an acquire. Thread 2's write races with thread 1's, but if it is only
/// checked at thread 2's release, the acquire before it has made thread 1's write known.
#[test]
fn a_commit_only_before_releases_loses_a_race() {
    let races = |commit_before_acquire: bool| {
        let mut w = World::new([1, 1], 4);
        w.write(1, 0);
        w.acquire(1);
        w.release(1);
        w.races.0.clear();

        w.write(2, 0);
        w.races.0.clear(); // what the uncompressed twin found
        if commit_before_acquire {
            w.commit(2);
        }
        let op = SyncOp::Acquire(M, LockMode::Exclusive);
        w.compress.sync(&mut w.compressing[1], op, &mut w.lock_twin);
        w.commit(2);
        w.races.0.len()
    };
    assert_eq!(races(true), 1);
    assert_eq!(races(false), 0, "the rule as printed misses it");
}
