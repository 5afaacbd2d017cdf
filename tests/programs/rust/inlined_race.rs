//! Optimised: closures, iterators and generic functions are inlined, the report still names their lines.
// flags: -O
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;

static mut NUMBERS: [u32; 8] = [0; 8];

#[inline(always)]
fn add<T: Copy + std::ops::Add<Output = T>>(place: *mut T, value: T) {
    unsafe { *place = *place + value }; //~ RACE element
}

fn every_other(value: u32) {
    (0..8).filter(|n| n % 2 == 1).for_each(|n| add(unsafe { (&raw mut NUMBERS).cast::<u32>().add(n) }, value));
}

fn main() {
    let threads = [1, 2].map(|n| std::thread::spawn(move || turn(n, || every_other(n as u32))));
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{:?}", unsafe { NUMBERS });
}
