//! Publication by a relaxed flag; with the reader's or the writer's ordering alone it is no better.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static FLAGS: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
static mut TEXTS: [Option<String>; 2] = [None, None];

fn main() {
    let writer = thread::spawn(|| {
        turn(1, || unsafe {
            TEXTS[0] = Some(String::from("zero")); //~ RACE zero
            FLAGS[0].store(true, Ordering::Relaxed);
            TEXTS[1] = Some(String::from("one")); //~ RACE one
            FLAGS[1].store(true, Ordering::Release);
        });
    });
    let reader = thread::spawn(|| {
        turn(2, || unsafe {
            let mut there = 0;
            if FLAGS[0].load(Ordering::Acquire) {
                there += u32::from(TEXTS[0].is_some()); //~ RACE zero
            }
            if FLAGS[1].load(Ordering::Relaxed) {
                there += u32::from(TEXTS[1].is_some()); //~ RACE one
            }
            there
        })
    });
    writer.join().unwrap();
    println!("{}", reader.join().unwrap());
}
