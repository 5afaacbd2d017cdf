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
use std::sync::atomic::{Ordering, compiler_fence};

/// Bytes that have their times in common: they are in one region, and processors have them together as well.
pub const LINE: usize = 64;

/// In the word of the last write, whose time is above it: somebody has the line locked.
const LOCK: u64 = 1;

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
        Held::try_lock(addr).unwrap_or_else(|| {
            Held::wait(addr);
            Held::locked(addr)
        })
    }

    /// The same, unless somebody else has it locked.
    #[inline(always)]
    pub fn try_lock(addr: usize) -> Option<Held> {
        let cell = cell(addr);
        let word = cell.write.load(Ordering::Relaxed);
        if word & LOCK != 0 {
            return None;
        }
        let locked = cell
            .write
            .compare_exchange(word, word | LOCK, Ordering::Acquire, Ordering::Relaxed);
        locked.is_ok().then(|| Held {
            write: word >> 1,
            read: cell.read.load(Ordering::Relaxed),
            cell: Some(cell),
        })
    }

    /// Locks it when nobody else has it locked any more. [`Held::locked`] goes on from there.
    #[cold]
    #[inline(never)]
    pub fn wait(addr: usize) {
        let word = &cell(addr).write;
        let mut wait = Wait::default();
        while word.fetch_or(LOCK, Ordering::Acquire) & LOCK != 0 {
            while word.load(Ordering::Relaxed) & LOCK != 0 {
                wait.once();
            }
        }
    }

    /// The line of `addr`, which this thread has locked.
    #[inline(always)]
    pub fn locked(addr: usize) -> Held {
        let cell = cell(addr);
        Held {
            write: cell.write.load(Ordering::Relaxed) >> 1,
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
            cell.read.store(time + self.lease(time), Ordering::Relaxed);
        }
        cell.write.store(last << 1, Ordering::Release);
    }

    /// How much longer than `time` the line may be read without being locked: an eighth of how long nobody has written it, so that who
    /// does has a time that is later by little more than that, and never more than [`LONGEST`]. A line that is read once between two writes
    /// has none.
    #[inline(always)]
    fn lease(&self, time: u64) -> u64 {
        let age = time.saturating_sub(self.write);
        if self.read > self.write && age >= YOUNG {
            (age / 8).min(LONGEST)
        } else {
            0
        }
    }

    /// The same, and leaves the section.
    #[inline(always)]
    pub fn raise(self, t: &Thread, write: bool, time: u64) {
        self.unlock(write, time);
        t.owner.leave();
    }
}

/// Below that age a line that is read is not likely to be read for long.
const YOUNG: u64 = 256;

/// No line may be read for longer without being locked. Whoever writes it has a time behind that, so without an end to it ages would
/// grow with the times that they make grow, and times double every few writes.
const LONGEST: u64 = 1 << 12;

/// A line that is read without being locked. Its last read is above the time of this one already, so whoever writes it next has a
/// later time: nothing has to be said to them. It only has to be seen that nobody has begun to write meanwhile.
pub struct Leased {
    cell: &'static Cell,
    word: u64,
}

impl Leased {
    /// The line of `addr`, in a region that is shared, for a read that takes the `more` times behind `last`; `None` where that cannot be.
    #[inline(always)]
    pub fn look(addr: usize, last: u64, more: u64) -> Option<Leased> {
        let cell = cell(addr);
        // In this order: a lease that is seen is that of this write, or there is another one when it is looked at again.
        let word = cell.write.load(Ordering::Acquire);
        let until = cell.read.load(Ordering::Acquire);
        (word & LOCK == 0 && word >> 1 <= last && last + more <= until).then_some(Leased { cell, word })
    }

    /// Whether nobody has begun to write since.
    #[inline(always)]
    pub fn is_valid(&self) -> bool {
        compiler_fence(Ordering::SeqCst);
        // Processors of this kind make loads in order.
        self.cell.write.load(Ordering::Acquire) == self.word
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that nobody but the test has.
    fn held(cell: &'static Cell) -> Held {
        Held {
            write: cell.write.load(Ordering::Relaxed) >> 1,
            read: cell.read.load(Ordering::Relaxed),
            cell: Some(cell),
        }
    }

    #[test]
    fn times_grow_with_accesses_and_leases_and_no_faster() {
        let lines: Vec<&'static Cell> = (0..8).map(|_| &*Box::leak(Box::<Cell>::default())).collect();
        let start = CALLS.0.load(Ordering::Relaxed) + 1_000_000;
        let (mut time, mut accesses) = (start, 0);
        for round in 0..1000 {
            // Each line is read several times, and one of them is written.
            for _ in 0..3 {
                for line in &lines {
                    let line = held(line);
                    time = line.time(time, false);
                    line.unlock(false, time);
                    accesses += 1;
                }
            }
            let line = held(lines[round % lines.len()]);
            time = line.time(time, true);
            line.unlock(true, time);
            accesses += 1;
        }
        assert!(time > start + accesses + YOUNG / 8, "nothing was leased");
        assert!(time <= start + accesses + 1000 * LONGEST, "{time}");
    }
}
