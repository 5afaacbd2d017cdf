//! The states of an array, compressed.
//!
//! Invariant: the elements of a class have had the same accesses (or accesses that the detector cannot tell apart), so
//! they share one state without loss. An element beyond `len` has had none. FINE keeps the states it came from and
//! copies them page by page when an element is accessed, so falling back to it is cheap even for a huge array.

use super::fine::Pages;
use super::footprint::{Footprint, MAX_INDEX};
use super::mode::{MAX_PARTS, Mode, refine};
use super::tuning::Tuning;

/// Compressed states of an array's elements.
#[derive(Clone, Debug)]
pub struct Array<L> {
    /// The length, if it is known; else one more than the largest index committed.
    len: u64,
    mode: Mode,
    /// The states of all classes. In FINE: those of `base`, and the first state for elements beyond it.
    states: Vec<L>,
    /// In FINE: states of single elements. An element without a page has its state in `base`.
    pages: Pages<L>,
    /// In FINE: the mode and length before.
    base: Option<(Mode, u64)>,
    /// Elements committed so far, as a bound on what may be allocated.
    touched: u64,
    pub(super) tuning: Tuning,
}

impl<L: Default> Default for Array<L> {
    fn default() -> Self {
        Array {
            len: 0,
            mode: Mode::Coarse,
            states: vec![L::default()],
            pages: Pages::default(),
            base: None,
            touched: 0,
            tuning: Tuning::default(),
        }
    }
}

impl<L: Default + Clone + PartialEq> Array<L> {
    /// Says how long the array is.
    pub(super) fn set_len(&mut self, len: u64) {
        self.len = len.min(MAX_INDEX + 1);
    }

    /// How the elements share states now.
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// The length: as declared, or as far as accesses were committed.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether no element is known.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The state of an element. An element that was never accessed has the first state.
    pub fn state(&self, index: u64) -> L {
        if self.base.is_none() && index >= self.len {
            return L::default();
        }
        self.look(index).clone()
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.states.len() + self.pages.states()
    }

    /// Heap bytes, with `heap` saying what a state owns beyond its size.
    pub fn bytes(&self, heap: impl Fn(&L) -> usize) -> usize {
        let own: usize = self.states.iter().map(&heap).sum();
        let cuts = match &self.mode {
            Mode::Split(cuts) => size_of_val::<[u64]>(cuts),
            _ => 0,
        };
        own + cuts + self.states.capacity() * size_of::<L>() + self.pages.bytes(heap)
    }

    /// The state of an element in FINE, if its page has been made.
    #[inline]
    pub(super) fn element(&mut self, index: u64) -> Option<&mut L> {
        debug_assert_eq!(self.mode, Mode::Fine);
        self.pages.get_mut(index)
    }

    /// The state of an element in FINE, whose page is made now.
    #[cold]
    pub(super) fn new_element(&mut self, index: u64) -> &mut L {
        debug_assert_eq!(self.mode, Mode::Fine);
        self.len = self.len.max(index.min(MAX_INDEX) + 1);
        let (base, states) = (&self.base, &self.states);
        self.pages
            .make(index, self.len, |index| base_state(base, states, index).clone())
    }

    /// Goes to FINE. Whether that is a change.
    pub(super) fn make_fine(&mut self) -> bool {
        if self.mode == Mode::Fine {
            return false;
        }
        self.base = Some((std::mem::replace(&mut self.mode, Mode::Fine), self.len));
        let fresh = L::default();
        if self.states.iter().all(|state| *state == fresh) {
            self.base = Some((Mode::Coarse, 0));
            self.states = Vec::new();
        }
        self.states.push(fresh);
        true
    }

    /// Brings the array into a mode that the footprint fits. Whether that is a change.
    pub(super) fn make_fit(&mut self, fp: Footprint) -> bool {
        let grown = self.grow(fp.last() + 1);
        self.touched = self.touched.saturating_add(fp.len());
        if self.mode.fits(fp, self.len) {
            return grown;
        }
        // A few equal states are one: whatever pattern they came from is over.
        if self.states.len() <= MAX_PARTS && self.mode != Mode::Coarse && self.all_equal() {
            self.states.truncate(1);
            self.mode = Mode::Coarse;
            if self.mode.fits(fp, self.len) {
                return true;
            }
        }
        let budget = self.touched.max(1024);
        match refine(&self.mode, fp, self.len, budget) {
            Mode::Fine => self.make_fine(),
            next => {
                self.convert(next);
                true
            }
        }
    }

    /// Calls `visit(class, state)` for each class of a footprint that fits. Returns how many there are.
    #[inline]
    pub(super) fn visit(&mut self, fp: Footprint, mut visit: impl FnMut(Footprint, &mut L)) -> u64 {
        if self.mode == Mode::Fine {
            for index in fp.iter() {
                match self.element(index) {
                    Some(state) => visit(Footprint::one(index), state),
                    None => visit(Footprint::one(index), self.new_element(index)),
                }
            }
            return fp.len();
        }
        let Array {
            len, mode, states, ..
        } = self;
        let mut classes = 0;
        mode.visit(fp, |class| {
            classes += 1;
            visit(mode.extent(class, *len), &mut states[class as usize]);
        });
        classes
    }

    /// How many classes there are.
    pub(super) fn classes(&self) -> u64 {
        self.mode.classes(self.len)
    }

    /// Goes to a mode with at most half as many classes, if the states allow it. `hint` is a footprint just committed,
    /// whose stride may be that of the array. Whether that is a change.
    pub(super) fn coarsen(&mut self, hint: Footprint) -> bool {
        let classes = self.classes();
        if classes < 2 {
            return false;
        }
        if let Mode::Stride(_) = self.mode {
            if !self.all_equal() {
                return false;
            }
            self.states.truncate(1);
            self.mode = Mode::Coarse;
            return true;
        }
        if let Some(starts) = self.runs()
            && starts.len() as u64 <= classes / 2
        {
            let states = starts.iter().map(|start| self.state(*start)).collect();
            self.replace(contiguous(&starts[1..], self.len), states);
            return true;
        }
        let k = hint.stride();
        if k > 1 && k <= classes / 2 && self.repeats(k) {
            let states = (0..k).map(|index| self.state(index)).collect();
            self.replace(Mode::Stride(k), states);
            return true;
        }
        false
    }

    fn all_equal(&self) -> bool {
        self.states.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// The first indices of the longest runs of equal states, if a SPLIT can hold them.
    fn runs(&self) -> Option<Vec<u64>> {
        let mut starts = vec![0];
        let mut last = self.look(0);
        let mut index = 0;
        while index < self.len {
            let state = self.look(index);
            if !std::ptr::eq(state, last) && *state != *last {
                if starts.len() == MAX_PARTS {
                    return None;
                }
                starts.push(index);
            }
            last = state;
            index = match self.mode {
                Mode::Fine => index + 1,
                _ => self.mode.extent(self.mode.class(index), self.len).last() + 1,
            };
        }
        Some(starts)
    }

    /// Whether elements `k` apart are equal all over the array, which is FINE or has blocks.
    fn repeats(&self, k: u64) -> bool {
        self.mode == Mode::Fine && (k..self.len).all(|index| self.look(index) == self.look(index - k))
    }

    /// The state of an element within `len`, or in FINE of any.
    fn look(&self, index: u64) -> &L {
        if self.base.is_none() {
            return &self.states[self.mode.class(index) as usize];
        }
        self.pages
            .get(index)
            .unwrap_or_else(|| base_state(&self.base, &self.states, index))
    }

    /// Makes room for elements up to `len`: none of the new ones has had an access. Whether the mode changes.
    fn grow(&mut self, len: u64) -> bool {
        if len <= self.len {
            return false;
        }
        let old = std::mem::replace(&mut self.len, len);
        let fresh = L::default();
        let last_is_fresh = self.states.last().is_none_or(|state| *state == fresh);
        match &mut self.mode {
            Mode::Fine => return false,
            Mode::Coarse | Mode::Split(_) if last_is_fresh => return false,
            Mode::Coarse => {
                self.mode = Mode::Split([old].into());
                self.states.push(fresh);
            }
            Mode::Split(cuts) if cuts.len() + 1 < MAX_PARTS => {
                *cuts = cuts.iter().copied().chain([old]).collect();
                self.states.push(fresh);
            }
            Mode::Split(_) => self.fine_from(old),
            Mode::Block(d) => {
                let blocks = len.div_ceil(*d);
                let whole = old.is_multiple_of(*d) || last_is_fresh;
                // Not many more than there are: the next index may be anywhere.
                if whole && blocks <= 2 * self.states.len() as u64 + MAX_PARTS as u64 {
                    self.states.resize(blocks as usize, fresh);
                    return false;
                }
                self.fine_from(old);
            }
            Mode::Stride(d) => {
                let d = *d;
                let new = (old..len.min(old.saturating_add(d))).map(|index| (index % d) as usize);
                let mut new = new.filter(|class| *class < self.states.len());
                if new.all(|class| self.states[class] == fresh) {
                    self.states.resize(d.min(len) as usize, fresh);
                    return false;
                }
                self.fine_from(old);
            }
        }
        true
    }

    /// Goes to FINE from states that are those of the first `len` elements.
    fn fine_from(&mut self, len: u64) {
        self.make_fine();
        if let Some((_, base)) = &mut self.base {
            *base = (*base).min(len);
        }
    }

    /// Goes to a mode that refines the present one.
    fn convert(&mut self, next: Mode) {
        let states = (0..next.classes(self.len))
            .map(|class| self.look(next.extent(class, self.len).first()).clone())
            .collect();
        self.replace(next, states);
    }

    fn replace(&mut self, mode: Mode, states: Vec<L>) {
        self.mode = mode;
        self.states = states;
        self.pages = Pages::default();
        self.base = None;
    }
}

/// The state that an element without a page has in FINE.
fn base_state<'a, L>(base: &Option<(Mode, u64)>, states: &'a [L], index: u64) -> &'a L {
    match base {
        Some((mode, len)) if index < *len => &states[mode.class(index) as usize],
        _ => &states[states.len() - 1],
    }
}

/// The mode with these cuts: BLOCK where they are even.
fn contiguous(cuts: &[u64], n: u64) -> Mode {
    let Some(&d) = cuts.first() else {
        return Mode::Coarse;
    };
    let even = (1..n.div_ceil(d)).map(|block| block * d).eq(cuts.iter().copied());
    if even {
        Mode::Block(d)
    } else {
        Mode::Split(cuts.into())
    }
}
