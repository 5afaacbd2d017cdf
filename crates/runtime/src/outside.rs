//! Calls into code that is not instrumented: RDIT's BarrierPairs (§4.2), on the fly.
//!
//! Such code may synchronise threads by means that nobody sees, but only by memory that it can reach: from its arguments.
//! So a call is a pair of events, begin and end, on the objects reachable from there, and what threads do is ordered
//! through an object as it was observed: all that a thread did before a call that reaches it *begins*, and in callbacks
//! out of it, happens before what another does after its own call *ends* (or in its callbacks). Edges too many hide races
//! and make none up; calls that reach nothing in common order nothing.
//!
//! | RDIT's caveat | here |
//! |---|---|
//! | 1 calls overlap | what was done before a call is left at its objects when it begins, what others left is taken when it ends |
//! | 2 events in between | callbacks: a thread with an open call takes before a race is told ([`settle`]), and gives at the end of the call; what it did until now is taken by others at any time |
//! | 3 ordinary accesses | only an atomic access can learn what a call left in memory, or tell it something, so only those are ordered ([`touch`]) |
//! | 4 chains | clocks are transitive |
//!
//! An **object** is a heap block, the stack of a thread, the writable static data of a module, or all other memory. Objects
//! are found by looking for addresses in the arguments, then in the blocks they lead to, as a conservative garbage
//! collector does, up to a number of them (`reach.rs`); a call that reaches more is *wide* and ordered with all others.
//! A call without a pointer works on the library's own state, which is an object, too.
//!
//! Left out, for the runtime knows what they do: libc, libm, libstdc++ and the like (`library.rs`).

mod library;
mod reach;

use crate::cell::Found;
use crate::channel;
use crate::registry::SLOTS;
use crate::rules::Action;
use crate::spin::Spin;
use crate::thread::Thread;
use deadheat_abi::callee::{self, Callee};
use deadheat_detect::clock::Epoch;
use deadheat_detect::hb::{self, HbSync};
use deadheat_event::{Slot, SyncId, SyncOp};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub use library::forget as forget_libraries;
pub use reach::may_disappear;

/// Stack pointers that are further apart belong to different stacks.
const STACK: usize = 8 << 20;

/// What a call may synchronise through. Heap blocks are known by their address, a multiple of 16; the rest of the word tells
/// the others apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key(usize);

impl Key {
    /// Memory that is none of the others.
    const REST: Key = Key(3);
    /// What wide calls leave, and everybody takes.
    const WIDE: Key = Key(5);
    /// What everybody leaves, and wide calls take.
    const ALL: Key = Key(7);

    fn block(start: usize) -> Key {
        Key(start)
    }

    fn stack(top: usize) -> Key {
        Key(top & !0xf | 1)
    }

    fn data(start: usize) -> Key {
        Key(start & !0xf | 2)
    }

    fn library(start: usize) -> Key {
        Key(start & !0xf | 4)
    }

    fn is_block(self) -> bool {
        self.0 & 0xf == 0
    }
}

#[derive(Default)]
struct Object {
    left: HbSync,
    /// Slots of threads in calls that reach it.
    open: Vec<u32>,
}

const SHARDS: usize = 256;

static TABLE: [Spin<Option<FxHashMap<Key, Object>>>; SHARDS] = [const { Spin::new(None) }; SHARDS];

/// Whether there was a call that reached anything, and a wide one.
static ANY: AtomicBool = AtomicBool::new(false);
static WIDE: AtomicBool = AtomicBool::new(false);

/// The time of each thread that is in a call, by its slot.
static LIVE: [AtomicU64; SLOTS as usize] = [const { AtomicU64::new(0) }; SLOTS as usize];

fn with<R>(key: Key, f: impl FnOnce(&mut FxHashMap<Key, Object>) -> R) -> R {
    let hash = (key.0 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    f(TABLE[(hash >> 56) as usize % SHARDS]
        .lock()
        .get_or_insert_default())
}

/// Takes all locks, before a `fork`.
pub fn hold() {
    TABLE.iter().for_each(Spin::hold);
    library::hold();
}

/// Gives them back, after it.
pub fn let_go() {
    library::let_go();
    TABLE.iter().for_each(Spin::let_go);
}

/// After a `fork`, in the child: what the others did lies behind this thread, and they are in no calls.
pub fn child() {
    TABLE.iter().for_each(|shard| *shard.lock() = None);
    reach::child();
}

/// A call that has begun.
pub struct Call {
    callee: *const Callee,
    /// How high the stack was, to tell a call that was unwound: `usize::MAX` for a thread that began outside.
    sp: usize,
    /// Its arguments.
    roots: Vec<usize>,
    /// The library's own state, if it counts.
    library: Option<Key>,
    /// What it reached when it began; `None` if that is too much to know.
    reached: Option<Vec<Key>>,
}

/// Calls of a thread.
#[derive(Default)]
pub struct Calls {
    /// Those that have not ended, outermost first.
    open: Vec<Call>,
    /// Arguments of the next, as far as they are told.
    arguments: Vec<usize>,
}

impl Calls {
    /// Whether the thread is in one.
    #[inline]
    pub fn any(&self) -> bool {
        !self.open.is_empty()
    }
}

/// The thread, which is in a call, has come to a new time.
pub fn live(slot: Slot, time: u64) {
    if let Some(live) = LIVE.get(slot.0 as usize) {
        live.store(time, Ordering::Relaxed);
    }
}

/// More arguments of the call that begins next.
pub fn arguments(t: &mut Thread, pointers: [usize; callee::POINTERS]) {
    let there = pointers.into_iter().filter(|pointer| *pointer != 0);
    t.calls.arguments.extend(there);
}

/// A call begins.
pub fn begin(t: &mut Thread, callee: &Callee, pointers: [usize; callee::POINTERS], sp: usize) {
    arguments(t, pointers);
    let roots = std::mem::take(&mut t.calls.arguments);
    let state = match callee.state.load(Ordering::Relaxed) {
        callee::UNKNOWN => library::classify(callee),
        known => known,
    };
    let Some(treated) = library::Treated::unpack(state) else {
        return;
    };
    end_unwound(t, sp);
    let library = (treated.globals || roots.is_empty()).then_some(Key::library(treated.library));
    open(t, callee, sp, roots, library);
}

/// A thread begins, with this argument. If its first function is not instrumented, all of it is one call.
pub fn begin_thread(t: &mut Thread, routine: usize, argument: usize) {
    if channel::options().external == Action::Order
        && let Some(library) = library::outside(routine)
    {
        let own = Some(Key::library(library));
        open(t, std::ptr::null(), usize::MAX, vec![argument], own);
    }
}

fn open(t: &mut Thread, callee: *const Callee, sp: usize, roots: Vec<usize>, library: Option<Key>) {
    let mut call = Call {
        callee,
        sp,
        roots,
        library,
        reached: Some(Vec::new()),
    };
    // Whoever comes later knows what happens in a serial phase. If the call itself ends it, `settle` looks anew.
    if !t.serial {
        call.reached = reach::from(t, &call);
        give(t, &call, true);
    }
    t.calls.open.push(call);
    live(t.hb.slot(), t.hb.time());
}

/// A call has returned.
pub fn end(t: &mut Thread, callee: *const Callee, sp: usize) {
    let is_it = |call: &Call| call.callee == callee && call.sp == sp;
    if let Some(at) = t.calls.open.iter().rposition(is_it) {
        end_from(t, at);
    }
}

/// The thread ends, and so do its calls.
pub fn end_thread(t: &mut Thread) {
    end_from(t, 0);
}

/// Ends calls that were left by an exception or a jump: the frame that made them makes another, or is gone.
fn end_unwound(t: &mut Thread, sp: usize) {
    let gone = |call: &Call| call.sp <= sp && sp - call.sp < STACK;
    if let Some(first) = t.calls.open.iter().position(gone) {
        end_from(t, first);
    }
}

/// Ends calls, the innermost first.
fn end_from(t: &mut Thread, first: usize) {
    while t.calls.open.len() > first
        && let Some(call) = t.calls.open.pop()
    {
        if !t.serial {
            take(t, &call);
            give(t, &call, false);
        }
        for key in call.keys() {
            with(key, |objects| {
                if let Some(object) = objects.get_mut(&key)
                    && let Some(at) = object.open.iter().position(|slot| *slot == t.hb.slot().0)
                {
                    object.open.swap_remove(at);
                }
            });
        }
    }
}

impl Call {
    /// Where it leaves what was done before it.
    fn keys(&self) -> impl Iterator<Item = Key> {
        let wide = self.reached.is_none().then_some(Key::WIDE);
        let all = WIDE.load(Ordering::SeqCst).then_some(Key::ALL);
        let reached = self.reached.iter().flatten().copied();
        reached.chain(wide).chain(all)
    }
}

/// Leaves what the thread has done so far at the objects of a call.
fn give(t: &mut Thread, call: &Call, opens: bool) {
    t.renew();
    let published = hb::publish(&mut t.hb);
    t.refresh();
    for key in call.keys() {
        with(key, |objects| {
            let object = objects.entry(key).or_default();
            hb::leave(&mut object.left, &published);
            if opens {
                object.open.push(t.hb.slot().0);
            }
        });
    }
    ANY.store(true, Ordering::SeqCst);
}

/// Takes what others have left at the objects of a call.
fn take(t: &mut Thread, call: &Call) {
    let reached = call.reached.iter().flatten().copied();
    let all = call.reached.is_none().then_some(Key::ALL);
    let wide = WIDE.load(Ordering::SeqCst).then_some(Key::WIDE);
    for key in reached.chain(all).chain(wide) {
        with(key, |objects| {
            let Some(object) = objects.get_mut(&key) else {
                return;
            };
            hb::sync(&mut t.hb, SyncOp::Receive(SyncId(0)), &mut object.left);
            for &slot in &object.open {
                if let Some(live) = LIVE.get(slot as usize) {
                    hb::observe(&mut t.hb, Slot(slot), live.load(Ordering::Relaxed));
                }
            }
        });
    }
    t.refresh();
}

/// The first wide call takes what was left anywhere before.
fn first_wide() {
    if WIDE.swap(true, Ordering::SeqCst) {
        return;
    }
    let mut all = HbSync::default();
    for shard in &TABLE {
        for (key, object) in shard.lock().iter().flatten() {
            if *key != Key::ALL {
                hb::merge(&mut all, &object.left);
            }
        }
    }
    with(Key::ALL, |objects| {
        hb::merge(&mut objects.entry(Key::ALL).or_default().left, &all);
    });
}

/// Before races are told that the thread found just now: if it is in a callback, what the code around it may have learned
/// counts. Answers with those that are left.
pub fn settle(t: &mut Thread, found: &[Found]) -> Vec<Found> {
    for at in 0..t.calls.open.len() {
        let mut call = std::mem::replace(&mut t.calls.open[at], Call::none());
        // What it reaches may be another by now.
        if !t.serial {
            let before = call.reached.take();
            call.reached = reach::from(t, &call);
            take(t, &call);
            // Marks were put where it began.
            call.reached = before;
        }
        t.calls.open[at] = call;
    }
    let ordered = |found: &&Found| t.hb.knows(Epoch::new(found.prior.slot, found.prior.timestamp));
    found.iter().filter(|found| !ordered(found)).copied().collect()
}

/// An atomic access to memory that a call may have reached: it may learn from that call, and what it writes may tell the
/// next.
pub fn touch(t: &mut Thread, addr: usize, op: SyncOp) {
    if !ANY.load(Ordering::Relaxed) || !reach::may_touch(addr) {
        return;
    }
    let Some(key) = reach::key_of(t, addr) else { return };
    with(key, |objects| {
        if let Some(object) = objects.get_mut(&key) {
            hb::sync(&mut t.hb, op, &mut object.left);
        }
    });
}

/// The block that begins here is another one now.
pub fn forget(addr: usize) {
    if ANY.load(Ordering::Relaxed) && reach::may_touch(addr) {
        let key = Key::block(addr);
        with(key, |objects| objects.remove(&key));
    }
}

impl Call {
    fn none() -> Call {
        Call {
            callee: std::ptr::null(),
            sp: 0,
            roots: Vec::new(),
            library: None,
            reached: None,
        }
    }
}
