//! The locks that a thread holds, as interned sets.

use super::sets::{LockSetId, LockSets};
use deadheat_event::{AccessKind, Mode, SyncId, SyncOp};

/// How many locks of one thread count. The newer ones beyond are taken as not held, which can only lead to more
/// warnings; without a bound, a trace that never gives a lock back would make sets of quadratic size.
const COUNTED: usize = 128;

/// The locks that a thread holds.
///
/// The sets are made when an access asks for them, so locks taken and given back without an access cost nothing.
#[derive(Clone, Debug)]
pub struct Held {
    /// In the order in which they were taken.
    locks: Vec<(SyncId, Mode)>,
    /// Whether the two ids are those of `locks`.
    fresh: bool,
    any: LockSetId,
    exclusive: LockSetId,
}

impl Default for Held {
    fn default() -> Self {
        Held {
            locks: Vec::new(),
            fresh: true,
            any: LockSetId::EMPTY,
            exclusive: LockSetId::EMPTY,
        }
    }
}

impl Held {
    /// Takes or gives back a lock. Other synchronisation does not change what is held.
    pub fn sync(&mut self, op: SyncOp) {
        match op {
            SyncOp::Acquire(lock, mode) => self.locks.push((lock, mode)),
            SyncOp::Release(lock, _) => {
                let Some(place) = self.locks.iter().rposition(|held| held.0 == lock) else {
                    return;
                };
                self.locks.remove(place);
            }
            _ => return,
        }
        self.fresh = false;
    }

    /// The locks that protect an access: a write only those held exclusively, a read all (Savage et al., §2.3: a
    /// reader's lock does not keep out other readers, so it cannot protect a write).
    #[inline]
    pub fn protecting(&mut self, kind: AccessKind, sets: &mut LockSets) -> LockSetId {
        if !self.fresh {
            self.refresh(sets);
        }
        match kind {
            AccessKind::Read => self.any,
            AccessKind::Write => self.exclusive,
        }
    }

    #[cold]
    fn refresh(&mut self, sets: &mut LockSets) {
        let counted = &self.locks[..self.locks.len().min(COUNTED)];
        let mut locks: Vec<SyncId> = counted.iter().map(|held| held.0).collect();
        locks.sort_unstable();
        locks.dedup();
        self.any = sets.intern(&locks);
        locks.retain(|lock| counted.contains(&(*lock, Mode::Exclusive)));
        self.exclusive = sets.intern(&locks);
        self.fresh = true;
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        self.locks.capacity() * size_of::<(SyncId, Mode)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const L: SyncId = SyncId(5);
    const M: SyncId = SyncId(2);

    #[test]
    fn only_exclusively_held_locks_protect_a_write() {
        let mut sets = LockSets::default();
        let mut held = Held::default();
        held.sync(SyncOp::Acquire(L, Mode::Exclusive));
        held.sync(SyncOp::Acquire(M, Mode::Shared));
        let read = held.protecting(AccessKind::Read, &mut sets);
        let write = held.protecting(AccessKind::Write, &mut sets);
        assert_eq!(sets.locks(read), [M, L]);
        assert_eq!(sets.locks(write), [L]);
    }

    #[test]
    fn giving_back_a_lock_that_is_not_held_changes_nothing() {
        let mut sets = LockSets::default();
        let mut held = Held::default();
        held.sync(SyncOp::Acquire(L, Mode::Exclusive));
        held.sync(SyncOp::Release(M, Mode::Exclusive));
        let read = held.protecting(AccessKind::Read, &mut sets);
        assert_eq!(sets.locks(read), [L]);
        held.sync(SyncOp::Release(L, Mode::Exclusive));
        assert_eq!(held.protecting(AccessKind::Read, &mut sets), LockSetId::EMPTY);
    }

    #[test]
    fn the_oldest_locks_count_when_there_are_too_many() {
        let mut sets = LockSets::default();
        let mut held = Held::default();
        for lock in 0..10 * COUNTED as u64 {
            held.sync(SyncOp::Acquire(SyncId(lock), Mode::Exclusive));
        }
        let read = held.protecting(AccessKind::Read, &mut sets);
        assert_eq!(sets.locks(read).len(), COUNTED);
        assert!(sets.locks(read).contains(&SyncId(0)));
    }
}
