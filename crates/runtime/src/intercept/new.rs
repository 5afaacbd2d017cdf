//! `operator new`, as instrumented code calls it. The C++ library's calls `malloc`, and from which line is only on the stack then, which takes long
//! to walk: it is said beforehand.

use super::define::redirect;
use super::{event, global};
use crate::code;
use core::ffi::c_void;

/// While it lives, code that is not instrumented allocates for the call at its place.
struct Called;

impl Called {
    fn at(pc: usize) -> Called {
        event(|t| t.places.called = pc);
        Called
    }
}

impl Drop for Called {
    /// Also if there is no memory, and an exception says so.
    fn drop(&mut self) {
        event(|t| t.places.called = 0);
    }
}

redirect! {
    fn _Znwm[pc](size: usize) -> *mut c_void {
        let Some(real) = global::new() else {
            // Without any definition there is no C++ library, so nothing but `malloc` can be meant.
            // SAFETY: any size will do.
            return unsafe { libc::malloc(size) };
        };
        // The program's own operator has a context of its own, and says itself where it allocates.
        let _called = (!code::instrumented(real as usize)).then(|| Called::at(pc));
        // SAFETY: the caller's argument.
        unsafe { real(size) }
    }
}
