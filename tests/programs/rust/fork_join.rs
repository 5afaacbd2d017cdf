//! Fork and join by hand: quicksort on halves of a slice, a parallel map and a reduction.

use std::thread;

fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(b);
        let a = a();
        (a, other.join().unwrap())
    })
}

fn quicksort(numbers: &mut [u32], depth: u32) {
    if numbers.len() < 2 {
        return;
    }
    let pivot = numbers.len() - 1;
    let mut middle = 0;
    for i in 0..pivot {
        if numbers[i] < numbers[pivot] {
            numbers.swap(i, middle);
            middle += 1;
        }
    }
    numbers.swap(middle, pivot);
    let (left, right) = numbers.split_at_mut(middle);
    let right = &mut right[1..];
    if depth == 0 {
        quicksort(left, 0);
        quicksort(right, 0);
    } else {
        join(|| quicksort(left, depth - 1), || quicksort(right, depth - 1));
    }
}

fn sum(numbers: &[u32], depth: u32) -> u64 {
    if depth == 0 {
        return numbers.iter().map(|&n| u64::from(n)).sum();
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let (a, b) = join(|| sum(left, depth - 1), || sum(right, depth - 1));
    a + b
}

fn main() {
    let mut state = 1_u32;
    let mut numbers: Vec<u32> = (0..3000)
        .map(|_| {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12345);
            state >> 8
        })
        .collect();
    quicksort(&mut numbers, 3);
    println!("{} {}", numbers.is_sorted(), sum(&numbers, 3));
}
