//! Both threads write after the barrier.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::sync::{Arc, Barrier};

static mut AFTER: u32 = 0;

fn main() {
    let barrier = Arc::new(Barrier::new(2));
    let threads = [1, 2].map(|n| {
        let barrier = Arc::clone(&barrier);
        std::thread::spawn(move || {
            barrier.wait();
            turn(n, || unsafe { AFTER += 1 }); //~ RACE after
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", unsafe { AFTER });
}
