//! Happens-before, once for all clock-based detectors.
//!
//! Program order plus synchronizes-with of the C11/C++20 model: locks, read-write locks, fork/join, barriers, messages,
//! atomics by their ordering with release sequences, and fences; and, for calls into untraced code, RDIT's BarrierPairs
//! (§4.2–4.3): calls that reach one object, and ordinary accesses to it, are ordered with each other as observed.
//!
//! Deviations: an acquire of something already known does nothing, and releases in a row between which the thread
//! learned nothing share one copy of its clock. A lock that goes from hand to hand keeps its clock, which changes by one
//! entry for each holder. Atomic loads are taken to read the last store in the trace.

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
    /// Its own time when it last learned something: what it released then or later says all that it knows. 0 if never.
    learned: u64,
    /// If `known` is, but for the own entry, what a thread knew at the end of this epoch: that epoch.
    from: Epoch,
    /// Its own time when somebody last saw what it knew before that time was over. 0 if never.
    glimpsed: u64,
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
            learned: predecessor.map_or(0, |_| time),
            from: Epoch::NEVER,
            glimpsed: 0,
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
        // What was released before was the other thread's.
        thread.learned = if ended > 0 { thread.time } else { 0 };
        thread
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
    #[inline]
    pub fn has_learned(&self) -> bool {
        self.learned == self.time
    }

    /// Starts the next time.
    #[inline]
    fn tick(&mut self) {
        self.set_time(self.slot, self.time + 1);
    }

    /// Starts its next time, so that what it has done is told from what it does with what it has just learned.
    pub fn part(&mut self) {
        self.tick();
        // Nothing was released.
        self.learned = self.time;
    }

    #[inline]
    fn set_time(&mut self, slot: Slot, time: u64) {
        (self.slot, self.time) = (slot, time);
        self.epoch = Epoch::new(slot, time);
        self.known.set(slot, time);
    }

    /// Makes `to` all that the thread knows now, and starts its next time, if it was the last to release there and has
    /// learned nothing since. Whether it was.
    #[inline(always)]
    fn release_again(&mut self, to: &mut Snapshot) -> bool {
        match to {
            Snapshot::Of { slot, time, .. } if *slot == self.slot && self.learned <= *time => {
                *time = self.time;
                self.tick();
                true
            }
            _ => false,
        }
    }

    /// Makes `to` all that the thread knows now, and starts its next time.
    #[inline]
    fn release(&mut self, to: &mut Snapshot) {
        if self.release_again(to) {
            return;
        }
        // All that this thread knows of others it knows from there.
        if let Snapshot::Of { known, slot, time } = to
            && self.from == Epoch::new(*slot, *time)
            && let Known::Own(known) = known
        {
            known.set(*slot, *time);
            (*slot, *time) = (self.slot, self.time);
            return self.tick();
        }
        self.release_copy(to);
    }

    #[inline(never)]
    fn release_copy(&mut self, to: &mut Snapshot) {
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
    #[inline]
    fn release_to(&mut self, to: &mut Snapshot) {
        match to {
            Snapshot::Empty => return self.release(to),
            Snapshot::Of { slot, time, .. } if *time <= self.known.get(*slot) => return self.release(to),
            _ => {}
        }
        self.cost += to.add_clock(&self.known, self.slot, self.time);
        self.tick();
    }

    #[inline]
    fn acquire(&mut self, snapshot: &Snapshot) {
        if !self.has_all(snapshot) {
            self.acquire_new(snapshot);
        }
    }

    /// Whether the thread knows all of it already.
    #[inline]
    fn has_all(&self, snapshot: &Snapshot) -> bool {
        match snapshot {
            Snapshot::Empty => true,
            Snapshot::Of { slot, time, .. } => *time <= self.get(*slot),
            Snapshot::Union(union) => union.le(&self.known),
        }
    }

    #[inline(never)]
    fn acquire_new(&mut self, snapshot: &Snapshot) {
        match snapshot {
            Snapshot::Empty => {}
            Snapshot::Of { known, slot, time } => {
                self.learn(known, Epoch::new(*slot, *time));
                self.known.set(*slot, *time);
            }
            Snapshot::Union(union) => self.learn(union, Epoch::NEVER),
        }
    }

    /// Learns what a thread knew at the end of epoch `of`, or several did.
    fn learn(&mut self, other: &VectorClock, of: Epoch) {
        if self.glimpsed == self.time {
            // What was seen of this time stays all there is of it.
            self.tick();
        }
        self.cost.ops += 1;
        self.copy = Copied::No;
        // Who knows what it released last knows all that it knows, if it has learned nothing since.
        if !self.has_learned() && other.get(self.slot) + 1 >= self.time {
            self.known.copy_from(other);
            self.known.set(self.slot, self.time);
            self.from = of;
        } else {
            self.known.join(other);
            self.from = Epoch::NEVER;
        }
        self.learned = self.time;
    }
}

/// Happens-before state of a lock, barrier, channel, atomic or object.
#[derive(Clone, Debug, Default)]
pub struct HbSync {
    /// Released by exclusive holders, stores, sends, calls.
    writers: Snapshot,
    readers: Readers,
    barrier: Option<Box<Barrier>>,
}

/// Released by readers since the last exclusive acquire. Few objects have readers, so it takes room where there are some.
#[derive(Clone, Debug, Default)]
struct Readers(Option<Box<Snapshot>>);

static NO_READERS: Snapshot = Snapshot::Empty;

impl Readers {
    #[inline(always)]
    fn get(&self) -> &Snapshot {
        self.0.as_deref().unwrap_or(&NO_READERS)
    }

    fn get_mut(&mut self) -> &mut Snapshot {
        self.0.get_or_insert_default()
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        matches!(self.get(), Snapshot::Empty)
    }

    /// An object that had readers will have some again.
    #[inline(always)]
    fn clear(&mut self) {
        if let Some(readers) = &mut self.0 {
            **readers = Snapshot::Empty;
        }
    }
}

/// With its neighbours in the runtime's table, an object is one line of memory.
const _: () = assert!(size_of::<HbSync>() <= 56);

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
        matches!(self.writers, Snapshot::Empty) && self.readers.is_empty()
    }

    /// Heap bytes, counting shared clocks in full.
    pub fn bytes(&self) -> usize {
        let barrier = self
            .barrier
            .as_ref()
            .map_or(0, |b| size_of::<Barrier>() + b.gathered.bytes());
        self.writers.bytes() + self.readers.get().bytes() + barrier
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
#[inline]
pub fn sync(thread: &mut HbThread, op: SyncOp, object: &mut HbSync) {
    match op {
        SyncOp::Acquire(_, Mode::Exclusive) => {
            thread.acquire(&object.writers);
            thread.acquire(object.readers.get());
        }
        SyncOp::Acquire(_, Mode::Shared) => thread.acquire(&object.writers),
        SyncOp::Release(_, Mode::Exclusive) => {
            // The holder knows what it acquired, so nothing is lost by replacing it.
            thread.release(&mut object.writers);
            object.readers.clear();
        }
        SyncOp::Release(_, Mode::Shared) => thread.release_to(object.readers.get_mut()),
        SyncOp::Load(order) => {
            if order.acquires() {
                thread.acquire(&object.writers);
            } else if !thread.has_all(&object.writers) {
                thread.cost += thread.read.add(&object.writers);
            }
        }
        SyncOp::Store(Order::Volatile) => thread.release_to(&mut object.writers),
        SyncOp::Store(order) => {
            if order.releases() {
                thread.release(&mut object.writers);
            } else {
                object.writers.assign(&thread.fenced);
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
            thread.acquire(object.readers.get());
            thread.release(&mut object.writers);
            object.readers.clear();
        }
        SyncOp::Touch(true) => thread.acquire(&object.writers),
        SyncOp::Touch(false) => thread.release_to(object.readers.get_mut()),
    }
}

/// What of a thread's clock an operation has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Nothing: it has learned nothing and released nothing.
    Nothing,
    /// Its own time only.
    Time,
    /// Anything.
    Any,
}

/// [`sync`], short where a thread meets what it knows, or releases again to where it was the last to release and has
/// learned nothing since. Answers what may have changed.
#[inline(always)]
pub fn sync_again(thread: &mut HbThread, op: SyncOp, object: &mut HbSync) -> Changed {
    match op {
        SyncOp::Acquire(_, Mode::Exclusive)
            if thread.has_all(&object.writers) && thread.has_all(object.readers.get()) =>
        {
            return Changed::Nothing;
        }
        SyncOp::Acquire(_, Mode::Shared) | SyncOp::Load(_) | SyncOp::Receive(_)
            if thread.has_all(&object.writers) =>
        {
            return Changed::Nothing;
        }
        SyncOp::Release(_, Mode::Exclusive)
            if object.readers.is_empty() && thread.release_again(&mut object.writers) =>
        {
            return Changed::Time;
        }
        SyncOp::Store(order) | SyncOp::Update(order)
            if order.releases() && thread.release_again(&mut object.writers) =>
        {
            return Changed::Time;
        }
        _ => {}
    }
    sync(thread, op, object);
    Changed::Any
}

/// Whether taking a lock in this mode tells the thread nothing.
#[inline(always)]
pub fn knows_lock(thread: &HbThread, object: &HbSync, mode: Mode) -> bool {
    thread.has_all(&object.writers) && (mode == Mode::Shared || thread.has_all(object.readers.get()))
}

/// Gives back a lock held alone, if the thread was the last to do so, no reader has since, and it has learned nothing. Whether it
/// was so; otherwise nothing was done.
#[inline(always)]
pub fn unlock_again(thread: &mut HbThread, object: &mut HbSync, mode: Mode) -> bool {
    mode == Mode::Exclusive && object.readers.is_empty() && thread.release_again(&mut object.writers)
}

/// Whether a load of an atomic tells the thread nothing.
#[inline(always)]
pub fn carries_nothing_new(thread: &HbThread, object: &HbSync) -> bool {
    thread.has_all(&object.writers)
}

/// A releasing store to an atomic, or update of it, if the thread was the last to release there and has learned nothing since.
/// Whether it was so; otherwise nothing was done.
#[inline(always)]
pub fn store_again(thread: &mut HbThread, object: &mut HbSync) -> bool {
    thread.release_again(&mut object.writers)
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
pub fn glimpse(thread: &mut HbThread, seen: &mut Published) {
    thread.glimpsed = thread.time;
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
        thread.learn(&child.known, child.epoch);
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

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_event::SyncId;

    const LOCK: SyncOp = SyncOp::Acquire(SyncId(0), Mode::Exclusive);
    const UNLOCK: SyncOp = SyncOp::Release(SyncId(0), Mode::Exclusive);

    fn threads<const N: usize>() -> [HbThread; N] {
        std::array::from_fn(|slot| HbThread::new(Slot(slot as u32), None))
    }

    #[test]
    fn a_lock_that_goes_round_carries_all_and_costs_one_copy_a_turn() {
        let mut all = threads::<3>();
        let mut lock = HbSync::default();
        for turn in 0..30 {
            let thread = &mut all[turn % 3];
            let before = thread.stats().clock_ops;
            sync(thread, LOCK, &mut lock);
            let mut expected = [1, 1, 1].map(|first| first + turn as u64 / 3);
            for (slot, time) in expected.iter_mut().enumerate() {
                // Those whose turn comes later in the round have one time less behind them.
                *time -= u64::from(slot > turn % 3);
            }
            for (slot, time) in expected.into_iter().enumerate() {
                assert_eq!(thread.get(Slot(slot as u32)), time, "turn {turn}, slot {slot}");
            }
            sync(thread, UNLOCK, &mut lock);
            if turn >= 3 {
                assert_eq!(thread.stats().clock_ops, before + 1);
            }
        }
    }

    #[test]
    fn what_is_known_from_elsewhere_is_kept_and_handed_on() {
        let [mut a, mut b, mut c] = threads();
        let (mut lock, mut other) = (HbSync::default(), HbSync::default());
        for thread in [&mut a, &mut b] {
            sync(thread, LOCK, &mut lock);
            sync(thread, UNLOCK, &mut lock);
        }
        let done = c.epoch();
        sync(&mut c, UNLOCK, &mut other);
        // `a` learns of `c`, then takes the lock, which knows all that `a` has released, but not that.
        sync(&mut a, LOCK, &mut other);
        sync(&mut a, LOCK, &mut lock);
        assert!(a.knows(done));
        sync(&mut a, UNLOCK, &mut lock);
        sync(&mut b, LOCK, &mut lock);
        assert!(b.knows(done));
    }

    #[test]
    fn what_is_learned_after_a_glimpse_belongs_to_another_time() {
        let [mut a, mut b, mut c] = threads();
        let (mut lock, mut other) = (HbSync::default(), HbSync::default());
        let mut seen = Published::default();
        glimpse(&mut a, &mut seen);
        receive(&mut b, &seen);
        let done = c.epoch();
        sync(&mut c, UNLOCK, &mut other);
        sync(&mut a, LOCK, &mut other);
        sync(&mut a, UNLOCK, &mut lock);
        assert!(!b.knows(done));
        sync(&mut b, LOCK, &mut lock);
        assert!(b.knows(done), "though it had seen something of that time of `a`");
    }
}
