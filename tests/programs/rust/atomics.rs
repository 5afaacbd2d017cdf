//! Atomics of every size and all operations, as locks and as counters.

use std::cell::UnsafeCell;
use std::hint;
use std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI64, AtomicPtr, AtomicU32, AtomicUsize, Ordering,
};
use std::thread;

struct Spin<T>(AtomicBool, UnsafeCell<T>);

// SAFETY: the flag lets one thread at a time in, and what it did is acquired with it.
unsafe impl<T: Send> Sync for Spin<T> {}

impl<T> Spin<T> {
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        while self.0.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            thread::yield_now();
            hint::spin_loop();
        }
        // SAFETY: only who has the flag is here.
        let result = f(unsafe { &mut *self.1.get() });
        self.0.store(false, Ordering::Release);
        result
    }
}

fn main() {
    let spin = Spin(AtomicBool::new(false), UnsafeCell::new(Vec::new()));
    let (small, half, word, long) =
        (AtomicI8::new(0), AtomicI16::new(0), AtomicU32::new(0), AtomicI64::new(0));
    let largest = AtomicUsize::new(0);
    let pointer = AtomicPtr::new(std::ptr::null_mut::<u32>());
    thread::scope(|scope| {
        for n in 0..4 {
            let (spin, small, half, word, long) = (&spin, &small, &half, &word, &long);
            let (largest, pointer) = (&largest, &pointer);
            scope.spawn(move || {
                for i in 0..100 {
                    spin.with(|numbers| numbers.push(i));
                    small.fetch_xor(1 << n, Ordering::Relaxed);
                    half.fetch_add(1, Ordering::AcqRel);
                    word.fetch_or(1 << (i % 32), Ordering::SeqCst);
                    long.fetch_sub(1, Ordering::Release);
                    largest.fetch_max(i * n, Ordering::Relaxed);
                    let fresh = Box::into_raw(Box::new(1));
                    let old = pointer.swap(fresh, Ordering::AcqRel);
                    if !old.is_null() {
                        // SAFETY: each pointer is swapped out once, by whoever owns it then.
                        assert_eq!(*unsafe { Box::from_raw(old) }, 1);
                    }
                }
            });
        }
    });
    // SAFETY: the threads are done, so it is nobody else's.
    drop(unsafe { Box::from_raw(pointer.into_inner()) });
    println!("{} {small:?} {half:?} {word:?} {long:?} {largest:?}", spin.with(|numbers| numbers.len()));
}
