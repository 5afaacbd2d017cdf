//! What is done after `unpark` is not ordered before the end of `park`.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static WOKEN: AtomicBool = AtomicBool::new(false);
static mut AFTER: u32 = 0;

fn main() {
    let parked = thread::spawn(|| {
        while !WOKEN.load(Ordering::Relaxed) {
            thread::park();
        }
        turn(2, || unsafe { AFTER }) //~ RACE after
    });
    let waker = parked.thread().clone();
    let unparks = thread::spawn(move || {
        WOKEN.store(true, Ordering::Relaxed);
        waker.unpark();
        turn(1, || unsafe { AFTER = 2 }); //~ RACE after
    });
    unparks.join().unwrap();
    println!("{}", parked.join().unwrap());
}
