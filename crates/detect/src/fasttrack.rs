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
use crate::history::{Accesses, Class};
use deadheat_event::{Access, AccessKind, Detector, Prior, RaceKind, SiteId, Slot, Stats};
use std::hint::select_unpredictable;

/// The FastTrack detector.
#[derive(Debug, Default)]
pub struct FastTrack {
    /// Reads and writes in an epoch that has one already.
    same_epoch: [u64; 2],
    race_checks: u64,
    /// Read states that had to become one entry for each reader.
    inflations: u64,
}

/// State of a location. Written and read only by the access being checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The last plain write.
    write: Epoch,
    /// The last plain read. The ones before it are ordered before it, unless `more` has plain reads: then they are all
    /// there, this one too.
    read: Epoch,
    write_site: SiteId,
    read_site: SiteId,
    /// What does not fit into two epochs: plain reads that are not ordered among themselves, and each thread's last
    /// atomic load and store.
    more: Accesses,
}

const _: () = assert!(size_of::<Location>() == 32, "half a cache line");

impl FastTrack {
    #[inline(never)]
    fn read(&mut self, thread: &HbThread, location: &mut Location, site: SiteId) -> Option<Prior> {
        let now = thread.epoch();
        if !location.more.is_empty() {
            return self.read_shared(thread, location, site);
        }
        self.race_checks += 1;
        let race = location.write_unordered(thread);
        if !thread.knows(location.read) {
            self.inflate(location, now, site);
        }
        (location.read, location.read_site) = (now, site);
        race
    }

    /// A read of a location with atomic accesses or unordered reads.
    fn read_shared(&mut self, thread: &HbThread, location: &mut Location, site: SiteId) -> Option<Prior> {
        let now = thread.epoch();
        let (first, last) = location.more.classes()?;
        let mine = if first == Class::READ {
            location.more.find(Class::READ, now.slot())
        } else {
            None
        };
        if mine.as_ref().is_some_and(|mine| mine.epoch() == now) {
            self.same_epoch[0] += 1;
            return None;
        }
        self.race_checks += 1;
        if let Some(mine) = mine {
            mine.renew(now, site);
        } else if first == Class::READ {
            location.more.put(Class::READ, now, site);
        } else if !thread.knows(location.read) {
            self.inflate(location, now, site);
        }
        (location.read, location.read_site) = (now, site);
        let race = location.write_unordered(thread);
        if last == Class::STORE {
            race.or_else(|| location.more.unordered(thread, |class| class == Class::STORE))
        } else {
            race
        }
    }

    #[cold]
    fn inflate(&mut self, location: &mut Location, now: Epoch, site: SiteId) {
        self.inflations += 1;
        location.more.put(Class::READ, location.read, location.read_site);
        location.more.put(Class::READ, now, site);
    }

    #[inline(never)]
    fn write(&mut self, thread: &HbThread, location: &mut Location, site: SiteId) -> Option<Prior> {
        self.race_checks += 1;
        let mut race = location
            .write_unordered(thread)
            .or_else(|| location.read_unordered(thread));
        if !location.more.is_empty() {
            race = race.or_else(|| location.more.unordered(thread, |_| true));
            location.more = Accesses::default();
        }
        (location.write, location.write_site) = (thread.epoch(), site);
        // The site goes too: states that are equal in all that matters must compare equal to be merged.
        (location.read, location.read_site) = (Epoch::NEVER, SiteId::default());
        race
    }

    #[cold]
    fn atomic(&mut self, thread: &HbThread, location: &mut Location, access: &Access) -> Option<Prior> {
        self.race_checks += 1;
        let mut race = location.write_unordered(thread);
        if access.kind == AccessKind::Write {
            race = race
                .or_else(|| location.read_unordered(thread))
                .or_else(|| location.more.unordered(thread, |class| class == Class::READ));
        }
        location.more.put(Class::of(access), thread.epoch(), access.site);
        race
    }
}

impl Location {
    /// A location whose plain reads are ordered, and that has no atomic accesses.
    pub fn new(write: (Epoch, SiteId), read: (Epoch, SiteId)) -> Location {
        Location {
            write: write.0,
            read: read.0,
            write_site: write.1,
            read_site: read.1,
            more: Accesses::default(),
        }
    }

    /// A location with plain reads that are not ordered among themselves, no two of one slot, the last one first.
    pub fn with_reads(write: (Epoch, SiteId), reads: &[(Epoch, SiteId)]) -> Location {
        let last = reads.first().copied().unwrap_or_default();
        let mut location = Location::new(write, last);
        if reads.len() > 1 {
            for (epoch, site) in reads {
                location.more.put(Class::READ, *epoch, *site);
            }
        }
        location
    }

    /// A location with these accesses, no two of one class and slot, and one plain write at most.
    pub fn with_all(all: &[(Class, Epoch, SiteId)]) -> Location {
        let of = |class| {
            let accesses = all.iter().filter(move |access| access.0 == class);
            accesses.map(|(_, epoch, site)| (*epoch, *site))
        };
        let reads: Vec<(Epoch, SiteId)> = of(Class::READ).collect();
        let write = of(Class::WRITE).next().unwrap_or_default();
        let mut location = Location::with_reads(write, &reads);
        for (class, epoch, site) in all.iter().filter(|access| access.0.atomic) {
            location.more.put(*class, *epoch, *site);
        }
        location
    }

    /// The last plain write and the last plain read, if that is all there is.
    #[inline]
    pub fn simple(&self) -> Option<((Epoch, SiteId), (Epoch, SiteId))> {
        self.more
            .is_empty()
            .then_some(((self.write, self.write_site), (self.read, self.read_site)))
    }

    /// 0 if a plain access at `now` repeats one of its epoch. In one number, so that it is one branch: which of the two it
    /// repeats cannot be guessed.
    #[inline(always)]
    fn differs(&self, now: Epoch, write: bool) -> u64 {
        // A write repeats a write only.
        let read = self.read.differs(now) | u64::from(write);
        self.write.differs(now).min(read)
    }

    /// Not negative if all that is known of the location is its last read and write, and both happen before what the thread
    /// does now.
    #[inline(always)]
    fn lead(&self, thread: &HbThread) -> i64 {
        let more = -i64::from(!self.more.is_empty());
        thread.lead(self.write) | thread.lead(self.read) | more
    }

    /// Remembers a plain access behind all others. Without a branch: whether it writes cannot be guessed.
    #[inline(always)]
    fn renew(&mut self, now: Epoch, write: bool, site: SiteId) {
        self.write = select_unpredictable(write, now, self.write);
        self.write_site = select_unpredictable(write, site, self.write_site);
        // As in `FastTrack::write`, of reads not even the site is left.
        self.read = select_unpredictable(write, Epoch::NEVER, now);
        self.read_site = select_unpredictable(write, SiteId::default(), site);
    }

    /// An atomic access like one that is on record, by the same thread, where all plain accesses happen before it. Whether
    /// it was one; otherwise nothing was done.
    #[inline]
    pub fn repeat_atomic(&mut self, thread: &HbThread, kind: AccessKind, site: SiteId) -> bool {
        let class = Class { kind, atomic: true };
        thread.knows(self.write)
            && thread.knows(self.read)
            && self.more.renew_atomic(class, thread.epoch(), site)
    }

    #[inline]
    fn write_unordered(&self, thread: &HbThread) -> Option<Prior> {
        (!thread.knows(self.write)).then(|| Class::WRITE.prior(self.write, self.write_site))
    }

    #[inline]
    fn read_unordered(&self, thread: &HbThread) -> Option<Prior> {
        (!thread.knows(self.read)).then(|| Class::READ.prior(self.read, self.read_site))
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

    // Always: where there are many layers to be compiled it would become a call, which hands the access over in memory.
    #[inline(always)]
    fn access(
        &mut self,
        thread: &mut HbThread,
        location: &mut Location,
        access: &Access,
    ) -> Option<(RaceKind, Option<Prior>)> {
        let now = thread.epoch();
        let write = access.kind == AccessKind::Write;
        let race = if access.atomic {
            self.atomic(thread, location, access)
        } else if location.differs(now, write) == 0 {
            self.same_epoch[usize::from(write)] += 1;
            None
        } else if location.lead(thread) >= 0 {
            self.race_checks += 1;
            location.renew(now, write, access.site);
            None
        } else if write {
            self.write(thread, location, access.site)
        } else {
            self.read(thread, location, access.site)
        };
        race.map(|prior| (RaceKind::HappensBefore, Some(prior)))
    }

    fn location_bytes(&self, location: &Location) -> usize {
        location.more.bytes()
    }

    fn stats(&self) -> Stats {
        Stats {
            same_epoch_reads: self.same_epoch[0],
            same_epoch_writes: self.same_epoch[1],
            race_checks: self.race_checks,
            clock_allocs: self.inflations,
            ..Stats::default()
        }
    }
}
