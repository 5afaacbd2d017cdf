//! What is done after the bytes were sent is not handed over with them.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::{post, turn, wait};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

static mut BEFORE: u32 = 0;
static mut AFTER: u32 = 0;
static mut PIPED: u32 = 0;

fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut two = listener.accept().unwrap().0;
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let sends = std::thread::spawn(move || {
        unsafe { BEFORE = 1 };
        one.write_all(b"x").unwrap();
        turn(1, || unsafe { AFTER = 2 }); //~ RACE after
        writer.write_all(b"y").unwrap();
        unsafe { PIPED = 3 }; //~ RACE piped
        post();
        wait(4);
    });
    two.read_exact(&mut [0]).unwrap();
    let mut sum = turn(2, || unsafe { BEFORE + AFTER }); //~ RACE after
    reader.read_exact(&mut [0]).unwrap();
    wait(3);
    sum += unsafe { PIPED }; //~ RACE piped
    post();
    sends.join().unwrap();
    println!("{sum}");
}
