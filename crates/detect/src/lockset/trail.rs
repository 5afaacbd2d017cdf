//! The last accesses to a location, for reports: lockset algorithms need none, but a warning without an earlier access
//! is of little use (MultiRace §10.1 has none to show for a violation; we do).

use crate::clock::Epoch;
use crate::history::Class;
use deadheat_event::{AccessKind, Prior, SiteId};

/// A thread at one moment. A slot may have had other threads before.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Its slot and time.
    pub epoch: Epoch,
    /// The first time of this thread in its slot.
    pub born: u64,
}

impl Now {
    /// Whether `epoch` is of this thread, not of another one, in this slot or elsewhere.
    #[inline]
    pub fn is_own(self, epoch: Epoch) -> bool {
        epoch.slot() == self.epoch.slot() && epoch.time() >= self.born
    }
}

/// The last access, and one by another thread before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    last: Epoch,
    other: Epoch,
    last_site: SiteId,
    other_site: SiteId,
    /// Indices of classes.
    last_class: u8,
    other_class: u8,
}

impl Trail {
    /// When the last access was made, and by whom.
    #[inline]
    pub fn last(&self) -> Epoch {
        self.last
    }

    /// Remembers an access.
    #[inline]
    pub fn record(&mut self, now: Now, class: Class, site: SiteId) {
        if self.last != Epoch::NEVER && !now.is_own(self.last) {
            // A write is the better witness: later reads do not push it out.
            let keep = self.other != Epoch::NEVER
                && !now.is_own(self.other)
                && writes(self.other_class)
                && !writes(self.last_class);
            if !keep {
                self.other = self.last;
                self.other_site = self.last_site;
                self.other_class = self.last_class;
            }
        }
        self.last = now.epoch;
        self.last_site = site;
        self.last_class = class.index() as u8;
    }

    /// The earlier access to show for a warning at an access of `now`: by another thread, and one that conflicts if
    /// it is remembered.
    pub fn prior(&self, now: Now, class: Class) -> Option<Prior> {
        let last = (self.last, self.last_class, self.last_site);
        let other = (self.other, self.other_class, self.other_site);
        let by_others = || {
            [last, other]
                .into_iter()
                .filter(|(epoch, ..)| *epoch != Epoch::NEVER && !now.is_own(*epoch))
                .map(|(epoch, index, site)| (epoch, Class::ALL[usize::from(index)], site))
        };
        by_others()
            .find(|(_, before, _)| before.conflicts(class))
            .or_else(|| by_others().next())
            .map(|(epoch, before, site)| before.prior(epoch, site))
    }
}

fn writes(index: u8) -> bool {
    Class::ALL[usize::from(index)].kind == AccessKind::Write
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_event::Slot;

    const READ: Class = Class {
        kind: AccessKind::Read,
        atomic: false,
    };
    const WRITE: Class = Class {
        kind: AccessKind::Write,
        atomic: false,
    };

    fn now(slot: u32, time: u64, born: u64) -> Now {
        Now {
            epoch: Epoch::new(Slot(slot), time),
            born,
        }
    }

    fn check(accesses: &[(u32, Class)], at: (u32, Class), expect: Option<usize>) {
        let mut trail = Trail::default();
        for (i, (slot, class)) in accesses.iter().enumerate() {
            trail.record(now(*slot, 1, 1), *class, SiteId(i as u32));
        }
        let prior = trail.prior(now(at.0, 1, 1), at.1);
        assert_eq!(prior.map(|p| p.site.index()), expect, "{accesses:?}");
    }

    #[test]
    fn the_last_access_by_another_thread_is_shown() {
        check(&[], (0, WRITE), None);
        check(&[(0, WRITE)], (0, WRITE), None);
        check(&[(1, WRITE)], (0, WRITE), Some(0));
        check(&[(1, WRITE), (0, WRITE), (0, WRITE)], (0, WRITE), Some(0));
        check(&[(1, WRITE), (2, WRITE)], (0, WRITE), Some(1));
        check(&[(1, WRITE), (0, READ), (2, READ)], (0, WRITE), Some(2));
    }

    #[test]
    fn a_write_is_shown_to_a_read_whatever_was_read_since() {
        check(&[(1, WRITE), (2, READ), (3, READ), (2, READ)], (0, READ), Some(0));
        check(&[(1, READ), (2, READ)], (0, READ), Some(1));
    }

    #[test]
    fn threads_that_share_a_slot_are_told_apart() {
        let mut trail = Trail::default();
        trail.record(now(0, 3, 1), WRITE, SiteId(7));
        let prior = trail.prior(now(0, 5, 4), WRITE);
        assert_eq!(prior.map(|p| (p.timestamp, p.site)), Some((3, SiteId(7))));
        assert_eq!(trail.prior(now(0, 5, 1), WRITE), None);
    }
}
