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
use crate::thread::{LOCKS_SHIFT, Thread, UNKNOWN_LOCKS, zeroed_box};
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

    /// As it stands in a cached place.
    #[inline]
    pub fn in_place(self) -> u64 {
        u64::from(self.0) << LOCKS_SHIFT
    }

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

/// A table with a lock for each stripe has as many sets as stripes, times the places where they are taken.
const RECENT: usize = 2048;

/// A lock that a thread holds, and what it adds to the hashes of [`Held`]. The hashes are apart, here and there: side by side they would be
/// loaded as one, which waits for the stores of both to be over, and a lock is often given back at once.
#[repr(C)]
struct Taken {
    hash: u64,
    lock: Lock,
    any: u64,
    /// [`Thread::locks`] without it.
    before: u64,
}

/// The locks a thread holds.
#[repr(C)]
pub struct Held {
    /// The sum of the locks' hashes: the order in which they were taken does not matter.
    hash: u64,
    locks: Vec<Taken>,
    /// The same, whichever the locks are.
    any: u64,
    /// Sets found lately, by hash.
    recent: Box<[(u64, LockSet); RECENT]>,
}

impl Held {
    /// None.
    pub fn new() -> Held {
        Held {
            locks: Vec::new(),
            hash: 0,
            any: 0,
            // SAFETY: numbers.
            recent: unsafe { zeroed_box() },
        }
    }

    /// All of them.
    pub fn all(&self) -> Vec<Lock> {
        self.locks.iter().map(|taken| taken.lock).collect()
    }

    /// The set of all of them.
    #[inline]
    pub fn set(&mut self) -> LockSet {
        self.at_hand().unwrap_or_else(|| self.intern())
    }

    /// The same, if it was found lately.
    #[inline]
    pub fn at_hand(&self) -> Option<LockSet> {
        if self.hash == 0 {
            return Some(LockSet::NONE);
        }
        self.lately(self.hash).or_else(|| self.lately(self.any))
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
                None if exact => (self.hash, sets.add(self.hash, self.all())),
                None => {
                    let any = || self.locks.iter().map(|taken| taken.lock.any()).collect();
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

    #[inline]
    fn add(&mut self, lock: Lock, before: u64) {
        let (hash, any) = (lock.hash(), lock.any().hash());
        self.hash = self.hash.wrapping_add(hash);
        self.any = self.any.wrapping_add(any);
        self.locks.push(Taken {
            hash,
            lock,
            any,
            before,
        });
    }

    /// If it was the last to be taken: [`Thread::locks`] as it was before, which may be [`UNKNOWN_LOCKS`].
    #[inline]
    fn remove(&mut self, addr: usize) -> u64 {
        let Some(last) = self.locks.last().filter(|last| last.lock.addr == addr) else {
            self.remove_older(addr);
            return UNKNOWN_LOCKS;
        };
        let (hash, any, before) = (last.hash, last.any, last.before);
        self.hash = self.hash.wrapping_sub(hash);
        self.any = self.any.wrapping_sub(any);
        self.locks.truncate(self.locks.len() - 1);
        before
    }

    #[inline(never)]
    fn remove_older(&mut self, addr: usize) {
        let Some(at) = self.locks.iter().rposition(|taken| taken.lock.addr == addr) else {
            return;
        };
        let gone = self.locks.remove(at);
        self.hash = self.hash.wrapping_sub(gone.hash);
        self.any = self.any.wrapping_sub(gone.any);
        // What was before those taken later had this one in it.
        self.locks[at..]
            .iter_mut()
            .for_each(|later| later.before = UNKNOWN_LOCKS);
    }
}

impl Default for Held {
    fn default() -> Self {
        Held::new()
    }
}

/// The thread has taken the lock at `addr`; `pc` is where it called.
#[inline]
pub fn took(t: &mut Thread, kind: LockKind, addr: usize, pc: usize) {
    let place = t.place_here(pc);
    let before = t.locks;
    t.held.add(Lock { kind, addr, place }, before);
    changed(t);
}

/// The thread is about to give back the lock at `addr`.
#[inline]
pub fn gave(t: &mut Thread, addr: usize) {
    let before = t.held.remove(addr);
    if before == UNKNOWN_LOCKS || t.far {
        changed(t);
    } else {
        t.locks = before;
    }
}

/// The next access has its place at hand if the set is.
#[inline]
fn changed(t: &mut Thread) {
    let set = t.held.at_hand().filter(|_| !t.far);
    t.locks = set.map_or(UNKNOWN_LOCKS, LockSet::in_place);
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
        held.add(lock(0x10), 0);
        let one = held.set();
        held.add(lock(0x20), 0);
        let two = held.set();
        assert_ne!(one, two);
        held.remove(0x20);
        assert_eq!(held.set(), one);
        held.remove(0x10);
        assert_eq!(held.set(), LockSet::NONE);
        held.add(lock(0x20), 0);
        held.add(lock(0x10), 0);
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
            held.add(lock(0x1000 + 8 * n, 1 + n as u32 % 2), 0);
            last = held.set();
            assert_ne!(last, LockSet::UNKNOWN);
            held.remove(0x1000 + 8 * n);
        }
        assert_eq!(last.locks(), [lock(0, 2)]);
        held.add(lock(7, 1), 0);
        assert_eq!(held.set().locks(), [lock(0, 1)]);
        assert_eq!(held.all(), [lock(7, 1)]);
    }

    #[test]
    fn the_set_at_hand_is_that_of_the_locks_held_whatever_the_order() {
        use deadheat_detect::hb::HbThread;
        use deadheat_event::Slot;
        let mut t = Thread::new(1, HbThread::after(Slot(1), 0), true);
        let mut random = crate::stress::Random(3);
        let mut held: Vec<usize> = Vec::new();
        let mut known = 0;
        for _ in 0..5000 {
            let lock = 0x6300_0000 + 64 * random.below(4) as usize;
            match held.iter().position(|held| *held == lock) {
                Some(at) => {
                    held.remove(at);
                    gave(&mut t, lock);
                }
                None => {
                    held.push(lock);
                    took(&mut t, LockKind::Mutex, lock, 0x1000);
                }
            }
            let at_hand = t.locks;
            if random.below(2) == 0 {
                t.place(1, 0x2000, false);
            }
            let set = t.held.set().in_place();
            assert!(at_hand == set || at_hand == UNKNOWN_LOCKS);
            known += usize::from(at_hand == set);
        }
        assert!(known > 4000, "{known}");
    }
}
