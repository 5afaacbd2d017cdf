//! A sequence lock whose data are read and written as volatile: for the memory model that is a race, kept or not.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering, fence};

struct Data(UnsafeCell<[u64; 2]>);

unsafe impl Sync for Data {}

static SEQUENCE: AtomicU32 = AtomicU32::new(0);
static DATA: Data = Data(UnsafeCell::new([0; 2]));

fn main() {
    let writer = std::thread::spawn(|| {
        turn(1, || {
            SEQUENCE.store(1, Ordering::Relaxed);
            fence(Ordering::Release);
            unsafe { (&raw mut (*DATA.0.get())[1]).write_volatile(5) }; //~ RACE data
        });
        SEQUENCE.store(2, Ordering::Release);
    });
    let reader = std::thread::spawn(|| {
        turn(2, || {
            let before = SEQUENCE.load(Ordering::Acquire);
            let seen = unsafe { (&raw const (*DATA.0.get())[1]).read_volatile() }; //~ RACE data
            fence(Ordering::Acquire);
            (before % 2 == 0 && SEQUENCE.load(Ordering::Relaxed) == before).then_some(seen)
        })
    });
    writer.join().unwrap();
    println!("{:?}", reader.join().unwrap());
}
