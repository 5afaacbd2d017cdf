//! Interned sets of locks.
//!
//! A program uses few different sets of locks at a time, so each set is kept once under a small id, and the
//! intersection of two ids is computed once and then looked up: an access costs a constant number of look-ups, however
//! many locks are held (Savage et al., §3.2, do the same).

use deadheat_event::{Stats, SyncId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Intersections that are remembered before all are forgotten: a bound for traces with endlessly many sets.
const REMEMBERED: usize = 1 << 20;

/// A set of locks, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockSetId(u32);

impl LockSetId {
    /// No lock.
    pub const EMPTY: LockSetId = LockSetId(0);
    /// Every lock there can be: what a candidate set starts with.
    pub const ALL: LockSetId = LockSetId(u32::MAX);
}

/// All sets of locks that have come up.
#[derive(Debug)]
pub struct LockSets {
    /// Sorted, by id.
    sets: Vec<Arc<[SyncId]>>,
    ids: FxHashMap<Arc<[SyncId]>, LockSetId>,
    /// Intersections by the two ids, the smaller first.
    meets: FxHashMap<(LockSetId, LockSetId), LockSetId>,
    stats: Stats,
}

impl Default for LockSets {
    fn default() -> Self {
        let mut sets = LockSets {
            sets: Vec::new(),
            ids: FxHashMap::default(),
            meets: FxHashMap::default(),
            stats: Stats::default(),
        };
        sets.intern(&[]);
        sets
    }
}

impl LockSets {
    /// The id of a set, given in ascending order and without repetitions.
    pub fn intern(&mut self, sorted: &[SyncId]) -> LockSetId {
        debug_assert!(sorted.is_sorted_by(|a, b| a < b));
        if let Some(id) = self.ids.get(sorted) {
            return *id;
        }
        // Out of numbers: no lock is a safe answer, as it can only lead to more checks and warnings.
        let Some(id) = u32::try_from(self.sets.len()).ok().map(LockSetId) else {
            return LockSetId::EMPTY;
        };
        if id == LockSetId::ALL {
            return LockSetId::EMPTY;
        }
        let set: Arc<[SyncId]> = sorted.into();
        self.sets.push(Arc::clone(&set));
        self.ids.insert(set, id);
        self.stats.clock_allocs += 1;
        id
    }

    /// The locks that are in both sets.
    #[inline]
    pub fn meet(&mut self, a: LockSetId, b: LockSetId) -> LockSetId {
        let (a, b) = (a.min(b), a.max(b));
        if a == b || a == LockSetId::EMPTY || b == LockSetId::ALL {
            return a;
        }
        match self.meets.get(&(a, b)) {
            Some(meet) => *meet,
            None => self.compute(a, b),
        }
    }

    #[cold]
    fn compute(&mut self, a: LockSetId, b: LockSetId) -> LockSetId {
        self.stats.clock_ops += 1;
        let (small, large) = (self.locks(a), self.locks(b));
        let common: Vec<SyncId> = small
            .iter()
            .copied()
            .filter(|lock| large.binary_search(lock).is_ok())
            .collect();
        let meet = self.intern(&common);
        if self.meets.len() >= REMEMBERED {
            self.meets.clear();
        }
        self.meets.insert((a, b), meet);
        meet
    }

    /// The locks of a set, ascending. [`LockSetId::ALL`] has no list and gives none.
    pub fn locks(&self, id: LockSetId) -> &[SyncId] {
        self.sets.get(id.0 as usize).map_or(&[], |set| set)
    }

    /// Intersections computed, sets interned, bytes.
    pub fn stats(&self) -> Stats {
        let locks: usize = self.sets.iter().map(|set| size_of_val(&**set)).sum();
        let bytes = locks
            + self.sets.capacity() * size_of::<Arc<[SyncId]>>()
            + self.ids.capacity() * size_of::<(Arc<[SyncId]>, LockSetId)>()
            + self.meets.capacity() * size_of::<[LockSetId; 3]>();
        Stats {
            bytes: bytes as u64,
            ..self.stats.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn set() -> impl Strategy<Value = BTreeSet<SyncId>> {
        prop::collection::btree_set((0u64..8).prop_map(SyncId), 0..6)
    }

    fn intern(sets: &mut LockSets, set: &BTreeSet<SyncId>) -> LockSetId {
        sets.intern(&set.iter().copied().collect::<Vec<_>>())
    }

    proptest! {
        #[test]
        fn meet_is_intersection_and_equal_sets_have_one_id(a in set(), b in set()) {
            let mut sets = LockSets::default();
            let (ia, ib) = (intern(&mut sets, &a), intern(&mut sets, &b));
            prop_assert_eq!(ia == ib, a == b);
            let meet = sets.meet(ia, ib);
            let expected: Vec<SyncId> = a.intersection(&b).copied().collect();
            prop_assert_eq!(sets.locks(meet), &expected[..]);
            prop_assert_eq!(meet == LockSetId::EMPTY, expected.is_empty());
            prop_assert_eq!(sets.meet(ib, ia), meet);
        }
    }

    #[test]
    fn all_locks_is_neutral_and_no_locks_absorbs() {
        let mut sets = LockSets::default();
        let one = sets.intern(&[SyncId(7)]);
        assert_eq!(sets.meet(LockSetId::ALL, one), one);
        assert_eq!(sets.meet(one, LockSetId::ALL), one);
        assert_eq!(sets.meet(one, LockSetId::EMPTY), LockSetId::EMPTY);
        assert_eq!(sets.meet(LockSetId::ALL, LockSetId::EMPTY), LockSetId::EMPTY);
        assert_eq!(sets.meet(LockSetId::ALL, LockSetId::ALL), LockSetId::ALL);
    }

    #[test]
    fn an_intersection_is_computed_once() {
        let mut sets = LockSets::default();
        let a = sets.intern(&[SyncId(1), SyncId(2)]);
        let b = sets.intern(&[SyncId(2), SyncId(3)]);
        for _ in 0..10 {
            sets.meet(a, b);
            sets.meet(b, a);
        }
        let stats = sets.stats();
        // The empty set, the two, and {2}.
        assert_eq!((stats.clock_ops, stats.clock_allocs), (1, 4));
    }
}
