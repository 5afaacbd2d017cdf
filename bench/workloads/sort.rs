//! A parallel merge sort that splits the slice and sorts the halves in two threads, as with rayon's join, down to one part for
//! each thread. Checked against the standard library's sort.
// suite: rust
// size: 15000000 quick: 60000 sweep: 1900000 3750000 7500000 15000000
#![allow(unexpected_cfgs)]

#[path = "include/workload.rs"]
mod workload;

use std::process::ExitCode;
use std::thread;
use workload::{arguments, scramble, verdict, Numbers};

/// Slices that are not worth merging.
const SMALL: usize = 32;

#[cfg(race)]
static MERGED: workload::Unguarded<u64> = workload::Unguarded::new(0);
#[cfg(not(race))]
static MERGED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Counts elements that were merged.
fn count(number: usize) {
    #[cfg(race)]
    // SAFETY: none. Other threads do the same at the same time.
    unsafe {
        *MERGED.get() += number as u64; //~ RACE MERGED
    }
    #[cfg(not(race))]
    MERGED.fetch_add(number as u64, std::sync::atomic::Ordering::Relaxed);
}

fn merged() -> u64 {
    #[cfg(race)]
    // SAFETY: all threads have been joined.
    return unsafe { *MERGED.get() };
    #[cfg(not(race))]
    MERGED.load(std::sync::atomic::Ordering::Relaxed)
}

fn insertion_sort(slice: &mut [u64]) {
    for i in 1..slice.len() {
        let value = slice[i];
        let mut j = i;
        while j > 0 && slice[j - 1] > value {
            slice[j] = slice[j - 1];
            j -= 1;
        }
        slice[j] = value;
    }
}

/// Merges the two sorted parts of `slice` with the help of `buffer`, which is as long.
fn merge(slice: &mut [u64], middle: usize, buffer: &mut [u64]) {
    buffer.copy_from_slice(slice);
    let (left, right) = buffer.split_at(middle);
    let (mut i, mut j) = (0, 0);
    for place in slice {
        if j == right.len() || (i < left.len() && left[i] <= right[j]) {
            *place = left[i];
            i += 1;
        } else {
            *place = right[j];
            j += 1;
        }
    }
}

fn merge_sort(slice: &mut [u64], buffer: &mut [u64], threads: usize) {
    if slice.len() <= SMALL {
        insertion_sort(slice);
        return;
    }
    // As many elements as threads for each half, so that odd numbers of threads are of use.
    let few = threads / 2;
    let middle = if threads > 1 {
        slice.len() * few / threads
    } else {
        slice.len() / 2
    };
    let (left, right) = slice.split_at_mut(middle);
    let (left_buffer, right_buffer) = buffer.split_at_mut(middle);
    if threads > 1 {
        thread::scope(|scope| {
            scope.spawn(|| sort_part(left, left_buffer, few));
            sort_part(right, right_buffer, threads - few);
        });
    } else {
        merge_sort(left, left_buffer, 1);
        merge_sort(right, right_buffer, 1);
    }
    merge(slice, middle, buffer);
}

fn sort_part(slice: &mut [u64], buffer: &mut [u64], threads: usize) {
    merge_sort(slice, buffer, threads);
    count(slice.len());
}

/// What `count` must come to: each part that had threads of its own, and the parts that it was split into.
fn elements_counted(length: usize, threads: usize) -> u64 {
    let parts = if threads > 1 && length > SMALL {
        let middle = length * (threads / 2) / threads;
        elements_counted(middle, threads / 2) + elements_counted(length - middle, threads - threads / 2)
    } else {
        0
    };
    length as u64 + parts
}

fn main() -> ExitCode {
    let arguments = arguments(15_000_000, 2, 1 << 32);
    let mut numbers = Numbers(1);
    let original: Vec<u64> = (0..arguments.size).map(|_| numbers.next() >> 16).collect();
    let mut sorted = original.clone();
    let mut buffer = vec![0; arguments.size];
    sort_part(&mut sorted, &mut buffer, arguments.threads);
    drop(buffer);
    let mut expected = original;
    expected.sort_unstable();
    let checksum = sorted.iter().fold(0, |sum, &value| scramble(sum ^ value));
    let right = sorted == expected && merged() == elements_counted(arguments.size, arguments.threads);
    verdict(right, checksum)
}
