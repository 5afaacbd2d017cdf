//! A panic that cannot unwind aborts, after a race.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;

static mut DATA: u32 = 0;

extern "C" fn no_unwinding() {
    panic!("stays here");
}

fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    let one = std::thread::spawn(|| turn(1, || unsafe { DATA = 1 })); //~ RACE data
    turn(2, || unsafe { DATA = 2 }); //~ RACE data
    one.join().unwrap();
    println!("main");
    no_unwinding();
}
