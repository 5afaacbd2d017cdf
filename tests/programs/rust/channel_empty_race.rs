//! An empty channel says nothing about what its sender has done.

#[allow(dead_code)]
#[path = "../include/invisible.rs"]
mod invisible;
use invisible::{post, wait};
use std::sync::mpsc::{self, TryRecvError};

static mut PROGRESS: u32 = 0;

fn main() {
    let (sender, receiver) = mpsc::channel::<u32>();
    let sending = std::thread::spawn(move || {
        unsafe { PROGRESS = 1 }; //~ RACE progress
        post();
        wait(2);
        sender.send(2).unwrap();
    });
    wait(1);
    let empty = receiver.try_recv() == Err(TryRecvError::Empty);
    let early = unsafe { PROGRESS }; //~ RACE progress
    post();
    let sent = receiver.recv().unwrap() + unsafe { PROGRESS };
    sending.join().unwrap();
    println!("{empty} {early} {sent}");
}
