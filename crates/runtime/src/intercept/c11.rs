//! `<threads.h>`. The C library's own functions do not go through the `pthread_` ones that we export.

use super::cond::Waiting;
use super::define::interpose;
use super::event;
use super::mutex::{locked, unlocks, will_unlock};
use super::threads::{begin, created, detaches, joined, look_up, prepare};
use crate::sync;
use core::ffi::{c_int, c_void};
use libc::{pthread_t, timespec};

// SAFETY of calling one: with the argument that the program gave with it.
type Routine = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

/// `thrd_success`; all other answers mean that nothing was locked, created, joined.
const SUCCESS: c_int = 0;

// SAFETY of calling it: once, with what `prepare` made, as the C library does.
unsafe extern "C-unwind" fn main_of_thread(start: *mut c_void) -> c_int {
    // SAFETY: given by `thrd_create` below; the routine is of the type that it took.
    unsafe {
        let here = 0u8;
        let (routine, argument) = begin(start, (&raw const here).addr());
        core::mem::transmute::<usize, Routine>(routine)(argument)
    }
}

interpose! {
    fn thrd_create[pc, real](id: *mut pthread_t, routine: Routine, argument: *mut c_void) -> c_int {
        let Some((start, new)) = prepare(routine as usize, argument, false, pc) else {
            // SAFETY: the caller's arguments.
            return unsafe { real(id, routine, argument) };
        };
        // SAFETY: the caller's arguments but for the routine, which runs the caller's.
        let result = unsafe { real(id, main_of_thread, start.cast()) };
        // SAFETY: written by the real function where it succeeded.
        unsafe { created(start, new, (result == SUCCESS).then(|| *id)) };
        result
    }

    fn thrd_join[pc, real](id: pthread_t, value: *mut c_int) -> c_int {
        let thread = look_up(id);
        // SAFETY: the caller's arguments.
        let result = unsafe { real(id, value) };
        if result == SUCCESS {
            joined(id, thread, pc);
        }
        result
    }

    fn thrd_detach[_, real](id: pthread_t) -> c_int {
        detaches(id);
        // SAFETY: the caller's arguments.
        unsafe { real(id) }
    }

    fn mtx_init[_, real](mutex: *mut c_void, kind: c_int) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(mutex, kind) };
        if result == SUCCESS {
            event(|t| sync::forget(t, mutex as usize));
        }
        result
    }

    fn mtx_destroy[_, real](mutex: *mut c_void) {
        // SAFETY: the caller's arguments.
        unsafe { real(mutex) };
        event(|t| sync::forget(t, mutex as usize));
    }

    fn mtx_lock[pc, real](mutex: *mut c_void) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(mutex) };
        locked(result, mutex as usize, pc);
        result
    }

    fn mtx_trylock[pc, real](mutex: *mut c_void) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(mutex) };
        locked(result, mutex as usize, pc);
        result
    }

    fn mtx_timedlock[pc, real](mutex: *mut c_void, until: *const timespec) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(mutex, until) };
        locked(result, mutex as usize, pc);
        result
    }

    fn mtx_unlock[pc, real](mutex: *mut c_void) -> c_int {
        // SAFETY: the caller's mutex.
        if unsafe { will_unlock(mutex) } {
            unlocks(mutex as usize, pc);
        }
        // SAFETY: the caller's arguments.
        unsafe { real(mutex) }
    }

    fn cnd_wait[pc, real](cond: *mut c_void, mutex: *mut c_void) -> c_int {
        // SAFETY: the caller's arguments; begin and end enclose the wait.
        unsafe {
            let mut waiting = Waiting::new(mutex, pc);
            waiting.begin();
            let result = real(cond, mutex);
            waiting.end();
            result
        }
    }

    fn cnd_timedwait[pc, real](cond: *mut c_void, mutex: *mut c_void, until: *const timespec) -> c_int {
        // SAFETY: as above.
        unsafe {
            let mut waiting = Waiting::new(mutex, pc);
            waiting.begin();
            let result = real(cond, mutex, until);
            waiting.end();
            result
        }
    }
}
