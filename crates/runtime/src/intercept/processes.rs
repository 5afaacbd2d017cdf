//! What orders processes orders threads as well: semaphores and messages of System V, and locks on open files.
//!
//! A set of semaphores is taken as one object on which every operation gives and takes, and so is a locked file: that orders
//! more than it must where operations do not wait for each other. Locks of `fcntl` that belong to the process (`F_SETLK`) order no
//! threads.

use super::define::interpose;
use super::event;
use super::files::{KEYS, file_key, status};
use crate::sync;
use core::ffi::{c_int, c_long, c_void};
use core::sync::atomic::{AtomicBool, Ordering};
use libc::{size_t, ssize_t, timespec};

const SEMAPHORES: usize = KEYS | 8;
const MESSAGES: usize = KEYS | 9;

/// Whether a file was ever locked: then one that is closed may be.
static LOCKED: AtomicBool = AtomicBool::new(false);

fn gives(key: usize) {
    event(|t| {
        if !t.serial {
            sync::send(t, key);
        }
    });
}

fn took(key: usize, result: c_long) {
    if result >= 0 {
        event(|t| {
            if !t.serial {
                sync::receive(t, key);
            }
        });
    }
}

fn numbered(kind: usize, id: c_int) -> usize {
    kind | (id as u32 as usize) << 4
}

/// An operation that gives and takes.
fn both(key: usize, operation: impl FnOnce() -> c_int) -> c_int {
    gives(key);
    let result = operation();
    took(key, result.into());
    result
}

fn on_file(descriptor: c_int, operation: impl FnOnce() -> c_int) -> c_int {
    LOCKED.store(true, Ordering::Relaxed);
    match status(descriptor) {
        Some(status) => both(file_key(&status), operation),
        None => operation(),
    }
}

/// A descriptor is about to be closed, which may be the end of a lock.
pub fn closes(descriptor: c_int) {
    if LOCKED.load(Ordering::Relaxed)
        && let Some(status) = status(descriptor)
    {
        gives(file_key(&status));
    }
}

/// `fcntl` with a command.
fn control(descriptor: c_int, command: c_int, operation: impl FnOnce() -> c_int) -> c_int {
    match command {
        libc::F_OFD_SETLK | libc::F_OFD_SETLKW => on_file(descriptor, operation),
        _ => operation(),
    }
}

interpose! {
    fn semop[_, real](set: c_int, operations: *mut c_void, count: size_t) -> c_int {
        // SAFETY: the caller's arguments, here and in all that follow.
        both(numbered(SEMAPHORES, set), || unsafe { real(set, operations, count) })
    }

    fn semtimedop[_, real](set: c_int, operations: *mut c_void, count: size_t, limit: *const timespec) -> c_int {
        // SAFETY: as above.
        both(numbered(SEMAPHORES, set), || unsafe { real(set, operations, count, limit) })
    }

    // The last argument is a union, or is not there.
    fn semctl[_, real](set: c_int, number: c_int, command: c_int, argument: usize) -> c_int {
        // SAFETY: as above.
        both(numbered(SEMAPHORES, set), || unsafe { real(set, number, command, argument) })
    }

    fn msgsnd[_, real](queue: c_int, message: *const c_void, len: size_t, flags: c_int) -> c_int {
        gives(numbered(MESSAGES, queue));
        // SAFETY: as above.
        unsafe { real(queue, message, len, flags) }
    }

    fn msgrcv[_, real](queue: c_int, message: *mut c_void, len: size_t, kind: c_long, flags: c_int) -> ssize_t {
        // SAFETY: as above.
        let result = unsafe { real(queue, message, len, kind, flags) };
        took(numbered(MESSAGES, queue), result as c_long);
        result
    }

    fn flock[_, real](descriptor: c_int, operation: c_int) -> c_int {
        // SAFETY: as above.
        on_file(descriptor, || unsafe { real(descriptor, operation) })
    }

    // The last argument is a number, a pointer, or not there.
    fn fcntl[_, real](descriptor: c_int, command: c_int, argument: usize) -> c_int {
        // SAFETY: as above.
        control(descriptor, command, || unsafe { real(descriptor, command, argument) })
    }

    fn fcntl64[_, real](descriptor: c_int, command: c_int, argument: usize) -> c_int {
        // SAFETY: as above.
        control(descriptor, command, || unsafe { real(descriptor, command, argument) })
    }
}
