//! Recording: what threads do goes to a file, in logs of their own, to be merged when the program has ended (`abi::spill`).
//!
//! Nothing is checked meanwhile, so shadow cells have other contents: when a line of memory was last written, and last read, as
//! Lamport times (the lowest bit of the first word is a lock). A read takes a time above that of the last write; a write one above
//! both. A program built for this leaves its loads and stores to [`plain`]: access, time and
//! record are one step, so that the merged run agrees with every value read. Lock and times are needed only where the line's
//! region is shared ([`crate::owners`]); a region that is handed over makes whatever comes next later than all that its owner did.
//!
//! Accesses of other sizes, and those of libc's functions, are recorded before they are made, without a value. Two threads whose such
//! accesses are unordered may have made them the other way round.
//!
//! Nothing is recorded before the program creates its first thread; from then on everything is.

mod granule;
pub mod missing;
mod plain;
mod spill;
mod unaligned;

use crate::outside::objects::{self, Calls, Object};
use crate::owners::Whose;
use crate::registry;
use crate::spin::{self, Wait};
use crate::steer::{self, Steps};
use crate::thread::Thread;
use deadheat_abi::atomics::{self, What};
use deadheat_abi::spill::{
    BLOCK_HEADER, Kind, MOST, Memo, Out, Record, UNIT, WIDE_ATOMIC, write, write_behind, write_next,
};
use granule::{Held, Line, lines, regions};
use rustc_hash::{FxHashMap, FxHashSet};
use spill::Block;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, compiler_fence};

pub use plain::{load, store, store16};
pub use spill::{hold, let_go, open};

use plain::read;

/// Kinds of ranges.
pub const READ: Kind = Kind::RangeRead;
/// A write.
pub const WRITE: Kind = Kind::RangeWrite;
/// An end.
pub const FREE: Kind = Kind::Free;

/// Whether anything is recorded now, and not lost.
static ON: AtomicBool = AtomicBool::new(false);

/// Above the times of all that allocates, gives back, begins, ends, waits for threads and calls outside.
static CLOCK: AtomicU64 = AtomicU64::new(0);

/// A number on a cache line of its own.
#[repr(align(64))]
struct Apart(AtomicU64);

/// Above the times of all that was done before a missing call that has begun, and in callbacks: such a call may tell it by memory that
/// nobody sees it write, so whatever is done from now on comes later. Also above the times of threads that regions were taken from,
/// up to then: their accesses in there left no time in the shadow.
static CALLS: Apart = Apart(AtomicU64::new(0));

/// What others see of a thread: a missing call may learn of all that was done until it ends.
#[repr(align(64))]
struct Seen {
    /// Its last time.
    time: AtomicU64,
    /// Odd while it is in an atomic operation, which may be in sight before its time is.
    atomics: AtomicU64,
}

impl Seen {
    const fn new() -> Seen {
        Seen {
            time: AtomicU64::new(0),
            atomics: AtomicU64::new(0),
        }
    }

    /// Its last time, with that of the operation that it may be in: a call that has seen what that did comes later. A thread that is stopped there
    /// for long is not waited for any longer.
    fn settled(&self) -> u64 {
        let before = self.atomics.load(Ordering::SeqCst);
        let mut wait = Wait::default();
        while !before.is_multiple_of(2) && self.atomics.load(Ordering::SeqCst) == before {
            match wait.once() {
                0..SPINS => {}
                SPINS..NAPS => spin::nap(100_000),
                _ => break,
            }
        }
        self.time.load(Ordering::SeqCst)
    }
}

/// It is waited for in place, then in naps of a tenth of a millisecond, then no more.
const SPINS: u32 = 1 << 10;
const NAPS: u32 = SPINS + 2000;

/// By slot (one less than the name that regions know it by).
static SEEN: [Seen; registry::SLOTS as usize] = [const { Seen::new() }; registry::SLOTS as usize];
/// One more than the highest slot in use.
static USED: AtomicU64 = AtomicU64::new(0);
/// For a thread that has no slot.
static NOBODYS: Seen = Seen::new();

/// Bytes that must be left in a block before a record is begun: one and the definition of its place.
const ROOM: usize = 2 * MOST;

/// The log of a thread.
pub struct Log {
    /// Whether there is one, and what the thread does now is recorded.
    pub on: bool,
    /// Whether there is one, and it is not.
    muted: bool,
    /// Missing calls and callbacks that the thread is in.
    frames: Vec<missing::Frame>,
    /// What such calls reach.
    pub found: objects::Found,
    /// The lists of objects that it has told, by number.
    lists: FxHashMap<Box<[Object]>, u64>,
    told: u64,
    time: u64,
    /// Where others see it.
    seen: &'static Seen,
    /// The address of the next record, and that from which on there is no room in the block.
    at: usize,
    full: usize,
    block: Block,
    /// There are some if it is or was on.
    memo: Option<Memo>,
    /// Functions whose names it has told.
    named: FxHashSet<usize>,
    /// Whether its records go nowhere.
    lost: bool,
    /// Where the function of libc that it is in was called; 0 if that is not known.
    pub caller: usize,
    /// How far it has come, in a run that is steered: then nothing is recorded, and there is never room.
    pub steered: Option<Box<Steps>>,
}

/// Writes to the block that is mapped.
struct Mapped;

impl Out for Mapped {
    #[inline(always)]
    fn put(&mut self, at: usize, number: u64) {
        // SAFETY: `Log::put` is called with room in the block.
        unsafe { std::ptr::with_exposed_provenance_mut::<u64>(at).write_unaligned(number) };
    }

    #[inline(always)]
    fn byte(&mut self, at: usize, number: u8) {
        // SAFETY: as above.
        unsafe { std::ptr::with_exposed_provenance_mut::<u8>(at).write(number) };
    }

    #[inline(always)]
    fn head(&mut self, at: usize, number: u32) {
        compiler_fence(Ordering::SeqCst);
        // SAFETY: as above.
        unsafe { std::ptr::with_exposed_provenance_mut::<u32>(at).write_unaligned(number) };
    }

    #[inline(always)]
    fn tag(&mut self, at: usize, number: u8) {
        compiler_fence(Ordering::SeqCst);
        self.byte(at, number);
    }
}

impl Log {
    /// None.
    pub fn none() -> Log {
        Log {
            on: false,
            muted: false,
            frames: Vec::new(),
            found: objects::Found::default(),
            lists: FxHashMap::default(),
            told: 0,
            time: 0,
            seen: &NOBODYS,
            at: 0,
            full: 0,
            block: Block::default(),
            memo: None,
            named: FxHashSet::default(),
            lost: false,
            caller: 0,
            steered: None,
        }
    }

    fn from(time: u64) -> Log {
        Log {
            on: true,
            time,
            memo: Some(Memo::default()),
            ..Log::none()
        }
    }

    /// Sees to it that there is room for a record. If there is none, it is off.
    #[inline(always)]
    fn room(&mut self, thread: u32) -> bool {
        self.at < self.full || self.next_block(thread)
    }

    #[cold]
    #[inline(never)]
    fn next_block(&mut self, thread: u32) -> bool {
        if self.steered.is_some() {
            return false;
        }
        let used = self.used();
        let more = self.lost || ON.load(Ordering::Relaxed) && self.block.next(thread, used, self.time);
        if !more {
            self.lose();
        }
        let start = self.block.start();
        self.at = start + BLOCK_HEADER;
        self.full = start + UNIT as usize - ROOM;
        self.live()
    }

    /// Bytes of the block that are in use.
    fn used(&self) -> usize {
        self.at.saturating_sub(self.block.start())
    }

    /// The file is full, or somebody else found it so. Times go on, so that whoever depends on what is lost here has a later
    /// one than this and is not believed either; records go nowhere.
    fn lose(&mut self) {
        ON.store(false, Ordering::Relaxed);
        spill::stopped(self.time);
        self.lost = true;
        let more = self.block.lose();
        self.on &= more;
        self.muted &= more;
    }

    /// Whether there is one.
    fn live(&self) -> bool {
        self.on || self.muted
    }

    /// What the thread does is recorded, or not.
    fn mute(&mut self, muted: bool) {
        if self.live() {
            (self.on, self.muted) = (!muted, muted);
        }
    }

    /// Times of this thread are those of the one that regions know by `name` from now on.
    fn show(&mut self, name: u32) {
        let slot = name - 1;
        // What a thread without such a name touches is everybody's.
        let Some(seen) = SEEN.get(slot as usize) else {
            return;
        };
        USED.fetch_max(u64::from(slot) + 1, Ordering::SeqCst);
        // Regions of who had the slot before are this thread's now.
        CALLS
            .0
            .fetch_max(seen.time.load(Ordering::SeqCst), Ordering::SeqCst);
        seen.time.store(self.time, Ordering::SeqCst);
        seen.atomics.store(0, Ordering::SeqCst);
        self.seen = seen;
    }

    /// Writes a record of time `time`. There is room.
    #[inline(always)]
    fn put(&mut self, time: u64, record: Record) {
        let growth = time.wrapping_sub(self.time).wrapping_sub(1);
        self.time = time;
        self.seen.time.store(time, Ordering::Release);
        // SAFETY: it is on.
        let memo = unsafe { self.memo.as_mut().unwrap_unchecked() };
        self.at = write(memo, &mut Mapped, self.at, growth, record);
    }

    /// The same, out of the way.
    #[inline(never)]
    fn put_any(&mut self, time: u64, record: Record) {
        self.put(time, record);
    }

    /// Writes a record of time `time` of a word, which may be `behind` that of the last record. There is room.
    #[inline(always)]
    fn put_word(&mut self, time: u64, record: Record, behind: bool) {
        if !behind || time != self.time + 1 {
            return self.put_any(time, record);
        }
        self.time = time;
        self.seen.time.store(time, Ordering::Release);
        // SAFETY: it is on.
        let memo = unsafe { self.memo.as_mut().unwrap_unchecked() };
        self.at = write_behind(memo, &mut Mapped, self.at, record);
    }

    /// Writes a record for each of some words side by side, from the next time on, if the first is of the place that is expected. Nothing
    /// is done otherwise.
    #[inline(always)]
    fn put_next<const WORDS: usize>(&mut self, mut record: Record, words: [u64; WORDS]) -> bool {
        // SAFETY: it is on.
        let memo = unsafe { self.memo.as_mut().unwrap_unchecked() };
        let Some(mut at) = write_next(memo, &mut Mapped, self.at, record) else {
            return false;
        };
        for word in words.into_iter().skip(1) {
            record.addr += 8;
            record.value = Some(word);
            at = write_behind(memo, &mut Mapped, at, record);
        }
        self.at = at;
        self.time += WORDS as u64;
        self.seen.time.store(self.time, Ordering::Release);
        true
    }

    /// Writes a record for each of some words side by side, from time `time` on. Answers with the last time.
    #[inline(always)]
    fn put_words<const WORDS: usize>(&mut self, time: u64, mut record: Record, words: [u64; WORDS]) -> u64 {
        self.put(time, record);
        // SAFETY: it is on.
        let memo = unsafe { self.memo.as_mut().unwrap_unchecked() };
        for word in words.into_iter().skip(1) {
            record.addr += 8;
            record.value = Some(word);
            self.at = write_behind(memo, &mut Mapped, self.at, record);
        }
        self.time = time + WORDS as u64 - 1;
        self.seen.time.store(self.time, Ordering::Release);
        self.time
    }
}

/// A region is taken from the thread that has `slot` and is in no section now.
pub fn handed_over(slot: u32) {
    if let Some(seen) = SEEN.get(slot as usize) {
        CALLS
            .0
            .fetch_max(seen.time.load(Ordering::SeqCst), Ordering::SeqCst);
    }
}

/// All regions are taken from whoever has them.
pub fn all_handed_over() {
    (0..USED.load(Ordering::SeqCst) as u32).for_each(handed_over);
}

/// A record that is told with a time above the thread's own and above `seen`. Answers with that time.
#[inline]
fn tell_after(t: &mut Thread, seen: u64, record: Record) -> u64 {
    let time = t.log.time.max(seen).max(CALLS.0.load(Ordering::Acquire)) + 1;
    if t.log.room(t.id) {
        t.log.put(time, record);
    } else if t.log.steered.is_some() {
        steer::done(t, record.kind, record.pc as usize);
    }
    time
}

fn record(kind: Kind, pc: usize, addr: usize, value: Option<u64>) -> Record {
    Record {
        kind: kind as u8,
        size: 0,
        pc: pc as u64,
        addr: addr as u64,
        value,
    }
}

/// The same above the times of all others that are told so.
fn tell_in_turn(t: &mut Thread, record: Record) {
    let time = tell_after(t, CLOCK.load(Ordering::Acquire), record);
    CLOCK.fetch_max(time, Ordering::AcqRel);
}

/// Whether this run is to be recorded, though there may be only one thread yet: then shadow cells have times.
pub fn is_wanted() -> bool {
    spill::is_open() || steer::on()
}

/// `parent` creates a thread. If it is the first, recording begins with the locks that `parent` has.
pub fn fork(parent: &mut Thread, child: u32, pc: usize) -> Log {
    if !is_wanted() || parent.id != 0 && !parent.log.live() {
        return Log::none();
    }
    if !parent.log.live() {
        if parent.log.memo.is_some() {
            // It was on once.
            return Log::none();
        }
        ON.store(true, Ordering::Relaxed);
        let frames = std::mem::take(&mut parent.log.frames);
        parent.log = Log {
            frames,
            steered: steer::main(),
            ..Log::from(0)
        };
        parent.log.show(parent.owner.name);
        if parent.log.steered.is_none() {
            spill::tell_modules();
        }
        for lock in parent.held.all() {
            let kind = match lock.kind {
                crate::locks::LockKind::ReadLock => Kind::AcquireShared,
                _ => Kind::Acquire,
            };
            tell_in_turn(parent, record(kind, 0, lock.addr, None));
        }
        missing::begin_open(parent);
    }
    tell_in_turn(parent, record(Kind::Fork, pc, 0, Some(child.into())));
    let mut log = Log::from(parent.log.time);
    log.on &= parent.log.live();
    log.steered = steer::child(&mut parent.log.steered);
    log
}

/// A thread begins, on this stack.
pub fn begin(t: &mut Thread, stack: (usize, usize)) {
    if t.log.on {
        t.log.show(t.owner.name);
        tell_in_turn(t, record(Kind::Begin, 0, 0, None));
        alloc(t, stack.0, stack.1 - stack.0, 0);
    }
}

/// It ends.
pub fn end(t: &mut Thread) {
    missing::end_thread(t);
    if t.log.on {
        tell_in_turn(t, record(Kind::End, 0, 0, None));
        t.log.on = false;
        let used = if t.log.lost { 0 } else { t.log.used() };
        t.log.block.leave(used);
    }
}

/// A thread has ended without a word: this is its log.
pub fn ended(log: &Log) {
    CLOCK.fetch_max(log.time, Ordering::AcqRel);
}

/// The thread has waited for another.
pub fn join(t: &mut Thread, child: u32, pc: usize) {
    if t.log.live() {
        tell_in_turn(t, record(Kind::Join, pc, 0, Some(child.into())));
    }
}

/// After a `fork`, in the child: what it does is not recorded.
pub fn child(t: &mut Thread) {
    ON.store(false, Ordering::Relaxed);
    (t.log.on, t.log.muted) = (false, false);
    t.log.block.forget();
    spill::close();
    steer::off();
}

/// Synchronisation on the object at `addr`. `last` is when something last happened to it; the caller has it locked.
pub fn sync(t: &mut Thread, kind: Kind, addr: usize, last: &mut u64) {
    if t.log.on {
        *last = tell_after(t, *last, record(kind, t.log.caller, addr, None));
    }
}

/// A fence.
pub fn fence(t: &mut Thread, order: deadheat_event::Order) {
    use deadheat_event::Order;
    if t.log.on {
        let order = match order {
            Order::Relaxed => atomics::Ordering::Relaxed,
            Order::Acquire => atomics::Ordering::Acquire,
            Order::Release => atomics::Ordering::Release,
            Order::AcqRel => atomics::Ordering::AcqRel,
            Order::SeqCst | Order::Volatile => atomics::Ordering::SeqCst,
        };
        tell_after(t, 0, record(Kind::Fence, 0, 0, Some(order as u64)));
    }
}

/// Memory comes into being.
pub fn alloc(t: &mut Thread, addr: usize, len: usize, pc: usize) {
    if t.log.live() && len > 0 {
        objects::written(addr, len);
        tell_in_turn(t, record(Kind::Alloc, pc, addr, Some(len as u64)));
    }
}

/// Memory is given back by code whose accesses nobody sees: whoever gets it next comes later.
pub fn gone(t: &mut Thread) {
    if t.log.live() {
        CLOCK.fetch_max(t.log.time, Ordering::AcqRel);
    }
}

/// A plain access to any bytes, or their end.
#[cold]
#[inline(never)]
pub fn range(t: &mut Thread, kind: Kind, addr: usize, len: usize, pc: usize) {
    if len == 0 || !t.log.on {
        match kind {
            Kind::Free => gone(t),
            Kind::RangeWrite if t.log.muted => objects::written(addr, len),
            _ => {}
        }
        return;
    }
    let write = kind != Kind::RangeRead;
    if t.log.steered.is_some() {
        steer::access(t, addr, len, write, pc);
        return steer::done(t, kind as u8, pc);
    }
    let mut last = 0;
    for piece in regions(addr, len) {
        if t.owner.enter(piece.start) != Whose::Own {
            last = lines(piece)
                .map(|line| Line::of(line).last(write))
                .fold(last, u64::max);
        }
        t.owner.leave();
    }
    if kind == Kind::Free {
        last = last.max(CLOCK.load(Ordering::Acquire));
    }
    let time = tell_after(t, last, record(kind, pc, addr, Some(len as u64)));
    for piece in regions(addr, len) {
        if t.owner.enter(piece.start) != Whose::Own {
            lines(piece).for_each(|line| Held::lock(t, line).unlock(write, time));
        }
        t.owner.leave();
    }
    if kind == Kind::Free {
        CLOCK.fetch_max(time, Ordering::AcqRel);
    } else if write {
        // They are made after this. What comes of it is looked at before the next call begins, at the earliest.
        objects::written(addr, len);
    }
}

/// An atomic operation begins, unless the thread is in one already. `models/calls.rs` has the steps of it and of a call that sees it.
pub fn begin_atomic(t: &mut Thread) {
    if t.log.on && t.atomics == 0 {
        let atomics = &t.log.seen.atomics;
        atomics.store(atomics.load(Ordering::Relaxed) | 1, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
    }
}

/// An atomic operation was made just now; operations on the same address exclude each other.
pub fn end_atomic(t: &mut Thread, addr: usize, what: What, pc: usize) {
    atomic(t, addr, what, pc);
    let atomics = &t.log.seen.atomics;
    let now = atomics.load(Ordering::Relaxed);
    if t.atomics == 1 && !now.is_multiple_of(2) {
        atomics.store(now.wrapping_add(1), Ordering::Release);
    }
}

fn atomic(t: &mut Thread, addr: usize, what: What, pc: usize) {
    if t.log.muted && what.kind != atomics::Kind::Load {
        objects::written(addr, what.size as usize);
    }
    if t.log.on && t.log.steered.is_some() {
        return steer::done(t, Kind::AtomicLoad as u8, pc);
    }
    if !t.log.on || !t.log.room(t.id) {
        return;
    }
    let write = what.kind != atomics::Kind::Load;
    let held = Held::take(t, addr);
    let time = held.time(t.log.time, write);
    let kind = match what.kind {
        atomics::Kind::Load => Kind::AtomicLoad,
        atomics::Kind::Store => Kind::AtomicStore,
        atomics::Kind::Update => Kind::AtomicUpdate,
    };
    let wide = if what.size > 8 { WIDE_ATOMIC } else { 0 };
    // SAFETY: the operation has just accessed these bytes.
    let value = unsafe {
        match what.size {
            1 => Some(read::<1>(addr)),
            2 => Some(read::<2>(addr)),
            4 => Some(read::<4>(addr)),
            8 => Some(read::<8>(addr)),
            _ => None,
        }
    };
    let record = Record {
        kind: kind as u8 + what.order as u8 + wide,
        size: what.size.trailing_zeros().min(3) as u8,
        ..record(kind, pc, addr, value)
    };
    t.log.put(time, record);
    held.raise(t, write, time);
    if write {
        objects::written(addr, what.size as usize);
    }
}

/// A call of code that is not instrumented begins. `objects` is what it reaches, `None` for too much.
pub fn call_begin(
    t: &mut Thread,
    function: usize,
    name: Option<&CStr>,
    objects: Option<&[(usize, usize)]>,
) -> bool {
    if !t.log.on {
        return false;
    }
    if t.log.steered.is_some() {
        steer::done(t, Kind::CallBegin as u8, 0);
        return true;
    }
    if let Some(name) = name
        && t.log.named.insert(function)
    {
        let name = name.to_bytes();
        let name = &name[..name.len().min(deadheat_abi::spill::TEXT)];
        if t.log.at + name.len() + ROOM >= t.log.full {
            t.log.full = 0;
        }
        if !t.log.room(t.id) {
            return false;
        }
        // So that it ends there, whenever.
        let at = t.log.used();
        t.log.block.bytes()[at..at + name.len() + ROOM].fill(0);
        tell_after(t, 0, record(Kind::Text, 0, function, Some(name.len() as u64)));
        let at = t.log.used();
        t.log.block.bytes()[at..at + name.len()].copy_from_slice(name);
        t.log.at += name.len();
    }
    let list = objects.and_then(|objects| t.log.lists.get(objects).copied());
    if let Some(list) = list {
        tell_call(t, record(Kind::CallAgain, 0, function, Some(list)));
        return t.log.live();
    }
    for (addr, len) in objects.unwrap_or_default() {
        tell_after(t, 0, record(Kind::Object, 0, *addr, Some(*len as u64)));
    }
    let count = objects.map(|objects| objects.len() as u64);
    tell_call(t, record(Kind::CallBegin, 0, function, count));
    if let Some(objects) = objects
        && crate::channel::options().calls == Calls::Once
        && t.log.lists.len() < LISTS
    {
        t.log.lists.insert(objects.into(), t.log.told);
    }
    t.log.told += 1;
    t.log.live()
}

/// So many lists of objects a thread remembers.
const LISTS: usize = 4096;

/// The last time of what a missing call that this thread is in may have learned of. (A thread in an atomic operation, which a signal's handler may
/// be in, does not wait for others: they may be, too.)
fn learned(t: &Thread) -> u64 {
    let used = USED.load(Ordering::SeqCst) as usize;
    let times = SEEN.iter().take(used).map(|seen| match t.atomics {
        0 => seen.settled(),
        _ => seen.time.load(Ordering::SeqCst),
    });
    times.max().unwrap_or(0).max(CLOCK.load(Ordering::Acquire))
}

/// Tells an end of a missing call: it comes after all that it may have learned of, and before all that may learn of it.
fn tell_call(t: &mut Thread, record: Record) {
    let last = learned(t);
    let time = tell_after(t, last, record);
    CLOCK.fetch_max(time, Ordering::AcqRel);
    CALLS.0.fetch_max(time, Ordering::SeqCst);
}

/// The thread does something by way of libc in code that is not instrumented: as if it was called back for that. Its time.
#[cold]
#[inline(never)]
pub fn begin_elsewhere(t: &Thread) -> u64 {
    raise_learned(t);
    t.log.time
}

/// It has done so.
#[cold]
#[inline(never)]
pub fn end_elsewhere(t: &Thread, before: u64) {
    if t.log.time != before {
        raise_calls(t);
    }
}

/// The thread is called back out of a missing call, which may tell it what others did.
fn raise_learned(t: &Thread) {
    if t.log.live() {
        CALLS.0.fetch_max(learned(t), Ordering::SeqCst);
    }
}

/// The thread goes back to a missing call, which may tell others what it did.
fn raise_calls(t: &Thread) {
    if t.log.live() {
        CALLS.0.fetch_max(t.log.time, Ordering::SeqCst);
    }
}

/// It ends.
pub fn call_end(t: &mut Thread) {
    if t.log.live() {
        tell_call(t, record(Kind::CallEnd, 0, 0, None));
    }
}
