//! Processes that were confined to some system calls (`seccomp`) before they started, as in containers.
//!
//! The kernel does not say which calls a filter allows, and a filter may end the process for asking. So the question is put by
//! a child.

/// Whether there is a filter, as far as can be known. Where it cannot, there may be one.
pub fn at_start() -> bool {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    mode(&status) != Some("0")
}

fn mode(status: &str) -> Option<&str> {
    status
        .lines()
        .find_map(|line| line.strip_prefix("Seccomp:"))
        .map(str::trim)
}

/// Whether a child process lives through `calls`, which makes system calls and nothing else. Not if it cannot be made.
pub fn survives(calls: fn()) -> bool {
    // SAFETY: a child with a copy of the memory, which tells nobody of its end (no signal) and is waited for here. It makes
    // system calls only, with all signals as they are: handlers of the program's are not there yet.
    unsafe {
        let child = libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0);
        if child == 0 {
            // Its end is nothing to look into.
            let none = libc::rlimit64 {
                rlim_cur: 0,
                rlim_max: 0,
            };
            libc::syscall(libc::SYS_prlimit64, 0, libc::RLIMIT_CORE, &raw const none, 0);
            calls();
            loop {
                libc::syscall(libc::SYS_exit_group, 0);
            }
        }
        let mut status = -1;
        while child > 0
            && libc::syscall(libc::SYS_wait4, child, &raw mut status, libc::__WCLONE, 0) < 0
            && crate::vm::errno() == libc::EINTR
        {}
        child > 0 && status == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_read_from_the_kernels_words() {
        assert_eq!(mode("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"), Some("2"));
        assert_eq!(mode("Name:\tx\n"), None);
    }

    #[test]
    fn a_child_that_is_killed_has_not_survived() {
        assert!(survives(|| {}));
        assert!(!survives(|| {
            // SAFETY: ends the child, which is all that is there.
            unsafe { libc::syscall(libc::SYS_kill, libc::syscall(libc::SYS_getpid), libc::SIGKILL) };
        }));
    }
}
