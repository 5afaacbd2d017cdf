//! `str*` functions, as instrumented code calls them. A string is read up to and with its NUL, but no further than to
//! the character that decides.

use super::alloc;
use super::define::redirect;
use super::event;
use super::memory_functions::{copy, read, read_both, up_to};
use crate::checks;
use core::ffi::{c_char, c_int};

type Text = *const c_char;

/// # Safety
/// A string.
unsafe fn len(text: Text) -> usize {
    // SAFETY: the caller's promise.
    unsafe { libc::strlen(text) }
}

/// How many bytes of each a comparison reads: up to the first where they differ under `fold`, or end, or `limit`.
///
/// # Safety
/// Strings, or valid for `limit` bytes.
unsafe fn compared(one: Text, other: Text, limit: usize, fold: impl Fn(u8) -> u8) -> usize {
    let (one, other) = (one.cast::<u8>(), other.cast::<u8>());
    let mut at = 0;
    while at < limit {
        // SAFETY: neither has ended before.
        let (a, b) = unsafe { (*one.add(at), *other.add(at)) };
        at += 1;
        if a == 0 || fold(a) != fold(b) {
            break;
        }
    }
    at
}

fn lower(byte: u8) -> u8 {
    // SAFETY: any byte will do.
    unsafe { libc::tolower(byte.into()) as u8 }
}

/// Reads two strings of different lengths.
fn read_two(one: Text, one_len: usize, other: Text, other_len: usize, pc: usize) {
    event(|t| {
        checks::read(t, one as usize, one_len, pc);
        checks::read(t, other as usize, other_len, pc);
    });
}

/// Appends `added` bytes and a NUL at the end of `to`.
///
/// # Safety
/// A string.
unsafe fn append(to: *mut c_char, from: Text, read: usize, added: usize, pc: usize) {
    // SAFETY: the caller's promise.
    let before = unsafe { len(to) };
    event(|t| {
        checks::read(t, from as usize, read, pc);
        checks::read(t, to as usize, before + 1, pc);
        checks::write(t, to as usize + before, added + 1, pc);
    });
}

/// Copies as `strncpy` does: `limit` bytes are written, whatever the string's length.
///
/// # Safety
/// A string, or valid for `limit` bytes.
unsafe fn copy_padded(to: *mut c_char, from: Text, limit: usize, pc: usize) {
    // SAFETY: the caller's promise.
    let seen = unsafe { libc::strnlen(from, limit) + 1 }.min(limit);
    event(|t| {
        checks::read(t, from as usize, seen, pc);
        checks::write(t, to as usize, limit, pc);
    });
}

/// # Safety
/// `text` is valid for `len` bytes.
unsafe fn duplicate(text: Text, len: usize, read: usize, pc: usize) -> *mut c_char {
    let new = alloc::global_allocate(len + 1, pc).cast::<c_char>();
    if !new.is_null() {
        event(|t| {
            checks::read(t, text as usize, read, pc);
            checks::write(t, new as usize, len + 1, pc);
        });
        // SAFETY: a block of one byte more than the text.
        unsafe {
            core::ptr::copy_nonoverlapping(text, new, len);
            *new.add(len) = 0;
        }
    }
    new
}

// SAFETY: as libc declares them.
unsafe extern "C" {
    fn strchrnul(text: Text, byte: c_int) -> *mut c_char;
    fn stpncpy(to: *mut c_char, from: Text, limit: usize) -> *mut c_char;
    fn strcasestr(text: Text, what: Text) -> *mut c_char;
    fn __strcpy_chk(to: *mut c_char, from: Text, room: usize) -> *mut c_char;
    fn __stpcpy_chk(to: *mut c_char, from: Text, room: usize) -> *mut c_char;
    fn __strncpy_chk(to: *mut c_char, from: Text, limit: usize, room: usize) -> *mut c_char;
    fn __strcat_chk(to: *mut c_char, from: Text, room: usize) -> *mut c_char;
    fn __strncat_chk(to: *mut c_char, from: Text, limit: usize, room: usize) -> *mut c_char;
}

redirect! {
    fn strlen[pc](text: Text) -> usize {
        // SAFETY: the caller's arguments, here and in all that follow.
        let len = unsafe { len(text) };
        read(text.cast(), len + 1, pc);
        len
    }

    fn strnlen[pc](text: Text, limit: usize) -> usize {
        // SAFETY: as above.
        let len = unsafe { libc::strnlen(text, limit) };
        read(text.cast(), (len + 1).min(limit), pc);
        len
    }

    fn strcpy[pc](to: *mut c_char, from: Text) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            copy(to.cast(), from.cast(), len(from) + 1, pc);
            libc::strcpy(to, from)
        }
    }

    fn stpcpy[pc](to: *mut c_char, from: Text) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            copy(to.cast(), from.cast(), len(from) + 1, pc);
            libc::stpcpy(to, from)
        }
    }

    fn strncpy[pc](to: *mut c_char, from: Text, limit: usize) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            copy_padded(to, from, limit, pc);
            libc::strncpy(to, from, limit)
        }
    }

    fn stpncpy[pc](to: *mut c_char, from: Text, limit: usize) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            copy_padded(to, from, limit, pc);
            stpncpy(to, from, limit)
        }
    }

    fn strcat[pc](to: *mut c_char, from: Text) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            let added = len(from);
            append(to, from, added + 1, added, pc);
            libc::strcat(to, from)
        }
    }

    fn strncat[pc](to: *mut c_char, from: Text, limit: usize) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            let added = libc::strnlen(from, limit);
            append(to, from, (added + 1).min(limit), added, pc);
            libc::strncat(to, from, limit)
        }
    }

    fn strcmp[pc](one: Text, other: Text) -> c_int {
        // SAFETY: as above.
        unsafe {
            read_both(one.cast(), other.cast(), compared(one, other, usize::MAX, |byte| byte), pc);
            libc::strcmp(one, other)
        }
    }

    fn strncmp[pc](one: Text, other: Text, limit: usize) -> c_int {
        // SAFETY: as above.
        unsafe {
            read_both(one.cast(), other.cast(), compared(one, other, limit, |byte| byte), pc);
            libc::strncmp(one, other, limit)
        }
    }

    fn strcasecmp[pc](one: Text, other: Text) -> c_int {
        // SAFETY: as above.
        unsafe {
            read_both(one.cast(), other.cast(), compared(one, other, usize::MAX, lower), pc);
            libc::strcasecmp(one, other)
        }
    }

    fn strncasecmp[pc](one: Text, other: Text, limit: usize) -> c_int {
        // SAFETY: as above.
        unsafe {
            read_both(one.cast(), other.cast(), compared(one, other, limit, lower), pc);
            libc::strncasecmp(one, other, limit)
        }
    }

    fn strchr[pc](text: Text, byte: c_int) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            read(text.cast(), up_to(text.cast(), strchrnul(text, byte).cast(), 0), pc);
            libc::strchr(text, byte)
        }
    }

    fn strchrnul[pc](text: Text, byte: c_int) -> *mut c_char {
        // SAFETY: as above.
        let found = unsafe { strchrnul(text, byte) };
        read(text.cast(), up_to(text.cast(), found.cast(), 0), pc);
        found
    }

    fn strrchr[pc](text: Text, byte: c_int) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            read(text.cast(), len(text) + 1, pc);
            libc::strrchr(text, byte)
        }
    }

    fn strstr[pc](text: Text, what: Text) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            let found = libc::strstr(text, what);
            let what_len = len(what);
            let seen = if found.is_null() { len(text) + 1 } else { found as usize - text as usize + what_len };
            read_two(text, seen, what, what_len + 1, pc);
            found
        }
    }

    fn strcasestr[pc](text: Text, what: Text) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            let found = strcasestr(text, what);
            let what_len = len(what);
            let seen = if found.is_null() { len(text) + 1 } else { found as usize - text as usize + what_len };
            read_two(text, seen, what, what_len + 1, pc);
            found
        }
    }

    fn strspn[pc](text: Text, accepted: Text) -> usize {
        // SAFETY: as above.
        unsafe {
            let span = libc::strspn(text, accepted);
            read_two(text, span + 1, accepted, len(accepted) + 1, pc);
            span
        }
    }

    fn strcspn[pc](text: Text, rejected: Text) -> usize {
        // SAFETY: as above.
        unsafe {
            let span = libc::strcspn(text, rejected);
            read_two(text, span + 1, rejected, len(rejected) + 1, pc);
            span
        }
    }

    fn strpbrk[pc](text: Text, accepted: Text) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            read_two(text, libc::strcspn(text, accepted) + 1, accepted, len(accepted) + 1, pc);
            libc::strpbrk(text, accepted)
        }
    }

    fn strdup[pc](text: Text) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            let len = len(text);
            duplicate(text, len, len + 1, pc)
        }
    }

    fn strndup[pc](text: Text, limit: usize) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            let len = libc::strnlen(text, limit);
            duplicate(text, len, (len + 1).min(limit), pc)
        }
    }

    fn __strcpy_chk[pc](to: *mut c_char, from: Text, room: usize) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            copy(to.cast(), from.cast(), (len(from) + 1).min(room), pc);
            __strcpy_chk(to, from, room)
        }
    }

    fn __stpcpy_chk[pc](to: *mut c_char, from: Text, room: usize) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            copy(to.cast(), from.cast(), (len(from) + 1).min(room), pc);
            __stpcpy_chk(to, from, room)
        }
    }

    fn __strncpy_chk[pc](to: *mut c_char, from: Text, limit: usize, room: usize) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            copy_padded(to, from, limit.min(room), pc);
            __strncpy_chk(to, from, limit, room)
        }
    }

    fn __strcat_chk[pc](to: *mut c_char, from: Text, room: usize) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            let added = len(from);
            append(to, from, added + 1, added, pc);
            __strcat_chk(to, from, room)
        }
    }

    fn __strncat_chk[pc](to: *mut c_char, from: Text, limit: usize, room: usize) -> *mut c_char {
        // SAFETY: as above.
        unsafe {
            let added = libc::strnlen(from, limit);
            append(to, from, (added + 1).min(limit), added, pc);
            __strncat_chk(to, from, limit, room)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_reads_up_to_what_decides_it() {
        let read = |one: &core::ffi::CStr, other: &core::ffi::CStr, limit| {
            // SAFETY: two strings.
            unsafe { compared(one.as_ptr(), other.as_ptr(), limit, |byte| byte) }
        };
        assert_eq!(read(c"abc", c"abd", 99), 3);
        assert_eq!(read(c"abc", c"abc", 99), 4, "both ends are seen");
        assert_eq!(read(c"abc", c"ab", 99), 3);
        assert_eq!(read(c"abc", c"abd", 2), 2);
        assert_eq!(read(c"x", c"y", 0), 0);
        // SAFETY: two strings.
        assert_eq!(unsafe { compared(c"ABx".as_ptr(), c"aby".as_ptr(), 9, lower) }, 3);
    }
}
