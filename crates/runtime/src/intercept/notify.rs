//! Signals that threads send: a handler, or a thread that waits for them, comes after who sent one, or set the timer that
//! did.
//!
//! A thread's own `raise` needs nothing: what handles it is the same thread.

use super::define::interpose;
use super::event;
use super::files::{EVENTS, KEYS};
use crate::outside::rings;
use crate::sync;
use core::ffi::{c_int, c_uint, c_void};
use libc::{itimerspec, itimerval, pid_t, pthread_t, siginfo_t, sigset_t, sigval, timespec};

/// Where senders and receivers of a signal meet. Which signal a timer will send is known to the kernel: they are number 0.
fn key(signal: c_int) -> usize {
    KEYS | (signal as usize & 0x7f) << 4 | 3
}

fn sends(signal: c_int) {
    event(|t| {
        if !t.serial {
            sync::send(t, key(signal));
            // It may be read from a `signalfd`.
            sync::send(t, EVENTS);
            rings::send(t);
        }
    });
}

/// A handler begins, or a wait is over.
pub fn came(signal: c_int) {
    event(|t| {
        if !t.serial {
            sync::receive(t, key(signal));
            sync::receive(t, key(0));
        }
    });
}

interpose! {
    fn kill[_, real](process: pid_t, signal: c_int) -> c_int {
        sends(signal);
        // SAFETY: the caller's arguments, here and in all that follow.
        unsafe { real(process, signal) }
    }

    fn killpg[_, real](group: pid_t, signal: c_int) -> c_int {
        sends(signal);
        // SAFETY: as above.
        unsafe { real(group, signal) }
    }

    fn tgkill[_, real](process: pid_t, thread: pid_t, signal: c_int) -> c_int {
        sends(signal);
        // SAFETY: as above.
        unsafe { real(process, thread, signal) }
    }

    fn pthread_kill[_, real](thread: pthread_t, signal: c_int) -> c_int {
        sends(signal);
        // SAFETY: as above.
        unsafe { real(thread, signal) }
    }

    fn sigqueue[_, real](process: pid_t, signal: c_int, value: sigval) -> c_int {
        sends(signal);
        // SAFETY: as above.
        unsafe { real(process, signal, value) }
    }

    fn pthread_sigqueue[_, real](thread: pthread_t, signal: c_int, value: sigval) -> c_int {
        sends(signal);
        // SAFETY: as above.
        unsafe { real(thread, signal, value) }
    }

    fn alarm[_, real](seconds: c_uint) -> c_uint {
        sends(libc::SIGALRM);
        // SAFETY: as above.
        unsafe { real(seconds) }
    }

    fn setitimer[_, real](which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int {
        sends(0);
        // SAFETY: as above.
        unsafe { real(which, new, old) }
    }

    fn timer_settime[_, real](
        timer: *mut c_void, flags: c_int, new: *const itimerspec, old: *mut itimerspec
    ) -> c_int {
        sends(0);
        // SAFETY: as above.
        unsafe { real(timer, flags, new, old) }
    }

    fn sigwait[_, real](set: *const sigset_t, signal: *mut c_int) -> c_int {
        // SAFETY: as above.
        let result = unsafe { real(set, signal) };
        if result == 0 {
            // SAFETY: written by the real function.
            came(unsafe { *signal });
        }
        result
    }

    fn sigwaitinfo[_, real](set: *const sigset_t, info: *mut siginfo_t) -> c_int {
        // SAFETY: as above.
        let result = unsafe { real(set, info) };
        if result > 0 {
            came(result);
        }
        result
    }

    fn sigtimedwait[_, real](set: *const sigset_t, info: *mut siginfo_t, limit: *const timespec) -> c_int {
        // SAFETY: as above.
        let result = unsafe { real(set, info, limit) };
        if result > 0 {
            came(result);
        }
        result
    }
}
