//! Numbers of states that come and go all the time. Each thread puts some by, so that the lock is seldom taken, and so that
//! neighbours, whose states share lines, are mostly with one thread.

use crate::spin::Spin;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many a thread puts by; half of that it gives at once, or takes from what others gave.
const PUT_BY: usize = 1024;
/// So many neighbours a thread takes at once of those that were never used: their states share lines.
const NEW: u64 = 32;

/// Numbers from 0 on.
pub struct Pool {
    /// Those to be used again that no thread has put by.
    free: Spin<Vec<u32>>,
    next: AtomicU64,
}

impl Pool {
    /// All of them are free.
    #[expect(clippy::new_without_default, reason = "for statics only")]
    pub const fn new() -> Pool {
        Pool {
            free: Spin::new(Vec::new()),
            next: AtomicU64::new(0),
        }
    }

    /// A number that nobody else has, from what the thread has put by if there is one.
    #[inline(always)]
    pub fn take(&self, put_by: &mut Vec<u32>) -> u64 {
        match put_by.pop() {
            Some(number) => number.into(),
            None => self.refill(put_by),
        }
    }

    #[cold]
    fn refill(&self, put_by: &mut Vec<u32>) -> u64 {
        let mut free = self.free.lock();
        let from = free.len() - free.len().min(PUT_BY / 2);
        put_by.extend(free.drain(from..));
        drop(free);
        if put_by.is_empty() {
            let first = self.next.fetch_add(NEW, Ordering::Relaxed);
            put_by.extend((first..first + NEW).rev().map(|number| number as u32));
        }
        put_by.pop().unwrap_or(0).into()
    }

    /// Gives a number back to be used again.
    #[inline(always)]
    pub fn give(&self, put_by: &mut Vec<u32>, number: u64) {
        put_by.push(number as u32);
        if put_by.len() > PUT_BY {
            self.give_many(put_by, PUT_BY / 2);
        }
    }

    #[cold]
    fn give_many(&self, put_by: &mut Vec<u32>, from: usize) {
        self.free.lock().extend(put_by.drain(from..));
    }

    /// Gives back what a thread has put by.
    pub fn give_all(&self, put_by: &mut Vec<u32>) {
        self.give_many(put_by, 0);
    }

    /// Gives back a number without a thread that could put it by.
    pub fn give_to_all(&self, number: u64) {
        self.free.lock().push(number as u32);
    }

    /// How many were ever in use at once, or put by.
    pub fn count(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Takes the lock, before a `fork`.
    pub fn hold(&self) {
        self.free.hold();
    }

    /// Gives it back, after it.
    pub fn let_go(&self) {
        self.free.let_go();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_number_is_given_out_twice_and_all_are_used_again() {
        static POOL: Pool = Pool::new();
        let (mut one, mut other) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let taken: HashSet<u64> = (0..4000)
                .map(|n| POOL.take(if n % 2 == 0 { &mut one } else { &mut other }))
                .collect();
            assert_eq!(taken.len(), 4000);
            // What one has taken the other may give.
            taken.iter().take(3900).for_each(|n| POOL.give(&mut one, *n));
            taken.iter().skip(3900).for_each(|n| POOL.give_to_all(*n));
            taken.iter().for_each(|n| assert!(*n < POOL.count()));
            assert!(one.len() <= PUT_BY);
            POOL.give_all(&mut one);
            POOL.give_all(&mut other);
        }
        // New ones only while the other had some put by.
        assert!((4000..=4000 + NEW + PUT_BY as u64).contains(&POOL.count()));
    }
}
