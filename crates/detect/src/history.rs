//! The last access of each thread to a location, by class of access.

use crate::clock::Epoch;
use crate::hb::HbThread;
use deadheat_event::{Access, AccessKind, Prior, SiteId, Slot};
use thin_vec::ThinVec;

/// A class of accesses. Two accesses conflict by their classes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Read or write.
    pub kind: AccessKind,
    /// Atomic or plain.
    pub atomic: bool,
}

impl Class {
    /// Plain reads.
    pub const READ: Class = Class {
        kind: AccessKind::Read,
        atomic: false,
    };
    /// Plain writes, frees among them.
    pub const WRITE: Class = Class {
        kind: AccessKind::Write,
        atomic: false,
    };
    /// Atomic reads.
    pub const LOAD: Class = Class {
        kind: AccessKind::Read,
        atomic: true,
    };
    /// Atomic writes, read-modify-writes among them.
    pub const STORE: Class = Class {
        kind: AccessKind::Write,
        atomic: true,
    };

    /// All four, in the order of [`Class::index`].
    pub const ALL: [Class; 4] = [Class::READ, Class::WRITE, Class::LOAD, Class::STORE];

    /// The class of an access.
    #[inline]
    pub fn of(access: &Access) -> Class {
        Class {
            kind: access.kind,
            atomic: access.atomic,
        }
    }

    /// A number from 0 to 3.
    #[inline]
    pub const fn index(self) -> usize {
        matches!(self.kind, AccessKind::Write) as usize + 2 * self.atomic as usize
    }

    /// Whether accesses of the two classes can race: one writes, and not both are atomic.
    #[inline]
    pub fn conflicts(self, other: Class) -> bool {
        (self.kind == AccessKind::Write || other.kind == AccessKind::Write) && !(self.atomic && other.atomic)
    }

    /// An access of this class as the earlier side of a race.
    pub fn prior(self, epoch: Epoch, site: SiteId) -> Prior {
        Prior {
            slot: epoch.slot(),
            timestamp: epoch.time(),
            kind: self.kind,
            atomic: self.atomic,
            site,
        }
    }
}

/// The last access of one class by one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    epoch: Epoch,
    site: SiteId,
    class: Class,
}

impl Last {
    /// When the access was made, and by whom.
    #[inline]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Makes it a later access of the same class and thread.
    #[inline]
    pub fn renew(&mut self, epoch: Epoch, site: SiteId) {
        debug_assert_eq!(self.epoch.slot(), epoch.slot());
        (self.epoch, self.site) = (epoch, site);
    }

    /// What entries are sorted by.
    #[inline]
    fn key(&self) -> u64 {
        key(self.class, self.epoch.slot())
    }
}

#[inline]
fn key(class: Class, slot: Slot) -> u64 {
    (class.index() as u64) << 32 | u64::from(slot.0)
}

const _: () = assert!(size_of::<Last>() == 16);

/// Lists up to here are searched from the front.
const SHORT: usize = 8;

/// The last access of each class by each thread that made one. One word while there are none.
///
/// Sorted by class and thread, so that equal histories are equal values however they came about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses(
    /// `None` while there are none: an empty vector would have to be read from memory to be told.
    Option<ThinVec<Last>>,
);

const _: () = assert!(size_of::<Accesses>() == 8);

impl Accesses {
    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    fn all(&self) -> &[Last] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The first class in the order of [`Class::index`] that there is an access of, and the last.
    #[inline]
    pub fn classes(&self) -> Option<(Class, Class)> {
        Some((self.all().first()?.class, self.all().last()?.class))
    }

    /// The last access of a class by a thread, to be replaced by a later one of the same thread.
    #[inline]
    pub fn find(&mut self, class: Class, slot: Slot) -> Option<&mut Last> {
        let key = key(class, slot);
        let all = self.0.as_deref_mut()?;
        // Where all threads have been here, plain reads stand in their slots' places: no search, no wrong guess.
        let place = match all.get(slot.index()) {
            Some(last) if last.key() == key => slot.index(),
            _ => all.iter().position(|last| last.key() == key)?,
        };
        all.get_mut(place)
    }

    /// Whether `thread` has made an access of a class in its present time.
    #[inline]
    pub fn has(&self, class: Class, thread: &HbThread) -> bool {
        self.all()
            .iter()
            .any(|last| last.epoch == thread.epoch() && last.class == class)
    }

    /// An access of the given classes that is not ordered before what `thread` does now.
    #[inline]
    pub fn unordered(&self, thread: &HbThread, classes: impl Fn(Class) -> bool) -> Option<Prior> {
        let last = self
            .all()
            .iter()
            .find(|last| classes(last.class) && !thread.knows(last.epoch))?;
        Some(last.class.prior(last.epoch, last.site))
    }

    /// Renews the last access of a class by the thread of `epoch`, if there is one and no plain read is among all.
    #[inline]
    pub fn renew_atomic(&mut self, class: Class, epoch: Epoch, site: SiteId) -> bool {
        let Some(all) = self.0.as_deref_mut() else {
            return false;
        };
        if all.first().is_none_or(|first| first.class == Class::READ) {
            return false;
        }
        let found = if all.len() <= SHORT {
            let is = |last: &&mut Last| last.epoch.slot() == epoch.slot() && last.class == class;
            all.iter_mut().find(is)
        } else {
            let place = all.binary_search_by_key(&key(class, epoch.slot()), Last::key);
            place.ok().and_then(|place| all.get_mut(place))
        };
        found.is_some_and(|last| {
            last.renew(epoch, site);
            true
        })
    }

    /// All accesses of the given classes, ordered or not.
    pub fn of(&self, classes: impl Fn(Class) -> bool) -> impl Iterator<Item = Prior> {
        self.all()
            .iter()
            .filter(move |last| classes(last.class))
            .map(|last| last.class.prior(last.epoch, last.site))
    }

    /// Remembers an access as the last of its class and thread.
    pub fn put(&mut self, class: Class, epoch: Epoch, site: SiteId) {
        let new = Last { epoch, site, class };
        let all = self.0.get_or_insert_default();
        match all.binary_search_by_key(&new.key(), Last::key) {
            Ok(place) => all[place] = new,
            Err(place) => all.insert(place, new),
        }
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        self.0.as_ref().map_or(0, ThinVec::capacity) * size_of::<Last>()
    }
}
