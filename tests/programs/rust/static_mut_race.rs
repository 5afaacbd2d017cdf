//! `static mut` of several sizes, written by two threads.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;

static mut BYTE: u8 = 0;
static mut WORD: u32 = 0;
static mut WIDE: u128 = 0;
static mut TUPLE: (u8, u16, [u8; 3]) = (0, 0, [0; 3]);

fn write(n: u8) {
    unsafe {
        BYTE = n; //~ RACE byte
        WORD = n.into(); //~ RACE word
        WIDE = n.into(); //~ RACE wide
        TUPLE.2[1] = n; //~ RACE tuple
    }
}

fn main() {
    let threads = [1, 2].map(|n| std::thread::spawn(move || turn(n, || write(n as u8))));
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{} {} {} {}", unsafe { BYTE }, unsafe { WORD }, unsafe { WIDE }, unsafe { TUPLE.2[1] });
}
