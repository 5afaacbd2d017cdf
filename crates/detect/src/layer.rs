//! What a layer that leaves the checks themselves alone passes on to the detector that it wraps.

/// The part of [`Detector`](deadheat_event::Detector) that a filter does not change: the checks and their states.
///
/// For a layer with type parameter `D` and the wrapped detector in `self.inner`, whose thread state keeps the wrapped
/// one in `inner` too. What is left to write: `start`, `sync`, `fence`, `fork`, `join`, `admit`, `reset` and counters.
macro_rules! forward_checks {
    () => {
        type Location = D::Location;
        type Array = D::Array;

        fn can_follow(&self, ended: &Self::Thread, parent: &Self::Thread) -> bool {
            self.inner.can_follow(&ended.inner, &parent.inner)
        }

        fn timestamp(&self, thread: &Self::Thread) -> u64 {
            self.inner.timestamp(&thread.inner)
        }

        #[inline]
        fn access(
            &mut self,
            thread: &mut Self::Thread,
            location: &mut Self::Location,
            access: &deadheat_event::Access,
        ) -> Option<(deadheat_event::RaceKind, Option<deadheat_event::Prior>)> {
            self.inner.access(&mut thread.inner, location, access)
        }

        fn new_array(&mut self, array: &mut Self::Array, len: Option<u64>) {
            self.inner.new_array(array, len);
        }

        #[inline]
        fn array(
            &mut self,
            thread: &mut Self::Thread,
            id: deadheat_event::ArrayId,
            array: &mut Self::Array,
            indices: deadheat_event::Indices,
            access: &deadheat_event::Access,
            races: &mut dyn deadheat_event::Races,
        ) {
            self.inner
                .array(&mut thread.inner, id, array, indices, access, races);
        }

        #[inline]
        fn pending(&mut self, thread: &mut Self::Thread) -> Option<deadheat_event::ArrayId> {
            self.inner.pending(&mut thread.inner)
        }

        fn commit(
            &mut self,
            thread: &mut Self::Thread,
            id: deadheat_event::ArrayId,
            array: &mut Self::Array,
            races: &mut dyn deadheat_event::Races,
        ) {
            self.inner.commit(&mut thread.inner, id, array, races);
        }

        fn location_bytes(&self, location: &Self::Location) -> usize {
            self.inner.location_bytes(location)
        }

        fn array_size(&self, array: &Self::Array) -> (usize, usize) {
            self.inner.array_size(array)
        }
    };
}

pub(crate) use forward_checks;
