//! The memory of a window, cut into cells: the largest ranges that every event touches as a whole or not at all.
//!
//! Only cells that several threads touch are kept: what one thread does alone is in order anyway.

use crate::footprint::{Footprint, MEMORY};
use rustc_hash::FxHashMap;

/// The most pairs of an event and a cell in one window. A window with more is not looked at.
const MOST: usize = 4 << 20;

/// Cells by where they begin.
#[derive(Debug, Default)]
pub struct Grid {
    points: Vec<(u64, u64)>,
    /// Which cell a piece between two points is, if it is kept.
    cells: Vec<Option<u32>>,
    count: u32,
}

/// Ranges that are to be cut.
#[derive(Debug, Default)]
pub struct Cutter {
    points: Vec<(u64, u64)>,
    ranges: Vec<(u32, u64, u64, u64)>,
    overflow: bool,
}

impl Cutter {
    /// A range that `slot` touches.
    pub fn add(&mut self, slot: u32, space: u64, first: u64, last: u64) {
        if self.ranges.len() >= MOST {
            self.overflow = true;
            return;
        }
        self.points.push((space, first));
        if let Some(end) = last.checked_add(1) {
            self.points.push((space, end));
        }
        self.ranges.push((slot, space, first, last));
    }

    /// All ranges of a footprint.
    pub fn add_footprint(&mut self, slot: u32, print: &Footprint) {
        for (first, last) in pieces(print) {
            if self.overflow {
                return;
            }
            self.add(slot, print.space, first, last);
        }
    }

    /// Cuts. None if there are too many pieces.
    pub fn finish(mut self) -> Option<Grid> {
        self.points.sort_unstable();
        self.points.dedup();
        let mut grid = Grid {
            cells: vec![None; self.points.len()],
            points: self.points,
            count: 0,
        };
        let mut owners: Vec<Option<u32>> = vec![None; grid.points.len()];
        let mut total = 0;
        for &(slot, space, first, last) in &self.ranges {
            let range = grid.range(space, first, last);
            total += range.len();
            if self.overflow || total > MOST {
                return None;
            }
            for piece in range {
                match owners[piece] {
                    None => owners[piece] = Some(slot),
                    Some(owner) if owner != slot && grid.cells[piece].is_none() => {
                        grid.cells[piece] = Some(grid.count);
                        grid.count += 1;
                    }
                    Some(_) => {}
                }
            }
        }
        Some(grid)
    }
}

/// The consecutive ranges of a footprint.
fn pieces(print: &Footprint) -> impl Iterator<Item = (u64, u64)> {
    let (first, last, step) = (print.first, print.last, u64::from(print.step.max(1)));
    let count = if step == 1 { 1 } else { (last - first) / step + 1 };
    (0..count).map(move |n| {
        if step == 1 {
            (first, last)
        } else {
            (first + n * step, first + n * step)
        }
    })
}

impl Grid {
    fn range(&self, space: u64, first: u64, last: u64) -> std::ops::Range<usize> {
        let from = self.points.partition_point(|&point| point < (space, first));
        let to = self.points.partition_point(|&point| point <= (space, last));
        from..to
    }

    /// How many cells are kept.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Calls `visit` with each kept cell in a range, its first byte, and its size if that is at most 8.
    pub fn visit(&self, space: u64, first: u64, last: u64, mut visit: impl FnMut(u32, u64, Option<u64>)) {
        for piece in self.range(space, first, last) {
            if let Some(cell) = self.cells[piece] {
                let at = self.points[piece].1;
                let size = match self.points.get(piece + 1) {
                    Some(&(next, end)) if next == space => end - at,
                    _ => u64::MAX,
                };
                let known = space == MEMORY && size <= 8;
                visit(cell, at, known.then_some(size));
            }
        }
    }

    /// The same for all of a footprint.
    pub fn visit_footprint(&self, print: &Footprint, mut visit: impl FnMut(u32, u64, Option<u64>)) {
        for (first, last) in pieces(print) {
            self.visit(print.space, first, last, &mut visit);
        }
    }
}

/// Numbers for things, in order of appearance.
#[derive(Debug)]
pub struct Numbering<K> {
    numbers: FxHashMap<K, u32>,
}

impl<K> Default for Numbering<K> {
    fn default() -> Self {
        Numbering {
            numbers: FxHashMap::default(),
        }
    }
}

impl<K: std::hash::Hash + Eq> Numbering<K> {
    /// The number of `key`.
    pub fn of(&mut self, key: K) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(key).or_insert(next)
    }
}
