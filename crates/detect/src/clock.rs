//! Vector clocks and epochs.
//!
//! A thread's *time* is a counter that it raises at every release; a vector clock says how much of every thread's past
//! is known; an epoch is one thread's time in one word (FastTrack). The flat representation was chosen by measurement
//! against sparse and tree clocks: see `docs/benchmarks.md`.

use deadheat_event::Slot;
use std::sync::Arc;

/// How much of each thread's past is known: time by slot. Slots beyond the end are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VectorClock {
    times: Vec<u64>,
}

impl VectorClock {
    /// The known time of a slot.
    #[inline]
    pub fn get(&self, slot: Slot) -> u64 {
        self.times.get(slot.index()).copied().unwrap_or(0)
    }

    /// Sets the time of a slot.
    #[inline]
    pub fn set(&mut self, slot: Slot, time: u64) {
        let index = slot.index();
        if index >= self.times.len() {
            self.times.resize(index + 1, 0);
        }
        self.times[index] = time;
    }

    /// Raises the time of a slot to at least `time`.
    #[inline]
    pub fn raise(&mut self, slot: Slot, time: u64) {
        if self.get(slot) < time {
            self.set(slot, time);
        }
    }

    /// Takes the larger time of each slot (⊔).
    pub fn join(&mut self, other: &VectorClock) {
        if other.times.len() > self.times.len() {
            self.times.resize(other.times.len(), 0);
        }
        for (mine, theirs) in self.times.iter_mut().zip(&other.times) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Whether every time here is known to `other` (⊑).
    pub fn le(&self, other: &VectorClock) -> bool {
        self.times
            .iter()
            .enumerate()
            .all(|(i, time)| *time <= other.times.get(i).copied().unwrap_or(0))
    }

    /// Slots with a time above 0.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, u64)> {
        self.times
            .iter()
            .enumerate()
            .filter(|(_, time)| **time > 0)
            .map(|(i, time)| (Slot(i as u32), *time))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.times.clear();
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        self.times.capacity() * size_of::<u64>()
    }
}

/// A thread and its time in one word: 24 bits of slot, 40 bits of time. The zero word is "never".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Epoch(u64);

const TIME_BITS: u32 = 40;
/// The largest slot that an epoch can name.
pub const MAX_SLOT: u32 = (1 << (64 - TIME_BITS)) - 1;

impl Epoch {
    /// No access yet: before everything.
    pub const NEVER: Epoch = Epoch(0);

    /// The epoch of a slot at a time. Times start at 1 and stay below 2^40.
    #[inline]
    pub fn new(slot: Slot, time: u64) -> Epoch {
        debug_assert!(slot.0 <= MAX_SLOT && time > 0 && time < 1 << TIME_BITS);
        Epoch(u64::from(slot.0) << TIME_BITS | time)
    }

    /// The thread.
    #[inline]
    pub fn slot(self) -> Slot {
        Slot((self.0 >> TIME_BITS) as u32)
    }

    /// The time, 0 for [`Epoch::NEVER`].
    #[inline]
    pub fn time(self) -> u64 {
        self.0 & ((1 << TIME_BITS) - 1)
    }
}

/// What a thread released: its clock at one moment, shared rather than copied.
///
/// A release is far more frequent than an acquire that learns something, so it only takes a reference to the thread's
/// clock; the thread copies its clock when it next learns something while the reference is out.
#[derive(Clone, Debug, Default)]
pub enum Snapshot {
    /// Nothing.
    #[default]
    Empty,
    /// All that thread `slot` knew at its time `time`. Whoever knows `time` of `slot` knows the rest too, because
    /// nobody learns a thread's time but from a snapshot of that thread at that time or later.
    Of {
        /// What it knew of the others (its own entry may be old).
        known: Arc<VectorClock>,
        /// Whose.
        slot: Slot,
        /// When.
        time: u64,
    },
    /// The union of several.
    Union(Arc<VectorClock>),
}

impl Snapshot {
    /// Adds another snapshot to this one. Returns the clock operations and allocations that it took.
    pub fn add(&mut self, other: &Snapshot) -> ClockCost {
        if other.within(self) {
            return ClockCost::default();
        }
        if self.within(other) {
            *self = other.clone();
            return ClockCost::default();
        }
        let mut cost = ClockCost { ops: 1, allocs: 0 };
        let mut union = match std::mem::take(self) {
            Snapshot::Of { known, slot, time } => {
                cost.allocs += 1;
                let mut clock = VectorClock::clone(&known);
                clock.raise(slot, time);
                Arc::new(clock)
            }
            Snapshot::Union(clock) => clock,
            Snapshot::Empty => Arc::default(),
        };
        cost.allocs += u64::from(Arc::get_mut(&mut union).is_none());
        let clock = Arc::make_mut(&mut union);
        match other {
            Snapshot::Of { known, slot, time } => {
                clock.join(known);
                clock.raise(*slot, *time);
            }
            Snapshot::Union(other) => clock.join(other),
            Snapshot::Empty => {}
        }
        *self = Snapshot::Union(union);
        cost
    }

    /// Whether one look shows that `other` contains all of this.
    fn within(&self, other: &Snapshot) -> bool {
        match (self, other) {
            (Snapshot::Empty, _) => true,
            (
                Snapshot::Of { slot, time, .. },
                Snapshot::Of {
                    known,
                    slot: s,
                    time: t,
                },
            ) => {
                if slot == s {
                    time <= t
                } else {
                    *time <= known.get(*slot)
                }
            }
            (Snapshot::Of { slot, time, .. }, Snapshot::Union(union)) => *time <= union.get(*slot),
            _ => false,
        }
    }

    /// Heap bytes, counting shared ones in full.
    pub fn bytes(&self) -> usize {
        match self {
            Snapshot::Empty => 0,
            Snapshot::Of { known: clock, .. } | Snapshot::Union(clock) => {
                clock.bytes() + size_of::<VectorClock>()
            }
        }
    }
}

/// Whole-clock work done by an operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockCost {
    /// Joins, copies and compares.
    pub ops: u64,
    /// Clocks allocated.
    pub allocs: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(times: &[u64]) -> VectorClock {
        VectorClock {
            times: times.to_vec(),
        }
    }

    #[test]
    fn join_takes_the_larger_time_of_each_slot_whatever_the_lengths() {
        let mut a = clock(&[1, 5]);
        a.join(&clock(&[3, 2, 7]));
        assert_eq!(a, clock(&[3, 5, 7]));
        let mut b = clock(&[3, 2, 7]);
        b.join(&clock(&[1, 5]));
        assert_eq!(b, clock(&[3, 5, 7]));
    }

    #[test]
    fn le_treats_missing_entries_as_zero() {
        assert!(clock(&[1, 0]).le(&clock(&[1])));
        assert!(!clock(&[1, 1]).le(&clock(&[1])));
    }

    #[test]
    fn epochs_keep_slot_and_time_apart() {
        let epoch = Epoch::new(Slot(MAX_SLOT), (1 << TIME_BITS) - 1);
        assert_eq!(
            (epoch.slot(), epoch.time()),
            (Slot(MAX_SLOT), (1 << TIME_BITS) - 1)
        );
        assert_eq!(Epoch::NEVER.time(), 0);
    }

    #[test]
    fn snapshots_of_one_thread_keep_the_later_whatever_the_order() {
        let of = |time| Snapshot::Of {
            known: Arc::new(clock(&[0, time])),
            slot: Slot(0),
            time,
        };
        for (a, b) in [(1, 2), (2, 1)] {
            let mut s = of(a);
            s.add(&of(b));
            assert!(matches!(s, Snapshot::Of { time: 2, .. }));
        }
    }

    #[test]
    fn a_union_knows_both_threads_with_their_own_times() {
        let mut s = Snapshot::Of {
            known: Arc::new(clock(&[])),
            slot: Slot(0),
            time: 4,
        };
        s.add(&Snapshot::Of {
            known: Arc::new(clock(&[1])),
            slot: Slot(1),
            time: 6,
        });
        let Snapshot::Union(union) = s else {
            panic!("expected a union")
        };
        assert_eq!(*union, clock(&[4, 6]));
    }
}
