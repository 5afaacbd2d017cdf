//! Slices made from raw pointers overlap by one element.
// orders: both

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::thread;

fn main() {
    let mut numbers = [0_u32; 10];
    let start = numbers.as_mut_ptr() as usize;
    thread::scope(|scope| {
        scope.spawn(move || {
            let mine = unsafe { std::slice::from_raw_parts_mut(start as *mut u32, 6) };
            turn(1, || {
                for number in mine {
                    *number += 1; //~ RACE sixth
                }
            });
        });
        scope.spawn(move || {
            let mine = unsafe { std::slice::from_raw_parts_mut((start as *mut u32).add(5), 5) };
            turn(2, || {
                for number in mine {
                    *number += 2; //~ RACE sixth
                }
            });
        });
    });
    println!("{numbers:?}");
}
