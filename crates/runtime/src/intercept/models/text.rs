//! Numbers in text, words of a line, patterns, other alphabets.

use crate::intercept::model::{Model, models};
use core::ffi::{c_char, c_double, c_float, c_int, c_long, c_void};
use libc::{glob_t, regex_t, regmatch_t, size_t};

/// A number was read from text, up to and with the character that ends it.
///
/// # Safety
/// As the function left them.
unsafe fn number(m: Model, text: *const c_char, end: *mut c_char, told: *mut *mut c_char) {
    m.read(text, (end as usize).saturating_sub(text as usize) + 1);
    if !told.is_null() {
        // SAFETY: the caller's pointer.
        unsafe { *told = end };
        m.fill(told);
    }
}

/// The next word of a line was cut off: it was read from `start` on, a NUL was put at its end, and `next` was set.
///
/// # Safety
/// As the function left them.
unsafe fn cut(m: Model, start: *mut c_char, word: *mut c_char, next: *mut *mut c_char) {
    // SAFETY: the caller's promise.
    let rest = unsafe { *next };
    if word.is_null() {
        m.read(start, (rest as usize).saturating_sub(start as usize) + 1);
    } else {
        // SAFETY: the word is a string.
        let end = unsafe { word.add(libc::strlen(word)) };
        m.read(start, end as usize - start as usize + 1);
        if rest as usize == end as usize + 1 {
            m.write(end, 1);
        }
    }
    m.fill(next);
}

/// `REG_NOSUB` was asked for: no matches are told.
///
/// # Safety
/// A compiled pattern.
unsafe fn without_matches(pattern: *const regex_t) -> bool {
    // SAFETY: glibc's layout, part of its ABI: seven words, then bits, of which this is the fifth.
    unsafe { *pattern.cast::<u8>().add(56) & 0x10 != 0 }
}

models! {
    fn strtol(text: *const c_char, told: *mut *mut c_char, base: c_int) -> c_long, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end, base);
        number(m, text, end, told);
        r
    };
    fn strtoll(text: *const c_char, told: *mut *mut c_char, base: c_int) -> c_long, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end, base);
        number(m, text, end, told);
        r
    };
    fn strtoul(text: *const c_char, told: *mut *mut c_char, base: c_int) -> c_long, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end, base);
        number(m, text, end, told);
        r
    };
    fn strtoull(text: *const c_char, told: *mut *mut c_char, base: c_int) -> c_long, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end, base);
        number(m, text, end, told);
        r
    };
    fn strtoimax(text: *const c_char, told: *mut *mut c_char, base: c_int) -> c_long, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end, base);
        number(m, text, end, told);
        r
    };
    fn strtoumax(text: *const c_char, told: *mut *mut c_char, base: c_int) -> c_long, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end, base);
        number(m, text, end, told);
        r
    };
    fn __isoc23_strtol(text: *const c_char, told: *mut *mut c_char, base: c_int) -> c_long, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end, base);
        number(m, text, end, told);
        r
    };
    fn __isoc23_strtoll(text: *const c_char, told: *mut *mut c_char, base: c_int) -> c_long, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end, base);
        number(m, text, end, told);
        r
    };
    fn __isoc23_strtoul(text: *const c_char, told: *mut *mut c_char, base: c_int) -> c_long, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end, base);
        number(m, text, end, told);
        r
    };
    fn __isoc23_strtoull(text: *const c_char, told: *mut *mut c_char, base: c_int) -> c_long, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end, base);
        number(m, text, end, told);
        r
    };
    fn strtod(text: *const c_char, told: *mut *mut c_char) -> c_double, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end);
        number(m, text, end, told);
        r
    };
    fn strtof(text: *const c_char, told: *mut *mut c_char) -> c_float, as |f, m| {
        let mut end = text.cast_mut();
        let r = f(text, &mut end);
        number(m, text, end, told);
        r
    };
    fn atoi(text: *const c_char) -> c_int, then |m, _| {
        let mut end = text.cast_mut();
        libc::strtol(text, &mut end, 10);
        number(m, text, end, core::ptr::null_mut());
    };
    fn atol(text: *const c_char) -> c_long, then |m, _| {
        let mut end = text.cast_mut();
        libc::strtol(text, &mut end, 10);
        number(m, text, end, core::ptr::null_mut());
    };
    fn atoll(text: *const c_char) -> c_long, then |m, _| {
        let mut end = text.cast_mut();
        libc::strtol(text, &mut end, 10);
        number(m, text, end, core::ptr::null_mut());
    };
    fn atof(text: *const c_char) -> c_double, then |m, _| {
        let mut end = text.cast_mut();
        libc::strtod(text, &mut end);
        number(m, text, end, core::ptr::null_mut());
    };

    fn strtok_r(text: *mut c_char, ends: *const c_char, next: *mut *mut c_char) -> *mut c_char, as |f, m| {
        m.text(ends);
        let start = if text.is_null() { m.look(next); *next } else { text };
        let r = f(text, ends, next);
        if !start.is_null() { cut(m, start, r, next) }
        r
    };
    fn __strtok_r(text: *mut c_char, ends: *const c_char, next: *mut *mut c_char) -> *mut c_char, as |f, m| {
        m.text(ends);
        let start = if text.is_null() { m.look(next); *next } else { text };
        let r = f(text, ends, next);
        if !start.is_null() { cut(m, start, r, next) }
        r
    };
    fn strsep(next: *mut *mut c_char, ends: *const c_char) -> *mut c_char, as |f, m| {
        m.text(ends);
        m.look(next);
        let r = f(next, ends);
        if !r.is_null() { cut(m, r, r, next) }
        r
    };
    fn strerror_r(error: c_int, into: *mut c_char, room: size_t) -> *mut c_char, then |m, r| if r == into { m.made(r) };
    fn __xpg_strerror_r(error: c_int, into: *mut c_char, room: size_t) -> c_int, then |m, r| if r == 0 { m.made(into) };
    fn strcoll(one: *const c_char, other: *const c_char) -> c_int, first |m| { m.text(one); m.text(other) };
    fn strxfrm(into: *mut c_char, from: *const c_char, room: size_t) -> size_t,
        first |m| m.text(from), then |m, r| if r < room { m.write(into, r + 1) };
    fn swab(from: *const c_void, to: *mut c_void, len: isize) -> (),
        first |m| { m.read(from, len.max(0) as usize & !1); m.write(to, len.max(0) as usize & !1) };

    fn regcomp(pattern: *mut regex_t, text: *const c_char, flags: c_int) -> c_int,
        first |m| m.text(text), then |m, r| if r == 0 { m.fill(pattern) };
    fn regexec(pattern: *const regex_t, text: *const c_char, count: size_t, matches: *mut regmatch_t, flags: c_int) -> c_int,
        first |m| if flags & libc::REG_STARTEND == 0 { m.text(text) },
        then |m, r| if r == 0 && !without_matches(pattern) { m.write(matches, count * size_of::<regmatch_t>()) };
    fn regerror(error: c_int, pattern: *const regex_t, into: *mut c_char, room: size_t) -> size_t,
        then |m, r| m.write(into, r.min(room));
    // Of what they fill in, the number of words and the list of them come first.
    fn glob(pattern: *const c_char, flags: c_int, failed: *const c_void, into: *mut glob_t) -> c_int,
        first |m| m.text(pattern), then |m, r| if r == 0 { m.write(into, 16) };
    fn glob64(pattern: *const c_char, flags: c_int, failed: *const c_void, into: *mut glob_t) -> c_int,
        first |m| m.text(pattern), then |m, r| if r == 0 { m.write(into, 16) };
    fn wordexp(text: *const c_char, into: *mut c_void, flags: c_int) -> c_int,
        first |m| m.text(text), then |m, r| if r == 0 { m.write(into, 16) };
    fn iconv(
        converter: *mut c_void, from: *mut *mut c_char, left: *mut size_t, to: *mut *mut c_char, room: *mut size_t
    ) -> size_t, as |f, m| {
        let start = |place: *mut *mut c_char| if place.is_null() { core::ptr::null_mut() } else { *place };
        let before = (start(from), start(to));
        let r = f(converter, from, left, to, room);
        if !before.0.is_null() {
            m.read(before.0, *from as usize - before.0 as usize);
            m.fill(from);
            m.fill(left);
        }
        if !before.1.is_null() {
            m.write(before.1, *to as usize - before.1 as usize);
            m.fill(to);
            m.fill(room);
        }
        r
    };
}
