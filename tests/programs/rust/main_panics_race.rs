//! The main thread panics after a race: the status is 101.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;

static mut DATA: u32 = 0;

fn main() {
    let _thread = std::thread::spawn(|| turn(1, || unsafe { DATA = 1 })); //~ RACE data
    turn(2, || unsafe { DATA = 2 }); //~ RACE data
    println!("main");
    panic!("at the end");
}
