//! Scoped threads on parts of slices: split_at_mut, chunks_mut, iter_mut, nested scopes, results.

use std::thread;

fn main() {
    let mut numbers: Vec<u64> = (0..1000).collect();
    let mut words = vec![String::from("word"); 7];
    let length = thread::scope(|scope| {
        let (left, right) = numbers.split_at_mut(501);
        scope.spawn(move || left.iter_mut().for_each(|n| *n += 1));
        scope.spawn(move || {
            thread::scope(|inner| {
                for chunk in right.chunks_mut(77) {
                    inner.spawn(move || chunk.iter_mut().for_each(|n| *n *= 2));
                }
            });
            right[0] += 1;
        });
        for (n, word) in words.iter_mut().enumerate() {
            scope.spawn(move || word.push_str(&n.to_string()));
        }
        let text = "shared";
        scope.spawn(move || text.len()).join().unwrap()
    });
    println!("{} {} {length}", numbers.iter().sum::<u64>(), words.concat());
}
