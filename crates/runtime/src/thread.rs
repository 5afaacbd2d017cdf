//! The record of a thread.
//!
//! A thread touches only its own record, and only while `tls.inside` says that it is inside the runtime. A signal that
//! comes in between waits until it is not (`intercept/signals.rs`); where one cannot wait, because the thread itself has
//! caused it, its handler finds the door closed and is let through unchecked.
//!
//! **Serial phases.** While all other threads that ever ran have been joined, whatever the only thread does happens
//! before all that follows. Then its inline tests pass, and it records nothing. A phase ends with the next fork.

mod at_hand;

use crate::counts::{self, Counts};
use crate::heard::{self, Heard};
use crate::intercept::{Alternate, cancel};
use crate::loads::Loads;
use crate::locks::Held;
use crate::outside::Calls;
use crate::owners::Owner;
use crate::partly::{PAIRS, Pair};
use crate::record::{self, Log};
use crate::registry::{self, NOBODY, State};
use crate::side::kept::Leases;
use crate::stretches::Stretches;
use crate::sweeps::Sweeps;
use crate::terms::{self, LAST_TIME, WORN};
use crate::tls::{self, Tls};
use crate::{amid, cell, channel, intercept, outside, partly, shadow, side, sync, this};
use deadheat_abi::shadow::{EPOCH, SIDE, TERM_SHIFT, TIME_SHIFT};
use deadheat_detect::fasttrack::FastTrack;
use deadheat_detect::hb::{self, Changed, HbThread};
use std::ffi::c_void;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};

pub use crate::registry::ThreadRef;
pub use crate::this::{name as name_of_this_thread, tid};
pub use at_hand::{CACHED, Cached, Places};

/// The record of a thread.
pub struct Thread {
    /// Its number.
    pub id: u32,
    /// Its clock.
    pub hb: HbThread,
    /// Its present epoch as in a shadow word.
    pub epoch: u64,
    /// The times of its clock, for [`crate::quick`].
    pub times: *const u64,
    /// How many there are.
    pub times_len: usize,
    /// The set of locks held as in a cached place, or [`UNKNOWN_LOCKS`].
    pub locks: u64,
    /// Who it is in the shadow.
    pub owner: Owner,
    /// Whether there is no other thread whose accesses could race with its own.
    pub serial: bool,
    /// Whether it has no place in the shadow: its accesses are neither checked nor recorded.
    pub blind: bool,
    /// Whether shadow words cannot name it ([`terms`]): what it does goes to side states.
    pub far: bool,
    /// Its term as in a shadow word, and its base.
    term: (u64, u64),
    /// The time from which on it looks for a new one.
    pub worn: u64,
    /// The epoch of its last access on record, as in a shadow word.
    pub last: u64,
    /// Whether it has ever issued a release fence.
    pub fenced: bool,
    /// Between the two halves of how many atomic operations it is (more than one only in signal handlers).
    pub atomics: u32,
    /// A bit for each of them, the innermost first: whether [`outside::begin_touch`] counts it.
    pub touching: u64,
    /// Atomics of which it has heard all there is.
    pub loads: Loads,
    /// What it says that it has heard of.
    pub heard: Heard,
    /// Whether it has said that it cannot be cancelled.
    pub uncancellable: bool,
    /// Runs on side states.
    pub detector: FastTrack,
    /// Locks held.
    pub held: Held,
    /// Places seen lately.
    pub places: Places,
    /// Side states that an access of this epoch is known to be in.
    pub recent: Box<[Seen; SEEN]>,
    /// The same of reads of all bytes, of many more of them: see [`crate::side::has_read`].
    pub reads: Box<[u64; READS]>,
    /// Chains of readers that it is known to be in.
    pub chains: Box<[Chained; SEEN]>,
    /// Read words that it has come by lately and that it could not go on with, for [`crate::readers`].
    pub lone: [u64; LONE],
    /// Reads that it keeps to itself.
    pub leases: Leases,
    /// Checks behind loops made in this epoch.
    pub sweeps: Sweeps,
    /// Stretches of memory that loops of it fill.
    pub stretches: Stretches,
    /// Side states put by to be used again.
    pub sides: Vec<u32>,
    /// The same of cells that are written in part ([`crate::partly`]).
    pub parts: Vec<u32>,
    /// What such cells said before, of those met lately.
    pub pairs: Box<[Pair; PAIRS]>,
    /// Calls into code that is not instrumented.
    pub calls: Calls,
    /// Its stack: first and last+1 address.
    pub stack: (usize, usize),
    /// What is recorded of it.
    pub log: Log,
    /// The stack that its handlers of signals run on, if it is not the one that the program gave.
    pub alternate: Option<Alternate>,
    /// What it has counted, if anything is.
    pub counts: Option<&'static Counts>,
    tls: *mut Tls,
}

/// How many read words are remembered.
pub const LONE: usize = 16;

/// How many cells with side states are remembered.
pub const SEEN: usize = 256;

/// How many side states that it has read are remembered. As many as objects that threads walk through side by side have granules: each of
/// them is the last reader, for the inline test, until the next one comes by.
pub const READS: usize = 1 << 16;

/// A side state that this thread has recorded its access in.
#[derive(Clone, Copy, Default)]
pub struct Seen {
    /// The cell.
    pub cell: usize,
    /// Its first word then: says that the side state has not been replaced.
    pub word: u64,
    /// The epoch of the access.
    pub epoch: u64,
    /// Bytes read, written, atomically read, atomically written.
    pub bytes: [u8; 4],
}

/// A read word that stands for several readers, this thread among them.
#[derive(Clone, Copy, Default)]
pub struct Chained {
    /// The word.
    pub word: u64,
    /// The epoch of this thread's read.
    pub epoch: u64,
    /// The bytes it read.
    pub bytes: u8,
}

/// The epoch of a thread whose slot has no room in a shadow word: like no word, because no side state has such an index. The low
/// bits tell its epochs apart.
const FAR: u64 = (SIDE as u64) << TERM_SHIFT | 0x3f << TIME_SHIFT;
const LOW: u64 = (1 << TIME_SHIFT) - 1;

/// Where the locks stand in a cached place.
pub const LOCKS_SHIFT: u32 = 48;

/// Like no set of locks and no address.
pub const UNKNOWN_LOCKS: u64 = !0;

/// Of large ones only the pages that are touched are paid for.
///
/// # Safety
/// Zero bytes are a `T`.
pub unsafe fn zeroed_box<T: Copy, const N: usize>() -> Box<[T; N]> {
    // SAFETY: as the caller promises.
    unsafe { Box::new_zeroed().assume_init() }
}

impl Thread {
    /// A record that belongs to nobody yet.
    pub fn new(id: u32, hb: HbThread, seen: bool) -> Thread {
        let mut thread = Thread {
            id,
            owner: Owner::nobody(),
            hb,
            epoch: 0,
            times: std::ptr::null(),
            times_len: 0,
            locks: 0,
            serial: false,
            blind: !seen || channel::options().blind,
            far: false,
            term: (0, 0),
            worn: 0,
            last: 0,
            fenced: false,
            atomics: 0,
            touching: 0,
            loads: Loads::NONE,
            heard: Heard::new(),
            uncancellable: false,
            detector: FastTrack::default(),
            held: Held::new(),
            places: Places::new(),
            // SAFETY: numbers, here and below.
            recent: unsafe { zeroed_box() },
            // SAFETY: as above.
            reads: unsafe { zeroed_box() },
            // SAFETY: as above.
            chains: unsafe { zeroed_box() },
            lone: [0; LONE],
            leases: Leases::NONE,
            sweeps: Sweeps::default(),
            stretches: Stretches::default(),
            sides: Vec::new(),
            parts: Vec::new(),
            // SAFETY: as above.
            pairs: unsafe { zeroed_box() },
            calls: Calls::default(),
            stack: (0, 0),
            log: Log::none(),
            alternate: None,
            counts: Counts::new(),
            tls: std::ptr::null_mut(),
        };
        thread.begin_term();
        thread.refresh();
        thread
    }

    /// Who it is, for others.
    pub fn reference(&self) -> ThreadRef {
        ThreadRef(self.id)
    }

    /// The context value of the program's function that called last.
    #[inline]
    pub fn context(&self) -> u64 {
        if self.tls.is_null() {
            return 0;
        }
        // SAFETY: set by `own` to the variable of the thread, which is the one that runs here.
        unsafe { (*self.tls).context }
    }

    /// Whether its present epoch might as well not have been: no access was ever on record, and nothing was learned.
    pub fn is_clean(&self) -> bool {
        !self.hb.has_learned() && (self.last ^ self.epoch) & if self.far { !0 } else { EPOCH } != 0
    }

    /// Whether its accesses are checked now.
    #[inline]
    pub fn checks(&self) -> bool {
        !self.serial && !self.blind
    }

    fn pack(&self) -> u64 {
        if self.far {
            return FAR | self.hb.time() & LOW;
        }
        let (term, base) = self.term;
        term | (self.hb.time() - base).min(LAST_TIME) << TIME_SHIFT
    }

    /// To be called after the clock may have changed: what depends on it follows.
    #[inline(always)]
    pub fn refresh(&mut self) {
        amid::learned(self);
        self.epoch = self.pack();
        let times = self.hb.times();
        (self.times, self.times_len) = (times.as_ptr(), times.len());
        if self.calls.any() {
            outside::say_where(self);
        }
        self.show_epoch();
    }

    /// The inline tests are about the present epoch.
    #[inline(always)]
    fn show_epoch(&self) {
        if self.checks() && !self.tls.is_null() {
            // SAFETY: the thread's own variable.
            unsafe {
                (&raw mut (*self.tls).epoch).write_volatile(self.epoch);
                tls::forget_shared(self.tls);
            }
        }
    }

    /// A read word of a cell stands for several readers, of which it is one in this epoch, for `bytes`: those of the last reader all
    /// told, the next inline test finds that out by itself.
    #[inline]
    pub fn is_behind(&self, read: u64, bytes: u8) {
        if cell::bytes(read) & !bytes == 0 && self.checks() && !self.tls.is_null() {
            // SAFETY: the thread's own variable, and it is inside the runtime.
            unsafe { tls::add_shared(self.tls, read) };
        }
    }

    /// The same where only its own time can have changed.
    #[inline(always)]
    pub fn refresh_time(&mut self) {
        if self.far || self.calls.any() {
            return self.refresh_all();
        }
        self.epoch = self.pack();
        self.show_epoch();
    }

    /// The same after an operation that has changed this much.
    #[inline(always)]
    pub fn refresh_after(&mut self, changed: Changed) {
        match changed {
            Changed::Nothing => {}
            Changed::Time => self.refresh_time(),
            Changed::Any => self.refresh_all(),
        }
    }

    /// [`Thread::refresh`] where it is not worth its room.
    #[inline(never)]
    fn refresh_all(&mut self) {
        heard::learned(self);
        self.refresh();
    }

    /// To be called before an operation that ends an epoch: moves on to another term where the times of this one have run out, and
    /// behind the thread's cancellation.
    #[inline(always)]
    pub fn renew(&mut self) {
        if self.is_worn() {
            self.renew_now();
        }
    }

    /// Whether [`Thread::renew`] has something to do.
    #[inline(always)]
    pub fn is_worn(&self) -> bool {
        self.hb.time() >= self.worn || cancel::any()
    }

    #[cold]
    #[inline(never)]
    fn renew_now(&mut self) {
        if cancel::any() {
            cancel::come_behind(self);
        }
        self.renew_term();
    }

    /// The same without the cancellation: for who holds what [`cancel::come_behind`] may wait for.
    pub fn renew_term(&mut self) {
        if self.hb.time() < self.worn {
            return;
        }
        // Its present time is the first of the new one, too.
        registry::lock().next_term(self.hb.slot(), self.hb.time() - 1);
        self.begin_term();
        if self.far {
            self.appear();
        }
        self.refresh();
    }

    /// Goes by the latest term of its slot.
    fn begin_term(&mut self) {
        match terms::latest(self.hb.slot()) {
            Some(term) => {
                self.term = (u64::from(term.number) << TERM_SHIFT, term.base);
                self.worn = term.base + WORN;
            }
            None => {
                self.far = true;
                self.worn = u64::MAX;
                // Then the short cut finds no place.
                self.locks = UNKNOWN_LOCKS;
            }
        }
    }

    /// Whether shadow words have room for its present epoch.
    #[inline(always)]
    pub fn fits(&self) -> bool {
        !self.far && self.hb.time() - self.term.1 <= LAST_TIME
    }

    /// Is in the words of regions by the slot that it has.
    fn appear(&mut self) {
        if !self.blind && !self.tls.is_null() {
            // SAFETY: the thread's own variable; `end` says when it goes.
            let inside = unsafe { &raw const (*self.tls).inside }.cast();
            if self.far {
                // SAFETY: as above. First of all, so that somebody knows of it all the time.
                let nameless = unsafe { Owner::of_nothing(inside) };
                self.owner.gone();
                self.owner = nameless;
            } else {
                self.owner.gone();
                // SAFETY: as above.
                self.owner = unsafe { Owner::new(self.hb.slot().0, inside) };
            }
        }
    }

    /// Enters a serial phase.
    fn enter_serial(&mut self) {
        if self.blind {
            return;
        }
        self.serial = true;
        if !self.tls.is_null() {
            // SAFETY: the thread's own variable.
            unsafe { tls::unchecked(self.tls) };
        }
    }

    /// Leaves it: another thread is about to start.
    fn leave_serial(&mut self) {
        self.serial = false;
        self.open_tests();
    }

    fn open_tests(&mut self) {
        if self.checks() && !self.tls.is_null() {
            // SAFETY: the thread's own variable.
            unsafe { tls::checked(self.tls, self.epoch) };
        }
    }
}

/// Set when the runtime has failed: from then on it lets everything through.
pub static OFF: AtomicBool = AtomicBool::new(false);

/// Runs `f` with the current thread's record. `None` before initialisation, for threads that cannot be known, and inside
/// the runtime.
#[inline]
pub fn with<R>(f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    Inside::enter()?.run(f)
}

/// Proof that the current thread is inside the runtime, and not twice.
pub struct Inside {
    tls: *mut Tls,
    thread: *mut Thread,
}

impl Inside {
    /// Goes inside, if the thread is known and not inside already.
    #[inline(always)]
    pub fn enter() -> Option<Inside> {
        let tls = tls::get();
        // SAFETY: the thread's own variable.
        unsafe {
            if (*tls).inside != 0 || OFF.load(Ordering::Relaxed) {
                return None;
            }
            let mut thread = (*tls).thread as usize;
            if thread == 0 {
                thread = adopt(tls)?;
            }
            (&raw mut (*tls).inside).write_volatile(1);
            compiler_fence(Ordering::SeqCst);
            Some(Inside {
                tls,
                thread: std::ptr::with_exposed_provenance_mut(thread),
            })
        }
    }
}

impl Inside {
    /// Runs `f` with the thread's record. `None` if the runtime failed in it: then it is off, and the program goes on.
    #[inline(always)]
    pub fn run<R>(self, f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
        // SAFETY: only the thread itself gets its record, and only once at a time: `self` is proof of both.
        let thread = unsafe { &mut *self.thread };
        std::panic::catch_unwind(AssertUnwindSafe(|| f(thread))).ok()
    }
}

impl Inside {
    /// The same of what is so short that it does not fail.
    #[inline(always)]
    pub fn run_to_end<R>(self, f: impl FnOnce(&mut Thread) -> R) -> R {
        // SAFETY: as above.
        f(unsafe { &mut *self.thread })
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the thread's own variable.
        unsafe { leave(self.tls, 0) };
    }
}

/// Is inside as deep as before again. What came in the meantime comes now.
///
/// # Safety
/// `tls` is the calling thread's variable.
#[inline(always)]
unsafe fn leave(tls: *mut Tls, before: u32) {
    // SAFETY: as the caller promises. In this order: a signal that finds the door open is not put off.
    unsafe {
        (&raw mut (*tls).inside).write_volatile(before);
        if before == 0 && (&raw const (*tls).pending).read_volatile() != 0 {
            deliver();
        }
    }
}

/// Has the signals come that were put off.
#[cold]
#[inline(never)]
pub fn deliver() {
    crate::intercept::deliver_signals();
}

/// Closes the door until [`open`]: signals wait, and what the thread does is not the program's.
pub fn close() {
    // SAFETY: the thread's own variable.
    unsafe {
        let inside = &raw mut (*tls::get()).inside;
        inside.write_volatile(inside.read_volatile() + 1);
    }
    compiler_fence(Ordering::SeqCst);
}

/// Opens it again.
pub fn open() {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the thread's own variable.
    unsafe {
        let tls = tls::get();
        leave(tls, (*tls).inside.saturating_sub(1));
    }
}

/// Opens it after `f`, which is given the thread's record. To be called where [`with`] would have worked before [`close`].
pub fn reopen(f: impl FnOnce(&mut Thread)) {
    let tls = tls::get();
    let inside = Inside {
        tls,
        // SAFETY: the thread's own variable.
        thread: std::ptr::with_exposed_provenance_mut(unsafe { (*tls).thread } as usize),
    };
    inside.run(f);
}

/// Runs `f` as the runtime's own: what it calls is not the program's.
pub fn shut<R>(f: impl FnOnce() -> R) -> R {
    let tls = tls::get();
    // SAFETY: the thread's own variable.
    unsafe {
        let before = (*tls).inside;
        (&raw mut (*tls).inside).write_volatile(before + 1);
        compiler_fence(Ordering::SeqCst);
        let result = f();
        compiler_fence(Ordering::SeqCst);
        leave(tls, before);
        result
    }
}

static READY: AtomicBool = AtomicBool::new(false);

/// A thread that was not created by a function we know (a bare `clone`). It may synchronise with others, so it gets a
/// clock; but what it is ordered after is not known, so its accesses are not checked.
#[cold]
fn adopt(tls: *mut Tls) -> Option<usize> {
    // A thread that has ended is let alone.
    // SAFETY: the thread's own variable.
    if !READY.load(Ordering::Acquire) || unsafe { (*tls).inside } == u32::MAX {
        return None;
    }
    let made = || {
        let mut registry = registry::lock();
        let id = registry.add(NOBODY, crate::stacks::Stack::default());
        registry.outstanding += 1;
        registry.entries[id as usize].tid = tid();
        let (hb, _) = registry.place(id, None);
        drop(registry);
        own(Box::new(Thread::new(id, hb, false)), tls)
    };
    // A panic has been told by then, and the runtime is off: the program goes on without it.
    shut(|| std::panic::catch_unwind(AssertUnwindSafe(made)).ok())
}

/// Makes `thread` the current thread's record.
fn own(mut thread: Box<Thread>, tls: *mut Tls) -> usize {
    thread.tls = tls;
    thread.appear();
    // What is recorded is not checked.
    thread.blind |= record::is_wanted();
    let thread = Box::into_raw(thread).expose_provenance();
    // SAFETY: the thread's own variable.
    unsafe { (*tls).thread = thread as u64 };
    thread
}

/// Makes the record of the main thread, which calls this once. `stack` is where its stack is.
pub fn start_main(stack: (usize, usize)) {
    let tls = tls::get();
    shut(|| {
        let mut registry = registry::lock();
        let id = registry.add(NOBODY, crate::stacks::Stack::default());
        registry.entries[id as usize].tid = tid();
        registry.entries[id as usize].tls = this::pointer();
        registry.entries[id as usize].stack = stack;
        registry.entries[id as usize].frames = stack.1;
        let (hb, seen) = registry.place(id, None);
        drop(registry);
        let mut thread = Box::new(Thread::new(id, hb, seen));
        thread.serial = true;
        thread.stack = stack;
        heard::begin(&mut thread);
        own(thread, tls);
        if counts::on() {
            // SAFETY: the thread's own variable.
            unsafe { tls::unchecked(tls) };
        }
    });
    READY.store(true, Ordering::Release);
}

/// A thread that is about to start.
pub struct Child(Box<Thread>);

impl Child {
    /// Who it will be.
    pub fn reference(&self) -> ThreadRef {
        self.0.reference()
    }

    /// As a word to pass to the new thread.
    pub fn into_raw(self) -> *mut c_void {
        Box::into_raw(self.0).cast()
    }

    /// From that word.
    ///
    /// # Safety
    /// `raw` came from [`Child::into_raw`] and is used once.
    pub unsafe fn from_raw(raw: *mut c_void) -> Child {
        // SAFETY: as the caller promises.
        Child(unsafe { Box::from_raw(raw.cast()) })
    }
}

/// Makes the record of a thread that `parent` is about to create; `pc` is where it called.
pub fn fork(parent: &mut Thread, pc: usize) -> Child {
    parent.renew();
    let place = parent.place_here(pc);
    let created = place.known().map_or_else(Default::default, |known| known.stack);
    let mut registry = registry::lock();
    let id = registry.add(parent.id, created);
    registry.outstanding += 1;
    let (mut child, seen) = registry.place(id, Some(&parent.hb));
    drop(registry);
    hb::fork(&mut parent.hb, &mut child);
    parent.refresh();
    let serial = parent.serial;
    parent.leave_serial();
    if serial {
        outside::leave_serial(parent);
    }
    let mut child = Thread::new(id, child, seen);
    child.log = record::fork(parent, id, pc);
    heard::begin(&mut child);
    Child(Box::new(child))
}

/// The thread was not created after all.
pub fn fork_failed(child: Child) {
    heard::end(child.0.id);
    let mut registry = registry::lock();
    registry.entries[child.0.id as usize].state = State::Gone;
    registry.outstanding -= 1;
    registry.leave(child.0.hb.slot(), child.0.hb.time(), false);
}

/// The first thing that the new thread does. The frames of the program's functions will end at `frames`.
pub fn begin(mut child: Child, frames: usize) {
    shut(|| {
        let stack = this::stack();
        let tls = tls::get();
        let id = child.0.id;
        {
            let mut registry = registry::lock();
            let entry = &mut registry.entries[id as usize];
            (entry.tid, entry.stack, entry.tls) = (tid(), stack, this::pointer());
            entry.frames = frames;
            entry.state = State::Alive(std::ptr::from_ref(&*child.0).expose_provenance());
        }
        shadow::reset(stack.0, stack.1 - stack.0);
        child.0.stack = stack;
        let thread = own(child.0, tls);
        // SAFETY: the record that was just made this thread's own.
        let thread = unsafe { &mut *std::ptr::with_exposed_provenance_mut::<Thread>(thread) };
        thread.open_tests();
        // The thread that had the stack before may have left locks in it, or in its thread-local memory, which is a part of it.
        sync::forget_range(thread, stack.0, stack.1 - stack.0);
        record::begin(thread, stack);
    });
}

/// The last thing that a thread does.
pub fn end() {
    let tls = tls::get();
    // SAFETY: the thread's own variable.
    let record = unsafe { (*tls).thread } as usize;
    if record == 0 {
        return;
    }
    // What still runs in this thread is libc's; it stays inside for good, and is not taken for an unknown one.
    // SAFETY: as above; the record was made by `own` and is let go of here.
    let mut thread = unsafe {
        (&raw mut (*tls).inside).write_volatile(u32::MAX);
        tls::unchecked(tls);
        (*tls).thread = 0;
        Box::from_raw(std::ptr::with_exposed_provenance_mut::<Thread>(record))
    };
    outside::end_thread(&mut thread);
    record::end(&mut thread);
    side::give_all(&mut thread);
    partly::give_all(&mut thread);
    intercept::end_alternate(&mut thread);
    thread.owner.gone();
    heard::end(thread.id);
    cancel::forget(thread.id);
    let clean = thread.is_clean();
    let Thread { id, hb, .. } = *thread;
    let mut registry = registry::lock();
    registry.leave(hb.slot(), hb.time(), clean);
    let entry = &mut registry.entries[id as usize];
    entry.name = name_of_this_thread();
    let stack = entry.stack;
    entry.state = if entry.detached {
        State::Gone
    } else {
        State::Ended(Box::new(hb))
    };
    drop(registry);
    // The stack goes away when the thread has ended.
    outside::may_disappear();
    shadow::reset(stack.0, stack.1 - stack.0);
}

/// The thread has waited for `child`.
pub fn join(thread: &mut Thread, child: ThreadRef) {
    let mut registry = registry::lock();
    let Some(entry) = registry.entries.get_mut(child.0 as usize) else {
        return;
    };
    let joined = match std::mem::replace(&mut entry.state, State::Gone) {
        State::Ended(ended) => {
            hb::join(&mut thread.hb, &ended);
            true
        }
        // It has ended without a word (by a bare system call, say).
        State::Alive(record) if record != 0 => {
            // SAFETY: its record is still there, and whoever could touch it is not.
            let ended = unsafe { &*std::ptr::with_exposed_provenance::<Thread>(record) };
            hb::join(&mut thread.hb, &ended.hb);
            record::ended(&ended.log);
            ended.owner.gone();
            heard::end(child.0);
            true
        }
        State::Alive(_) | State::Gone => false,
    };
    if joined {
        cancel::forget(child.0);
        record::join(thread, child.0, thread.log.caller);
        thread.refresh();
        registry.outstanding -= 1;
        if registry.outstanding == 0 {
            thread.enter_serial();
        }
    }
}

/// Nobody will wait for `child`.
pub fn detach(child: ThreadRef) {
    let mut registry = registry::lock();
    if let Some(entry) = registry.entries.get_mut(child.0 as usize) {
        entry.detached = true;
        if let State::Ended(_) = entry.state {
            entry.state = State::Gone;
            cancel::forget(child.0);
        }
    }
}

/// After a `fork` in the child: `t` is the only thread.
pub fn only(t: &mut Thread) {
    let mut registry = registry::lock();
    registry.outstanding = 0;
    registry.entries[t.id as usize].tid = tid();
    drop(registry);
    heard::only(t);
    cancel::only(t);
    t.enter_serial();
}
