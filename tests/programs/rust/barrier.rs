//! `Barrier`: phases, and a leader each time.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// Each thread reads its neighbour's cell of the phase before.
struct Cells([[std::cell::UnsafeCell<u32>; 4]; 2]);

// SAFETY: between two barriers each thread writes a cell that no other touches.
unsafe impl Sync for Cells {}

fn main() {
    let (cells, barrier, leaders) = (Cells(Default::default()), Barrier::new(4), AtomicU32::new(0));
    thread::scope(|scope| {
        for n in 0..4 {
            let (cells, barrier, leaders) = (&cells, &barrier, &leaders);
            scope.spawn(move || {
                for phase in 0..50 {
                    // SAFETY: written in the phase before, behind the barrier.
                    let neighbour = unsafe { *cells.0[phase % 2][(n + 1) % 4].get() };
                    // SAFETY: this thread's own cell of this phase; others read it behind the barrier.
                    unsafe { *cells.0[(phase + 1) % 2][n].get() = neighbour + 1 };
                    if barrier.wait().is_leader() {
                        leaders.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    // SAFETY: the threads are done.
    println!("{} {}", unsafe { *cells.0[0][0].get() }, leaders.load(Ordering::Relaxed));
}
