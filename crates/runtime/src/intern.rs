//! A hash index over entries that are only ever added: finding is lock-free, adding takes the lock of a shard.

use crate::spin::Spin;
use crate::vm::Table;
use std::sync::atomic::{AtomicU32, Ordering};

const SHARDS: usize = 64;

/// An index of up to `3/4 · 2^BITS` ids. Id 0 is "none".
pub struct Index<const BITS: u32> {
    slots: Table<AtomicU32>,
    shards: [Spin<u32>; SHARDS],
}

impl<const BITS: u32> Index<BITS> {
    const PER_SHARD: usize = (1 << BITS) / SHARDS;

    /// An empty index.
    #[expect(clippy::new_without_default, reason = "for statics only")]
    pub const fn new() -> Self {
        Index {
            slots: Table::new(),
            shards: [const { Spin::new(0) }; SHARDS],
        }
    }

    /// The id of the entry with this hash for which `is` holds, or of the one that `make` adds; `None` if there is no
    /// room or `make` has none.
    pub fn find_or_add(
        &self,
        hash: u64,
        is: impl Fn(u32) -> bool,
        make: impl FnOnce() -> Option<u32>,
    ) -> Option<u32> {
        if let Some(found) = self.find(hash, &is) {
            return Some(found);
        }
        let mut used = self.shards[shard(hash)].lock();
        // Another thread may have added it meanwhile; and `probe` names the place where it belongs.
        let (found, slot) = self.probe(hash, &is);
        if found != 0 {
            return Some(found);
        }
        if *used as usize >= Self::PER_SHARD / 4 * 3 {
            return None;
        }
        let id = make()?;
        *used += 1;
        slot?.store(id, Ordering::Release);
        Some(id)
    }

    /// The id of the entry with this hash for which `is` holds.
    #[inline]
    pub fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        Some(self.probe(hash, is).0).filter(|id| *id != 0)
    }

    #[inline]
    fn probe(&self, hash: u64, is: impl Fn(u32) -> bool) -> (u32, Option<&AtomicU32>) {
        let first = shard(hash) * Self::PER_SHARD;
        for step in 0..Self::PER_SHARD {
            let place = (hash as usize).wrapping_add(step) % Self::PER_SHARD;
            // SAFETY: within the table, which is mapped for good, and zero bytes are an atomic.
            let slot = unsafe { &*self.slots.at(first + place, 1 << BITS) };
            let id = slot.load(Ordering::Acquire);
            if id == 0 || is(id) {
                return (id, Some(slot));
            }
        }
        (0, None)
    }

    /// Takes all locks, before a `fork`.
    pub fn hold(&self) {
        self.shards.iter().for_each(Spin::hold);
    }

    /// Gives them back, after it.
    pub fn let_go(&self) {
        self.shards.iter().for_each(Spin::let_go);
    }
}

fn shard(hash: u64) -> usize {
    (hash >> 58) as usize % SHARDS
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
        static INDEX: Index<12> = Index::new();
        let entries = std::cell::RefCell::new(vec![0u64]);
        for round in 0..2 {
            for n in 0..1000u64 {
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
        assert_eq!(INDEX.find(mix(0, 7777), |_| true), None);
    }

    #[test]
    fn a_full_index_says_so_and_still_finds() {
        static INDEX: Index<7> = Index::new();
        // One shard of two slots, of which one may be used.
        assert_eq!(INDEX.find_or_add(0, |_| false, || Some(1)), None);
    }
}
