//! Waiting with a time limit and a condition: whether the time is over or not, the lock is held again and orders.

use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let (pair, mut sum) = ((Mutex::new((0_u32, Vec::new())), Condvar::new()), 0);
    let (lock, changed) = &pair;
    thread::scope(|scope| {
        for n in 0..3 {
            scope.spawn(move || {
                for i in 0..30 {
                    let mut guard = lock.lock().unwrap();
                    guard.0 += 1;
                    guard.1.push(n * i);
                    drop(guard);
                    changed.notify_all();
                }
            });
        }
        scope.spawn(|| {
            let guard = lock.lock().unwrap();
            let (mut guard, late) =
                changed.wait_timeout_while(guard, Duration::from_secs(100), |state| state.0 < 45).unwrap();
            sum += u32::from(late.timed_out());
            guard.1.push(0);
            let guard = changed.wait_while(guard, |state| state.0 < 90).unwrap();
            let (guard, late) =
                changed.wait_timeout_while(guard, Duration::from_millis(1), |state| state.0 < 1000).unwrap();
            sum += guard.1.len() as u32 + u32::from(late.timed_out());
        });
        scope.spawn(|| {
            let mut guard = lock.lock().unwrap();
            while guard.0 < 90 {
                guard = changed.wait_timeout(guard, Duration::from_micros(50)).unwrap().0;
            }
        });
    });
    println!("{sum}");
}
