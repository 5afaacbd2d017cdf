//! The times of memory that several threads use: a line's last write and last read are in the shadow cell of its first granule.
//!
//! In a region that is a thread's own there are none: when it is handed over, all that comes later is later than all that the
//! thread has done so far (`super::handed_over`).

use super::CALLS;
use crate::cell::Cell;
use crate::owners::{REGION_MASK, Whose};
use crate::shadow;
use crate::spin::Wait;
use crate::thread::Thread;
use std::sync::atomic::Ordering;

/// Bytes that have their times in common: they are in one region, and processors have them together as well.
pub const LINE: usize = 64;

const _: () = assert!((REGION_MASK + 1).is_multiple_of(LINE));

/// The cell of an address's line.
#[inline(always)]
pub fn cell(addr: usize) -> &'static Cell {
    shadow::cell(addr & !(LINE - 1))
}

/// A line that only this thread changes.
pub struct Held {
    /// `None` if its region is the thread's own.
    cell: Option<&'static Cell>,
    /// Its last write, and last read.
    write: u64,
    read: u64,
}

impl Held {
    /// Enters a section, for the line of `addr`.
    #[inline(always)]
    pub fn take(t: &Thread, addr: usize) -> Held {
        match t.owner.enter(addr) {
            Whose::Own => Held {
                cell: None,
                write: 0,
                read: 0,
            },
            _ => Held::lock(addr),
        }
    }

    /// The line of `addr`, in a region that is shared.
    #[inline(always)]
    pub fn lock(addr: usize) -> Held {
        let cell = cell(addr);
        Held {
            write: lock(cell) >> 1,
            read: cell.read.load(Ordering::Relaxed),
            cell: Some(cell),
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
    pub fn unlock(self, write: bool, time: u64) {
        let Some(cell) = self.cell else { return };
        let mut last = self.write;
        if write {
            last = last.max(time);
        } else if self.read < time {
            cell.read.store(time, Ordering::Relaxed);
        }
        cell.write.store(last << 1, Ordering::Release);
    }

    /// The same, and leaves the section.
    #[inline(always)]
    pub fn raise(self, t: &Thread, write: bool, time: u64) {
        self.unlock(write, time);
        t.owner.leave();
    }
}

/// The pieces of `addr..addr + len` that are each in one region.
pub fn regions(addr: usize, len: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let end = addr + len;
    let mut at = addr;
    std::iter::from_fn(move || {
        let piece = at..end.min((at | REGION_MASK) + 1);
        at = piece.end;
        (!piece.is_empty()).then_some(piece)
    })
}

/// An address in each line of a piece of memory.
pub fn lines(piece: std::ops::Range<usize>) -> impl Iterator<Item = usize> {
    (piece.start / LINE..piece.end.div_ceil(LINE)).map(|line| line * LINE)
}

#[inline(always)]
fn lock(cell: &Cell) -> u64 {
    let word = cell.write.fetch_or(1, Ordering::Acquire);
    if word & 1 == 0 { word } else { wait(cell) }
}

#[cold]
#[inline(never)]
fn wait(cell: &Cell) -> u64 {
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
