//! The time is over, and the thread gives up the lock before it looks.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();
static mut RESULT: u32 = 0;

fn main() {
    let waiter = std::thread::spawn(|| {
        let guard = READY.lock().unwrap();
        let (guard, late) = CHANGED.wait_timeout_while(guard, Duration::from_millis(1), |ready| !*ready).unwrap();
        drop(guard);
        turn(1, || unsafe { RESULT + u32::from(late.timed_out()) }) //~ RACE result
    });
    let worker = std::thread::spawn(|| {
        turn(2, || {
            unsafe { RESULT = 7 }; //~ RACE result
            *READY.lock().unwrap() = true;
        });
        CHANGED.notify_all();
    });
    worker.join().unwrap();
    println!("{}", waiter.join().unwrap());
}
