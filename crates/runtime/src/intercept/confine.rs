//! A process that is about to confine itself to some system calls: `membarrier` may not be among them, and the kernel ends
//! who makes one that is not. So [`crate::owners`] does without it from then on.

use super::define::interpose;
use crate::{owners, thread};
use core::ffi::{c_int, c_ulong};

extern "C" fn confined() {
    thread::shut(owners::share_all);
}

interpose! {
    // Variadic, but arguments are passed as if it were not.
    fn prctl[_, real](option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int {
        if option == libc::PR_SET_SECCOMP {
            confined();
        }
        // SAFETY: the caller's arguments.
        unsafe { real(option, a, b, c, d) }
    }
}

/// As in libc: up to six arguments, an error in `errno`. There is no room to pass anything on, so it is done here.
// SAFETY of calling it: as of libc's.
#[cfg(not(test))]
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn syscall() {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "cmp edi, {seccomp}",
        "je 2f",
        "4:",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov r10, r8",
        "mov r8, r9",
        "mov r9, [rsp + 8]",
        "syscall",
        "cmp rax, -4095",
        "jae 3f",
        "ret",
        "2:",
        "push rdi", ".cfi_adjust_cfa_offset 8",
        "push rsi", ".cfi_adjust_cfa_offset 8",
        "push rdx", ".cfi_adjust_cfa_offset 8",
        "push rcx", ".cfi_adjust_cfa_offset 8",
        "push r8", ".cfi_adjust_cfa_offset 8",
        "call {confined}",
        "pop r8", ".cfi_adjust_cfa_offset -8",
        "pop rcx", ".cfi_adjust_cfa_offset -8",
        "pop rdx", ".cfi_adjust_cfa_offset -8",
        "pop rsi", ".cfi_adjust_cfa_offset -8",
        "pop rdi", ".cfi_adjust_cfa_offset -8",
        "jmp 4b",
        "3:",
        "neg eax",
        "push rax", ".cfi_adjust_cfa_offset 8",
        "call {errno}",
        "pop rcx", ".cfi_adjust_cfa_offset -8",
        "mov [rax], ecx",
        "mov rax, -1",
        "ret",
        ".cfi_endproc",
        seccomp = const libc::SYS_seccomp,
        confined = sym confined,
        errno = sym libc::__errno_location,
    )
}
