//! What a loop nest has accessed and not yet checked: memory that its inner loops went through, by rows and columns.
//!
//! Instrumented code keeps one in its frame for the accesses of inner loops that the loops around them leave to be checked at
//! their end (BigFoot's footprints, kept in the frame). [`crate::hooks::READ_GATHER`] adds a row where an inner loop is left,
//! [`crate::hooks::READ_COLUMN`] places in equal distances, [`crate::hooks::READ_COMMIT`] checks all where the outermost loop is left.
//! Where that begins, `high` and `tiles` are 0, and `left` is [`ROWS`].
//!
//! Rows become *tiles*, equal rows in equal distances, and tiles that lie side by side, or one below the other, larger ones: a
//! matrix that is transposed block by block is one tile at the end. Blocks that are not complete wait on a small stack.

use core::mem::offset_of;

/// Memory in pieces. All of it was accessed, by this thread, in its present epoch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// The latest piece: from here ...
    pub low: usize,
    /// ... to before this. 0 if there is none.
    pub high: usize,
    /// So far it may grow before it is looked at again: a row that completes a tile is not continued by what lies behind it,
    /// where a matrix is as wide as its rows are long.
    pub until: usize,
    /// How many tiles there are, from before it.
    pub tiles: usize,
    /// These: the latest last.
    pub tile: [Tile; TILES],
    /// Rows of a tile that is gone through again: those that come next. This and the following is of no meaning without tiles.
    pub again: Tile,
    /// A row that was accessed again, and is perhaps in each round: where it begins, and how long it is.
    pub same: [usize; 2],
    /// How many known rows were neither of them, lately.
    pub missed: usize,
    /// How many rows and columns may still come before all of it is checked, below 0 once one more has.
    pub left: usize,
}

/// Equal rows in equal distances.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tile {
    /// Where the lowest row begins.
    pub first: usize,
    /// How many rows there are.
    pub count: usize,
    /// How far one row's beginning is from that of the next; at least `len`, and of no meaning for one row.
    pub stride: usize,
    /// How long each row is.
    pub len: usize,
}

/// A block of a nest that goes by blocks, what there is of its row of blocks, and what there is of all.
pub const TILES: usize = 3;
/// Words of a footprint.
pub const WORDS: u64 = 8 + 4 * (TILES as u64 + 1);
/// Which of them is `high`.
pub const HIGH: u64 = 1;
/// Which of them is `tiles`.
pub const COUNT: u64 = 3;

/// Which of them is `left`.
pub const LEFT: u64 = WORDS - 1;

/// After so many rows and columns what there is of them is checked, though the loops go on: they may never end, or another thread ends
/// the program in the middle of them.
pub const ROWS: usize = 1 << 20;

/// After so many known rows that were not expected, others are.
const MISSES: usize = 2;

/// A row of so many bytes is checked at once: its shadow is near, and one check for all of it is cheap enough.
pub const LONG: usize = 2048;

const _: () = assert!(size_of::<Footprint>() as u64 == WORDS * 8);
const _: () = assert!(offset_of!(Footprint, high) as u64 == HIGH * 8);
const _: () = assert!(offset_of!(Footprint, tiles) as u64 == COUNT * 8);
const _: () = assert!(offset_of!(Footprint, left) as u64 == LEFT * 8);

impl Footprint {
    /// A row is accessed. `check` is given what the following rows do not continue.
    pub fn add(&mut self, addr: usize, len: usize, mut check: impl FnMut(Tile)) {
        if len == 0 || self.has_row(addr, len) {
            return;
        }
        if len >= LONG {
            return check(Tile::row(addr, len));
        }
        let end = addr.wrapping_add(len);
        let touches = self.high != 0 && addr <= self.high && end >= self.low;
        let is_complete = self.high == self.until && addr == self.high;
        if touches && !is_complete {
            if addr < self.low || end > self.until {
                // It is none of those rows.
                self.until = usize::MAX;
            }
            self.low = self.low.min(addr);
            self.high = self.high.max(end);
            return;
        }
        self.close(check);
        (self.low, self.high) = (addr, end);
        let before = self.tile[..self.tiles].last();
        self.until = match before.filter(|tile| tile.count > 1 && tile.goes_on_at(addr)) {
            Some(tile) if len <= tile.len => addr.wrapping_add(tile.len),
            _ => usize::MAX,
        };
    }

    /// `count` places of `len` bytes each are accessed, which are `stride` apart (downwards if that is negative).
    pub fn add_column(
        &mut self,
        addr: usize,
        (count, stride, len): (usize, usize, usize),
        mut check: impl FnMut(Tile),
    ) {
        if count == 0 || len == 0 {
            return;
        }
        // From the lowest place up.
        let (first, stride) = match stride.cast_signed() {
            0.. => (addr, stride),
            _ => (
                addr.wrapping_add((count - 1).wrapping_mul(stride)),
                stride.wrapping_neg(),
            ),
        };
        if count == 1 || stride <= len {
            return self.add(first, (count - 1).wrapping_mul(stride).wrapping_add(len), check);
        }
        let column = Tile {
            first,
            count,
            stride,
            len,
        };
        if !self.tile[..self.tiles].iter().any(|tile| tile.has(&column)) {
            self.close(&mut check);
            self.push(column, check);
        }
    }

    /// All of it is checked, and forgotten.
    pub fn commit(&mut self, mut check: impl FnMut(Tile)) {
        self.close(&mut check);
        self.flush(check);
    }

    /// The same if it is time: to be called once `left` has been counted down for a row or column, before that is added.
    pub fn commit_due(&mut self, check: impl FnMut(Tile)) {
        if self.left > ROWS {
            self.commit(check);
            self.left = ROWS;
        }
    }

    fn flush(&mut self, check: impl FnMut(Tile)) {
        self.tile[..self.tiles].iter().copied().for_each(check);
        self.tiles = 0;
    }

    /// Whether a row is known.
    #[inline(always)]
    fn has_row(&mut self, addr: usize, len: usize) -> bool {
        if self.tiles == 0 {
            return false;
        }
        let again = &mut self.again;
        if addr == again.first && again.count != 0 && len <= again.len {
            (again.first, again.count) = (addr.wrapping_add(again.stride), again.count - 1);
            return true;
        }
        if addr == self.same[0] && len <= self.same[1] {
            return true;
        }
        let row = Tile::row(addr, len);
        let Some(tile) = self.tile[..self.tiles].iter().rfind(|tile| tile.has(&row)) else {
            return false;
        };
        // One that goes on behind the last, or, of two that take turns, the other one, which the next round goes on from.
        let goes_on = addr == self.same[0].wrapping_add(tile.stride) && self.same[1] != 0;
        self.same = [addr, len];
        if !goes_on && again.count != 0 && self.missed < MISSES {
            self.missed += 1;
            return true;
        }
        self.missed = 0;
        if tile.count > 1 {
            let done = (addr - tile.first) / tile.stride + 1;
            self.again = Tile {
                first: addr.wrapping_add(tile.stride),
                count: tile.count - done,
                // What is left of its rows behind there.
                len: tile.len - (addr - tile.first) % tile.stride,
                stride: tile.stride,
            };
        }
        true
    }

    /// Makes the latest piece a tile.
    #[inline(always)]
    fn close(&mut self, check: impl FnMut(Tile)) {
        if self.high != 0 {
            let row = Tile::row(self.low, self.high - self.low);
            self.high = 0;
            self.push(row, check);
        }
    }

    /// Adds a tile to those before it. If there is no room, the oldest is checked.
    fn push(&mut self, mut tile: Tile, mut check: impl FnMut(Tile)) {
        if self.tiles == 0 {
            (self.again.count, self.same, self.missed) = (0, [0; 2], 0);
        }
        while let Some(before) = self.tile[..self.tiles].last()
            && let Some(both) = before.with(&tile)
        {
            tile = both;
            self.tiles -= 1;
        }
        // Rows of a grid whose neighbours are read as well: each comes again, a little longer.
        if let Some(part) = self.tile[..self.tiles].iter().position(|before| tile.has(before)) {
            self.remove(part);
        }
        if self.tiles == TILES {
            check(self.tile[0]);
            self.remove(0);
        }
        self.tile[self.tiles] = tile;
        self.tiles += 1;
    }

    fn remove(&mut self, at: usize) {
        self.tile.copy_within(at + 1..self.tiles, at);
        self.tiles -= 1;
    }
}

impl Tile {
    /// One row.
    fn row(first: usize, len: usize) -> Tile {
        Tile {
            first,
            count: 1,
            stride: 0,
            len,
        }
    }

    /// Whether another is part of it.
    fn has(&self, other: &Tile) -> bool {
        let Some(distance) = other.first.checked_sub(self.first) else {
            return false;
        };
        if self.count == 1 {
            let others = (other.count - 1)
                .saturating_mul(other.stride)
                .saturating_add(other.len);
            return distance.saturating_add(others) <= self.len;
        }
        if other.count > 1 && other.stride != self.stride {
            return false;
        }
        let (row, column) = (distance / self.stride, distance % self.stride);
        row < self.count && other.count <= self.count - row && column.saturating_add(other.len) <= self.len
    }

    /// Whether another row of it may begin there.
    fn goes_on_at(&self, addr: usize) -> bool {
        let below = self.stride.wrapping_mul(self.count).wrapping_add(self.first);
        addr == below || addr == self.first.wrapping_sub(self.stride)
    }

    /// What two are together, if that is a tile.
    #[inline(always)]
    fn with(&self, other: &Tile) -> Option<Tile> {
        let (low, high) = match self.first <= other.first {
            true => (self, other),
            false => (other, self),
        };
        let distance = high.first - low.first;
        let stride = match (low.count, high.count) {
            // Two rows may have any distance.
            (1, 1) => distance,
            (1, _) => high.stride,
            (_, 1) => low.stride,
            _ if low.stride == high.stride => low.stride,
            _ => return None,
        };
        if low.count == high.count && distance == low.len {
            // Side by side.
            let len = low.len.checked_add(high.len)?;
            if low.count == 1 {
                return Some(Tile::row(low.first, len));
            }
            return (len <= stride).then_some(Tile { len, ..*low });
        }
        // One below the other.
        let fits =
            low.len == high.len && stride >= low.len && stride.checked_mul(low.count) == Some(distance);
        fits.then(|| Tile {
            first: low.first,
            count: low.count + high.count,
            stride,
            len: low.len,
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    /// Places: where, and how many, how far apart, of how many bytes.
    type Places = (usize, (usize, usize, usize));

    fn tile((first, (count, stride, len)): Places) -> Tile {
        Tile {
            first,
            count,
            stride,
            len,
        }
    }

    /// What is checked of pieces that come one after another.
    fn checked(pieces: &[Places]) -> Vec<Tile> {
        let mut footprint = Footprint::default();
        let mut tiles = Vec::new();
        for &(addr, places) in pieces {
            match places.0 {
                1 => footprint.add(addr, places.2, |tile| tiles.push(tile)),
                _ => footprint.add_column(addr, places, |tile| tiles.push(tile)),
            }
        }
        footprint.commit(|tile| tiles.push(tile));
        assert_eq!((footprint.high, footprint.tiles), (0, 0));
        tiles
    }

    fn rows(rows: &[(usize, usize)]) -> Vec<Places> {
        rows.iter().map(|&(addr, len)| (addr, (1, 0, len))).collect()
    }

    #[test]
    fn rows_side_by_side_are_one() {
        for side_by_side in [[(64, 8), (72, 8), (80, 16)], [(80, 16), (72, 8), (64, 8)]] {
            assert_eq!(checked(&rows(&side_by_side)), [tile((64, (1, 0, 32)))]);
        }
        assert_eq!(
            checked(&rows(&[(64, 8), (0, 0), (68, 8)])),
            [tile((64, (1, 0, 12)))]
        );
        assert!(checked(&rows(&[(64, 0)])).is_empty());
    }

    #[test]
    fn rows_in_equal_steps_are_checked_together_and_once() {
        let expected = [tile((64, (3, 32, 8)))];
        assert_eq!(checked(&rows(&[(64, 8), (96, 8), (128, 8)])), expected);
        assert_eq!(checked(&rows(&[(128, 8), (96, 8), (64, 8)])), expected);
        assert_eq!(
            checked(&rows(&[(64, 8), (96, 8), (128, 8), (64, 8), (96, 4)])),
            expected
        );
    }

    #[test]
    fn long_rows_are_checked_at_once() {
        let tiles = checked(&rows(&[(64, 8), (4096, LONG), (72, 8)]));
        assert_eq!(tiles, [tile((4096, (1, 0, LONG))), tile((64, (1, 0, 16)))]);
    }

    #[test]
    fn what_does_not_continue_begins_anew() {
        assert_eq!(
            checked(&rows(&[(64, 8), (96, 8), (130, 8), (200, 16)])),
            [
                tile((64, (2, 32, 8))),
                tile((130, (1, 0, 8))),
                tile((200, (1, 0, 16)))
            ]
        );
    }

    #[test]
    fn columns_side_by_side_are_a_block_and_one_below_the_other_a_longer_one() {
        let column = |n: usize| (64 + 8 * n, (4, 256, 8));
        assert_eq!(
            checked(&[column(0), column(1), column(2)]),
            [tile((64, (4, 256, 24)))]
        );
        assert_eq!(
            checked(&[column(2), column(1), column(2)]),
            [tile((72, (4, 256, 16)))]
        );
        let below = (64 + 4 * 256, (4, 256, 8));
        assert_eq!(checked(&[column(0), below]), [tile((64, (8, 256, 8)))]);
        let downwards = (64 + 3 * 256, (4, 256usize.wrapping_neg(), 8));
        assert_eq!(checked(&[downwards, column(1)]), [tile((64, (4, 256, 16)))]);
    }

    /// 32 rows of 256 bytes, in blocks of 4 by 4 numbers: one tile in the end, for who writes rows and for who reads
    /// columns.
    #[test]
    fn a_matrix_that_is_gone_through_by_blocks_is_one_tile() {
        let (mut by_rows, mut by_columns) = (Vec::new(), Vec::new());
        for block in (0..32).step_by(4) {
            for other in (0..32).step_by(4) {
                for i in block..block + 4 {
                    by_rows.push((4096 + i * 256 + other * 8, (1, 0, 32)));
                    by_columns.push((4096 + other * 256 + i * 8, (4, 256, 8)));
                }
            }
        }
        assert_eq!(checked(&by_rows), [tile((4096, (32, 256, 256)))]);
        assert_eq!(checked(&by_columns), [tile((4096, (32, 256, 256)))]);
    }

    /// Every other point of a grid is changed, by those around it: rows 0 to 10 are read, most of them three times.
    #[test]
    fn rows_that_come_again_a_little_longer_are_checked_once() {
        let column = |row: usize, from: usize, count: usize| (4096 + 512 * row + 8 * from, (count, 16, 8));
        let around = |row: usize| {
            let odd = row % 2;
            [
                column(row - 1, 1 + odd, 20),
                column(row + 1, 1 + odd, 20),
                column(row, odd, 21),
            ]
        };
        let pieces: Vec<Places> = (1..10).flat_map(around).collect();
        let mut tiles = checked(&pieces);
        tiles.sort_by_key(|tile| tile.first);
        let mut expected: Vec<Tile> = (1..10).map(|row| tile(column(row, row % 2, 21))).collect();
        expected.insert(0, tile(column(0, 2, 20)));
        expected.push(tile(column(10, 2, 20)));
        assert_eq!(tiles, expected);
    }

    /// Every byte that is checked was accessed, and every byte that was accessed is checked.
    #[test]
    fn what_is_checked_is_what_was_accessed() {
        const SPACE: usize = 4096;
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % below as usize
        };
        for _ in 0..50_000 {
            let step = next(5) * 8;
            let column = (2 + next(3), next(4) * 16, 8);
            let mut at = 1024 + next(8) * 8;
            let pieces: Vec<Places> = (0..next(12))
                .map(|_| {
                    at = match next(4) {
                        0 => 1024 + next(16) * 8,
                        1 => at + column.0 * column.1,
                        _ => at + step,
                    };
                    match next(3) {
                        0 => (at, (1, 0, next(4) * 8)),
                        1 => (at, column),
                        _ => (
                            at,
                            (1 + next(5), next(9).wrapping_sub(4).wrapping_mul(16), next(3) * 8),
                        ),
                    }
                })
                .collect();
            // Most nests go through the same rows again.
            let pieces = [&pieces[..], &pieces[pieces.len() / 3..]].concat();
            let mut bytes = [[false; SPACE]; 2];
            let mut fill = |which: usize, (first, (count, stride, len)): Places| {
                for n in 0..count {
                    let addr = first.wrapping_add(stride.wrapping_mul(n));
                    bytes[which][addr..addr + len].fill(true);
                }
            };
            pieces.iter().for_each(|piece| fill(0, *piece));
            for tile in checked(&pieces) {
                fill(1, (tile.first, (tile.count, tile.stride, tile.len)));
            }
            assert!(bytes[0] == bytes[1], "{pieces:?}: {:?}", checked(&pieces));
        }
    }
}
