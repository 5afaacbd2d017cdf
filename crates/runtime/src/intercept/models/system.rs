//! What the system tells of itself, of users and of processes.

use crate::intercept::model::{Model, models};
use core::ffi::{c_char, c_double, c_int, c_uint, c_void};
use libc::{
    gid_t, group, id_t, passwd, pid_t, rlimit, rusage, siginfo_t, size_t, sysinfo, termios, uid_t, utsname,
};

/// Strings that were put into the caller's buffer.
///
/// # Safety
/// Strings or null.
pub(super) unsafe fn strings(m: Model, texts: &[*mut c_char], buffer: *mut c_char, room: size_t) {
    for text in texts {
        if (buffer as usize..buffer as usize + room).contains(&(*text as usize)) {
            // SAFETY: the caller's promise.
            unsafe { m.made(*text) };
        }
    }
}

/// # Safety
/// As the function left them.
unsafe fn user(m: Model, user: *mut passwd, buffer: *mut c_char, room: size_t, result: *mut *mut passwd) {
    m.fill(result);
    // SAFETY: the caller's promise.
    unsafe {
        if !(*result).is_null() {
            m.fill(user);
            let user = &*user;
            let texts = [
                user.pw_name,
                user.pw_passwd,
                user.pw_gecos,
                user.pw_dir,
                user.pw_shell,
            ];
            strings(m, &texts, buffer, room);
        }
    }
}

/// # Safety
/// As the function left them.
unsafe fn some_group(
    m: Model,
    group: *mut group,
    buffer: *mut c_char,
    room: size_t,
    result: *mut *mut group,
) {
    m.fill(result);
    // SAFETY: the caller's promise.
    unsafe {
        if !(*result).is_null() {
            m.fill(group);
            strings(m, &[(*group).gr_name, (*group).gr_passwd], buffer, room);
            let mut member = (*group).gr_mem;
            while !(*member).is_null() {
                m.fill(member);
                strings(m, &[*member], buffer, room);
                member = member.add(1);
            }
            m.fill(member);
        }
    }
}

models! {
    fn uname(names: *mut utsname) -> c_int, then |m, r| if r == 0 { m.fill(names) };
    fn sysinfo(into: *mut sysinfo) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn getrusage(who: c_int, into: *mut rusage) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    #[ours]
    fn getrlimit(what: c_int, into: *mut rlimit) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    #[ours]
    fn getrlimit64(what: c_int, into: *mut rlimit) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    #[ours]
    fn setrlimit(what: c_int, from: *const rlimit) -> c_int, first |m| m.look(from);
    fn getloadavg(into: *mut c_double, count: c_int) -> c_int, then |m, r| m.filled(into, r as isize * 8);
    fn gethostname(into: *mut c_char, room: size_t) -> c_int, then |m, r| if r == 0 { m.made(into) };
    fn getdomainname(into: *mut c_char, room: size_t) -> c_int, then |m, r| if r == 0 { m.write(into, (libc::strnlen(into, room) + 1).min(room)) };
    fn getlogin_r(into: *mut c_char, room: size_t) -> c_int, then |m, r| if r == 0 { m.made(into) };
    fn getgroups(room: c_int, into: *mut gid_t) -> c_int, then |m, r| if room > 0 { m.filled(into, r as isize * 4) };
    fn getrandom(into: *mut c_void, len: size_t, flags: c_uint) -> isize, then |m, r| m.filled(into, r);
    fn getentropy(into: *mut c_void, len: size_t) -> c_int, then |m, r| if r == 0 { m.write(into, len) };
    fn arc4random_buf(into: *mut c_void, len: size_t) -> (), then |m, ()| m.write(into, len);
    fn tcgetattr(terminal: c_int, into: *mut termios) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn tcsetattr(terminal: c_int, when: c_int, from: *const termios) -> c_int, first |m| m.read(from, core::mem::offset_of!(termios, c_cc) + 19);
    fn ttyname_r(terminal: c_int, into: *mut c_char, room: size_t) -> c_int, then |m, r| if r == 0 { m.made(into) };

    fn getpwuid_r(id: uid_t, into: *mut passwd, buffer: *mut c_char, room: size_t, result: *mut *mut passwd) -> c_int,
        then |m, _| user(m, into, buffer, room, result);
    fn getpwnam_r(name: *const c_char, into: *mut passwd, buffer: *mut c_char, room: size_t, result: *mut *mut passwd) -> c_int,
        first |m| m.text(name), then |m, _| user(m, into, buffer, room, result);
    fn getgrgid_r(id: gid_t, into: *mut group, buffer: *mut c_char, room: size_t, result: *mut *mut group) -> c_int,
        then |m, _| some_group(m, into, buffer, room, result);
    fn getgrnam_r(name: *const c_char, into: *mut group, buffer: *mut c_char, room: size_t, result: *mut *mut group) -> c_int,
        first |m| m.text(name), then |m, _| some_group(m, into, buffer, room, result);

    fn wait(status: *mut c_int) -> pid_t, then |m, r| if r > 0 { m.fill(status) };
    fn waitpid(process: pid_t, status: *mut c_int, options: c_int) -> pid_t, then |m, r| if r > 0 { m.fill(status) };
    fn wait4(process: pid_t, status: *mut c_int, options: c_int, used: *mut rusage) -> pid_t,
        then |m, r| if r > 0 { m.fill(status); m.fill(used) };
    fn waitid(kind: c_int, process: id_t, info: *mut siginfo_t, options: c_int) -> c_int,
        then |m, r| if r == 0 && !info.is_null() && (*info).si_signo != 0 { m.write(info, 28) };
    fn posix_spawn(
        process: *mut pid_t, path: *const c_char, actions: *const c_void, attributes: *const c_void,
        arguments: *const *mut c_char, environment: *const *mut c_char
    ) -> c_int, first |m| m.text(path), then |m, r| if r == 0 { m.fill(process) };
    fn posix_spawnp(
        process: *mut pid_t, path: *const c_char, actions: *const c_void, attributes: *const c_void,
        arguments: *const *mut c_char, environment: *const *mut c_char
    ) -> c_int, first |m| m.text(path), then |m, r| if r == 0 { m.fill(process) };
}
