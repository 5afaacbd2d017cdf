//! A destructor that runs because of a panic, and another thread of the same scope.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::panic;
use std::thread;

struct Shared(*mut u32);

unsafe impl Send for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        turn(1, || unsafe { *self.0 += 1 }); //~ RACE shared
    }
}

fn main() {
    panic::set_hook(Box::new(|_| ()));
    let mut value = 0;
    let (one, two) = (Shared(&raw mut value), &raw mut value as usize);
    thread::scope(|scope| {
        let panics = scope.spawn(move || {
            let _one = one;
            panic!("drops it");
        });
        let other = scope.spawn(move || turn(2, || unsafe { *(two as *mut u32) += 10 })); //~ RACE shared
        assert!(panics.join().is_err());
        other.join().unwrap();
    });
    println!("{value}");
}
