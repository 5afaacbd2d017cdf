//! Stops checking a location after its first race (Goldilocks Table 2, "disable after race").
//!
//! A layer around any detector: a location that has been reported is neither checked nor remembered any more, and its
//! state is dropped, until its memory is allocated anew. Whatever the detector finds counts, a violation of a locking
//! discipline as well as a race. Counters (`race_checks` above all) then show only the checks that were still made.
//!
//! Arrays: how the detector keeps an array is its own affair (one state for each element, or compressed), so the layer
//! only notes which elements have been reported. An access to a range is passed on whole while the array has no reported
//! element, and as the parts between reported elements afterwards. Accesses that the detector has put off may still
//! name a reported element; what is then found there is dropped.
//!
//! Guarantee: the first finding for each location is the detector's own, and there is no other.

use deadheat_event::{
    Access, ArrayId, Detector, Fresh, Indices, Order, Prior, RaceKind, Races, Slot, Stats, SyncOp,
};
use rustc_hash::FxHashMap;

/// A detector that reports each location once.
#[derive(Debug, Default)]
pub struct OnceRaced<D>(pub D);

/// A location's state, or nothing once it has been reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreported<L>(Option<L>);

impl<L: Default> Default for Unreported<L> {
    fn default() -> Self {
        Unreported(Some(L::default()))
    }
}

/// An array's state, and the elements that have been reported.
#[derive(Debug, Default)]
pub struct Array<A> {
    array: A,
    reported: Reported,
}

/// A set of element indices.
#[derive(Debug, Default)]
struct Reported {
    /// Bits of 64 elements, by index / 64.
    chunks: FxHashMap<u64, u64>,
}

impl Reported {
    fn contains(&self, index: u64) -> bool {
        let chunk = self.chunks.get(&(index / 64));
        chunk.is_some_and(|bits| bits >> (index % 64) & 1 != 0)
    }

    /// Whether it was not there before.
    fn insert(&mut self, index: u64) -> bool {
        let bits = self.chunks.entry(index / 64).or_default();
        let before = *bits;
        *bits |= 1 << (index % 64);
        *bits != before
    }

    /// Calls `visit` for each longest part of `indices` in which nothing is reported.
    fn gaps(&self, indices: Indices, mut visit: impl FnMut(Indices)) {
        if self.chunks.is_empty() {
            return visit(indices);
        }
        let part = |from, to| Indices::new(from, to, indices.stride());
        let mut gap: Option<(u64, u64)> = None;
        for index in indices.iter() {
            if !self.contains(index) {
                gap = Some((gap.map_or(index, |(from, _)| from), index));
            } else if let Some(part) = gap.take().and_then(|(from, to)| part(from, to)) {
                visit(part);
            }
        }
        if let Some(part) = gap.and_then(|(from, to)| part(from, to)) {
            visit(part);
        }
    }
}

/// Passes on what is new.
struct FirstOnly<'a> {
    reported: &'a mut Reported,
    races: &'a mut dyn Races,
}

impl Races for FirstOnly<'_> {
    fn race(&mut self, kind: RaceKind, indices: Indices, access: &Access, prior: Option<Prior>) {
        let races = &mut *self.races;
        self.reported
            .gaps(indices, |part| races.race(kind, part, access, prior));
        for index in indices.iter() {
            self.reported.insert(index);
        }
    }
}

impl<D: Detector> Detector for OnceRaced<D> {
    type Thread = D::Thread;
    type Sync = D::Sync;
    type Location = Unreported<D::Location>;
    type Array = Array<D::Array>;

    fn start(&mut self, slot: Slot, predecessor: Option<&D::Thread>) -> D::Thread {
        self.0.start(slot, predecessor)
    }

    fn can_follow(&self, ended: &D::Thread, parent: &D::Thread) -> bool {
        self.0.can_follow(ended, parent)
    }

    fn timestamp(&self, thread: &D::Thread) -> u64 {
        self.0.timestamp(thread)
    }

    fn sync(&mut self, thread: &mut D::Thread, op: SyncOp, object: &mut D::Sync) {
        self.0.sync(thread, op, object);
    }

    fn fence(&mut self, thread: &mut D::Thread, order: Order) {
        self.0.fence(thread, order);
    }

    fn fork(&mut self, parent: &mut D::Thread, child: &mut D::Thread) {
        self.0.fork(parent, child);
    }

    fn join(&mut self, thread: &mut D::Thread, child: &mut D::Thread) {
        self.0.join(thread, child);
    }

    #[inline]
    fn admit(&mut self, thread: &mut D::Thread, access: &Access) -> bool {
        self.0.admit(thread, access)
    }

    #[inline]
    fn access(
        &mut self,
        thread: &mut D::Thread,
        location: &mut Self::Location,
        access: &Access,
    ) -> Option<(RaceKind, Option<Prior>)> {
        let race = self.0.access(thread, location.0.as_mut()?, access)?;
        location.0 = None;
        Some(race)
    }

    fn reset(&mut self, fresh: Fresh) {
        self.0.reset(fresh);
    }

    fn new_array(&mut self, array: &mut Self::Array, len: Option<u64>) {
        self.0.new_array(&mut array.array, len);
    }

    fn array(
        &mut self,
        thread: &mut D::Thread,
        id: ArrayId,
        array: &mut Self::Array,
        indices: Indices,
        access: &Access,
        races: &mut dyn Races,
    ) {
        let mut parts = Vec::new();
        array.reported.gaps(indices, |part| parts.push(part));
        let mut first = FirstOnly {
            reported: &mut array.reported,
            races,
        };
        for part in parts {
            self.0
                .array(thread, id, &mut array.array, part, access, &mut first);
        }
    }

    #[inline]
    fn pending(&mut self, thread: &mut D::Thread) -> Option<ArrayId> {
        self.0.pending(thread)
    }

    fn commit(
        &mut self,
        thread: &mut D::Thread,
        id: ArrayId,
        array: &mut Self::Array,
        races: &mut dyn Races,
    ) {
        let mut first = FirstOnly {
            reported: &mut array.reported,
            races,
        };
        self.0.commit(thread, id, &mut array.array, &mut first);
    }

    fn location_bytes(&self, location: &Self::Location) -> usize {
        location
            .0
            .as_ref()
            .map_or(0, |inner| self.0.location_bytes(inner))
    }

    fn array_size(&self, array: &Self::Array) -> (usize, usize) {
        let (states, bytes) = self.0.array_size(&array.array);
        let reported = array.reported.chunks.capacity() * size_of::<(u64, u64)>();
        (states, bytes + reported)
    }

    fn thread_stats(&self, thread: &D::Thread) -> Stats {
        self.0.thread_stats(thread)
    }

    fn sync_bytes(&self, object: &D::Sync) -> usize {
        self.0.sync_bytes(object)
    }

    fn stats(&self) -> Stats {
        self.0.stats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(reported: &[u64], indices: Indices) -> Vec<Vec<u64>> {
        let mut set = Reported::default();
        for &index in reported {
            set.insert(index);
        }
        let mut gaps = Vec::new();
        set.gaps(indices, |part| gaps.push(part.iter().collect()));
        gaps
    }

    #[test]
    fn a_range_is_cut_at_reported_elements_only() {
        let evens = Indices::new(60, 72, 2).unwrap();
        let all: &[u64] = &[60, 62, 64, 66, 68, 70, 72];
        assert_eq!(gaps(&[], evens), [all]);
        assert_eq!(gaps(&[61, 63, 1000], evens), [all]);
        assert_eq!(
            gaps(&[60, 66, 68], evens),
            [&[62, 64][..], &[70, 72]] as [&[u64]; 2]
        );
        assert_eq!(gaps(&[72], evens), [&all[..6]]);
        assert_eq!(gaps(&[5], Indices::one(5)), [[0u64; 0]; 0]);
    }
}
