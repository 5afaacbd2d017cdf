//! Location states of byte-addressed memory, for the off-line driver.
//!
//! Memory is cut into pages of 512 bytes and granules of 8. A granule's bytes share one state until an access parts
//! them: then it is refined into 2, 4 or 8 cells, each starting with a copy of the state. So every cell's bytes have had
//! exactly the same history, and detection is exact for any size and alignment, while the common aligned access costs
//! one look-up. When an access to several cells leaves neighbours equal, they become one again. A page touched only as a
//! whole (large copies, frees) is a single cell.

use deadheat_event::Addr;
use rustc_hash::FxHashMap;
use thin_vec::ThinVec;

const PAGE: u64 = 512;
const GRANULE: u64 = 8;
const GRANULES: usize = (PAGE / GRANULE) as usize;

/// Set in the refinement of a granule whose cells are not among the page's: no size of access fits it.
const APART: u8 = 4;

/// States by address.
#[derive(Debug)]
pub struct Shadow<L> {
    index: FxHashMap<u64, u32>,
    pages: Vec<Page<L>>,
    /// Places in `pages` that are free again.
    free: Vec<u32>,
    /// Places of pages looked up lately: accesses cluster. No special ones: see [`Shadow::exact`].
    recent: Box<[u32; RECENT]>,
}

const RECENT: usize = 4096;

/// Mixes all bits of a page's number: stacks and arenas start at the same low bits.
#[inline(always)]
fn recent_place(page: u64) -> usize {
    (page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT.trailing_zeros())) as usize
}

/// Beyond the end of `pages`.
const NO_PLACE: u32 = u32::MAX;

/// One line of cache: the look-up of a state needs nothing else of its page.
#[derive(Debug)]
#[repr(align(64))]
struct Page<L> {
    number: u64,
    /// One cell for the whole page, or `1 << spread` for each granule.
    cells: Box<[L]>,
    spread: u8,
    /// How far each granule is refined.
    refined: Refined,
    /// Cells of the few granules that are refined further than `spread`.
    parts: ThinVec<(u8, Box<[L]>)>,
}

const _: () = assert!(size_of::<Page<u64>>() == 64);

/// For each granule log2 of the number of its cells; and [`APART`] if they are in `parts`, or if the page is whole. The
/// n-th bits of all granules stand together.
#[derive(Clone, Copy, Debug)]
struct Refined([u64; 3]);

impl Refined {
    const WHOLE: Refined = Refined([0, 0, u64::MAX]);

    #[inline(always)]
    fn get(self, granule: usize) -> u8 {
        let bit = |bits: u64| (bits >> (granule % GRANULES)) as u8 & 1;
        let [low, high, apart] = self.0.map(bit);
        low | high << 1 | apart << 2
    }

    fn set(&mut self, granule: usize, to: u8) {
        for (n, bits) in self.0.iter_mut().enumerate() {
            let bit = u64::from(to >> n & 1);
            *bits = *bits & !(1 << granule) | bit << granule;
        }
    }
}

/// With more granules than this refined further than the rest, the page is spread so that all of them fit.
const PARTS: usize = 8;

impl<L> Default for Shadow<L> {
    fn default() -> Self {
        Shadow {
            index: FxHashMap::default(),
            pages: Vec::new(),
            free: Vec::new(),
            recent: Box::new([NO_PLACE; RECENT]),
        }
    }
}

impl<L: Default + Clone + PartialEq> Shadow<L> {
    /// The state of exactly these bytes, if they are one cell of a page that is there and that `special` is not true of.
    ///
    /// `special` may become true of a page only with a call of [`Shadow::forget`].
    #[inline(always)]
    pub fn exact(&mut self, addr: Addr, size: u32, special: impl FnOnce(Addr) -> bool) -> Option<&mut L> {
        let number = addr.0 / PAGE;
        let mut place = self.recent[recent_place(number)];
        if self
            .pages
            .get(place as usize)
            .is_none_or(|page| page.number != number)
        {
            place = self.remember(number, special)?;
        }
        self.pages[place as usize].exact((addr.0 % PAGE) as usize, size)
    }

    /// Calls `visit(state, address, size)` for each cell of the bytes at `addr`, which wrap at the end of memory.
    pub fn access(&mut self, addr: Addr, size: u32, mut visit: impl FnMut(&mut L, Addr, u32)) {
        for (page, from, to) in pieces(addr, size) {
            let place = self.look_up(page);
            self.pages[place as usize].visit(page * PAGE, from, to, &mut visit);
        }
    }

    /// Gives the bytes at `addr` their first state again.
    pub fn reset(&mut self, addr: Addr, size: u32) {
        for (page, from, to) in pieces(addr, size) {
            let Some(&place) = self.index.get(&page) else {
                continue;
            };
            let found = &mut self.pages[place as usize];
            if to - from == PAGE as usize {
                *found = Page::new(page);
                self.index.remove(&page);
                self.free.push(place);
                self.recent[recent_place(page)] = NO_PLACE;
            } else {
                found.visit(page * PAGE, from, to, &mut |cell, _, _| *cell = L::default());
            }
        }
    }

    /// The place of a page that is there and not special, from now on among the recent ones.
    #[inline(never)]
    fn remember(&mut self, page: u64, special: impl FnOnce(Addr) -> bool) -> Option<u32> {
        let place = *self.index.get(&page)?;
        if special(Addr(page * PAGE)) {
            return None;
        }
        self.recent[recent_place(page)] = place;
        Some(place)
    }

    /// Asks anew whether the pages of these bytes are special.
    pub fn forget(&mut self, addr: Addr, size: u32) {
        if u64::from(size) / PAGE >= RECENT as u64 {
            self.recent.fill(NO_PLACE);
            return;
        }
        for (page, _, _) in pieces(addr, size) {
            self.recent[recent_place(page)] = NO_PLACE;
        }
    }

    fn look_up(&mut self, page: u64) -> u32 {
        let Shadow { pages, free, .. } = self;
        *self.index.entry(page).or_insert_with(|| {
            let place = free.pop().unwrap_or_else(|| {
                pages.push(Page::new(page));
                pages.len() as u32 - 1
            });
            pages[place as usize].number = page;
            place
        })
    }

    /// Every state there is.
    pub fn states(&self) -> impl Iterator<Item = &L> {
        self.pages.iter().flat_map(Page::states)
    }

    /// Bytes of pages and index, without what states own.
    pub fn bytes(&self) -> usize {
        let cells: usize = self.pages.iter().map(|p| p.cells.len() * size_of::<L>()).sum();
        cells + self.pages.capacity() * size_of::<Page<L>>() + self.index.capacity() * size_of::<(u64, u32)>()
    }
}

/// The pages of a byte range, each with the first and one past the last byte in it.
fn pieces(addr: Addr, size: u32) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut next = addr.0;
    let mut left = u64::from(size);
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let from = next % PAGE;
        let here = left.min(PAGE - from);
        let piece = (next / PAGE, from as usize, (from + here) as usize);
        next = next.wrapping_add(here);
        left -= here;
        Some(piece)
    })
}

impl<L: Default + Clone + PartialEq> Page<L> {
    fn new(number: u64) -> Page<L> {
        Page {
            number,
            cells: Box::new([L::default()]),
            spread: 0,
            refined: Refined::WHOLE,
            parts: ThinVec::new(),
        }
    }

    fn is_whole(&self) -> bool {
        self.cells.len() == 1
    }

    /// How far a granule is refined: log2 of its cells.
    #[inline]
    fn refined(&self, granule: usize) -> u8 {
        self.refined.get(granule) & !APART
    }

    /// Notes how far a granule is refined, and whether its cells fit among the page's.
    fn set_refined(&mut self, granule: usize, to: u8) {
        let apart = if to > self.spread { APART } else { 0 };
        self.refined.set(granule, to | apart);
    }

    /// The cells of a granule, and how far apart those in use are.
    #[inline]
    fn granule(&mut self, granule: usize) -> (&mut [L], usize) {
        let refined = self.refined(granule);
        if refined > self.spread {
            let part = self
                .parts
                .iter_mut()
                .find(|(part, _)| usize::from(*part) == granule);
            return (part.map_or(&mut [], |(_, cells)| cells), 1);
        }
        let cells = self
            .cells
            .get_mut(granule << self.spread..(granule + 1) << self.spread);
        (cells.unwrap_or_default(), 1 << (self.spread - refined))
    }

    /// The one cell that is exactly the bytes `offset..offset + size`, if there is one.
    #[inline(always)]
    fn exact(&mut self, offset: usize, size: u32) -> Option<&mut L> {
        let refined = self.refined.get(offset / GRANULE as usize);
        // One branch, not two: how large a cell is cannot be guessed.
        let differs = u64::from(size).wrapping_shl(refined.into()) ^ GRANULE;
        let unaligned = offset as u64 & u64::from(size.wrapping_sub(1));
        if differs | unaligned != 0 {
            return None;
        }
        self.cells
            .get_mut(offset.wrapping_shl(self.spread.into()) / GRANULE as usize)
    }

    /// Calls `visit` for each cell of the bytes `from..to`, which it refines first if they are parts of cells.
    fn visit(
        &mut self,
        base: u64,
        from: usize,
        to: usize,
        visit: &mut (impl FnMut(&mut L, Addr, u32) + ?Sized),
    ) {
        if self.is_whole() {
            if to - from == PAGE as usize {
                return visit(&mut self.cells[0], Addr(base), PAGE as u32);
            }
            let state = self.cells[0].clone();
            self.cells = vec![state; GRANULES].into();
            self.refined = Refined([0; 3]);
        }
        for granule in from / GRANULE as usize..to.div_ceil(GRANULE as usize) {
            let start = granule * GRANULE as usize;
            let (lo, hi) = (from.max(start) - start, to.min(start + GRANULE as usize) - start);
            // The largest power of two that both ends are multiples of is the largest cell that parts them.
            let needed = GRANULE.trailing_zeros() - (lo | hi | GRANULE as usize).trailing_zeros();
            self.refine(granule, needed as u8);
            let size = GRANULE as usize >> self.refined(granule);
            let (cells, step) = self.granule(granule);
            for (i, cell) in cells
                .iter_mut()
                .step_by(step)
                .enumerate()
                .take(hi / size)
                .skip(lo / size)
            {
                visit(cell, Addr(base + (start + i * size) as u64), size as u32);
            }
            if hi - lo > size {
                self.unite(granule);
            }
        }
    }

    /// Makes neighbouring cells of a granule one again as far as they are equal.
    fn unite(&mut self, granule: usize) {
        let (from, spread) = (self.refined(granule), self.spread);
        let (cells, step) = self.granule(granule);
        let equal = |width: usize| {
            let mut halves = cells.iter().step_by(step * width / 2);
            while let (Some(left), Some(right)) = (halves.next(), halves.next()) {
                if left != right {
                    return false;
                }
            }
            true
        };
        let to = (0..from)
            .rev()
            .take_while(|to| equal(1 << (from - to)))
            .last()
            .unwrap_or(from);
        if to == from {
            return;
        }
        let states: Vec<L> = cells
            .iter_mut()
            .step_by(step << (from - to))
            .map(std::mem::take)
            .collect();
        cells.fill(L::default());
        if from > spread {
            self.parts.retain(|(part, _)| usize::from(*part) != granule);
        }
        self.set_refined(granule, to);
        if to > spread {
            self.parts.push((granule as u8, states.into()));
            return;
        }
        let (cells, step) = self.granule(granule);
        for (cell, state) in cells.iter_mut().step_by(step).zip(states) {
            *cell = state;
        }
    }

    fn refine(&mut self, granule: usize, to: u8) {
        let from = self.refined(granule);
        if to <= from {
            return;
        }
        if to > self.spread && from <= self.spread && self.parts.len() == PARTS {
            self.spread_to(to);
        }
        let (spread, (cells, step)) = (self.spread, self.granule(granule));
        // Each cell in use is copied to where its parts start.
        let times = 1 << (to - from);
        let parts = |state: &L| std::iter::repeat_n(state.clone(), times);
        let states: Vec<L> = cells.iter().step_by(step).flat_map(parts).collect();
        if to > spread {
            cells.fill(L::default());
            self.parts.retain(|(part, _)| usize::from(*part) != granule);
            self.parts.push((granule as u8, states.into()));
        } else {
            for (cell, state) in cells.iter_mut().step_by(1 << (spread - to)).zip(states) {
                *cell = state;
            }
        }
        self.set_refined(granule, to);
    }

    /// Makes room for more cells in every granule.
    fn spread_to(&mut self, to: u8) {
        let old = self.spread;
        self.refined.0[2] = 0;
        self.spread = (0..GRANULES)
            .map(|granule| self.refined(granule))
            .fold(to, u8::max);
        let mut cells = vec![L::default(); GRANULES << self.spread];
        for (i, cell) in std::mem::take(&mut self.cells).into_iter().enumerate() {
            cells[i << (self.spread - old)] = cell;
        }
        for (granule, part) in std::mem::take(&mut self.parts) {
            let granule = usize::from(granule);
            let step = 1 << (self.spread - self.refined(granule));
            let first = granule << self.spread;
            for (cell, state) in cells[first..].iter_mut().step_by(step).zip(part) {
                *cell = state;
            }
        }
        self.cells = cells.into();
    }

    fn states(&self) -> impl Iterator<Item = &L> {
        let granules = if self.is_whole() { 0 } else { GRANULES };
        let dense = (0..granules).flat_map(move |granule| {
            let refined = self.refined(granule);
            let count = if refined > self.spread { 0 } else { 1 << refined };
            let step = 1usize << self.spread.saturating_sub(refined);
            (0..count).map(move |i| &self.cells[(granule << self.spread) + i * step])
        });
        let parts = self.parts.iter().flat_map(|(_, cells)| cells.iter());
        self.cells
            .first()
            .filter(|_| self.is_whole())
            .into_iter()
            .chain(dense)
            .chain(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Each cell holds the list of accesses its bytes have seen; a map from byte to list says what it should be.
        #[test]
        fn every_byte_keeps_exactly_its_own_history(
            accesses in prop::collection::vec((0u64..1600, prop_oneof![Just(1u32), Just(2), Just(4), Just(8), Just(16), 1u32..1200], any::<u8>()), 1..40)
        ) {
            let mut shadow: Shadow<Vec<usize>> = Shadow::default();
            let mut model: HashMap<u64, Vec<usize>> = HashMap::new();
            for (i, (addr, size, action)) in accesses.into_iter().enumerate() {
                if action < 30 {
                    shadow.reset(Addr(addr), size);
                    for byte in addr..addr + u64::from(size) {
                        model.remove(&byte);
                    }
                    continue;
                }
                let mut next = addr;
                shadow.access(Addr(addr), size, |state, at, n| {
                    assert_eq!(at.0, next, "cells come in order and without gaps");
                    next += u64::from(n);
                    for byte in at.0..next {
                        assert_eq!(&*state, model.get(&byte).map_or(&[][..], |h| h), "byte {byte}");
                    }
                    state.push(i);
                });
                prop_assert_eq!(next, addr + u64::from(size));
                for byte in addr..next {
                    model.entry(byte).or_default().push(i);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Each cell holds the last access alone, so that cells become equal again and are united.
        #[test]
        fn every_byte_keeps_its_last_access_when_cells_are_united(
            accesses in prop::collection::vec((0u64..520, prop_oneof![1u32..9, Just(8u32), Just(512)]), 1..200)
        ) {
            let mut shadow: Shadow<usize> = Shadow::default();
            let mut model: HashMap<u64, usize> = HashMap::new();
            for (i, (addr, size)) in accesses.into_iter().enumerate() {
                // Whole granules, too: only they unite.
                let addr = if size == 8 { addr & !7 } else { addr };
                let check = |state: &mut usize, at: Addr, n: u32| {
                    for byte in at.0..at.0 + u64::from(n) {
                        assert_eq!(*state, model.get(&byte).copied().unwrap_or(0), "byte {byte}");
                    }
                    *state = i + 1;
                };
                match shadow.exact(Addr(addr), size, |_| false) {
                    Some(state) => check(state, Addr(addr), size),
                    None => shadow.access(Addr(addr), size, check),
                }
                model.extend((addr..addr + u64::from(size)).map(|byte| (byte, i + 1)));
            }
            let bytes = 8 * GRANULES * 3;
            prop_assert!(shadow.states().count() <= bytes, "no more states than bytes");
        }
    }

    #[test]
    fn only_whole_cells_of_pages_that_are_there_are_exact() {
        let mut shadow: Shadow<u8> = Shadow::default();
        let mut is_exact = |addr, size| shadow.exact(Addr(addr), size, |_| false).is_some();
        assert!(!is_exact(8, 8), "no page");
        shadow.access(Addr(0), 512, |_, _, _| {});
        let mut is_exact = |addr, size| shadow.exact(Addr(addr), size, |_| false).is_some();
        assert!(!is_exact(8, 8), "the page is one cell");
        shadow.access(Addr(16), 4, |_, _, _| {});
        let mut is_exact = |addr, size| shadow.exact(Addr(addr), size, |_| false).is_some();
        assert!(is_exact(8, 8) && !is_exact(8, 4) && !is_exact(12, 8) && !is_exact(8, 0) && !is_exact(8, 16));
        assert!(
            !is_exact(16, 4) && !is_exact(16, 8),
            "cells apart from the page's"
        );
        for granule in 10..20 {
            shadow.access(Addr(8 * granule), 4, |_, _, _| {});
        }
        let mut is_exact = |addr, size| shadow.exact(Addr(addr), size, |_| false).is_some();
        assert!(is_exact(16, 4) && is_exact(20, 4) && !is_exact(18, 4) && !is_exact(16, 8) && is_exact(8, 8));
    }

    #[test]
    fn special_pages_are_never_exact_once_they_were_forgotten() {
        for size in [1, u32::MAX] {
            let mut shadow: Shadow<u8> = Shadow::default();
            shadow.access(Addr(0), 8, |_, _, _| {});
            assert!(shadow.exact(Addr(0), 8, |_| false).is_some());
            shadow.forget(Addr(511), size);
            for _ in 0..2 {
                assert!(shadow.exact(Addr(0), 8, |page| page == Addr(0)).is_none());
            }
        }
    }

    #[test]
    fn an_access_at_the_end_of_memory_wraps_without_panic() {
        let mut shadow: Shadow<u8> = Shadow::default();
        let mut bytes = 0;
        shadow.access(Addr(u64::MAX - 3), 16, |_, _, n| bytes += n);
        assert_eq!(bytes, 16);
    }

    #[test]
    fn a_word_written_whole_again_is_one_state_again() {
        let mut shadow: Shadow<u8> = Shadow::default();
        for granule in 0..20 {
            shadow.access(Addr(8 * granule + 3), 1, |s, _, _| *s = 1);
        }
        assert_eq!(shadow.states().count(), 44 + 20 * 8);
        for granule in 0..20 {
            shadow.access(Addr(8 * granule), 8, |s, _, _| *s = 2);
        }
        assert_eq!(shadow.states().count(), 64);
    }

    #[test]
    fn halves_of_a_word_that_are_written_whole_again_are_two_states_again() {
        let mut shadow: Shadow<u8> = Shadow::default();
        shadow.access(Addr(3), 2, |s, _, _| *s = 1);
        assert_eq!(shadow.states().count(), 63 + 8);
        shadow.access(Addr(0), 4, |s, _, _| *s = 2);
        assert_eq!(shadow.states().count(), 63 + 8, "bytes 4 and 5 still differ");
        shadow.access(Addr(4), 4, |s, _, _| *s = 3);
        assert_eq!(shadow.states().count(), 63 + 2);
    }

    #[test]
    fn pages_touched_as_a_whole_are_one_state() {
        let mut shadow: Shadow<u8> = Shadow::default();
        shadow.access(Addr(0), 1 << 20, |s, _, _| *s = 1);
        assert_eq!(shadow.states().count(), 2048);
    }
}
