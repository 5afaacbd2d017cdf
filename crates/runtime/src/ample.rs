//! A stack for what needs more of it than a thread may have left: threads can have stacks of a few pages, and handlers of
//! signals run on less. There is one, so one thread has it at a time.

use crate::spin::{Guard, Spin, Wait};
use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

const SIZE: usize = 256 << 10;
/// So much above what is used stays zeros: who walks the stack, to show where a panic was, does not know that it ends, and stops there.
const END: usize = 4096;

#[repr(align(64))]
struct Stack(UnsafeCell<[u8; SIZE]>);

// SAFETY: used by who holds `FREE`.
unsafe impl Sync for Stack {}

static STACK: Stack = Stack(UnsafeCell::new([0; SIZE]));
static FREE: Spin<()> = Spin::new(());

/// Takes the lock, before a `fork`.
pub fn hold() {
    FREE.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    FREE.let_go();
}

/// Waits until nobody uses it, and keeps it so. `None` if that takes too long: who uses it may wait for what the caller holds (the lock
/// of the loader, if a constructor of a library ends the process).
pub fn patiently() -> Option<Guard<'static, ()>> {
    const PATIENCE: Duration = Duration::from_secs(2);
    let (start, mut wait) = (Instant::now(), Wait::default());
    loop {
        if let Some(guard) = FREE.try_lock() {
            return Some(guard);
        }
        if wait.once().is_multiple_of(128) && start.elapsed() > PATIENCE {
            return None;
        }
    }
}

struct Call<F> {
    f: Option<F>,
    panicked: Option<Box<dyn Any + Send>>,
}

extern "C" fn call<F: FnOnce()>(call: *mut Call<F>) {
    // SAFETY: `run` waits for this.
    let call = unsafe { &mut *call };
    if let Some(f) = call.f.take() {
        // Nothing unwinds past the change of stacks.
        call.panicked = catch_unwind(AssertUnwindSafe(f)).err();
    }
}

/// Runs `f`, which does not call this again, on a stack of its own.
pub fn run<F: FnOnce()>(f: F) {
    let guard = FREE.lock();
    let mut what = Call {
        f: Some(f),
        panicked: None,
    };
    let top = STACK.0.get() as usize + SIZE - END;
    // SAFETY: the stack is this thread's for as long as the lock is held, its top is aligned, and what is called returns.
    unsafe {
        core::arch::asm!(
            "mov r12, rsp",
            "mov rsp, rsi",
            "call {call}",
            "mov rsp, r12",
            call = sym call::<F>,
            in("rdi") &raw mut what,
            in("rsi") top,
            out("r12") _,
            clobber_abi("C"),
        );
    }
    drop(guard);
    if let Some(panic) = what.panicked {
        resume_unwind(panic);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn it_runs_elsewhere_and_comes_back() {
        let here = 0u8;
        let mut there = 0;
        run(|| {
            let local = 0u8;
            there = (&raw const local).addr();
        });
        let stack = STACK.0.get() as usize;
        assert!((stack..stack + SIZE).contains(&there));
        assert!(!(stack..stack + SIZE).contains(&(&raw const here).addr()));
    }

    #[test]
    fn who_ends_the_process_waits_until_it_is_free_but_not_for_ever() {
        let (begun, start) = (AtomicBool::new(false), Instant::now());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                run(|| {
                    begun.store(true, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(50));
                });
            });
            while !begun.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            assert!(patiently().is_some() && start.elapsed() >= Duration::from_millis(50));
        });
        let held = FREE.lock();
        assert!(patiently().is_none());
        drop(held);
    }

    #[test]
    fn a_panic_comes_out_and_leaves_the_stack_free() {
        for _ in 0..2 {
            assert!(catch_unwind(|| run(|| panic!("on purpose"))).is_err());
        }
    }
}
