//! Written through an `UnsafeCell` under a read lock.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::cell::UnsafeCell;
use std::sync::RwLock;

struct Cache(UnsafeCell<u64>);

unsafe impl Sync for Cache {}

static CACHE: RwLock<Cache> = RwLock::new(Cache(UnsafeCell::new(0)));

fn main() {
    let threads = [1, 2].map(|n| {
        std::thread::spawn(move || {
            // Both have the lock at once. One after the other they would be ordered: std gives a read lock back with
            // a release, and takes one with an acquire, of the same atomic.
            let cache = turn(n, || CACHE.read().unwrap());
            turn(2 + n, || unsafe { *cache.0.get() += 1 }); //~ RACE cache
            invisible::wait(4);
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", unsafe { *CACHE.read().unwrap().0.get() });
}
