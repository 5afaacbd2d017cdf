//! Through trait objects and generics, in named threads: the names are in the report.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::thread;

trait Shape: Sync {
    fn grow(&self, by: u32);
}

struct Square(*mut u32);

unsafe impl Sync for Square {}

impl Shape for Square {
    fn grow(&self, by: u32) {
        unsafe { *self.0 += by }; //~ RACE side
    }
}

fn main() {
    let side = Box::into_raw(Box::new(0_u32));
    let shape: &dyn Shape = &Square(side);
    thread::scope(|scope| {
        for (n, name) in [(1, "first"), (2, "second")] {
            thread::Builder::new()
                .name(name.into())
                .spawn_scoped(scope, move || turn(n, || shape.grow(n as u32)))
                .unwrap();
        }
    });
    println!("{}", unsafe { *side });
}
