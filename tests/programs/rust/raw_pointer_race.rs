//! A pointer to a local variable, as a number, in two threads.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::thread;

fn main() {
    let mut local = [0_u64; 4];
    let address = local.as_mut_ptr() as usize;
    thread::scope(|scope| {
        scope.spawn(move || turn(1, || unsafe { *(address as *mut u64).add(2) = 1 })); //~ RACE third
        scope.spawn(move || turn(2, || unsafe { *(address as *mut u64).add(2) = 2 })); //~ RACE third
    });
    println!("{local:?}");
}
