//! Memory that this thread has checked behind loops in its present epoch: a footprint. Loops are often made again over the
//! same memory, or over part of it, and then need no look at the shadow.
//!
//! And *extents* of compressed regions ([`crate::summary`]) that it has accessed all of: accesses to single places of them, in any
//! order, are answered here. Their cells are not in use, so the inline test fails for each; without this the region would have to
//! be given cells for their sake.

use crate::owners;
use std::cell::Cell;
use std::ops::Range;

/// How many pieces are remembered.
const REMEMBERED: usize = 16;

/// Memory that a loop went through: `size` bytes each `stride` bytes from `addr` on, below `end`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Sweep {
    addr: usize,
    end: usize,
    /// 0 if nothing is left out.
    stride: usize,
    size: usize,
    write: bool,
}

impl Sweep {
    /// So many pieces, so far apart, of so many bytes.
    pub fn new(addr: usize, (count, stride, size): (usize, usize, usize), write: bool) -> Sweep {
        let whole = count == 1 || stride <= size;
        Sweep {
            addr,
            end: addr
                .saturating_add((count - 1).saturating_mul(stride))
                .saturating_add(size),
            stride: if whole { 0 } else { stride },
            size,
            write,
        }
    }

    /// Whether all of another is in it.
    #[inline]
    fn has(&self, other: &Sweep) -> bool {
        (self.write || !other.write)
            && self.addr <= other.addr
            && other.end <= self.end
            && (self.stride == 0 || self.keeps_step(other))
    }

    fn keeps_step(&self, other: &Sweep) -> bool {
        (self.stride == other.stride || other.stride == 0 && other.end - other.addr <= self.size)
            && other.size <= self.size
            && (other.addr - self.addr).is_multiple_of(self.stride)
    }

    /// Takes another in, if both are one piece together.
    #[inline(always)]
    fn unite(&mut self, other: &Sweep) -> bool {
        // Mostly they are far from each other.
        let apart = other.addr > self.end.saturating_add(self.stride)
            || self.addr > other.end.saturating_add(self.stride);
        if apart || self.write != other.write || self.stride != other.stride {
            return false;
        }
        let (low, high) = if self.addr <= other.addr {
            (*self, *other)
        } else {
            (*other, *self)
        };
        let joins = match self.stride {
            0 => high.addr <= low.end,
            stride => {
                self.size == other.size
                    && high.addr <= low.end - self.size + stride
                    && (high.addr - low.addr).is_multiple_of(stride)
            }
        };
        if joins {
            self.addr = low.addr;
            self.end = low.end.max(high.end);
        }
        joins
    }
}

/// What was checked lately.
#[derive(Default)]
pub struct Sweeps {
    made: [Sweep; REMEMBERED],
    /// Where the next one goes.
    next: usize,
    /// The epoch that all of it is of; 0 if it is of none.
    epoch: u64,
    extents: Extents,
}

/// How many extents are remembered.
const EXTENTS: usize = 64;

/// An extent that answers more in its epoch is *worn*: the region had better have cells, at which the inline test looks.
const HITS: u16 = 2048;

/// Granules of a region, all bytes of which were accessed.
#[derive(Clone, Default)]
struct Extent {
    region: usize,
    from: u16,
    to: u16,
    write: bool,
    /// How often it has answered.
    hits: Cell<u16>,
}

/// Extents, by their regions.
struct Extents {
    all: [Extent; EXTENTS],
    /// The epoch that all of them are of; 0 if they are of none.
    epoch: u64,
}

impl Default for Extents {
    fn default() -> Self {
        Extents {
            all: std::array::from_fn(|_| Extent::default()),
            epoch: 0,
        }
    }
}

impl Sweeps {
    /// Whether it was checked in this epoch and is still on record.
    #[inline]
    pub fn has(&self, epoch: u64, sweep: &Sweep) -> bool {
        self.epoch == epoch && self.made.iter().any(|made| made.has(sweep))
    }

    /// It is checked now.
    #[inline]
    pub fn add(&mut self, epoch: u64, sweep: Sweep) {
        if self.epoch != epoch {
            self.made = Default::default();
            self.epoch = epoch;
        }
        if !self
            .made
            .iter_mut()
            .any(|made| made.end != 0 && made.unite(&sweep))
        {
            self.made[self.next] = sweep;
            self.next = (self.next + 1) % REMEMBERED;
        }
    }

    /// Whether these bytes, at least one, are in an extent of this epoch.
    #[inline(always)]
    pub fn has_within(&self, epoch: u64, addr: usize, len: usize, write: bool) -> bool {
        if self.extents.epoch != epoch {
            return false;
        }
        let region = owners::region(addr);
        let extent = &self.extents.all[region % EXTENTS];
        let from = addr & owners::REGION_MASK;
        let hits = extent.hits.get();
        let has = extent.region == region
            && (extent.write || !write)
            && usize::from(extent.from) * 8 <= from
            && from.saturating_add(len) <= usize::from(extent.to) * 8
            && hits < HITS;
        if has {
            extent.hits.set(hits + 1);
        }
        has
    }

    /// Whether the region has an extent of this epoch that is worn.
    pub fn is_worn(&self, epoch: u64, region: usize) -> bool {
        let extent = &self.extents.all[region % EXTENTS];
        self.extents.epoch == epoch && extent.region == region && extent.hits.get() == HITS
    }

    /// All bytes of these granules were accessed in this epoch.
    pub fn add_extent(&mut self, epoch: u64, region: usize, granules: Range<usize>, write: bool) {
        if self.extents.epoch != epoch {
            self.extents = Extents {
                epoch,
                ..Extents::default()
            };
        }
        self.extents.all[region % EXTENTS] = Extent {
            region,
            from: granules.start as u16,
            to: granules.end as u16,
            write,
            hits: Cell::new(0),
        };
    }

    /// Some memory has come into being: what was known of it is forgotten.
    #[inline]
    pub fn birth(&mut self) {
        // No thread is in this epoch.
        (self.epoch, self.extents.epoch) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(addr: usize, len: usize, write: bool) -> Sweep {
        Sweep::new(addr, (1, 0, len), write)
    }

    #[test]
    fn a_sweep_is_known_until_the_epoch_ends_or_memory_comes_into_being() {
        let mut sweeps = Sweeps::default();
        let sweep = bytes(64, 800, false);
        assert!(!sweeps.has(1, &sweep));
        sweeps.add(1, sweep);
        assert!(sweeps.has(1, &sweep));
        assert!(!sweeps.has(2, &sweep));
        sweeps.birth();
        assert!(!sweeps.has(1, &sweep));
    }

    #[test]
    fn parts_are_known_and_neighbours_are_united() {
        let mut sweeps = Sweeps::default();
        sweeps.add(1, bytes(64, 800, true));
        assert!(sweeps.has(1, &bytes(72, 8, false)) && sweeps.has(1, &bytes(64, 800, true)));
        assert!(!sweeps.has(1, &bytes(64, 801, false)) && !sweeps.has(1, &bytes(63, 8, false)));
        sweeps.add(1, bytes(864, 8, true));
        assert!(sweeps.has(1, &bytes(856, 16, true)));
        // What was only read is not known to be written.
        sweeps.add(1, bytes(872, 8, false));
        assert!(sweeps.has(1, &bytes(872, 8, false)) && !sweeps.has(1, &bytes(872, 8, true)));
        assert!(!sweeps.has(1, &bytes(864, 16, false)));
    }

    #[test]
    fn a_place_within_an_extent_is_known_until_the_epoch_ends_or_memory_comes_into_being() {
        let mut sweeps = Sweeps::default();
        let addr = 0x1234_5678_9000;
        let region = owners::region(addr);
        let has = |sweeps: &Sweeps, from, len, write| sweeps.has_within(1, addr + from, len, write);
        assert!(!has(&sweeps, 80, 8, false));
        sweeps.add_extent(1, region, 10..512, false);
        assert!(has(&sweeps, 80, 8, false) && has(&sweeps, 4088, 8, false) && has(&sweeps, 83, 2, false));
        assert!(!has(&sweeps, 79, 2, false) && !has(&sweeps, 4088, 9, false) && !has(&sweeps, 80, 8, true));
        assert!(!sweeps.has_within(2, addr + 80, 8, false));
        sweeps.birth();
        assert!(!has(&sweeps, 80, 8, false));
        sweeps.add_extent(1, region + EXTENTS, 0..512, true);
        assert!(!has(&sweeps, 80, 8, false), "it is of another region");
        assert!(has(&sweeps, (EXTENTS << owners::REGION_SHIFT) + 16, 8, true));
    }

    #[test]
    fn an_extent_that_answers_very_often_wears_out() {
        let mut sweeps = Sweeps::default();
        let addr = 0x1234_5678_9000;
        let region = owners::region(addr);
        sweeps.add_extent(1, region, 0..512, true);
        for _ in 0..HITS {
            assert!(!sweeps.is_worn(1, region));
            assert!(sweeps.has_within(1, addr + 8, 8, true));
        }
        assert!(sweeps.is_worn(1, region) && !sweeps.has_within(1, addr + 8, 8, true));
        assert!(!sweeps.is_worn(2, region) && !sweeps.is_worn(1, region + EXTENTS));
        sweeps.add_extent(2, region, 0..512, true);
        assert!(sweeps.has_within(2, addr + 8, 8, true));
    }

    #[test]
    fn steps_must_agree() {
        let mut sweeps = Sweeps::default();
        let steps = |addr, count| Sweep::new(addr, (count, 16, 8), true);
        sweeps.add(1, steps(0x1000, 10));
        assert!(sweeps.has(1, &steps(0x1010, 9)) && sweeps.has(1, &bytes(0x1010, 8, true)));
        assert!(!sweeps.has(1, &steps(0x1008, 2)) && !sweeps.has(1, &bytes(0x1000, 16, true)));
        sweeps.add(1, steps(0x10a0, 5));
        assert!(sweeps.has(1, &steps(0x1000, 15)));
        sweeps.add(1, steps(0x1100, 5));
        assert!(!sweeps.has(1, &steps(0x1000, 21)));
    }
}
