//! The times of memory that several threads use: those of a line are in the shadow cells of its first granules.
//!
//! In a region that is a thread's own there are none: when it is handed over, all that comes later is later than all that the
//! thread has done so far (`super::handed_over`).

use super::CALLS;
use crate::cell::Cell;
use crate::owners::{REGION_MASK, Whose};
use crate::shadow;
use crate::spin::Wait;
use crate::thread::Thread;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence};

/// Bytes that have their times in common: they are in one region, and processors have them together as well.
pub const LINE: usize = 64;

/// In the word of the last write, whose time is above it: somebody has the line locked.
const LOCK: u64 = 1;

const _: () = assert!((REGION_MASK + 1).is_multiple_of(LINE));

/// What is known of a line. All but `write` is changed by who has it locked.
#[derive(Default)]
#[repr(C)]
pub struct Line {
    /// The last write, above [`LOCK`].
    write: AtomicU64,
    /// The last read, or the last time at which anybody may read it without locking it.
    read: AtomicU64,
    /// The name of the last one who locked it to read, as regions know it.
    reader: AtomicU32,
}

const _: () =
    assert!(size_of::<Line>() <= LINE / 8 * size_of::<Cell>() && align_of::<Line>() <= align_of::<Cell>());

impl Line {
    /// That of an address.
    #[inline(always)]
    pub fn of(addr: usize) -> &'static Line {
        let cell: *const Cell = shadow::cell(addr & !(LINE - 1));
        // SAFETY: the cells of a line's granules are side by side and there for good; nobody else uses them while a run is recorded. All of it is atomic.
        unsafe { &*cell.cast::<Line>() }
    }

    /// The time that an access has to be later than.
    #[inline(always)]
    pub fn last(&self, write: bool) -> u64 {
        let last = self.write.load(Ordering::Acquire) >> 1;
        if write {
            last.max(self.read.load(Ordering::Relaxed))
        } else {
            last
        }
    }
}

/// A line that only this thread changes.
pub struct Held {
    /// `None` if its region is the thread's own.
    line: Option<&'static Line>,
    /// The thread.
    who: u32,
    /// Its last write.
    write: u64,
}

impl Held {
    /// Enters a section, for the line of `addr`.
    #[inline(always)]
    pub fn take(t: &Thread, addr: usize) -> Held {
        match t.owner.enter(addr) {
            Whose::Own => Held {
                line: None,
                who: 0,
                write: 0,
            },
            _ => Held::lock(t, addr),
        }
    }

    /// The line of `addr`, in a region that is shared.
    #[inline(always)]
    pub fn lock(t: &Thread, addr: usize) -> Held {
        Held::try_lock(t, addr).unwrap_or_else(|| {
            Held::wait(addr);
            Held::locked(t, addr)
        })
    }

    /// The same, unless somebody else has it locked.
    #[inline(always)]
    pub fn try_lock(t: &Thread, addr: usize) -> Option<Held> {
        let line = Line::of(addr);
        let word = line.write.load(Ordering::Relaxed);
        if word & LOCK != 0 {
            return None;
        }
        let locked = line
            .write
            .compare_exchange(word, word | LOCK, Ordering::Acquire, Ordering::Relaxed);
        locked.is_ok().then_some(Held {
            line: Some(line),
            who: t.owner.name,
            write: word >> 1,
        })
    }

    /// Locks it when nobody else has it locked any more. [`Held::locked`] goes on from there.
    #[cold]
    #[inline(never)]
    pub fn wait(addr: usize) {
        let word = &Line::of(addr).write;
        let mut wait = Wait::default();
        while word.fetch_or(LOCK, Ordering::Acquire) & LOCK != 0 {
            while word.load(Ordering::Relaxed) & LOCK != 0 {
                wait.once();
            }
        }
    }

    /// The line of `addr`, which this thread has locked.
    #[inline(always)]
    pub fn locked(t: &Thread, addr: usize) -> Held {
        let line = Line::of(addr);
        Held {
            line: Some(line),
            who: t.owner.name,
            write: line.write.load(Ordering::Relaxed) >> 1,
        }
    }

    /// A time for an access of a thread whose last one was at `last`.
    #[inline(always)]
    pub fn time(&self, last: u64, write: bool) -> u64 {
        let before = self.line.map_or(0, |line| line.last(write));
        last.max(before).max(CALLS.0.load(Ordering::Acquire)) + 1
    }

    /// Lets go of it, with an access at `time`.
    #[inline(always)]
    pub fn unlock(self, write: bool, time: u64) {
        let Some(line) = self.line else { return };
        let mut last = self.write;
        if write {
            last = last.max(time);
        } else {
            self.is_read(line, time);
        }
        line.write.store(last << 1, Ordering::Release);
    }

    /// A line that is read once between two writes is not read without being locked. Others are, the longer the longer it is that
    /// they were written: whoever writes them next has a time behind that.
    #[inline(always)]
    fn is_read(&self, line: &Line, time: u64) {
        let before = line.read.load(Ordering::Relaxed);
        if before >= time {
            return;
        }
        let age = time.saturating_sub(self.write);
        let mut lease = 0;
        if before > self.write && age >= YOUNG {
            // Those that several threads read would go to and fro between processors otherwise.
            let several = line.reader.load(Ordering::Relaxed) != self.who;
            lease = if several {
                age.min(LONG)
            } else {
                (age / 8).min(SHORT)
            };
        }
        line.reader.store(self.who, Ordering::Relaxed);
        line.read.store(time + lease, Ordering::Relaxed);
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

/// For no longer one thread may read a line without locking it, and several. Whoever writes it has a time behind that, so without an end
/// to it ages would grow with the times that they make grow, and times double every few writes.
const SHORT: u64 = 1 << 12;
const LONG: u64 = 1 << 20;

/// A line that is read without being locked. Its last read is above the time of this one already, so whoever writes it next has a
/// later time: nothing has to be said to them. It only has to be seen that nobody has begun to write meanwhile.
pub struct Leased {
    line: &'static Line,
    word: u64,
}

impl Leased {
    /// The line of `addr`, in a region that is shared, for a read that takes the `more` times behind the thread's last; `None` where that cannot be.
    #[inline(always)]
    pub fn look(t: &Thread, addr: usize, more: u64) -> Option<Leased> {
        let (line, last) = (Line::of(addr), t.log.time);
        // In this order: a lease that is seen is that of this write, or there is another one when it is looked at again.
        let word = line.write.load(Ordering::Acquire);
        let until = line.read.load(Ordering::Acquire);
        (word & LOCK == 0 && word >> 1 <= last && last + more <= until).then_some(Leased { line, word })
    }

    /// Whether nobody has begun to write since.
    #[inline(always)]
    pub fn is_valid(&self) -> bool {
        compiler_fence(Ordering::SeqCst);
        // Processors of this kind make loads in order.
        self.line.write.load(Ordering::Acquire) == self.word
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

    /// A line that `who` has locked.
    fn held(line: &'static Line, who: u32) -> Held {
        Held {
            line: Some(line),
            who,
            write: line.write.load(Ordering::Relaxed) >> 1,
        }
    }

    fn line() -> &'static Line {
        Box::leak(Box::default())
    }

    #[test]
    fn times_grow_with_accesses_and_leases_and_no_faster() {
        let lines: Vec<&'static Line> = (0..8).map(|_| line()).collect();
        let start = CALLS.0.load(Ordering::Relaxed) + 1_000_000;
        let (mut time, mut accesses) = (start, 0);
        for round in 0..1000 {
            // Each line is read several times, by several threads, and one of them is written.
            for who in 1..4 {
                for line in &lines {
                    let line = held(line, who);
                    time = line.time(time, false);
                    line.unlock(false, time);
                    accesses += 1;
                }
            }
            let line = held(lines[round % lines.len()], 1);
            time = line.time(time, true);
            line.unlock(true, time);
            accesses += 1;
        }
        assert!(time > start + accesses + YOUNG / 8, "nothing was leased");
        assert!(time <= start + accesses + 1000 * LONG, "{time}");
    }

    #[test]
    fn what_several_read_is_leased_for_longer() {
        let until = |readers: [u32; 2]| {
            let line = line();
            held(line, 1).unlock(true, 1_000_000);
            for (who, time) in readers.into_iter().zip([1_100_000, 1_200_000]) {
                held(line, who).unlock(false, time);
            }
            line.last(true)
        };
        assert_eq!(until([1, 1]), 1_200_000 + SHORT);
        assert_eq!(until([1, 2]), 1_200_000 + 200_000);
    }
}
