//! A panic hook counts without a lock: it runs in each thread that panics.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::cell::Cell;
use std::panic;

static mut PANICS: u32 = 0;

thread_local! {
    static NUMBER: Cell<i32> = const { Cell::new(0) };
}

fn main() {
    panic::set_hook(Box::new(|_| {
        turn(NUMBER.get(), || unsafe { PANICS += 1 }); //~ RACE panics
    }));
    let threads = [1, 2].map(|n| {
        std::thread::spawn(move || {
            NUMBER.set(n);
            panic!("counted");
        })
    });
    let failed = threads.map(|thread: std::thread::JoinHandle<()>| thread.join().is_err());
    println!("{failed:?} {}", unsafe { PANICS });
}
