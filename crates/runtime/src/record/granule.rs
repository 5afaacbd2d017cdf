//! The times of memory: a granule's last write and last read are in its shadow cell.

use super::CALLS;
use crate::owners::Whose;
use crate::shadow;
use crate::spin::Wait;
use crate::thread::Thread;
use std::sync::atomic::Ordering;

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
            self.cell.read.store(time, Ordering::Relaxed);
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
