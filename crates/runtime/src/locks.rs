//! Locks held, for reports.
//!
//! A thread's list of held locks is named by a 64-bit hash, kept up to date as locks come and go; only when an access is
//! recorded is the list interned as a [`LockSet`]. Equal hashes are taken for equal lists, like context values.
//!
//! A tree with a lock in each node has as many sets as nodes. From [`EXACT`] sets on, a new one says what kind of lock was
//! taken where, but not which: of those there are no more than the program has lines that lock.

use crate::intern::mix;
use crate::loss::{self, Loss};
use crate::places::Place;
use crate::spin::Spin;
use crate::thread::{Thread, UNKNOWN_LOCKS};
use rustc_hash::FxHashMap;

/// What kind of lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockKind {
    /// A mutex.
    Mutex,
    /// A read-write lock, held for reading.
    ReadLock,
    /// A read-write lock, held for writing.
    WriteLock,
    /// A spin lock.
    Spin,
}

impl LockKind {
    /// As the reporter knows it.
    pub fn name(self) -> &'static str {
        match self {
            LockKind::Mutex => "mutex",
            LockKind::ReadLock => "rwlock-read",
            LockKind::WriteLock => "rwlock-write",
            LockKind::Spin => "spin",
        }
    }
}

/// A lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Its kind.
    pub kind: LockKind,
    /// Where it is; 0 if that is not known.
    pub addr: usize,
    /// Where it was taken.
    pub place: Place,
}

impl Lock {
    fn hash(&self) -> u64 {
        mix(mix(self.kind as u64, self.addr as u64), self.place.0.into())
    }

    /// Any lock of this kind that was taken there.
    fn any(&self) -> Lock {
        Lock { addr: 0, ..*self }
    }
}

/// An interned set of held locks: 15 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LockSet(pub u16);

impl LockSet {
    /// None.
    pub const NONE: LockSet = LockSet(0);
    /// Not known: there were too many.
    pub const UNKNOWN: LockSet = LockSet(0x7fff);

    /// The locks of the set.
    pub fn locks(self) -> Vec<Lock> {
        let sets = SETS.lock();
        usize::from(self.0)
            .checked_sub(1)
            .and_then(|at| sets.lists.get(at))
            .map_or_else(Vec::new, |list| list.to_vec())
    }
}

/// So many sets say which locks they are of.
const EXACT: usize = 2048;

struct Sets {
    by_hash: Option<FxHashMap<u64, LockSet>>,
    lists: Vec<Box<[Lock]>>,
}

impl Sets {
    fn find(&self, hash: u64) -> Option<LockSet> {
        self.by_hash.as_ref()?.get(&hash).copied()
    }

    fn add(&mut self, hash: u64, locks: Vec<Lock>) -> LockSet {
        let next = self.lists.len() + 1;
        if next >= usize::from(LockSet::UNKNOWN.0) {
            return LockSet::UNKNOWN;
        }
        let set = LockSet(next as u16);
        self.by_hash.get_or_insert_default().insert(hash, set);
        self.lists.push(locks.into());
        set
    }
}

static SETS: Spin<Sets> = Spin::new(Sets {
    by_hash: None,
    lists: Vec::new(),
});

const RECENT: usize = 32;

/// The locks a thread holds.
pub struct Held {
    locks: Vec<Lock>,
    /// The sum of the locks' hashes: the order in which they were taken does not matter.
    hash: u64,
    /// The same, whichever the locks are.
    any: u64,
    /// Sets found lately, by hash.
    recent: [(u64, LockSet); RECENT],
}

impl Held {
    /// None.
    pub fn new() -> Held {
        Held {
            locks: Vec::new(),
            hash: 0,
            any: 0,
            recent: [(0, LockSet::NONE); RECENT],
        }
    }

    /// All of them.
    pub fn all(&self) -> Vec<Lock> {
        self.locks.clone()
    }

    /// The set of all of them.
    #[inline]
    pub fn set(&mut self) -> LockSet {
        if self.hash == 0 {
            return LockSet::NONE;
        }
        self.lately(self.hash)
            .or_else(|| self.lately(self.any))
            .unwrap_or_else(|| self.intern())
    }

    #[inline]
    fn lately(&self, wanted: u64) -> Option<LockSet> {
        let (hash, set) = self.recent[wanted as usize % RECENT];
        (hash == wanted).then_some(set)
    }

    #[cold]
    fn intern(&mut self) -> LockSet {
        let (hash, set) = {
            let mut sets = SETS.lock();
            let exact = sets.lists.len() < EXACT;
            match sets.find(self.hash) {
                Some(set) => (self.hash, set),
                None if exact => (self.hash, sets.add(self.hash, self.locks.clone())),
                None => {
                    let any = || self.locks.iter().map(Lock::any).collect();
                    let found = sets.find(self.any);
                    (self.any, found.unwrap_or_else(|| sets.add(self.any, any())))
                }
            }
        };
        if hash != self.hash || set == LockSet::UNKNOWN {
            loss::note(Loss::Locks);
        }
        self.recent[hash as usize % RECENT] = (hash, set);
        set
    }

    fn add(&mut self, lock: Lock) {
        self.hash = self.hash.wrapping_add(lock.hash());
        self.any = self.any.wrapping_add(lock.any().hash());
        self.locks.push(lock);
    }

    fn remove(&mut self, addr: usize) {
        if let Some(at) = self.locks.iter().rposition(|lock| lock.addr == addr) {
            let lock = self.locks.remove(at);
            self.hash = self.hash.wrapping_sub(lock.hash());
            self.any = self.any.wrapping_sub(lock.any().hash());
        }
    }
}

impl Default for Held {
    fn default() -> Self {
        Held::new()
    }
}

/// The thread has taken the lock at `addr`; `pc` is where it called.
pub fn took(t: &mut Thread, kind: LockKind, addr: usize, pc: usize) {
    let place = t.place_here(pc);
    t.held.add(Lock { kind, addr, place });
    t.locks = UNKNOWN_LOCKS;
}

/// The thread is about to give back the lock at `addr`.
pub fn gave(t: &mut Thread, addr: usize) {
    t.held.remove(addr);
    t.locks = UNKNOWN_LOCKS;
}

/// Takes the lock of the sets, before a `fork`.
pub fn hold() {
    SETS.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    SETS.let_go();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_the_same_whatever_the_order_and_the_way_to_it() {
        let lock = |addr| Lock {
            kind: LockKind::Mutex,
            addr,
            place: Place(7),
        };
        let mut held = Held::new();
        assert_eq!(held.set(), LockSet::NONE);
        held.add(lock(0x10));
        let one = held.set();
        held.add(lock(0x20));
        let two = held.set();
        assert_ne!(one, two);
        held.remove(0x20);
        assert_eq!(held.set(), one);
        held.remove(0x10);
        assert_eq!(held.set(), LockSet::NONE);
        held.add(lock(0x20));
        held.add(lock(0x10));
        assert_eq!(held.set(), two);
        assert_eq!(two.locks(), [lock(0x10), lock(0x20)]);
        held.remove(0x30);
        assert_eq!(held.set(), two);
    }

    #[test]
    fn with_very_many_sets_new_ones_do_not_say_which_locks() {
        let lock = |addr, place| Lock {
            kind: LockKind::Spin,
            addr,
            place: Place(place),
        };
        let mut held = Held::new();
        let mut last = LockSet::NONE;
        for n in 0..2 * EXACT {
            held.add(lock(0x1000 + 8 * n, 1 + n as u32 % 2));
            last = held.set();
            assert_ne!(last, LockSet::UNKNOWN);
            held.remove(0x1000 + 8 * n);
        }
        assert_eq!(last.locks(), [lock(0, 2)]);
        held.add(lock(7, 1));
        assert_eq!(held.set().locks(), [lock(0, 1)]);
        assert_eq!(held.all(), [lock(7, 1)]);
    }
}
