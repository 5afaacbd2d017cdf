//! FastTrack (Flanagan and Freund; SHRINKWRAP §2.2): epochs, and a read state that adapts.
//!
//! A location remembers its last plain write as one epoch and its plain reads as one epoch while they are ordered, as
//! one entry for each reader while they are not. Most accesses are answered by comparing one word.
//!
//! Deviations: a read in the epoch of the thread's own write is answered at once as well, because whatever races with
//! the read races with that write; a write forgets all reads, ordered before it or just reported; atomic accesses, which
//! are not ordered among themselves, are kept beside the readers, each thread's last load and last store.
//!
//! Guarantee: the same racing locations as the full happens-before relation, and the first race of each. Later races of
//! a location that has raced may be missed.

use crate::clock::Epoch;
use crate::elements::element_wise;
use crate::hb::{HbThread, happens_before};
use crate::history::{Accesses, Class, Last};
use deadheat_event::{Access, AccessKind, Detector, Prior, RaceKind, SiteId, Slot, Stats};

/// The FastTrack detector.
#[derive(Debug, Default)]
pub struct FastTrack {
    same_epoch_reads: u64,
    same_epoch_writes: u64,
    race_checks: u64,
    /// Read states that had to become one entry for each reader.
    inflations: u64,
}

/// State of a location. Written and read only by the access being checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The last plain write.
    write: Epoch,
    /// The last plain read, if all of them are ordered; else [`Epoch::NEVER`], and they are in `more`.
    read: Epoch,
    write_site: SiteId,
    read_site: SiteId,
    more: Option<Box<More>>,
}

const _: () = assert!(size_of::<Location>() == 32, "half a cache line");

/// What does not fit into two epochs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct More {
    /// Plain reads that are not ordered among themselves.
    reads: Accesses,
    loads: Accesses,
    stores: Accesses,
}

const READ: Class = Class {
    kind: AccessKind::Read,
    atomic: false,
};
const WRITE: Class = Class {
    kind: AccessKind::Write,
    atomic: false,
};
const LOAD: Class = Class {
    kind: AccessKind::Read,
    atomic: true,
};
const STORE: Class = Class {
    kind: AccessKind::Write,
    atomic: true,
};

impl FastTrack {
    fn read(&mut self, thread: &HbThread, location: &mut Location, site: SiteId) -> Option<Prior> {
        let now = thread.epoch();
        self.race_checks += 1;
        let race = location.write_unordered(thread);
        let Some(more) = &mut location.more else {
            if thread.knows(location.read) {
                (location.read, location.read_site) = (now, site);
            } else {
                self.inflations += 1;
                let more = location.more.insert(Box::default());
                more.reads.put(last(location.read, location.read_site));
                more.reads.put(last(now, site));
                location.read = Epoch::NEVER;
            }
            return race;
        };
        let race = race.or_else(|| more.stores.unordered(thread).map(|l| STORE.prior(l)));
        if !more.reads.is_empty() {
            more.reads.put(last(now, site));
        } else if thread.knows(location.read) {
            (location.read, location.read_site) = (now, site);
        } else {
            self.inflations += 1;
            more.reads.put(last(location.read, location.read_site));
            more.reads.put(last(now, site));
            location.read = Epoch::NEVER;
        }
        race
    }

    fn write(&mut self, thread: &HbThread, location: &mut Location, site: SiteId) -> Option<Prior> {
        self.race_checks += 1;
        let mut race = location
            .write_unordered(thread)
            .or_else(|| location.read_unordered(thread));
        if let Some(more) = location.more.take() {
            race = race
                .or_else(|| more.loads.unordered(thread).map(|l| LOAD.prior(l)))
                .or_else(|| more.stores.unordered(thread).map(|l| STORE.prior(l)));
        }
        (location.write, location.write_site) = (thread.epoch(), site);
        location.read = Epoch::NEVER;
        race
    }

    #[cold]
    fn atomic(&mut self, thread: &HbThread, location: &mut Location, access: &Access) -> Option<Prior> {
        self.race_checks += 1;
        let mut race = location.write_unordered(thread);
        if access.kind == AccessKind::Write {
            race = race.or_else(|| location.read_unordered(thread));
        }
        let more = location.more.get_or_insert_default();
        let accesses = if access.kind == AccessKind::Read {
            &mut more.loads
        } else {
            &mut more.stores
        };
        accesses.put(last(thread.epoch(), access.site));
        race
    }
}

impl Location {
    #[inline]
    fn write_unordered(&self, thread: &HbThread) -> Option<Prior> {
        (!thread.knows(self.write)).then(|| WRITE.prior(&last(self.write, self.write_site)))
    }

    #[inline]
    fn read_unordered(&self, thread: &HbThread) -> Option<Prior> {
        if !thread.knows(self.read) {
            return Some(READ.prior(&last(self.read, self.read_site)));
        }
        let more = self.more.as_ref()?;
        more.reads.unordered(thread).map(|l| READ.prior(l))
    }
}

fn last(epoch: Epoch, site: SiteId) -> Last {
    Last {
        slot: epoch.slot(),
        time: epoch.time(),
        site,
    }
}

impl Detector for FastTrack {
    type Thread = HbThread;
    type Location = Location;
    happens_before!();
    element_wise!();

    fn start(&mut self, slot: Slot, predecessor: Option<&HbThread>) -> HbThread {
        HbThread::new(slot, predecessor)
    }

    #[inline]
    fn access(
        &mut self,
        thread: &mut HbThread,
        location: &mut Location,
        access: &Access,
    ) -> Option<(RaceKind, Option<Prior>)> {
        let now = thread.epoch();
        let race = if access.atomic {
            self.atomic(thread, location, access)
        } else if access.kind == AccessKind::Read {
            if location.read == now || location.write == now {
                self.same_epoch_reads += 1;
                return None;
            }
            self.read(thread, location, access.site)
        } else {
            if location.write == now {
                self.same_epoch_writes += 1;
                return None;
            }
            self.write(thread, location, access.site)
        };
        race.map(|prior| (RaceKind::HappensBefore, Some(prior)))
    }

    fn location_bytes(&self, location: &Location) -> usize {
        location.more.as_ref().map_or(0, |more| {
            size_of::<More>() + more.reads.bytes() + more.loads.bytes() + more.stores.bytes()
        })
    }

    fn stats(&self) -> Stats {
        Stats {
            same_epoch_reads: self.same_epoch_reads,
            same_epoch_writes: self.same_epoch_writes,
            race_checks: self.race_checks,
            clock_allocs: self.inflations,
            ..Stats::default()
        }
    }
}
