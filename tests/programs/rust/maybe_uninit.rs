//! Memory that threads initialise, each its own part: boxed slices, spare capacity of a vector, an array that is assumed to be there
//! when all are done.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

fn main() {
    let mut array: [MaybeUninit<String>; 8] = [const { MaybeUninit::uninit() }; 8];
    let mut boxed = Box::<[u64]>::new_uninit_slice(100);
    let mut vector: Vec<String> = Vec::with_capacity(8);
    let ready = AtomicUsize::new(0);
    let length = thread::scope(|scope| {
        for (n, slot) in array.iter_mut().enumerate() {
            let ready = &ready;
            scope.spawn(move || {
                slot.write(format!("string {n}"));
                ready.fetch_add(1, Ordering::Release);
            });
        }
        for (n, chunk) in boxed.chunks_mut(25).enumerate() {
            scope.spawn(move || {
                for word in chunk {
                    word.write(n as u64);
                }
            });
        }
        for slot in vector.spare_capacity_mut() {
            scope.spawn(|| slot.write(String::from("spare")).len());
        }
        0
    });
    assert_eq!(ready.load(Ordering::Acquire), 8);
    // SAFETY: a thread has written each of the eight, and all are done.
    unsafe { vector.set_len(8) };
    // SAFETY: each thread has filled its part, and all are done.
    let strings = array.map(|slot| unsafe { slot.assume_init() });
    // SAFETY: as above.
    let sum: u64 = unsafe { boxed.assume_init() }.iter().sum();
    println!("{} {sum} {} {length}", strings.concat(), vector.concat());
}
