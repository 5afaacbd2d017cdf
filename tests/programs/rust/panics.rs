//! Panics through frames: caught in the thread, and by its join; locks poisoned on the way; values dropped.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static DROPPED: AtomicU32 = AtomicU32::new(0);

struct Guard<'a>(&'a mut Vec<u32>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.push(1);
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

#[inline(never)]
fn deep(depth: u32, numbers: &mut Vec<u32>) -> u32 {
    let guard = Guard(numbers);
    if depth == 0 {
        panic!("deep down");
    }
    deep(depth - 1, guard.0) + 1
}

fn main() {
    panic::set_hook(Box::new(|_| ()));
    let numbers = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let result = panic::catch_unwind(AssertUnwindSafe(|| {
                        let mut guard = numbers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                        deep(5, &mut guard)
                    }));
                    assert!(result.is_err());
                }
            });
        }
    });
    let joined = thread::spawn(|| {
        let mut own = Vec::new();
        deep(3, &mut own);
    })
    .join();
    let message = *joined.unwrap_err().downcast_ref::<&str>().unwrap();
    let length = numbers.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).len();
    println!("{message} {length} {} {}", DROPPED.load(Ordering::Relaxed), numbers.is_poisoned());
}
