//! Mappings. A new one starts without a history, and one that is gone leaves none. (What the C library maps for itself,
//! such as stacks and the allocator's arenas, does not come by here; threads and blocks are known by other means.)

use super::define::interpose;
use super::event;
use crate::{memory, outside};
use core::ffi::{c_int, c_void};
use deadheat_abi::shadow;
use libc::{off_t, size_t};

/// Whether the range touches the shadow.
fn in_shadow(start: usize, len: usize) -> bool {
    let (from, to) = (shadow::BASE as usize, (shadow::BASE + shadow::LEN) as usize);
    start < to && start.saturating_add(len) > from
}

/// Whether a mapping asked for exactly there would take the shadow's place.
fn refused(start: *mut c_void, len: usize, flags: c_int, fixed: c_int) -> bool {
    let refused = flags & fixed != 0 && in_shadow(start as usize, len);
    if refused {
        // SAFETY: the C library's own variable of this thread.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
    }
    refused
}

#[cfg(not(test))]
fn mapped(
    start: *mut c_void,
    len: usize,
    (protection, flags): (c_int, c_int),
    (file, offset): (c_int, off_t),
) {
    if start != libc::MAP_FAILED {
        event(|t| {
            outside::mappings::mapped(start as usize, len, protection, flags);
            memory::mapped(t, start as usize, len);
            outside::rings::unmapped(start as usize, len);
            if flags & libc::MAP_SHARED != 0 && outside::rings::is_ring(file, offset) {
                outside::rings::mapped(start as usize, len);
            }
        });
    }
}

const FIXED: c_int = libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE;

interpose! {
    fn munmap[_, real](start: *mut c_void, len: size_t) -> c_int {
        if refused(start, len, FIXED, FIXED) {
            return -1;
        }
        // Before the real one: from then on the range may be somebody else's.
        event(|t| {
            outside::mappings::gone(start as usize, len);
            memory::unmapped(t, start as usize, len);
            outside::rings::unmapped(start as usize, len);
        });
        // SAFETY: the caller's arguments.
        unsafe { real(start, len) }
    }

    fn mprotect[_, real](start: *mut c_void, len: size_t, protection: c_int) -> c_int {
        let readable = protection & libc::PROT_READ != 0;
        if !readable {
            event(|_| outside::hide(start as usize, len));
        }
        // SAFETY: the caller's arguments.
        let result = unsafe { real(start, len, protection) };
        if readable && result == 0 {
            event(|_| outside::show(start as usize, len));
        }
        result
    }

    fn mremap[_, real](old: *mut c_void, old_len: size_t, new_len: size_t, flags: c_int, new: *mut c_void) -> *mut c_void {
        if refused(new, new_len, flags, libc::MREMAP_FIXED) {
            return libc::MAP_FAILED;
        }
        let kind = event(|_| {
            if flags & libc::MREMAP_FIXED != 0 {
                outside::mappings::gone(new as usize, new_len);
            }
            outside::mappings::gone(old as usize, old_len)
        });
        // SAFETY: the caller's arguments. The last one is only there with `MREMAP_FIXED`, and only then looked at.
        let at = unsafe { real(old, old_len, new_len, flags, new) };
        if let Some(kind) = kind.flatten() {
            event(|_| {
                if at == libc::MAP_FAILED || flags & libc::MREMAP_DONTUNMAP != 0 {
                    outside::mappings::add(old as usize, old_len, kind);
                }
                if at != libc::MAP_FAILED {
                    outside::mappings::add(at as usize, new_len, kind);
                }
            });
        }
        if at != libc::MAP_FAILED {
            event(|t| {
                if at != old {
                    memory::unmapped(t, old as usize, old_len);
                    memory::mapped(t, at as usize, new_len);
                } else if new_len > old_len {
                    memory::mapped(t, old as usize + old_len, new_len - old_len);
                } else {
                    memory::unmapped(t, old as usize + new_len, old_len - new_len);
                }
            });
        }
        at
    }
}

// Six arguments leave no register for the caller's address, and nobody needs it.
macro_rules! mmap {
    ($name:ident, $real:ident) => {
        super::define::real! {
            $real: fn(*mut c_void, size_t, c_int, c_int, c_int, off_t) -> *mut c_void =
                super::define::c_name!($name);
        }

        // SAFETY of calling it: as for the function of libc that it stands in for.
        #[cfg(not(test))]
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(
            start: *mut c_void,
            len: size_t,
            protection: c_int,
            flags: c_int,
            file: c_int,
            offset: off_t,
        ) -> *mut c_void {
            if refused(start, len, flags, FIXED) {
                return libc::MAP_FAILED;
            }
            if flags & libc::MAP_FIXED != 0 {
                event(|_| outside::mappings::gone(start as usize, len));
            }
            // SAFETY: the caller's arguments.
            let at = unsafe { $real.get()(start, len, protection, flags, file, offset) };
            mapped(at, len, (protection, flags), (file, offset));
            at
        }
    };
}

mmap!(mmap, MMAP);
mmap!(mmap64, MMAP64);
