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

unsafe impl Sync for Shared {}

fn main() {
    let shared = Shared::default();
    shared.count.store(4, Ordering::Relaxed);
    let (shared, mut sum) = (&shared, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
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
            sum += unsafe { *shared.data.get() };
        });
    });
    thread::scope(|scope| {
        for n in 1..=4 {
            scope.spawn(move || {
                if n == 1 {
                    unsafe { *shared.more.get() += n };
                }
                if shared.count.fetch_sub(1, Ordering::Release) == 1 {
                    fence(Ordering::Acquire);
                    unsafe { *shared.more.get() += 1 };
                }
            });
        }
    });
    println!("{sum} {}", unsafe { *shared.more.get() });
}
