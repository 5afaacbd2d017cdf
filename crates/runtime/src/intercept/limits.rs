//! Limits of memory as the program sets and sees them: [`crate::limits`].

use super::define::interpose;
use crate::{limits, thread};
use core::ffi::{c_int, c_uint};
use libc::{pid_t, rlimit64};

/// Whether a call is about a limit that the runtime has a part in.
fn ours(process: pid_t, resource: c_uint) -> bool {
    // SAFETY: no arguments.
    let own = process == 0 || process == unsafe { libc::getpid() };
    own && limits::COUNTED.contains(&resource)
}

/// What `prlimit` does in the calling process.
///
/// # Safety
/// Whole structures, or null.
unsafe fn both(resource: c_uint, new: *const rlimit64, old: *mut rlimit64) -> c_int {
    // SAFETY: as the caller promises.
    let new = unsafe { new.as_ref() };
    let result = thread::shut(|| match new {
        Some(new) => limits::set(resource, *new),
        None => limits::get(resource),
    });
    match result {
        Ok(before) => {
            // SAFETY: as above.
            if let Some(old) = unsafe { old.as_mut() } {
                *old = before;
            }
            0
        }
        Err(error) => {
            // SAFETY: the C library's own variable of this thread.
            unsafe { *libc::__errno_location() = error };
            -1
        }
    }
}

// The two structures are the same on this machine.
const _: () = assert!(size_of::<libc::rlimit>() == size_of::<rlimit64>());

interpose! {
    fn getrlimit[_, real](resource: c_uint, limit: *mut rlimit64) -> c_int {
        if !ours(0, resource) {
            // SAFETY: the caller's arguments.
            return unsafe { real(resource, limit) };
        }
        // SAFETY: as above.
        unsafe { both(resource, core::ptr::null(), limit) }
    }

    fn getrlimit64[_, real](resource: c_uint, limit: *mut rlimit64) -> c_int {
        if !ours(0, resource) {
            // SAFETY: the caller's arguments.
            return unsafe { real(resource, limit) };
        }
        // SAFETY: as above.
        unsafe { both(resource, core::ptr::null(), limit) }
    }

    fn setrlimit[_, real](resource: c_uint, limit: *const rlimit64) -> c_int {
        if limit.is_null() || !ours(0, resource) {
            // SAFETY: the caller's arguments.
            return unsafe { real(resource, limit) };
        }
        // SAFETY: as above.
        unsafe { both(resource, limit, core::ptr::null_mut()) }
    }

    fn setrlimit64[_, real](resource: c_uint, limit: *const rlimit64) -> c_int {
        if limit.is_null() || !ours(0, resource) {
            // SAFETY: the caller's arguments.
            return unsafe { real(resource, limit) };
        }
        // SAFETY: as above.
        unsafe { both(resource, limit, core::ptr::null_mut()) }
    }

    fn prlimit[_, real](process: pid_t, resource: c_uint, new: *const rlimit64, old: *mut rlimit64) -> c_int {
        if !ours(process, resource) {
            // SAFETY: the caller's arguments.
            return unsafe { real(process, resource, new, old) };
        }
        // SAFETY: as above.
        unsafe { both(resource, new, old) }
    }

    fn prlimit64[_, real](process: pid_t, resource: c_uint, new: *const rlimit64, old: *mut rlimit64) -> c_int {
        if !ours(process, resource) {
            // SAFETY: the caller's arguments.
            return unsafe { real(process, resource, new, old) };
        }
        // SAFETY: as above.
        unsafe { both(resource, new, old) }
    }
}
