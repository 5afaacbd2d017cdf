//! A thread whose handle was dropped, and one that has ended but was not joined.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
static mut DATA: u32 = 0;

fn main() {
    drop(std::thread::spawn(|| turn(2, || unsafe { DATA = 1 }))); //~ RACE data
    // The write comes after the handle is gone: to drop it later could order the threads by its reference count.
    turn(1, || ());
    let ended = std::thread::spawn(|| ());
    while !ended.is_finished() {
        std::thread::yield_now();
    }
    let seen = turn(3, || unsafe { DATA }); //~ RACE data
    ended.join().unwrap();
    println!("{seen}");
}
