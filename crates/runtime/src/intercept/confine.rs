//! A process that is about to confine itself to some system calls: `membarrier` may not be among them, and the kernel ends
//! who makes one that is not. So [`crate::owners`] does without it from then on.
//!
//! And rings of `io_uring`, which programs know by system calls alone ([`crate::outside::rings`]).

use super::define::interpose;
use super::event;
use super::files::KEYS;
use crate::outside::rings;
use crate::{owners, sync, thread};
use core::ffi::{c_int, c_uint, c_ulong};

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

/// Where what is recorded of rings meets: above all addresses of the program.
const RINGS: usize = KEYS | 5;

/// Before `io_uring_setup` or `io_uring_enter`.
#[cfg_attr(test, expect(dead_code, reason = "tests have libc's `syscall`"))]
extern "C" fn ring_begins(number: i64, _ring: i64, submitted: c_uint, _wanted: c_uint, flags: c_uint) {
    const SQ_WAKEUP: c_uint = 2;
    if number == libc::SYS_io_uring_enter && (submitted > 0 || flags & SQ_WAKEUP != 0) {
        event(|t| {
            if !t.serial {
                sync::send(t, RINGS);
                rings::send(t);
            }
        });
    }
}

/// After it.
#[cfg_attr(test, expect(dead_code, reason = "tests have libc's `syscall`"))]
extern "C" fn ring_ends(number: i64, result: i64) {
    event(|t| {
        if number == libc::SYS_io_uring_setup {
            if let Ok(descriptor @ 0..) = i32::try_from(result) {
                rings::made(descriptor);
            }
        } else if !t.serial {
            sync::receive(t, RINGS);
            rings::receive(t);
        }
    });
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
        "cmp edi, {ring_enter}",
        "je 5f",
        "cmp edi, {ring_setup}",
        "je 5f",
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
        "5:",
        "push rdi", ".cfi_adjust_cfa_offset 8",
        "push rsi", ".cfi_adjust_cfa_offset 8",
        "push rdx", ".cfi_adjust_cfa_offset 8",
        "push rcx", ".cfi_adjust_cfa_offset 8",
        "push r8", ".cfi_adjust_cfa_offset 8",
        "push r9", ".cfi_adjust_cfa_offset 8",
        "push rax", ".cfi_adjust_cfa_offset 8",
        "call {ring_begins}",
        "mov rax, [rsp + 48]",
        "mov rdi, [rsp + 40]",
        "mov rsi, [rsp + 32]",
        "mov rdx, [rsp + 24]",
        "mov r10, [rsp + 16]",
        "mov r8, [rsp + 8]",
        "mov r9, [rsp + 64]",
        "syscall",
        "mov [rsp], rax",
        "mov rdi, [rsp + 48]",
        "mov rsi, rax",
        "call {ring_ends}",
        "mov rax, [rsp]",
        "add rsp, 56", ".cfi_adjust_cfa_offset -56",
        "cmp rax, -4095",
        "jae 3f",
        "ret",
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
        ring_enter = const libc::SYS_io_uring_enter,
        ring_setup = const libc::SYS_io_uring_setup,
        confined = sym confined,
        ring_begins = sym ring_begins,
        ring_ends = sym ring_ends,
        errno = sym libc::__errno_location,
    )
}
