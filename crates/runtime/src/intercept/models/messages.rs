//! Messages: sockets, queues, several buffers at once.

use crate::intercept::model::{Model, models};
use core::ffi::{c_char, c_int, c_uint, c_void};
use libc::{iovec, mq_attr, mqd_t, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t, timespec};

/// The kernel refuses more buffers than that, and then looks at none.
const MOST: usize = libc::UIO_MAXIOV as usize;

/// The first `len` bytes of several buffers.
///
/// # Safety
/// As many buffers as that.
unsafe fn each(buffers: *const iovec, count: usize, len: usize, mut tell: impl FnMut(*mut c_void, usize)) {
    let mut left = len;
    for at in 0..count {
        // SAFETY: the caller's promise.
        let buffer = unsafe { *buffers.add(at) };
        let here = buffer.iov_len.min(left);
        tell(buffer.iov_base, here);
        left -= here;
    }
}

/// # Safety
/// As many buffers as that.
unsafe fn gather(m: Model, buffers: *const iovec, count: usize) {
    if buffers.is_null() || count > MOST {
        return;
    }
    m.read(buffers, count * size_of::<iovec>());
    // SAFETY: the caller's promise.
    unsafe { each(buffers, count, usize::MAX, |buffer, len| m.read(buffer, len)) };
}

/// # Safety
/// As many buffers as that.
unsafe fn scatter(m: Model, buffers: *const iovec, count: usize, result: ssize_t) {
    if result < 0 {
        return;
    }
    m.read(buffers, count * size_of::<iovec>());
    // SAFETY: the caller's promise.
    unsafe {
        each(buffers, count, result.max(0) as usize, |buffer, len| {
            m.write(buffer, len)
        })
    };
}

/// A datagram may be longer than the buffer, and with `MSG_TRUNC` its length is told: no more than the room was filled.
fn received(m: Model, buffer: *mut c_void, room: size_t, result: ssize_t) {
    m.write(buffer, (result.max(0) as usize).min(room));
}

models! {
    #[ours] fn readv(file: c_int, buffers: *const iovec, count: c_int) -> ssize_t,
        then |m, r| scatter(m, buffers, count.max(0) as usize, r);
    #[ours] fn writev(file: c_int, buffers: *const iovec, count: c_int) -> ssize_t,
        first |m| gather(m, buffers, count.max(0) as usize);
    fn preadv(file: c_int, buffers: *const iovec, count: c_int, offset: off_t) -> ssize_t,
        then |m, r| scatter(m, buffers, count.max(0) as usize, r);
    fn preadv64(file: c_int, buffers: *const iovec, count: c_int, offset: off_t) -> ssize_t,
        then |m, r| scatter(m, buffers, count.max(0) as usize, r);
    fn pwritev(file: c_int, buffers: *const iovec, count: c_int, offset: off_t) -> ssize_t,
        first |m| gather(m, buffers, count.max(0) as usize);
    fn pwritev64(file: c_int, buffers: *const iovec, count: c_int, offset: off_t) -> ssize_t,
        first |m| gather(m, buffers, count.max(0) as usize);

    #[ours] fn send(socket: c_int, buffer: *const c_void, len: size_t, flags: c_int) -> ssize_t,
        first |m| m.read(buffer, len);
    #[ours] fn sendto(socket: c_int, buffer: *const c_void, len: size_t, flags: c_int, to: *const sockaddr, to_len: socklen_t) -> ssize_t,
        first |m| { m.read(buffer, len); m.read(to, to_len as usize) };
    #[ours] fn sendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t,
        first |m| if !message.is_null() {
            m.look(message);
            m.read((*message).msg_name, (*message).msg_namelen as usize);
            m.read((*message).msg_control, (*message).msg_controllen);
            gather(m, (*message).msg_iov, (*message).msg_iovlen);
        };
    #[ours] fn recv(socket: c_int, buffer: *mut c_void, len: size_t, flags: c_int) -> ssize_t,
        then |m, r| received(m, buffer, len, r);
    #[ours] fn recvfrom(socket: c_int, buffer: *mut c_void, len: size_t, flags: c_int, from: *mut sockaddr, from_len: *mut socklen_t) -> ssize_t,
        as |f, m| {
            let room = if from.is_null() || from_len.is_null() { 0 } else { *from_len };
            let r = f(socket, buffer, len, flags, from, from_len);
            if r >= 0 {
                received(m, buffer, len, r);
                if !from.is_null() && !from_len.is_null() {
                    m.write(from, room.min(*from_len) as usize);
                    m.fill(from_len);
                }
            }
            r
        };
    #[ours] fn recvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t,
        as |f, m| {
            let room = if message.is_null() { 0 } else { (*message).msg_namelen };
            let r = f(socket, message, flags);
            if r >= 0 {
                scatter(m, (*message).msg_iov, (*message).msg_iovlen, r);
                m.write((*message).msg_name, room.min((*message).msg_namelen) as usize);
                m.write((*message).msg_control, (*message).msg_controllen);
                m.look(message);
                m.fill(&raw mut (*message).msg_namelen);
                m.fill(&raw mut (*message).msg_controllen);
                m.fill(&raw mut (*message).msg_flags);
            }
            r
        };
    #[ours] fn eventfd_read(file: c_int, value: *mut u64) -> c_int, then |m, r| if r == 0 { m.fill(value) };

    #[ours] fn mq_send(queue: mqd_t, buffer: *const c_char, len: size_t, priority: c_uint) -> c_int,
        first |m| m.read(buffer, len);
    #[ours] fn mq_timedsend(queue: mqd_t, buffer: *const c_char, len: size_t, priority: c_uint, until: *const timespec) -> c_int,
        first |m| { m.read(buffer, len); m.look(until) };
    #[ours] fn mq_receive(queue: mqd_t, buffer: *mut c_char, room: size_t, priority: *mut c_uint) -> ssize_t,
        then |m, r| if r >= 0 { m.filled(buffer, r); m.fill(priority) };
    #[ours] fn mq_timedreceive(queue: mqd_t, buffer: *mut c_char, room: size_t, priority: *mut c_uint, until: *const timespec) -> ssize_t,
        first |m| m.look(until), then |m, r| if r >= 0 { m.filled(buffer, r); m.fill(priority) };
    fn mq_getattr(queue: mqd_t, into: *mut mq_attr) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn mq_setattr(queue: mqd_t, new: *const mq_attr, old: *mut mq_attr) -> c_int,
        first |m| m.look(new), then |m, r| if r == 0 { m.fill(old) };
}
