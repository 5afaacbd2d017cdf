//! `Once`, `OnceLock`, `LazyLock`: everybody comes after the one who initialised.

use std::collections::HashMap;
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;

static ONCE: Once = Once::new();
static mut PLAIN: u32 = 0;
static CELL: OnceLock<Vec<u32>> = OnceLock::new();
static LAZY: LazyLock<HashMap<u32, String>> =
    LazyLock::new(|| (0..10).map(|n| (n, format!("number {n}"))).collect());

fn main() {
    let sum: u32 = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                scope.spawn(move || {
                    // SAFETY: once, while all others wait.
                    ONCE.call_once(|| unsafe { PLAIN = 42 });
                    let cell = CELL.get_or_init(|| {
                        thread::yield_now();
                        vec![1, 2, 3]
                    });
                    let length = LAZY[&n].len() as u32;
                    assert!(ONCE.is_completed());
                    // SAFETY: behind `call_once` nobody writes it.
                    unsafe { PLAIN + cell[2] + length }
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{sum} {}", CELL.get().is_some());
}
