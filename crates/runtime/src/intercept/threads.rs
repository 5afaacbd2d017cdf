//! Threads: creation, waiting, letting go, and their end.
//!
//! **Who is who.** A table leads from a `pthread_t` to the runtime's thread. A new thread is entered by whoever comes
//! first, its creator after the real `pthread_create` or itself before the program's routine: so it is there for
//! everybody who can know the id, and a thread that has already ended is not entered again. The C library uses ids again,
//! so a join looks its thread up before it waits, and removes only that one.
//!
//! **The end.** A thread's last code of the program's is a destructor: of a C++ or Rust thread-local, or of a key. The C
//! library runs the former first and then those of keys, in rounds. Ours is a key that asks for another round until the
//! last.

use super::define::interpose;
use super::{event, event_at};
use crate::spin::Spin;
use crate::thread::{self, Child, ThreadRef};
use crate::{heard, outside, record, sync};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use deadheat_event::Mode;
use libc::{clockid_t, pthread_attr_t, pthread_key_t, pthread_t, size_t, timespec};
use rustc_hash::FxHashMap;
use std::sync::Arc;

// SAFETY of calling one: once, with the argument that was given with it.
type Routine = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

struct Known {
    thread: ThreadRef,
    detached: bool,
    ended: bool,
}

static KNOWN: Spin<Option<FxHashMap<pthread_t, Known>>> = Spin::new(None);

/// The key whose destructor tells the end of a thread.
static KEY: AtomicU32 = AtomicU32::new(u32::MAX);

/// What a new thread is given.
pub struct Start {
    /// The program's routine, of whichever type.
    pub routine: usize,
    /// Its argument.
    pub argument: *mut c_void,
    child: Child,
    detached: bool,
    entered: Arc<AtomicBool>,
}

/// What its creator keeps of it.
pub struct Created {
    thread: ThreadRef,
    detached: bool,
    entered: Arc<AtomicBool>,
}

/// Prepares a thread. `None` if the runtime does not listen: then it is created as if we were not there.
pub fn prepare(
    routine: usize,
    argument: *mut c_void,
    detached: bool,
    pc: usize,
) -> Option<(*mut Start, Created)> {
    event(|parent| {
        let child = thread::fork(parent, pc);
        let entered = Arc::new(AtomicBool::new(false));
        let created = Created {
            thread: child.reference(),
            detached,
            entered: Arc::clone(&entered),
        };
        let start = Start {
            routine,
            argument,
            child,
            detached,
            entered,
        };
        (Box::into_raw(Box::new(start)), created)
    })
}

/// After the real function: the thread has the given id, or it was not created.
///
/// # Safety
/// `start` is from [`prepare`]; with `None` nobody else has it.
pub unsafe fn created(start: *mut Start, created: Created, id: Option<pthread_t>) {
    event(|_| match id {
        Some(id) => enter(id, created.thread, created.detached, &created.entered),
        // SAFETY: made by `prepare`, and no thread has started with it.
        None => thread::fork_failed(unsafe { Box::from_raw(start) }.child),
    });
}

fn enter(id: pthread_t, thread: ThreadRef, detached: bool, entered: &AtomicBool) {
    let mut known = KNOWN.lock();
    if !entered.swap(true, Ordering::Relaxed) {
        let new = Known {
            thread,
            detached,
            ended: false,
        };
        known.get_or_insert_default().insert(id, new);
        drop(known);
        if detached {
            thread::detach(thread);
        }
    }
}

/// The first thing in a new thread. The program's routine and its argument. `frames` is where that routine's frame will end.
///
/// # Safety
/// `start` is from [`prepare`] and used once.
pub unsafe fn begin(start: *mut c_void, frames: usize) -> (usize, *mut c_void) {
    let (routine, argument) = thread::shut(|| {
        // SAFETY: as the caller promises.
        let start = *unsafe { Box::from_raw(start.cast::<Start>()) };
        // SAFETY: no arguments.
        let id = unsafe { libc::pthread_self() };
        enter(id, start.child.reference(), start.detached, &start.entered);
        thread::begin(start.child, frames);
        arm(1);
        (start.routine, start.argument)
    });
    event(|t| outside::begin_thread(t, routine, argument.addr()));
    (routine, argument)
}

/// Has [`round`] called when the thread ends, for the `number`th time.
fn arm(number: usize) {
    // SAFETY: the key is ours; the value is a number that only `round` looks at.
    unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed), number as *const c_void) };
}

/// Keys get this many rounds of destructors.
const ROUNDS: usize = 4;

// SAFETY of calling it: only libc does, with the number that `arm` has set.
unsafe extern "C-unwind" fn round(number: *mut c_void) {
    let number = number as usize;
    // The key is older than the one by which libstdc++ keeps its promises: ours comes first in each round.
    let pc = round as *const () as usize;
    match number {
        1 => super::cxx::before_promises(pc),
        2 => super::cxx::after_promises(pc),
        _ => {}
    }
    if number < ROUNDS {
        arm(number + 1);
        return;
    }
    // A robust mutex that the thread still has passes to the next in line, who comes after all this.
    event(|t| {
        for lock in t.held.all() {
            sync::release(t, lock.addr, Mode::Exclusive);
        }
    });
    // SAFETY: no arguments.
    let id = unsafe { libc::pthread_self() };
    thread::shut(|| {
        let mut known = KNOWN.lock();
        let Some(known) = known.as_mut() else { return };
        if let Some(entry) = known.get_mut(&id) {
            entry.ended = true;
            if entry.detached {
                known.remove(&id);
            }
        }
    });
    thread::end();
}

/// Makes the key, and watches the main thread, too: `pthread_exit` ends it before the process.
pub fn init() {
    let mut key: pthread_key_t = 0;
    // SAFETY: writes the key.
    if unsafe { pthread_key_create(&mut key, round) } == 0 {
        KEY.store(key, Ordering::Relaxed);
        arm(1);
    }
}

/// Who has this id now.
pub fn look_up(id: pthread_t) -> Option<ThreadRef> {
    event(|_| KNOWN.lock().as_ref()?.get(&id).map(|known| known.thread)).flatten()
}

/// After a join that succeeded.
pub fn joined(id: pthread_t, thread: Option<ThreadRef>, pc: usize) {
    let Some(thread) = thread else { return };
    event_at(pc, |t| {
        if let Some(known) = KNOWN.lock().as_mut()
            && known.get(&id).is_some_and(|known| known.thread == thread)
        {
            known.remove(&id);
        }
        thread::join(t, thread);
    });
}

/// Before a detach: afterwards the id may be another thread's.
pub fn detaches(id: pthread_t) {
    event(|_| {
        let thread = {
            let mut table = KNOWN.lock();
            let Some(known) = table.as_mut().and_then(|known| known.get_mut(&id)) else {
                return;
            };
            known.detached = true;
            let (thread, ended) = (known.thread, known.ended);
            if ended && let Some(table) = table.as_mut() {
                table.remove(&id);
            }
            thread
        };
        thread::detach(thread);
    });
}

/// In the child of a `fork`: its threads are others.
pub fn forget_all() {
    *KNOWN.lock() = None;
}

/// The table's lock, around a `fork`.
pub fn hold() {
    KNOWN.hold();
}

/// Gives it back.
pub fn let_go() {
    KNOWN.let_go();
}

// SAFETY of calling it: only libc does, in a new thread, with what `pthread_create` below gave it.
unsafe extern "C-unwind" fn main_of_thread(start: *mut c_void) -> *mut c_void {
    // SAFETY: given by `pthread_create` below; the routine is of the type that it took.
    unsafe {
        let here = 0u8;
        let (routine, argument) = begin(start, (&raw const here).addr());
        core::mem::transmute::<usize, Routine>(routine)(argument)
    }
}

// SAFETY: as libc declares them, but that the destructor may unwind.
unsafe extern "C" {
    fn pthread_key_create(
        key: *mut pthread_key_t,
        destructor: unsafe extern "C-unwind" fn(*mut c_void),
    ) -> c_int;
    fn pthread_attr_getdetachstate(attributes: *const pthread_attr_t, state: *mut c_int) -> c_int;
}

/// # Safety
/// Valid attributes, or null.
unsafe fn starts_detached(attributes: *const pthread_attr_t) -> bool {
    let mut state = libc::PTHREAD_CREATE_JOINABLE;
    // SAFETY: the caller's promise.
    !attributes.is_null()
        && unsafe { pthread_attr_getdetachstate(attributes, &mut state) } == 0
        && state == libc::PTHREAD_CREATE_DETACHED
}

/// Threads with less than this for a stack get [`ROOM`] more.
const SMALL: size_t = 256 << 10;

/// What the runtime takes of the stack of a thread, and some more. (Reports have a stack of their own.)
const ROOM: size_t = 64 << 10;

/// The attributes with a larger stack, where they ask for one so small that the runtime would not be left enough. A stack that
/// the program brings along is its own affair.
///
/// # Safety
/// Valid attributes, or null for the defaults.
unsafe fn with_room(attributes: *const pthread_attr_t) -> Option<pthread_attr_t> {
    // SAFETY: attributes that are there, or made here. The copy is looked at while the caller's are there, and nothing of it
    // is given back.
    unsafe {
        let mut roomy = core::mem::MaybeUninit::<pthread_attr_t>::uninit();
        if attributes.is_null() {
            if libc::pthread_attr_init(roomy.as_mut_ptr()) != 0 {
                return None;
            }
        } else {
            core::ptr::copy_nonoverlapping(attributes, roomy.as_mut_ptr(), 1);
        }
        let mut roomy = roomy.assume_init();
        let (mut start, mut size) = (core::ptr::null_mut(), 0);
        if libc::pthread_attr_getstack(&roomy, &mut start, &mut size) != 0 {
            return None;
        }
        // The C library says where the stack ends; where it has yet to be made, that is nowhere.
        let own = (start as usize).wrapping_add(size) != 0;
        let asked = libc::pthread_attr_getstacksize(&roomy, &mut size) == 0;
        let more = !own && asked && size < SMALL;
        (more && libc::pthread_attr_setstacksize(&mut roomy, size + ROOM) == 0).then_some(roomy)
    }
}

interpose! {
    fn pthread_create[pc, real](
        id: *mut pthread_t,
        attributes: *const pthread_attr_t,
        routine: Routine,
        argument: *mut c_void,
    ) -> c_int {
        // SAFETY: the caller's attributes.
        let detached = unsafe { starts_detached(attributes) };
        // SAFETY: as above.
        let roomy = unsafe { with_room(attributes) };
        let attributes = roomy.as_ref().map_or(attributes, core::ptr::from_ref);
        let Some((start, new)) = prepare(routine as usize, argument, detached, pc) else {
            // SAFETY: the caller's arguments.
            return unsafe { real(id, attributes, routine, argument) };
        };
        // SAFETY: the caller's arguments but for the routine, which runs the caller's.
        let result = unsafe { real(id, attributes, main_of_thread, start.cast()) };
        // SAFETY: written by the real function where it succeeded.
        unsafe { created(start, new, (result == 0).then(|| *id)) };
        event(|t| record::range(t, record::WRITE, id as usize, size_of::<pthread_t>(), pc));
        result
    }

    fn pthread_join[pc, real](id: pthread_t, value: *mut *mut c_void) -> c_int {
        let thread = look_up(id);
        if let Some(thread) = thread {
            event(|t| heard::waits(t, thread));
        }
        // SAFETY: the caller's arguments.
        let result = unsafe { real(id, value) };
        if result == 0 {
            joined(id, thread, pc);
        }
        if thread.is_some() {
            event(heard::goes_on);
        }
        result
    }

    fn pthread_tryjoin_np[pc, real](id: pthread_t, value: *mut *mut c_void) -> c_int {
        let thread = look_up(id);
        // SAFETY: the caller's arguments.
        let result = unsafe { real(id, value) };
        if result == 0 {
            joined(id, thread, pc);
        }
        result
    }

    fn pthread_timedjoin_np[pc, real](id: pthread_t, value: *mut *mut c_void, until: *const timespec) -> c_int {
        let thread = look_up(id);
        // SAFETY: the caller's arguments.
        let result = unsafe { real(id, value, until) };
        if result == 0 {
            joined(id, thread, pc);
        }
        result
    }

    fn pthread_clockjoin_np[pc, real](
        id: pthread_t,
        value: *mut *mut c_void,
        clock: clockid_t,
        until: *const timespec,
    ) -> c_int {
        let thread = look_up(id);
        // SAFETY: the caller's arguments.
        let result = unsafe { real(id, value, clock, until) };
        if result == 0 {
            joined(id, thread, pc);
        }
        result
    }

    fn pthread_detach[_, real](id: pthread_t) -> c_int {
        detaches(id);
        // SAFETY: the caller's arguments.
        unsafe { real(id) }
    }
}
