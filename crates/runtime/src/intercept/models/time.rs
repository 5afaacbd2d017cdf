//! Clocks, timers, and times as people write them.

use crate::intercept::model::models;
use core::ffi::{c_char, c_int, c_long, c_void};
use libc::{clock_t, clockid_t, itimerspec, itimerval, sigevent, size_t, time_t, timespec, timeval, tm, tms};

/// Whether the last call was interrupted.
fn interrupted() -> bool {
    // SAFETY: the C library's own variable of this thread.
    unsafe { *libc::__errno_location() == libc::EINTR }
}

/// From the seconds to the day of the week, and to the year: what these look at. (What `strftime` looks at is its format's
/// affair.)
const ASCTIME: usize = core::mem::offset_of!(tm, tm_yday);
const MKTIME: usize = core::mem::offset_of!(tm, tm_wday);

models! {
    fn time(now: *mut time_t) -> time_t, then |m, r| if r != -1 { m.fill(now) };
    fn gettimeofday(now: *mut timeval, zone: *mut c_void) -> c_int, then |m, r| if r == 0 { m.fill(now) };
    fn clock_gettime(clock: clockid_t, now: *mut timespec) -> c_int, then |m, r| if r == 0 { m.fill(now) };
    fn clock_getres(clock: clockid_t, step: *mut timespec) -> c_int, then |m, r| if r == 0 { m.fill(step) };
    fn timespec_get(now: *mut timespec, base: c_int) -> c_int, then |m, r| if r != 0 { m.fill(now) };
    fn times(now: *mut tms) -> clock_t, then |m, r| if r != -1 { m.fill(now) };

    fn nanosleep(span: *const timespec, left: *mut timespec) -> c_int,
        first |m| m.look(span), then |m, r| if r != 0 && interrupted() { m.fill(left) };
    fn clock_nanosleep(clock: clockid_t, flags: c_int, span: *const timespec, left: *mut timespec) -> c_int,
        first |m| m.look(span),
        then |m, r| if r == libc::EINTR && flags & libc::TIMER_ABSTIME == 0 { m.fill(left) };

    fn getitimer(which: c_int, now: *mut itimerval) -> c_int, then |m, r| if r == 0 { m.fill(now) };
    #[ours] fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int,
        first |m| m.look(new), then |m, r| if r == 0 { m.fill(old) };
    fn timer_create(clock: clockid_t, event: *mut sigevent, timer: *mut *mut c_void) -> c_int,
        first |m| m.look(event), then |m, r| if r == 0 { m.fill(timer) };
    fn timer_gettime(timer: *mut c_void, now: *mut itimerspec) -> c_int, then |m, r| if r == 0 { m.fill(now) };
    fn timerfd_gettime(timer: c_int, now: *mut itimerspec) -> c_int, then |m, r| if r == 0 { m.fill(now) };
    #[ours] fn timer_settime(timer: *mut c_void, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int,
        first |m| m.look(new), then |m, r| if r == 0 { m.fill(old) };
    #[ours] fn timerfd_settime(timer: c_int, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int,
        first |m| m.look(new), then |m, r| if r == 0 { m.fill(old) };

    fn localtime_r(time: *const time_t, parts: *mut tm) -> *mut tm, first |m| m.look(time), then |m, r| m.fill(r);
    fn gmtime_r(time: *const time_t, parts: *mut tm) -> *mut tm, first |m| m.look(time), then |m, r| m.fill(r);
    fn ctime_r(time: *const time_t, into: *mut c_char) -> *mut c_char, first |m| m.look(time), then |m, r| m.made(r);
    fn asctime_r(parts: *const tm, into: *mut c_char) -> *mut c_char, first |m| m.read(parts, ASCTIME), then |m, r| m.made(r);
    // These have one object for all threads.
    fn localtime(time: *const time_t) -> *mut tm, first |m| m.look(time), then |m, r| m.fill(r);
    fn gmtime(time: *const time_t) -> *mut tm, first |m| m.look(time), then |m, r| m.fill(r);
    fn ctime(time: *const time_t) -> *mut c_char, first |m| m.look(time), then |m, r| m.made(r);
    fn asctime(parts: *const tm) -> *mut c_char, first |m| m.read(parts, ASCTIME), then |m, r| m.made(r);
    // They put the parts in order.
    fn mktime(parts: *mut tm) -> time_t, first |m| m.read(parts, MKTIME), then |m, r| if r != -1 { m.fill(parts) };
    fn timegm(parts: *mut tm) -> time_t, first |m| m.read(parts, MKTIME), then |m, r| if r != -1 { m.fill(parts) };
    fn strftime(into: *mut c_char, room: size_t, form: *const c_char, parts: *const tm) -> size_t,
        first |m| m.text(form), then |m, r| if r > 0 { m.write(into, r + 1) };
    fn clock_settime(clock: clockid_t, new: *const timespec) -> c_int, first |m| m.look(new);
}

// `long` is what the types above are made of.
const _: () = assert!(size_of::<c_long>() == 8);
