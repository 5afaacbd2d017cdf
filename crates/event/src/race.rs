//! A race as plain data. Renderers turn it into text, JSON or SARIF; nothing here knows how.

use crate::{AccessKind, Place, SiteId, SyncId, ThreadId};

/// Two accesses that nothing orders, or that no common lock protects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// What kind of finding this is.
    pub kind: RaceKind,
    /// The bytes or elements that both accesses touched.
    pub place: Place,
    /// The earlier access, where the detector remembers one.
    pub first: Option<Side>,
    /// The access at which the race was seen.
    pub second: Side,
    /// The number of the event at which it was seen, counted from 0.
    pub event: u64,
}

/// One of the two accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Who.
    pub thread: ThreadId,
    /// Read or write.
    pub access: AccessKind,
    /// Whether it was an atomic access.
    pub atomic: bool,
    /// Where in the program.
    pub site: SiteId,
    /// Locks held, where the driver knows them.
    pub locks: Vec<SyncId>,
}

/// What a finding claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RaceKind {
    /// Unordered by happens-before in this run: a data race.
    HappensBefore,
    /// No lock protected the place consistently: a violation of the locking discipline, which may or may not be a race.
    Discipline(Rank),
}

/// How likely a violation of the locking discipline is to be a race under another schedule (MultiRace §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rank {
    /// The detector keeps no happens-before information.
    Unranked,
    /// Long chains of synchronisation lie between the accesses: probably ordered in every run.
    Low,
    /// Some synchronisation lies between them.
    Medium,
    /// They are ordered by a single hand-over in this run, probably by luck.
    High,
}
