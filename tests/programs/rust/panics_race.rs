//! After a caught panic the report shows the stack as it is; and a race in a destructor that runs because of a panic.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::panic;

static mut AFTER: u32 = 0;
static mut DURING: u32 = 0;

struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        unsafe { DURING += 1 }; //~ RACE during
    }
}

#[inline(never)]
fn deep(depth: u32) -> u32 {
    if depth == 0 {
        let _guard = Guard;
        panic!();
    }
    deep(depth - 1) + 1
}

fn work() {
    assert!(panic::catch_unwind(|| deep(4)).is_err());
    unsafe { AFTER += 1 }; //~ RACE after
}

fn main() {
    panic::set_hook(Box::new(|_| ()));
    let threads = [1, 2].map(|n| std::thread::spawn(move || turn(n, work)));
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{} {}", unsafe { AFTER }, unsafe { DURING });
}
