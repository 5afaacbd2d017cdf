//! `park` and `unpark` order; also with a time limit, and if the token was there before.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

struct Slot(UnsafeCell<u32>);

// SAFETY: the turn says whose it is.
unsafe impl Sync for Slot {}

static SLOT: Slot = Slot(UnsafeCell::new(0));
static TURN: AtomicU32 = AtomicU32::new(0);

fn main() {
    let main = thread::current();
    let other = thread::spawn(move || {
        for i in 0..100 {
            while TURN.load(Ordering::Acquire) != 2 * i + 1 {
                thread::park();
            }
            // SAFETY: it is this thread's turn.
            unsafe { *SLOT.0.get() += 1 };
            TURN.store(2 * i + 2, Ordering::Release);
            main.unpark();
        }
    });
    for i in 0..100 {
        // SAFETY: it is this thread's turn.
        unsafe { *SLOT.0.get() += 1 };
        TURN.store(2 * i + 1, Ordering::Release);
        other.thread().unpark();
        while TURN.load(Ordering::Acquire) != 2 * i + 2 {
            thread::park_timeout(Duration::from_secs(100));
        }
    }
    other.join().unwrap();
    // The token alone orders, too.
    let me = thread::current();
    let giver = thread::spawn(move || {
        // SAFETY: the main thread waits for the token.
        unsafe { *SLOT.0.get() += 1 };
        TURN.store(1000, Ordering::Relaxed);
        me.unpark();
    });
    while TURN.load(Ordering::Relaxed) != 1000 {
        thread::park();
    }
    giver.join().unwrap();
    // SAFETY: the other thread is joined.
    println!("{}", unsafe { *SLOT.0.get() });
}
