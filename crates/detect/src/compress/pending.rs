//! Footprints in flight: the accesses of a thread that are not yet checked.
//!
//! They are told apart by statement, that is by kind and program location, so that a report names a statement that touched the element. A
//! few are kept for each array; when there are too many, the oldest is committed.

use super::footprint::Footprint;
use deadheat_event::{Access, AccessKind, ArrayId, SiteId};
use rustc_hash::FxHashMap;

/// Footprints in flight for one thread and array.
const MAX_IN_FLIGHT: usize = 16;
const HINTS: usize = 16;

/// What accesses must have in common to share a footprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Where in the program.
    pub site: SiteId,
    /// Read or write.
    pub kind: AccessKind,
    /// Whether it is atomic.
    pub atomic: bool,
}

impl Statement {
    /// That of an access.
    #[inline]
    pub fn of(access: &Access) -> Statement {
        Statement {
            site: access.site,
            kind: access.kind,
            atomic: access.atomic,
        }
    }
}

/// Accesses of one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// To these elements.
    pub fp: Footprint,
    /// By whom.
    pub by: Statement,
    /// Place of the entry that was used after this one last time: loops go through their statements in order.
    pub(super) next: u8,
}

impl InFlight {
    /// Accesses to these elements.
    pub fn new(fp: Footprint, by: Statement) -> InFlight {
        InFlight { fp, by, next: 0 }
    }
}

/// All footprints in flight of a thread.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    open: Vec<Open>,
    /// Place in `open` of each array.
    index: FxHashMap<ArrayId, u32>,
    /// Places in `open` to look at first.
    hints: [u32; HINTS],
    /// Buffers to be used again.
    spare: Vec<Vec<InFlight>>,
}

#[derive(Clone, Debug)]
struct Open {
    array: ArrayId,
    entries: Vec<InFlight>,
    /// The entry last used.
    cursor: usize,
}

impl Pending {
    /// An array with something in flight.
    #[inline]
    pub fn first(&self) -> Option<ArrayId> {
        self.open.last().map(|open| open.array)
    }

    /// Adds an access where it was expected: at the end of the footprint that the thread's loop comes to next.
    #[inline]
    pub fn continues(&mut self, array: ArrayId, index: u64, by: Statement) -> bool {
        let hint = self.hints[array.index() % HINTS] as usize;
        if let Some(open) = self.open.get_mut(hint)
            && open.array == array
            && let Some(last) = open.entries.get(open.cursor)
            && let next = last.next as usize
            && let Some(entry) = open.entries.get_mut(next)
            && entry.by == by
            && let Some(sum) = entry.fp.step(index)
        {
            entry.fp = sum;
            open.cursor = next;
            return true;
        }
        false
    }

    /// Adds accesses. Returns what has to be committed to make room for them.
    pub fn add(&mut self, array: ArrayId, new: InFlight) -> Option<InFlight> {
        let hint = self.hints[array.index() % HINTS] as usize;
        let place = match self.open.get(hint) {
            Some(open) if open.array == array => hint,
            _ => self.place(array),
        };
        self.open[place].add(new)
    }

    /// Takes all that is in flight for an array out.
    pub fn take(&mut self, array: ArrayId) -> Option<Vec<InFlight>> {
        let place = self.index.remove(&array)? as usize;
        let open = self.open.swap_remove(place);
        if let Some(moved) = self.open.get(place) {
            self.index.insert(moved.array, place as u32);
        }
        Some(open.entries)
    }

    /// Takes back the buffer that [`Pending::take`] gave out.
    pub fn give_back(&mut self, mut buffer: Vec<InFlight>) {
        buffer.clear();
        if self.spare.len() < HINTS {
            self.spare.push(buffer);
        }
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        let buffers = self.open.iter().map(|open| &open.entries).chain(&self.spare);
        let entries: usize = buffers.map(Vec::capacity).sum();
        entries * size_of::<InFlight>()
            + self.open.capacity() * size_of::<Open>()
            + self.index.capacity() * size_of::<(ArrayId, u32)>()
    }

    fn place(&mut self, array: ArrayId) -> usize {
        let next = self.open.len() as u32;
        let place = *self.index.entry(array).or_insert(next);
        if place == next {
            self.open.push(Open {
                array,
                entries: self.spare.pop().unwrap_or_default(),
                cursor: 0,
            });
        }
        self.hints[array.index() % HINTS] = place;
        place as usize
    }
}

impl Open {
    fn add(&mut self, new: InFlight) -> Option<InFlight> {
        let found = self.entries.iter_mut().enumerate().find_map(|(place, entry)| {
            let sum = (entry.by == new.by).then(|| entry.fp.extend_by(new.fp))??;
            entry.fp = sum;
            Some(place)
        });
        let full = found.is_none() && self.entries.len() == MAX_IN_FLIGHT;
        let evicted = full.then(|| self.entries.remove(0));
        let place = found.unwrap_or_else(|| {
            self.entries.push(new);
            self.entries.len() - 1
        });
        if let Some(last) = self.entries.get_mut(self.cursor) {
            last.next = place as u8;
        }
        self.cursor = place;
        evicted
    }
}
