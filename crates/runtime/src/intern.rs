//! A hash index over entries that are only ever added: finding is lock-free, adding takes the lock of a shard.
//!
//! A shard's table grows with what is in it: a table of the final size would be touched all over by the first few thousand
//! entries. Readers may still be in a table that was replaced, so none is given back; together they are as large as the
//! last one.

use crate::spin::Spin;
use crate::vm::Table;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const SHARDS: usize = 64;
/// Slots of a shard's first table.
const FIRST: usize = 64;

/// An index of ids. Id 0 is "none".
pub struct Index {
    shards: [Shard; SHARDS],
}

struct Shard {
    /// Where the table is, and in [`SIZE_SHIFT`] the logarithm of its length. 0: there is none yet.
    table: AtomicUsize,
    /// Slots in use.
    used: Spin<usize>,
}

const SIZE_SHIFT: u32 = 56;

/// A slot: 32 bits of the hash, then the id.
type Slots = [AtomicU64];

impl Shard {
    #[inline]
    fn slots(&self) -> &'static Slots {
        let table = self.table.load(Ordering::Acquire);
        if table == 0 {
            return &[];
        }
        let start = std::ptr::with_exposed_provenance(table & ((1 << SIZE_SHIFT) - 1));
        // SAFETY: `grow` leaked so many there.
        unsafe { std::slice::from_raw_parts(start, 1 << (table >> SIZE_SHIFT)) }
    }

    /// Makes room for more than there is. The caller holds the lock.
    #[cold]
    fn grow(&self) -> Option<&'static Slots> {
        let old = self.slots();
        let len = (2 * old.len()).max(FIRST);
        let mut new: Vec<AtomicU64> = Vec::new();
        new.try_reserve_exact(len).ok()?;
        new.resize_with(len, AtomicU64::default);
        let new: &'static Slots = new.leak();
        for slot in old.iter().map(|slot| slot.load(Ordering::Relaxed)) {
            if slot != 0 {
                // All are different: the first that is free is the right one.
                let (_, free) = probe(new, slot >> 32, |_| false);
                free?.store(slot, Ordering::Relaxed);
            }
        }
        let table = new.as_ptr().expose_provenance() | (len.trailing_zeros() as usize) << SIZE_SHIFT;
        self.table.store(table, Ordering::Release);
        Some(new)
    }
}

/// The id with this tag for which `is` holds, or 0 and the slot where it belongs.
#[inline]
fn probe(slots: &Slots, tag: u64, is: impl Fn(u32) -> bool) -> (u32, Option<&AtomicU64>) {
    for step in 0..slots.len() {
        let slot = &slots[(tag as usize + step) & (slots.len() - 1)];
        let found = slot.load(Ordering::Acquire);
        if found == 0 || found >> 32 == tag && is(found as u32) {
            return (found as u32, Some(slot));
        }
    }
    (0, None)
}

impl Index {
    /// An empty index.
    #[expect(clippy::new_without_default, reason = "for statics only")]
    pub const fn new() -> Self {
        Index {
            shards: [const {
                Shard {
                    table: AtomicUsize::new(0),
                    used: Spin::new(0),
                }
            }; SHARDS],
        }
    }

    /// The id of the entry with this hash for which `is` holds, or of the one that `make` adds; `None` if there is no
    /// memory or `make` has none.
    pub fn find_or_add(
        &self,
        hash: u64,
        is: impl Fn(u32) -> bool,
        make: impl FnOnce() -> Option<u32>,
    ) -> Option<u32> {
        if let Some(found) = self.find(hash, &is) {
            return Some(found);
        }
        let shard = self.shard(hash);
        let mut used = shard.used.lock();
        let mut slots = shard.slots();
        if *used + 1 > slots.len() / 4 * 3 {
            slots = shard.grow()?;
        }
        // Another thread may have added it meanwhile; and `probe` names the place where it belongs.
        let (found, slot) = probe(slots, tag(hash), &is);
        if found != 0 {
            return Some(found);
        }
        let id = make()?;
        *used += 1;
        slot?.store(tag(hash) << 32 | u64::from(id), Ordering::Release);
        Some(id)
    }

    /// The id of the entry with this hash for which `is` holds.
    #[inline]
    pub fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        let (found, _) = probe(self.shard(hash).slots(), tag(hash), is);
        Some(found).filter(|id| *id != 0)
    }

    #[inline]
    fn shard(&self, hash: u64) -> &Shard {
        &self.shards[(hash >> 58) as usize % SHARDS]
    }

    /// Takes all locks, before a `fork`.
    pub fn hold(&self) {
        self.shards.iter().for_each(|shard| shard.used.hold());
    }

    /// Gives them back, after it.
    pub fn let_go(&self) {
        self.shards.iter().for_each(|shard| shard.used.let_go());
    }
}

/// Ids of entries that were asked for lately: for entries that come and go, of which it does not matter if now and then one is
/// added again. There is no lock: who writes at the same time may take another's entry out.
///
/// No more of its slots are in use than there are entries to fill them: ids that are all over a table take all of its memory.
pub struct Recent {
    slots: Table<AtomicU64>,
    /// How many were added.
    added: AtomicUsize,
}

/// Slots of a [`Recent`].
const RECENT: usize = 1 << 18;
/// Those in use at first.
const RECENT_FIRST: usize = 1 << 12;
/// So many of them an entry may be in.
const WAYS: usize = 4;
/// So many are in use for each entry that was added.
const SPARSE: usize = 4;

impl Recent {
    /// Nothing was asked for.
    #[expect(clippy::new_without_default, reason = "for statics only")]
    pub const fn new() -> Self {
        Recent {
            slots: Table::new(),
            added: AtomicUsize::new(0),
        }
    }

    /// Maps it ahead of its first use, or says why not.
    pub fn reserve(&self) -> Result<(), i32> {
        self.slots.reserve(RECENT)
    }

    /// The id of an entry with this hash for which `is` holds, or of the one that `make` adds; `None` if it has none.
    pub fn find_or_add(
        &self,
        hash: u64,
        is: impl Fn(u32) -> bool,
        make: impl FnOnce() -> Option<u32>,
    ) -> Option<u32> {
        let added = self.added.load(Ordering::Relaxed);
        let used = (SPARSE * added).next_power_of_two().clamp(RECENT_FIRST, RECENT);
        let slots = self.slots_of(hash, used);
        // What was added before the last time that more came into use is where it was then.
        let before = self.slots_of(hash, used / 2);
        for slot in slots.iter().chain(before) {
            let found = slot.load(Ordering::Acquire);
            if found >> 32 == tag(hash) && found as u32 != 0 && is(found as u32) {
                return Some(found as u32);
            }
        }
        let id = make()?;
        self.added.store(added + 1, Ordering::Relaxed);
        // The oldest goes.
        for n in (1..WAYS).rev() {
            slots[n].store(slots[n - 1].load(Ordering::Acquire), Ordering::Release);
        }
        slots[0].store(tag(hash) << 32 | u64::from(id), Ordering::Release);
        Some(id)
    }

    /// Where an entry with this hash may be, if so many slots are in use.
    #[inline]
    fn slots_of(&self, hash: u64, used: usize) -> &[AtomicU64] {
        let first = (hash >> 40) as usize % (used / WAYS) * WAYS;
        // SAFETY: within the table; zero bytes are atomics.
        unsafe { std::slice::from_raw_parts(self.slots.at(first, RECENT), WAYS) }
    }
}

/// What a slot keeps of a hash.
fn tag(hash: u64) -> u64 {
    hash & u64::from(u32::MAX)
}

/// Mixes a word into a hash.
#[inline]
pub fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found_and_nothing_else() {
        static INDEX: Index = Index::new();
        let entries = std::cell::RefCell::new(vec![0u64]);
        for round in 0..2 {
            for n in 0..100_000u64 {
                let id = INDEX.find_or_add(
                    mix(0, n / 3),
                    |id| entries.borrow()[id as usize] == n,
                    || {
                        entries.borrow_mut().push(n);
                        Some(entries.borrow().len() as u32 - 1)
                    },
                );
                assert_eq!(id, Some(n as u32 + 1), "round {round}");
            }
        }
        assert_eq!(INDEX.find(mix(0, 777_777), |_| true), None);
    }

    #[test]
    fn what_was_asked_for_lately_is_found_and_never_something_else() {
        static RECENTLY: Recent = Recent::new();
        let entries = std::cell::RefCell::new(vec![u64::MAX]);
        let ask = |n: u64| {
            let id = RECENTLY.find_or_add(
                // Many with the same tag.
                mix(0, n / 3),
                |id| entries.borrow()[id as usize] == n,
                || {
                    entries.borrow_mut().push(n);
                    Some(entries.borrow().len() as u32 - 1)
                },
            );
            assert_eq!(entries.borrow()[id.expect("there is room") as usize], n);
            entries.borrow().len()
        };
        for n in 0..400_000 {
            let added = ask(n);
            // Those of just now are there.
            (n.saturating_sub(2)..=n).for_each(|n| assert_eq!(ask(n), added));
        }
        assert_eq!(entries.borrow().len(), 400_001);
        assert!(ask(5) > 400_001, "it has gone long ago");
        assert_eq!(RECENTLY.find_or_add(mix(0, 1), |_| false, || None), None);
    }

    #[test]
    fn entries_are_added_while_others_look() {
        static RECENTLY: Recent = Recent::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in (1..50_000).chain(1..50_000) {
                        let id = RECENTLY.find_or_add(mix(1, n), |id| id == n as u32, || Some(n as u32));
                        assert_eq!(id, Some(n as u32));
                    }
                });
            }
        });
    }

    #[test]
    fn tables_grow_while_others_look() {
        static INDEX: Index = Index::new();
        let add = |n: u64| INDEX.find_or_add(mix(1, n), |id| id == n as u32, || Some(n as u32));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in 1..50_000 {
                        assert_eq!(add(n), Some(n as u32));
                    }
                });
            }
        });
        let used: usize = INDEX.shards.iter().map(|shard| *shard.used.lock()).sum();
        assert_eq!(used, 49_999);
    }
}
