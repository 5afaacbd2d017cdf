//! A hand-made lazy value with a relaxed flag.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::sync::atomic::{AtomicBool, Ordering};

static READY: AtomicBool = AtomicBool::new(false);
static mut VALUE: u32 = 0;

fn get() -> u32 {
    if !READY.load(Ordering::Relaxed) {
        unsafe { VALUE = 42 }; //~ RACE value
        READY.store(true, Ordering::Relaxed);
        return 42;
    }
    unsafe { VALUE } //~ RACE value
}

fn main() {
    let threads = [1, 2].map(|n| std::thread::spawn(move || turn(n, get)));
    for thread in threads {
        println!("{}", thread.join().unwrap());
    }
}
