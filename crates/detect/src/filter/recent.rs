//! What a thread has accessed lately: a direct-mapped table that grows up to a bound.
//!
//! An access *covers* a later one of the same thread if it touched all its bytes or elements and conflicts with all
//! that the later one conflicts with. Entries carry the time of their access (a number that rises with what the thread
//! releases), so that a whole table goes out of date by asking for newer ones.

use super::resets::Resets;
use crate::history::Class;
use deadheat_event::{Access, Addr, ArrayId, Indices, Place};

const SMALLEST: usize = 64;

/// The classes of access that conflict with all that a class (by [`Class::index`]) conflicts with.
///
/// A plain write conflicts with everything; a plain read with what an atomic load does; two atomics with nothing of each
/// other's, so an atomic store covers loads but no plain read.
const COVERING: [&[u8]; 4] = [&[0, 1], &[1], &[2, 3, 0, 1], &[3, 1]];

/// The last accesses of a thread by place and class.
#[derive(Debug)]
pub(super) struct Recent {
    entries: Vec<Entry>,
    limit: usize,
    /// Entries that were still of use when they had to go, since the table last grew.
    crowded: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    place: Place,
    class: u8,
    /// 0 if there is no access here.
    time: u64,
    /// [`Resets::count`] at that time.
    resets: u64,
}

const VACANT: Entry = Entry {
    place: Place::Memory {
        addr: Addr(0),
        size: 0,
    },
    class: 0,
    time: 0,
    resets: 0,
};

impl Recent {
    /// An empty table that will never hold more than `limit` entries (rounded up to a power of two).
    pub(super) fn new(limit: usize) -> Recent {
        Recent {
            entries: Vec::new(),
            limit: limit.clamp(SMALLEST, 1 << 30).next_power_of_two(),
            crowded: 0,
        }
    }

    /// Whether a covering access was made at `since` (at least 1) or later, to memory that is still the same.
    #[inline]
    pub(super) fn covers(&self, access: &Access, since: u64, resets: &Resets) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        let found = |class: u8, anchor: u64| {
            let entry = &self.entries[self.slot(anchor, class)];
            entry.time >= since
                && entry.class == class
                && contains(entry.place, access.place)
                && !resets.since(access.place, entry.resets)
        };
        COVERING[Class::of(access).index()].iter().any(|&class| {
            found(class, exact(access.place))
                || matches!(access.place, Place::Array { array, .. } if found(class, wide(array)))
        })
    }

    /// Remembers an access made at `time`. Entries older than `since` are of no more use.
    pub(super) fn put(&mut self, access: &Access, time: u64, since: u64, resets: &Resets) {
        if self.entries.is_empty() {
            self.entries = vec![VACANT; SMALLEST];
        } else if self.crowded > self.entries.len() / 8 && self.entries.len() < self.limit {
            self.grow();
        }
        let entry = Entry {
            place: access.place,
            class: Class::of(access).index() as u8,
            time,
            resets: resets.count(),
        };
        let slot = self.slot(exact(entry.place), entry.class);
        let old = std::mem::replace(&mut self.entries[slot], entry);
        self.crowded += usize::from(old.time >= since && !contains(entry.place, old.place));
        if let Place::Array { array, indices } = access.place
            && !indices.is_one()
        {
            let slot = self.slot(wide(array), entry.class);
            self.entries[slot] = entry;
        }
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.entries.len() * 2;
        let old = std::mem::replace(&mut self.entries, vec![VACANT; size]);
        self.crowded = 0;
        for entry in old.into_iter().filter(|entry| entry.time != 0) {
            let slot = self.slot(exact(entry.place), entry.class);
            self.entries[slot] = entry;
        }
    }

    /// Fibonacci hashing: neighbours are spread evenly.
    #[inline]
    fn slot(&self, anchor: u64, class: u8) -> usize {
        let mixed = anchor
            .wrapping_add(u64::from(class) << 40)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> (64 - self.entries.len().trailing_zeros())) as usize
    }
}

/// Where an access with the same first byte or element is found.
fn exact(place: Place) -> u64 {
    match place {
        Place::Memory { addr, .. } => addr.0.rotate_right(3),
        Place::Array { array, indices } => wide(array).wrapping_add(1).wrapping_add(indices.first()),
    }
}

/// Where the last range of an array is found.
fn wide(array: ArrayId) -> u64 {
    (u64::from(array.0) + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

fn contains(outer: Place, inner: Place) -> bool {
    match (outer, inner) {
        (Place::Memory { addr, size }, Place::Memory { addr: at, size: len }) => {
            let offset = at.0.wrapping_sub(addr.0);
            offset <= u64::from(size) && u64::from(len) <= u64::from(size) - offset
        }
        (
            Place::Array { array, indices },
            Place::Array {
                array: id,
                indices: within,
            },
        ) => array == id && includes(indices, within),
        _ => false,
    }
}

fn includes(outer: Indices, inner: Indices) -> bool {
    outer.contains(inner.first())
        && outer.contains(inner.last())
        && (inner.is_one() || inner.stride().is_multiple_of(outer.stride()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_event::{AccessKind, SiteId};
    use proptest::prelude::*;

    #[test]
    fn a_class_covers_those_whose_conflicts_are_among_its_own() {
        for (of, covering) in COVERING.iter().enumerate() {
            for by in Class::ALL {
                let all = Class::ALL
                    .into_iter()
                    .all(|c| !Class::ALL[of].conflicts(c) || by.conflicts(c));
                assert_eq!(covering.contains(&(by.index() as u8)), all, "{by:?} covers {of}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_range_includes_another_if_it_has_all_its_indices(
            a in (0u64..8, 0u64..12, 1u32..4), b in (0u64..8, 0u64..12, 1u32..4),
        ) {
            let range = |(first, len, stride): (u64, u64, u32)| Indices::new(first, first + len, stride).unwrap();
            let (a, b) = (range(a), range(b));
            prop_assert_eq!(includes(a, b), b.iter().all(|i| a.contains(i)));
        }
    }

    fn write(addr: u64, size: u32) -> Access {
        Access {
            place: Place::Memory {
                addr: Addr(addr),
                size,
            },
            kind: AccessKind::Write,
            atomic: false,
            site: SiteId(0),
        }
    }

    #[test]
    fn a_full_table_forgets_and_never_exceeds_its_limit() {
        let (mut recent, resets) = (Recent::new(256), Resets::default());
        for i in 0..10_000 {
            recent.put(&write(i * 8, 8), 1, 1, &resets);
            assert!(
                recent.covers(&write(i * 8, 4), 1, &resets),
                "the last one is there"
            );
        }
        assert_eq!(recent.entries.len(), 256);
        assert!(
            !recent.covers(&write(0, 16), 1, &resets),
            "larger than what was written"
        );
    }

    #[test]
    fn a_small_loop_fits_after_the_table_has_grown() {
        let (mut recent, resets) = (Recent::new(4096), Resets::default());
        for _ in 0..20 {
            for i in 0..500 {
                recent.put(&write(i * 8, 8), 1, 1, &resets);
            }
        }
        let kept = (0..500)
            .filter(|i| recent.covers(&write(i * 8, 8), 1, &resets))
            .count();
        assert!(kept > 400, "{kept} of 500");
    }
}
