//! `operator delete`, as instrumented code calls it: giving memory back is a write to all of it. What allocates and frees
//! inside is `malloc` and `free`, or the program's own operators.

use super::alloc::check_free;
use super::define::redirect;
use super::global;
use core::ffi::c_void;

/// Without any definition there is no C++ library, so nothing but `free` can be meant.
///
/// # Safety
/// A block that came from `operator new`.
unsafe fn free(block: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { libc::free(block) };
}

macro_rules! delete {
    ($($name:ident($($arg:ident: $ty:ty),*) = $real:ident;)*) => { $(
        redirect! {
            fn $name[pc](block: *mut c_void, $($arg: $ty),*) {
                check_free(block, pc);
                match global::$real() {
                    // SAFETY: the caller's arguments.
                    Some(real) => unsafe { real(block, $($arg),*) },
                    // SAFETY: as above.
                    None => unsafe { free(block) },
                }
            }
        }
    )* };
}

delete! {
    _ZdlPv() = delete;
    _ZdaPv() = delete_array;
    _ZdlPvm(size: usize) = delete_sized;
    _ZdaPvm(size: usize) = delete_array_sized;
    _ZdlPvSt11align_val_t(alignment: usize) = delete_aligned;
    _ZdaPvSt11align_val_t(alignment: usize) = delete_array_aligned;
    _ZdlPvmSt11align_val_t(size: usize, alignment: usize) = delete_sized_aligned;
    _ZdaPvmSt11align_val_t(size: usize, alignment: usize) = delete_array_sized_aligned;
    _ZdlPvRKSt9nothrow_t(tag: *const c_void) = delete_nothrow;
    _ZdaPvRKSt9nothrow_t(tag: *const c_void) = delete_array_nothrow;
}
