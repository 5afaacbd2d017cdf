//! The allocator. Blocks are made known, and forgotten, for all callers; that a `free` or `realloc` is a write is checked
//! only where instrumented code calls it (the redirected functions at the end).

use super::define::{Real, interpose, real, redirect, replace, resolving};
use super::{bootstrap, event, global};
use crate::{checks, memory, record};
use core::ffi::{c_int, c_void};

// Not through `interpose!`: they are called from several places, also while functions are looked up.
real! {
    MALLOC: fn(usize) -> *mut c_void = c"malloc";
    CALLOC: fn(usize, usize) -> *mut c_void = c"calloc";
    REALLOC: fn(*mut c_void, usize) -> *mut c_void = c"realloc";
    FREE: fn(*mut c_void) = c"free";
}

/// Makes a block known.
fn allocated(block: *mut c_void, size: usize, pc: usize) {
    if !block.is_null() {
        event(|t| memory::allocated(t, block as usize, size, pc));
    }
}

/// Whether a function of the allocator cannot be used yet, because it is being looked up.
fn too_early<F: Copy>(real: &Real<F>) -> bool {
    !real.known() && resolving()
}

/// `malloc` for a caller at `pc`.
pub fn allocate(size: usize, pc: usize) -> *mut c_void {
    if too_early(&MALLOC) {
        return bootstrap::allocate(size).cast();
    }
    // SAFETY: any size will do.
    let block = unsafe { MALLOC.get()(size) };
    allocated(block, size, pc);
    block
}

/// # Safety
/// A block of the allocator that nobody uses any more, or null.
unsafe fn release(block: *mut c_void) {
    if block.is_null() || bootstrap::room(block as usize).is_some() {
        return;
    }
    if too_early(&FREE) {
        // The look-up itself frees the message of one that failed before, for somebody whose code runs before ours (other
        // runtimes). It is that block whose release made us look, or one that can be done without.
        return;
    }
    // Before the real one: from then on the block may be somebody else's.
    event(|t| {
        record::gone(t);
        memory::freed(block as usize)
    });
    // SAFETY: the caller's promise.
    unsafe { FREE.get()(block) };
}

/// # Safety
/// As for `realloc`.
unsafe fn reallocate(block: *mut c_void, size: usize, pc: usize) -> *mut c_void {
    if block.is_null() {
        return allocate(size, pc);
    }
    if let Some(room) = bootstrap::room(block as usize) {
        let new = allocate(size, pc);
        if !new.is_null() {
            // SAFETY: the new block has `size` bytes, the arena still `room`.
            unsafe { core::ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), size.min(room)) };
        }
        return new;
    }
    let before = event(|t| {
        record::gone(t);
        memory::freed(block as usize)
    })
    .flatten();
    // SAFETY: the caller's arguments.
    let new = unsafe { REALLOC.get()(block, size) };
    if !new.is_null() {
        allocated(new, size, pc);
    } else if let Some(before) = before
        && size > 0
    {
        allocated(block, before, pc);
    }
    new
}

replace! {
    fn malloc[pc](size: usize) -> *mut c_void {
        allocate(size, pc)
    }

    fn calloc[pc](count: usize, size: usize) -> *mut c_void {
        if too_early(&CALLOC) {
            return bootstrap::allocate(count.saturating_mul(size)).cast();
        }
        // SAFETY: the caller's arguments.
        let block = unsafe { CALLOC.get()(count, size) };
        // It did not overflow if there is a block.
        allocated(block, count.wrapping_mul(size), pc);
        block
    }

    fn realloc[pc](block: *mut c_void, size: usize) -> *mut c_void {
        // SAFETY: the caller's arguments.
        unsafe { reallocate(block, size, pc) }
    }

    fn reallocarray[pc](block: *mut c_void, count: usize, size: usize) -> *mut c_void {
        match count.checked_mul(size) {
            // SAFETY: the caller's arguments.
            Some(size) => unsafe { reallocate(block, size, pc) },
            None => too_large(),
        }
    }

    fn free[_](block: *mut c_void) {
        // SAFETY: the caller's block.
        unsafe { release(block) };
    }
}

interpose! {
    fn memalign[pc, real](alignment: usize, size: usize) -> *mut c_void {
        // SAFETY: the caller's arguments.
        let block = unsafe { real(alignment, size) };
        allocated(block, size, pc);
        block
    }

    fn aligned_alloc[pc, real](alignment: usize, size: usize) -> *mut c_void {
        // SAFETY: the caller's arguments.
        let block = unsafe { real(alignment, size) };
        allocated(block, size, pc);
        block
    }

    fn posix_memalign[pc, real](block: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(block, alignment, size) };
        if result == 0 {
            // SAFETY: just written by the real function.
            allocated(unsafe { *block }, size, pc);
        }
        result
    }

    fn valloc[pc, real](size: usize) -> *mut c_void {
        // SAFETY: the caller's arguments.
        let block = unsafe { real(size) };
        allocated(block, size, pc);
        block
    }

    fn pvalloc[pc, real](size: usize) -> *mut c_void {
        // SAFETY: the caller's arguments.
        let block = unsafe { real(size) };
        allocated(block, size.next_multiple_of(crate::vm::PAGE), pc);
        block
    }
}

/// How allocators refuse.
fn too_large() -> *mut c_void {
    // SAFETY: the C library's own variable of this thread.
    unsafe { *libc::__errno_location() = libc::ENOMEM };
    core::ptr::null_mut()
}

/// Checks that nothing is unordered with the end of a block: giving it back is a write to all of it.
pub fn check_free(block: *mut c_void, pc: usize) {
    if !block.is_null() {
        event(|t| {
            if let Some(size) = memory::size(block as usize) {
                checks::free(t, block as usize, size, pc);
            }
        });
    }
}

/// The process's `malloc`, which may be the program's own, for a caller at `pc`.
pub fn global_allocate(size: usize, pc: usize) -> *mut c_void {
    match global::malloc() {
        // SAFETY: any size will do.
        Some(malloc) if !ours(malloc as usize) => unsafe { malloc(size) },
        _ => allocate(size, pc),
    }
}

/// # Safety
/// As for `realloc`.
unsafe fn checked_reallocate(block: *mut c_void, size: usize, pc: usize) -> *mut c_void {
    check_free(block, pc);
    match global::realloc() {
        // SAFETY: the caller's arguments.
        Some(realloc) if !ours(realloc as usize) => unsafe { realloc(block, size) },
        // SAFETY: as above.
        _ => unsafe { reallocate(block, size, pc) },
    }
}

/// Whether a function is one of this library's.
fn ours(function: usize) -> bool {
    // SAFETY of the names: only their addresses are taken.
    unsafe extern "C" {
        /// The linker's name for the start of this library in memory.
        static __ehdr_start: u8;
        /// And for its end.
        static _end: u8;
    }
    (&raw const __ehdr_start as usize..&raw const _end as usize).contains(&function)
}

redirect! {
    fn free[pc](block: *mut c_void) {
        check_free(block, pc);
        match global::free() {
            // SAFETY: the caller's block.
            Some(free) => unsafe { free(block) },
            // SAFETY: as above.
            None => unsafe { release(block) },
        }
    }

    fn realloc[pc](block: *mut c_void, size: usize) -> *mut c_void {
        // SAFETY: the caller's arguments.
        unsafe { checked_reallocate(block, size, pc) }
    }

    fn reallocarray[pc](block: *mut c_void, count: usize, size: usize) -> *mut c_void {
        match count.checked_mul(size) {
            // SAFETY: the caller's arguments.
            Some(size) => unsafe { checked_reallocate(block, size, pc) },
            None => too_large(),
        }
    }
}
