//! `mem*` functions, as instrumented code calls them: what they read and write is checked, then they run.
//!
//! A search or a comparison reads no further than to the byte that decides it.

use super::define::redirect;
use super::event;
use crate::checks;
use crate::hooks::link_all;
use crate::outside::links;
use core::ffi::{c_int, c_void};

/// A read, as far as the runtime listens.
pub fn read(from: *const c_void, len: usize, pc: usize) {
    if len > 0 {
        event(|t| checks::read(t, from as usize, len, pc));
    }
}

/// A write. If it is over already, what it left is there.
pub fn write(to: *mut c_void, len: usize, pc: usize) {
    if len > 0 {
        event(|t| checks::write(t, to as usize, len, pc));
        copied(to, len);
    }
}

/// What may be pointers was copied there.
pub fn copied(to: *mut c_void, len: usize) {
    if links::are_told() {
        link_all(to as usize, len);
    }
}

/// A copy.
pub fn copy(to: *mut c_void, from: *const c_void, len: usize, pc: usize) {
    if len > 0 {
        event(|t| {
            checks::read(t, from as usize, len, pc);
            checks::write(t, to as usize, len, pc);
        });
    }
}

/// Reads of the same length from two places.
pub fn read_both(one: *const c_void, other: *const c_void, len: usize, pc: usize) {
    if len > 0 {
        event(|t| {
            checks::read(t, one as usize, len, pc);
            checks::read(t, other as usize, len, pc);
        });
    }
}

/// How many bytes a function has read that stopped at `found`, or read all `len` if that is null.
pub fn up_to(start: *const c_void, found: *const c_void, len: usize) -> usize {
    if found.is_null() {
        len
    } else {
        found as usize - start as usize + 1
    }
}

/// # Safety
/// Both valid for `len` bytes.
unsafe fn compare(one: *const c_void, other: *const c_void, len: usize, pc: usize) -> c_int {
    // SAFETY: the caller's promise.
    let result = unsafe { libc::memcmp(one, other, len) };
    let decided = if result == 0 {
        len
    } else {
        let (a, b) = (one.cast::<u8>(), other.cast::<u8>());
        // SAFETY: they differ before `len`.
        unsafe { (0..len).take_while(|at| *a.add(*at) == *b.add(*at)).count() + 1 }
    };
    read_both(one, other, decided.min(len), pc);
    result
}

// SAFETY: libc's own, by their types there.
unsafe extern "C" {
    fn mempcpy(to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void;
    fn memccpy(to: *mut c_void, from: *const c_void, byte: c_int, len: usize) -> *mut c_void;
    fn rawmemchr(start: *const c_void, byte: c_int) -> *mut c_void;
    fn __memcpy_chk(to: *mut c_void, from: *const c_void, len: usize, room: usize) -> *mut c_void;
    fn __memmove_chk(to: *mut c_void, from: *const c_void, len: usize, room: usize) -> *mut c_void;
    fn __mempcpy_chk(to: *mut c_void, from: *const c_void, len: usize, room: usize) -> *mut c_void;
    fn __memset_chk(to: *mut c_void, byte: c_int, len: usize, room: usize) -> *mut c_void;
}

redirect! {
    fn memcpy[pc](to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void {
        copy(to, from, len, pc);
        // SAFETY: the caller's arguments, here and in all that follow.
        let end = unsafe { libc::memcpy(to, from, len) };
        copied(to, len);
        end
    }

    fn memmove[pc](to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void {
        copy(to, from, len, pc);
        // SAFETY: as above.
        let end = unsafe { libc::memmove(to, from, len) };
        copied(to, len);
        end
    }

    fn mempcpy[pc](to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void {
        copy(to, from, len, pc);
        // SAFETY: as above.
        let end = unsafe { mempcpy(to, from, len) };
        copied(to, len);
        end
    }

    fn bcopy[pc](from: *const c_void, to: *mut c_void, len: usize) {
        copy(to, from, len, pc);
        // SAFETY: as above.
        unsafe { libc::memmove(to, from, len) };
        copied(to, len);
    }

    fn memset[pc](to: *mut c_void, byte: c_int, len: usize) -> *mut c_void {
        write(to, len, pc);
        // SAFETY: as above.
        unsafe { libc::memset(to, byte, len) }
    }

    fn bzero[pc](to: *mut c_void, len: usize) {
        write(to, len, pc);
        // SAFETY: as above.
        unsafe { libc::memset(to, 0, len) };
    }

    fn explicit_bzero[pc](to: *mut c_void, len: usize) {
        write(to, len, pc);
        // SAFETY: as above.
        unsafe { libc::explicit_bzero(to, len) };
    }

    fn memccpy[pc](to: *mut c_void, from: *const c_void, byte: c_int, len: usize) -> *mut c_void {
        // SAFETY: as above.
        let found = unsafe { libc::memchr(from, byte, len) };
        copy(to, from, up_to(from, found, len), pc);
        // SAFETY: as above.
        unsafe { memccpy(to, from, byte, len) }
    }

    fn memcmp[pc](one: *const c_void, other: *const c_void, len: usize) -> c_int {
        // SAFETY: as above.
        unsafe { compare(one, other, len, pc) }
    }

    fn bcmp[pc](one: *const c_void, other: *const c_void, len: usize) -> c_int {
        // SAFETY: as above.
        unsafe { compare(one, other, len, pc) }
    }

    fn memchr[pc](start: *const c_void, byte: c_int, len: usize) -> *mut c_void {
        // SAFETY: as above.
        let found = unsafe { libc::memchr(start, byte, len) };
        read(start, up_to(start, found, len), pc);
        found
    }

    fn rawmemchr[pc](start: *const c_void, byte: c_int) -> *mut c_void {
        // SAFETY: as above.
        let found = unsafe { rawmemchr(start, byte) };
        read(start, up_to(start, found, 0), pc);
        found
    }

    fn memrchr[pc](start: *const c_void, byte: c_int, len: usize) -> *mut c_void {
        // SAFETY: as above.
        let found = unsafe { libc::memrchr(start, byte, len) };
        let first = if found.is_null() { start } else { found };
        read(first, start as usize + len - first as usize, pc);
        found
    }

    fn memmem[pc](start: *const c_void, len: usize, what: *const c_void, what_len: usize) -> *mut c_void {
        // SAFETY: as above.
        let found = unsafe { libc::memmem(start, len, what, what_len) };
        let seen = if found.is_null() { len } else { found as usize - start as usize + what_len };
        event(|t| {
            checks::read(t, start as usize, seen, pc);
            checks::read(t, what as usize, what_len, pc);
        });
        found
    }

    fn __memcpy_chk[pc](to: *mut c_void, from: *const c_void, len: usize, room: usize) -> *mut c_void {
        copy(to, from, len.min(room), pc);
        // SAFETY: as above.
        let end = unsafe { __memcpy_chk(to, from, len, room) };
        copied(to, len);
        end
    }

    fn __memmove_chk[pc](to: *mut c_void, from: *const c_void, len: usize, room: usize) -> *mut c_void {
        copy(to, from, len.min(room), pc);
        // SAFETY: as above.
        let end = unsafe { __memmove_chk(to, from, len, room) };
        copied(to, len);
        end
    }

    fn __mempcpy_chk[pc](to: *mut c_void, from: *const c_void, len: usize, room: usize) -> *mut c_void {
        copy(to, from, len.min(room), pc);
        // SAFETY: as above.
        let end = unsafe { __mempcpy_chk(to, from, len, room) };
        copied(to, len);
        end
    }

    fn __memset_chk[pc](to: *mut c_void, byte: c_int, len: usize, room: usize) -> *mut c_void {
        write(to, len.min(room), pc);
        // SAFETY: as above.
        unsafe { __memset_chk(to, byte, len, room) }
    }
}
