//! The last access of each thread to a location, by class of access.

use crate::hb::HbThread;
use deadheat_event::{Access, AccessKind, Prior, SiteId, Slot};

/// The last access of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    /// Who.
    pub slot: Slot,
    /// Where in the program.
    pub site: SiteId,
    /// The thread's time then.
    pub time: u64,
}

/// The last access of each thread that made one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses(Vec<Last>);

impl Accesses {
    /// Whether `thread` has been here in its present time.
    #[inline]
    pub fn has(&self, thread: &HbThread) -> bool {
        self.0
            .iter()
            .any(|last| last.slot == thread.slot() && last.time == thread.time())
    }

    /// An access that is not ordered before `thread`'s present time.
    #[inline]
    pub fn unordered(&self, thread: &HbThread) -> Option<&Last> {
        self.0.iter().find(|last| last.time > thread.get(last.slot))
    }

    /// Remembers an access as the last one of its thread.
    pub fn put(&mut self, access: Last) {
        match self.0.iter_mut().find(|last| last.slot == access.slot) {
            Some(last) => *last = access,
            None => self.0.push(access),
        }
    }

    /// All of them, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Last> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets them all, memory too.
    pub fn clear(&mut self) {
        self.0 = Vec::new();
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Last>()
    }
}

/// A class of accesses. Two accesses conflict by their classes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Read or write.
    pub kind: AccessKind,
    /// Atomic or plain.
    pub atomic: bool,
}

impl Class {
    /// All four, in the order of [`Class::index`].
    pub const ALL: [Class; 4] = [
        Class {
            kind: AccessKind::Read,
            atomic: false,
        },
        Class {
            kind: AccessKind::Write,
            atomic: false,
        },
        Class {
            kind: AccessKind::Read,
            atomic: true,
        },
        Class {
            kind: AccessKind::Write,
            atomic: true,
        },
    ];

    /// The class of an access.
    pub fn of(access: &Access) -> Class {
        Class {
            kind: access.kind,
            atomic: access.atomic,
        }
    }

    /// A number from 0 to 3.
    pub fn index(self) -> usize {
        usize::from(self.kind == AccessKind::Write) + 2 * usize::from(self.atomic)
    }

    /// Whether accesses of the two classes can race: one writes, and not both are atomic.
    pub fn conflicts(self, other: Class) -> bool {
        (self.kind == AccessKind::Write || other.kind == AccessKind::Write) && !(self.atomic && other.atomic)
    }

    /// An access of this class as the earlier side of a race.
    pub fn prior(self, last: &Last) -> Prior {
        Prior {
            slot: last.slot,
            timestamp: last.time,
            kind: self.kind,
            atomic: self.atomic,
            site: last.site,
        }
    }
}
