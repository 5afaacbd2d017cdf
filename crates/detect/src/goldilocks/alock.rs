//! The lock short-circuit (Goldilocks Figure 3, `alock`): two accesses under one lock are ordered by it.
//!
//! The paper's test is "the lock remembered with the last access is held now". That is right while locks exclude each
//! other. Ours has read locks, and traces in which the exclusion is not visible (cut off, or recorded out of order), so
//! a lock's sections are counted in *chains*: a chain ends as soon as an acquire or release does not fit.
//!
//! Why it is sound: let `a` be an access in a section of thread `u`, and `t` be in another section of the same chain, at
//! least one of the two exclusive. In a chain an exclusive section overlaps no other, so `u`'s ended before `t`'s began.
//! - `u`'s was exclusive: its release made the lock's writers token equal to `u`, so the token was in `a`'s lockset. It
//!   leaves only when a later exclusive section of the chain ends without its thread being in the lockset, but that
//!   thread had acquired the token. So `t`'s acquire, of either mode, added `t`.
//! - `u`'s was shared, so `t`'s is exclusive: `u`'s release added the readers token. It leaves only with the end of an
//!   exclusive section in between, whose thread had acquired it and passed it on through the writers token. `t`'s
//!   acquire takes both tokens.
//!
//! A release of a lock that is not held would replace the token outside of the chain, so it ends the chain.

use deadheat_event::Mode;

/// A section that a thread is in or, remembered with an access, was in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    object: u32,
    chain: u32,
    shared: bool,
}

impl Section {
    /// Whether an access in `self` is ordered with one in `other`, a section of another thread.
    #[inline]
    fn excludes(self, other: Section) -> bool {
        (self.object, self.chain) == (other.object, other.chain) && !(self.shared && other.shared)
    }
}

/// Whether a lock's sections have excluded each other so far.
#[derive(Debug, Default)]
pub struct Chain {
    number: u32,
    /// The thread in an exclusive section.
    holder: Option<u32>,
    /// How many threads are in shared sections.
    sharing: u32,
}

impl Chain {
    /// What comes from now on is not known to be ordered by what came before.
    fn cut(&mut self) {
        *self = Chain {
            number: self.number.wrapping_add(1),
            ..Chain::default()
        };
    }

    fn acquire(&mut self, thread: u32, mode: Mode) {
        if self.holder.is_some() || (mode == Mode::Exclusive && self.sharing > 0) {
            self.cut();
        }
        match mode {
            Mode::Exclusive => self.holder = Some(thread),
            Mode::Shared => self.sharing = self.sharing.saturating_add(1),
        }
    }

    fn release(&mut self, thread: u32, mode: Mode, of_this_chain: bool) {
        match mode {
            Mode::Exclusive if of_this_chain && self.holder == Some(thread) => self.holder = None,
            Mode::Exclusive => self.cut(),
            // A reader of an earlier chain only adds to what the lock knows.
            Mode::Shared if of_this_chain => self.sharing = self.sharing.saturating_sub(1),
            Mode::Shared => {}
        }
    }
}

/// The sections that a thread is in, outermost first.
#[derive(Debug, Default)]
pub struct Held(Vec<Section>);

impl Held {
    /// The thread takes a lock.
    pub fn acquire(&mut self, thread: u32, object: u32, chain: &mut Chain, mode: Mode) {
        chain.acquire(thread, mode);
        self.0.push(Section {
            object,
            chain: chain.number,
            shared: mode == Mode::Shared,
        });
    }

    /// The thread gives a lock back.
    pub fn release(&mut self, thread: u32, object: u32, chain: &mut Chain, mode: Mode) {
        let section = self
            .0
            .iter()
            .rposition(|section| section.object == object)
            .map(|i| self.0.remove(i));
        let of_this_chain =
            section.is_some_and(|s| s.chain == chain.number && s.shared == (mode == Mode::Shared));
        chain.release(thread, mode, of_this_chain);
    }

    /// A section of this thread that orders it after an access made in `alock`.
    #[inline]
    pub fn after(&self, alock: Option<Section>) -> Option<Section> {
        let alock = alock?;
        self.0.iter().copied().find(|held| held.excludes(alock))
    }

    /// One of the sections. Different `choice`s take turns, so that a lock which guards the location is found even if
    /// others are held each time (the paper picks at random).
    #[inline]
    pub fn pick(&self, choice: usize) -> Option<Section> {
        match self.0.len() {
            0 => None,
            len => Some(self.0[choice % len]),
        }
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Section>()
    }
}
