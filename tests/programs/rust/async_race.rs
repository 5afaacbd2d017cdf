//! A hand-made future whose state is written by the thread that completes it, without any order.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

static mut RESULT: Option<u32> = None;

async fn poll_result() -> u32 {
    std::future::poll_fn(|_| match unsafe { RESULT } { //~ RACE result
        Some(result) => Poll::Ready(result),
        None => Poll::Pending,
    })
    .await
}

fn main() {
    let completer = std::thread::spawn(|| turn(1, || unsafe { RESULT = Some(7) })); //~ RACE result
    let mut future = pin!(poll_result());
    let polled = turn(2, || future.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    completer.join().unwrap();
    println!("{polled:?}");
}
