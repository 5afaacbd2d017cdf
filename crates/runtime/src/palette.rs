//! The cells of a region as a palette: a few states, and for each granule the number of its own, in four bits. It is what a compressed
//! region has ([`crate::summary`]) where a few states are all over it: rows that belong to threads in turn, of which runs
//! ([`crate::runs`]) would be too many, or records whose fields are accessed apart.
//!
//! An access takes one [`cell::step`] for each state that it meets, and one look for each sixteen granules. A palette stands for the cells that
//! it says and nothing else, as runs do; what two words cannot say is for the cells themselves.
//!
//! The states are where a summary has the cells of its runs. All is changed by who holds the summary, and read by who looks at its version
//! before and after.

use crate::cell::{self, FIRST_SIDE, Found, Step};
use crate::heard;
use crate::places::Place;
use crate::runs::{GRANULES, LONGEST, MOST_CELLS, Piece, Words, has};
use crate::thread::Thread;
use std::ops::Range;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

/// The most states.
const MOST: usize = MOST_CELLS;
/// With no more than so many states a region is worth a palette: there is room for as many more.
const FEW: usize = MOST / 2;

/// Granules whose numbers are in one word.
const IN_WORD: usize = 16;
const WORDS: usize = GRANULES / IN_WORD;

/// A one in each four bits.
const ONES: u64 = 0x1111_1111_1111_1111;
/// Each state becomes itself.
const ITSELF: u64 = 0xfedc_ba98_7654_3210;

const _: () = assert!(MOST <= 16);

/// Which granule has which state. Of no meaning while the summary says that there is no palette.
#[repr(C, align(32))]
pub struct Numbers {
    words: [AtomicU64; WORDS],
    /// How many granules have each state. A state of none is free.
    counts: [AtomicU16; IN_WORD],
}

/// A region's palette.
pub struct Palette<'a> {
    /// Of the region.
    pub numbers: &'a Numbers,
    /// Its states: write and read.
    pub states: &'a [[AtomicU64; 2]; MOST],
}

/// One that is yet to be a region's.
pub struct Drawn {
    words: [u64; WORDS],
    states: [Words; MOST],
    used: usize,
}

/// The state of a granule, of sixteen in a word.
#[inline(always)]
fn number(word: u64, at: usize) -> usize {
    (word >> (4 * at)) as usize & 0xf
}

/// The four bits of so many granules of a word, from one to another.
#[inline(always)]
fn nibbles(from: usize, to: usize) -> u64 {
    !0 >> (64 - 4 * (to - from)) << (4 * from)
}

/// Calls `f` with each state that some granules of a word have, and with which of them do.
#[inline(always)]
fn each_state(word: u64, mut among: u64, mut f: impl FnMut(usize, u64)) {
    while among != 0 {
        let state = number(word, among.trailing_zeros() as usize / 4);
        let other = word ^ (state as u64 * ONES);
        let differs = (other | other >> 1 | other >> 2 | other >> 3) & ONES;
        let alike = !(differs * 0xf) & among;
        f(state, alike);
        among &= !alike;
    }
}

/// Calls `f` with each word that has granules of a piece, which they are, and their phase; but for those of which no byte is touched.
#[inline(always)]
fn each_part(piece: &Piece, mut f: impl FnMut(usize, u64, usize)) {
    for word in piece.from / IN_WORD..piece.to.div_ceil(IN_WORD) {
        let first = word * IN_WORD;
        let (from, to) = (piece.from.max(first), piece.to.min(first + IN_WORD));
        for phase in 0..piece.period {
            let among = nibbles(from - first, to - first) & every(first, piece.period, phase);
            if among != 0 && piece.masks[phase] != 0 {
                f(word, among, phase);
            }
        }
    }
}

/// The four bits of the granules of a word that have a phase, where the first one is this.
#[inline(always)]
fn every(first: usize, period: usize, phase: usize) -> u64 {
    if period == 1 {
        return !0;
    }
    let begin = (phase + period - first % period) % period;
    (begin..IN_WORD)
        .step_by(period)
        .fold(0, |every, at| every | 0xf << (4 * at))
}

impl Numbers {
    /// Where the number of a granule is, and what counts it.
    pub fn places(&self, granule: usize) -> [usize; 2] {
        let word = std::ptr::from_ref(&self.words[granule / IN_WORD]).addr();
        [word, self.counts.as_ptr().addr()]
    }
}

impl Drawn {
    /// Of these cells, if they have few states, all of which two words can say.
    pub fn of(cells: impl Fn(usize) -> Words) -> Option<Drawn> {
        let mut drawn = Drawn {
            words: [0; WORDS],
            states: [(0, 0); MOST],
            used: 0,
        };
        for granule in 0..GRANULES {
            let words = cells(granule);
            if words.0 >= FIRST_SIDE {
                return None;
            }
            let known = drawn.states[..drawn.used]
                .iter()
                .position(|state| *state == words);
            let state = known.unwrap_or(drawn.used);
            if state == FEW {
                return None;
            }
            if known.is_none() {
                drawn.states[state] = words;
                drawn.used += 1;
            }
            drawn.words[granule / IN_WORD] |= (state as u64) << (4 * (granule % IN_WORD));
        }
        Some(drawn)
    }
}

impl Palette<'_> {
    #[inline(always)]
    fn state(&self, state: usize) -> Words {
        let [write, read] = &self.states[state];
        (write.load(Ordering::Relaxed), read.load(Ordering::Relaxed))
    }

    fn set_state(&self, state: usize, words: Words) {
        let [write, read] = &self.states[state];
        write.store(words.0, Ordering::Relaxed);
        read.store(words.1, Ordering::Relaxed);
    }

    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        self.numbers.words[at].load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn count(&self, state: usize) -> u16 {
        self.numbers.counts[state].load(Ordering::Relaxed)
    }

    /// Becomes what was drawn.
    pub fn set(&self, drawn: &Drawn) {
        for (word, drawn) in self.numbers.words.iter().zip(drawn.words) {
            word.store(drawn, Ordering::Relaxed);
        }
        let mut counts = [0; IN_WORD];
        for word in drawn.words {
            each_state(word, !0, |state, alike| {
                counts[state] += alike.count_ones() as u16 / 4
            });
        }
        for (count, drawn) in self.numbers.counts.iter().zip(counts) {
            count.store(drawn, Ordering::Relaxed);
        }
        (0..drawn.used).for_each(|state| self.set_state(state, drawn.states[state]));
    }

    /// Whether accesses like this by `t` are on record in this epoch.
    #[inline]
    pub fn says(&self, t: &Thread, write: bool, piece: &Piece) -> bool {
        let (mut known, mut all) = ([0u16; LONGEST], true);
        each_part(piece, |word, among, phase| {
            each_state(self.word(word), among, |state, _| {
                if known[phase] >> state & 1 == 0 {
                    all &= state < MOST && has(t, self.state(state), write, piece.masks[phase]);
                    known[phase] |= 1 << state;
                }
            });
        });
        all
    }

    /// The granules around one of which all bytes are on record like this.
    pub fn extent(&self, t: &Thread, write: bool, granule: usize) -> Range<usize> {
        let known = (0..MOST)
            .filter(|state| has(t, self.state(*state), write, 0xff))
            .fold(0u16, |known, state| known | 1 << state);
        let is_known =
            |granule: &usize| known >> number(self.word(granule / IN_WORD), granule % IN_WORD) & 1 == 1;
        let before = (0..granule).rev().take_while(is_known).count();
        let behind = (granule..GRANULES).take_while(is_known).count();
        granule - before..granule + behind
    }

    /// A plain access by `t`: what [`cell::access`] does on each cell. Races go to `found`, with their granules. Not done if it needs cells.
    pub fn access<const WRITE: bool>(
        &self,
        t: &mut Thread,
        piece: &Piece,
        at: Place,
        found: &mut Vec<(usize, Found)>,
    ) -> bool {
        let done = self.access_with_room::<WRITE>(t, piece, at, found);
        // All that cannot be said may be what nobody has to know any more.
        done || self.give_up(t) && self.access_with_room::<WRITE>(t, piece, at, found)
    }

    #[inline(always)]
    fn access_with_room<const WRITE: bool>(
        &self,
        t: &mut Thread,
        piece: &Piece,
        at: Place,
        found: &mut Vec<(usize, Found)>,
    ) -> bool {
        let mut met = [0u16; LONGEST];
        each_part(piece, |word, among, phase| {
            each_state(self.word(word), among, |state, _| met[phase] |= 1 << state);
        });
        // The state that comes after each, four bits each. Nothing is changed before that is known of all.
        let (mut after, mut new, mut changes) = ([ITSELF; LONGEST], 0u16, false);
        let mut races = Vec::new();
        for phase in 0..piece.period {
            let mut left = met[phase];
            while left != 0 {
                let state = left.trailing_zeros() as usize;
                left &= left - 1;
                let (old, mask) = (self.state(state), piece.masks[phase]);
                let words = match cell::step::<WRITE>(t, old, mask, at) {
                    Step::Misfit => return false,
                    Step::Known => cell::renamed::<WRITE>(t, old, mask, at),
                    Step::Words(words, with_write, with_read) => {
                        let mut told = Vec::new();
                        cell::tell_both(t, old, with_write, with_read, &mut told);
                        races.extend(told.into_iter().map(|found| (phase, state, found)));
                        words
                    }
                };
                if words != old {
                    changes = true;
                    let Some(other) = self.find(words, &mut new) else {
                        return false;
                    };
                    after[phase] ^= (state as u64 ^ other as u64) << (4 * state);
                }
            }
        }
        if !races.is_empty() {
            each_part(piece, |word, among, phase| {
                each_state(self.word(word), among, |state, alike| {
                    for (_, _, found_here) in races.iter().filter(|race| (race.0, race.1) == (phase, state)) {
                        let granules = (0..IN_WORD).filter(|at| number(alike, *at) != 0);
                        found.extend(granules.map(|at| (word * IN_WORD + at, *found_here)));
                    }
                });
            });
        }
        if changes {
            each_part(piece, |word, among, phase| self.change(word, among, after[phase]));
        }
        true
    }

    /// The state that says this, or a free one that says it from now on and is in `new`.
    #[inline(always)]
    fn find(&self, words: Words, new: &mut u16) -> Option<usize> {
        let mut free = None;
        for state in 0..MOST {
            if self.count(state) == 0 && *new >> state & 1 == 0 {
                free = free.or(Some(state));
            } else if self.state(state) == words {
                return Some(state);
            }
        }
        let state = free?;
        self.set_state(state, words);
        *new |= 1 << state;
        Some(state)
    }

    /// Gives some granules of a word the states that come after theirs.
    #[inline(always)]
    fn change(&self, at: usize, among: u64, after: u64) {
        let old = self.word(at);
        let mut word = old;
        each_state(old, among, |state, alike| {
            let other = number(after, state);
            if other != state {
                word ^= (alike & ONES) * (state ^ other) as u64;
                let moved = alike.count_ones() as u16 / 4;
                let (from, to) = (&self.numbers.counts[state], &self.numbers.counts[other]);
                from.store(from.load(Ordering::Relaxed) - moved, Ordering::Relaxed);
                to.store(to.load(Ordering::Relaxed) + moved, Ordering::Relaxed);
            }
        });
        self.numbers.words[at].store(word, Ordering::Relaxed);
    }

    /// Says no more what all threads have heard of. Whether there is more room then.
    #[cold]
    fn give_up(&self, t: &mut Thread) -> bool {
        let mut after = ITSELF;
        for state in (0..MOST).filter(|state| self.count(*state) > 0) {
            let left = heard::left_now(t, self.state(state));
            self.set_state(state, left);
            let same = |other: &usize| self.count(*other) > 0 && self.state(*other) == left;
            if let Some(other) = (0..state).find(same) {
                after ^= (state as u64 ^ other as u64) << (4 * state);
            }
        }
        if after != ITSELF {
            (0..WORDS).for_each(|word| self.change(word, !0, after));
        }
        after != ITSELF
    }

    /// Nothing is known of some granules any more. Not done if there is no room to say that.
    pub fn forget(&self, from: usize, to: usize) -> bool {
        let piece = Piece {
            from,
            to,
            period: 1,
            masks: [0xff; LONGEST],
        };
        let Some(nothing) = self.find((0, 0), &mut 0) else {
            return false;
        };
        each_part(&piece, |word, among, _| {
            self.change(word, among, nothing as u64 * ONES)
        });
        true
    }

    /// What all granules say, if they all say the same.
    pub fn only(&self) -> Option<Words> {
        let state = number(self.word(0), 0);
        (usize::from(self.count(state)) == GRANULES).then(|| self.state(state))
    }

    /// Calls `f` with each granule and its cell, but for those that say nothing.
    pub fn expand(&self, mut f: impl FnMut(usize, Words)) {
        for granule in 0..GRANULES {
            let words = self.state(number(self.word(granule / IN_WORD), granule % IN_WORD));
            if words != (0, 0) {
                f(granule, words);
            }
        }
    }

    /// How many states say something.
    pub fn states(&self) -> usize {
        (0..MOST)
            .filter(|state| self.count(*state) > 0 && self.state(*state) != (0, 0))
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::Random;

    fn numbers() -> Numbers {
        Numbers {
            words: [const { AtomicU64::new(0) }; WORDS],
            counts: [const { AtomicU16::new(0) }; IN_WORD],
        }
    }

    fn expanded(palette: &Palette<'_>) -> Vec<Words> {
        let mut cells = vec![(0, 0); GRANULES];
        palette.expand(|granule, words| cells[granule] = words);
        cells
    }

    fn counted(palette: &Palette<'_>) -> bool {
        let mut counts = [0; IN_WORD];
        for granule in 0..GRANULES {
            counts[number(palette.word(granule / IN_WORD), granule % IN_WORD)] += 1;
        }
        (0..IN_WORD).all(|state| palette.count(state) == counts[state])
    }

    #[test]
    fn a_palette_stands_for_the_cells_that_it_was_made_of() {
        let mut random = Random(5);
        for round in 0..500 {
            let kinds = 1 + round % FEW as u64;
            let cells: Vec<Words> = (0..GRANULES).map(|_| (random.below(kinds), 7)).collect();
            let (numbers, states) = (numbers(), Default::default());
            let palette = Palette {
                numbers: &numbers,
                states: &states,
            };
            palette.set(&Drawn::of(|granule| cells[granule]).expect("there are few states"));
            assert_eq!(expanded(&palette), cells);
            assert!(counted(&palette));
            assert_eq!(palette.only(), (kinds == 1).then_some((0, 7)));
            let (a, b) = (random.below(512) as usize, random.below(512) as usize);
            let (from, to) = (a.min(b), a.max(b) + 1);
            assert!(palette.forget(from, to));
            let mut cells = cells;
            cells[from..to].fill((0, 0));
            assert_eq!(expanded(&palette), cells);
            assert!(counted(&palette));
        }
    }

    #[test]
    fn many_states_or_one_that_is_elsewhere_make_no_palette() {
        assert!(Drawn::of(|granule| (granule as u64 % (FEW as u64 + 1), 0)).is_none());
        assert!(Drawn::of(|granule| (if granule == 511 { FIRST_SIDE } else { 1 }, 0)).is_none());
    }

    #[test]
    fn a_piece_has_the_granules_whose_bytes_are_touched() {
        let mut random = Random(9);
        for _ in 0..3000 {
            let (a, b) = (random.below(512) as usize, random.below(512) as usize);
            let period = 1 + random.below(LONGEST as u64) as usize;
            let piece = Piece {
                from: a.min(b),
                to: a.max(b) + 1,
                period,
                masks: std::array::from_fn(|_| random.below(2) as u8 * 0x0f),
            };
            let mut touched = vec![0; GRANULES];
            each_part(&piece, |word, among, phase| {
                let granules = (0..IN_WORD).filter(|at| number(among, *at) != 0);
                granules.for_each(|at| touched[word * IN_WORD + at] |= piece.masks[phase]);
            });
            let inside = |granule: usize| (piece.from..piece.to).contains(&granule);
            let masks = (0..GRANULES).map(|granule| if inside(granule) { piece.mask(granule) } else { 0 });
            assert_eq!(touched, masks.collect::<Vec<_>>());
        }
    }
}
