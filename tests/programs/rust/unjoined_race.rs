//! A thread whose handle was dropped is never joined.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;

static mut DATA: u32 = 0;

fn main() {
    drop(std::thread::spawn(|| turn(2, || unsafe { DATA = 1 }))); //~ RACE data
    // The write comes after the handle is gone: to drop it later could order the threads by its reference count.
    turn(1, || ());
    let seen = turn(3, || unsafe { DATA }); //~ RACE data
    println!("{seen}");
}
