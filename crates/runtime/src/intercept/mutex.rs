//! Mutexes: normal, recursive, error-checking, adaptive, robust, with priorities.
//!
//! A thread acquires after the real function took the lock and releases before the real one gives it: in between nobody
//! else can have it. So whether an unlock will fail must be known before, and is asked of the mutex itself.

use super::define::interpose;
use super::{event, event_at};
use crate::locks::{self, LockKind};
use crate::sync;
use core::ffi::{c_int, c_void};
use deadheat_event::Mode;
use libc::{clockid_t, pthread_mutex_t, timespec};

/// After a lock function: with `EOWNERDEAD` a robust mutex is taken, too.
pub fn locked(result: c_int, mutex: usize, pc: usize) {
    if result == 0 || result == libc::EOWNERDEAD {
        event_at(pc, |t| {
            sync::acquire(t, mutex, Mode::Exclusive);
            locks::took(t, LockKind::Mutex, mutex, pc);
        });
    }
}

/// Before an unlock that [`will_unlock`].
pub fn unlocks(mutex: usize, pc: usize) {
    event_at(pc, |t| {
        locks::gave(t, mutex);
        sync::release(t, mutex, Mode::Exclusive);
    });
}

/// Whether the calling thread's unlock of this mutex will be accepted. Kinds that know their owner refuse all others.
///
/// # Safety
/// A valid mutex.
pub unsafe fn will_unlock(mutex: *const c_void) -> bool {
    const TYPE: u32 = 3;
    const RECURSIVE: u32 = 1;
    const ERROR_CHECKING: u32 = 2;
    const ROBUST_OR_PRIORITY: u32 = 0x70;
    let words = mutex.cast::<u32>();
    // SAFETY: glibc's layout, part of its ABI: lock, count, owner, users, kind.
    let (owner, kind) = unsafe { (words.add(2).read_volatile(), words.add(4).read_volatile()) };
    let checks = matches!(kind & TYPE, RECURSIVE | ERROR_CHECKING) || kind & ROBUST_OR_PRIORITY != 0;
    // SAFETY: no arguments.
    !checks || owner == unsafe { libc::gettid() } as u32
}

interpose! {
    fn pthread_mutex_init[_, real](mutex: *mut pthread_mutex_t, attributes: *const c_void) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(mutex, attributes) };
        if result == 0 {
            event(|t| sync::forget(t, mutex as usize));
        }
        result
    }

    fn pthread_mutex_destroy[_, real](mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(mutex) };
        if result == 0 {
            event(|t| sync::forget(t, mutex as usize));
        }
        result
    }

    fn pthread_mutex_lock[pc, real](mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(mutex) };
        locked(result, mutex as usize, pc);
        result
    }

    fn pthread_mutex_trylock[pc, real](mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(mutex) };
        locked(result, mutex as usize, pc);
        result
    }

    fn pthread_mutex_timedlock[pc, real](mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(mutex, until) };
        locked(result, mutex as usize, pc);
        result
    }

    fn pthread_mutex_clocklock[pc, real](
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        until: *const timespec,
    ) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(mutex, clock, until) };
        locked(result, mutex as usize, pc);
        result
    }

    fn pthread_mutex_unlock[pc, real](mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: the caller's mutex.
        if unsafe { will_unlock(mutex.cast()) } {
            unlocks(mutex as usize, pc);
        }
        // SAFETY: the caller's arguments.
        unsafe { real(mutex) }
    }
}
