//! The producer tells of a cell before it has filled it.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Ring {
    cells: [UnsafeCell<u32>; 4],
    tail: AtomicUsize,
}

unsafe impl Sync for Ring {}

static RING: Ring = Ring { cells: [const { UnsafeCell::new(0) }; 4], tail: AtomicUsize::new(0) };

fn main() {
    let produces = std::thread::spawn(|| {
        turn(1, || {
            let tail = RING.tail.fetch_add(1, Ordering::Release);
            unsafe { *RING.cells[tail].get() = 7 }; //~ RACE cell
        });
    });
    let consumes = std::thread::spawn(|| {
        turn(2, || {
            assert_eq!(RING.tail.load(Ordering::Acquire), 1);
            unsafe { *RING.cells[0].get() } //~ RACE cell
        })
    });
    produces.join().unwrap();
    println!("{}", consumes.join().unwrap());
}
