//! A pop that looks into a node which another thread has popped and freed meanwhile.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

struct Node {
    next: *mut Node,
}

static TOP: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

fn main() {
    TOP.store(Box::into_raw(Box::new(Node { next: ptr::null_mut() })), Ordering::Release);
    let slow = std::thread::spawn(|| {
        let top = TOP.load(Ordering::Acquire);
        let next = turn(1, || unsafe { (*top).next }); //~ RACE node
        TOP.compare_exchange(top, next, Ordering::AcqRel, Ordering::Acquire).is_ok()
    });
    let fast = std::thread::spawn(|| {
        let top = TOP.load(Ordering::Acquire);
        turn(2, || {
            TOP.swap(ptr::null_mut(), Ordering::AcqRel);
            drop(unsafe { Box::from_raw(top) }); //~ RACE node
        });
    });
    fast.join().unwrap();
    println!("{}", slow.join().unwrap());
}
