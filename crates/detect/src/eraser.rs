//! The basic lockset algorithm: Eraser (Savage, Burrows, Nelson, Sobalvarro, Anderson, TOCS 1997, §2), which
//! MultiRace §4.1 starts from.
//!
//! A location's candidate set C(v) holds the locks that protected all accesses which count. States:
//!
//! | state           | access by the first thread  | by another: read           | by another: write             |
//! |-----------------|-----------------------------|----------------------------|-------------------------------|
//! | Virgin          | Exclusive                   |                            |                               |
//! | Exclusive       | Exclusive                   | refine; Shared             | refine; Shared-Modified, warn |
//! | Shared          | as another's                | refine; Shared             | refine; Shared-Modified, warn |
//! | Shared-Modified | as another's                | refine; warn               | refine; warn                  |
//!
//! "Warn" is when C(v) is empty then, once for a location. Read-write locks (§2.3): a write is protected only by
//! locks held exclusively, a read by all that are held.
//!
//! Beyond the paper: two atomic accesses do not need a lock. Every atomic access is taken to hold a lock that only
//! atomic accesses hold, so they alone never give a warning, and mixed with plain ones they do. All other
//! synchronisation (fork, join, barriers, messages, fences, calls into untraced code) orders nothing.
//!
//! Misses: races with what the first thread did before a second one came along, all of them if the others only read
//! (Exclusive to Shared does not warn, so a value published without a lock goes unnoticed); races of other schedules
//! that a lock held in this run hides. False alarms: data that is handed over by fork, join, barrier, message or flag;
//! memory that is used again without an allocation event; data that two locks protect in turn; plain and atomic accesses
//! mixed by one thread only.

use crate::clock::Epoch;
use crate::elements::element_wise;
use crate::history::Class;
use crate::lockset::held::Held;
use crate::lockset::sets::{LockSetId, LockSets};
use crate::lockset::trail::{Now, Trail};
use crate::lockset::{Candidates, Tokens};
use deadheat_event::{Access, AccessKind, Detector, Order, Prior, RaceKind, Rank, Slot, Stats, SyncOp};

/// The Eraser detector.
#[derive(Debug, Default)]
pub struct Eraser {
    sets: LockSets,
    race_checks: u64,
}

impl Eraser {
    /// The sets of locks that have come up.
    pub fn sets(&self) -> &LockSets {
        &self.sets
    }
}

/// What is kept for a thread.
#[derive(Debug)]
pub struct Thread {
    /// The time is always the same.
    now: Now,
    held: Held,
}

/// The states of the paper's Figure 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Never accessed.
    #[default]
    Virgin,
    /// Accessed by one thread.
    Exclusive,
    /// Only read since a second thread came along.
    Shared,
    /// Written since a second thread came along.
    SharedModified,
}

/// What is kept for a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    trail: Trail,
    candidates: Candidates,
    state: State,
    warned: bool,
}

const _: () = assert!(size_of::<Location>() <= 48);

impl Default for Location {
    fn default() -> Self {
        Location {
            trail: Trail::default(),
            candidates: Candidates::ALL,
            state: State::Virgin,
            warned: false,
        }
    }
}

impl Location {
    /// The present state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The present C(v), without the atomics' lock.
    pub fn locks(&self) -> LockSetId {
        self.candidates.locks()
    }
}

impl Detector for Eraser {
    type Thread = Thread;
    type Sync = ();
    type Location = Location;
    element_wise!();

    fn start(&mut self, slot: Slot, _predecessor: Option<&Thread>) -> Thread {
        Thread {
            now: Now {
                epoch: Epoch::new(slot, 1),
                born: 1,
            },
            held: Held::default(),
        }
    }

    fn timestamp(&self, thread: &Thread) -> u64 {
        thread.now.epoch.time()
    }

    fn sync(&mut self, thread: &mut Thread, op: SyncOp, (): &mut ()) {
        thread.held.sync(op);
    }

    fn fence(&mut self, _thread: &mut Thread, _order: Order) {}

    fn fork(&mut self, _parent: &mut Thread, _child: &mut Thread) {}

    fn join(&mut self, _thread: &mut Thread, _child: &mut Thread) {}

    fn access(
        &mut self,
        thread: &mut Thread,
        location: &mut Location,
        access: &Access,
    ) -> Option<(RaceKind, Option<Prior>)> {
        self.race_checks += 1;
        let class = Class::of(access);
        let first_thread = thread.now.is_own(location.trail.last());
        let next = match (location.state, access.kind) {
            (State::Virgin, _) => State::Exclusive,
            (State::Exclusive, _) if first_thread => State::Exclusive,
            (State::SharedModified, _) | (_, AccessKind::Write) => State::SharedModified,
            (State::Exclusive | State::Shared, AccessKind::Read) => State::Shared,
        };
        location.state = next;
        let mut warning = None;
        if next != State::Exclusive {
            let locks = thread.held.protecting(access.kind, &mut self.sets);
            // The paper has states instead of a readers' lock.
            let tokens = Tokens::of(class).meet(Tokens::ATOMICS);
            location.candidates.refine(locks, tokens, &mut self.sets);
            if next == State::SharedModified && location.candidates.is_empty() && !location.warned {
                location.warned = true;
                warning = Some(location.trail.prior(thread.now, class));
            }
        }
        location.trail.record(thread.now, class, access.site);
        warning.map(|prior| (RaceKind::Discipline(Rank::Unranked), prior))
    }

    fn thread_stats(&self, thread: &Thread) -> Stats {
        Stats {
            bytes: thread.held.bytes() as u64,
            ..Stats::default()
        }
    }

    fn stats(&self) -> Stats {
        Stats {
            race_checks: self.race_checks,
            ..self.sets.stats()
        }
    }
}
