//! A waker and a result in one atomic word's care: registered by the thread that polls, taken by the one that completes.

use std::cell::UnsafeCell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

const REGISTERING: usize = 1;
const DONE: usize = 2;

#[derive(Default)]
struct Slot {
    state: AtomicUsize,
    waker: UnsafeCell<Option<Waker>>,
    result: UnsafeCell<Option<String>>,
}

// SAFETY: the state says who may touch the cells.
unsafe impl Sync for Slot {}

impl Slot {
    fn complete(&self, result: String) {
        // SAFETY: written once, before the state says so.
        unsafe { *self.result.get() = Some(result) };
        // Whoever registers meanwhile wakes itself.
        if self.state.fetch_or(DONE, Ordering::AcqRel) & REGISTERING == 0 {
            // SAFETY: nobody registers, and nobody will any more.
            if let Some(waker) = unsafe { (*self.waker.get()).take() } {
                waker.wake();
            }
        }
    }
}

struct Wait(Arc<Slot>);

impl Future for Wait {
    type Output = String;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<String> {
        let slot = &self.0;
        if slot.state.compare_exchange(0, REGISTERING, Ordering::Acquire, Ordering::Acquire).is_ok() {
            // SAFETY: REGISTERING is this thread's.
            unsafe { *slot.waker.get() = Some(context.waker().clone()) };
            if slot.state.compare_exchange(REGISTERING, 0, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return Poll::Pending;
            }
        }
        // SAFETY: DONE was seen, and acquired.
        Poll::Ready(unsafe { (*slot.result.get()).take() }.unwrap())
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}

fn main() {
    let mut length = 0;
    for round in 0..50 {
        let slot = Arc::new(Slot::default());
        let theirs = Arc::clone(&slot);
        let completes = thread::spawn(move || {
            if round % 2 == 0 {
                thread::yield_now();
            }
            theirs.complete(format!("result {round:02}"));
        });
        length += block_on(async { Wait(slot).await.len() });
        completes.join().unwrap();
    }
    println!("{length}");
}
