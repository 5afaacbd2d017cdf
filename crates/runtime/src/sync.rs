//! Happens-before on the objects of the program: locks, conditions, barriers, atomics, each known by its address.
//!
//! The rules are `detect::hb`'s. Objects live in a table of shards; a shard's lock is held while a thread synchronises on
//! one of its objects, and for an atomic from before the real instruction until after the clocks have changed, so that
//! clocks change in the order in which values do; a load that tells nothing new goes without ([`crate::loads`]). In a serial
//! phase nothing need be done: whoever comes later knows all of it from its creation.
//!
//! An atomic that never carried a release has no object: spinning on it costs no more than a look. The object that was
//! looked for last in a shard is found without a search.

use crate::intercept::cancel;
use crate::spin::Wait;
use crate::thread::Thread;
use crate::vm::Table;
use crate::{heard, outside, record, tls};
use deadheat_abi::atomics::{Kind, Ordering as AbiOrder, What};
use deadheat_abi::spill::Kind as Recorded;
use deadheat_detect::hb::{self, Changed, HbSync};
use deadheat_event::{Mode, Order, SyncId, SyncOp};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cell::UnsafeCell;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, AtomicU64, AtomicUsize, Ordering};

const SHARDS: usize = 1024;

/// Part of the table. Its lock can be taken again by the thread that holds it: a signal handler may use an atomic of
/// the shard in which the interrupted code is in the middle of another.
#[repr(C, align(64))]
struct Shard {
    /// How often an object of an atomic has changed, times two: odd while somebody has the lock.
    changes: AtomicU64,
    /// The holder's `tls`, or 0.
    owner: AtomicUsize,
    /// How often the owner has it.
    depth: UnsafeCell<u32>,
    objects: UnsafeCell<Objects>,
    /// When something was last recorded of its objects.
    recorded: UnsafeCell<u64>,
}

/// Objects by their keys. What is needed every time comes first: it is in one line with the lock.
#[repr(C)]
struct Objects {
    /// The key that was found last, and where.
    last: (usize, NonNull<Object>),
    /// Each in a box, so that it stays where it is until it is removed.
    all: FxHashMap<usize, NonNull<Object>>,
}

/// An object, in a line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Object(HbSync);

const _: () = assert!(size_of::<Object>() == 64);

/// Of [`Shard::changes`].
const HELD: u64 = 1;

/// No object's key.
const NO_KEY: usize = usize::MAX;

impl Objects {
    const NONE: Objects = Objects {
        last: (NO_KEY, NonNull::dangling()),
        all: FxHashMap::with_hasher(FxBuildHasher),
    };

    /// The object, if there is one.
    #[inline(always)]
    fn find(&mut self, key: usize) -> Option<&mut HbSync> {
        if self.last.0 != key {
            self.last = (key, self.look_up(key)?);
        }
        // SAFETY: in its box; nobody else has the shard.
        Some(unsafe { &mut self.last.1.as_mut().0 })
    }

    #[inline(never)]
    fn look_up(&self, key: usize) -> Option<NonNull<Object>> {
        self.all.get(&key).copied()
    }

    /// The object, made if there was none.
    #[inline(always)]
    fn get(&mut self, key: usize) -> &mut HbSync {
        if self.last.0 != key {
            self.last = (key, self.look_up(key).unwrap_or_else(|| self.make(key)));
        }
        // SAFETY: as above.
        unsafe { &mut self.last.1.as_mut().0 }
    }

    #[cold]
    fn make(&mut self, key: usize) -> NonNull<Object> {
        count(key >> 1, 1);
        let object = NonNull::from(Box::leak(Box::<Object>::default()));
        self.all.insert(key, object);
        object
    }

    /// Whether there was one.
    fn remove(&mut self, key: usize) -> bool {
        let gone = self.all.remove(&key);
        if let Some(object) = gone {
            self.last.0 = NO_KEY;
            count(key >> 1, -1);
            // SAFETY: made by `make`, and known to nobody any more.
            drop(unsafe { Box::from_raw(object.as_ptr()) });
        }
        gone.is_some()
    }
}

// SAFETY: `depth`, `recorded` and `objects` are touched only by the owner.
unsafe impl Sync for Shard {}

static TABLE: [Shard; SHARDS] = [const {
    Shard {
        changes: AtomicU64::new(0),
        owner: AtomicUsize::new(0),
        depth: UnsafeCell::new(0),
        objects: UnsafeCell::new(Objects::NONE),
        recorded: UnsafeCell::new(0),
    }
}; SHARDS];

/// How many objects lie in each page of memory, and in each granule, by a hash: tells that memory which comes into being
/// has none to be forgotten.
static IN_PAGE: Counters<{ 1 << 16 }> = Counters(Table::new());
static IN_GRANULE: Counters<{ 1 << 22 }> = Counters(Table::new());

struct Counters<const N: usize>(Table<AtomicU16>);

impl<const N: usize> Counters<N> {
    fn at(&self, number: usize) -> &AtomicU16 {
        // SAFETY: within the table, which is mapped for good; zero bytes are an atomic.
        unsafe { &*self.0.at((number ^ number >> 16) % N, N) }
    }

    fn any(&self, number: usize) -> bool {
        self.at(number).load(Ordering::Relaxed) != 0
    }

    /// A counter that was full once stays: then memory is searched in vain, no more.
    fn add(&self, number: usize, by: i16) {
        let _ = self
            .at(number)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                (count != u16::MAX).then(|| count.saturating_add_signed(by))
            });
    }
}

fn count(addr: usize, by: i16) {
    IN_PAGE.add(addr >> 12, by);
    IN_GRANULE.add(addr >> 3, by);
}

/// Bytes in a row, aligned, whose objects are in one shard.
const IN_SHARD: usize = 4;

fn shard(addr: usize) -> &'static Shard {
    let hash = (addr as u64 / IN_SHARD as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    &TABLE[(hash >> 54) as usize % SHARDS]
}

impl Shard {
    /// Takes the lock. A thread that already holds another (only a signal handler does) does not wait for ever: two
    /// such threads could wait for each other.
    #[inline(always)]
    fn hold(&self, nested: bool) {
        if !self.hold_free() {
            self.wait(nested);
        }
    }

    /// Takes the lock if nobody has it.
    #[inline(always)]
    fn hold_free(&self) -> bool {
        let taken = self.changes.fetch_or(HELD, Ordering::Acquire) & HELD == 0;
        if taken {
            self.owner.store(tls::get().addr(), Ordering::Relaxed);
            // SAFETY: the lock is held.
            unsafe { *self.depth.get() = 1 };
        }
        taken
    }

    /// Takes the lock, which somebody had just now: this thread, maybe.
    #[inline(never)]
    fn wait(&self, nested: bool) {
        if self.owner.load(Ordering::Relaxed) != tls::get().addr() {
            let mut wait = Wait::default();
            while self.changes.load(Ordering::Relaxed) & HELD != 0 || !self.hold_free() {
                if wait.once() > 1 << 20 && nested {
                    // SAFETY: as good as held: the two threads are stopped by each other.
                    unsafe { *self.depth.get() += 1 };
                    return;
                }
            }
            return;
        }
        // SAFETY: the lock is held.
        unsafe { *self.depth.get() += 1 };
    }

    /// What an atomic of the shard, which is held, carries has changed.
    #[inline(always)]
    fn change(&self) {
        let changes = self.changes.load(Ordering::Relaxed);
        self.changes.store(changes.wrapping_add(2), Ordering::Relaxed);
    }

    /// Gives the lock back. The number of changes: odd if it is held still.
    #[inline]
    fn let_go(&self) -> u64 {
        // SAFETY: the lock is held.
        let depth = unsafe {
            let depth = &mut *self.depth.get();
            *depth = depth.saturating_sub(1);
            *depth
        };
        let mut changes = self.changes.load(Ordering::Relaxed);
        if depth == 0 {
            changes &= !HELD;
            self.owner.store(0, Ordering::Relaxed);
            self.changes.store(changes, Ordering::Release);
        }
        changes
    }

    /// The objects.
    ///
    /// # Safety
    /// The lock is held, and nobody else in this thread has them.
    #[allow(clippy::mut_from_ref, reason = "who holds the lock has them")]
    #[inline(always)]
    unsafe fn objects(&self) -> &mut Objects {
        // SAFETY: as the caller promises.
        unsafe { &mut *self.objects.get() }
    }
}

/// Takes all locks, before a `fork`.
pub fn hold_all() {
    TABLE.iter().for_each(|shard| shard.hold(false));
}

/// Gives them back, after it.
pub fn let_go_all() {
    TABLE.iter().for_each(|shard| {
        shard.let_go();
    });
}

/// How often what the atomic at `addr` carries has changed, or what others do. Odd while it may.
#[inline(always)]
pub fn changes(addr: usize) -> &'static AtomicU64 {
    &shard(addr).changes
}

/// Locks and atomics at one address are different objects.
fn key(addr: usize, atomic: bool) -> usize {
    addr << 1 | usize::from(atomic)
}

/// Some operations take only: where there is no object they find nothing.
#[inline(always)]
fn takes(op: SyncOp) -> bool {
    matches!(op, SyncOp::Acquire(..) | SyncOp::Receive(_) | SyncOp::Leave(_))
}

fn on(t: &mut Thread, addr: usize, op: SyncOp) {
    if t.serial {
        return;
    }
    let shard = shard(addr);
    shard.hold(t.atomics > 0);
    on_held(t, addr, op);
    shard.let_go();
}

/// The same where the thread has the shard.
#[inline(never)]
fn on_held(t: &mut Thread, addr: usize, op: SyncOp) {
    let (shard, key) = (shard(addr), key(addr, false));
    // SAFETY: the lock is held, and `hb::sync` knows nothing of shards.
    let objects = unsafe { shard.objects() };
    // What is recorded has an object, so that its end is recorded, too.
    let object = if !takes(op) || t.log.on {
        Some(objects.get(key))
    } else {
        objects.find(key)
    };
    let changed = object.map_or(Changed::Nothing, |object| hb::sync_again(&mut t.hb, op, object));
    if t.log.on {
        // SAFETY: as above.
        unsafe { record::sync(t, recorded_as(op), addr, &mut *shard.recorded.get()) };
    }
    t.refresh_after(changed);
}

fn recorded_as(op: SyncOp) -> Recorded {
    match op {
        SyncOp::Acquire(_, Mode::Exclusive) => Recorded::Acquire,
        SyncOp::Acquire(_, Mode::Shared) => Recorded::AcquireShared,
        SyncOp::Release(..) => Recorded::Release,
        SyncOp::Enter(_) => Recorded::Enter,
        SyncOp::Leave(_) => Recorded::Leave,
        SyncOp::Receive(_) => Recorded::Receive,
        _ => Recorded::Send,
    }
}

/// The thread has taken the lock at `addr`.
#[inline(always)]
pub fn acquire(t: &mut Thread, addr: usize, mode: Mode) {
    if t.serial || t.log.on {
        return on(t, addr, SyncOp::Acquire(SyncId(addr as u64), mode));
    }
    let shard = shard(addr);
    shard.hold(t.atomics > 0);
    // SAFETY: the lock is held.
    let object = unsafe { shard.objects() }.find(key(addr, false));
    let news = object.is_some_and(|object| !hb::knows_lock(&t.hb, object, mode));
    if news {
        on_held(t, addr, SyncOp::Acquire(SyncId(addr as u64), mode));
    }
    shard.let_go();
}

/// The thread is about to give back the lock at `addr`, which it has in `mode`.
#[inline(always)]
pub fn release(t: &mut Thread, addr: usize, mode: Mode) {
    t.renew();
    if t.serial || t.log.on {
        return on(t, addr, SyncOp::Release(SyncId(addr as u64), mode));
    }
    let shard = shard(addr);
    shard.hold(t.atomics > 0);
    // SAFETY: the lock is held.
    let object = unsafe { shard.objects() }.find(key(addr, false));
    if object.is_some_and(|object| hb::unlock_again(&mut t.hb, object, mode)) {
        t.refresh_time();
    } else {
        on_held(t, addr, SyncOp::Release(SyncId(addr as u64), mode));
    }
    shard.let_go();
}

/// What the thread did happens before every later [`receive`] on `addr`.
pub fn send(t: &mut Thread, addr: usize) {
    t.renew();
    on(t, addr, SyncOp::Send(SyncId(addr as u64)));
}

/// Every [`send`] on `addr` so far happens before what the thread does next.
pub fn receive(t: &mut Thread, addr: usize) {
    on(t, addr, SyncOp::Receive(SyncId(addr as u64)));
}

/// The thread reaches the barrier at `addr`.
pub fn enter(t: &mut Thread, addr: usize) {
    t.renew();
    on(t, addr, SyncOp::Enter(SyncId(addr as u64)));
}

/// The thread goes on from it.
pub fn leave(t: &mut Thread, addr: usize) {
    on(t, addr, SyncOp::Leave(SyncId(addr as u64)));
    heard::say(t);
}

/// The object at `addr` is no more.
pub fn forget(t: &mut Thread, addr: usize) {
    if IN_GRANULE.any(addr >> 3) {
        forget_all(t, addr..addr + 1);
    }
}

/// The objects at these addresses, all of one shard, are no more.
fn forget_all(t: &mut Thread, addrs: Range<usize>) {
    let shard = shard(addrs.start);
    shard.hold(false);
    for addr in addrs {
        let mut any = false;
        for atomic in [false, true] {
            // SAFETY: the lock is held.
            any |= unsafe { shard.objects() }.remove(key(addr, atomic));
        }
        if any {
            shard.change();
            // SAFETY: the lock is held.
            unsafe { record::sync(t, Recorded::Forget, addr, &mut *shard.recorded.get()) };
            // Mostly a granule has one.
            if !IN_GRANULE.any(addr >> 3) {
                break;
            }
        }
    }
    shard.let_go();
}

/// Memory comes into being: the objects that were in it are no more.
pub fn forget_range(t: &mut Thread, addr: usize, len: usize) {
    each_in(addr, addr + len, |addrs| forget_all(t, addrs));
}

/// Calls `f` with all addresses where there may be an object, from the granule of `at` on: with so many at once as are of one shard.
fn each_in(mut at: usize, end: usize, mut f: impl FnMut(Range<usize>)) {
    while at < end {
        let page = (at | 0xfff) + 1;
        if IN_PAGE.any(at >> 12) {
            for granule in at >> 3..page.min(end).div_ceil(8) {
                // The first part may have been all there was.
                for part in [granule << 3, (granule << 3) + IN_SHARD] {
                    if IN_GRANULE.any(granule) {
                        f(part..part + IN_SHARD);
                    }
                }
            }
        }
        at = page;
    }
}

/// Adds what the atomics in a piece of memory carry.
pub fn carried_in(t: &Thread, start: usize, end: usize, to: &mut HbSync) {
    each_in(start, end, |addrs| {
        let shard = shard(addrs.start);
        shard.hold(t.atomics > 0);
        for addr in addrs {
            // SAFETY: the lock is held.
            if let Some(object) = unsafe { shard.objects() }.find(key(addr, true)) {
                hb::merge(to, object);
            }
        }
        shard.let_go();
    });
}

/// All atomics that carry something, by their addresses.
pub fn carriers(t: &Thread) -> Vec<usize> {
    let mut all = Vec::new();
    for shard in &TABLE {
        shard.hold(t.atomics > 0);
        // SAFETY: the lock is held.
        let keys = unsafe { shard.objects() }.all.keys();
        all.extend(keys.filter(|key| *key & 1 != 0).map(|key| key >> 1));
        shard.let_go();
    }
    all
}

/// An ordering as `event` has it.
pub fn order(order: AbiOrder) -> Order {
    match order {
        AbiOrder::Relaxed => Order::Relaxed,
        AbiOrder::Acquire => Order::Acquire,
        AbiOrder::Release => Order::Release,
        AbiOrder::AcqRel => Order::AcqRel,
        AbiOrder::SeqCst => Order::SeqCst,
    }
}

/// An atomic operation on `addr` follows.
#[inline(always)]
pub fn begin_atomic(t: &mut Thread, addr: usize) {
    // Mostly nobody has the shard, and there is nothing else to be thought of.
    if t.serial || t.log.on || outside::any() || cancel::any() || !shard(addr).hold_free() {
        return begin_any_atomic(t, addr);
    }
    t.atomics += 1;
    t.touching <<= 1;
}

#[inline(never)]
fn begin_any_atomic(t: &mut Thread, addr: usize) {
    if !t.serial {
        if t.log.on && t.log.steered.is_some() {
            crate::steer::atomic(t, addr);
        }
        // Not later, when the shard is held.
        if cancel::any() && t.atomics == 0 {
            cancel::come_behind(t);
        }
        shard(addr).hold(t.atomics > 0);
        record::begin_atomic(t);
        t.atomics += 1;
        t.touching = t.touching << 1 | u64::from(outside::begin_touch(addr));
    }
}

/// Waits until all atomic operations are over that other threads are in now. Who is in one itself does not wait.
pub fn pass(t: &Thread) {
    if t.atomics > 0 {
        return;
    }
    for shard in &TABLE {
        let held = shard.changes.load(Ordering::SeqCst);
        let mut wait = Wait::default();
        while held & HELD != 0 && shard.changes.load(Ordering::SeqCst) == held {
            // It may be stopped, or use one atomic again and again.
            if wait.once() > 1 << 12 {
                break;
            }
        }
    }
}

/// The operation is done: what it acquired is ordered before `check`, which checks its access, and that before what it
/// released.
#[inline(always)]
pub fn end_atomic(t: &mut Thread, addr: usize, what: What, check: impl FnOnce(&mut Thread)) {
    if t.serial {
        return;
    }
    let shard = shard(addr);
    let (order, key) = (order(what.order), key(addr, true));
    if what.kind != Kind::Store {
        // SAFETY: `begin_atomic` took the lock, here and below.
        let object = unsafe { shard.objects() }.find(key);
        let news = object.is_some_and(|object| !hb::carries_nothing_new(&t.hb, object));
        if news || outside::any() {
            loaded(t, addr, order);
        }
    }
    check(t);
    if what.kind != Kind::Load {
        // SAFETY: as above.
        let object = unsafe { shard.objects() }.find(key);
        let releases = order.releases();
        if releases
            && !outside::any()
            && !t.is_worn()
            && let Some(object) = object
        {
            if hb::store_again(&mut t.hb, object) {
                t.refresh_time();
            } else {
                stored(t, addr, what.kind, order);
            }
            shard.change();
        } else if releases || t.fenced || object.is_some() {
            stored(t, addr, what.kind, order);
            shard.change();
        }
    }
    t.atomics -= 1;
    if t.touching & 1 != 0 {
        outside::end_touch();
    }
    t.touching >>= 1;
    let changes = shard.let_go();
    // Who updates an atomic seldom loads it next.
    if changes & HELD == 0 && what.kind != Kind::Update {
        // What the thread has stored it knew.
        let acquired = what.kind == Kind::Store || order.acquires();
        t.loads.learn(addr, changes, acquired);
    }
    if t.atomics == 0 && t.calls.has_stored() {
        outside::links::follow(t);
    }
}

/// What a load, or the first half of an update, does to the thread's clock. The shard is held.
#[inline(never)]
fn loaded(t: &mut Thread, addr: usize, order: Order) {
    let op = SyncOp::Load(order);
    // SAFETY: the lock is held.
    let object = unsafe { shard(addr).objects() }.find(key(addr, true));
    let mut changed = object.map_or(Changed::Nothing, |object| hb::sync_again(&mut t.hb, op, object));
    if outside::touch(t, addr, op) {
        changed = Changed::Any;
    }
    // The check uses what was learned.
    t.refresh_after(changed);
}

/// What a store, or the second half of an update, does to the clocks. The shard is held.
#[inline(never)]
fn stored(t: &mut Thread, addr: usize, kind: Kind, order: Order) {
    if order.releases() {
        t.renew_term();
    }
    let op = if kind == Kind::Store {
        SyncOp::Store(order)
    } else {
        SyncOp::Update(order)
    };
    let carries = order.releases() || t.fenced;
    // SAFETY: the lock is held.
    let objects = unsafe { shard(addr).objects() };
    let object = if carries {
        Some(objects.get(key(addr, true)))
    } else {
        objects.find(key(addr, true))
    };
    let mut changed = object.map_or(Changed::Nothing, |object| hb::sync_again(&mut t.hb, op, object));
    if carries && outside::touch(t, addr, SyncOp::Update(order)) {
        changed = Changed::Any;
    }
    t.refresh_after(changed);
}

/// The thread has issued a fence.
pub fn fence(t: &mut Thread, order: Order) {
    if t.serial {
        return;
    }
    if order.releases() {
        t.renew();
        t.fenced = true;
    }
    hb::fence(&mut t.hb, order);
    record::fence(t, order);
    t.refresh();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell;
    use crate::registry::ThreadRef;
    use crate::terms::tests as terms;
    use deadheat_detect::hb::HbThread;
    use deadheat_event::Slot;
    use std::collections::HashSet;

    fn two() -> (Thread, Thread) {
        let thread = |slot| Thread::new(slot, HbThread::after(Slot(slot), 0), true);
        (thread(1), thread(2))
    }

    fn what(kind: Kind, order: AbiOrder) -> What {
        What { size: 4, kind, order }
    }

    fn atomic(t: &mut Thread, addr: usize, what: What) {
        begin_atomic(t, addr);
        end_atomic(t, addr, what, |_| ());
    }

    #[test]
    fn a_lock_orders_who_had_it_before_who_gets_it() {
        let (mut a, mut b) = two();
        let before = a.hb.epoch();
        release(&mut a, 0x1000, Mode::Exclusive);
        assert_ne!(a.hb.epoch(), before);
        assert!(!b.hb.knows(before));
        acquire(&mut b, 0x1000, Mode::Exclusive);
        assert!(b.hb.knows(before));
        assert_eq!(a.reference(), ThreadRef(1));
    }

    #[test]
    fn an_atomic_store_orders_by_its_ordering_and_its_fence() {
        use AbiOrder::{Acquire, Relaxed, Release};
        for (addr, store, fenced, load, ordered) in [
            (0x2000, Release, false, Acquire, true),
            (0x2004, Relaxed, false, Acquire, false),
            (0x2008, Relaxed, true, Acquire, true),
            (0x200c, Release, false, Relaxed, false),
        ] {
            let (mut a, mut b) = two();
            let before = a.hb.epoch();
            if fenced {
                fence(&mut a, Order::Release);
            }
            atomic(&mut a, addr, what(Kind::Store, store));
            atomic(&mut b, addr, what(Kind::Load, load));
            assert_eq!(b.hb.knows(before), ordered, "{store:?} {fenced} {load:?}");
            if !ordered && store == Release {
                fence(&mut b, Order::Acquire);
                assert!(b.hb.knows(before));
            }
        }
    }

    #[test]
    fn the_short_cut_sees_what_a_load_has_learned() {
        let (mut a, mut b) = two();
        atomic(&mut b, 0x5000, what(Kind::Store, AbiOrder::Release));
        atomic(&mut a, 0x5000, what(Kind::Load, AbiOrder::Acquire));
        let times = a.hb.times();
        assert_eq!(times.len(), 3);
        assert_eq!((a.times, a.times_len), (times.as_ptr(), times.len()));
    }

    #[test]
    fn who_goes_on_in_another_term_is_the_same_for_clocks() {
        let _alone = terms::alone();
        let [mut a, mut b] = [terms::FIRST, terms::FIRST + 1]
            .map(|slot| Thread::new(slot, HbThread::after(Slot(slot), 0), true));
        let mut words = Vec::new();
        for _ in 0..100 {
            words.push(a.epoch);
            a.worn = 0;
            release(&mut a, 0x3800, Mode::Exclusive);
        }
        let terms: HashSet<u32> = words.iter().map(|word| cell::term(*word)).collect();
        assert_eq!(terms.len(), 100, "each was of another term");
        assert!(words.iter().all(|word| !cell::knows(&b, *word)));
        acquire(&mut b, 0x3800, Mode::Exclusive);
        assert!(words.iter().all(|word| cell::knows(&b, *word)));
        assert!(!cell::knows(&b, a.epoch));
        assert_eq!(b.hb.times().len() as u32, terms::FIRST + 2);
    }

    #[test]
    fn memory_that_comes_into_being_has_no_objects() {
        let (mut a, mut b) = two();
        let before = a.hb.epoch();
        release(&mut a, 0x3010, Mode::Exclusive);
        forget_range(&mut a, 0x3000, 0x40);
        acquire(&mut b, 0x3010, Mode::Exclusive);
        assert!(!b.hb.knows(before));
    }

    #[test]
    fn a_handler_may_use_the_atomic_that_it_interrupted() {
        let (mut a, _) = two();
        begin_atomic(&mut a, 0x4000);
        atomic(&mut a, 0x4000, what(Kind::Update, AbiOrder::AcqRel));
        end_atomic(&mut a, 0x4000, what(Kind::Load, AbiOrder::Relaxed), |_| ());
        assert_eq!(a.atomics, 0);
        assert_eq!(shard(0x4000).owner.load(Ordering::Relaxed), 0);
    }
}
