//! Addresses of hosts and sockets, and waiting for descriptors.

use crate::intercept::alloc::check_free;
use crate::intercept::model::{Model, models};
use core::ffi::{c_char, c_int, c_uint, c_void};
use libc::{addrinfo, epoll_event, fd_set, hostent, pollfd, size_t, sockaddr, socklen_t, timespec, timeval};

/// An address that was given out: `room` bytes were there for it, `len` says how many it has.
///
/// # Safety
/// As the function left them.
unsafe fn address(m: Model, into: *mut sockaddr, room: socklen_t, len: *mut socklen_t) {
    if !into.is_null() && !len.is_null() {
        // SAFETY: the caller's promise.
        m.write(into, unsafe { *len }.min(room) as usize);
        m.fill(len);
    }
}

/// # Safety
/// Valid or null.
unsafe fn room(into: *const sockaddr, len: *const socklen_t) -> socklen_t {
    if into.is_null() || len.is_null() {
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { *len }
}

/// What descriptors are waited for, and which are ready.
///
/// # Safety
/// As many as that.
unsafe fn polled(m: Model, files: *mut pollfd, count: u64, result: c_int) {
    if result < 0 {
        return;
    }
    for at in 0..count as usize {
        // SAFETY: the caller's promise.
        let file = unsafe { files.add(at) };
        m.read(file, 6);
        // SAFETY: as above.
        m.fill(unsafe { &raw mut (*file).revents });
    }
}

/// Sets of `count` descriptors, whole words of them.
fn selected(m: Model, count: c_int, sets: [*mut fd_set; 3], result: c_int) {
    let len = (count.max(0) as usize).div_ceil(64) * 8;
    for set in sets {
        m.read(set, len);
        if result >= 0 {
            m.write(set, len);
        }
    }
}

models! {
    fn getaddrinfo(host: *const c_char, service: *const c_char, hints: *const addrinfo, list: *mut *mut addrinfo) -> c_int,
        first |m| { m.text(host); m.text(service); m.read(hints, core::mem::offset_of!(addrinfo, ai_addrlen)) }, then |m, r| if r == 0 { m.fill(list) };
    fn freeaddrinfo(list: *mut addrinfo) -> (), first |m| {
        let mut next = list;
        while let Some(info) = next.as_ref() {
            check_free(info.ai_canonname.cast(), m.caller());
            check_free(next.cast(), m.caller());
            next = info.ai_next;
        }
    };
    fn getnameinfo(
        from: *const sockaddr, len: socklen_t, host: *mut c_char, host_room: socklen_t, service: *mut c_char,
        service_room: socklen_t, flags: c_int
    ) -> c_int, first |m| m.read(from, len as usize), then |m, r| if r == 0 {
        if host_room > 0 { m.made(host) }
        if service_room > 0 { m.made(service) }
    };
    fn gethostbyname_r(
        name: *const c_char, into: *mut hostent, buffer: *mut c_char, room: size_t, result: *mut *mut hostent,
        error: *mut c_int
    ) -> c_int, first |m| m.text(name), then |m, r| {
        m.fill(result);
        if r == 0 && !(*result).is_null() {
            m.fill(into);
            super::system::strings(m, &[(*into).h_name], buffer, room);
        }
    };
    fn inet_ntop(family: c_int, from: *const c_void, into: *mut c_char, room: socklen_t) -> *const c_char,
        then |m, r| if !r.is_null() {
            m.read(from, if family == libc::AF_INET6 { 16 } else { 4 });
            m.made(r.cast_mut());
        };
    fn inet_pton(family: c_int, from: *const c_char, into: *mut c_void) -> c_int,
        first |m| m.text(from),
        then |m, r| if r == 1 { m.write(into, if family == libc::AF_INET6 { 16 } else { 4 }) };
    fn inet_aton(from: *const c_char, into: *mut u32) -> c_int,
        first |m| m.text(from), then |m, r| if r != 0 { m.fill(into) };
    fn if_indextoname(number: c_uint, into: *mut c_char) -> *mut c_char, then |m, r| m.made(r);

    #[ours] fn accept(socket: c_int, from: *mut sockaddr, len: *mut socklen_t) -> c_int,
        as |f, m| {
            let room = room(from, len);
            let r = f(socket, from, len);
            if r >= 0 { address(m, from, room, len) }
            r
        };
    #[ours] fn accept4(socket: c_int, from: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int,
        as |f, m| {
            let room = room(from, len);
            let r = f(socket, from, len, flags);
            if r >= 0 { address(m, from, room, len) }
            r
        };
    fn getsockname(socket: c_int, into: *mut sockaddr, len: *mut socklen_t) -> c_int,
        as |f, m| {
            let room = room(into, len);
            let r = f(socket, into, len);
            if r == 0 { address(m, into, room, len) }
            r
        };
    fn getpeername(socket: c_int, into: *mut sockaddr, len: *mut socklen_t) -> c_int,
        as |f, m| {
            let room = room(into, len);
            let r = f(socket, into, len);
            if r == 0 { address(m, into, room, len) }
            r
        };
    fn getsockopt(socket: c_int, level: c_int, name: c_int, into: *mut c_void, len: *mut socklen_t) -> c_int,
        then |m, r| if r == 0 { m.write(into, *len as usize); m.fill(len) };
    fn setsockopt(socket: c_int, level: c_int, name: c_int, from: *const c_void, len: socklen_t) -> c_int,
        first |m| m.read(from, len as usize);
    #[ours] fn bind(socket: c_int, to: *const sockaddr, len: socklen_t) -> c_int, first |m| m.read(to, len as usize);
    #[ours] fn connect(socket: c_int, to: *const sockaddr, len: socklen_t) -> c_int, first |m| m.read(to, len as usize);

    #[ours] fn poll(files: *mut pollfd, count: u64, timeout: c_int) -> c_int, then |m, r| polled(m, files, count, r);
    #[ours] fn ppoll(files: *mut pollfd, count: u64, timeout: *const timespec, mask: *const c_void) -> c_int,
        first |m| m.look(timeout), then |m, r| polled(m, files, count, r);
    #[ours] fn select(count: c_int, reading: *mut fd_set, writing: *mut fd_set, failing: *mut fd_set, timeout: *mut timeval) -> c_int,
        then |m, r| { selected(m, count, [reading, writing, failing], r); if r >= 0 { m.fill(timeout) } };
    #[ours] fn pselect(
        count: c_int, reading: *mut fd_set, writing: *mut fd_set, failing: *mut fd_set, timeout: *const timespec,
        mask: *const c_void
    ) -> c_int, then |m, r| { selected(m, count, [reading, writing, failing], r); m.look(timeout) };
    #[ours] fn epoll_ctl(epoll: c_int, what: c_int, file: c_int, event: *mut epoll_event) -> c_int,
        first |m| if what != libc::EPOLL_CTL_DEL { m.look(event) };
    #[ours] fn epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int,
        then |m, r| m.filled(events, r as isize * 12);
    #[ours] fn epoll_pwait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int, mask: *const c_void) -> c_int,
        then |m, r| m.filled(events, r as isize * 12);
}

const _: () = assert!(size_of::<epoll_event>() == 12);
