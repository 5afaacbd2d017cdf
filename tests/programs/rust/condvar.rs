//! A queue with `Mutex` and `Condvar`, with and without time limits.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let (queue, filled) = (Mutex::new(VecDeque::new()), Condvar::new());
    let total: u64 = thread::scope(|scope| {
        let consumers: Vec<_> = (0..2)
            .map(|n| {
                let (queue, filled) = (&queue, &filled);
                scope.spawn(move || {
                    let mut sum = 0;
                    loop {
                        let mut guard = queue.lock().unwrap();
                        while guard.is_empty() {
                            guard = if n == 0 {
                                filled.wait(guard).unwrap()
                            } else {
                                filled.wait_timeout(guard, Duration::from_secs(100)).unwrap().0
                            };
                        }
                        let item: Option<Box<u64>> = guard.pop_front().unwrap();
                        drop(guard);
                        match item {
                            Some(item) => sum += *item,
                            None => return sum,
                        }
                    }
                })
            })
            .collect();
        for i in 0..300 {
            queue.lock().unwrap().push_back(Some(Box::new(i)));
            filled.notify_one();
        }
        queue.lock().unwrap().extend([None, None]);
        filled.notify_all();
        consumers.into_iter().map(|consumer| consumer.join().unwrap()).sum()
    });
    println!("{total}");
}
