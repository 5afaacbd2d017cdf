//! `process::exit` from a thread, after a race.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;

static mut DATA: u32 = 0;

fn main() {
    let one = std::thread::spawn(|| turn(1, || unsafe { DATA = 1 })); //~ RACE data
    let two = std::thread::spawn(|| {
        turn(2, || unsafe { DATA = 2 }); //~ RACE data
        println!("thread");
        std::process::exit(3);
    });
    one.join().unwrap();
    two.join().unwrap();
}
