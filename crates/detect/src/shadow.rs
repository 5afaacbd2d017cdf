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

/// States by address.
#[derive(Debug)]
pub struct Shadow<L> {
    index: FxHashMap<u64, u32>,
    pages: Vec<Page<L>>,
    /// Places in `pages` that are free again.
    free: Vec<u32>,
    /// Places of pages looked up lately: accesses cluster. No special ones: see [`Shadow::remember`].
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
    /// One cell for the whole page; or the first cells of all granules, then the second cells of all of them, and so on for
    /// as many as fit. So the cells of words stand side by side even where some granules have several.
    cells: Box<[L]>,
    /// For each size of a cell (log2), the granules whose cells are of that size and among `cells`.
    sizes: [u64; 4],
    /// Cells of the few granules that have more than fit into `cells`.
    parts: ThinVec<(u8, Box<[L]>)>,
}

const _: () = assert!(size_of::<Page<u64>>() == 64);

/// With more granules than this refined further than the rest, `cells` is extended so that all of them fit.
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
    /// The state of exactly these bytes, if they are one cell of a recent page.
    #[inline(always)]
    pub fn exact(&mut self, addr: Addr, size: u32) -> Option<&mut L> {
        let number = addr.0 / PAGE;
        let page = self.pages.get_mut(self.recent[recent_place(number)] as usize)?;
        if page.number != number {
            return None;
        }
        page.exact((addr.0 % PAGE) as usize, size)
    }

    /// Makes the page of an address a recent one, if it is there and `special` is not true of it. Whether it has not been one
    /// before and is one now.
    ///
    /// `special` may become true of a page only with a call of [`Shadow::forget`].
    pub fn remember(&mut self, addr: Addr, special: impl FnOnce(Addr) -> bool) -> bool {
        let page = addr.0 / PAGE;
        let recent = &mut self.recent[recent_place(page)];
        match self.index.get(&page) {
            Some(&place) if *recent != place && !special(Addr(page * PAGE)) => {
                *recent = place;
                true
            }
            _ => false,
        }
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
            sizes: [0; 4],
            parts: ThinVec::new(),
        }
    }

    fn is_whole(&self) -> bool {
        self.cells.len() == 1
    }

    /// log2 of the cells of each granule that fit into `cells`.
    fn room(&self) -> u8 {
        (self.cells.len() / GRANULES).max(1).trailing_zeros() as u8
    }

    fn part(&self, granule: usize) -> Option<usize> {
        self.parts
            .iter()
            .position(|(part, _)| usize::from(*part) == granule)
    }

    /// How far a granule is refined: log2 of its cells.
    fn refined(&self, granule: usize) -> u8 {
        let size = self.sizes.iter().position(|sizes| sizes >> granule & 1 == 1);
        match (size, self.part(granule)) {
            (Some(size), _) => 3 - size as u8,
            (None, Some(part)) => self.parts[part].1.len().trailing_zeros() as u8,
            (None, None) => 0,
        }
    }

    /// Notes how far a granule is refined whose cells are among the page's; or, with `None`, that they are not.
    fn set_refined(&mut self, granule: usize, to: Option<u8>) {
        for sizes in &mut self.sizes {
            *sizes &= !(1 << granule);
        }
        if let Some(to) = to {
            self.sizes[usize::from(3 - to)] |= 1 << granule;
        }
    }

    /// The cells of a granule, each `step` behind the one before; there may be others behind the last.
    fn granule(&mut self, granule: usize) -> (&mut [L], usize) {
        match self.part(granule) {
            Some(part) => (&mut self.parts[part].1, 1),
            None => (self.cells.get_mut(granule..).unwrap_or_default(), GRANULES),
        }
    }

    /// The one cell that is exactly the bytes `offset..offset + size`, if there is one.
    #[inline(always)]
    fn exact(&mut self, offset: usize, size: u32) -> Option<&mut L> {
        let log2 = size.trailing_zeros() as usize;
        let granule = offset / GRANULE as usize;
        let aligned = (offset as u32 | size) & size.wrapping_sub(1) == 0;
        let is_cell = self.sizes.get(log2)? >> (granule % GRANULES) & 1 == 1;
        if !aligned || !is_cell {
            return None;
        }
        let part = (offset % GRANULE as usize) >> log2;
        self.cells.get_mut(granule + part * GRANULES)
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
            self.sizes = [0, 0, 0, u64::MAX];
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
        let from = self.refined(granule);
        let (cells, step) = self.granule(granule);
        let cells = || cells.iter().step_by(step).take(1 << from);
        let equal = |width: usize| {
            let mut halves = cells().step_by(width / 2);
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
        if to < from {
            let states = cells().step_by(1 << (from - to)).cloned().collect();
            self.set_cells(granule, states);
        }
    }

    fn refine(&mut self, granule: usize, to: u8) {
        let from = self.refined(granule);
        if to <= from {
            return;
        }
        // Each cell is copied to where its parts start.
        let times = 1 << (to - from);
        let parts = |state: &L| std::iter::repeat_n(state.clone(), times);
        let (cells, step) = self.granule(granule);
        let states = cells
            .iter()
            .step_by(step)
            .take(1 << from)
            .flat_map(parts)
            .collect();
        if to > self.room() && self.part(granule).is_none() && self.parts.len() == PARTS {
            self.make_room(to);
        }
        self.set_cells(granule, states);
    }

    /// Gives a granule other cells than it has: a power of two of them.
    fn set_cells(&mut self, granule: usize, states: Vec<L>) {
        let to = states.len().trailing_zeros() as u8;
        let (cells, step) = self.granule(granule);
        // What is no longer used must not keep anything.
        cells
            .iter_mut()
            .step_by(step)
            .for_each(|cell| *cell = L::default());
        self.parts.retain(|(part, _)| usize::from(*part) != granule);
        if to > self.room() {
            self.set_refined(granule, None);
            self.parts.push((granule as u8, states.into()));
            return;
        }
        self.set_refined(granule, Some(to));
        let (cells, step) = self.granule(granule);
        for (cell, state) in cells.iter_mut().step_by(step).zip(states) {
            *cell = state;
        }
    }

    /// Makes room for `1 << to` cells of every granule, and for all that are apart.
    fn make_room(&mut self, to: u8) {
        let parts = std::mem::take(&mut self.parts);
        let most = parts
            .iter()
            .map(|(_, cells)| cells.len())
            .fold(1 << to, usize::max);
        let mut cells = std::mem::take(&mut self.cells).into_vec();
        cells.resize_with(GRANULES * most, L::default);
        self.cells = cells.into();
        for (granule, cells) in parts {
            self.set_cells(granule.into(), cells.into_vec());
        }
    }

    fn states(&self) -> impl Iterator<Item = &L> {
        let granules = if self.is_whole() { 0 } else { GRANULES };
        let dense = (0..granules).flat_map(move |granule| {
            let count = match self.part(granule) {
                Some(_) => 0,
                None => 1 << self.refined(granule),
            };
            self.cells[granule..].iter().step_by(GRANULES).take(count)
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
                shadow.remember(Addr(addr), |_| false);
                match shadow.exact(Addr(addr), size) {
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
        assert!(!shadow.remember(Addr(8), |_| false), "no page");
        let mut is_exact = |addr, size| shadow.exact(Addr(addr), size).is_some();
        assert!(!is_exact(8, 8), "no page");
        shadow.access(Addr(0), 512, |_, _, _| {});
        assert!(shadow.exact(Addr(8), 8).is_none(), "not recent");
        assert!(shadow.remember(Addr(8), |_| false));
        assert!(!shadow.remember(Addr(16), |_| false), "recent already");
        let mut is_exact = |addr, size| shadow.exact(Addr(addr), size).is_some();
        assert!(!is_exact(8, 8), "the page is one cell");
        shadow.access(Addr(16), 4, |_, _, _| {});
        let mut is_exact = |addr, size| shadow.exact(Addr(addr), size).is_some();
        assert!(is_exact(8, 8) && !is_exact(8, 4) && !is_exact(12, 8) && !is_exact(8, 0) && !is_exact(8, 16));
        assert!(
            !is_exact(16, 4) && !is_exact(16, 8),
            "cells apart from the page's"
        );
        for granule in 10..20 {
            shadow.access(Addr(8 * granule), 4, |_, _, _| {});
        }
        let mut is_exact = |addr, size| shadow.exact(Addr(addr), size).is_some();
        assert!(is_exact(16, 4) && is_exact(20, 4) && !is_exact(18, 4) && !is_exact(16, 8) && is_exact(8, 8));
    }

    #[test]
    fn special_pages_are_never_exact_once_they_were_forgotten() {
        for size in [1, u32::MAX] {
            let mut shadow: Shadow<u8> = Shadow::default();
            shadow.access(Addr(0), 8, |_, _, _| {});
            assert!(shadow.remember(Addr(0), |_| false));
            assert!(shadow.exact(Addr(0), 8).is_some());
            shadow.forget(Addr(511), size);
            for _ in 0..2 {
                assert!(!shadow.remember(Addr(0), |page| page == Addr(0)));
                assert!(shadow.exact(Addr(0), 8).is_none());
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
