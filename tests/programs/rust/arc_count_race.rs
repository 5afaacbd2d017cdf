//! To be the only owner by `strong_count` is not to have acquired what the others did before they let go.

#[allow(dead_code)]
#[path = "../include/invisible.rs"]
mod invisible;
use invisible::{post, wait};
use std::sync::Arc;

fn main() {
    let shared = Arc::new([0_u32; 4]);
    let theirs = Arc::clone(&shared);
    let reader = std::thread::spawn(move || {
        let sum = theirs[1] + 1; //~ RACE value
        drop(theirs);
        post();
        wait(2);
        sum
    });
    wait(1);
    if Arc::strong_count(&shared) == 1 {
        unsafe { (*Arc::as_ptr(&shared).cast_mut())[1] = 7 }; //~ RACE value
    }
    post();
    println!("{} {}", shared[1], reader.join().unwrap());
}
