//! A type that is `Sync` only because it says so: a counter of `Cell`s and `RefCell`s.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::cell::{Cell, RefCell};

struct Shared {
    hits: Cell<u32>,
    names: RefCell<u32>,
}

unsafe impl Sync for Shared {}

static SHARED: Shared = Shared { hits: Cell::new(0), names: RefCell::new(0) };

fn touch() {
    SHARED.hits.set(SHARED.hits.get() + 1); //~ RACE hits
    *SHARED.names.borrow_mut() += 1; //~ RACE names
}

fn main() {
    let threads = [1, 2].map(|n| std::thread::spawn(move || turn(n, touch)));
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{} {}", SHARED.hits.get(), SHARED.names.borrow());
}
