//! Two thousand threads, a hundred at a time, with names, stacks and results of their own.

use std::thread;

fn main() {
    let mut total = 0;
    for round in 0..20_usize {
        let threads: Vec<_> = (0..100_usize)
            .map(|n| {
                thread::Builder::new()
                    .name(format!("worker {n}"))
                    .stack_size(64 * 1024)
                    .spawn(move || vec![n; round].into_iter().sum::<usize>())
                    .unwrap()
            })
            .collect();
        total += threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>();
    }
    println!("{total}");
}
