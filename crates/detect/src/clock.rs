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

    /// The known times, by slot.
    #[inline]
    pub fn times(&self) -> &[u64] {
        &self.times
    }

    /// Sets the time of a slot.
    #[inline(always)]
    pub fn set(&mut self, slot: Slot, time: u64) {
        match self.times.get_mut(slot.index()) {
            Some(known) => *known = time,
            None => self.grow(slot, time),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, slot: Slot, time: u64) {
        self.times.resize(slot.index(), 0);
        self.times.push(time);
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

    /// Becomes equal to `other` without a new allocation where the old one is large enough.
    pub fn copy_from(&mut self, other: &VectorClock) {
        self.times.clone_from(&other.times);
    }

    /// Whether every time here is known to `other` (⊑).
    pub fn le(&self, other: &VectorClock) -> bool {
        self.times
            .iter()
            .enumerate()
            .all(|(i, time)| *time <= other.times.get(i).copied().unwrap_or(0))
    }

    /// How many slots it is long.
    #[inline]
    pub fn slots(&self) -> usize {
        self.times.len()
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

    /// Not 0 if the other epoch is another one.
    #[inline]
    pub fn differs(self, other: Epoch) -> u64 {
        self.0 ^ other.0
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

/// From this many slots on, equal clocks of several objects are shared. Shorter ones are cheaper to copy than a
/// reference is to count (see `docs/benchmarks.md`).
pub const SHARE_FROM: usize = 64;

/// A clock of its own, or one shared with other objects.
#[derive(Clone, Debug)]
pub enum Known {
    /// Its own.
    Own(VectorClock),
    /// Shared, never changed.
    Shared(Arc<VectorClock>),
}

impl std::ops::Deref for Known {
    type Target = VectorClock;

    #[inline]
    fn deref(&self) -> &VectorClock {
        match self {
            Known::Own(clock) => clock,
            Known::Shared(clock) => clock,
        }
    }
}

/// What was released to an object: a clock at one moment.
#[derive(Clone, Debug, Default)]
pub enum Snapshot {
    /// Nothing.
    #[default]
    Empty,
    /// All that thread `slot` knew at its time `time`. Whoever knows `time` of `slot` knows the rest too, because
    /// nobody learns a thread's time but from a snapshot of that thread at that time or later.
    Of {
        /// What it knew of the others (its own entry may be old).
        known: Known,
        /// Whose.
        slot: Slot,
        /// When.
        time: u64,
    },
    /// The union of several.
    Union(VectorClock),
}

impl Snapshot {
    /// Adds another snapshot to this one.
    pub fn add(&mut self, other: &Snapshot) -> ClockCost {
        match other {
            _ if matches!(self, Snapshot::Empty) => {
                *self = other.clone();
                ClockCost::default()
            }
            Snapshot::Empty => ClockCost::default(),
            Snapshot::Of { known, slot, time } => self.add_clock(known, *slot, *time),
            Snapshot::Union(clock) => {
                let cost = self.make_union();
                if let Snapshot::Union(mine) = self {
                    mine.join(clock);
                }
                cost
            }
        }
    }

    /// Adds what thread `slot` knows at its time `time`.
    pub fn add_clock(&mut self, known: &VectorClock, slot: Slot, time: u64) -> ClockCost {
        match self {
            Snapshot::Of {
                slot: s,
                time: t,
                known,
            } if *s == slot && time <= *t || known.get(slot) >= time => {
                return ClockCost::default();
            }
            Snapshot::Union(union) if union.get(slot) >= time => return ClockCost::default(),
            Snapshot::Of { slot: s, time: t, .. } if *s == slot || known.get(*s) >= *t => {
                return self.replace(known, slot, time);
            }
            Snapshot::Empty => return self.replace(known, slot, time),
            _ => {}
        }
        let cost = self.make_union();
        if let Snapshot::Union(mine) = self {
            mine.join(known);
            mine.raise(slot, time);
        }
        cost
    }

    /// Becomes equal to another, in the old clock's place if each has its own.
    pub fn assign(&mut self, other: &Snapshot) {
        match (&mut *self, other) {
            (Snapshot::Of { slot, time, .. }, Snapshot::Of { slot: s, time: t, .. })
                if (*slot, *time) == (*s, *t) => {}
            (
                _,
                Snapshot::Of {
                    known: Known::Own(known),
                    slot,
                    time,
                },
            ) => {
                self.replace(known, *slot, *time);
            }
            _ => *self = other.clone(),
        }
    }

    /// Becomes what thread `slot` knows at its time `time`, in the old clock's place if it has its own.
    #[inline]
    pub fn replace(&mut self, known: &VectorClock, slot: Slot, time: u64) -> ClockCost {
        if let Snapshot::Of {
            known: Known::Own(mine),
            slot: s,
            time: t,
        } = self
        {
            mine.copy_from(known);
            (*s, *t) = (slot, time);
            return ClockCost { ops: 1, allocs: 0 };
        }
        *self = Snapshot::Of {
            known: Known::Own(known.clone()),
            slot,
            time,
        };
        ClockCost { ops: 1, allocs: 1 }
    }

    /// Makes it a union.
    fn make_union(&mut self) -> ClockCost {
        let (union, allocs) = match std::mem::take(self) {
            Snapshot::Of { known, slot, time } => {
                let (mut union, allocs) = match known {
                    Known::Own(clock) => (clock, 0),
                    Known::Shared(clock) => (VectorClock::clone(&clock), 1),
                };
                union.raise(slot, time);
                (union, allocs)
            }
            Snapshot::Union(union) => (union, 0),
            Snapshot::Empty => (VectorClock::default(), 0),
        };
        *self = Snapshot::Union(union);
        ClockCost { ops: 1, allocs }
    }

    /// Heap bytes, counting shared ones in full.
    pub fn bytes(&self) -> usize {
        match self {
            Snapshot::Empty => 0,
            Snapshot::Of { known, .. } => known.bytes(),
            Snapshot::Union(clock) => clock.bytes(),
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

impl std::ops::AddAssign for ClockCost {
    fn add_assign(&mut self, other: ClockCost) {
        self.ops += other.ops;
        self.allocs += other.allocs;
    }
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
            known: Known::Own(clock(&[0, time])),
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
            known: Known::Own(clock(&[])),
            slot: Slot(0),
            time: 4,
        };
        s.add(&Snapshot::Of {
            known: Known::Own(clock(&[1])),
            slot: Slot(1),
            time: 6,
        });
        let Snapshot::Union(union) = s else {
            panic!("expected a union")
        };
        assert_eq!(union, clock(&[4, 6]));
    }
}
