//! Fences and relaxed atomics, release sequences: publication, and a reference count.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use std::thread;

#[derive(Default)]
struct Shared {
    data: UnsafeCell<u32>,
    more: UnsafeCell<u32>,
    flag: AtomicU32,
    count: AtomicUsize,
}

// SAFETY: fences and atomics order what threads do to the cells.
unsafe impl Sync for Shared {}

fn main() {
    let shared = Shared::default();
    shared.count.store(4, Ordering::Relaxed);
    let (shared, mut sum) = (&shared, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: nobody reads it before the flag is set.
            unsafe { *shared.data.get() = 1 };
            fence(Ordering::Release);
            shared.flag.store(1, Ordering::Relaxed);
        });
        scope.spawn(|| {
            while shared.flag.load(Ordering::Relaxed) != 1 {
                thread::yield_now();
            }
            // Goes on with the release sequence of a thread that it does not acquire from.
            shared.flag.fetch_add(1, Ordering::Relaxed);
        });
        scope.spawn(|| {
            while shared.flag.load(Ordering::Relaxed) != 2 {
                thread::yield_now();
            }
            fence(Ordering::Acquire);
            // SAFETY: the flag is set, and a fence stands behind the load that saw it.
            sum += unsafe { *shared.data.get() };
        });
    });
    thread::scope(|scope| {
        for n in 1..=4 {
            scope.spawn(move || {
                if n == 1 {
                    // SAFETY: one thread does, before it gives up its share.
                    unsafe { *shared.more.get() += n };
                }
                if shared.count.fetch_sub(1, Ordering::Release) == 1 {
                    fence(Ordering::Acquire);
                    // SAFETY: the last share is given up, and a fence stands behind that.
                    unsafe { *shared.more.get() += 1 };
                }
            });
        }
    });
    // SAFETY: the threads are done.
    println!("{sum} {}", unsafe { *shared.more.get() });
}
