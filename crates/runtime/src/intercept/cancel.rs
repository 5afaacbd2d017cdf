//! Threads that are cancelled: what their cleanup handlers and destructors do comes after what the thread did that cancelled them.
//!
//! The C library does not tell when a thread begins to act on it. So the thread comes behind its cancellation with the next thing
//! that somebody could see of it, a release or a race, unless it has said that it cannot be cancelled now.
//!
//! Misses the races of what the thread still does, after it was cancelled, until it comes to a call in which it can be, with what
//! was done before it was cancelled.

use super::define::interpose;
use super::files::KEYS;
use super::{event, threads};
use crate::heard;
use crate::spin::Spin;
use crate::sync;
use crate::thread::{Thread, ThreadRef};
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};
use libc::pthread_t;

/// Who was cancelled and has not come behind it.
static CANCELLED: Spin<Vec<u32>> = Spin::new(Vec::new());
/// Whether there are any.
static ANY: AtomicBool = AtomicBool::new(false);

/// Where a thread and who cancels it meet.
fn key(thread: u32) -> usize {
    KEYS | (thread as usize) << 4 | 10
}

/// Takes the lock, before a `fork`.
pub fn hold() {
    CANCELLED.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    CANCELLED.let_go();
}

/// After a `fork`, in the child: `t` is the only thread.
pub fn only(t: &Thread) {
    change(|cancelled| cancelled.retain(|thread| *thread == t.id));
}

fn change<R>(with: impl FnOnce(&mut Vec<u32>) -> R) -> R {
    let mut cancelled = CANCELLED.lock();
    let result = with(&mut cancelled);
    ANY.store(!cancelled.is_empty(), Ordering::Relaxed);
    result
}

/// `t` is about to cancel another thread.
fn cancels(t: &mut Thread, thread: ThreadRef) {
    // It may be in a call in which it waits for another thread.
    heard::handlers_may_run();
    if t.serial || thread.0 == t.id {
        return;
    }
    sync::send(t, key(thread.0));
    change(|cancelled| {
        if !cancelled.contains(&thread.0) {
            cancelled.push(thread.0);
        }
    });
}

/// Nothing is to be told to a thread any more: it has ended. To be called again when it is waited for, since it may be cancelled in between.
pub fn forget(thread: u32) {
    if any() {
        change(|cancelled| cancelled.retain(|other| *other != thread));
    }
}

/// Whether any thread was cancelled and has not come behind it.
#[inline(always)]
pub fn any() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// The thread comes behind its cancellation. Whether there was one.
#[cold]
#[inline(never)]
pub fn come_behind(t: &mut Thread) -> bool {
    if t.uncancellable {
        return false;
    }
    let was = change(|cancelled| {
        let at = cancelled.iter().position(|thread| *thread == t.id);
        at.map(|at| cancelled.swap_remove(at)).is_some()
    });
    if was {
        sync::receive(t, key(t.id));
    }
    was
}

/// Runs `f`, which calls functions of libc at which a thread can be cancelled: not here, where it holds locks.
pub fn uncancelled<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: as libc declares it.
    unsafe extern "C" {
        fn pthread_setcancelstate(state: i32, old: *mut i32) -> i32;
    }
    const DISABLE: i32 = 1;
    let mut before = 0;
    // SAFETY: writes the state as it was, which is put back.
    unsafe { pthread_setcancelstate(DISABLE, &raw mut before) };
    let result = f();
    // SAFETY: as above.
    unsafe { pthread_setcancelstate(before, std::ptr::null_mut()) };
    result
}

interpose! {
    fn pthread_cancel[_, real](id: pthread_t) -> c_int {
        if let Some(thread) = threads::look_up(id) {
            event(|t| cancels(t, thread));
        }
        // SAFETY: the caller's argument.
        unsafe { real(id) }
    }

    fn pthread_setcancelstate[_, real](state: c_int, old: *mut c_int) -> c_int {
        const DISABLE: c_int = 1;
        // SAFETY: the caller's arguments.
        let result = unsafe { real(state, old) };
        if result == 0 {
            event(|t| t.uncancellable = state == DISABLE);
        }
        result
    }
}
