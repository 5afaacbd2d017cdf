//! MultiRace (§5): DJIT+ and LockSet on one log of accesses.
//!
//! - Confirmed races are DJIT+'s, [`RaceKind::HappensBefore`]. What only LockSet objects to is
//!   [`RaceKind::Discipline`], with a rank from happens-before: see [`rank`]. A location whose race is confirmed gets
//!   no discipline warning after it; a race that is confirmed after a warning is still reported.
//! - LockSet spares DJIT+ checks: an access that leaves C(v) non-empty is logged but not checked against the history.
//!
//! Deviations, without which sparing would lose races (each has a counterexample among the tests):
//! - §5 says that such an access cannot race with earlier ones. That does not hold for what the first thread did in
//!   the Initializing state, as it was never counted in C(v). So the location remembers when that was, and an access
//!   is spared only if it is ordered behind it: one comparison instead of the history.
//! - For a thread that has not passed the barrier at which C(v) started anew, only exclusive locks count, and no token:
//!   what was before that barrier is not ordered before the thread ([`barriers`](crate::lockset::barriers)).
//! - `readers_lock` and the atomics' token never lose a race: accesses that have one in common do not conflict.
//!
//! LockSet decides by itself what it skips as not the first access in a time frame (a frame ends here with every
//! release of happens-before), because DJIT+'s rule would skip too much for it: see [`lockset`].
//!
//! Guarantee: the confirmed races are exactly DJIT+'s, access by access, on well-formed traces (property-tested). The
//! discipline warnings are LockSet's, without those at locations that are known to race.

pub mod rank;

use crate::clock::Epoch;
use crate::djit;
use crate::elements::element_wise;
use crate::hb::{self, HbSync, HbThread};
use crate::history::Class;
use crate::lockset;
use crate::lockset::State;
use crate::lockset::barriers::{Barriers, Member, Rounds};
use crate::lockset::held::Held;
use crate::lockset::sets::LockSets;
use crate::lockset::state::{Accessor, Outcome};
use crate::lockset::trail::Now;
use deadheat_event::{Access, AccessKind, Detector, Order, Prior, RaceKind, Rank, Slot, Stats, SyncOp};
use rank::{Firm, FirmSync};

/// The MultiRace detector.
#[derive(Debug, Default)]
pub struct MultiRace {
    sets: LockSets,
    barriers: Barriers,
    stats: Stats,
    spared: u64,
}

impl MultiRace {
    /// First accesses in a time frame whose check against the history LockSet made unnecessary.
    pub fn spared(&self) -> u64 {
        self.spared
    }
}

/// What is kept for a thread.
#[derive(Debug)]
pub struct Thread {
    hb: HbThread,
    /// Its first time in the slot.
    born: u64,
    firm: Firm,
    held: Held,
    member: Member,
}

impl Thread {
    fn now(&self) -> Now {
        Now {
            epoch: self.hb.epoch(),
            born: self.born,
        }
    }
}

/// What is kept for a lock, barrier, channel, atomic or object.
#[derive(Debug, Default)]
pub struct Sync {
    hb: HbSync,
    firm: FirmSync,
    rounds: Rounds,
}

/// What is kept for a location: the log of both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    history: djit::Location,
    lockset: lockset::Location,
    /// The last access of the first thread while the location was Initializing.
    initialised: Epoch,
}

impl MultiRace {
    /// DJIT+'s part: logs the access and checks it, unless LockSet has shown that there is nothing to find.
    fn check(
        &mut self,
        thread: &Thread,
        location: &mut Location,
        class: Class,
        access: &Access,
    ) -> Option<Prior> {
        if !location.history.is_first(&thread.hb, class) {
            match class.kind {
                AccessKind::Read => self.stats.same_epoch_reads += 1,
                AccessKind::Write => self.stats.same_epoch_writes += 1,
            }
            return None;
        }
        let spared = location.lockset.is_protected() && thread.hb.knows(location.initialised);
        let race = if spared {
            self.spared += 1;
            None
        } else {
            self.stats.race_checks += 1;
            location.history.check(&thread.hb, class)
        };
        location.history.log(&thread.hb, class, access);
        race
    }
}

/// The earlier access that makes a warning most alarming, and how alarming. `last` stands in if none conflicts.
fn ranked(
    thread: &Thread,
    location: &Location,
    class: Class,
    last: Option<Prior>,
) -> (RaceKind, Option<Prior>) {
    let rank = |prior: &Prior| rank::rank(&thread.hb, &thread.firm, prior);
    let prior = location
        .history
        .conflicting(class)
        .filter(|prior| !thread.now().is_own(Epoch::new(prior.slot, prior.timestamp)))
        .max_by_key(rank)
        .or(last);
    (
        RaceKind::Discipline(prior.as_ref().map_or(Rank::Low, rank)),
        prior,
    )
}

impl Detector for MultiRace {
    type Thread = Thread;
    type Sync = Sync;
    type Location = Location;
    element_wise!();

    fn start(&mut self, slot: Slot, predecessor: Option<&Thread>) -> Thread {
        let hb = HbThread::new(slot, predecessor.map(|ended| &ended.hb));
        Thread {
            born: hb.time(),
            hb,
            firm: Firm::default(),
            held: Held::default(),
            member: self.barriers.start(predecessor.map(|ended| &ended.member)),
        }
    }

    fn can_follow(&self, ended: &Thread, parent: &Thread) -> bool {
        hb::can_follow(&ended.hb, &parent.hb)
    }

    fn timestamp(&self, thread: &Thread) -> u64 {
        thread.hb.time()
    }

    fn sync(&mut self, thread: &mut Thread, op: SyncOp, object: &mut Sync) {
        thread.firm.sync(&thread.hb, op, &mut object.firm);
        hb::sync(&mut thread.hb, op, &mut object.hb);
        thread.held.sync(op);
        self.barriers.sync(&mut thread.member, op, &mut object.rounds);
    }

    fn fence(&mut self, thread: &mut Thread, order: Order) {
        hb::fence(&mut thread.hb, order);
    }

    fn fork(&mut self, parent: &mut Thread, child: &mut Thread) {
        child.firm.learn(&parent.firm, &parent.hb);
        hb::fork(&mut parent.hb, &mut child.hb);
        self.barriers.fork(&mut parent.member, &mut child.member);
    }

    fn join(&mut self, thread: &mut Thread, child: &mut Thread) {
        thread.firm.learn(&child.firm, &child.hb);
        hb::join(&mut thread.hb, &child.hb);
        self.barriers.join(&mut thread.member, &child.member);
    }

    fn access(
        &mut self,
        thread: &mut Thread,
        location: &mut Location,
        access: &Access,
    ) -> Option<(RaceKind, Option<Prior>)> {
        self.barriers.access(&mut thread.member);
        let class = Class::of(access);
        let mut who = Accessor {
            now: thread.now(),
            member: &thread.member,
            held: &mut thread.held,
            generation: self.barriers.generation(),
        };
        let outcome = location.lockset.access(&mut who, access, &mut self.sets);
        if location.lockset.state() == State::Initializing {
            location.initialised = thread.hb.epoch();
        }
        if let Some(prior) = self.check(thread, location, class, access) {
            location.lockset.silence();
            return Some((RaceKind::HappensBefore, Some(prior)));
        }
        match outcome {
            Outcome::Warning(last) => Some(ranked(thread, location, class, last)),
            Outcome::Counted | Outcome::Skipped => None,
        }
    }

    fn location_bytes(&self, location: &Location) -> usize {
        location.history.bytes()
    }

    fn thread_stats(&self, thread: &Thread) -> Stats {
        let mut stats = thread.hb.stats();
        stats.bytes += (thread.held.bytes() + thread.firm.bytes()) as u64;
        stats
    }

    fn sync_bytes(&self, object: &Sync) -> usize {
        object.hb.bytes() + object.firm.bytes()
    }

    fn stats(&self) -> Stats {
        let mut stats = self.stats.clone();
        stats.merge(&self.sets.stats());
        stats.bytes += self.barriers.bytes() as u64;
        stats
    }
}
