//! A spin lock that takes with `Acquire` and gives back with `Relaxed`; and one the other way round.

#[path = "../include/invisible.rs"]
mod invisible;
use invisible::turn;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

struct Spin {
    taken: AtomicBool,
    value: UnsafeCell<u32>,
    take: Ordering,
    give: Ordering,
}

unsafe impl Sync for Spin {}

impl Spin {
    const fn new(take: Ordering, give: Ordering) -> Spin {
        Spin { taken: AtomicBool::new(false), value: UnsafeCell::new(0), take, give }
    }

    fn with(&self, change: impl FnOnce(&mut u32)) {
        while self.taken.swap(true, self.take) {
            std::hint::spin_loop();
        }
        change(unsafe { &mut *self.value.get() });
        self.taken.store(false, self.give);
    }
}

static GIVES: Spin = Spin::new(Ordering::Acquire, Ordering::Relaxed);
static TAKES: Spin = Spin::new(Ordering::Relaxed, Ordering::Release);
static RIGHT: Spin = Spin::new(Ordering::Acquire, Ordering::Release);

fn add() {
    GIVES.with(|value| *value += 1); //~ RACE gives
    TAKES.with(|value| *value += 1); //~ RACE takes
}

fn main() {
    let threads = [1, 2].map(|n| {
        std::thread::spawn(move || {
            turn(n, add);
            RIGHT.with(|value| *value += 1);
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    println!("{}", unsafe { *GIVES.value.get() + *TAKES.value.get() + *RIGHT.value.get() });
}
