//! Order between threads that a race detector cannot see. `invisible.h` says how and why.

use std::arch::{asm, global_asm};
use std::ffi::{c_char, c_int};

global_asm!(
    ".pushsection .bss,\"aw\",@nobits",
    ".balign 4",
    ".globl invisible_turn",
    ".hidden invisible_turn",
    "invisible_turn: .zero 4",
    ".popsection",
);

unsafe extern "C" { // SAFETY: as libc declares it.
    fn getenv(name: *const c_char) -> *const c_char;
}

/// Waits until `n` turns are over.
pub fn wait(n: c_int) {
    loop {
        let now: c_int;
        unsafe { asm!("mov {0:e}, dword ptr [rip + invisible_turn]", out(reg) now) }; // SAFETY: reads the counter, defined above.
        if now >= n {
            return;
        }
        // SAFETY: futex, FUTEX_WAIT and private, no timeout: reads the turn and nothing else.
        unsafe {
            asm!("lea rdi, [rip + invisible_turn]", "syscall", inout("rax") 202_i64 => _, out("rdi") _,
                in("rsi") 128, in("rdx") i64::from(now), in("r10") 0, out("rcx") _, out("r11") _)
        };
    }
}

/// Ends a turn.
pub fn post() {
    // SAFETY: futex, FUTEX_WAKE and private, all threads: changes the turn and nothing else.
    unsafe {
        asm!("lock inc dword ptr [rip + invisible_turn]", "lea rdi, [rip + invisible_turn]", "syscall",
            inout("rax") 202_i64 => _, out("rdi") _, in("rsi") 129, in("rdx") i64::from(c_int::MAX), out("rcx") _,
            out("r11") _)
    };
}

/// Runs `f` as the n-th turn, counted from 1. With INVISIBLE_REVERSED in the environment the first two change places.
///
/// The first two turns return when both are over: std has a lock that every thread takes when it starts and when it
/// ends, so a thread that ended early would be ordered before one that starts late.
pub fn turn<R>(n: c_int, f: impl FnOnce() -> R) -> R {
    let reversed = unsafe { !getenv(c"INVISIBLE_REVERSED".as_ptr()).is_null() }; // SAFETY: a name that ends in 0.
    wait(if reversed { 2 - n } else { n - 1 });
    let result = f();
    post();
    if n <= 2 {
        wait(2);
    }
    result
}
