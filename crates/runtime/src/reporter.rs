//! Starting the reporter.
//!
//! Two steps by `clone` with shared memory: no handlers of `fork` run, no page table is copied, and since the process in
//! the middle ends at once, the reporter belongs to nobody: the program gets no SIGCHLD of it and no status.

use crate::limits;
use std::ffi::{CString, c_char, c_void};
use std::path::PathBuf;

/// The reporter's name beside the runtime.
const NAME: &str = "deadheat";
/// Its hidden command.
const COMMAND: &str = "__report";

struct Start {
    path: CString,
    argv: [*const c_char; 3],
    socket: i32,
    /// Where the second process may have its stack.
    stack: *mut c_void,
    /// Why it could not be started, 0 if it could.
    error: i32,
}

const STACK: usize = 64 * 1024;

/// Starts the reporter, at `path` or beside the runtime: the socket to it.
pub fn start(path: Option<&str>) -> Result<i32, String> {
    let path = match path {
        Some(path) => PathBuf::from(path),
        None => beside()?,
    };
    let text = path.display().to_string();
    let fail = |error| format!("{text}: {}", std::io::Error::from_raw_os_error(error));
    let sockets = sockets()
        .or_else(|error| match error {
            libc::EMFILE => with_more_files(sockets),
            _ => Err(error),
        })
        .map_err(fail)?;
    let path = CString::new(text.clone()).map_err(|_| fail(libc::EINVAL))?;
    let mut stacks = vec![0u128; 2 * STACK / 16];
    let middle = stacks[STACK / 16..].as_mut_ptr();
    let start = Start {
        argv: [path.as_ptr(), c"__report".as_ptr(), std::ptr::null()],
        path,
        socket: sockets[1],
        stack: middle.cast(),
        error: 0,
    };
    debug_assert_eq!(COMMAND, "__report");
    let start = Box::into_raw(Box::new(start));
    // SAFETY: both processes run `middle` and `last` on stacks of their own while this thread waits (CLONE_VFORK), with
    // all signals blocked so that no handler of the program runs in them.
    let error = unsafe {
        let (all, size) = (!0u64, size_of::<u64>());
        let mut before = 0u64;
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const all,
            &raw mut before,
            size,
        );
        let top = middle.wrapping_add(STACK / 16).cast();
        let pid = libc::clone(
            middle_process,
            top,
            libc::CLONE_VM | libc::CLONE_VFORK,
            start.cast(),
        );
        if pid < 0 {
            (*start).error = crate::vm::errno();
        } else {
            while libc::syscall(libc::SYS_wait4, pid, 0, libc::__WCLONE, 0) < 0
                && crate::vm::errno() == libc::EINTR
            {}
        }
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const before,
            0,
            size,
        );
        Box::from_raw(start).error
    };
    // SAFETY: the other end is the reporter's now.
    unsafe { libc::syscall(libc::SYS_close, sockets[1]) };
    if error != 0 {
        // SAFETY: nobody uses it.
        unsafe { libc::syscall(libc::SYS_close, sockets[0]) };
        return Err(fail(error));
    }
    Ok(sockets[0])
}

fn sockets() -> Result<[i32; 2], i32> {
    let mut sockets = [-1; 2];
    // SAFETY: the kernel writes two descriptors.
    let made = unsafe {
        libc::syscall(
            libc::SYS_socketpair,
            libc::AF_UNIX,
            libc::SOCK_STREAM | libc::SOCK_CLOEXEC,
            0,
            sockets.as_mut_ptr(),
        )
    };
    if made == 0 {
        Ok(sockets)
    } else {
        Err(crate::vm::errno())
    }
}

/// The program has all descriptors that it may have: while `f` runs it may have as many as it could give itself. One beyond
/// the limit stays when the limit comes back.
fn with_more_files<R>(f: impl FnOnce() -> Result<R, i32>) -> Result<R, i32> {
    let before = limits::kernel(libc::RLIMIT_NOFILE, None)?;
    let mut more = before;
    more.rlim_cur = before.rlim_max;
    limits::kernel(libc::RLIMIT_NOFILE, Some(&more))?;
    let result = f();
    let _ = limits::kernel(libc::RLIMIT_NOFILE, Some(&before));
    result
}

extern "C" fn middle_process(start: *mut c_void) -> i32 {
    // SAFETY: shares the memory of the thread that waits; the lower stack is for the last process.
    unsafe {
        let start = start.cast::<Start>();
        let top = (*start).stack;
        if libc::clone(
            last_process,
            top,
            libc::CLONE_VM | libc::CLONE_VFORK,
            start.cast(),
        ) < 0
        {
            (*start).error = *libc::__errno_location();
        }
        libc::syscall(libc::SYS_exit, 0);
    }
    0
}

extern "C" fn last_process(start: *mut c_void) -> i32 {
    // SAFETY: as above. Only system calls are made, up to the new program.
    unsafe {
        let start = start.cast::<Start>();
        let (none, size) = (0u64, size_of::<u64>());
        // A signal from the terminal is for the program; the reporter ends when the program has.
        libc::syscall(libc::SYS_setsid);
        if (*start).socket == 0 {
            libc::syscall(libc::SYS_fcntl, 0, libc::F_SETFD, 0);
        } else {
            libc::syscall(libc::SYS_dup2, (*start).socket, 0);
        }
        // What the program has open must not stay open because of the reporter.
        libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0);
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const none,
            0,
            size,
        );
        let (path, argv) = ((*start).path.as_ptr(), &raw const (*start).argv);
        libc::syscall(libc::SYS_execve, path, argv, environ);
        (*start).error = *libc::__errno_location();
        libc::syscall(libc::SYS_exit, 127);
    }
    0
}

// SAFETY: as libc declares it.
unsafe extern "C" {
    static environ: *const *const c_char;
}

/// The reporter in the directory that this library is in.
fn beside() -> Result<PathBuf, String> {
    // SAFETY: `info` is filled in where the call succeeds, and its name lives as long as the library.
    let name = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let here = start as fn(Option<&str>) -> Result<i32, String>;
        if libc::dladdr(here as *const c_void, &mut info) == 0 || info.dli_fname.is_null() {
            return Err("the runtime does not know where it is".to_owned());
        }
        std::ffi::CStr::from_ptr(info.dli_fname)
    };
    let library = PathBuf::from(name.to_string_lossy().into_owned());
    Ok(library.with_file_name(NAME))
}
