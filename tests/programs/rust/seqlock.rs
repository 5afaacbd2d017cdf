//! A sequence lock: the data are relaxed atomics, what was read during a write is thrown away.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::thread;

static SEQUENCE: AtomicU32 = AtomicU32::new(0);
static DATA: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

fn write(value: u64) {
    let now = SEQUENCE.load(Ordering::Relaxed);
    SEQUENCE.store(now + 1, Ordering::Relaxed);
    fence(Ordering::Release);
    DATA.iter().for_each(|word| word.store(value, Ordering::Relaxed));
    SEQUENCE.store(now + 2, Ordering::Release);
}

fn read() -> [u64; 3] {
    loop {
        let before = SEQUENCE.load(Ordering::Acquire);
        let data = [0, 1, 2].map(|i| DATA[i].load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        if before % 2 == 0 && SEQUENCE.load(Ordering::Relaxed) == before {
            return data;
        }
        thread::yield_now();
    }
}

fn main() {
    // The numbers of a version are written before it, and plain.
    static mut VERSIONS: [u64; 101] = [0; 101];
    thread::scope(|scope| {
        scope.spawn(|| {
            for i in 1..=100 {
                // SAFETY: nobody looks at a version before it is told.
                unsafe { VERSIONS[i as usize] = i * i };
                write(i);
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let [a, b, c] = read();
                    assert!(a == b && b == c);
                    // SAFETY: it was told by the sequence, which was acquired.
                    assert_eq!(unsafe { VERSIONS[a as usize] }, a * a);
                    if a == 100 {
                        break;
                    }
                }
            });
        }
    });
    println!("{:?}", read());
}
