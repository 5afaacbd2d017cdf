//! Detectors that detect nothing, to measure the others from.
//!
//! [`Empty`] keeps nothing and checks nothing: what a run with it costs is the cost of the framework (decoding, thread
//! and lock look-up, shadow look-up). [`Count`] counts what reaches a detector, by kind and thread.
//!
//! # Who fills which of [`Stats`]' counters
//!
//! | counters | by |
//! |---|---|
//! | `events`, `reads`, `writes`, `elements`, `locks`, `atomics`, `threads`, `others` | the driver: what the trace holds |
//! | `filtered` | the driver: accesses that [`Detector::admit`] refused |
//! | `same_epoch_reads`, `same_epoch_writes`, `race_checks` | the detector; together the states that accesses met |
//! | `short_circuits` | Goldilocks: orderings shown without a lockset |
//! | `clock_ops`, `clock_allocs` | the detector: whole vector clocks, or locksets |
//! | `shadow_states`, `bytes` | the driver, which walks its states; layers and detectors add what they own |
//! | `shadow_states_peak`, `commits`, `mode_changes` | the array compression |

use deadheat_event::{
    Access, AccessKind, ArrayId, Detector, Indices, Order, Place, Prior, RaceKind, Races, Slot, Stats, SyncOp,
};

/// Does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Empty;

impl Detector for Empty {
    type Thread = ();
    type Sync = ();
    type Location = ();
    type Array = ();

    fn start(&mut self, _: Slot, _: Option<&()>) {}

    fn sync(&mut self, (): &mut (), _: SyncOp, (): &mut ()) {}

    fn fence(&mut self, (): &mut (), _: Order) {}

    fn fork(&mut self, (): &mut (), (): &mut ()) {}

    fn join(&mut self, (): &mut (), (): &mut ()) {}

    #[inline]
    fn access(&mut self, (): &mut (), (): &mut (), _: &Access) -> Option<(RaceKind, Option<Prior>)> {
        None
    }

    fn array(&mut self, (): &mut (), _: ArrayId, (): &mut (), _: Indices, _: &Access, _: &mut dyn Races) {}

    fn array_size(&self, (): &()) -> (usize, usize) {
        (0, 0)
    }

    fn stats(&self) -> Stats {
        Stats::default()
    }
}

/// What reached the detector from the threads of one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Plain reads.
    pub reads: u64,
    /// Plain writes.
    pub writes: u64,
    /// Atomic loads.
    pub atomic_reads: u64,
    /// Atomic stores and read-modify-writes.
    pub atomic_writes: u64,
    /// Array elements that the reads and writes named.
    pub elements: u64,
    /// Outermost lock acquires.
    pub acquires: u64,
    /// Outermost lock releases.
    pub releases: u64,
    /// Synchronisations by atomics: a read-modify-write counts twice.
    pub atomics: u64,
    /// Fences.
    pub fences: u64,
    /// Barriers entered and left, sends, receives, calls out and touches of what they reach.
    pub messages: u64,
    /// Threads created.
    pub forks: u64,
    /// Threads waited for.
    pub joins: u64,
}

/// Counts and finds nothing. Its [`Stats`] hold what a detector without any shortcut would do: a race check for each
/// state that an access meets (an array element is one), and a clock operation for each synchronisation.
#[derive(Clone, Debug, Default)]
pub struct Count {
    threads: Vec<Counts>,
    race_checks: u64,
    clock_ops: u64,
}

impl Count {
    /// The counts by slot.
    pub fn threads(&self) -> &[Counts] {
        &self.threads
    }

    #[inline]
    fn of(&mut self, slot: Slot) -> &mut Counts {
        &mut self.threads[slot.index()]
    }
}

impl Detector for Count {
    type Thread = Slot;
    type Sync = ();
    type Location = ();
    type Array = ();

    fn start(&mut self, slot: Slot, _: Option<&Slot>) -> Slot {
        if slot.index() >= self.threads.len() {
            self.threads.resize(slot.index() + 1, Counts::default());
        }
        slot
    }

    fn sync(&mut self, thread: &mut Slot, op: SyncOp, (): &mut ()) {
        self.clock_ops += 1;
        let counts = self.of(*thread);
        match op {
            SyncOp::Acquire(..) => counts.acquires += 1,
            SyncOp::Release(..) => counts.releases += 1,
            SyncOp::Load(_) | SyncOp::Store(_) | SyncOp::Update(_) => counts.atomics += 1,
            SyncOp::Enter(_)
            | SyncOp::Leave(_)
            | SyncOp::Send(_)
            | SyncOp::Receive(_)
            | SyncOp::Call(..)
            | SyncOp::Touch(_) => counts.messages += 1,
        }
    }

    fn fence(&mut self, thread: &mut Slot, _: Order) {
        self.clock_ops += 1;
        self.of(*thread).fences += 1;
    }

    fn fork(&mut self, parent: &mut Slot, _: &mut Slot) {
        self.clock_ops += 1;
        self.of(*parent).forks += 1;
    }

    fn join(&mut self, thread: &mut Slot, _: &mut Slot) {
        self.clock_ops += 1;
        self.of(*thread).joins += 1;
    }

    #[inline]
    fn admit(&mut self, thread: &mut Slot, access: &Access) -> bool {
        let counts = self.of(*thread);
        *match (access.kind, access.atomic) {
            (AccessKind::Read, false) => &mut counts.reads,
            (AccessKind::Write, false) => &mut counts.writes,
            (AccessKind::Read, true) => &mut counts.atomic_reads,
            (AccessKind::Write, true) => &mut counts.atomic_writes,
        } += 1;
        if let Place::Array { indices, .. } = access.place {
            counts.elements += indices.len();
        }
        true
    }

    #[inline]
    fn access(&mut self, _: &mut Slot, (): &mut (), _: &Access) -> Option<(RaceKind, Option<Prior>)> {
        self.race_checks += 1;
        None
    }

    fn array(
        &mut self,
        _: &mut Slot,
        _: ArrayId,
        (): &mut (),
        indices: Indices,
        _: &Access,
        _: &mut dyn Races,
    ) {
        self.race_checks += indices.len();
    }

    fn array_size(&self, (): &()) -> (usize, usize) {
        (0, 0)
    }

    fn stats(&self) -> Stats {
        Stats {
            race_checks: self.race_checks,
            clock_ops: self.clock_ops,
            bytes: (self.threads.capacity() * size_of::<Counts>()) as u64,
            ..Stats::default()
        }
    }
}
