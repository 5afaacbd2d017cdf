//! The times of memory: a granule's last write and last read are in its shadow cell.
//!
//! Where a region is shared, a granule that is read again and again gets a time of its last read that lies ahead. Until then, reads
//! need no lock ([`Glance`]): a write takes a later time than that one anyway.

use super::CALLS;
use crate::owners::Whose;
use crate::shadow;
use crate::spin::Wait;
use crate::thread::Thread;
use std::sync::atomic::{Ordering, compiler_fence};

/// So far ahead, in times. Whoever writes then jumps as far, so this is not for granules that are read once before a write.
const AHEAD: u64 = 1 << 14;

/// A granule of a shared region that is read without its lock.
pub struct Glance {
    cell: &'static crate::cell::Cell,
    /// Its first word, before the read.
    word: u64,
}

impl Glance {
    /// A look at a granule, and the time of a read by a thread whose last one was at `last`. `None` if it must be locked for that.
    #[inline(always)]
    pub fn take(t: &Thread, addr: usize, last: u64) -> Option<(Glance, u64)> {
        let cell = shadow::cell(addr);
        if !t.owner.is_shared(cell) {
            return None;
        }
        let word = cell.write.load(Ordering::Acquire);
        let time = last.max(word >> 1).max(CALLS.0.load(Ordering::Acquire)) + 1;
        // Who writes later has the lock by then, and sees this.
        (word & 1 == 0 && cell.read.load(Ordering::Acquire) >= time).then_some((Glance { cell, word }, time))
    }

    /// Whether nobody has begun to write until now, so what was read is what the last write left.
    #[inline(always)]
    pub fn holds(&self) -> bool {
        // Loads stay in their order: the processor's do, and the fence is for the compiler.
        compiler_fence(Ordering::SeqCst);
        self.cell.write.load(Ordering::Acquire) == self.word
    }
}

/// A granule that only this thread changes.
pub struct Held {
    cell: &'static crate::cell::Cell,
    own: bool,
    /// Its last write, and last read.
    write: u64,
    read: u64,
}

impl Held {
    /// Enters a section, for the granule of `addr`.
    #[inline(always)]
    pub fn take(t: &Thread, addr: usize) -> Held {
        let own = t.owner.enter(addr) == Whose::Own;
        let cell = shadow::cell(addr);
        let write = if own {
            cell.write.load(Ordering::Relaxed)
        } else {
            lock(cell)
        };
        Held {
            cell,
            own,
            write: write >> 1,
            read: cell.read.load(Ordering::Relaxed),
        }
    }

    /// A time for an access of a thread whose last one was at `last`.
    #[inline(always)]
    pub fn time(&self, last: u64, write: bool) -> u64 {
        let before = if write {
            self.write.max(self.read)
        } else {
            self.write
        };
        last.max(before).max(CALLS.0.load(Ordering::Acquire)) + 1
    }

    /// Lets go of it, with an access at `time`.
    #[inline(always)]
    pub fn raise(self, t: &Thread, write: bool, time: u64) {
        let mut last = self.write;
        if write {
            last = last.max(time);
        } else if self.read < time {
            let again = !self.own && self.read > self.write;
            let ahead = if again { AHEAD } else { 0 };
            self.cell.read.store(time + ahead, Ordering::Relaxed);
        }
        if write || !self.own {
            self.cell.write.store(last << 1, Ordering::Release);
        }
        t.owner.leave();
    }
}

#[inline(always)]
fn lock(cell: &crate::cell::Cell) -> u64 {
    let word = cell.write.fetch_or(1, Ordering::Acquire);
    if word & 1 == 0 { word } else { wait(cell) }
}

#[cold]
#[inline(never)]
fn wait(cell: &crate::cell::Cell) -> u64 {
    let mut wait = Wait::default();
    loop {
        while cell.write.load(Ordering::Relaxed) & 1 != 0 {
            wait.once();
        }
        let word = cell.write.fetch_or(1, Ordering::Acquire);
        if word & 1 == 0 {
            return word;
        }
    }
}
