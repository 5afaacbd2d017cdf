//! What every workload in Rust has: its arguments, numbers that are the same everywhere, the verdict, and a cell to race in.
//!
//! See `workload.h`: built with `--cfg race` a workload has one known race, and its exit status is 0 even if the result is wrong.
#![allow(dead_code)]

use std::cell::UnsafeCell;
use std::process::ExitCode;
use std::sync::Barrier;
use std::thread;

pub struct Arguments {
    pub threads: usize,
    pub size: usize,
}

fn number(word: &str, what: &str, least: usize, most: usize) -> usize {
    match word.parse() {
        Ok(number) if (least..=most).contains(&number) => number,
        _ => {
            eprintln!("{what} is `{word}`, and must be a number from {least} to {most}");
            std::process::exit(2);
        }
    }
}

pub fn arguments(size: usize, least: usize, most: usize) -> Arguments {
    let words: Vec<String> = std::env::args().collect();
    if words.len() > 3 {
        eprintln!("usage: {} [THREADS [SIZE]]", words[0]);
        std::process::exit(2);
    }
    Arguments {
        threads: words.get(1).map_or(2, |word| number(word, "THREADS", 1, 1024)),
        size: words
            .get(2)
            .map_or(size, |word| number(word, "SIZE", least, most)),
    }
}

/// A bijection whose values look random (the finaliser of splitmix64).
pub fn scramble(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scramble(self.0)
    }
}

/// Runs `body` in all threads, each with its number; returns what they return, in order.
///
/// They begin when all are there: the standard library takes a lock of its own where a thread starts and where it ends, which
/// would order those that do not run side by side, and hide the race.
pub fn team<T: Send>(threads: usize, body: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (start, body) = (&Barrier::new(threads), &body);
    thread::scope(|scope| {
        let members: Vec<_> = (0..threads)
            .map(|me| {
                scope.spawn(move || {
                    start.wait();
                    body(me)
                })
            })
            .collect();
        members
            .into_iter()
            .map(|member| member.join().expect("a member of the team panicked"))
            .collect()
    })
}

pub fn verdict(right: bool, checksum: u64) -> ExitCode {
    println!("{} {checksum:016x}", if right { "ok" } else { "wrong" });
    ExitCode::from(u8::from(!right && !cfg!(race)))
}

/// A cell that claims to be safe to share and is not: what a race needs in Rust.
pub struct Unguarded<T>(UnsafeCell<T>);

// SAFETY: none. Threads that use it at once race, which is its purpose.
unsafe impl<T> Sync for Unguarded<T> {}

impl<T> Unguarded<T> {
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    #[inline(always)]
    pub fn get(&self) -> *mut T {
        self.0.get()
    }
}
