//! MultiRace's LockSet (§4): Eraser's refinement with `readers_lock`, time frames and barriers.
//!
//! Every location has a candidate set C(v), the locks that protected all accesses which count. A warning says that
//! C(v) became empty: no lock is held consistently. It is given once for a location.
//!
//! The state diagram (Figure 6 is a picture; this is §4.3's text). "Refine" is C(v) ← C(v) ∩ locks held, "or Empty"
//! means that the refined set is empty, which is also when a warning is given. *Barrier* is one that all threads
//! reached: see [`barriers`] for what that means when only some threads use it.
//!
//! | state        | access by the same thread | access by another thread | barrier                 |
//! |--------------|---------------------------|--------------------------|-------------------------|
//! | Virgin       | Initializing              | Initializing             | Virgin                  |
//! | Initializing | Initializing              | refine; Shared or Empty  | Clean; C(v) ← all locks |
//! | Shared       | refine; Shared or Empty   | refine; Shared or Empty  | Clean; C(v) ← all locks |
//! | Empty        | Empty                     | Empty                    | Clean; C(v) ← all locks |
//! | Clean        | refine; Exclusive         | refine; Exclusive        | Clean                   |
//! | Exclusive    | refine; Exclusive         | refine; Shared or Empty  | Clean; C(v) ← all locks |
//!
//! What the text leaves open or gets wrong, and what is done here:
//! - It lets only a *write* end Virgin. A read does here too: else a read before the first write would be forgotten,
//!   and with it the race between the two.
//! - "Only first accesses in a time frame" loses warnings together with Initializing: the owner's first access in its
//!   frame is not counted, and a second one in the same frame, after another thread has come along, would be skipped.
//!   Here an access is skipped only if no other thread was at the location in between. So the location itself can
//!   remember the frame, and no per-thread views are needed.
//! - A time frame ends with an unlock or on entering a barrier, as published. Other releases (fork, send, atomic
//!   stores, fences) do not end it: they take no lock away, so Claim 4 holds across them.
//! - A lock held by a reader protects reads only, as in Eraser. Claim 4 holds, as a frame has no unlock in it.
//! - Atomic accesses hold a token of their own, like the readers': atomics alone never give a warning, plain and
//!   atomic accesses mixed do unless a lock protects them or they are all reads ([`Tokens`]).
//! - Fork, join, messages, atomics' orderings, fences and calls into untraced code order nothing here, except that
//!   fork and join decide who is among "all threads".
//!
//! Guarantee (property-tested): where two accesses race by happens-before, and neither was made by the first thread
//! while Initializing, the location is warned about at the latest at the second access. Misses: races with an
//! initialising access; races of other schedules whose accesses held a common lock in this one. False alarms:
//! all that is ordered by other means than locks and barriers of all threads; data that is protected pairwise, but by
//! no common lock; plain and atomic accesses mixed by one thread only.

pub mod barriers;
pub mod held;
pub mod sets;
pub mod state;
#[cfg(test)]
mod tests;
pub mod trail;

pub use state::{Candidates, Location, State, Tokens};

use crate::clock::Epoch;
use crate::elements::element_wise;
use barriers::{Barriers, Member, Rounds};
use deadheat_event::{Access, AccessKind, Detector, Order, Prior, RaceKind, Rank, Slot, Stats, SyncOp};
use held::Held;
use sets::LockSets;
use state::{Accessor, Outcome};
use trail::Now;

/// The time frame that every thread starts with: slots are never used again here.
const FIRST: u64 = 1;

/// The LockSet detector.
#[derive(Debug, Default)]
pub struct LockSet {
    sets: LockSets,
    barriers: Barriers,
    stats: Stats,
}

impl LockSet {
    /// The sets of locks that have come up.
    pub fn sets(&self) -> &LockSets {
        &self.sets
    }
}

/// What is kept for a thread.
#[derive(Debug)]
pub struct Thread {
    /// Slot and time frame.
    epoch: Epoch,
    held: Held,
    member: Member,
}

impl Detector for LockSet {
    type Thread = Thread;
    type Sync = Rounds;
    type Location = Location;
    element_wise!();

    fn start(&mut self, slot: Slot, _predecessor: Option<&Thread>) -> Thread {
        Thread {
            epoch: Epoch::new(slot, FIRST),
            held: Held::default(),
            member: self.barriers.start(None),
        }
    }

    fn timestamp(&self, thread: &Thread) -> u64 {
        thread.epoch.time()
    }

    fn sync(&mut self, thread: &mut Thread, op: SyncOp, object: &mut Rounds) {
        thread.held.sync(op);
        self.barriers.sync(&mut thread.member, op, object);
        if matches!(op, SyncOp::Release(..) | SyncOp::Enter(_)) {
            thread.epoch = Epoch::new(thread.epoch.slot(), thread.epoch.time() + 1);
        }
    }

    fn fence(&mut self, _thread: &mut Thread, _order: Order) {}

    fn fork(&mut self, parent: &mut Thread, child: &mut Thread) {
        self.barriers.fork(&mut parent.member, &mut child.member);
    }

    fn join(&mut self, thread: &mut Thread, child: &mut Thread) {
        self.barriers.join(&mut thread.member, &child.member);
    }

    fn access(
        &mut self,
        thread: &mut Thread,
        location: &mut Location,
        access: &Access,
    ) -> Option<(RaceKind, Option<Prior>)> {
        self.barriers.access(&mut thread.member);
        let mut who = Accessor {
            now: Now {
                epoch: thread.epoch,
                born: FIRST,
            },
            member: &thread.member,
            held: &mut thread.held,
            generation: self.barriers.generation(),
        };
        match location.access(&mut who, access, &mut self.sets) {
            Outcome::Skipped => {
                match access.kind {
                    AccessKind::Read => self.stats.same_epoch_reads += 1,
                    AccessKind::Write => self.stats.same_epoch_writes += 1,
                }
                return None;
            }
            Outcome::Counted => self.stats.race_checks += 1,
            Outcome::Warning(prior) => {
                self.stats.race_checks += 1;
                return Some((RaceKind::Discipline(Rank::Unranked), prior));
            }
        }
        None
    }

    fn thread_stats(&self, thread: &Thread) -> Stats {
        Stats {
            bytes: thread.held.bytes() as u64,
            ..Stats::default()
        }
    }

    fn stats(&self) -> Stats {
        let mut stats = self.stats.clone();
        stats.merge(&self.sets.stats());
        stats.bytes += self.barriers.bytes() as u64;
        stats
    }
}
