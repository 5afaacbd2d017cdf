//! The lock of a stream, where the program takes it itself.

use super::define::interpose;
use super::event;
use crate::locks::{self, LockKind};
use crate::sync;
use core::ffi::c_int;
use deadheat_event::Mode;
use libc::FILE;

fn taken(stream: *mut FILE, pc: usize) {
    event(|t| {
        sync::acquire(t, stream as usize, Mode::Exclusive);
        locks::took(t, LockKind::Mutex, stream as usize, pc);
    });
}

interpose! {
    fn flockfile[pc, real](stream: *mut FILE) {
        // SAFETY: the caller's arguments.
        unsafe { real(stream) };
        taken(stream, pc);
    }

    fn ftrylockfile[pc, real](stream: *mut FILE) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(stream) };
        if result == 0 {
            taken(stream, pc);
        }
        result
    }

    fn funlockfile[_, real](stream: *mut FILE) {
        event(|t| {
            locks::gave(t, stream as usize);
            sync::release(t, stream as usize, Mode::Exclusive);
        });
        // SAFETY: the caller's arguments.
        unsafe { real(stream) };
    }
}
