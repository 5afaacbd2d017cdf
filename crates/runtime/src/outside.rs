//! Calls into code that is not instrumented: RDIT's BarrierPairs (§4.2), on the fly.
//!
//! Such code may synchronise threads by means that nobody sees, but only by memory that it can reach: its arguments and the
//! library's own state. So a call is a pair of events, begin and end, on the objects that it reaches, and what threads do
//! is ordered through an object as it was observed: all that a thread did before a call that reaches it *begins*, and in
//! callbacks out of it, happens before what another does after its own call *ends* (or in its callbacks). Edges too many
//! hide races and make none up; calls that reach nothing in common order nothing.
//!
//! | RDIT's caveat | here |
//! |---|---|
//! | 1 calls overlap | what was done before a call is left at its objects when it begins, what others left is taken when it ends |
//! | 2 events in between | callbacks: a thread with an open call takes before a race is told ([`settle`]), and gives at the end of the call; what it did until now is taken by others at any time |
//! | 3 ordinary accesses | only an atomic access can learn what a call left in memory, or tell it something, so only those are ordered ([`touch`]) |
//! | 4 chains | clocks are transitive |
//!
//! An **object** is a heap block, the stack of a thread, the writable static data of a module, the own state of a library, or all
//! other memory. Objects are found by looking for addresses in the arguments, then in the blocks they lead to, as a
//! conservative garbage collector does (`reach.rs`, and `lately.rs` for the same arguments again). A call that reaches too
//! many, or more memory than can be looked at, is *wide*, and ordered with all others and with all atomics.
//!
//! An object that only one thread's calls have reached is that thread's **own**: nothing is left there or taken. The thread
//! says in one place, for all of them, what it did before its last call ([`PUBLISHED`]); whoever comes second finds it
//! there, and the object is shared from then on.
//!
//! Left out, for the runtime knows what they do: libc, libm, libstdc++ and the like (`library.rs`). But calls of `dlopen` and
//! `dlclose` are pairs on what is loaded ([`Key::LOADER`]), because constructors and destructors of libraries run in them, and a
//! `dlsym` that finds a function comes after those. (Replacing `dlopen` would change whose `RUNPATH` counts.)

mod elsewhere;
mod exact;
mod lately;
mod library;
pub mod links;
pub mod mappings;
pub mod objects;
mod pages;
mod reach;
pub mod recorded;
pub mod rings;
mod touches;
mod variables;

use crate::cell::Found;
use crate::channel;
use crate::record;
use crate::registry::SLOTS;
use crate::rules::Action;
use crate::spin::Spin;
use crate::sync;
use crate::thread::Thread;
use deadheat_abi::callee::{self, Callee};
use deadheat_detect::clock::Epoch;
use deadheat_detect::hb::{self, HbSync, Published};
use deadheat_event::{SyncId, SyncOp};
use lately::Lately;
use library::Works;
use links::Watch;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

pub use library::{at, forget as forget_libraries};
pub use reach::{hide, may_disappear, show};
use touches::see_touches;
pub use touches::{begin_touch, end_touch, touch};

/// Stack pointers that are further apart belong to different stacks.
const STACK: usize = 8 << 20;
/// A call that shares more objects than this with others counts as wide.
const SHARED: usize = 64;

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
    /// What is loaded: where calls of the loader meet.
    const LOADER: Key = Key(9);
    /// All rings of `io_uring`.
    const RINGS: Key = Key(11);
    /// What libc's functions tell each other by way of the kernel, for recordings.
    const KERNEL: Key = Key(13);

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

struct Object {
    /// The slot of the only thread whose calls have reached it, or [`NOBODY`].
    owner: u32,
    /// What was done before calls that reach it; nothing while it has an owner.
    left: HbSync,
    /// Threads in calls that reach it.
    open: Vec<Inside>,
}

/// A thread by its slot, and which of its outermost calls it was in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inside(u32, u32);

impl Inside {
    fn of(slot: u32) -> Inside {
        let number = OUTERMOST.get(slot as usize);
        Inside(slot, number.map_or(0, |number| number.load(Ordering::SeqCst)))
    }

    /// Whether the thread is still there.
    fn still(self) -> bool {
        let inside = IN_CALL.get(self.0 as usize);
        inside.is_some_and(|inside| inside.load(Ordering::SeqCst)) && self == Inside::of(self.0)
    }
}

const NOBODY: u32 = u32::MAX;

impl Object {
    fn of(slot: u32) -> Object {
        Object {
            owner: if slot < SLOTS { slot } else { NOBODY },
            left: HbSync::default(),
            open: Vec::new(),
        }
    }

    fn shared() -> Object {
        Object::of(NOBODY)
    }
}

const SHARDS: usize = 256;

static TABLE: [Spin<Option<FxHashMap<Key, Object>>>; SHARDS] = [const { Spin::new(None) }; SHARDS];

/// By slot: what the thread did before its last call ended; while it is in one, all that it has done.
static PUBLISHED: [Spin<Option<Published>>; SLOTS as usize] = [const { Spin::new(None) }; SLOTS as usize];
/// By slot: how many of its own objects have become shared.
static STOLEN: [AtomicU32; SLOTS as usize] = [const { AtomicU32::new(0) }; SLOTS as usize];
/// By slot: how many outermost calls have begun.
static OUTERMOST: [AtomicU32; SLOTS as usize] = [const { AtomicU32::new(0) }; SLOTS as usize];
/// By slot: whether the thread is in a call.
static IN_CALL: [AtomicBool; SLOTS as usize] = [const { AtomicBool::new(false) }; SLOTS as usize];

/// Whether there was a call that reached anything, and a wide one.
static ANY: AtomicBool = AtomicBool::new(false);
static WIDE: AtomicBool = AtomicBool::new(false);

/// Whether there was ever a call that reached anything. Until then atomics have nobody to tell.
#[inline(always)]
pub fn any() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// How many atomic operations are under way on what calls may reach.
static TOUCHING: AtomicU32 = AtomicU32::new(0);
/// Whether what was left before the first wide call is where such calls find it.
static GATHERED: Spin<bool> = Spin::new(false);

fn with<R>(key: Key, f: impl FnOnce(&mut FxHashMap<Key, Object>) -> R) -> R {
    f(TABLE[shard(key)].lock().get_or_insert_default())
}

fn shard(key: Key) -> usize {
    let hash = (key.0 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> 56) as usize % SHARDS
}

/// Takes all locks, before a `fork`.
pub fn hold() {
    GATHERED.hold();
    TABLE.iter().for_each(Spin::hold);
    PUBLISHED.iter().for_each(Spin::hold);
    links::hold();
    lately::hold();
    library::hold();
    mappings::hold();
    reach::hold();
    rings::hold();
    variables::hold();
}

/// Gives them back, after it.
pub fn let_go() {
    variables::let_go();
    rings::let_go();
    reach::let_go();
    mappings::let_go();
    library::let_go();
    lately::let_go();
    links::let_go();
    PUBLISHED.iter().for_each(Spin::let_go);
    TABLE.iter().for_each(Spin::let_go);
    GATHERED.let_go();
}

/// After a `fork`, in the child: what the others did lies behind this thread, and they are in no calls.
pub fn child(t: &mut Thread) {
    TABLE.iter().for_each(|shard| *shard.lock() = None);
    PUBLISHED.iter().for_each(|published| *published.lock() = None);
    IN_CALL
        .iter()
        .for_each(|inside| inside.store(false, Ordering::SeqCst));
    TOUCHING.store(t.touching.count_ones(), Ordering::SeqCst);
    // Nothing is anybody's own.
    lose(t.hb.slot().0);
    say_where(t);
    lately::child();
    reach::child();
    links::child(t);
    // Who watched what it reaches does so no more.
    std::mem::forget(std::mem::take(&mut t.calls.lately));
    for call in &mut t.calls.open {
        std::mem::forget((call.reached.take(), call.watched.take()));
    }
}

/// A call that has begun.
struct Call {
    callee: *const Callee,
    /// How high the stack was, to tell a call that was unwound: `usize::MAX` for a thread that began outside.
    sp: usize,
    from: From,
    /// `None` if it began in a serial phase: whoever came later knew of all that.
    reached: Option<Reached>,
    watched: Option<links::Open>,
    /// Whether its begin was recorded.
    recorded: bool,
}

/// What a call begins with: its arguments, and the library's own state if it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct From {
    roots: Vec<usize>,
    /// The caller's variables that some of them are in: first and last+1 address.
    locals: Vec<(usize, usize)>,
    library: Option<Key>,
}

/// What it reaches.
#[derive(Clone, Default)]
struct Reached {
    /// All of it; `None` if that is too much to know.
    keys: Option<Arc<[Key]>>,
    /// What of it others reach as well.
    shared: Arc<[Key]>,
    /// [`STOLEN`] when that was found out.
    stolen: u32,
    /// What is added to it, and how much of that is among `keys`.
    watch: Option<Arc<Watch>>,
    added: usize,
}

/// Calls of a thread.
#[derive(Default)]
pub struct Calls {
    /// Those that have not ended, outermost first.
    open: Vec<Call>,
    /// Whether the outermost one is about to end: what the thread does from its next time on is not done in it.
    ending: bool,
    /// Arguments of the next, as far as they are told.
    arguments: Vec<usize>,
    locals: Vec<(usize, usize)>,
    /// Whether the thread has looked at a ring while somebody else was about to tell what he has put into one.
    behind: bool,
    lately: Lately,
    /// What atomic operations have stored that are not over.
    stored: Vec<links::Stored>,
}

impl Calls {
    /// Whether there is something to be followed, see [`links::follow`].
    #[inline]
    pub fn has_stored(&self) -> bool {
        !self.stored.is_empty()
    }

    /// Whether the thread is in one.
    #[inline]
    pub fn any(&self) -> bool {
        !self.open.is_empty()
    }
}

/// Says whether the thread is in a call, and if so, what it has done so far: to be called when it has come to a new time or
/// learned something.
pub fn say_where(t: &mut Thread) {
    let slot = t.hb.slot().0 as usize;
    let (Some(published), Some(inside)) = (PUBLISHED.get(slot), IN_CALL.get(slot)) else {
        return;
    };
    if t.calls.any() && !t.calls.ending {
        hb::glimpse(&mut t.hb, published.lock().get_or_insert_default());
    }
    inside.store(t.calls.any(), Ordering::SeqCst);
}

/// More arguments of the call that begins next.
pub fn arguments(t: &mut Thread, pointers: [usize; callee::POINTERS]) {
    let there = pointers.into_iter().filter(|pointer| *pointer != 0);
    t.calls.arguments.extend(there);
}

/// A local variable that an argument of the call that begins next leads into.
pub fn local(t: &mut Thread, start: usize, len: usize) {
    t.calls.locals.push((start, start.saturating_add(len)));
}

/// All arguments of the call that begins now.
pub fn take_arguments(t: &mut Thread) -> Vec<usize> {
    t.calls.locals.clear();
    std::mem::take(&mut t.calls.arguments)
}

/// There is no such call.
pub fn forget_arguments(t: &mut Thread) {
    t.calls.arguments.clear();
    t.calls.locals.clear();
}

/// A call begins.
pub fn begin(t: &mut Thread, callee: &Callee, pointers: [usize; callee::POINTERS], sp: usize) {
    arguments(t, pointers);
    let locals = std::mem::take(&mut t.calls.locals);
    let roots = take_arguments(t);
    let state = match callee.state.load(Ordering::Relaxed) {
        callee::UNKNOWN => library::classify(callee),
        known => known,
    };
    let Some(treated) = library::Treated::unpack(state) else {
        return;
    };
    end_unwound(t, sp);
    let from = match treated.works {
        Works::Arguments => From {
            roots,
            locals,
            library: None,
        },
        Works::LibraryToo => From {
            roots,
            locals,
            library: Some(Key::library(treated.library)),
        },
        Works::Loads => From {
            library: Some(Key::LOADER),
            ..From::default()
        },
        // Nothing of the program's runs in it, and nobody learns from it: see [`end`].
        Works::LooksUp => return,
    };
    open(t, callee, sp, from);
}

/// A thread begins, with this argument. If its first function is not instrumented, all of it is one call.
pub fn begin_thread(t: &mut Thread, routine: usize, argument: usize) {
    if channel::options().external == Action::Order
        && let Some(library) = library::outside(routine)
    {
        let from = From {
            roots: vec![argument],
            library: Some(Key::library(library)),
            ..From::default()
        };
        open(t, std::ptr::null(), usize::MAX, from);
    }
}

fn open(t: &mut Thread, callee: *const Callee, sp: usize, from: From) {
    let reached = (!t.serial).then(|| lately::reached(t, &from));
    if !t.calls.any()
        && let Some(number) = OUTERMOST.get(t.hb.slot().0 as usize)
    {
        number.fetch_add(1, Ordering::SeqCst);
    }
    t.calls.open.push(Call {
        callee,
        sp,
        from,
        watched: reached.as_ref().and_then(Reached::watched),
        reached,
        recorded: false,
    });
    recorded::begin(t, t.calls.open.len() - 1);
    record::missing::begin_elsewhere(t, sp);
    if t.serial {
        say_where(t);
    } else {
        give(t, t.calls.open.len() - 1);
    }
}

impl Reached {
    /// Whether something that was the thread's own may be shared now.
    fn is_outdated(&self, t: &Thread) -> bool {
        let stolen = STOLEN.get(t.hb.slot().0 as usize);
        stolen.is_some_and(|stolen| stolen.load(Ordering::SeqCst) != self.stolen)
    }

    /// Whether the program has stored pointers that lead to more.
    fn is_more(&self) -> bool {
        self.watch
            .as_ref()
            .is_some_and(|watch| watch.added() != self.added)
    }

    /// Whether a block of it is another one now.
    fn is_stale(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.is_stale())
    }

    /// For a call that goes by it.
    fn watched(&self) -> Option<links::Open> {
        self.watch.as_ref().map(links::Open::new)
    }

    /// The same with all that was added.
    fn with_more(self, t: &Thread) -> Reached {
        let added = self.watch.as_ref().map_or(0, |watch| watch.added());
        let keys = match &self.watch {
            Some(watch) => watch.all(self.keys),
            None => self.keys,
        };
        Reached {
            watch: self.watch,
            added,
            ..claim(t, keys)
        }
    }
}

/// Makes objects the thread's own, and finds those that are not.
fn claim(t: &Thread, keys: Option<Arc<[Key]>>) -> Reached {
    let me = t.hb.slot().0;
    let stolen = STOLEN
        .get(me as usize)
        .map_or(0, |stolen| stolen.load(Ordering::SeqCst));
    let shared = not_own(t, me, keys.iter().flat_map(|keys| keys.iter().copied()));
    if shared.len() > SHARED {
        first_wide(t);
        return Reached {
            keys: None,
            stolen,
            ..Reached::default()
        };
    }
    Reached {
        keys,
        shared: shared.into(),
        stolen,
        ..Reached::default()
    }
}

/// Makes objects the own of the thread in a slot if calls of no other have reached them. Answers with the others.
fn not_own(t: &Thread, slot: u32, keys: impl Iterator<Item = Key>) -> Vec<Key> {
    let (mut others, mut new) = (Vec::new(), Vec::new());
    for key in keys {
        with(key, |objects| match objects.get_mut(&key) {
            Some(object) => {
                if object.owner != slot {
                    steal(object);
                    others.push(key);
                }
            }
            None => {
                objects.insert(key, Object::of(slot));
                new.push(key);
            }
        });
    }
    if !new.is_empty() {
        // What atomics in it said until now a call may have heard. What they say from now on they tell by `touch`.
        sync::pass(t);
    }
    for key in new {
        let carried = reach::carried(t, key);
        with(key, |objects| {
            if let Some(object) = objects.get_mut(&key) {
                if !carried.is_empty() {
                    steal(object);
                    hb::merge(&mut object.left, &carried);
                }
                if object.owner != slot {
                    others.push(key);
                }
            }
        });
    }
    others
}

/// Makes an object nobody's own: what its owner did is left there.
fn steal(object: &mut Object) {
    let owner = std::mem::replace(&mut object.owner, NOBODY);
    if owner == NOBODY {
        return;
    }
    // Either the owner sees this after it has published, or what it published is seen here.
    lose(owner);
    if let Some(published) = &*PUBLISHED[owner as usize].lock() {
        hb::leave(&mut object.left, published);
    }
    // Whether the call that it is in reaches the object only the owner knows.
    let inside = Inside::of(owner);
    if inside.still() {
        object.open.push(inside);
    }
}

/// A call has returned.
pub fn end(t: &mut Thread, callee: *const Callee, sp: usize) {
    if looks_up(callee) && !t.serial {
        // Whoever finds a function may call it: the library's constructors are done.
        let reached = claim(t, Some([Key::LOADER].into()));
        take(t, &reached);
        return;
    }
    let is_it = |call: &Call| call.callee == callee && call.sp == sp;
    if let Some(at) = t.calls.open.iter().rposition(is_it) {
        end_from(t, at);
    }
}

/// Whether calls of a function only look at what is loaded.
fn looks_up(callee: *const Callee) -> bool {
    // SAFETY: the variable of the module that has made the call, or one that is never given back.
    let state = unsafe { &(*callee).state }.load(Ordering::Relaxed);
    library::Treated::unpack(state).is_some_and(|treated| treated.works == Works::LooksUp)
}

/// The thread ends, and so do its calls.
pub fn end_thread(t: &mut Thread) {
    end_from(t, 0);
    lately::end_thread(t);
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
    while t.calls.open.len() > first {
        let last = t.calls.open.len() - 1;
        let mut published = None;
        if !t.serial {
            see_touches(t);
            let reached = renewed(t, last);
            take(t, &reached);
            t.calls.ending = last == 0;
            published = Some(give(t, last));
            t.calls.ending = false;
        }
        let Some(mut call) = t.calls.open.pop() else {
            return;
        };
        record::missing::end_elsewhere(t, call.sp);
        if call.recorded {
            recorded::end(t);
        }
        if t.calls.arguments.capacity() == 0 {
            // For the next.
            call.from.roots.clear();
            t.calls.arguments = call.from.roots;
        }
        say_where(t);
        if !t.calls.any()
            && let Some(own) = PUBLISHED.get(t.hb.slot().0 as usize)
            && published.is_some()
        {
            *own.lock() = published.take();
        }
        let me = Inside::of(t.hb.slot().0);
        for key in call.reached.iter().flat_map(Reached::left_at) {
            with(key, |objects| {
                if let Some(object) = objects.get_mut(&key) {
                    object.open.retain(|inside| *inside != me || t.calls.reaches(key));
                }
            });
        }
    }
}

impl Calls {
    /// Whether an open call reaches an object.
    fn reaches(&self, key: Key) -> bool {
        let reached = self.open.iter().filter_map(|call| call.reached.as_ref());
        reached.flat_map(Reached::left_at).any(|other| other == key)
    }
}

impl Reached {
    /// Where is left what was done before the call.
    fn left_at(&self) -> impl Iterator<Item = Key> {
        let wide = self.keys.is_none().then_some(Key::WIDE);
        let all = WIDE.load(Ordering::SeqCst).then_some(Key::ALL);
        self.shared.iter().copied().chain(wide).chain(all)
    }

    /// Where others have left something.
    fn taken_from(&self) -> impl Iterator<Item = Key> {
        let all = self.keys.is_none().then_some(Key::ALL);
        let wide = WIDE.load(Ordering::SeqCst).then_some(Key::WIDE);
        self.shared.iter().copied().chain(all).chain(wide)
    }
}

/// What an open call reaches, and what of it is shared by now.
fn renewed(t: &mut Thread, at: usize) -> Reached {
    let call = &mut t.calls.open[at];
    let reached = match call.reached.take() {
        None => {
            let from = call.from.clone();
            let reached = lately::reached(t, &from);
            t.calls.open[at].watched = reached.watched();
            reached
        }
        Some(reached) if reached.keys.is_some() && (reached.is_outdated(t) || reached.is_more()) => {
            reached.with_more(t)
        }
        Some(reached) => reached,
    };
    t.calls.open[at].reached = Some(reached.clone());
    reached
}

/// The thread is about to start another. What the calls reach that it is in is watched from now on.
pub fn leave_serial(t: &mut Thread) {
    for at in 0..t.calls.open.len() {
        renewed(t, at);
    }
}

/// Leaves what the thread has done so far where an open call reaches.
fn give(t: &mut Thread, at: usize) -> Published {
    t.renew();
    let published = hb::publish(&mut t.hb);
    t.refresh();
    // Whatever became shared before that could be seen lacks it.
    let reached = renewed(t, at);
    let me = Inside::of(t.hb.slot().0);
    for key in reached.left_at() {
        with(key, |objects| {
            let object = objects.entry(key).or_insert_with(Object::shared);
            hb::leave(&mut object.left, &published);
            if !object.open.contains(&me) {
                object.open.push(me);
            }
        });
    }
    published
}

/// Takes what others have left there.
fn take(t: &mut Thread, reached: &Reached) {
    let me = t.hb.slot().0;
    for key in reached.taken_from() {
        with(key, |objects| {
            let Some(object) = objects.get_mut(&key) else {
                return;
            };
            hb::sync(&mut t.hb, SyncOp::Receive(SyncId(0)), &mut object.left);
            object.open.retain(|inside| inside.still());
            for inside in object.open.iter().filter(|inside| inside.0 != me) {
                if let Some(published) = &*PUBLISHED[inside.0 as usize].lock() {
                    hb::receive(&mut t.hb, published);
                }
            }
        });
    }
    t.refresh();
}

/// There is a wide call: what was left anywhere before is where it finds it.
fn first_wide(t: &Thread) {
    let mut done = GATHERED.lock();
    if std::mem::replace(&mut *done, true) {
        return;
    }
    WIDE.store(true, Ordering::SeqCst);
    let mut all = Object::shared();
    for shard in &TABLE {
        for (key, object) in shard.lock().iter().flatten() {
            if *key != Key::ALL {
                hb::merge(&mut all.left, &object.left);
            }
        }
    }
    for published in PUBLISHED.iter().filter_map(|published| published.lock().clone()) {
        hb::leave(&mut all.left, &published);
    }
    // What atomics said until now such a call may have heard. What they say from now on they tell by `touch`.
    sync::pass(t);
    for addr in sync::carriers(t) {
        sync::carried_in(t, addr, addr + 1, &mut all.left);
    }
    // Who is in a call now has not left itself there, and goes on. Who comes in later sees that there are wide ones.
    let inside = (0..SLOTS).map(Inside::of).filter(|inside| inside.still());
    with(Key::ALL, |objects| {
        let there = objects.entry(Key::ALL).or_insert_with(Object::shared);
        hb::merge(&mut there.left, &all.left);
        for inside in inside {
            if !there.open.contains(&inside) {
                there.open.push(inside);
            }
        }
    });
}

/// Before races are told that the thread found just now: if it is in a callback, what the code around it may have learned
/// counts. Answers with those that are left.
pub fn settle(t: &mut Thread, found: &[Found]) -> Vec<Found> {
    if lately::catch_up(t) {
        // Who met whom there, and when, nobody knows.
        return Vec::new();
    }
    if !t.serial {
        rings::catch_up(t);
        for at in 0..t.calls.open.len() {
            see_touches(t);
            // What it reaches may be another by now.
            let call = &t.calls.open[at];
            let mut keys = reach::from(t, &call.from).0.map(Into::into);
            if let Some(watch) = call.reached.as_ref().and_then(|reached| reached.watch.as_ref()) {
                keys = watch.all(keys);
            }
            let now = claim(t, keys);
            take(t, &now);
        }
    }
    let ordered = |found: &&Found| t.hb.knows(Epoch::new(found.prior.slot, found.prior.timestamp));
    found.iter().filter(|found| !ordered(found)).copied().collect()
}

/// The thread has allocated the block that begins here: it is another one now. If the old one was the thread's own, the
/// new one is.
pub fn forget(t: &Thread, addr: usize) {
    if !ANY.load(Ordering::Relaxed) || !reach::may_touch(addr) {
        return;
    }
    let (key, me) = (Key::block(addr), t.hb.slot().0);
    links::forget(key);
    with(key, |objects| {
        let owner = objects.get(&key).map_or(me, |object| object.owner);
        if owner != me {
            objects.remove(&key);
            lose(owner);
        }
    });
}

/// Tells the thread in a slot that something is no longer its own.
fn lose(owner: u32) {
    if let Some(stolen) = STOLEN.get(owner as usize) {
        stolen.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests;
