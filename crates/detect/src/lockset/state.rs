//! A location's candidate set and the six states that guide it (MultiRace §4; see the [module's head](super)).

use super::barriers::Member;
use super::held::Held;
use super::sets::{LockSetId, LockSets};
use super::trail::{Now, Trail};
use crate::history::Class;
use deadheat_event::{Access, AccessKind, Prior};

/// Locks that nobody takes, but that certain accesses are taken to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens(u8);

impl Tokens {
    /// None.
    pub const NONE: Tokens = Tokens(0);
    /// MultiRace's `readers_lock`: held by every read, so reads alone never empty a candidate set.
    pub const READERS: Tokens = Tokens(1);
    /// The same for atomic accesses, none of which races with another.
    pub const ATOMICS: Tokens = Tokens(2);
    /// Both.
    pub const ALL: Tokens = Tokens(3);

    /// What an access holds. Two accesses that do not conflict have one in common; so have any number of accesses of
    /// which no two conflict, as they are all reads or all atomic.
    #[inline]
    pub fn of(class: Class) -> Tokens {
        let readers = u8::from(class.kind == AccessKind::Read) * Tokens::READERS.0;
        let atomics = u8::from(class.atomic) * Tokens::ATOMICS.0;
        Tokens(readers | atomics)
    }

    /// Those in both.
    #[inline]
    #[must_use]
    pub fn meet(self, other: Tokens) -> Tokens {
        Tokens(self.0 & other.0)
    }

    /// Whether all of these are in `other`.
    #[inline]
    pub fn within(self, other: Tokens) -> bool {
        self.meet(other) == self
    }
}

/// C(v): what has protected every access so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidates {
    locks: LockSetId,
    tokens: Tokens,
}

impl Candidates {
    /// Everything: nothing was accessed yet.
    pub const ALL: Candidates = Candidates {
        locks: LockSetId::ALL,
        tokens: Tokens::ALL,
    };

    /// Whether nothing is left that protects the location.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.locks == LockSetId::EMPTY && self.tokens == Tokens::NONE
    }

    /// Keeps what also protects the present access.
    #[inline]
    pub fn refine(&mut self, locks: LockSetId, tokens: Tokens, sets: &mut LockSets) {
        self.locks = sets.meet(self.locks, locks);
        self.tokens = self.tokens.meet(tokens);
    }

    /// The locks among them.
    pub fn locks(self) -> LockSetId {
        self.locks
    }
}

/// The states of §4.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Never accessed.
    Virgin,
    /// Accessed by one thread only, and no barrier since: not yet counted.
    Initializing,
    /// Accessed by several threads.
    Shared,
    /// Accessed by several threads, and nothing protects it.
    Empty,
    /// Not accessed since all threads reached a barrier.
    Clean,
    /// Accessed by one thread only since then.
    Exclusive,
}

/// What LockSet keeps for a location.
#[derive(Clone, Debug)]
pub struct Location {
    trail: Trail,
    candidates: LockSetId,
    /// The generation in which it was last accessed.
    seen: u32,
    /// The generation whose begin made it Clean; what was before is forgotten.
    since: u32,
    tokens: Tokens,
    /// What the accesses counted by `trail.last()` held in common: later ones that hold as much add nothing.
    covered: Tokens,
    state: State,
    warned: bool,
}

const _: () = assert!(size_of::<Location>() == 48);

impl Default for Location {
    fn default() -> Self {
        Location {
            trail: Trail::default(),
            candidates: LockSetId::ALL,
            seen: 0,
            since: 0,
            tokens: Tokens::ALL,
            covered: Tokens::ALL,
            state: State::Virgin,
            warned: false,
        }
    }
}

/// The thread that makes an access.
pub struct Accessor<'a> {
    /// Its slot and time frame.
    pub now: Now,
    /// Its barriers.
    pub member: &'a Member,
    /// Its locks.
    pub held: &'a mut Held,
    /// The present generation of barriers.
    pub generation: u32,
}

/// What came of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Not the first of its kind in the time frame: nothing was done.
    Skipped,
    /// Counted, if the state asks for it.
    Counted,
    /// It left the location without protection, for the first time.
    Warning(Option<Prior>),
}

impl Location {
    /// The state as of the last access; barriers since then are not seen yet.
    pub fn state(&self) -> State {
        self.state
    }

    /// C(v) as of the last access.
    #[inline]
    pub fn candidates(&self) -> Candidates {
        Candidates {
            locks: self.candidates,
            tokens: self.tokens,
        }
    }

    /// No warning will be given any more: somebody else has reported the location.
    pub fn silence(&mut self) {
        self.warned = true;
    }

    /// Whether something protects the location: then the last access cannot race with any that counted. Those that were
    /// forgotten at a barrier are ordered before it, too: either its thread passed the barrier, or it shares an exclusive
    /// lock with one that did (see `count`).
    #[inline]
    pub fn is_protected(&self) -> bool {
        !self.candidates().is_empty()
    }

    /// Takes an access.
    #[inline]
    pub fn access(&mut self, who: &mut Accessor<'_>, access: &Access, sets: &mut LockSets) -> Outcome {
        let class = Class::of(access);
        let tokens = Tokens::of(class);
        let barrier = who.member.generation() > self.seen;
        self.seen = who.generation;
        if barrier {
            self.clean(who.member.generation());
        } else if self.trail.last() == who.now.epoch && self.covered.within(tokens) {
            return Outcome::Skipped;
        }
        self.count(who, class, access, sets)
    }

    /// A barrier was reached by all threads.
    fn clean(&mut self, generation: u32) {
        if self.state != State::Virgin {
            self.state = State::Clean;
            self.set(Candidates::ALL);
            self.since = generation;
            self.covered = Tokens::ALL;
        }
    }

    fn count(
        &mut self,
        who: &mut Accessor<'_>,
        class: Class,
        access: &Access,
        sets: &mut LockSets,
    ) -> Outcome {
        let (locks, tokens) = if who.member.is_outside(self.since) {
            // Nothing orders this thread behind what was forgotten. An exclusive lock shared with all that came since
            // would; a token or a reader's lock would not.
            (who.held.protecting(AccessKind::Write, sets), Tokens::NONE)
        } else {
            (who.held.protecting(class.kind, sets), Tokens::of(class))
        };
        let same_thread = who.now.is_own(self.trail.last());
        let mut candidates = self.candidates();
        let next = match self.state {
            State::Virgin => State::Initializing,
            State::Initializing if same_thread => State::Initializing,
            State::Empty => State::Empty,
            State::Clean => {
                candidates.refine(locks, tokens, sets);
                State::Exclusive
            }
            State::Exclusive if same_thread => {
                candidates.refine(locks, tokens, sets);
                State::Exclusive
            }
            State::Initializing | State::Exclusive | State::Shared => {
                candidates.refine(locks, tokens, sets);
                if candidates.is_empty() {
                    State::Empty
                } else {
                    State::Shared
                }
            }
        };
        self.set(candidates);
        self.state = next;
        let warn = next == State::Empty && !self.warned;
        self.warned |= warn;
        let prior = if warn {
            self.trail.prior(who.now, class)
        } else {
            None
        };
        self.covered = if self.trail.last() == who.now.epoch {
            self.covered.meet(tokens)
        } else {
            tokens
        };
        self.trail.record(who.now, class, access.site);
        if warn {
            Outcome::Warning(prior)
        } else {
            Outcome::Counted
        }
    }

    fn set(&mut self, candidates: Candidates) {
        self.candidates = candidates.locks;
        self.tokens = candidates.tokens;
    }
}
