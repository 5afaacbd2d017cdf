//! Happens-before, once for all clock-based detectors.
//!
//! Program order plus synchronizes-with of the C11/C++20 model: locks, read-write locks, fork/join, barriers, messages,
//! atomics by their ordering with release sequences, and fences; and, for calls into untraced code, RDIT's BarrierPairs
//! (§4.2–4.3): calls that reach one object, and ordinary accesses to it, are ordered with each other as observed.
//!
//! Deviations: a release shares the thread's clock instead of copying it, and an acquire of something already known
//! does nothing (see [`Snapshot`]). Atomic loads are taken to read the last store in the trace.

use crate::clock::{ClockCost, Epoch, Snapshot, VectorClock};
use deadheat_event::{Mode, Order, Slot, Stats, SyncOp};
use std::sync::Arc;

/// Happens-before state of a thread.
#[derive(Clone, Debug)]
pub struct HbThread {
    slot: Slot,
    /// The thread's own time: raised after each release, so that what follows is told from what was released.
    time: u64,
    /// `slot` and `time` in one word, kept ready for the fast path.
    epoch: Epoch,
    /// What is known of the other threads. The own entry may be old.
    known: Arc<VectorClock>,
    /// What relaxed loads have read since; an acquire fence makes it known.
    read: Snapshot,
    /// What the last release fence released; relaxed stores carry it.
    fenced: Snapshot,
    cost: ClockCost,
}

impl HbThread {
    /// A thread that knows of nobody. It starts after its predecessor in the slot, if any.
    pub fn new(slot: Slot, predecessor: Option<&HbThread>) -> HbThread {
        let time = predecessor.map_or(1, |p| p.time + 1);
        HbThread {
            slot,
            time,
            epoch: Epoch::new(slot, time),
            known: predecessor.map_or_else(Arc::default, |p| Arc::clone(&p.known)),
            read: Snapshot::Empty,
            fenced: Snapshot::Empty,
            cost: predecessor.map_or_else(ClockCost::default, |p| p.cost),
        }
    }

    /// The thread's slot.
    #[inline]
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The thread's own time.
    #[inline]
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The thread's own time as an epoch.
    #[inline]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The known time of a thread (its own included).
    #[inline]
    pub fn get(&self, slot: Slot) -> u64 {
        if slot == self.slot {
            self.time
        } else {
            self.known.get(slot)
        }
    }

    /// Whether what happened at `epoch` happens before what this thread does now.
    #[inline]
    pub fn knows(&self, epoch: Epoch) -> bool {
        epoch.time() <= self.get(epoch.slot())
    }

    /// The whole clock, for detectors that compare whole clocks.
    pub fn clock(&self) -> VectorClock {
        let mut clock = VectorClock::clone(&self.known);
        clock.set(self.slot, self.time);
        clock
    }

    /// Whole-clock work done by this thread and its predecessors in the slot, and heap bytes (shared clocks in full).
    pub fn stats(&self) -> Stats {
        let bytes = self.known.bytes() + self.read.bytes() + self.fenced.bytes();
        Stats {
            clock_ops: self.cost.ops,
            clock_allocs: self.cost.allocs,
            bytes: bytes as u64,
            ..Stats::default()
        }
    }

    /// All that the thread knows now, and the start of its next time.
    fn release(&mut self) -> Snapshot {
        let snapshot = self.snapshot();
        self.time += 1;
        self.epoch = Epoch::new(self.slot, self.time);
        snapshot
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::Of {
            known: Arc::clone(&self.known),
            slot: self.slot,
            time: self.time,
        }
    }

    fn acquire(&mut self, snapshot: &Snapshot) {
        match snapshot {
            Snapshot::Empty => {}
            Snapshot::Of { slot, time, .. } if *time <= self.get(*slot) => {}
            Snapshot::Of { known, slot, time } => {
                let (slot, time) = (*slot, *time);
                if Arc::ptr_eq(known, &self.known) {
                    self.own_clock().set(slot, time);
                } else {
                    let clock = self.own_clock();
                    clock.join(known);
                    clock.set(slot, time);
                }
            }
            Snapshot::Union(union) => self.own_clock().join(union),
        }
    }

    fn own_clock(&mut self) -> &mut VectorClock {
        self.cost.ops += 1;
        self.cost.allocs += u64::from(Arc::get_mut(&mut self.known).is_none());
        Arc::make_mut(&mut self.known)
    }

    fn add(&mut self, to: &mut Snapshot, what: &Snapshot) {
        let cost = to.add(what);
        self.cost.ops += cost.ops;
        self.cost.allocs += cost.allocs;
    }
}

/// Happens-before state of a lock, barrier, channel, atomic or object.
#[derive(Clone, Debug, Default)]
pub struct HbSync {
    /// Released by exclusive holders, stores, sends, calls.
    writers: Snapshot,
    /// Released by readers since the last exclusive acquire.
    readers: Snapshot,
    barrier: Option<Box<Barrier>>,
}

/// A barrier is used in rounds: a fast thread may enter the next one before a slow thread has left the last.
#[derive(Clone, Debug, Default)]
struct Barrier {
    /// Released by those who have entered the present round.
    gathered: Snapshot,
    round: u64,
    /// Who is inside, and in which round.
    inside: Vec<(Slot, u64)>,
    /// Rounds that somebody has left and somebody has yet to leave.
    open: Vec<(u64, Snapshot)>,
}

impl HbSync {
    /// Heap bytes, counting shared clocks in full.
    pub fn bytes(&self) -> usize {
        let barrier = self
            .barrier
            .as_ref()
            .map_or(0, |b| size_of::<Barrier>() + b.gathered.bytes());
        self.writers.bytes() + self.readers.bytes() + barrier
    }
}

impl Barrier {
    fn enter(&mut self, slot: Slot) {
        self.inside.retain(|(inside, _)| *inside != slot);
        self.inside.push((slot, self.round));
    }

    /// What the leaving thread acquires: all that was released on entering its round.
    fn leave(&mut self, slot: Slot) -> Snapshot {
        let Some(place) = self.inside.iter().position(|(inside, _)| *inside == slot) else {
            return Snapshot::Empty;
        };
        let (_, round) = self.inside.swap_remove(place);
        if round == self.round {
            self.open.push((round, std::mem::take(&mut self.gathered)));
            self.round += 1;
        }
        let opened = self
            .open
            .iter()
            .find(|(open, _)| *open == round)
            .map(|(_, s)| s.clone());
        self.open
            .retain(|(open, _)| self.inside.iter().any(|(_, inside)| inside == open));
        opened.unwrap_or_default()
    }
}

/// `thread` synchronises on `object`.
pub fn sync(thread: &mut HbThread, op: SyncOp, object: &mut HbSync) {
    match op {
        SyncOp::Acquire(_, Mode::Exclusive) => {
            thread.acquire(&object.writers);
            thread.acquire(&object.readers);
        }
        SyncOp::Acquire(_, Mode::Shared) => thread.acquire(&object.writers),
        SyncOp::Release(_, Mode::Exclusive) => {
            // The holder knows what it acquired, so nothing is lost by replacing it.
            object.writers = thread.release();
            object.readers = Snapshot::Empty;
        }
        SyncOp::Release(_, Mode::Shared) => {
            let released = thread.release();
            thread.add(&mut object.readers, &released);
        }
        SyncOp::Load(order) => {
            if order.acquires() {
                thread.acquire(&object.writers);
            } else {
                let mut read = std::mem::take(&mut thread.read);
                thread.add(&mut read, &object.writers);
                thread.read = read;
            }
        }
        SyncOp::Store(Order::Volatile) => {
            let released = thread.release();
            thread.add(&mut object.writers, &released);
        }
        SyncOp::Store(order) => {
            object.writers = if order.releases() {
                thread.release()
            } else {
                thread.fenced.clone()
            };
        }
        SyncOp::Update(order) => {
            let released = if order.releases() {
                thread.release()
            } else {
                thread.fenced.clone()
            };
            thread.add(&mut object.writers, &released);
        }
        SyncOp::Enter(_) => {
            let released = thread.release();
            let barrier = object.barrier.get_or_insert_default();
            barrier.enter(thread.slot);
            thread.add(&mut barrier.gathered, &released);
        }
        SyncOp::Leave(_) => {
            if let Some(barrier) = &mut object.barrier {
                thread.acquire(&barrier.leave(thread.slot));
            }
        }
        SyncOp::Send(_) => {
            let released = thread.release();
            thread.add(&mut object.writers, &released);
        }
        SyncOp::Receive(_) => thread.acquire(&object.writers),
        SyncOp::Call(..) => {
            thread.acquire(&object.writers);
            thread.acquire(&object.readers);
            object.writers = thread.release();
            object.readers = Snapshot::Empty;
        }
        SyncOp::Touch(true) => thread.acquire(&object.writers),
        SyncOp::Touch(false) => {
            let released = thread.release();
            thread.add(&mut object.readers, &released);
        }
    }
}

/// `thread` issues a fence.
pub fn fence(thread: &mut HbThread, order: Order) {
    if order.acquires() {
        let read = std::mem::take(&mut thread.read);
        thread.acquire(&read);
    }
    if order.releases() {
        thread.fenced = thread.release();
    }
}

/// `parent` creates `child`.
pub fn fork(parent: &mut HbThread, child: &mut HbThread) {
    let released = parent.release();
    child.acquire(&released);
}

/// `thread` has waited for `child`, which does nothing more.
pub fn join(thread: &mut HbThread, child: &HbThread) {
    thread.acquire(&child.snapshot());
}

/// Whether everything `ended` did happens before what a child that `parent` forks now will do.
pub fn can_follow(ended: &HbThread, parent: &HbThread) -> bool {
    parent.get(ended.slot) >= ended.time
}

/// The synchronisation methods of a detector whose thread state derefs to [`HbThread`](crate::hb::HbThread).
macro_rules! happens_before {
    () => {
        type Sync = crate::hb::HbSync;

        fn can_follow(&self, ended: &Self::Thread, parent: &Self::Thread) -> bool {
            crate::hb::can_follow(ended, parent)
        }

        fn timestamp(&self, thread: &Self::Thread) -> u64 {
            thread.time()
        }

        fn sync(&mut self, thread: &mut Self::Thread, op: deadheat_event::SyncOp, object: &mut Self::Sync) {
            crate::hb::sync(thread, op, object);
        }

        fn fence(&mut self, thread: &mut Self::Thread, order: deadheat_event::Order) {
            crate::hb::fence(thread, order);
        }

        fn fork(&mut self, parent: &mut Self::Thread, child: &mut Self::Thread) {
            crate::hb::fork(parent, child);
        }

        fn join(&mut self, thread: &mut Self::Thread, child: &mut Self::Thread) {
            crate::hb::join(thread, child);
        }

        fn thread_stats(&self, thread: &Self::Thread) -> deadheat_event::Stats {
            thread.stats()
        }

        fn sync_bytes(&self, object: &Self::Sync) -> usize {
            object.bytes()
        }
    };
}

pub(crate) use happens_before;
