//! One thread holds the lock of one stream, the other that of another.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;

static mut LINES: u32 = 0;

fn main() {
    let out = std::thread::spawn(|| {
        let lock = std::io::stdout().lock();
        turn(1, || unsafe { LINES += 1 }); //~ RACE lines
        drop(lock);
    });
    let errors = std::thread::spawn(|| {
        let lock = std::io::stderr().lock();
        turn(2, || unsafe { LINES += 1 }); //~ RACE lines
        drop(lock);
    });
    out.join().unwrap();
    errors.join().unwrap();
    println!("{}", unsafe { LINES });
}
