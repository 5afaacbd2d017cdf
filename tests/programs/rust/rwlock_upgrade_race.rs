//! What was found under a read lock is changed after it, under no lock.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::sync::RwLock;

static CACHE: RwLock<[u32; 4]> = RwLock::new([0; 4]);

fn main() {
    let reader = std::thread::spawn(|| {
        let entry = {
            let guard = CACHE.read().unwrap();
            &raw const guard[2]
        };
        turn(1, || unsafe { *entry.cast_mut() += 1 }) //~ RACE entry
    });
    let writer = std::thread::spawn(|| turn(2, || CACHE.write().unwrap()[2] = 7)); //~ RACE entry
    reader.join().unwrap();
    writer.join().unwrap();
    println!("{:?}", CACHE.read().unwrap());
}
