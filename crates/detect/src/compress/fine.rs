//! One state for each element, made page by page: the storage of FINE.
//!
//! The page table is a vector as long as the pages in use justify it, and a hash map for the rest, so that a single
//! access to element 2^40 costs one page.

use rustc_hash::FxHashMap;

/// Elements of a page.
pub const PAGE: u64 = 64;

/// Page table entries that an array may always have.
const FREE_ENTRIES: u64 = 1024;
/// Further page table entries for each page in use.
const ENTRIES_PER_PAGE: u64 = 16;

/// States by index.
#[derive(Clone, Debug)]
pub struct Pages<L> {
    near: Vec<Option<Box<[L]>>>,
    /// Pages that were beyond the end of `near` when they were made. Each page is in one of the two.
    far: FxHashMap<u64, Box<[L]>>,
    pages: u64,
    states: usize,
}

impl<L> Default for Pages<L> {
    fn default() -> Self {
        Pages {
            near: Vec::new(),
            far: FxHashMap::default(),
            pages: 0,
            states: 0,
        }
    }
}

impl<L: Default> Pages<L> {
    /// The state of an element, if its page has been made.
    #[inline]
    pub fn get_mut(&mut self, index: u64) -> Option<&mut L> {
        let (page, within) = ((index / PAGE) as usize, (index % PAGE) as usize);
        if let Some(Some(page)) = self.near.get_mut(page) {
            return page.get_mut(within);
        }
        if self.far.is_empty() {
            return None;
        }
        self.far.get_mut(&(index / PAGE))?.get_mut(within)
    }

    /// The state of an element, if its page has been made.
    pub fn get(&self, index: u64) -> Option<&L> {
        let near = self.near.get((index / PAGE) as usize).and_then(Option::as_ref);
        let page = near.or_else(|| self.far.get(&(index / PAGE)))?;
        page.get((index % PAGE) as usize)
    }

    /// Makes the page of an element, or makes it longer. `state` gives the states that its elements have so far, and
    /// `len` is the length of the array: a page does not go beyond it.
    #[cold]
    pub fn make(&mut self, index: u64, len: u64, state: impl Fn(u64) -> L) -> &mut L {
        let page = index / PAGE;
        let first = page * PAGE;
        let size = PAGE.min(len.saturating_sub(first).max(index % PAGE + 1));
        let old = match self.near.get_mut(page as usize) {
            Some(entry) if entry.is_some() => entry.take(),
            _ => self.far.remove(&page),
        };
        let mut states = old.map_or_else(Vec::new, |old| {
            self.pages -= 1;
            self.states -= old.len();
            old.into_vec()
        });
        let missing = states.len() as u64..size;
        states.extend(missing.map(|within| state(first + within)));
        self.pages += 1;
        self.states += states.len();
        let slot = if page < FREE_ENTRIES + ENTRIES_PER_PAGE * self.pages {
            if page as usize >= self.near.len() {
                self.near.resize_with(page as usize + 1, || None);
            }
            self.near[page as usize].insert(states.into())
        } else {
            self.far.entry(page).insert_entry(states.into()).into_mut()
        };
        &mut slot[(index % PAGE) as usize]
    }

    /// States made so far.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Heap bytes, with `heap` saying what a state owns beyond its size.
    pub fn bytes(&self, heap: impl Fn(&L) -> usize) -> usize {
        let pages = self.near.iter().flatten().chain(self.far.values());
        let own: usize = pages.flat_map(|page| page.iter()).map(heap).sum();
        own + self.states * size_of::<L>()
            + self.near.capacity() * size_of::<Option<Box<[L]>>>()
            + self.far.capacity() * size_of::<(u64, Box<[L]>)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn elements_keep_their_states_whatever_the_order_of_pages(
            accesses in prop::collection::vec((prop_oneof![0u64..300, 0u64..1 << 24, (1u64 << 40)..(1 << 40) + 200], any::<u32>()), 1..200),
            mut len in 0u64..200,
        ) {
            let mut pages: Pages<u32> = Pages::default();
            let mut model: HashMap<u64, u32> = HashMap::new();
            for (index, value) in accesses {
                len = len.max(index + 1);
                let state = match pages.get_mut(index) {
                    Some(state) => state,
                    None => pages.make(index, len, |i| i as u32),
                };
                let before = model.insert(index, value).unwrap_or(index as u32);
                prop_assert_eq!(std::mem::replace(state, value), before);
                prop_assert_eq!(pages.get(index), Some(&value));
            }
        }
    }

    #[test]
    fn sparse_elements_do_not_make_a_dense_table() {
        let mut pages: Pages<u64> = Pages::default();
        for i in 0..100 {
            pages.make((1 << 40) + (i << 30), 1 << 47, |_| 0);
        }
        assert!(pages.bytes(|_| 0) < 100 * 2000);
    }
}
