//! Memory is assumed to be initialised on the word of a relaxed counter.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

struct Slot {
    ready: AtomicBool,
    value: UnsafeCell<MaybeUninit<[u32; 2]>>,
}

unsafe impl Sync for Slot {}

static SLOT: Slot = Slot { ready: AtomicBool::new(false), value: UnsafeCell::new(MaybeUninit::uninit()) };

fn main() {
    let writer = std::thread::spawn(|| {
        turn(1, || {
            unsafe { (*SLOT.value.get()).as_mut_ptr().cast::<u32>().write(5) }; //~ RACE value
            SLOT.ready.store(true, Ordering::Relaxed);
        })
    });
    let reader = std::thread::spawn(|| {
        turn(2, || {
            assert!(SLOT.ready.load(Ordering::Relaxed));
            unsafe { (*SLOT.value.get()).as_ptr().cast::<u32>().read() } //~ RACE value
        })
    });
    writer.join().unwrap();
    println!("{}", reader.join().unwrap());
}
