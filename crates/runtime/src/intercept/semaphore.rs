//! Semaphores. A post is a read-modify-write of the counter with release, a wait one with acquire: a wait is ordered
//! behind all posts before it, not only behind the one whose token it takes.

use super::define::interpose;
use super::{event, event_at};
use crate::sync;
use core::ffi::{c_int, c_uint};
use libc::{clockid_t, sem_t, timespec};

fn waited(result: c_int, semaphore: *mut sem_t, pc: usize) {
    if result == 0 {
        event_at(pc, |t| sync::receive(t, semaphore as usize));
    }
}

interpose! {
    fn sem_init[_, real](semaphore: *mut sem_t, shared: c_int, value: c_uint) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(semaphore, shared, value) };
        if result == 0 {
            event(|t| sync::forget(t, semaphore as usize));
        }
        result
    }

    fn sem_destroy[_, real](semaphore: *mut sem_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(semaphore) };
        if result == 0 {
            event(|t| sync::forget(t, semaphore as usize));
        }
        result
    }

    fn sem_post[pc, real](semaphore: *mut sem_t) -> c_int {
        // Before: once the token is there, a waiter may be gone with it.
        event_at(pc, |t| sync::send(t, semaphore as usize));
        // SAFETY: the caller's arguments.
        unsafe { real(semaphore) }
    }

    fn sem_wait[pc, real](semaphore: *mut sem_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(semaphore) };
        waited(result, semaphore, pc);
        result
    }

    fn sem_trywait[pc, real](semaphore: *mut sem_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(semaphore) };
        waited(result, semaphore, pc);
        result
    }

    fn sem_timedwait[pc, real](semaphore: *mut sem_t, until: *const timespec) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(semaphore, until) };
        waited(result, semaphore, pc);
        result
    }

    fn sem_clockwait[pc, real](semaphore: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(semaphore, clock, until) };
        waited(result, semaphore, pc);
        result
    }
}
