//! Array states for detectors that keep one state for each element (no compression).

use deadheat_event::{Access, Detector, Indices, Races};
use rustc_hash::FxHashMap;

const CHUNK: u64 = 64;

/// One state for each element that was accessed, in chunks of 64.
#[derive(Debug)]
pub struct Elements<L> {
    chunks: Vec<Box<[L]>>,
    /// Place in `chunks` by index / 64: an index may be anything.
    index: FxHashMap<u64, u32>,
    last: (u64, u32),
}

impl<L> Default for Elements<L> {
    fn default() -> Self {
        Elements {
            chunks: Vec::new(),
            index: FxHashMap::default(),
            last: (u64::MAX, 0),
        }
    }
}

impl<L: Default + Clone> Elements<L> {
    /// The state of an element.
    #[inline]
    pub fn get(&mut self, index: u64) -> &mut L {
        let chunk = index / CHUNK;
        if chunk != self.last.0 {
            let next = self.chunks.len() as u32;
            let place = *self.index.entry(chunk).or_insert(next);
            if place == next {
                self.chunks.push(vec![L::default(); CHUNK as usize].into());
            }
            self.last = (chunk, place);
        }
        &mut self.chunks[self.last.1 as usize][(index % CHUNK) as usize]
    }

    /// How many states there are and the bytes they take, with `heap` saying what a state owns beyond its size.
    pub fn size(&self, heap: impl Fn(&L) -> usize) -> (usize, usize) {
        let states = self.chunks.len() * CHUNK as usize;
        let own: usize = self.chunks.iter().flat_map(|c| c.iter()).map(heap).sum();
        (
            states,
            own + states * size_of::<L>() + self.index.capacity() * size_of::<(u64, u32)>(),
        )
    }
}

/// [`Detector::array`] for a detector whose array state is [`Elements`]: checks one element after the other.
pub fn check_each<D>(
    detector: &mut D,
    thread: &mut D::Thread,
    array: &mut Elements<D::Location>,
    indices: Indices,
    access: &Access,
    races: &mut dyn Races,
) where
    D: Detector + ?Sized,
{
    for index in indices.iter() {
        if let Some((kind, prior)) = detector.access(thread, array.get(index), access) {
            races.race(kind, Indices::one(index), access, prior);
        }
    }
}

/// The array methods of a detector that keeps one state for each element.
macro_rules! element_wise {
    () => {
        type Array = crate::elements::Elements<Self::Location>;

        #[inline]
        fn array(
            &mut self,
            thread: &mut Self::Thread,
            _id: deadheat_event::ArrayId,
            array: &mut Self::Array,
            indices: deadheat_event::Indices,
            access: &deadheat_event::Access,
            races: &mut dyn deadheat_event::Races,
        ) {
            crate::elements::check_each(self, thread, array, indices, access, races);
        }

        fn array_size(&self, array: &Self::Array) -> (usize, usize) {
            array.size(|location| self.location_bytes(location))
        }
    };
}

pub(crate) use element_wise;
