//! What a loop nest has accessed and not yet checked: memory that its inner loops went through, row by row.
//!
//! Instrumented code keeps one in its frame for each access of an inner loop that the loops around it leave to be checked at
//! their end (BigFoot's footprints, kept in the frame). [`crate::hooks::READ_GATHER`] adds a row where an inner loop is left,
//! [`crate::hooks::READ_COMMIT`] checks all where the outermost loop is left. Where that begins, `high` and `count` are 0.

use core::mem::offset_of;

/// Memory in pieces. All of it was accessed, by this thread, in its present epoch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// The latest piece: from here ...
    pub low: usize,
    /// ... to before this. 0 if there is none.
    pub high: usize,
    /// The rows before it: where the first begins, ...
    pub first: usize,
    /// ... how long each is, ...
    pub len: usize,
    /// ... how far apart two are (not defined for one), ...
    pub stride: usize,
    /// ... and how many.
    pub count: usize,
}

/// Words of a footprint.
pub const WORDS: u64 = 6;
/// Which of them is `high`.
pub const HIGH: u64 = 1;
/// Which of them is `count`.
pub const COUNT: u64 = 5;

/// A row of so many bytes is checked at once: its shadow is near, and one check for all of it is cheap enough.
pub const LONG: usize = 2048;

const _: () = assert!(size_of::<Footprint>() as u64 == WORDS * 8);
const _: () = assert!(offset_of!(Footprint, high) as u64 == HIGH * 8);
const _: () = assert!(offset_of!(Footprint, count) as u64 == COUNT * 8);

impl Footprint {
    /// A row is accessed. `check` is given rows that the following ones do not continue: where the first begins, and how many,
    /// how far apart, of how many bytes.
    pub fn add(&mut self, addr: usize, len: usize, mut check: impl FnMut(usize, (usize, usize, usize))) {
        if len == 0 || self.has(addr, len) {
            return;
        }
        if len >= LONG {
            return check(addr, (1, len, len));
        }
        if self.high != 0 && addr <= self.high && addr.wrapping_add(len) >= self.low {
            self.low = self.low.min(addr);
            self.high = self.high.max(addr.wrapping_add(len));
            return;
        }
        self.close(check);
        (self.low, self.high) = (addr, addr.wrapping_add(len));
    }

    /// All of it is checked, and forgotten.
    pub fn commit(&mut self, mut check: impl FnMut(usize, (usize, usize, usize))) {
        self.close(&mut check);
        if self.count != 0 {
            check(self.first, (self.count, self.stride, self.len));
        }
        (self.high, self.count) = (0, 0);
    }

    /// Whether a piece is among the rows.
    fn has(&self, addr: usize, len: usize) -> bool {
        if self.count < 2 || len > self.len || addr < self.first || self.stride.cast_signed() <= 0 {
            return false;
        }
        let distance = addr - self.first;
        distance.is_multiple_of(self.stride) && distance / self.stride < self.count
    }

    /// Makes the latest piece a row.
    fn close(&mut self, mut check: impl FnMut(usize, (usize, usize, usize))) {
        if self.high == 0 {
            return;
        }
        let len = self.high - self.low;
        let distance = self.low.wrapping_sub(self.first);
        let fits = match self.count {
            0 => false,
            _ if len != self.len => false,
            1 => true,
            count => distance == self.stride.wrapping_mul(count),
        };
        match fits {
            true => {
                if self.count == 1 {
                    self.stride = distance;
                }
                self.count += 1;
            }
            false => {
                if self.count != 0 {
                    check(self.first, (self.count, self.stride, self.len));
                }
                (self.first, self.len, self.stride, self.count) = (self.low, len, len, 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    type Rows = (usize, (usize, usize, usize));

    /// What is checked of pieces that come one after another.
    fn checked(pieces: &[(usize, usize)]) -> Vec<Rows> {
        let mut footprint = Footprint::default();
        let mut rows = Vec::new();
        for &(addr, len) in pieces {
            footprint.add(addr, len, |first, how| rows.push((first, how)));
        }
        footprint.commit(|first, how| rows.push((first, how)));
        assert_eq!((footprint.high, footprint.count), (0, 0));
        rows
    }

    #[test]
    fn rows_side_by_side_are_one() {
        assert_eq!(checked(&[(64, 8), (72, 8), (80, 16)]), [(64, (1, 32, 32))]);
        assert_eq!(checked(&[(80, 16), (72, 8), (64, 8)]), [(64, (1, 32, 32))]);
        assert_eq!(checked(&[(64, 8), (0, 0), (68, 8)]), [(64, (1, 12, 12))]);
        assert!(checked(&[(64, 0)]).is_empty());
    }

    #[test]
    fn rows_in_equal_steps_are_checked_together_and_once() {
        assert_eq!(checked(&[(64, 8), (96, 8), (128, 8)]), [(64, (3, 32, 8))]);
        assert_eq!(
            checked(&[(64, 8), (96, 8), (128, 8), (160, 8), (64, 8), (96, 4)]),
            [(64, (4, 32, 8))]
        );
        let down = checked(&[(128, 8), (96, 8), (64, 8)]);
        assert_eq!(down, [(128, (3, 32usize.wrapping_neg(), 8))]);
    }

    #[test]
    fn long_rows_are_checked_at_once() {
        let rows = checked(&[(64, 8), (4096, LONG), (72, 8)]);
        assert_eq!(rows, [(4096, (1, LONG, LONG)), (64, (1, 16, 16))]);
    }

    #[test]
    fn what_does_not_continue_begins_anew() {
        assert_eq!(
            checked(&[(64, 8), (96, 8), (130, 8), (200, 16)]),
            [(64, (2, 32, 8)), (130, (1, 8, 8)), (200, (1, 16, 16))]
        );
    }

    /// Every byte that is checked was accessed, and every byte that was accessed is checked.
    #[test]
    fn what_is_checked_is_what_was_accessed() {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for _ in 0..20_000 {
            let step = next(5) as usize * 8;
            let mut at = 256 + next(8) as usize * 8;
            let pieces: Vec<(usize, usize)> = (0..next(9))
                .map(|_| {
                    at = match next(4) {
                        0 => 256 + next(16) as usize * 8,
                        _ => at.wrapping_add(step),
                    };
                    (at, next(4) as usize * 8)
                })
                .collect();
            let mut bytes = [[false; 1024]; 2];
            for &(addr, len) in &pieces {
                bytes[0][addr..addr + len].fill(true);
            }
            for (first, (count, stride, size)) in checked(&pieces) {
                for n in 0..count {
                    let addr = first.wrapping_add(stride.wrapping_mul(n));
                    bytes[1][addr..addr + size].fill(true);
                }
            }
            assert!(bytes[0] == bytes[1], "{pieces:?}: {:?}", checked(&pieces));
        }
    }
}
