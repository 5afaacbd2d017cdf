//! The last accesses to a location, for reports: lockset algorithms need none, but a warning without an earlier access
//! is of little use (MultiRace §10.1 has none to show for a violation; we do).

use crate::clock::Epoch;
use crate::history::Class;
use deadheat_event::{AccessKind, Prior, SiteId, Slot};

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

    /// The thread of the last access, if there was one.
    #[inline]
    pub fn last_slot(&self) -> Option<Slot> {
        (self.last != Epoch::NEVER).then(|| self.last.slot())
    }

    /// Remembers an access.
    #[inline]
    pub fn record(&mut self, epoch: Epoch, class: Class, site: SiteId) {
        if let Some(before) = self.last_slot()
            && before != epoch.slot()
        {
            // A write is the better witness: later reads do not push it out.
            let keep = self.other != Epoch::NEVER
                && self.other.slot() != epoch.slot()
                && writes(self.other_class)
                && !writes(self.last_class);
            if !keep {
                self.other = self.last;
                self.other_site = self.last_site;
                self.other_class = self.last_class;
            }
        }
        self.last = epoch;
        self.last_site = site;
        self.last_class = class.index() as u8;
    }

    /// The earlier access to show for a warning at an access of `slot`: by another thread, and one that conflicts if
    /// it is remembered.
    pub fn prior(&self, slot: Slot, class: Class) -> Option<Prior> {
        let last = (self.last, self.last_class, self.last_site);
        let other = (self.other, self.other_class, self.other_site);
        let by_others = || {
            [last, other]
                .into_iter()
                .filter(|(epoch, ..)| *epoch != Epoch::NEVER && epoch.slot() != slot)
                .map(|(epoch, index, site)| (epoch, Class::ALL[usize::from(index)], site))
        };
        by_others()
            .find(|(_, before, _)| before.conflicts(class))
            .or_else(|| by_others().next())
            .map(|(epoch, before, site)| Prior {
                slot: epoch.slot(),
                timestamp: epoch.time(),
                kind: before.kind,
                atomic: before.atomic,
                site,
            })
    }
}

fn writes(index: u8) -> bool {
    Class::ALL[usize::from(index)].kind == AccessKind::Write
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Class = Class {
        kind: AccessKind::Read,
        atomic: false,
    };
    const WRITE: Class = Class {
        kind: AccessKind::Write,
        atomic: false,
    };

    fn check(accesses: &[(u32, Class)], at: (u32, Class), expect: Option<usize>) {
        let mut trail = Trail::default();
        for (i, (slot, class)) in accesses.iter().enumerate() {
            trail.record(Epoch::new(Slot(*slot), 1), *class, SiteId(i as u32));
        }
        let prior = trail.prior(Slot(at.0), at.1);
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
        check(
            &[(1, WRITE), (2, READ), (3, READ), (2, READ)],
            (0, READ),
            Some(0),
        );
        check(&[(1, READ), (2, READ)], (0, READ), Some(1));
    }
}
