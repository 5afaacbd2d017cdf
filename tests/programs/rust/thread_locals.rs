//! Thread-locals with destructors, lazily made, and used from one another's destructors.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Counter(Vec<usize>);

impl Drop for Counter {
    fn drop(&mut self) {
        PLAIN.with(|plain| plain.set(plain.get() + 1));
        DROPPED.fetch_add(self.0.len(), Ordering::Relaxed);
    }
}

thread_local! {
    static PLAIN: Cell<usize> = const { Cell::new(0) };
    static COUNTER: RefCell<Counter> = RefCell::new(Counter(Vec::new()));
}

fn main() {
    // Not at once: memory of an ended thread's variables is used again.
    for round in 0..20 {
        let threads: Vec<_> = (0..4)
            .map(|n| {
                thread::spawn(move || {
                    for i in 0..round + n {
                        COUNTER.with_borrow_mut(|counter| counter.0.push(i));
                        PLAIN.set(PLAIN.get() + 1);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
    println!("{} {}", DROPPED.load(Ordering::Relaxed), PLAIN.get());
}
