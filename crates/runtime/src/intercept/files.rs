//! Bytes that go from thread to thread through the kernel: who gets them out comes after who put them in.
//!
//! What a descriptor refers to is asked of the kernel at each call, so nothing need be known of `dup`, `close` and the
//! like. The two ends of a pipe are one file. Sockets do not tell their peer, and all `eventfd`s look the same: those are
//! taken as one file each, which orders more than it must where a program uses several.
//!
//! The redirected functions also check the buffers; those of sockets are among the [`super::models`].

use super::define::{interpose, redirect};
use super::memory_functions::{read as check_read, write as check_write};
use super::{event, poll, processes, streams};
use crate::outside::rings;
use crate::{channel, sync, thread};
use core::ffi::{c_char, c_int, c_uint, c_void};
use libc::{iovec, mqd_t, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t};

/// Above all addresses of the program.
pub(super) const KEYS: usize = 1 << 62;
const SOCKETS: usize = KEYS | 1;
pub(super) const EVENTS: usize = KEYS | 2;

pub(super) fn status(descriptor: c_int) -> Option<libc::stat> {
    // SAFETY: the kernel fills in the status, or fails.
    unsafe {
        let mut status: libc::stat = core::mem::zeroed();
        (libc::fstat(descriptor, &mut status) == 0).then_some(status)
    }
}

pub(super) fn file_key(status: &libc::stat) -> usize {
    KEYS | (status.st_ino ^ status.st_dev << 40) as usize & (KEYS - 1) | 4
}

/// Where users of the file meet, if it passes bytes from one to another.
pub(super) fn key(descriptor: c_int) -> Option<usize> {
    let status = status(descriptor)?;
    match status.st_mode & libc::S_IFMT {
        libc::S_IFIFO => Some(file_key(&status)),
        libc::S_IFSOCK => Some(SOCKETS),
        // An anonymous inode.
        0 => Some(EVENTS),
        _ => None,
    }
}

/// Before bytes go in, or an end is closed.
pub(super) fn sends(descriptor: c_int) {
    event(|t| {
        if !t.serial
            && let Some(key) = key(descriptor)
        {
            sync::send(t, key);
            rings::send(t);
        }
    });
}

/// After bytes, or the end of them, came out.
pub(super) fn received(descriptor: c_int, result: ssize_t) {
    if result >= 0 {
        event(|t| {
            if !t.serial
                && let Some(key) = key(descriptor)
            {
                sync::receive(t, key);
                rings::receive(t);
            }
        });
    }
}

/// Queues look like files on a disk.
fn queue_sends(queue: mqd_t) {
    event(|t| {
        if !t.serial
            && let Some(status) = status(queue)
        {
            sync::send(t, file_key(&status));
        }
    });
}

fn queue_received(queue: mqd_t, result: ssize_t) {
    if result >= 0 {
        event(|t| {
            if !t.serial
                && let Some(status) = status(queue)
            {
                sync::receive(t, file_key(&status));
            }
        });
    }
}

interpose! {
    fn read[_, real](descriptor: c_int, buffer: *mut c_void, len: size_t) -> ssize_t {
        // SAFETY: the caller's arguments, here and in all that follow.
        let result = unsafe { real(descriptor, buffer, len) };
        received(descriptor, result);
        result
    }

    fn readv[_, real](descriptor: c_int, buffers: *const iovec, count: c_int) -> ssize_t {
        // SAFETY: as above.
        let result = unsafe { real(descriptor, buffers, count) };
        received(descriptor, result);
        result
    }

    fn recv[_, real](descriptor: c_int, buffer: *mut c_void, len: size_t, flags: c_int) -> ssize_t {
        // SAFETY: as above.
        let result = unsafe { real(descriptor, buffer, len, flags) };
        received(descriptor, result);
        result
    }

    fn recvmsg[_, real](descriptor: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
        // SAFETY: as above.
        let result = unsafe { real(descriptor, message, flags) };
        received(descriptor, result);
        result
    }

    fn write[_, real](descriptor: c_int, buffer: *const c_void, len: size_t) -> ssize_t {
        sends(descriptor);
        // SAFETY: as above.
        unsafe { real(descriptor, buffer, len) }
    }

    fn writev[_, real](descriptor: c_int, buffers: *const iovec, count: c_int) -> ssize_t {
        sends(descriptor);
        // SAFETY: as above.
        unsafe { real(descriptor, buffers, count) }
    }

    fn send[_, real](descriptor: c_int, buffer: *const c_void, len: size_t, flags: c_int) -> ssize_t {
        sends(descriptor);
        // SAFETY: as above.
        unsafe { real(descriptor, buffer, len, flags) }
    }

    fn sendmsg[_, real](descriptor: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
        sends(descriptor);
        // SAFETY: as above.
        unsafe { real(descriptor, message, flags) }
    }

    fn accept[_, real](descriptor: c_int, from: *mut sockaddr, len: *mut socklen_t) -> c_int {
        // SAFETY: as above.
        let result = unsafe { real(descriptor, from, len) };
        received(descriptor, result as ssize_t);
        result
    }

    fn accept4[_, real](descriptor: c_int, from: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int {
        // SAFETY: as above.
        let result = unsafe { real(descriptor, from, len, flags) };
        received(descriptor, result as ssize_t);
        result
    }

    // Who accepts comes after who connected, and that one after who listens.
    fn connect[_, real](descriptor: c_int, to: *const sockaddr, len: socklen_t) -> c_int {
        sends(descriptor);
        // SAFETY: as above.
        let result = unsafe { real(descriptor, to, len) };
        received(descriptor, result as ssize_t);
        result
    }

    fn bind[_, real](descriptor: c_int, to: *const sockaddr, len: socklen_t) -> c_int {
        sends(descriptor);
        // SAFETY: as above.
        unsafe { real(descriptor, to, len) }
    }

    fn listen[_, real](descriptor: c_int, backlog: c_int) -> c_int {
        sends(descriptor);
        // SAFETY: as above.
        unsafe { real(descriptor, backlog) }
    }

    // The C library's own calls of `read` and `write` do not come by here.
    fn eventfd_read[_, real](descriptor: c_int, value: *mut u64) -> c_int {
        // SAFETY: as above.
        let result = unsafe { real(descriptor, value) };
        received(descriptor, result as ssize_t);
        result
    }

    fn eventfd_write[_, real](descriptor: c_int, value: u64) -> c_int {
        sends(descriptor);
        // SAFETY: as above.
        unsafe { real(descriptor, value) }
    }

    // What was done before a timer was set is done when it fires.
    fn timerfd_settime[_, real](
        descriptor: c_int, flags: c_int, new: *const libc::itimerspec, old: *mut libc::itimerspec
    ) -> c_int {
        sends(descriptor);
        // SAFETY: as above.
        unsafe { real(descriptor, flags, new, old) }
    }

    fn mq_send[_, real](queue: mqd_t, buffer: *const c_char, len: size_t, priority: c_uint) -> c_int {
        queue_sends(queue);
        // SAFETY: as above.
        unsafe { real(queue, buffer, len, priority) }
    }

    fn mq_timedsend[_, real](
        queue: mqd_t, buffer: *const c_char, len: size_t, priority: c_uint, until: *const libc::timespec
    ) -> c_int {
        queue_sends(queue);
        // SAFETY: as above.
        unsafe { real(queue, buffer, len, priority, until) }
    }

    fn mq_receive[_, real](queue: mqd_t, buffer: *mut c_char, room: size_t, priority: *mut c_uint) -> ssize_t {
        // SAFETY: as above.
        let result = unsafe { real(queue, buffer, room, priority) };
        queue_received(queue, result);
        result
    }

    fn mq_timedreceive[_, real](
        queue: mqd_t, buffer: *mut c_char, room: size_t, priority: *mut c_uint, until: *const libc::timespec
    ) -> ssize_t {
        // SAFETY: as above.
        let result = unsafe { real(queue, buffer, room, priority, until) };
        queue_received(queue, result);
        result
    }

    fn shutdown[_, real](descriptor: c_int, how: c_int) -> c_int {
        sends(descriptor);
        // SAFETY: as above.
        unsafe { real(descriptor, how) }
    }

    fn close[_, real](descriptor: c_int) -> c_int {
        if is_ours(descriptor) {
            // SAFETY: the C library's own variable of this thread.
            unsafe { *libc::__errno_location() = libc::EBADF };
            return -1;
        }
        sends(descriptor);
        poll::closes(descriptor);
        processes::closes(descriptor);
        streams::changed();
        // SAFETY: as above.
        unsafe { real(descriptor) }
    }
}

/// Whether a descriptor is the one of the reports, which is none of the program's.
fn is_ours(descriptor: c_int) -> bool {
    descriptor >= 0 && descriptor == channel::descriptor()
}

interpose! {
    fn close_range[_, real](first: c_uint, last: c_uint, flags: c_int) -> c_int {
        // SAFETY: the caller's arguments, or parts of the range.
        around(first, last, |first, last| unsafe { real(first, last, flags) })
    }

    fn closefrom[_, real](first: c_int) -> () {
        let ours = channel::descriptor();
        if ours < first.max(0) {
            // SAFETY: the caller's argument.
            return unsafe { real(first) };
        }
        for descriptor in first.max(0)..ours {
            // SAFETY: closes what the caller wants closed.
            unsafe { libc::syscall(libc::SYS_close, descriptor) };
        }
        // SAFETY: as above.
        unsafe { real(ours + 1) }
    }

    fn dup2[_, real](old: c_int, new: c_int) -> c_int {
        if old != new && is_ours(new) {
            thread::shut(channel::make_way);
        }
        // SAFETY: the caller's arguments.
        let result = unsafe { real(old, new) };
        streams::changed();
        result
    }

    fn dup3[_, real](old: c_int, new: c_int, flags: c_int) -> c_int {
        if old != new && is_ours(new) {
            thread::shut(channel::make_way);
        }
        // SAFETY: the caller's arguments.
        let result = unsafe { real(old, new, flags) };
        streams::changed();
        result
    }
}

/// Closes the range without our descriptor.
fn around(first: c_uint, last: c_uint, close: impl Fn(c_uint, c_uint) -> c_int) -> c_int {
    let ours = channel::descriptor() as c_uint;
    if !(first..=last).contains(&ours) {
        return close(first, last);
    }
    let below = if first < ours { close(first, ours - 1) } else { 0 };
    let above = if ours < last { close(ours + 1, last) } else { 0 };
    below.min(above)
}

// Six arguments leave no register for the caller's address, and nobody needs it.
//
// SAFETY of calling these: as the functions of libc whose names and types they have.
super::define::real! {
    RECVFROM: fn(c_int, *mut c_void, size_t, c_int, *mut sockaddr, *mut socklen_t) -> ssize_t = c"recvfrom";
    SENDTO: fn(c_int, *const c_void, size_t, c_int, *const sockaddr, socklen_t) -> ssize_t = c"sendto";
}

// SAFETY: libc's own name and type.
#[cfg(not(test))]
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvfrom(
    descriptor: c_int,
    buffer: *mut c_void,
    len: size_t,
    flags: c_int,
    from: *mut sockaddr,
    from_len: *mut socklen_t,
) -> ssize_t {
    // SAFETY: as above.
    let result = unsafe { RECVFROM.get()(descriptor, buffer, len, flags, from, from_len) };
    received(descriptor, result);
    result
}

// SAFETY: libc's own name and type.
#[cfg(not(test))]
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendto(
    descriptor: c_int,
    buffer: *const c_void,
    len: size_t,
    flags: c_int,
    to: *const sockaddr,
    to_len: socklen_t,
) -> ssize_t {
    sends(descriptor);
    // SAFETY: as above.
    unsafe { SENDTO.get()(descriptor, buffer, len, flags, to, to_len) }
}

/// The bytes that a function says it has put into a buffer.
fn filled(buffer: *mut c_void, result: ssize_t, pc: usize) {
    check_write(buffer, result.max(0) as usize, pc);
}

redirect! {
    fn read[pc](descriptor: c_int, buffer: *mut c_void, len: size_t) -> ssize_t {
        // SAFETY: as above. Ours, which knows of pipes; so in the others where there is one.
        let result = unsafe { libc::read(descriptor, buffer, len) };
        filled(buffer, result, pc);
        result
    }

    fn pread[pc](descriptor: c_int, buffer: *mut c_void, len: size_t, offset: off_t) -> ssize_t {
        // SAFETY: as above.
        let result = unsafe { libc::pread(descriptor, buffer, len, offset) };
        filled(buffer, result, pc);
        result
    }

    fn pread64[pc](descriptor: c_int, buffer: *mut c_void, len: size_t, offset: off_t) -> ssize_t {
        // SAFETY: as above.
        let result = unsafe { libc::pread64(descriptor, buffer, len, offset) };
        filled(buffer, result, pc);
        result
    }

    fn write[pc](descriptor: c_int, buffer: *const c_void, len: size_t) -> ssize_t {
        check_read(buffer, len, pc);
        // SAFETY: as above.
        unsafe { libc::write(descriptor, buffer, len) }
    }

    fn pwrite[pc](descriptor: c_int, buffer: *const c_void, len: size_t, offset: off_t) -> ssize_t {
        check_read(buffer, len, pc);
        // SAFETY: as above.
        unsafe { libc::pwrite(descriptor, buffer, len, offset) }
    }

    fn pwrite64[pc](descriptor: c_int, buffer: *const c_void, len: size_t, offset: off_t) -> ssize_t {
        check_read(buffer, len, pc);
        // SAFETY: as above.
        unsafe { libc::pwrite64(descriptor, buffer, len, offset) }
    }
}
