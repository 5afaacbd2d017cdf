//! The variable `__deadheat_tls` of every thread, read inline by instrumented code (`abi::tls`).
//!
//! Written in assembly: it needs the initial-exec model, and an initial value with an address in it. That value passes
//! every inline test, so code that runs before the runtime knows the thread is let alone.

use crate::counts;
pub use deadheat_abi::tls::Tls;
use deadheat_abi::{shadow, tls};
use std::arch::{asm, global_asm};

/// Cells that are never written: what the inline test looks at while accesses need no check.
#[repr(C, align(64))]
pub struct ZeroCells([[u64; 2]; shadow::TESTED as usize]);

/// The zero cells.
pub static ZERO: ZeroCells = ZeroCells([[0; 2]; shadow::TESTED as usize]);

/// The same for tests that are to fail, whatever the epoch: a slot that no thread has, and a time that none has either.
/// [`crate::quick`] takes them for side states and leaves them alone.
pub static ODD: ZeroCells =
    ZeroCells([[(shadow::SIDE as u64) << shadow::TERM_SHIFT; 2]; shadow::TESTED as usize]);

/// An epoch for threads that have none at the moment, where tests are to fail.
const SOME_EPOCH: u64 = 1 << shadow::TIME_SHIFT;

global_asm!(
    ".section .tdata,\"awT\",@progbits",
    ".globl __deadheat_tls",
    ".type __deadheat_tls, @object",
    ".size __deadheat_tls, {size}",
    ".p2align 6",
    "__deadheat_tls:",
    ".quad 0, 0, {zero}, 0, 0, 0, 0, 0",
    ".rept {words}",
    ".quad {none}",
    ".endr",
    ".text",
    size = const size_of::<Tls>(),
    words = const tls::SHARED_WORDS,
    none = const tls::NO_WORD as i64,
    zero = sym ZERO,
);

const _: () = assert!(tls::BASE == 16, "where the initial value has the zero cell");
const _: () = assert!(
    size_of::<Tls>() == 64 + 8 * tls::SHARED_WORDS,
    "as the initial value"
);

/// The calling thread's variable. Valid as long as the thread lives.
#[inline(always)]
pub fn get() -> *mut Tls {
    let at: *mut Tls;
    // SAFETY: reads the offset of the variable, which the dynamic linker filled in, and the thread pointer.
    unsafe {
        asm!(
            "mov {at}, qword ptr [rip + __deadheat_tls@GOTTPOFF]",
            "add {at}, qword ptr fs:[0]",
            at = out(reg) at,
            options(pure, nomem, nostack),
        );
    }
    at
}

/// Makes the thread's inline tests look at the shadow, in epoch `epoch`.
///
/// # Safety
/// `tls` is the calling thread's variable.
#[inline(always)]
pub unsafe fn checked(tls: *mut Tls, epoch: u64) {
    // SAFETY: as the caller promises. Volatile, because a signal handler may look in between: with the base first, what
    // it finds is mapped at every moment.
    unsafe {
        if counts::on() {
            return counted(tls, epoch);
        }
        (&raw mut (*tls).base).write_volatile(shadow::BASE);
        (&raw mut (*tls).mask).write_volatile(shadow::ADDRESS_MASK);
        (&raw mut (*tls).epoch).write_volatile(epoch);
        forget_shared(tls);
    }
}

/// To be called when the epoch has changed: what read words of several readers said of the one before is forgotten. Behind that change,
/// or a signal handler could add to it in between.
///
/// # Safety
/// `tls` is the calling thread's variable.
#[inline(always)]
pub unsafe fn forget_shared(tls: *mut Tls) {
    // SAFETY: as the caller promises.
    unsafe {
        if (&raw const (*tls).sharing).read_volatile() != 0 {
            (&raw mut (*tls).sharing).write_volatile(0);
            (&raw mut (*tls).shared).write_volatile([tls::NO_WORD; tls::SHARED_WORDS]);
        }
    }
}

/// A read word stands for several readers, of which the thread is one in this epoch, for all bytes that the word is about.
///
/// # Safety
/// `tls` is the calling thread's variable, and the thread is inside the runtime.
#[inline(always)]
pub unsafe fn add_shared(tls: *mut Tls, word: u64) {
    let at = (word >> tls::SHARED_SHIFT & tls::SHARED_MASK) as usize / 8;
    // SAFETY: as the caller promises.
    unsafe {
        (*tls).sharing = 1;
        (*tls).shared[at] = word;
    }
}

/// Makes the thread's inline tests fail, all of them.
///
/// # Safety
/// `tls` is the calling thread's variable.
unsafe fn counted(tls: *mut Tls, epoch: u64) {
    // SAFETY: as the caller promises.
    unsafe {
        (&raw mut (*tls).mask).write_volatile(0);
        (&raw mut (*tls).base).write_volatile((&raw const ODD).addr() as u64);
        (&raw mut (*tls).epoch).write_volatile(epoch);
    }
}

/// Makes the thread's inline tests succeed without a look at the shadow (or fail, to be counted).
///
/// # Safety
/// `tls` is the calling thread's variable.
pub unsafe fn unchecked(tls: *mut Tls) {
    // SAFETY: as above, in the opposite order.
    unsafe {
        if counts::on() {
            return counted(tls, SOME_EPOCH);
        }
        (&raw mut (*tls).epoch).write_volatile(0);
        (&raw mut (*tls).mask).write_volatile(0);
        (&raw mut (*tls).base).write_volatile((&raw const ZERO).addr() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_value_passes_every_inline_test_in_every_thread() {
        let look = || {
            // SAFETY: the thread's own variable.
            let tls = unsafe { get().read() };
            assert_eq!(get().addr() % 64, 0);
            assert_eq!((tls.epoch, tls.mask, tls.thread, tls.inside), (0, 0, 0, 0));
            assert_eq!((tls.sharing, tls.shared), (0, [tls::NO_WORD; tls::SHARED_WORDS]));
            // SAFETY: the initial base is that of the zero cells.
            let cells = unsafe { *(tls.base as *const [[u64; 2]; 8]) };
            assert_eq!(cells, [[0; 2]; 8]);
            get().addr()
        };
        let other = std::thread::spawn(look).join().expect("the other thread passed");
        assert_ne!(look(), other);
    }
}
