//! Guards of static local variables (`__cxa_guard_*`), in place of the C++ library's.
//!
//! Compiled code first loads the guard's first byte with acquire and calls only if it is 0, so the end of an
//! initialisation must be a release store *to that byte*. It is made here, together with its record: a thread that sees
//! the byte set is ordered behind it.
//!
//! The bits are those of libstdc++, so that a guard may also be used by code that has libstdc++'s functions linked in.

use super::define::{redirect, replace};
use super::event;
use crate::checks;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};
use deadheat_abi::atomics::{Kind, Ordering as Order, What};

const DONE: u32 = 1;
const PENDING: u32 = 1 << 8;
const WAITING: u32 = 1 << 16;

/// An atomic operation on the guard's first byte, with its record if the runtime listens.
fn recorded(guard: &AtomicU32, kind: Kind, order: Order, pc: usize, mut operation: impl FnMut()) {
    let what = What { size: 1, kind, order };
    if event(|t| checks::atomic(t, guard.as_ptr() as usize, what, pc, &mut operation)).is_none() {
        operation();
    }
}

fn observe(guard: &AtomicU32, pc: usize) {
    recorded(guard, Kind::Load, Order::Acquire, pc, || {
        guard.load(Ordering::Acquire);
    });
}

/// Whether the caller shall initialise. Waits for another thread that does.
fn acquire(guard: &AtomicU32, pc: usize) -> bool {
    loop {
        let change = |from, to| guard.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
        match change(0, PENDING) {
            Ok(_) => {
                // What an initialisation did that ended in an exception comes before this one.
                observe(guard, pc);
                return true;
            }
            Err(state) if state & DONE != 0 => {
                observe(guard, pc);
                return false;
            }
            Err(PENDING) if change(PENDING, PENDING | WAITING).is_err() => continue,
            Err(_) => {}
        }
        // SAFETY: the guard is the program's and lives on. A wake-up that is not for us only means another look.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                guard.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                PENDING | WAITING,
                core::ptr::null::<c_void>(),
            );
        }
    }
}

/// Sets the guard to `state` and wakes who waits for it.
fn finish(guard: &AtomicU32, state: u32, pc: usize) {
    let mut before = 0;
    recorded(guard, Kind::Store, Order::Release, pc, || {
        before = guard.swap(state, Ordering::AcqRel);
    });
    if before & WAITING != 0 {
        // SAFETY: only the address is used.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                guard.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                i32::MAX,
            );
        }
    }
}

/// # Safety
/// A guard of the program.
unsafe fn guard<'a>(at: *mut c_void) -> &'a AtomicU32 {
    // SAFETY: guards are 8 bytes, aligned, and changed by these functions only.
    unsafe { AtomicU32::from_ptr(at.cast()) }
}

macro_rules! guards {
    ($how:ident) => {
        $how! {
            fn __cxa_guard_acquire[pc](at: *mut c_void) -> c_int {
                // SAFETY: the caller's guard.
                acquire(unsafe { guard(at) }, pc).into()
            }

            fn __cxa_guard_release[pc](at: *mut c_void) {
                // SAFETY: the caller's guard.
                finish(unsafe { guard(at) }, DONE, pc);
            }

            fn __cxa_guard_abort[pc](at: *mut c_void) {
                // SAFETY: the caller's guard.
                finish(unsafe { guard(at) }, 0, pc);
            }
        }
    };
}

guards!(replace);
// For programs that have a C++ library linked in: they never call what is exported above.
guards!(redirect);
