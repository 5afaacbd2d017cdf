//! Channels whose ends are dropped: messages that nobody takes are destroyed by the receiver, the last sender ends the loop, and
//! a receiver that polls several channels comes after what each of them brought.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use std::thread;
use std::time::Duration;

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Message(Vec<usize>);

impl Drop for Message {
    fn drop(&mut self) {
        self.0.push(0);
        DROPPED.fetch_add(self.0.len(), Ordering::Relaxed);
    }
}

fn main() {
    // Nobody takes them all.
    for round in 0..20 {
        let (sender, receiver) = mpsc::channel();
        let senders: Vec<_> = (0..3)
            .map(|n| {
                let sender = sender.clone();
                thread::spawn(move || (0..40).map(|i| usize::from(sender.send(Message(vec![n; i])).is_err())).sum::<usize>())
            })
            .collect();
        drop(sender);
        receiver.iter().take(round).for_each(drop);
        drop(receiver);
        for sender in senders {
            sender.join().unwrap();
        }
    }
    // Bounded, with and without room.
    let mut sum = 0;
    for room in [0, 1, 5] {
        let (sender, receiver) = mpsc::sync_channel::<Message>(room);
        let sending = thread::spawn(move || {
            for i in 0..20 {
                let mut message = Message(vec![i]);
                while let Err(TrySendError::Full(back)) = sender.try_send(message) {
                    message = back;
                    thread::yield_now();
                }
            }
            sender.send(Message(vec![100])).unwrap();
        });
        loop {
            match receiver.recv_timeout(Duration::from_millis(1)) {
                Ok(message) => sum += message.0[0],
                Err(RecvTimeoutError::Timeout) => (),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        sending.join().unwrap();
    }
    // Several at once.
    let mut data = vec![0_usize; 4];
    let (mut ends, mut closed) = (Vec::new(), 0);
    thread::scope(|scope| {
        for slot in data.iter_mut() {
            let (sender, receiver) = mpsc::channel::<&mut usize>();
            ends.push(receiver);
            scope.spawn(move || {
                *slot = 1;
                sender.send(slot).unwrap();
            });
        }
        while closed < ends.len() {
            for end in &ends {
                match end.try_recv() {
                    Ok(slot) => *slot += 10,
                    Err(TryRecvError::Empty) => thread::yield_now(),
                    Err(TryRecvError::Disconnected) => closed += 1,
                }
            }
            closed = if closed < ends.len() { 0 } else { closed };
        }
    });
    drop(ends);
    println!("{} {sum} {data:?}", DROPPED.load(Ordering::Relaxed));
}
