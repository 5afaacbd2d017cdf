//! Copies of slices, swaps and fills race with single elements.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;

static mut COPIED: [u16; 32] = [0; 32];
static mut FILLED: [u8; 100] = [0; 100];
static mut SWAPPED: [[u64; 3]; 2] = [[1; 3], [2; 3]];

fn main() {
    let one = std::thread::spawn(|| {
        let source: Vec<u16> = (0..32).collect();
        turn(1, || unsafe {
            (&mut *(&raw mut COPIED)).copy_from_slice(&source); //~ RACE copied
            (&mut *(&raw mut FILLED)).fill(3); //~ RACE filled
            let [left, right] = &mut *(&raw mut SWAPPED);
            std::mem::swap(left, right); //~ RACE swapped
        })
    });
    let two = std::thread::spawn(|| {
        turn(2, || unsafe {
            COPIED[31] = 1; //~ RACE copied
            FILLED[99] = 1; //~ RACE filled
            SWAPPED[1][2] = 1; //~ RACE swapped
        })
    });
    one.join().unwrap();
    two.join().unwrap();
    println!("{} {} {}", unsafe { COPIED[31] }, unsafe { FILLED[99] }, unsafe { SWAPPED[1][2] });
}
