//! Happens-before, once for all clock-based detectors.
//!
//! Program order plus synchronizes-with of the C11/C++20 model: locks, read-write locks, fork/join, barriers, messages,
//! atomics by their ordering with release sequences, and fences; and, for calls into untraced code, RDIT's BarrierPairs
//! (§4.2–4.3): calls that reach one object, and ordinary accesses to it, are ordered with each other as observed.
//!
//! Deviations: an acquire of something already known does nothing, and releases in a row between which the thread
//! learned nothing share one copy of its clock. Atomic loads are taken to read the last store in the trace.

use crate::clock::{ClockCost, Epoch, Known, SHARE_FROM, Snapshot, VectorClock};
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
    /// What is known of all threads. The own entry is `time`.
    known: VectorClock,
    /// Whether it has learned something that it has not released yet.
    learned: bool,
    copy: Copied,
    /// What relaxed loads have read since; an acquire fence makes it known.
    read: Snapshot,
    /// What the last release fence released; relaxed stores carry it.
    fenced: Snapshot,
    cost: ClockCost,
}

/// Whether there is a copy of a thread's `known` to share.
#[derive(Clone, Debug)]
enum Copied {
    /// `known` has changed since the last release, or is short: a release copies it over the object's old clock.
    No,
    /// It was released once since it changed: the next release makes a copy to share, in the hope of more.
    Once,
    /// A copy to share.
    Shared(Arc<VectorClock>),
}

impl HbThread {
    /// A thread that knows of nobody. It starts after its predecessor in the slot, if any.
    pub fn new(slot: Slot, predecessor: Option<&HbThread>) -> HbThread {
        let time = predecessor.map_or(1, |p| p.time + 1);
        let mut known = predecessor.map_or_else(VectorClock::default, |p| p.known.clone());
        known.set(slot, time);
        HbThread {
            slot,
            time,
            epoch: Epoch::new(slot, time),
            known,
            learned: predecessor.is_some(),
            copy: Copied::No,
            read: Snapshot::Empty,
            fenced: Snapshot::Empty,
            cost: predecessor.map_or_else(ClockCost::default, |p| p.cost),
        }
    }

    /// A thread that knows of nobody, in a slot whose last thread ended at time `ended` (0 if it had none).
    pub fn after(slot: Slot, ended: u64) -> HbThread {
        let mut thread = HbThread::new(slot, None);
        thread.set_time(slot, ended + 1);
        thread
    }

    /// Goes on in a slot that nobody has had, because times in the old one have run out. Not inside a barrier, which
    /// knows its threads by their slots.
    pub fn move_to(&mut self, slot: Slot) {
        self.copy = Copied::No;
        // Nobody can have heard of it in this slot.
        self.learned = true;
        self.set_time(slot, 1);
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
        self.known.get(slot)
    }

    /// The known times of all slots that it has heard of, in their order.
    pub fn times(&self) -> &[u64] {
        self.known.times()
    }

    /// Whether what happened at `epoch` happens before what this thread does now.
    #[inline]
    pub fn knows(&self, epoch: Epoch) -> bool {
        epoch.time() <= self.known.get(epoch.slot())
    }

    /// How much more is known of a thread than its time at `epoch`; negative if that does not happen before what this thread
    /// does now.
    #[inline]
    pub fn lead(&self, epoch: Epoch) -> i64 {
        // Both are below 2^40.
        self.known.get(epoch.slot()) as i64 - epoch.time() as i64
    }

    /// The whole clock, for detectors that compare whole clocks.
    pub fn clock(&self) -> VectorClock {
        self.known.clone()
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

    /// Whether it has learned something since its last release. If not, who comes after that release knows all that it knows.
    pub fn has_learned(&self) -> bool {
        self.learned
    }

    /// Starts the next time.
    fn tick(&mut self) {
        self.learned = false;
        self.set_time(self.slot, self.time + 1);
    }

    fn set_time(&mut self, slot: Slot, time: u64) {
        (self.slot, self.time) = (slot, time);
        self.epoch = Epoch::new(slot, time);
        self.known.set(slot, time);
    }

    /// Makes `to` all that the thread knows now, and starts its next time.
    fn release(&mut self, to: &mut Snapshot) {
        match &self.copy {
            Copied::No => {
                if self.known.slots() >= SHARE_FROM {
                    self.copy = Copied::Once;
                }
                self.cost += to.replace(&self.known, self.slot, self.time);
            }
            Copied::Once => {
                self.cost += ClockCost { ops: 1, allocs: 1 };
                let known = Arc::new(self.known.clone());
                self.copy = Copied::Shared(Arc::clone(&known));
                *to = Snapshot::Of {
                    known: Known::Shared(known),
                    slot: self.slot,
                    time: self.time,
                };
            }
            Copied::Shared(known) => {
                let known = Known::Shared(Arc::clone(known));
                *to = Snapshot::Of {
                    known,
                    slot: self.slot,
                    time: self.time,
                };
            }
        }
        self.tick();
    }

    /// Adds all that the thread knows now to `to`, and starts its next time.
    fn release_to(&mut self, to: &mut Snapshot) {
        if let Snapshot::Empty = to {
            return self.release(to);
        }
        self.cost += to.add_clock(&self.known, self.slot, self.time);
        self.tick();
    }

    fn acquire(&mut self, snapshot: &Snapshot) {
        match snapshot {
            Snapshot::Of { known, slot, time } if *time > self.get(*slot) => {
                self.learn(known);
                self.known.set(*slot, *time);
            }
            Snapshot::Union(union) => self.learn(union),
            _ => {}
        }
    }

    fn learn(&mut self, other: &VectorClock) {
        self.cost.ops += 1;
        self.copy = Copied::No;
        self.learned = true;
        self.known.join(other);
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
    /// Whether nothing was released there.
    pub fn is_empty(&self) -> bool {
        matches!((&self.writers, &self.readers), (Snapshot::Empty, Snapshot::Empty))
    }

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
            thread.release(&mut object.writers);
            object.readers = Snapshot::Empty;
        }
        SyncOp::Release(_, Mode::Shared) => thread.release_to(&mut object.readers),
        SyncOp::Load(order) => {
            if order.acquires() {
                thread.acquire(&object.writers);
            } else {
                thread.cost += thread.read.add(&object.writers);
            }
        }
        SyncOp::Store(Order::Volatile) => thread.release_to(&mut object.writers),
        SyncOp::Store(order) => {
            if order.releases() {
                thread.release(&mut object.writers);
            } else {
                object.writers = thread.fenced.clone();
            }
        }
        SyncOp::Update(order) => {
            if order.releases() {
                thread.release_to(&mut object.writers);
            } else {
                thread.cost += object.writers.add(&thread.fenced);
            }
        }
        SyncOp::Enter(_) => {
            let barrier = object.barrier.get_or_insert_default();
            barrier.enter(thread.slot);
            thread.release_to(&mut barrier.gathered);
        }
        SyncOp::Leave(_) => {
            if let Some(barrier) = &mut object.barrier {
                thread.acquire(&barrier.leave(thread.slot));
            }
        }
        SyncOp::Send(_) => thread.release_to(&mut object.writers),
        SyncOp::Receive(_) => thread.acquire(&object.writers),
        SyncOp::Call(..) => {
            thread.acquire(&object.writers);
            thread.acquire(&object.readers);
            thread.release(&mut object.writers);
            object.readers = Snapshot::Empty;
        }
        SyncOp::Touch(true) => thread.acquire(&object.writers),
        SyncOp::Touch(false) => thread.release_to(&mut object.readers),
    }
}

/// What a thread knew at one moment, to be left at any number of objects.
#[derive(Clone, Debug, Default)]
pub struct Published(Snapshot);

/// What `thread` knows now. Its next time starts, once, however many objects get it.
pub fn publish(thread: &mut HbThread) -> Published {
    let mut snapshot = Snapshot::Empty;
    thread.release(&mut snapshot);
    Published(snapshot)
}

/// Leaves it at an object, for whoever receives from there.
pub fn leave(object: &mut HbSync, published: &Published) {
    object.writers.add(&published.0);
}

/// Leaves at `object` what was left at `other`.
pub fn merge(object: &mut HbSync, other: &HbSync) {
    object.writers.add(&other.writers);
}

/// Who receives what this becomes learns all that `thread` has done so far, and counts what it does until its next time as
/// known.
pub fn glimpse(thread: &HbThread, seen: &mut Published) {
    seen.0.replace(&thread.known, thread.slot, thread.time);
}

/// `thread` learns what was published.
pub fn receive(thread: &mut HbThread, published: &Published) {
    thread.acquire(&published.0);
}

/// `thread` issues a fence.
pub fn fence(thread: &mut HbThread, order: Order) {
    if order.acquires() {
        let read = std::mem::take(&mut thread.read);
        thread.acquire(&read);
    }
    if order.releases() {
        let mut fenced = std::mem::take(&mut thread.fenced);
        thread.release(&mut fenced);
        thread.fenced = fenced;
    }
}

/// `parent` creates `child`.
pub fn fork(parent: &mut HbThread, child: &mut HbThread) {
    join(child, parent);
    parent.tick();
}

/// `thread` has waited for `child`, which does nothing more.
pub fn join(thread: &mut HbThread, child: &HbThread) {
    if child.time > thread.get(child.slot) {
        thread.learn(&child.known);
        thread.known.set(child.slot, child.time);
    }
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
