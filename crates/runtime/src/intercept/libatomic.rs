//! Atomic operations on objects that no instruction can handle: libatomic's generic functions, as instrumented code calls
//! them. Where no libatomic is there (only instrumented code used it, so the linker left it out), a lock of ours does.

use super::define::redirect;
use super::{event, global};
use crate::spin::Spin;
use crate::thread::Thread;
use crate::{checks, sync};
use core::ffi::{c_int, c_void};
use deadheat_abi::atomics::{Kind, Ordering, What};

static LOCKS: [Spin<()>; 64] = [const { Spin::new(()) }; 64];

/// Runs `operation` on the object at `at` alone. Not for signal handlers, as libatomic's are not either.
fn alone(at: *const c_void, operation: impl FnOnce()) {
    let _held = LOCKS[(at as usize >> 4) % LOCKS.len()].lock();
    operation();
}

/// `memory_order` as C numbers it.
fn order(number: c_int) -> Ordering {
    match number & 0xffff {
        0 => Ordering::Relaxed,
        1 | 2 => Ordering::Acquire,
        3 => Ordering::Release,
        4 => Ordering::AcqRel,
        _ => Ordering::SeqCst,
    }
}

/// Runs the operation, and records it if the runtime listens. The operation says what it was: a compare-exchange does
/// not know before. `plain` checks the accesses to the arguments.
fn recorded(
    at: *const c_void,
    len: usize,
    pc: usize,
    mut operation: impl FnMut() -> (Kind, Ordering),
    plain: impl FnOnce(&mut Thread, Kind),
) -> Kind {
    let addr = at as usize;
    event(|t| {
        sync::begin_atomic(t, addr);
        let (kind, order) = operation();
        let what = |size| What { size, kind, order };
        sync::end_atomic(t, addr, what(0), |t| {
            let context = t.context();
            const PART: usize = 128;
            for from in (0..len).step_by(PART) {
                let part = what(PART.min(len - from) as u8);
                checks::atomic_access(t, addr + from, part, context, pc);
            }
        });
        plain(t, kind);
        kind
    })
    .unwrap_or_else(|| operation().0)
}

/// # Safety
/// Both valid for `len` bytes, apart.
unsafe fn copy(from: *const c_void, to: *mut c_void, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { core::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), len) };
}

redirect! {
    fn __atomic_load[pc](len: usize, at: *const c_void, result: *mut c_void, ordering: c_int) {
        let operation = || {
            match global::atomic_load() {
                // SAFETY: the caller's arguments, here and in all that follow.
                Some(real) => unsafe { real(len, at, result, ordering) },
                // SAFETY: as above.
                None => alone(at, || unsafe { copy(at, result, len) }),
            }
            (Kind::Load, order(ordering))
        };
        recorded(at, len, pc, operation, |t, _| checks::write(t, result as usize, len, pc));
    }

    fn __atomic_store[pc](len: usize, at: *mut c_void, value: *const c_void, ordering: c_int) {
        let operation = || {
            match global::atomic_store() {
                // SAFETY: as above.
                Some(real) => unsafe { real(len, at, value, ordering) },
                // SAFETY: as above.
                None => alone(at, || unsafe { copy(value, at, len) }),
            }
            (Kind::Store, order(ordering))
        };
        recorded(at, len, pc, operation, |t, _| checks::read(t, value as usize, len, pc));
    }

    fn __atomic_exchange[pc](
        len: usize,
        at: *mut c_void,
        value: *const c_void,
        result: *mut c_void,
        ordering: c_int,
    ) {
        let operation = || {
            match global::atomic_exchange() {
                // SAFETY: as above.
                Some(real) => unsafe { real(len, at, value, result, ordering) },
                None => alone(at, || {
                    // SAFETY: as above. `value` and `result` may be one.
                    unsafe {
                        for byte in 0..len {
                            let (at, value) = (at.cast::<u8>().add(byte), *value.cast::<u8>().add(byte));
                            let before = at.replace(value);
                            *result.cast::<u8>().add(byte) = before;
                        }
                    }
                }),
            }
            (Kind::Update, order(ordering))
        };
        recorded(at, len, pc, operation, |t, _| {
            checks::read(t, value as usize, len, pc);
            checks::write(t, result as usize, len, pc);
        });
    }
}

/// `__atomic_compare_exchange` for a caller at `pc`.
///
/// # Safety
/// The arguments of the C function.
unsafe fn compare_exchange(
    len: usize,
    [at, expected]: [*mut c_void; 2],
    desired: *const c_void,
    (success, failure): (c_int, c_int),
    pc: usize,
) -> bool {
    let operation = || {
        let mut equal = false;
        match global::atomic_compare_exchange() {
            // SAFETY: the caller's promise, here and below.
            Some(real) => equal = unsafe { real(len, at, expected, desired, success, failure) },
            None => alone(at, || {
                // SAFETY: as above.
                unsafe {
                    equal = libc::memcmp(at, expected, len) == 0;
                    if equal {
                        copy(desired, at, len);
                    } else {
                        copy(at, expected, len);
                    }
                }
            }),
        }
        if equal {
            (Kind::Update, order(success))
        } else {
            (Kind::Load, order(failure))
        }
    };
    let kind = recorded(at, len, pc, operation, |t, kind| {
        checks::read(t, expected as usize, len, pc);
        if kind == Kind::Update {
            checks::read(t, desired as usize, len, pc);
        } else {
            checks::write(t, expected as usize, len, pc);
        }
    });
    kind == Kind::Update
}

/// Its six arguments leave no register for the caller's address: the two orderings share one.
///
/// # Safety
/// The arguments of the C function.
#[unsafe(export_name = "__deadheat___atomic_compare_exchange")]
#[unsafe(naked)]
unsafe extern "C-unwind" fn stub(
    len: usize,
    at: *mut c_void,
    expected: *mut c_void,
    desired: *const c_void,
    success: c_int,
    failure: c_int,
) -> bool {
    core::arch::naked_asm!(
        "mov r8d, r8d",
        "shl r9, 32",
        "or r8, r9",
        "mov r9, [rsp]",
        "jmp {}",
        sym body,
    )
}

// SAFETY of calling it: by the function above, with what libatomic's takes.
unsafe extern "C-unwind" fn body(
    len: usize,
    at: *mut c_void,
    expected: *mut c_void,
    desired: *const c_void,
    orderings: u64,
    pc: usize,
) -> bool {
    let orderings = (orderings as c_int, (orderings >> 32) as c_int);
    // SAFETY: the caller's arguments.
    unsafe { compare_exchange(len, [at, expected], desired, orderings, pc) }
}
