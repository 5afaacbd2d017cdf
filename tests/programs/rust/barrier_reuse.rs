//! One barrier for many phases; the leader of each has the data for itself between two of them.

use std::cell::UnsafeCell;
use std::sync::Barrier;
use std::thread;

struct Table(UnsafeCell<Vec<u64>>, UnsafeCell<u64>);

// SAFETY: each thread has its own element, and the leader all of them between two barriers.
unsafe impl Sync for Table {}

fn main() {
    let (table, barrier) = (Table(UnsafeCell::new(vec![0; 4]), UnsafeCell::new(0)), Barrier::new(4));
    let (table, barrier) = (&table, &barrier);
    let sums: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|n| {
                scope.spawn(move || {
                    let mut sum = 0;
                    for phase in 0..50 {
                        // SAFETY: the vector stays where it is, and the element is this thread's until the barrier.
                        let cell = unsafe { (*table.0.get()).as_mut_ptr().add(n) };
                        // SAFETY: as above.
                        unsafe { *cell += phase };
                        if barrier.wait().is_leader() {
                            // SAFETY: the others wait at the next barrier.
                            unsafe { *table.1.get() = (*table.0.get()).iter().sum() };
                            // SAFETY: as above.
                            unsafe { (*table.0.get()).reverse() };
                        }
                        barrier.wait();
                        // SAFETY: the leader wrote it before the last barrier.
                        sum += unsafe { *table.1.get() };
                    }
                    sum
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    println!("{sums:?}");
}
