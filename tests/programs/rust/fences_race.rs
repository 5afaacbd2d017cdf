//! The fence is on the wrong side of the load; and one of two fences is missing.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::sync::atomic::{AtomicU32, Ordering, compiler_fence, fence};
use std::thread;

static FLAG: AtomicU32 = AtomicU32::new(0);
static mut WRONG: u32 = 0;
static mut MISSING: u32 = 0;

fn main() {
    let writer = thread::spawn(|| {
        unsafe { WRONG = 1 }; //~ RACE wrong
        unsafe { MISSING = 2 }; //~ RACE missing
        fence(Ordering::Release);
        turn(1, || FLAG.store(1, Ordering::Relaxed));
    });
    let reader = thread::spawn(|| {
        turn(2, || {
            fence(Ordering::Acquire);
            FLAG.load(Ordering::Relaxed);
            let wrong = unsafe { WRONG }; //~ RACE wrong
            FLAG.load(Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            wrong + unsafe { MISSING } //~ RACE missing
        })
    });
    writer.join().unwrap();
    println!("{}", reader.join().unwrap());
}
