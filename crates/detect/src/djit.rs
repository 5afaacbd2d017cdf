//! DJIT+ (MultiRace §3, Figure 3).
//!
//! Time frames instead of logical times for each event: a thread's frame ends with each release. Only the first read
//! and the first write of a location in a frame are logged and checked, and only against the last frame in which each
//! other thread accessed the location (Claims 1 to 3 show that this suffices).
//!
//! Deviations: frames are numbered so that a release publishes the frame that it ends (the paper starts the new frame
//! first and compares with ≥); only threads that touched the location have an entry; atomic accesses are classes of
//! their own. A first write in a frame is checked even after a read in the same frame, a read after a write is not.
//!
//! Guarantee: the same racing locations as the full happens-before relation, and the first race of each.

use crate::elements::element_wise;
use crate::hb::{HbThread, happens_before};
use crate::history::{Accesses, Class};
use deadheat_event::{Access, AccessKind, Detector, Prior, RaceKind, Slot, Stats};

/// The DJIT+ detector.
#[derive(Debug, Default)]
pub struct Djit {
    stats: Stats,
}

/// The access history of a location: the last frame of each thread, for each class of access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    accesses: Accesses,
}

impl Location {
    /// Whether the access is the first of its kind in the thread's frame.
    pub fn is_first(&self, thread: &HbThread, class: Class) -> bool {
        let logged = |kind| self.accesses.has(Class { kind, ..class }, thread);
        !(logged(AccessKind::Write) || class.kind == AccessKind::Read && logged(AccessKind::Read))
    }

    /// An earlier conflicting access that is unordered with what the thread does now.
    pub fn check(&self, thread: &HbThread, class: Class) -> Option<Prior> {
        self.accesses.unordered(thread, |other| other.conflicts(class))
    }

    /// The last accesses of all slots that conflict with one of `class`, ordered or not.
    pub fn conflicting(&self, class: Class) -> impl Iterator<Item = Prior> {
        self.accesses.of(move |other| other.conflicts(class))
    }

    /// Logs the access.
    pub fn log(&mut self, thread: &HbThread, class: Class, access: &Access) {
        self.accesses.put(class, thread.epoch(), access.site);
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        self.accesses.bytes()
    }
}

impl Detector for Djit {
    type Thread = HbThread;
    type Location = Location;
    happens_before!();
    element_wise!();

    fn start(&mut self, slot: Slot, predecessor: Option<&HbThread>) -> HbThread {
        HbThread::new(slot, predecessor)
    }

    fn access(
        &mut self,
        thread: &mut HbThread,
        location: &mut Location,
        access: &Access,
    ) -> Option<(RaceKind, Option<Prior>)> {
        let class = Class::of(access);
        if !location.is_first(thread, class) {
            match class.kind {
                AccessKind::Read => self.stats.same_epoch_reads += 1,
                AccessKind::Write => self.stats.same_epoch_writes += 1,
            }
            return None;
        }
        self.stats.race_checks += 1;
        let race = location.check(thread, class);
        location.log(thread, class, access);
        race.map(|prior| (RaceKind::HappensBefore, Some(prior)))
    }

    fn location_bytes(&self, location: &Location) -> usize {
        location.bytes()
    }

    fn stats(&self) -> Stats {
        self.stats.clone()
    }
}
