//! Granules that one thread has written in part, in one epoch, where the rest has an older history: arrays of numbers shorter
//! than eight bytes, filled one by one. Soon the same thread writes the rest, and two words say it all again.
//!
//! Such a cell has in its second word the write; in its first, where the two words of before are, which still hold for the bytes
//! that were not written since:
//!
//! ```text
//!  63      50 49         37  36  35  34       0
//! ┌──────────┬─────────────┬───┬───┬───────────┐
//! │   SIDE   │ generation  │ 0 │ 1 │   index   │
//! └──────────┴─────────────┴───┴───┴───────────┘
//! ```
//!
//! Where a thread goes through an array in no order, all cells said the same before. So words that it has met often are written down once
//! for all cells, for good: then such a cell costs no more lines than another. There is room for a few thousand of those, because nobody
//! knows when the last cell has left them.
//!
//! So all that looks at cells takes it for one with a side state ([`crate::side`]), but it has no lock: it changes as packed cells
//! do, and what is at the index does not change as long as the cell says so. Who reads it while it is used again for another
//! cell finds that its own cell has changed. Only writes that race with nothing are noted in this way; whatever else happens
//! to such a granule makes a side state of it.

use crate::cell::{Cell, FIRST_SIDE, add, bytes, place, unordered, word};
use crate::places::Place;
use crate::pool::Pool;
use crate::shadow;
use crate::thread::Thread;
use crate::vm::Table;
use deadheat_abi::shadow::{EPOCH, TERM_SHIFT};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// The bit of a first word that tells such a cell from those with side states.
pub const PARTLY: u64 = 1 << 35;
const GENERATION_SHIFT: u32 = 37;
const GENERATIONS: u64 = 1 << (TERM_SHIFT - GENERATION_SHIFT);

/// The bit of an index that stands in any number of cells, and is never given back.
const COMMON: u64 = 1 << 34;

/// The words of before. Aligned, so that none is in two lines.
#[repr(align(32))]
struct Before {
    write: AtomicU64,
    read: AtomicU64,
    /// Another one each time that this is given back.
    generation: AtomicU64,
}

/// So many there can be at once.
const ALL: usize = 1 << 28;

static BEFORE: Table<Before> = Table::new();
static POOL: Pool = Pool::new();

/// How many there are that any number of cells have.
static COMMONS: AtomicU32 = AtomicU32::new(0);
/// So many there may be.
const MOST_COMMONS: u32 = 1 << 14;
/// So often a thread meets the same words before they are written down for good.
const OFTEN: u32 = 256;

/// How many pairs of words a thread counts.
pub const PAIRS: usize = 128;

/// Words of before that a thread has met lately.
#[derive(Clone, Copy, Default)]
pub struct Pair {
    words: (u64, u64),
    times: u32,
    /// The first word of cells that they are the words of before of, once they are written down for good.
    first: u64,
}

impl Pair {
    /// The words were met again, or for the first time. The first word that stands for them, if there is one.
    #[inline(always)]
    fn met(pairs: &mut [Pair; PAIRS], words: (u64, u64), own: &mut Vec<u32>) -> Option<u64> {
        let hash = (words.0 ^ words.1.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let pair = &mut pairs[(hash >> 57) as usize % PAIRS];
        if pair.words != words {
            *pair = Pair {
                words,
                times: 0,
                first: 0,
            };
        }
        if pair.first == 0 {
            pair.times += 1;
            if pair.times == OFTEN {
                pair.first = common(words, own).unwrap_or(0);
            }
        }
        (pair.first != 0).then_some(pair.first)
    }
}

/// Writes words of before down for good.
#[cold]
fn common(words: (u64, u64), own: &mut Vec<u32>) -> Option<u64> {
    if COMMONS.fetch_add(1, Ordering::Relaxed) >= MOST_COMMONS {
        COMMONS.store(MOST_COMMONS, Ordering::Relaxed);
        return None;
    }
    let index = POOL.take(own);
    (index < ALL as u64).then(|| written_down(index, words) | COMMON)
}

/// Writes words of before down, which the first word that is returned leads to.
#[inline(always)]
fn written_down(index: u64, (write, read): (u64, u64)) -> u64 {
    let before = before(index);
    before.write.store(write, Ordering::Relaxed);
    before.read.store(read, Ordering::Relaxed);
    let generation = before.generation.load(Ordering::Relaxed) % GENERATIONS;
    FIRST_SIDE | generation << GENERATION_SHIFT | PARTLY | index
}

/// Maps the table ahead of its first use, or says why not.
pub fn reserve() -> Result<(), i32> {
    BEFORE.reserve(ALL)
}

fn before(index: u64) -> &'static Before {
    // SAFETY: within the table; zero bytes are atomics.
    unsafe { &*BEFORE.at(index as usize % ALL, ALL) }
}

/// Takes the lock of the numbers, before a `fork`.
pub fn hold() {
    POOL.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    POOL.let_go();
}

/// How many such cells there ever were at once, about.
pub fn count() -> u64 {
    POOL.count()
}

/// A thread ends: what it has put by is for the others.
pub fn give_all(t: &mut Thread) {
    POOL.give_all(&mut t.parts);
}

/// Whether the first word is that of a granule that was written in part.
#[inline(always)]
pub fn is(first: u64) -> bool {
    first >= FIRST_SIDE && first & PARTLY != 0
}

/// What a first word leads to, and whether it still does. It does not if the program has used memory while it gave it back, or
/// if the cell has changed meanwhile.
#[inline(always)]
fn behind(first: u64) -> (u64, &'static Before, bool) {
    let index = first & (COMMON - 1);
    let before = before(index);
    let generation = before.generation.load(Ordering::Relaxed) % GENERATIONS;
    (
        index,
        before,
        first >> GENERATION_SHIFT & (GENERATIONS - 1) == generation,
    )
}

/// The index is not needed any more, if it was still this word's. Not atomic: two threads do this at once only for memory that one gives
/// back while the other writes to it.
#[inline(always)]
fn leave(first: u64, give: impl FnOnce(u64)) {
    let (index, before, mine) = behind(first);
    if mine && first & COMMON == 0 {
        let generation = before.generation.load(Ordering::Relaxed);
        before
            .generation
            .store(generation.wrapping_add(1), Ordering::Relaxed);
        give(index);
    }
}

/// Changes a cell from what it said to something else. Whether that was so.
#[inline(always)]
fn change(cell: &Cell, own: bool, old: (u64, u64), new: (u64, u64)) -> bool {
    if own {
        cell.set(new);
    }
    own || cell.change(old, new)
}

/// A write of the bytes `mask`, of which the cell cannot say in two words what it and those of `old` say. `None` if it must
/// have a side state, otherwise whether it was done: not if the cell has changed meanwhile.
#[inline]
pub fn begin(t: &mut Thread, cell: &Cell, own: bool, old: (u64, u64), mask: u8, at: Place) -> Option<bool> {
    let (write, read) = old;
    if t.far || place(read).is_readers() {
        return None;
    }
    if unordered(t, write, bytes(write) & mask) | unordered(t, read, bytes(read) & mask) != 0 {
        return None;
    }
    let after = word(t.epoch, at, mask);
    if let Some(first) = Pair::met(&mut t.pairs, old, &mut t.parts) {
        let done = change(cell, own, old, (first, after));
        if done {
            shadow::side_made(cell);
        }
        return Some(done);
    }
    let index = POOL.take(&mut t.parts);
    if index >= ALL as u64 {
        return None;
    }
    let done = change(cell, own, old, (written_down(index, old), after));
    if done {
        shadow::side_made(cell);
    } else {
        POOL.give(&mut t.parts, index);
    }
    Some(done)
}

/// What such a cell says: the write of some bytes, and the write and the read that hold for the others.
#[derive(Clone, Copy)]
pub struct Parts {
    /// Both words of the cell.
    pub words: (u64, u64),
    /// Write and read of before.
    pub before: (u64, u64),
}

impl Parts {
    /// What a cell says that has this first word; `None` if it has another one by now. What is at the index may be another
    /// cell's meanwhile: then this one changes no more from `words`.
    #[inline(always)]
    pub fn of(cell: &Cell, first: u64) -> Option<Parts> {
        // Between two looks at the first word, or it could be of a state before that one.
        let written = cell.read.load(Ordering::Acquire);
        let (_, before, mine) = behind(first);
        let before = match mine {
            true => (
                before.write.load(Ordering::Relaxed),
                before.read.load(Ordering::Relaxed),
            ),
            false => (0, 0),
        };
        fence(Ordering::Acquire);
        (cell.write.load(Ordering::Acquire) == first).then_some(Parts {
            words: (first, written),
            before,
        })
    }

    /// A plain write of `mask` by `t`. `None` if the cell must have a side state, otherwise whether it was done: not if the cell
    /// has changed meanwhile.
    #[inline(always)]
    pub fn write(&self, t: &mut Thread, cell: &Cell, own: bool, mask: u8, at: Place) -> Option<bool> {
        let (first, written) = self.words;
        let (write, read) = self.before;
        let go_on = (written ^ t.epoch) & EPOCH == 0;
        if t.far || !go_on && mask != 0xff {
            return None;
        }
        let old = bytes(written);
        let new = if go_on { mask & !old } else { mask };
        if new == 0 {
            return Some(true);
        }
        let racing = unordered(t, written, old & new)
            | unordered(t, write, bytes(write) & new & !old)
            | unordered(t, read, bytes(read) & new & !old);
        if racing != 0 {
            return None;
        }
        let after = if go_on {
            add(t, written, at, new)
        } else {
            word(t.epoch, at, mask)
        };
        let rest = (bytes(write) | bytes(read)) & !bytes(after);
        let words = if rest == 0 { (after, after) } else { (first, after) };
        let done = change(cell, own, self.words, words);
        if done && rest == 0 {
            self.left(t);
        }
        Some(done)
    }

    /// Whether a read of `mask` by `t` is on record.
    #[inline(always)]
    pub fn has_read(&self, t: &Thread, mask: u8) -> bool {
        let written = self.words.1;
        !t.far && (written ^ t.epoch) & EPOCH == 0 && mask & !bytes(written) == 0
    }

    /// The write and the read of one byte, each a word of several.
    pub fn at_byte(&self, byte: u32) -> (u64, u64) {
        let written = self.words.1;
        if bytes(written) >> byte & 1 == 1 {
            (written, written)
        } else {
            self.before
        }
    }

    /// The cell says something else now.
    #[inline(always)]
    pub fn left(&self, t: &mut Thread) {
        leave(self.words.0, |index| POOL.give(&mut t.parts, index));
    }
}

/// A cell with such a first word is forgotten.
pub fn forgotten(first: u64) {
    leave(first, |index| POOL.give_to_all(index));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{self, Found};
    use crate::side;
    use deadheat_detect::hb::HbThread;
    use deadheat_event::{AccessKind, Slot};

    /// A thread that knows all that the one of `slot` did up to `time`.
    fn thread(slot: u32, time: u64) -> Thread {
        Thread::new(slot, HbThread::after(Slot(slot), time), true)
    }

    /// A place of its own for writes of these bytes.
    fn place_of(t: &mut Thread, mask: u8) -> Place {
        t.place(7, 0x1000 + usize::from(mask), false)
    }

    fn write(t: &mut Thread, cell: &Cell, own: bool, mask: u8) -> Vec<Found> {
        let mut found = Vec::new();
        let at = place_of(t, mask);
        cell::access::<true>(t, cell, own, mask, at, &mut found);
        found
    }

    /// A cell that was written whole in one epoch of a slot, and its lower half in the next.
    fn half_written(own: bool) -> (Cell, Thread) {
        let cell = Cell::default();
        assert!(write(&mut thread(1, 4), &cell, own, 0xff).is_empty());
        let mut t = thread(1, 9);
        assert!(write(&mut t, &cell, own, 0x0f).is_empty());
        assert!(is(cell.load().0), "{:x?}", cell.load());
        (cell, t)
    }

    #[test]
    fn what_is_written_part_by_part_is_two_words_again() {
        for own in [false, true] {
            let (cell, mut t) = half_written(own);
            let first = cell.load().0;
            for mask in [0x10, 0x0f, 0x20, 0x40] {
                assert!(write(&mut t, &cell, own, mask).is_empty());
                assert_eq!(cell.load().0, first, "the same words of before");
            }
            assert!(write(&mut t, &cell, own, 0x80).is_empty());
            let (write, read) = cell.load();
            assert!(!is(write) && write == read && bytes(write) == 0xff);
            let places = [0, 3, 4, 5, 6, 7].map(|byte| place(write).at_byte(byte));
            let expected = [0x0f, 0x0f, 0x10, 0x20, 0x40, 0x80].map(|mask| place_of(&mut t, mask));
            assert_eq!(places, expected);
            assert_eq!(
                t.parts.last(),
                Some(&((first & (PARTLY - 1)) as u32)),
                "used again"
            );
        }
    }

    #[test]
    fn others_race_with_the_part_that_they_touch() {
        for (mask, time) in [(0x0f, 10), (0xf0, 5)] {
            let (cell, _) = half_written(true);
            let found = write(&mut thread(2, 0), &cell, false, mask);
            assert_eq!(found.len(), 1, "{mask:x}");
            assert_eq!((found[0].mask, found[0].prior.timestamp), (mask, time));
            assert_eq!(found[0].prior.kind, AccessKind::Write);
            assert!(!is(cell.load().0));
            side::reset(&cell);
        }
        let (cell, _) = half_written(false);
        let mut both = write(&mut thread(2, 0), &cell, false, 0xff);
        both.sort_by_key(|found| found.mask);
        let both: Vec<_> = both
            .iter()
            .map(|found| (found.mask, found.prior.timestamp))
            .collect();
        assert_eq!(both, [(0x0f, 10), (0xf0, 5)]);
        side::reset(&cell);
    }

    #[test]
    fn a_word_whose_index_was_given_back_says_nothing_and_gives_nothing_back() {
        let (cell, mut t) = half_written(true);
        let old = cell.load();
        // As if the memory were used while it comes into being again.
        side::reset(&cell);
        cell.set(old);
        assert_eq!(Parts::of(&cell, old.0).map(|parts| parts.before), Some((0, 0)));
        let put_by = t.parts.clone();
        assert!(write(&mut t, &cell, true, 0xf0).is_empty());
        assert_eq!(bytes(cell.load().0), 0xff);
        assert_eq!(t.parts, put_by, "somebody else's by now");
    }

    #[test]
    fn words_that_many_cells_had_are_written_down_once() {
        let cells: Vec<Cell> = (0..3 * OFTEN).map(|_| Cell::default()).collect();
        let (mut t, mut next) = (thread(1, 4), thread(1, 9));
        for cell in &cells {
            assert!(write(&mut t, cell, false, 0xff).is_empty());
            assert!(write(&mut next, cell, false, 0x0f).is_empty());
        }
        let first = cells[cells.len() - 1].load().0;
        assert!(is(first) && first & COMMON != 0);
        let same = cells.iter().filter(|cell| cell.load().0 == first).count();
        assert_eq!(same as u32, 2 * OFTEN + 1);
        // Each is by itself in what follows: written on, raced with, forgotten.
        let before = next.parts.len();
        let [.., one, other, third] = &cells[..] else {
            unreachable!()
        };
        assert!(write(&mut next, one, false, 0xf0).is_empty());
        assert_eq!((one.load().0, bytes(one.load().0)), (one.load().1, 0xff));
        let found = write(&mut thread(2, 0), other, false, 0xf0);
        assert_eq!((found.len(), found[0].prior.timestamp), (1, 5));
        side::reset(third);
        assert_eq!(
            (third.load(), next.parts.len()),
            ((0, 0), before),
            "not given back"
        );
        let still = Parts::of(&cells[cells.len() - 4], first).expect("it is as it was");
        assert_eq!(cell::epoch(still.before.0), (Slot(1), 5));
        cells.iter().for_each(side::reset);
    }

    #[test]
    fn memory_that_comes_into_being_again_gives_back_what_its_cells_had() {
        shadow::reserve_once();
        let (base, len) = (0x7c00_0000_0000, 64 * crate::vm::PAGE);
        let mut t = [thread(1, 4), thread(1, 9)];
        // The second time the pages are marked anew.
        for _ in 0..2 {
            let cells: Vec<&Cell> = (base..base + len).step_by(4104).map(shadow::cell).collect();
            for cell in &cells {
                write(&mut t[0], cell, false, 0xff);
                write(&mut t[1], cell, false, 0xf0);
            }
            let firsts: Vec<u64> = cells.iter().map(|cell| cell.load().0).collect();
            assert!(firsts.iter().all(|first| is(*first) && behind(*first).2));
            shadow::reset(base, len);
            assert!(cells.iter().all(|cell| cell.load() == (0, 0)));
            assert!(
                firsts.iter().all(|first| !behind(*first).2),
                "all were given back"
            );
        }
    }
}
