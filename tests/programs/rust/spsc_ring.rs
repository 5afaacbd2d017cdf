//! A ring of one producer and one consumer, with copies of each other's index; the consumer's end destroys what is left.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const SIZE: usize = 8;

struct Ring<T> {
    cells: [UnsafeCell<MaybeUninit<T>>; SIZE],
    head: AtomicUsize,
    tail: AtomicUsize,
}

// SAFETY: the indices say which cells are the producer's, and which the consumer's.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        for at in *self.head.get_mut()..*self.tail.get_mut() {
            // SAFETY: cells between head and tail are filled, and nobody else has the ring.
            unsafe { self.cells[at % SIZE].get_mut().assume_init_drop() };
        }
    }
}

struct Producer<T>(Arc<Ring<T>>, usize);
struct Consumer<T>(Arc<Ring<T>>, usize);

impl<T> Producer<T> {
    fn push(&mut self, value: T) -> Result<(), T> {
        let tail = self.0.tail.load(Ordering::Relaxed);
        if tail - self.1 == SIZE {
            self.1 = self.0.head.load(Ordering::Acquire);
            if tail - self.1 == SIZE {
                return Err(value);
            }
        }
        // SAFETY: the cell is empty: the consumer has told so by its index.
        unsafe { (*self.0.cells[tail % SIZE].get()).write(value) };
        self.0.tail.store(tail + 1, Ordering::Release);
        Ok(())
    }
}

impl<T> Consumer<T> {
    fn pop(&mut self) -> Option<T> {
        let head = self.0.head.load(Ordering::Relaxed);
        if head == self.1 {
            self.1 = self.0.tail.load(Ordering::Acquire);
            if head == self.1 {
                return None;
            }
        }
        // SAFETY: the cell is filled: the producer has told so by its index.
        let value = unsafe { (*self.0.cells[head % SIZE].get()).assume_init_read() };
        self.0.head.store(head + 1, Ordering::Release);
        Some(value)
    }
}

fn main() {
    let mut sum = 0;
    for round in 0..10 {
        let ring = Arc::new(Ring {
            cells: [const { UnsafeCell::new(MaybeUninit::uninit()) }; SIZE],
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        });
        let (mut producer, mut consumer) = (Producer(Arc::clone(&ring), 0), Consumer(ring, 0));
        let produces = thread::spawn(move || {
            for i in 0..100 {
                let mut value = Box::new(i);
                while let Err(back) = producer.push(value) {
                    value = back;
                    thread::yield_now();
                }
            }
        });
        for _ in 0..100 - round % 8 {
            sum += *loop {
                match consumer.pop() {
                    Some(value) => break value,
                    None => thread::yield_now(),
                }
            };
        }
        drop(consumer);
        produces.join().unwrap();
    }
    println!("{sum}");
}
