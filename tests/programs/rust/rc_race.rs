//! A reference count that is not atomic, smuggled into another thread.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::rc::Rc;

struct Smuggled(&'static Rc<u32>);

unsafe impl Send for Smuggled {}

fn copy(smuggled: Smuggled, n: i32) -> u32 {
    turn(n, || {
        let copy = Rc::clone(smuggled.0); //~ RACE count
        let value = *copy;
        std::mem::forget(copy);
        value
    })
}

fn main() {
    let shared: &'static Rc<u32> = Box::leak(Box::new(Rc::new(5)));
    let threads = [1, 2].map(|n| {
        let mine = Smuggled(shared);
        std::thread::spawn(move || copy(mine, n))
    });
    let values = threads.map(|thread| thread.join().unwrap());
    println!("{values:?} {}", Rc::strong_count(shared));
}
