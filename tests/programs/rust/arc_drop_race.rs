//! A reference count of one's own that is relaxed throughout: the last owner frees what it never acquired,
//! the count included.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counted {
    count: AtomicUsize,
    value: u64,
}

struct Rc(NonNull<Counted>);

unsafe impl Send for Rc {}

impl Rc {
    fn bump(&self) {
        unsafe { (*self.0.as_ptr()).value += 1 }; //~ RACE value
    }
}

impl Drop for Rc {
    fn drop(&mut self) {
        if unsafe { self.0.as_ref() }.count.fetch_sub(1, Ordering::Relaxed) == 1 { //~ RACE count
            drop(unsafe { Box::from_raw(self.0.as_ptr()) }); //~ RACE value count
        }
    }
}

fn main() {
    let counted = Box::leak(Box::new(Counted { count: AtomicUsize::new(2), value: 0 }));
    let pointer = NonNull::from(counted);
    let (one, two) = (Rc(pointer), Rc(pointer));
    let first = std::thread::spawn(move || {
        turn(1, || {
            one.bump();
            drop(one);
        })
    });
    let second = std::thread::spawn(move || turn(2, || drop(two)));
    first.join().unwrap();
    second.join().unwrap();
    println!("done");
}
