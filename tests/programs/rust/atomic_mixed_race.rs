//! Atomic on one side, plain on the other: `from_ptr`, `get_mut` through a pointer, `as_ptr`.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

static COUNTER: AtomicU32 = AtomicU32::new(0);
static mut PLAIN: u64 = 0;

fn main() {
    let one = std::thread::spawn(|| {
        turn(1, || {
            COUNTER.fetch_add(1, Ordering::SeqCst); //~ RACE counter
            unsafe { AtomicU64::from_ptr(&raw mut PLAIN) }.store(1, Ordering::SeqCst); //~ RACE plain
        })
    });
    let two = std::thread::spawn(|| {
        turn(2, || unsafe {
            *COUNTER.as_ptr() += 1; //~ RACE counter
            PLAIN += 1; //~ RACE plain
        })
    });
    one.join().unwrap();
    two.join().unwrap();
    println!("{COUNTER:?} {}", unsafe { PLAIN });
}
