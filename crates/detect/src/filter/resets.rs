//! Which memory has come into being anew, so that what filters remember of the old one no longer counts.
//!
//! A direct-mapped table of a fixed size holds the number of the last reset of each line, page or array. Two that share
//! an entry are only taken for reset more often than they were.

use deadheat_event::{Fresh, Place};

const ENTRIES: usize = 1 << 14;
const LINE: u32 = 6;
const PAGE: u32 = 16;
/// Up to so many lines or pages are marked one by one.
const FEW: u64 = 64;

/// The resets so far.
#[derive(Debug, Default)]
pub(super) struct Resets {
    count: u64,
    /// The last reset that was too large to be told by its pages.
    all: u64,
    /// Empty until the first reset.
    last: Vec<u64>,
}

impl Resets {
    /// How many resets there were: to be kept with whatever is remembered.
    #[inline]
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Memory comes into being.
    pub(super) fn note(&mut self, fresh: Fresh) {
        self.count += 1;
        if self.last.is_empty() {
            self.last = vec![0; ENTRIES];
        }
        match fresh {
            Fresh::Array(array) => self.last[slot(0, array.0.into())] = self.count,
            Fresh::Memory { addr, size } => {
                let Some(shift) = [LINE, PAGE]
                    .into_iter()
                    .find(|shift| blocks(addr.0, size, *shift).1 <= FEW)
                else {
                    self.all = self.count;
                    return;
                };
                for entry in slots(addr.0, size, shift) {
                    self.last[entry] = self.count;
                }
            }
        }
    }

    /// Whether a part of `place` may have come into being since there were `count` resets.
    #[inline]
    pub(super) fn since(&self, place: Place, count: u64) -> bool {
        self.count != count && self.look_up(place, count)
    }

    fn look_up(&self, place: Place, count: u64) -> bool {
        let newer = |entry: usize| self.last[entry] > count;
        self.all > count
            || match place {
                Place::Array { array, .. } => newer(slot(0, array.0.into())),
                Place::Memory { addr, size } => [LINE, PAGE].into_iter().any(|shift| {
                    blocks(addr.0, size, shift).1 > FEW || slots(addr.0, size, shift).any(newer)
                }),
            }
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        self.last.capacity() * size_of::<u64>()
    }
}

/// The first block of `1 << shift` bytes, and how many there are. Memory wraps around at its end.
fn blocks(addr: u64, size: u32, shift: u32) -> (u64, u64) {
    let before = addr & ((1 << shift) - 1);
    (addr >> shift, (before + u64::from(size)).div_ceil(1 << shift))
}

fn slots(addr: u64, size: u32, shift: u32) -> impl Iterator<Item = usize> {
    let (first, count) = blocks(addr, size, shift);
    (0..count).map(move |i| slot(shift, (first + i) & (u64::MAX >> shift)))
}

fn slot(level: u32, number: u64) -> usize {
    let mixed = (number ^ (u64::from(level) << 58)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (64 - ENTRIES.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_event::{Addr, ArrayId, Indices};
    use proptest::prelude::*;

    fn sizes() -> impl Strategy<Value = u32> {
        prop_oneof![1u32..64, 1u32..10_000, 1u32..40_000_000]
    }

    proptest! {
        #[test]
        fn no_reset_byte_is_taken_for_an_old_one(
            resets in prop::collection::vec((0u64..100_000, sizes()), 1..20),
            at in (0u64..200_000, 1u32..5_000), start in any::<bool>(),
        ) {
            let base = if start { 0 } else { u64::MAX - 50_000 };
            let mut table = Resets::default();
            let (addr, size) = (base.wrapping_add(at.0), at.1);
            for (i, (first, len)) in resets.iter().enumerate() {
                let first = base.wrapping_add(*first);
                table.note(Fresh::Memory { addr: Addr(first), size: *len });
                let overlap = first.wrapping_sub(addr) < size.into() || addr.wrapping_sub(first) < (*len).into();
                let place = Place::Memory { addr: Addr(addr), size };
                prop_assert!(!overlap || table.since(place, i as u64));
                prop_assert!(!table.since(place, table.count()));
            }
        }
    }

    #[test]
    fn memory_far_away_and_other_arrays_keep_what_is_known() {
        let mut resets = Resets::default();
        resets.note(Fresh::Memory {
            addr: Addr(0x1000),
            size: 64,
        });
        resets.note(Fresh::Array(ArrayId(3)));
        let array = |id| Place::Array {
            array: ArrayId(id),
            indices: Indices::one(0),
        };
        let memory = |addr| Place::Memory {
            addr: Addr(addr),
            size: 8,
        };
        assert!(resets.since(memory(0x1000), 0));
        assert!(!resets.since(memory(0x9000), 0));
        assert!(resets.since(array(3), 0));
        assert!(!resets.since(array(4), 0));
    }
}
