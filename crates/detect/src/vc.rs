//! Plain vector clocks: the algorithm of SHRINKWRAP Figure 2.9 (after Mattern, and Pozniansky and Schuster).
//!
//! Each location keeps, for each class of access, a vector clock with the time of every thread's last access. An access
//! compares whole clocks. Nothing is saved: this is the baseline that the others are measured from.
//!
//! Deviations: atomic reads and writes have clocks of their own, because two atomics do not race; program locations are
//! kept beside the clocks for the report.
//!
//! Guarantee: reports exactly the accesses that race with an earlier one (not only the first for each location), each
//! with one of its earlier partners.

use crate::clock::{Epoch, VectorClock};
use crate::elements::element_wise;
use crate::hb::{HbThread, happens_before};
use crate::history::Class;
use deadheat_event::{Access, Detector, Prior, RaceKind, SiteId, Slot, Stats};

/// The plain vector clock detector.
#[derive(Debug, Default)]
pub struct Vc {
    stats: Stats,
}

/// One clock for each class of access, made when first needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    classes: [Option<Box<Clocked>>; 4],
}

impl Location {
    /// When each thread last accessed the location in this way: the papers' r and w.
    pub fn clock(&self, class: Class) -> VectorClock {
        let clocked = self.classes[class.index()].as_ref();
        clocked.map_or_else(VectorClock::default, |clocked| clocked.clock.clone())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Clocked {
    clock: VectorClock,
    sites: Vec<SiteId>,
}

impl Detector for Vc {
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
        let now = thread.clock();
        let class = Class::of(access);
        self.stats.race_checks += 1;
        let mut race = None;
        for other in Class::ALL.into_iter().filter(|other| other.conflicts(class)) {
            let Some(clocked) = &location.classes[other.index()] else {
                continue;
            };
            self.stats.clock_ops += 1;
            if race.is_none() && !clocked.clock.le(&now) {
                race = clocked
                    .unordered(&now)
                    .map(|(epoch, site)| other.prior(epoch, site));
            }
        }
        let clocked = location.classes[class.index()].get_or_insert_with(|| {
            self.stats.clock_allocs += 1;
            Box::default()
        });
        clocked.put(thread.slot(), thread.time(), access.site);
        race.map(|prior| (RaceKind::HappensBefore, Some(prior)))
    }

    fn location_bytes(&self, location: &Location) -> usize {
        location
            .classes
            .iter()
            .flatten()
            .map(|c| size_of::<Clocked>() + c.clock.bytes() + c.sites.capacity() * size_of::<SiteId>())
            .sum()
    }

    fn stats(&self) -> Stats {
        self.stats.clone()
    }
}

impl Clocked {
    fn put(&mut self, slot: Slot, time: u64, site: SiteId) {
        self.clock.set(slot, time);
        if slot.index() >= self.sites.len() {
            self.sites.resize(slot.index() + 1, SiteId::default());
        }
        self.sites[slot.index()] = site;
    }

    fn unordered(&self, now: &VectorClock) -> Option<(Epoch, SiteId)> {
        let (slot, time) = self.clock.iter().find(|(slot, time)| *time > now.get(*slot))?;
        Some((Epoch::new(slot, time), self.sites[slot.index()]))
    }
}
