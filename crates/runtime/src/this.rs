//! What the kernel and libc know of the calling thread.

/// The kernel's number of the calling thread.
pub fn tid() -> i32 {
    // SAFETY: no arguments.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 }
}

/// The name of the calling thread.
pub fn name() -> [u8; 16] {
    let mut name = [0; 16];
    // SAFETY: the kernel writes at most 16 bytes.
    unsafe { libc::syscall(libc::SYS_prctl, libc::PR_GET_NAME, name.as_mut_ptr(), 0, 0, 0) };
    name
}

/// Where the calling thread's thread-local variables end.
pub fn pointer() -> usize {
    // SAFETY: no arguments. With glibc on this machine it is the thread pointer.
    unsafe { libc::pthread_self() as usize }
}

/// First and last+1 address of the calling thread's stack; empty if libc does not know it.
pub fn stack() -> (usize, usize) {
    // SAFETY: `attr` is filled in by the first call where it succeeds, and destroyed.
    unsafe {
        let mut attr = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attr) != 0 {
            return (0, 0);
        }
        let (mut start, mut len) = (std::ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&attr, &mut start, &mut len);
        libc::pthread_attr_destroy(&mut attr);
        (start.addr(), start.addr() + len)
    }
}
