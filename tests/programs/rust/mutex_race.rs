//! A pointer that outlives the guard it came from.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::sync::Mutex;

static SHARED: Mutex<u64> = Mutex::new(0);

fn escape() -> *mut u64 {
    let mut guard = SHARED.lock().unwrap();
    &raw mut *guard
}

fn main() {
    let one = std::thread::spawn(|| {
        let pointer = escape();
        turn(1, || unsafe { *pointer += 1 }); //~ RACE value
    });
    let two = std::thread::spawn(|| turn(2, || *SHARED.lock().unwrap() += 1)); //~ RACE value
    one.join().unwrap();
    two.join().unwrap();
    println!("{}", SHARED.lock().unwrap());
}
