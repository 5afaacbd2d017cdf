//! The functions for wide characters that are used most, as instrumented code calls them.

use super::define::redirect;
use super::memory_functions::{copy, read, read_both, write};
use core::ffi::c_int;
use libc::wchar_t;

const WIDE: usize = size_of::<wchar_t>();

// SAFETY: as libc declares them.
unsafe extern "C" {
    fn wmemcpy(to: *mut wchar_t, from: *const wchar_t, len: usize) -> *mut wchar_t;
    fn wmemmove(to: *mut wchar_t, from: *const wchar_t, len: usize) -> *mut wchar_t;
    fn wmemset(to: *mut wchar_t, value: wchar_t, len: usize) -> *mut wchar_t;
    fn wcscpy(to: *mut wchar_t, from: *const wchar_t) -> *mut wchar_t;
    fn wcscmp(one: *const wchar_t, other: *const wchar_t) -> c_int;
    fn wmemcmp(one: *const wchar_t, other: *const wchar_t, len: usize) -> c_int;
}

/// How many characters of each a comparison reads.
///
/// # Safety
/// Valid up to the character that decides.
unsafe fn compared(one: *const wchar_t, other: *const wchar_t, limit: usize, ends: bool) -> usize {
    let mut at = 0;
    while at < limit {
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { (*one.add(at), *other.add(at)) };
        at += 1;
        if a != b || ends && a == 0 {
            break;
        }
    }
    at
}

redirect! {
    fn wcslen[pc](text: *const wchar_t) -> usize {
        // SAFETY: the caller's arguments, here and in all that follow.
        let len = unsafe { libc::wcslen(text) };
        read(text.cast(), (len + 1) * WIDE, pc);
        len
    }

    fn wcscpy[pc](to: *mut wchar_t, from: *const wchar_t) -> *mut wchar_t {
        // SAFETY: as above.
        unsafe {
            copy(to.cast(), from.cast(), (libc::wcslen(from) + 1) * WIDE, pc);
            wcscpy(to, from)
        }
    }

    fn wcscmp[pc](one: *const wchar_t, other: *const wchar_t) -> c_int {
        // SAFETY: as above.
        unsafe {
            read_both(one.cast(), other.cast(), compared(one, other, usize::MAX, true) * WIDE, pc);
            wcscmp(one, other)
        }
    }

    fn wmemcmp[pc](one: *const wchar_t, other: *const wchar_t, len: usize) -> c_int {
        // SAFETY: as above.
        unsafe {
            read_both(one.cast(), other.cast(), compared(one, other, len, false) * WIDE, pc);
            wmemcmp(one, other, len)
        }
    }

    fn wmemcpy[pc](to: *mut wchar_t, from: *const wchar_t, len: usize) -> *mut wchar_t {
        copy(to.cast(), from.cast(), len * WIDE, pc);
        // SAFETY: as above.
        unsafe { wmemcpy(to, from, len) }
    }

    fn wmemmove[pc](to: *mut wchar_t, from: *const wchar_t, len: usize) -> *mut wchar_t {
        copy(to.cast(), from.cast(), len * WIDE, pc);
        // SAFETY: as above.
        unsafe { wmemmove(to, from, len) }
    }

    fn wmemset[pc](to: *mut wchar_t, value: wchar_t, len: usize) -> *mut wchar_t {
        write(to.cast(), len * WIDE, pc);
        // SAFETY: as above.
        unsafe { wmemset(to, value, len) }
    }
}
