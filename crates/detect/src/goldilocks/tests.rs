//! The paper's worked example step by step, and what only shows from inside.

use super::rules::{ObjectTokens, Token};
use super::{Goldilocks, GoldilocksEager, eager, lazy};
use crate::history::Class;
use deadheat_event::{Access, AccessKind, Addr, Detector, Mode, Place, SiteId, Slot, SyncId, SyncOp};
use std::collections::BTreeSet;

fn access(kind: AccessKind) -> Access {
    Access {
        place: Place::Memory {
            addr: Addr(0),
            size: 8,
        },
        kind,
        atomic: false,
        site: SiteId(0),
    }
}

const ACQUIRE: SyncOp = SyncOp::Acquire(SyncId(0), Mode::Exclusive);
const RELEASE: SyncOp = SyncOp::Release(SyncId(0), Mode::Exclusive);

/// Figure 2: three threads, two locks, and the variable `o1.x`.
struct Figure2 {
    detector: GoldilocksEager,
    threads: [eager::Thread; 3],
    locks: [ObjectTokens; 2],
    o1_x: eager::Location,
}

impl Figure2 {
    fn new() -> Figure2 {
        let mut detector = GoldilocksEager::default();
        let threads = [0, 1, 2].map(|slot| detector.start(Slot(slot), None));
        Figure2 {
            detector,
            threads,
            locks: Default::default(),
            o1_x: eager::Location::default(),
        }
    }

    fn sync(&mut self, thread: usize, op: SyncOp, lock: usize) {
        self.detector
            .sync(&mut self.threads[thread - 1], op, &mut self.locks[lock - 1]);
    }

    /// `x++`: whether it races.
    fn increment(&mut self, thread: usize) -> bool {
        [AccessKind::Read, AccessKind::Write].into_iter().any(|kind| {
            let thread = &mut self.threads[thread - 1];
            self.detector
                .access(thread, &mut self.o1_x, &access(kind))
                .is_some()
        })
    }

    /// LS(o1.x) as the figure prints it, sorted.
    fn lockset(&self) -> String {
        let write = Class::of(&access(AccessKind::Write));
        let tokens: BTreeSet<String> = self
            .o1_x
            .locksets(write)
            .into_iter()
            .flatten()
            .map(|token| match token {
                Token::Thread(thread) => format!("T{}", thread + 1),
                // Numbered by first use: L1, then L2.
                Token::Writers(lock) => format!("L{}", lock + 1),
                other => format!("{other:?}"),
            })
            .collect();
        Vec::from_iter(tokens).join(" ")
    }
}

#[test]
fn figure_2_has_the_printed_lockset_after_each_action() {
    let mut figure = Figure2::new();
    assert_eq!(figure.lockset(), "");
    figure.sync(1, ACQUIRE, 1);
    assert_eq!(figure.lockset(), "");
    assert!(!figure.increment(1));
    assert_eq!(figure.lockset(), "T1");
    figure.sync(1, RELEASE, 1);
    assert_eq!(figure.lockset(), "L1 T1");

    figure.sync(2, ACQUIRE, 1);
    assert_eq!(figure.lockset(), "L1 T1 T2");
    figure.sync(2, ACQUIRE, 2);
    assert_eq!(figure.lockset(), "L1 T1 T2");
    figure.sync(2, RELEASE, 1);
    assert_eq!(figure.lockset(), "L1 T1 T2");
    figure.sync(2, RELEASE, 2);
    assert_eq!(figure.lockset(), "L1 L2 T1 T2");

    figure.sync(3, ACQUIRE, 2);
    assert_eq!(figure.lockset(), "L1 L2 T1 T2 T3");
    assert!(!figure.increment(3));
    assert_eq!(figure.lockset(), "T3");
    figure.sync(3, RELEASE, 2);
    assert_eq!(figure.lockset(), "L2 T3");
}

#[test]
fn readers_that_are_ordered_do_not_pile_up() {
    // Each thread forks the next and nobody waits, so no slot is used again.
    let mut detector = Goldilocks::default();
    let mut location = lazy::Location::default();
    let mut parent = detector.start(Slot(0), None);
    for slot in 1..10_000 {
        let read = access(AccessKind::Read);
        assert_eq!(detector.access(&mut parent, &mut location, &read), None);
        let mut child = detector.start(Slot(slot), None);
        detector.fork(&mut parent, &mut child);
        parent = child;
    }
    assert!(
        detector.location_bytes(&location) < 50_000,
        "{} bytes",
        detector.location_bytes(&location)
    );
}

#[test]
fn a_slot_passes_on_only_to_a_thread_forked_by_the_one_that_joined() {
    let mut detector = Goldilocks::default();
    let mut parent = detector.start(Slot(0), None);
    let other = detector.start(Slot(1), None);
    let mut child = detector.start(Slot(2), None);
    detector.fork(&mut parent, &mut child);
    assert!(!detector.can_follow(&child, &parent));
    detector.join(&mut parent, &mut child);
    assert!(detector.can_follow(&child, &parent));
    assert!(!detector.can_follow(&child, &other));
    // Ill-formed: it goes on. Nothing orders this before what the parent does next.
    let mut location = lazy::Location::default();
    detector.access(&mut child, &mut location, &access(AccessKind::Write));
    assert!(!detector.can_follow(&child, &parent));
}

#[test]
fn the_lock_that_always_guards_is_found_among_others() {
    // Every access holds the guard and a lock of its own: whichever is remembered at first, the guard is in the end.
    let mut detector = Goldilocks::default();
    let mut threads = [0, 1].map(|slot| detector.start(Slot(slot), None));
    let mut guard = lazy::Object::default();
    let mut location = lazy::Location::default();
    for round in 0..64 {
        let thread = &mut threads[round % 2];
        let mut private = lazy::Object::default();
        detector.sync(thread, ACQUIRE, &mut guard);
        detector.sync(thread, ACQUIRE, &mut private);
        let before = detector.stats().short_circuits;
        let write = access(AccessKind::Write);
        assert_eq!(detector.access(thread, &mut location, &write), None);
        if round >= 8 {
            assert_eq!(detector.stats().short_circuits, before + 1, "round {round}");
        }
        detector.sync(thread, RELEASE, &mut private);
        detector.sync(thread, RELEASE, &mut guard);
    }
}
