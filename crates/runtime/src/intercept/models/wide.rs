//! Wide characters, and characters of several bytes.

use crate::intercept::model::models;
use core::ffi::{c_char, c_int, c_long, c_void};
use libc::{size_t, wchar_t};

/// What a conversion answers when it failed, or when the character is not whole.
const FAILED: size_t = usize::MAX;
const NOT_WHOLE: size_t = usize::MAX - 1;

// SAFETY: the C library's own functions, of these types.
unsafe extern "C" {
    fn wcsnlen(text: *const wchar_t, limit: size_t) -> size_t;
    fn __ctype_get_mb_cur_max() -> size_t;
}

models! {
    fn wcsncpy(to: *mut wchar_t, from: *const wchar_t, limit: size_t) -> *mut wchar_t,
        first |m| { m.read_wide(from, (wcsnlen(from, limit) + 1).min(limit)); m.write_wide(to, limit) };
    fn wcscat(to: *mut wchar_t, from: *const wchar_t) -> *mut wchar_t, first |m| {
        let (before, added) = (libc::wcslen(to), libc::wcslen(from) + 1);
        m.read_wide(from, added);
        m.read_wide(to, before + 1);
        m.write_wide(to.add(before), added);
    };
    fn wcschr(text: *const wchar_t, what: wchar_t) -> *mut wchar_t, then |m, r| {
        let end = if r.is_null() { libc::wcslen(text) } else { r.offset_from(text) as usize };
        m.read_wide(text, end + 1);
    };
    fn wcsrchr(text: *const wchar_t, what: wchar_t) -> *mut wchar_t, first |m| m.read_wide(text, libc::wcslen(text) + 1);
    fn wcsdup(text: *const wchar_t) -> *mut wchar_t, then |m, r| if !r.is_null() {
        let len = libc::wcslen(text) + 1;
        m.read_wide(text, len);
        m.write_wide(r, len);
    };
    fn wcstol(text: *const wchar_t, told: *mut *mut wchar_t, base: c_int) -> c_long, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end, base);
        m.read_wide(text, end.offset_from(text) as usize + 1);
        if !told.is_null() {
            *told = end;
            m.fill(told);
        }
        r
    };

    fn mbstowcs(to: *mut wchar_t, from: *const c_char, limit: size_t) -> size_t,
        then |m, r| if r != FAILED && !to.is_null() {
            if r < limit { m.text(from) }
            m.write_wide(to, (r + 1).min(limit));
        };
    fn wcstombs(to: *mut c_char, from: *const wchar_t, limit: size_t) -> size_t,
        then |m, r| if r != FAILED && !to.is_null() {
            if r < limit { m.read_wide(from, libc::wcslen(from) + 1) }
            m.write(to, (r + 1).min(limit));
        };
    fn mbtowc(to: *mut wchar_t, from: *const c_char, limit: size_t) -> c_int,
        then |m, r| if r >= 0 && !from.is_null() { m.read(from, r.max(1) as usize); m.fill(to) };
    fn mbrtowc(to: *mut wchar_t, from: *const c_char, limit: size_t, state: *mut c_void) -> size_t,
        then |m, r| if r < NOT_WHOLE && !from.is_null() { m.read(from, r.max(1)); m.fill(to) };
    fn wctomb(to: *mut c_char, from: wchar_t) -> c_int, then |m, r| m.filled(to, r as isize);
    fn wcrtomb(to: *mut c_char, from: wchar_t, state: *mut c_void) -> size_t,
        then |m, r| if r <= __ctype_get_mb_cur_max() { m.write(to, r) };
}
