//! Written through an `UnsafeCell` under a read lock.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::cell::UnsafeCell;
use std::sync::RwLock;

struct Cache(UnsafeCell<u64>);

unsafe impl Sync for Cache {}

static CACHE: RwLock<Cache> = RwLock::new(Cache(UnsafeCell::new(0)));

fn touch() {
    let cache = CACHE.read().unwrap();
    unsafe { *cache.0.get() += 1 }; //~ RACE cache
}

fn main() {
    let one = std::thread::spawn(|| {
        turn(1, || touch());
    });
    let two = std::thread::spawn(|| {
        turn(2, || touch());
    });
    one.join().unwrap();
    two.join().unwrap();
    println!("{}", unsafe { *CACHE.read().unwrap().0.get() });
}
