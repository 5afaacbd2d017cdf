//! One barrier for many phases; the leader of each has the data for itself between two of them.

use std::cell::UnsafeCell;
use std::sync::Barrier;
use std::thread;

struct Table(UnsafeCell<Vec<u64>>, UnsafeCell<u64>);

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
                        let cell = unsafe { (*table.0.get()).as_mut_ptr().add(n) };
                        unsafe { *cell += phase };
                        if barrier.wait().is_leader() {
                            unsafe { *table.1.get() = (*table.0.get()).iter().sum() };
                            unsafe { (*table.0.get()).reverse() };
                        }
                        barrier.wait();
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
