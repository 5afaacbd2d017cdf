//! A comparator called by `qsort` reads what another thread changes.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::ffi::{c_int, c_void};

unsafe extern "C" {
    fn qsort(
        base: *mut c_void,
        count: usize,
        size: usize,
        compare: extern "C" fn(*const c_void, *const c_void) -> c_int,
    );
}

static mut WEIGHTS: [u32; 4] = [4, 3, 2, 1];

extern "C" fn compare(one: *const c_void, two: *const c_void) -> c_int {
    let (one, two) = unsafe { (*one.cast::<usize>(), *two.cast::<usize>()) };
    let heavier = unsafe { WEIGHTS[one] > WEIGHTS[two] }; //~ RACE weights
    heavier as c_int * 2 - 1
}

fn main() {
    let sorts = std::thread::spawn(|| {
        let mut order = [0, 1, 2, 3_usize];
        turn(1, || unsafe { qsort(order.as_mut_ptr().cast(), 4, size_of::<usize>(), compare) });
        order
    });
    let changes = std::thread::spawn(|| turn(2, || unsafe { WEIGHTS[1] = 9 })); //~ RACE weights
    changes.join().unwrap();
    println!("{:?}", sorts.join().unwrap());
}
