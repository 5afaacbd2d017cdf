//! A waker is replaced by the thread that polls while the one that completes takes it.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::cell::UnsafeCell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

struct Slot(UnsafeCell<Option<Waker>>);

unsafe impl Sync for Slot {}

static SLOT: Slot = Slot(UnsafeCell::new(None));

struct Wait;

impl Future for Wait {
    type Output = ();
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        unsafe { *SLOT.0.get() = Some(context.waker().clone()) }; //~ RACE waker
        Poll::Pending
    }
}

fn main() {
    let polls = std::thread::spawn(|| {
        let mut future = pin!(Wait);
        turn(1, || future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending())
    });
    let completes = std::thread::spawn(|| turn(2, || unsafe { (*SLOT.0.get()).take() }.is_some())); //~ RACE waker
    println!("{} {}", polls.join().unwrap(), completes.join().unwrap());
}
