//! The end of the process: what was found is told, and the status may change.
//!
//! Whichever way leads to `exit` (a call from any thread, the return from `main`, the end of the last thread), the C
//! library runs the handlers registered with it, the last one first. Ours is registered before any other, so the
//! program's handlers and destructors have run when it is called. It cannot change the status, but it can call `exit`
//! again: the C library goes on where it was, with the new status.

use super::define::interpose;
use super::event;
use crate::{channel, sync};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, Ordering};

/// The process that speaks for itself: the one that the runtime was started in, or a child of `fork` with a reporter of its own. A child
/// of `vfork` is another one, and says nothing; nor does one whose parent was given the reporter, who hears of the parent's end.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// The status given to `quick_exit`, for the handler, which is not told.
static QUICK_STATUS: AtomicI32 = AtomicI32::new(0);

/// Where calls of `quick_exit` are ordered behind the registration of its handlers.
pub const QUICK: usize = 1;

// SAFETY: as glibc declares them.
unsafe extern "C" {
    fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    fn at_quick_exit(handler: extern "C" fn()) -> c_int;
}

/// Registers the handlers.
pub fn init() {
    PROCESS.store(process(), Ordering::Relaxed);
    // SAFETY: both handlers live as long as the process: a library with a thread-local variable is not unloaded.
    unsafe {
        on_exit(at_exit, core::ptr::null_mut());
        at_quick_exit(at_quick);
    }
}

/// After a `fork`, in the child.
pub fn child() {
    if channel::options().report_fd.is_none() {
        PROCESS.store(process(), Ordering::Relaxed);
        crate::exit::child();
    }
}

fn process() -> i32 {
    // SAFETY: no arguments. The child of `vfork` shares our memory, so the number is asked for each time.
    unsafe { libc::getpid() }
}

/// Tells what was found, if this is the process that was watched.
pub fn finish(status: c_int) -> c_int {
    if PROCESS.load(Ordering::Relaxed) == process() {
        crate::exit::finish(status)
    } else {
        status
    }
}

/// Tells what was found before a signal kills the process.
pub fn killed(signal: c_int) {
    if PROCESS.load(Ordering::Relaxed) == process() {
        crate::exit::killed(signal);
    }
}

extern "C" fn at_exit(status: c_int, _: *mut c_void) {
    let decided = finish(status);
    if decided != status {
        // SAFETY: see the head: the remaining work of `exit` is done by this call.
        unsafe { libc::exit(decided) };
    }
}

extern "C" fn at_quick() {
    let status = QUICK_STATUS.load(Ordering::Relaxed);
    let decided = finish(status);
    if decided != status {
        // Nothing is left to do: `quick_exit` neither flushes nor destroys.
        crate::log::exit_now(decided);
    }
}

interpose! {
    fn _exit[_, real](status: c_int) -> ! {
        // SAFETY: the caller's wish.
        unsafe { real(finish(status)) }
    }

    fn _Exit[_, real](status: c_int) -> ! {
        // SAFETY: the caller's wish.
        unsafe { real(finish(status)) }
    }

    fn quick_exit[_, real](status: c_int) -> ! {
        QUICK_STATUS.store(status, Ordering::Relaxed);
        event(|t| sync::receive(t, QUICK));
        // SAFETY: the caller's wish.
        unsafe { real(status) }
    }
}
