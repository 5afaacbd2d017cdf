//! The update list (Goldilocks Figure 3): rules noted down when threads synchronise, applied to a lockset only when it
//! is asked for.
//!
//! The paper gives each variable a position in the list. Here a location refers to a [`Frame`]: all accesses of one
//! thread between two of its releases. Only a rule that takes from the thread can make one of them known to anybody, and
//! none does within the frame, so all accesses of a frame have the same lockset at any time, and one position (and one
//! lockset, once evaluated) serves them all. Frames are counted references, so those that no location refers to any
//! more are found without a look at the locations, which belong to the driver.
//!
//! Deviations: an evaluated lockset is kept with the frame instead of thrown away, so that a frame walks over a cell at
//! most once however many of its locations are checked; a cell holds one rule instead of a thread and its action.
//!
//! Collection. Cells before the oldest position are dropped, as in the paper. That alone is not enough: one location
//! that is never accessed again would hold on to all cells of an endless trace. So when the list reaches its bound, the
//! locksets of frames that lag behind are evaluated up to the end of the list, and frames whose locksets are then equal
//! share one from there on: nothing that can still happen tells them apart. Tokens of threads and objects whose states
//! the driver has dropped are left out, since no rule can take from them any more.
//!
//! Invariants:
//! - Every position is between the first cell and the end of the list.
//! - A frame's lockset at its position is the one that Figure 1 gives for the frame's accesses there.
//! - After a collection the list is at most half as long as its bound, which is a constant or four times the number of
//!   frames in use, whichever is larger. So the list needs memory in proportion to the locations, not to the trace.
//! - Idle frames share their locksets: there are as many as are distinct, each at most one bit for each token.
//!
//! Cost: noting a rule down is O(1). A collection evaluates 64 lagging locksets at a time in one walk over the list, so
//! spread over the rules it costs one step each for every 64 distinct locksets that lag.

use super::lockset::Lockset;
use super::rules::{Names, Rule, Token};
use deadheat_event::Slot;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The list is not collected before it has this many cells.
const LEAST_BOUND: usize = 1 << 14;

/// Cells for each frame in use, at least, before the list is collected again: frames that are used every so often move
/// on by themselves, and need not be evaluated.
const CELLS_PER_FRAME: usize = 4;

/// All accesses of a thread between two of its releases.
#[derive(Debug)]
pub struct Frame {
    owner: u32,
    slot: Slot,
    known: RefCell<Known>,
}

/// Who knows a frame.
#[derive(Debug)]
enum Known {
    /// At this position, only its owner.
    ToOwner(u64),
    /// What was evaluated, perhaps for many frames.
    Evaluated(Rc<RefCell<Evaluated>>),
}

#[derive(Debug)]
struct Evaluated {
    position: u64,
    lockset: Lockset,
}

impl Frame {
    /// The number of the thread.
    #[inline]
    pub fn owner(&self) -> u32 {
        self.owner
    }

    /// The thread's slot.
    #[inline]
    pub fn slot(&self) -> Slot {
        self.slot
    }

    fn position(&self) -> u64 {
        match &*self.known.borrow() {
            Known::ToOwner(position) => *position,
            Known::Evaluated(evaluated) => evaluated.borrow().position,
        }
    }
}

/// The update list, and all frames.
#[derive(Debug)]
pub struct UpdateList {
    cells: VecDeque<Rule>,
    /// Position of the first cell.
    first: u64,
    /// All frames made since the last collection, and those that were in use then.
    frames: Vec<Rc<Frame>>,
    least_bound: usize,
    bound: usize,
    /// Steps of evaluations.
    rules_applied: u64,
    /// Locksets made.
    locksets_made: u64,
}

impl Default for UpdateList {
    fn default() -> UpdateList {
        UpdateList::with_bound(LEAST_BOUND)
    }
}

impl UpdateList {
    /// A list that is not collected before it has `least_bound` cells.
    pub fn with_bound(least_bound: usize) -> UpdateList {
        UpdateList {
            cells: VecDeque::new(),
            first: 0,
            frames: Vec::new(),
            least_bound,
            bound: least_bound,
            rules_applied: 0,
            locksets_made: 0,
        }
    }

    /// Notes a rule down.
    #[inline]
    pub fn push(&mut self, rule: Rule) {
        self.cells.push_back(rule);
    }

    /// Collects what is not needed any more, if it is time to. `names` tells which tokens are.
    #[inline]
    pub fn collect_if_full(&mut self, names: &mut Names) {
        if self.cells.len() >= self.bound || self.frames.len() >= self.bound {
            self.collect(names);
        }
    }

    /// A frame of a thread that begins now.
    pub fn frame(&mut self, owner: u32, slot: Slot) -> Rc<Frame> {
        let frame = Rc::new(Frame {
            owner,
            slot,
            known: RefCell::new(Known::ToOwner(self.end())),
        });
        self.frames.push(Rc::clone(&frame));
        frame
    }

    /// Whether the frame is known to a thread, by what has been evaluated already.
    #[inline]
    pub fn is_known_to(&self, frame: &Frame, thread: u32) -> bool {
        match &*frame.known.borrow() {
            Known::ToOwner(_) => frame.owner == thread,
            Known::Evaluated(evaluated) => evaluated.borrow().lockset.contains(Token::Thread(thread)),
        }
    }

    /// Whether the frame happens before what the thread does now. Evaluates the frame's lockset as far as needed.
    pub fn happens_before(&mut self, frame: &Frame, thread: u32) -> bool {
        let mut known = frame.known.borrow_mut();
        if let Known::ToOwner(position) = *known {
            if frame.owner == thread {
                return true;
            }
            if position == self.end() {
                return false;
            }
            self.locksets_made += 1;
            let lockset = Lockset::one(Token::Thread(frame.owner));
            *known = Known::Evaluated(Rc::new(RefCell::new(Evaluated { position, lockset })));
        }
        match &*known {
            Known::ToOwner(_) => false,
            Known::Evaluated(evaluated) => self.evaluate(&mut evaluated.borrow_mut(), Token::Thread(thread)),
        }
    }

    /// Applies the rules that have come since, until `sought` is in the lockset.
    fn evaluate(&mut self, evaluated: &mut Evaluated, sought: Token) -> bool {
        if evaluated.lockset.contains(sought) {
            return true;
        }
        let behind = (evaluated.position - self.first) as usize;
        for rule in self.cells.range(behind..) {
            self.rules_applied += 1;
            evaluated.position += 1;
            if evaluated.lockset.apply(*rule) == Some(sought) {
                return true;
            }
        }
        false
    }

    /// The position after the last cell.
    fn end(&self) -> u64 {
        self.first + self.cells.len() as u64
    }

    #[cold]
    fn collect(&mut self, names: &mut Names) {
        self.frames.retain(|frame| Rc::strong_count(frame) > 1);
        self.bound = self.least_bound.max(CELLS_PER_FRAME * self.frames.len());
        self.drop_passed_cells();
        if self.cells.len() > self.bound / 2 {
            names.sweep();
            self.advance_frames_before(self.end() - (self.bound / 2) as u64, names);
            self.drop_passed_cells();
        }
    }

    fn drop_passed_cells(&mut self) {
        let oldest = self.frames.iter().map(|frame| frame.position()).min();
        let passed = oldest.unwrap_or(self.end()) - self.first;
        self.cells.drain(..passed as usize);
        self.first += passed;
    }

    /// Evaluates the locksets of all frames before `position`, and lets equal ones be one.
    fn advance_frames_before(&mut self, position: u64, names: &Names) {
        let mut lagging = self.lagging(position);
        lagging.sort_unstable_by_key(|lagging| lagging.position);
        let end = self.end();
        let mut distinct: FxHashMap<Lockset, Rc<RefCell<Evaluated>>> = FxHashMap::default();
        for batch in lagging.chunks(u64::BITS as usize) {
            for (lagging, lockset) in batch.iter().zip(self.evaluate_batch(batch, names)) {
                let evaluated = match distinct.get(&lockset) {
                    Some(same) => Rc::clone(same),
                    None => {
                        self.locksets_made += 1;
                        let evaluated = Rc::new(RefCell::new(Evaluated {
                            position: end,
                            lockset: lockset.clone(),
                        }));
                        distinct.insert(lockset, Rc::clone(&evaluated));
                        evaluated
                    }
                };
                for frame in &lagging.frames {
                    *frame.known.borrow_mut() = Known::Evaluated(Rc::clone(&evaluated));
                }
            }
        }
    }

    /// The distinct locksets before a position, with their frames.
    fn lagging(&self, position: u64) -> Vec<Lagging> {
        let mut all: Vec<Lagging> = Vec::new();
        let mut shared: FxHashMap<*const RefCell<Evaluated>, usize> = FxHashMap::default();
        for frame in self.frames.iter().filter(|frame| frame.position() < position) {
            let (position, lockset) = match &*frame.known.borrow() {
                Known::ToOwner(position) => (*position, Lockset::one(Token::Thread(frame.owner))),
                Known::Evaluated(evaluated) => {
                    let known = shared.entry(Rc::as_ptr(evaluated)).or_insert(all.len());
                    if let Some(lagging) = all.get_mut(*known) {
                        lagging.frames.push(Rc::clone(frame));
                        continue;
                    }
                    let evaluated = evaluated.borrow();
                    (evaluated.position, evaluated.lockset.clone())
                }
            };
            all.push(Lagging {
                position,
                lockset,
                frames: vec![Rc::clone(frame)],
            });
        }
        all
    }

    /// The locksets of up to 64 frames, ascending by position, at the end of the list. One walk: each token has a mask
    /// of the locksets that it is in.
    fn evaluate_batch(&mut self, batch: &[Lagging], names: &Names) -> Vec<Lockset> {
        let mut masks: FxHashMap<Token, u64> = FxHashMap::default();
        let mut waiting = batch.iter().enumerate().peekable();
        let start = batch.first().map_or(self.end(), |lagging| lagging.position);
        for (position, rule) in (start..).zip(self.cells.range((start - self.first) as usize..)) {
            while let Some((i, lagging)) = waiting.next_if(|(_, lagging)| lagging.position <= position) {
                for token in lagging.lockset.iter() {
                    *masks.entry(token).or_default() |= 1 << i;
                }
            }
            self.rules_applied += 1;
            let moved = rule.from().and_then(|from| masks.get(&from).copied());
            match (*rule, moved) {
                (Rule::Add { to, .. }, Some(mask)) => *masks.entry(to).or_default() |= mask,
                (Rule::Add { .. }, None) => {}
                (Rule::Set { to, .. }, Some(mask)) => {
                    masks.insert(to, mask);
                }
                (Rule::Set { to, .. } | Rule::Clear { to }, _) => {
                    masks.remove(&to);
                }
            }
        }
        let mut tokens: Vec<(Token, u64)> = masks.into_iter().filter(|(t, _)| names.is_live(*t)).collect();
        tokens.sort_unstable();
        (0..batch.len())
            .map(|i| {
                let knows = tokens.iter().filter(|(_, mask)| mask >> i & 1 != 0);
                knows.map(|(token, _)| *token).collect()
            })
            .collect()
    }

    /// Steps of evaluations so far.
    pub fn rules_applied(&self) -> u64 {
        self.rules_applied
    }

    /// Locksets made so far.
    pub fn locksets_made(&self) -> u64 {
        self.locksets_made
    }

    /// What is held now.
    pub fn size(&self) -> Size {
        let mut size = Size {
            cells: self.cells.len(),
            frames: self.frames.len(),
            bytes: self.cells.capacity() * size_of::<Rule>()
                + self.frames.capacity() * size_of::<Rc<Frame>>()
                + self.frames.len() * size_of::<Frame>(),
            ..Size::default()
        };
        let mut seen = rustc_hash::FxHashSet::default();
        for frame in &self.frames {
            if let Known::Evaluated(evaluated) = &*frame.known.borrow()
                && seen.insert(Rc::as_ptr(evaluated))
            {
                size.locksets += 1;
                size.bytes += size_of::<Evaluated>() + evaluated.borrow().lockset.bytes();
            }
        }
        size
    }
}

/// Frames with one lockset, at one position.
struct Lagging {
    position: u64,
    lockset: Lockset,
    frames: Vec<Rc<Frame>>,
}

/// What an [`UpdateList`] holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Cells in the list.
    pub cells: usize,
    /// Frames, some of which may be in use no more.
    pub frames: usize,
    /// Distinct locksets.
    pub locksets: usize,
    /// Bytes of all that.
    pub bytes: usize,
}
