//! A pointer is sent through a channel, and its sender uses it afterwards.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::sync::mpsc;

struct Pointer(*mut u64);

unsafe impl Send for Pointer {}

fn main() {
    let (sender, receiver) = mpsc::channel();
    let value = Box::into_raw(Box::new(0));
    let pointer = Pointer(value);
    let one = std::thread::spawn(move || {
        let pointer = pointer;
        sender.send(Pointer(pointer.0)).unwrap();
        turn(1, || unsafe { *pointer.0 = 1 }); //~ RACE value
    });
    let two = std::thread::spawn(move || {
        let pointer: Pointer = receiver.recv().unwrap();
        turn(2, || unsafe { *pointer.0 }) //~ RACE value
    });
    one.join().unwrap();
    println!("{}", two.join().unwrap());
    drop(unsafe { Box::from_raw(value) });
}
