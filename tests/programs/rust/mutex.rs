//! `Mutex`: lock, try_lock, a poisoned one, into_inner.

use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let shared = Arc::new(Mutex::new(vec![0_u32]));
    let threads: Vec<_> = (0..4)
        .map(|n| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                for i in 0..200 {
                    let mut guard = if i % 2 == 0 {
                        shared.lock().unwrap()
                    } else {
                        loop {
                            if let Ok(guard) = shared.try_lock() {
                                break guard;
                            }
                            thread::yield_now();
                        }
                    };
                    guard[0] += 1;
                    if i % 50 == 0 {
                        guard.push(n);
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let poisoner = Arc::clone(&shared);
    let result = thread::spawn(move || {
        let mut guard = poisoner.lock().unwrap();
        guard[0] += 1;
        std::panic::resume_unwind(Box::new("poison"));
    })
    .join();
    let numbers = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    println!("{} {} {}", numbers[0], numbers.len(), result.is_err());
}
