//! Goldilocks as printed (Figure 1): every synchronisation updates the lockset of every access that is remembered.
//!
//! Slow and obvious, for tests and for the paper's worked example; [`lazy`](super::lazy) is the one to use. See
//! [the module above](super) for what both do differently from the paper, and for the guarantee.

use super::rules::{self, Names, ObjectTokens, Rule, ThreadTokens, Token};
use crate::elements::element_wise;
use crate::history::Class;
use deadheat_event::{Access, AccessKind, Detector, Order, Prior, RaceKind, SiteId, Slot, Stats, SyncOp};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::{Rc, Weak};

/// The eager Goldilocks detector.
#[derive(Debug, Default)]
pub struct GoldilocksEager {
    names: Names,
    live: Locksets,
    race_checks: u64,
}

/// Every lockset that some location still holds.
#[derive(Debug, Default)]
struct Locksets {
    all: Vec<Weak<RefCell<BTreeSet<Token>>>>,
    rules_applied: u64,
    made: u64,
}

/// A thread.
#[derive(Debug)]
pub struct Thread {
    tokens: ThreadTokens,
    slot: Slot,
}

/// For each class of access, the last one of each thread since the last plain write (of plain writes, only that one).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    classes: [Vec<Entry>; 4],
}

/// One access. Locations that part ways share its lockset: who knows an access does not depend on the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    thread: u32,
    slot: Slot,
    site: SiteId,
    lockset: Rc<RefCell<BTreeSet<Token>>>,
}

impl Location {
    /// The locksets of a class of accesses, oldest first.
    pub fn locksets(&self, class: Class) -> Vec<BTreeSet<Token>> {
        self.classes[class.index()]
            .iter()
            .map(|entry| entry.lockset.borrow().clone())
            .collect()
    }
}

impl Thread {
    /// The thread in locksets.
    pub fn token(&self) -> Token {
        self.tokens.token()
    }
}

impl Locksets {
    /// The lockset of an access that happens now.
    fn one(&mut self, token: Token) -> Rc<RefCell<BTreeSet<Token>>> {
        let lockset = Rc::new(RefCell::new(BTreeSet::from([token])));
        self.all.push(Rc::downgrade(&lockset));
        self.made += 1;
        lockset
    }

    fn apply(&mut self, rule: Rule) {
        self.all.retain(|lockset| {
            let Some(lockset) = lockset.upgrade() else {
                return false;
            };
            let mut lockset = lockset.borrow_mut();
            self.rules_applied += 1;
            match rule {
                Rule::Add { to, from } | Rule::Set { to, from } if lockset.contains(&from) => {
                    lockset.insert(to);
                }
                Rule::Add { .. } => {}
                Rule::Set { to, .. } | Rule::Clear { to } => {
                    lockset.remove(&to);
                }
            }
            true
        });
    }
}

impl Detector for GoldilocksEager {
    type Thread = Thread;
    type Sync = ObjectTokens;
    type Location = Location;
    element_wise!();

    fn start(&mut self, slot: Slot, _predecessor: Option<&Thread>) -> Thread {
        Thread {
            tokens: ThreadTokens::new(&mut self.names),
            slot,
        }
    }

    fn can_follow(&self, ended: &Thread, parent: &Thread) -> bool {
        ended.tokens.can_be_followed(&parent.tokens)
    }

    fn timestamp(&self, thread: &Thread) -> u64 {
        thread.tokens.name().into()
    }

    fn sync(&mut self, thread: &mut Thread, op: SyncOp, object: &mut ObjectTokens) {
        rules::sync(&mut self.names, &mut thread.tokens, op, object, |rule| {
            self.live.apply(rule);
        });
    }

    fn fence(&mut self, thread: &mut Thread, order: Order) {
        rules::fence(&mut thread.tokens, order, |rule| self.live.apply(rule));
    }

    fn fork(&mut self, parent: &mut Thread, child: &mut Thread) {
        self.live.apply(rules::fork(&parent.tokens, &child.tokens));
    }

    fn join(&mut self, thread: &mut Thread, child: &mut Thread) {
        self.live.apply(rules::join(&thread.tokens, &mut child.tokens));
    }

    fn access(
        &mut self,
        thread: &mut Thread,
        location: &mut Location,
        access: &Access,
    ) -> Option<(RaceKind, Option<Prior>)> {
        let class = Class::of(access);
        self.race_checks += 1;
        thread.tokens.goes_on();
        let race = Class::ALL
            .into_iter()
            .filter(|other| other.conflicts(class))
            .find_map(|other| {
                let unordered = |entry: &&Entry| !entry.lockset.borrow().contains(&thread.token());
                let entry = location.classes[other.index()].iter().find(unordered)?;
                Some(entry.prior(other))
            });
        if class.kind == AccessKind::Write && !class.atomic {
            *location = Location::default();
        }
        let entries = &mut location.classes[class.index()];
        entries.retain(|entry| entry.thread != thread.tokens.name());
        entries.push(Entry {
            thread: thread.tokens.name(),
            slot: thread.slot,
            site: access.site,
            lockset: self.live.one(thread.token()),
        });
        race.map(|prior| (RaceKind::HappensBefore, Some(prior)))
    }

    fn location_bytes(&self, location: &Location) -> usize {
        let entries = location.classes.iter().flatten();
        let locksets: usize = entries
            .map(|entry| entry.lockset.borrow().len() * size_of::<Token>())
            .sum();
        let capacity: usize = location.classes.iter().map(Vec::capacity).sum();
        locksets + capacity * size_of::<Entry>()
    }

    fn sync_bytes(&self, object: &ObjectTokens) -> usize {
        object.bytes()
    }

    fn stats(&self) -> Stats {
        Stats {
            race_checks: self.race_checks,
            clock_ops: self.live.rules_applied,
            clock_allocs: self.live.made,
            bytes: (self.names.bytes()
                + self.live.all.capacity() * size_of::<Weak<RefCell<BTreeSet<Token>>>>())
                as u64,
            ..Stats::default()
        }
    }
}

impl Entry {
    fn prior(&self, class: Class) -> Prior {
        Prior {
            slot: self.slot,
            timestamp: self.thread.into(),
            kind: class.kind,
            atomic: class.atomic,
            site: self.site,
        }
    }
}
