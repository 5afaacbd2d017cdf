//! Lines and bytes of streams.

use crate::intercept::model::{Model, models};
use crate::intercept::streams::{puts_into, took_from};
use core::ffi::{c_char, c_int, c_void};
use libc::{FILE, fpos_t, size_t, ssize_t, wchar_t};

/// A line is taken from a stream by `get`, into a buffer that the function may replace.
///
/// # Safety
/// The pointers are null or valid, as `getline` has them.
unsafe fn a_line(
    m: Model,
    text: *mut *mut c_char,
    room: *mut size_t,
    stream: *mut FILE,
    get: impl FnOnce() -> ssize_t,
) -> ssize_t {
    if text.is_null() || room.is_null() {
        return get();
    }
    // SAFETY: the caller's promise.
    let before = unsafe { (*text, *room) };
    let result = get();
    took_from(stream);
    // SAFETY: as above.
    let now = unsafe { (*text, *room) };
    m.look(text);
    m.look(room);
    if now.0 != before.0 {
        m.fill(text);
    }
    if now.1 != before.1 {
        m.fill(room);
    }
    if result >= 0 {
        m.write(now.0, result as usize + 1);
    }
    result
}

// SAFETY: the C library's own variables, of this type.
unsafe extern "C" {
    pub(super) static stdin: *mut FILE;
    pub(super) static stdout: *mut FILE;
}

models! {
    fn getline(text: *mut *mut c_char, room: *mut size_t, stream: *mut FILE) -> ssize_t, as |f, m| a_line(m, text, room, stream, || f(text, room, stream));
    fn getdelim(text: *mut *mut c_char, room: *mut size_t, end: c_int, stream: *mut FILE) -> ssize_t, as |f, m| a_line(m, text, room, stream, || f(text, room, end, stream));
    fn __getdelim(text: *mut *mut c_char, room: *mut size_t, end: c_int, stream: *mut FILE) -> ssize_t, as |f, m| a_line(m, text, room, stream, || f(text, room, end, stream));
    fn fgets(into: *mut c_char, room: c_int, stream: *mut FILE) -> *mut c_char,
        then |m, r| { took_from(stream); m.made(r) };
    fn fgets_unlocked(into: *mut c_char, room: c_int, stream: *mut FILE) -> *mut c_char,
        then |m, r| { took_from(stream); m.made(r) };
    fn fgetws(into: *mut wchar_t, room: c_int, stream: *mut FILE) -> *mut wchar_t,
        then |m, r| { took_from(stream); if !r.is_null() { m.write_wide(r, libc::wcslen(r) + 1) } };
    fn fread(into: *mut c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t,
        then |m, r| { took_from(stream); m.write(into, r * size) };
    fn fread_unlocked(into: *mut c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t,
        then |m, r| { took_from(stream); m.write(into, r * size) };
    fn fgetc(stream: *mut FILE) -> c_int, then |m, _| took_from(stream);
    fn getc(stream: *mut FILE) -> c_int, then |m, _| took_from(stream);
    fn getc_unlocked(stream: *mut FILE) -> c_int, then |m, _| took_from(stream);
    fn getchar() -> c_int, then |m, _| took_from(stdin);
    // What the macros call when there is nothing in the buffer, or no room.
    fn __uflow(stream: *mut FILE) -> c_int, then |m, _| took_from(stream);
    fn __overflow(stream: *mut FILE, byte: c_int) -> c_int, first |m| puts_into(stream);

    fn fputs(text: *const c_char, stream: *mut FILE) -> c_int, first |m| { puts_into(stream); m.text(text) };
    fn fputs_unlocked(text: *const c_char, stream: *mut FILE) -> c_int, first |m| { puts_into(stream); m.text(text) };
    fn puts(text: *const c_char) -> c_int, first |m| { puts_into(stdout); m.text(text) };
    fn fwrite(from: *const c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t,
        first |m| { puts_into(stream); m.read(from, size.wrapping_mul(count)) };
    fn fwrite_unlocked(from: *const c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t,
        first |m| { puts_into(stream); m.read(from, size.wrapping_mul(count)) };
    fn fputc(byte: c_int, stream: *mut FILE) -> c_int, first |m| puts_into(stream);
    fn putc(byte: c_int, stream: *mut FILE) -> c_int, first |m| puts_into(stream);
    fn putc_unlocked(byte: c_int, stream: *mut FILE) -> c_int, first |m| puts_into(stream);
    fn putchar(byte: c_int) -> c_int, first |m| puts_into(stdout);

    fn fgetpos(stream: *mut FILE, into: *mut fpos_t) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn fsetpos(stream: *mut FILE, from: *const fpos_t) -> c_int, first |m| m.look(from);
}
