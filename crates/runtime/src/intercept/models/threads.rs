//! What threads, signals and schedulers tell.

use crate::intercept::calls;
use crate::intercept::model::models;
use core::ffi::{c_char, c_int, c_uint, c_void};
use libc::{
    clockid_t, cpu_set_t, pid_t, pthread_attr_t, pthread_t, sched_param, sem_t, siginfo_t, sigset_t, size_t,
    stack_t, timespec,
};

/// What the kernel has of a set of signals. The C library's type has room for more.
const SIGNALS: usize = 8;

models! {
    #[ours] fn pthread_join(thread: pthread_t, value: *mut *mut c_void) -> c_int,
        first |m| calls(m.caller()), then |m, r| if r == 0 { m.fill(value) };
    #[ours] fn pthread_tryjoin_np(thread: pthread_t, value: *mut *mut c_void) -> c_int,
        first |m| calls(m.caller()), then |m, r| if r == 0 { m.fill(value) };
    #[ours] fn pthread_timedjoin_np(thread: pthread_t, value: *mut *mut c_void, until: *const timespec) -> c_int,
        first |m| { calls(m.caller()); m.look(until) }, then |m, r| if r == 0 { m.fill(value) };
    #[ours] fn pthread_clockjoin_np(thread: pthread_t, value: *mut *mut c_void, clock: clockid_t, until: *const timespec) -> c_int,
        first |m| { calls(m.caller()); m.look(until) }, then |m, r| if r == 0 { m.fill(value) };
    #[ours] fn thrd_join(thread: pthread_t, value: *mut c_int) -> c_int,
        first |m| calls(m.caller()), then |m, r| if r == 0 { m.fill(value) };
    fn pthread_getname_np(thread: pthread_t, into: *mut c_char, room: size_t) -> c_int,
        then |m, r| if r == 0 { m.made(into) };
    fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int, first |m| m.text(name);
    fn pthread_getattr_np(thread: pthread_t, into: *mut pthread_attr_t) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn pthread_attr_init(into: *mut pthread_attr_t) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn pthread_attr_getdetachstate(from: *const pthread_attr_t, into: *mut c_int) -> c_int,
        then |m, r| if r == 0 { m.fill(into) };
    fn pthread_attr_getguardsize(from: *const pthread_attr_t, into: *mut size_t) -> c_int,
        then |m, r| if r == 0 { m.fill(into) };
    fn pthread_attr_getstacksize(from: *const pthread_attr_t, into: *mut size_t) -> c_int,
        then |m, r| if r == 0 { m.fill(into) };
    fn pthread_attr_getschedparam(from: *const pthread_attr_t, into: *mut sched_param) -> c_int,
        then |m, r| if r == 0 { m.fill(into) };
    fn pthread_attr_getschedpolicy(from: *const pthread_attr_t, into: *mut c_int) -> c_int,
        then |m, r| if r == 0 { m.fill(into) };
    fn pthread_attr_getinheritsched(from: *const pthread_attr_t, into: *mut c_int) -> c_int,
        then |m, r| if r == 0 { m.fill(into) };
    fn pthread_attr_getscope(from: *const pthread_attr_t, into: *mut c_int) -> c_int,
        then |m, r| if r == 0 { m.fill(into) };
    fn pthread_attr_getstack(from: *const pthread_attr_t, start: *mut *mut c_void, size: *mut size_t) -> c_int,
        then |m, r| if r == 0 { m.fill(start); m.fill(size) };
    fn pthread_getaffinity_np(thread: pthread_t, room: size_t, into: *mut cpu_set_t) -> c_int,
        then |m, r| if r == 0 { m.write(into, room) };
    fn sched_getaffinity(process: pid_t, room: size_t, into: *mut cpu_set_t) -> c_int,
        then |m, r| if r == 0 { m.write(into, room) };
    fn sched_getparam(process: pid_t, into: *mut sched_param) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn pthread_getschedparam(thread: pthread_t, policy: *mut c_int, into: *mut sched_param) -> c_int,
        then |m, r| if r == 0 { m.fill(policy); m.fill(into) };
    fn pthread_getcpuclockid(thread: pthread_t, into: *mut clockid_t) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn clock_getcpuclockid(process: pid_t, into: *mut clockid_t) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn pthread_key_create(key: *mut c_uint, destroy: *const c_void) -> c_int, then |m, r| if r == 0 { m.fill(key) };
    fn sem_getvalue(semaphore: *mut sem_t, into: *mut c_int) -> c_int, then |m, r| if r == 0 { m.fill(into) };

    fn sigemptyset(set: *mut sigset_t) -> c_int, then |m, r| if r == 0 { m.write(set, SIGNALS) };
    fn sigfillset(set: *mut sigset_t) -> c_int, then |m, r| if r == 0 { m.write(set, SIGNALS) };
    fn sigaddset(set: *mut sigset_t, signal: c_int) -> c_int, then |m, r| if r == 0 { m.write(set, SIGNALS) };
    fn sigdelset(set: *mut sigset_t, signal: c_int) -> c_int, then |m, r| if r == 0 { m.write(set, SIGNALS) };
    fn sigismember(set: *const sigset_t, signal: c_int) -> c_int, then |m, r| if r >= 0 { m.read(set, SIGNALS) };
    fn sigpending(set: *mut sigset_t) -> c_int, then |m, r| if r == 0 { m.write(set, SIGNALS) };
    fn sigprocmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int,
        first |m| m.read(new, SIGNALS), then |m, r| if r == 0 { m.write(old, SIGNALS) };
    fn pthread_sigmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int,
        first |m| m.read(new, SIGNALS), then |m, r| if r == 0 { m.write(old, SIGNALS) };
    fn sigsuspend(mask: *const sigset_t) -> c_int, first |m| m.read(mask, SIGNALS);
    #[ours] fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int,
        first |m| m.look(new), then |m, r| if r == 0 { m.fill(old) };
    #[ours]
    fn sigaltstack(new: *const stack_t, old: *mut stack_t) -> c_int,
        first |m| m.look(new), then |m, r| if r == 0 { m.fill(old) };
    #[ours] fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int,
        first |m| m.read(set, SIGNALS), then |m, r| if r == 0 { m.fill(signal) };
    #[ours] fn sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int,
        first |m| m.read(set, SIGNALS), then |m, r| if r > 0 { m.fill(info) };
    #[ours] fn sigtimedwait(set: *const sigset_t, info: *mut siginfo_t, limit: *const timespec) -> c_int,
        first |m| { m.read(set, SIGNALS); m.look(limit) }, then |m, r| if r > 0 { m.fill(info) };
}
