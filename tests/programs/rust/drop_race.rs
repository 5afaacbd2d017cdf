//! A box is dropped by one thread while another still has a pointer into it.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;

fn main() {
    let block = Box::new([7_u8; 100]);
    let inside = (&raw const block[50]) as usize;
    let reader = std::thread::spawn(move || turn(1, || unsafe { *(inside as *const u8) })); //~ RACE block
    let owner = std::thread::spawn(move || turn(2, || drop(block))); //~ RACE block
    println!("{}", reader.join().unwrap());
    owner.join().unwrap();
}
