//! `mpsc`: unbounded, bounded and rendezvous channels, several senders, disconnection, time limits.

use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::Duration;

type Message = Box<(u64, String)>;

fn message(n: u64) -> Message {
    Box::new((n, n.to_string()))
}

fn main() {
    let (sender, receiver) = mpsc::channel::<Message>();
    let threads: Vec<_> = (0..4)
        .map(|n| {
            let sender = sender.clone();
            thread::spawn(move || (0..200).for_each(|i| sender.send(message(n * 1000 + i)).unwrap()))
        })
        .collect();
    drop(sender);
    let unbounded: u64 = receiver.iter().map(|message| message.0 + message.1.len() as u64).sum();
    threads.into_iter().for_each(|thread| thread.join().unwrap());

    let (sender, receiver) = mpsc::sync_channel::<Message>(3);
    let thread = thread::spawn(move || {
        for i in 0..200 {
            let mut item = message(i);
            while let Err(mpsc::TrySendError::Full(back)) = sender.try_send(item) {
                item = back;
                thread::yield_now();
            }
        }
    });
    let mut bounded = 0;
    loop {
        match receiver.recv_timeout(Duration::from_secs(100)) {
            Ok(message) => bounded += message.0,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    thread.join().unwrap();

    let (sender, receiver) = mpsc::sync_channel::<Message>(0);
    let thread = thread::spawn(move || (0..100).for_each(|i| sender.send(message(i)).unwrap()));
    let mut rendezvous = 0;
    loop {
        match receiver.try_recv() {
            Ok(message) => rendezvous += message.0,
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Disconnected) => break,
        }
    }
    thread.join().unwrap();

    // Messages that nobody takes are dropped with the channel.
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || (0..100).for_each(|i| drop(sender.send(message(i)))));
    drop(receiver);
    thread.join().unwrap();
    println!("{unbounded} {bounded} {rendezvous}");
}
