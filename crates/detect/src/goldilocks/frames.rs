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
//! Cost: noting a rule down is O(1). Who knows a frame of a thread knows all earlier ones of that thread, so a collection
//! need not evaluate every lagging lockset: one walk over the list finds, for 64 threads at a time, the latest frame of
//! each that every token knows. (For the frames that lag, and only then, this is a vector clock.) Spread over the rules
//! it costs one step each for every 64 threads with frames that lag, however many locations there are.

use super::lockset::Lockset;
use super::rules::{Names, Rule, Token};
use deadheat_event::Slot;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The list is not collected before it has this many cells.
const LEAST_BOUND: usize = 1 << 14;

/// Cells for each frame in use, at least, before the list is collected again: frames that are used every so often move
/// on by themselves, and need not be evaluated.
const CELLS_PER_FRAME: usize = 4;

/// How many threads' frames are evaluated in one walk over the list.
const OWNERS_AT_ONCE: usize = 64;

/// All accesses of a thread between two of its releases.
#[derive(Debug)]
pub struct Frame {
    /// Ascends from 1.
    number: u64,
    owner: u32,
    slot: Slot,
    known: RefCell<Known>,
}

/// A frame is equal to itself alone.
impl PartialEq for Frame {
    fn eq(&self, other: &Frame) -> bool {
        self.number == other.number
    }
}

impl Eq for Frame {}

/// Who knows a frame.
#[derive(Clone, Debug)]
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

impl Known {
    fn position(&self) -> u64 {
        match self {
            Known::ToOwner(position) => *position,
            Known::Evaluated(evaluated) => evaluated.borrow().position,
        }
    }
}

impl Frame {
    /// The number of the frame. Whoever knows a frame knows those of the same thread with smaller numbers.
    #[inline]
    pub fn number(&self) -> u64 {
        self.number
    }

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
        self.known.borrow().position()
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
    frames_made: u64,
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
            frames_made: 0,
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
        self.frames_made += 1;
        let frame = Rc::new(Frame {
            number: self.frames_made,
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
        let lagging = self.frames.iter().filter(|frame| frame.position() < position);
        let mut lagging: Vec<Rc<Frame>> = lagging.cloned().collect();
        lagging.sort_unstable_by_key(|frame| (frame.owner, frame.number));
        let owners: Vec<&[Rc<Frame>]> = lagging.chunk_by(|a, b| a.owner == b.owner).collect();
        let mut distinct = Distinct {
            position: self.end(),
            locksets: FxHashMap::default(),
        };
        for batch in owners.chunks(OWNERS_AT_ONCE) {
            let mut knowers = self.evaluate_owners(batch);
            knowers.retain(|token, _| names.is_live(*token));
            for (column, frames) in batch.iter().enumerate() {
                distinct.share(frames, &knowers, column);
            }
        }
        self.locksets_made += distinct.locksets.len() as u64;
    }

    /// What every token knows at the end of the list: for each owner the largest number of its frames, 0 if none.
    fn evaluate_owners(&mut self, owners: &[&[Rc<Frame>]]) -> FxHashMap<Token, Vec<u64>> {
        let mut starts = starts(owners).into_iter().peekable();
        let first = starts.peek().map_or(self.end(), |start| start.known.position());
        let mut knowers: FxHashMap<Token, Vec<u64>> = FxHashMap::default();
        for (position, rule) in (first..).zip(self.cells.range((first - self.first) as usize..)) {
            while let Some(start) = starts.next_if(|start| start.known.position() <= position) {
                start.tokens(|token| {
                    let numbers = knowers.entry(token).or_insert_with(|| vec![0; owners.len()]);
                    numbers[start.column] = numbers[start.column].max(start.number);
                });
            }
            self.rules_applied += 1;
            match *rule {
                Rule::Add { to, from } | Rule::Set { to, from } if to == from => {}
                Rule::Add { to, from } => match knowers.get_disjoint_mut([&to, &from]) {
                    [_, None] => {}
                    [Some(to), Some(from)] => {
                        for (to, from) in to.iter_mut().zip(from) {
                            *to = (*to).max(*from);
                        }
                    }
                    [None, Some(from)] => {
                        let numbers = from.clone();
                        knowers.insert(to, numbers);
                    }
                },
                Rule::Set { to, from } => match knowers.get(&from).cloned() {
                    Some(numbers) => {
                        knowers.insert(to, numbers);
                    }
                    None => {
                        knowers.remove(&to);
                    }
                },
                Rule::Clear { to } => {
                    knowers.remove(&to);
                }
            }
        }
        knowers
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
        let mut seen = FxHashSet::default();
        for frame in &self.frames {
            if let Known::Evaluated(evaluated) = &*frame.known.borrow()
                && seen.insert(Rc::as_ptr(evaluated))
            {
                size.locksets += 1;
                size.tokens += evaluated.borrow().lockset.iter().count();
                size.bytes += size_of::<Evaluated>() + evaluated.borrow().lockset.bytes();
            }
        }
        size
    }
}

/// Where the evaluation of some frames of one owner starts.
struct Start {
    known: Known,
    owner: u32,
    column: usize,
    /// Of frames with the same lockset, the largest number.
    number: u64,
}

impl Start {
    /// Calls `visit` for each token of the lockset.
    fn tokens(&self, visit: impl FnMut(Token)) {
        match &self.known {
            Known::ToOwner(_) => std::iter::once(Token::Thread(self.owner)).for_each(visit),
            Known::Evaluated(evaluated) => evaluated.borrow().lockset.iter().for_each(visit),
        }
    }
}

/// The starts of all frames, ascending by position.
fn starts(owners: &[&[Rc<Frame>]]) -> Vec<Start> {
    let mut starts: Vec<Start> = Vec::new();
    for (column, frames) in owners.iter().enumerate() {
        let mut shared: FxHashMap<*const RefCell<Evaluated>, usize> = FxHashMap::default();
        for frame in *frames {
            let known = frame.known.borrow();
            if let Known::Evaluated(evaluated) = &*known {
                let place = *shared.entry(Rc::as_ptr(evaluated)).or_insert(starts.len());
                if let Some(start) = starts.get_mut(place) {
                    start.number = start.number.max(frame.number);
                    continue;
                }
            }
            starts.push(Start {
                known: known.clone(),
                owner: frame.owner,
                column,
                number: frame.number,
            });
        }
    }
    starts.sort_by_key(|start| start.known.position());
    starts
}

/// Locksets at one position, each once.
struct Distinct {
    position: u64,
    locksets: FxHashMap<Lockset, Rc<RefCell<Evaluated>>>,
}

impl Distinct {
    /// Gives an owner's frames, ascending by number, the locksets that follow from what the tokens know of them.
    fn share(&mut self, frames: &[Rc<Frame>], knowers: &FxHashMap<Token, Vec<u64>>, column: usize) {
        let mut tokens: Vec<(u64, Token)> = knowers
            .iter()
            .map(|(token, numbers)| (numbers[column], *token))
            .collect();
        tokens.sort_unstable();
        let mut lockset = Lockset::default();
        let mut evaluated = None;
        for frame in frames.iter().rev() {
            while let Some((_, token)) = tokens.pop_if(|(number, _)| *number >= frame.number) {
                lockset.insert(token);
                evaluated = None;
            }
            let evaluated = evaluated.get_or_insert_with(|| self.one(&lockset));
            *frame.known.borrow_mut() = Known::Evaluated(Rc::clone(evaluated));
        }
    }

    fn one(&mut self, lockset: &Lockset) -> Rc<RefCell<Evaluated>> {
        if let Some(same) = self.locksets.get(lockset) {
            return Rc::clone(same);
        }
        let evaluated = Rc::new(RefCell::new(Evaluated {
            position: self.position,
            lockset: lockset.clone(),
        }));
        self.locksets.insert(lockset.clone(), Rc::clone(&evaluated));
        evaluated
    }
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
    /// Tokens in them.
    pub tokens: usize,
    /// Bytes of all that.
    pub bytes: usize,
}
