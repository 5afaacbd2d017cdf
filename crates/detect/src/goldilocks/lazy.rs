//! Goldilocks with lazy evaluation (Figure 3): the update list, short-circuits, and collection.
//!
//! Synchronisation appends to the [`UpdateList`]; an access first tries what costs nothing and then evaluates locksets:
//! 1. The thread has made this access in its present frame: nothing to do (FastTrack's same-epoch test).
//! 2. *Owner*: the earlier access was made in the same slot. Slots are shared only by threads of which one has joined
//!    the other before it forked the next (`can_follow`), so this is program order or a join.
//! 3. The thread has already been checked against the last write: it has accessed the location since.
//! 4. *Lock*: both accesses in sections of one lock that exclude each other (see [`alock`](super::alock)).
//! 5. The thread is known to come after a later frame of the same owner, so after this one too.
//! 6. The lockset of the earlier access's frame, from its position to the end of the list or to the thread's token.
//!
//! Deviations: each remembered access has its own `alock`, since a location has several of them; the lock is chosen in
//! turn, not at random; see also [`frames`](super::frames) and [the module above](super), which states the guarantee.
//!
//! Cost: where each location is used by one thread (LocalSpot) or under one lock (SharedSpot), accesses and
//! synchronisation take constant time whatever the number of threads.

use super::alock::{Chain, Held, Section};
use super::frames::{Frame, Size, UpdateList};
use super::rules::{self, Names, ObjectTokens, Rule, ThreadTokens};
use crate::elements::element_wise;
use crate::history::Class;
use deadheat_event::{Access, AccessKind, Detector, Order, Prior, RaceKind, SiteId, Slot, Stats, SyncOp};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The lazy Goldilocks detector.
#[derive(Debug, Default)]
pub struct Goldilocks {
    names: Names,
    list: UpdateList,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    same_frame_reads: u64,
    same_frame_writes: u64,
    race_checks: u64,
    short_circuits: u64,
}

/// A thread.
#[derive(Debug)]
pub struct Thread {
    tokens: ThreadTokens,
    slot: Slot,
    held: Held,
    /// The present frame, from its first access on.
    frame: Option<Rc<Frame>>,
    answers: Answers,
}

/// What a thread was found to come after: for each other thread, the largest frame number.
///
/// Who knows a frame knows all earlier ones of the same owner, and nobody forgets. So an answer holds for good, and one
/// lockset answers for many frames. Filled by answers alone: synchronisation does not touch it.
#[derive(Debug, Default)]
struct Answers {
    frames: FxHashMap<u32, u64>,
}

/// An answer can be found again, so there is no need to keep those of thousands of threads.
const MOST_ANSWERS: usize = 1 << 12;

impl Answers {
    #[inline]
    fn have(&self, frame: &Frame) -> bool {
        self.frames
            .get(&frame.owner())
            .is_some_and(|number| *number >= frame.number())
    }

    fn add(&mut self, frame: &Frame) {
        if self.frames.len() >= MOST_ANSWERS {
            self.frames.clear();
        }
        self.frames.insert(frame.owner(), frame.number());
    }
}

/// A lock, barrier, channel, atomic or object.
#[derive(Debug, Default)]
pub struct Object {
    tokens: ObjectTokens,
    chain: Chain,
}

/// What is remembered of a location's accesses since its last plain write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    write: Option<Entry>,
    /// The first reader, or one that came after it and is ordered so. Other readers are in `more`.
    read: Option<Entry>,
    more: Option<Box<More>>,
}

/// What most locations do not have. At most one entry in each for a slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct More {
    reads: Vec<Entry>,
    loads: Vec<Entry>,
    stores: Vec<Entry>,
}

/// The paper's `Info`: one access.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    frame: Rc<Frame>,
    site: SiteId,
    alock: Option<Section>,
}

const _: () = assert!(size_of::<Location>() == 56, "below a cache line");

impl Goldilocks {
    /// A detector whose update list is collected only when it has `cells` cells. For tests and measurements.
    pub fn with_list_bound(cells: usize) -> Goldilocks {
        Goldilocks {
            list: UpdateList::with_bound(cells),
            ..Goldilocks::default()
        }
    }

    /// What the update list and the locksets hold now.
    pub fn size(&self) -> Size {
        self.list.size()
    }

    /// Notes a rule down. What a thread does after a rule that takes from it belongs to a new frame.
    fn note(list: &mut UpdateList, frame: &mut Option<Rc<Frame>>, me: &rules::Token, rule: Rule) {
        if rule.from() == Some(*me) {
            *frame = None;
        }
        list.push(rule);
    }
}

impl Detector for Goldilocks {
    type Thread = Thread;
    type Sync = Object;
    type Location = Location;
    element_wise!();

    fn start(&mut self, slot: Slot, _predecessor: Option<&Thread>) -> Thread {
        Thread {
            tokens: ThreadTokens::new(&mut self.names),
            slot,
            held: Held::default(),
            frame: None,
            answers: Answers::default(),
        }
    }

    fn can_follow(&self, ended: &Thread, parent: &Thread) -> bool {
        ended.tokens.can_be_followed(&parent.tokens)
    }

    fn timestamp(&self, thread: &Thread) -> u64 {
        thread.tokens.name().into()
    }

    fn sync(&mut self, thread: &mut Thread, op: SyncOp, object: &mut Object) {
        let (list, frame, me) = (&mut self.list, &mut thread.frame, thread.tokens.token());
        rules::sync(
            &mut self.names,
            &mut thread.tokens,
            op,
            &mut object.tokens,
            |rule| Goldilocks::note(list, frame, &me, rule),
        );
        let name = thread.tokens.name();
        match op {
            SyncOp::Acquire(_, mode) => {
                let lock = object.tokens.name(&mut self.names);
                thread.held.acquire(name, lock, &mut object.chain, mode);
            }
            SyncOp::Release(_, mode) => {
                let lock = object.tokens.name(&mut self.names);
                thread.held.release(name, lock, &mut object.chain, mode);
            }
            _ => {}
        }
        self.list.collect_if_full(&mut self.names);
    }

    fn fence(&mut self, thread: &mut Thread, order: Order) {
        let (list, frame, me) = (&mut self.list, &mut thread.frame, thread.tokens.token());
        rules::fence(&mut thread.tokens, order, |rule| {
            Goldilocks::note(list, frame, &me, rule);
        });
        self.list.collect_if_full(&mut self.names);
    }

    fn fork(&mut self, parent: &mut Thread, child: &mut Thread) {
        parent.frame = None;
        self.list.push(rules::fork(&parent.tokens, &child.tokens));
        self.list.collect_if_full(&mut self.names);
    }

    fn join(&mut self, thread: &mut Thread, child: &mut Thread) {
        child.frame = None;
        self.list.push(rules::join(&thread.tokens, &mut child.tokens));
        self.list.collect_if_full(&mut self.names);
    }

    fn access(
        &mut self,
        thread: &mut Thread,
        location: &mut Location,
        access: &Access,
    ) -> Option<(RaceKind, Option<Prior>)> {
        let class = Class::of(access);
        if let Some(frame) = &thread.frame
            && location.has(frame, class)
        {
            match class.kind {
                AccessKind::Read => self.counts.same_frame_reads += 1,
                AccessKind::Write => self.counts.same_frame_writes += 1,
            }
            return None;
        }
        self.counts.race_checks += 1;
        let frame = thread.frame.get_or_insert_with(|| {
            thread.tokens.goes_on();
            self.list.frame(thread.tokens.name(), thread.slot)
        });
        let mut check = Check {
            list: &mut self.list,
            thread: thread.tokens.name(),
            slot: thread.slot,
            held: &thread.held,
            answers: &mut thread.answers,
            alock: None,
            short_circuits: 0,
        };
        let race = location.check(class, &mut check);
        let entry = Entry {
            frame: Rc::clone(frame),
            site: access.site,
            alock: check
                .alock
                .or_else(|| thread.held.pick(self.counts.race_checks as usize)),
        };
        location.remember(class, entry, &mut check);
        self.counts.short_circuits += check.short_circuits;
        race.map(|prior| (RaceKind::HappensBefore, Some(prior)))
    }

    fn location_bytes(&self, location: &Location) -> usize {
        location.more.as_ref().map_or(0, |more| {
            let entries = more.reads.capacity() + more.loads.capacity() + more.stores.capacity();
            size_of::<More>() + entries * size_of::<Entry>()
        })
    }

    fn sync_bytes(&self, object: &Object) -> usize {
        object.tokens.bytes()
    }

    fn thread_stats(&self, thread: &Thread) -> Stats {
        Stats {
            bytes: (thread.held.bytes() + thread.answers.frames.capacity() * size_of::<(u32, u64)>()) as u64,
            ..Stats::default()
        }
    }

    fn stats(&self) -> Stats {
        Stats {
            same_epoch_reads: self.counts.same_frame_reads,
            same_epoch_writes: self.counts.same_frame_writes,
            race_checks: self.counts.race_checks,
            short_circuits: self.counts.short_circuits,
            clock_ops: self.list.rules_applied(),
            clock_allocs: self.list.locksets_made(),
            bytes: (self.list.size().bytes + self.names.bytes()) as u64,
            ..Stats::default()
        }
    }
}

/// An access being checked.
struct Check<'a> {
    list: &'a mut UpdateList,
    thread: u32,
    slot: Slot,
    held: &'a Held,
    answers: &'a mut Answers,
    /// A lock held now that was held at an earlier access too.
    alock: Option<Section>,
    short_circuits: u64,
}

impl Check<'_> {
    /// Whether the earlier access happens before this one.
    fn ordered(&mut self, earlier: &Entry) -> bool {
        if self.short_circuit(earlier) || self.answers.have(&earlier.frame) {
            return true;
        }
        let ordered = self.list.happens_before(&earlier.frame, self.thread);
        if ordered {
            self.answers.add(&earlier.frame);
        }
        ordered
    }

    fn short_circuit(&mut self, earlier: &Entry) -> bool {
        let common = self.held.after(earlier.alock);
        self.alock = self.alock.or(common);
        let ordered = earlier.is_of(self.slot) || common.is_some();
        self.short_circuits += u64::from(ordered);
        ordered
    }

    /// Whether a look at what is there shows that the earlier access happens before this one.
    fn plainly_ordered(&self, earlier: &Entry) -> bool {
        earlier.is_of(self.slot)
            || self.held.after(earlier.alock).is_some()
            || self.answers.have(&earlier.frame)
            || self.list.is_known_to(&earlier.frame, self.thread)
    }
}

impl Location {
    /// Whether the access, or a write of the same kind, was made in this frame.
    #[inline]
    fn has(&self, frame: &Rc<Frame>, class: Class) -> bool {
        let made = |kind| {
            let mut entries = self.entries(Class { kind, ..class });
            entries.any(|entry| Rc::ptr_eq(&entry.frame, frame))
        };
        made(AccessKind::Write) || class.kind == AccessKind::Read && made(AccessKind::Read)
    }

    fn entries(&self, class: Class) -> impl Iterator<Item = &Entry> {
        let first = match class {
            Class::WRITE => &self.write,
            Class::READ => &self.read,
            _ => &None,
        };
        let rest = self.more.as_ref().map_or(&[][..], |more| match class {
            Class::READ => &more.reads,
            Class::WRITE => &[],
            Class {
                kind: AccessKind::Read,
                ..
            } => &more.loads,
            _ => &more.stores,
        });
        first.iter().chain(rest)
    }

    /// An earlier access that is unordered with this one.
    fn check(&self, class: Class, check: &mut Check<'_>) -> Option<Prior> {
        let past_write = self.accessed_since_write(check.slot);
        Class::ALL
            .into_iter()
            .filter(|other| other.conflicts(class) && !(*other == Class::WRITE && past_write))
            .find_map(|other| {
                let entry = self.entries(other).find(|entry| !check.ordered(entry))?;
                Some(entry.prior(other))
            })
    }

    /// Whether the slot has an access after the last write: it was checked against the write then.
    fn accessed_since_write(&self, slot: Slot) -> bool {
        Class::ALL
            .into_iter()
            .filter(|class| *class != Class::WRITE)
            .any(|class| self.entries(class).any(|entry| entry.is_of(slot)))
    }

    fn remember(&mut self, class: Class, entry: Entry, check: &mut Check<'_>) {
        match class {
            // Whatever came before is ordered before this write, or has just been reported.
            Class::WRITE => {
                *self = Location {
                    write: Some(entry),
                    ..Location::default()
                };
            }
            Class::READ => self.remember_read(entry, check),
            Class {
                kind: AccessKind::Read,
                ..
            } => put(&mut self.more.get_or_insert_default().loads, entry, check),
            _ => put(&mut self.more.get_or_insert_default().stores, entry, check),
        }
    }

    fn remember_read(&mut self, entry: Entry, check: &mut Check<'_>) {
        let own = |entry: &Entry| entry.is_of(check.slot);
        let elsewhere = self.more.as_ref().is_some_and(|more| more.reads.iter().any(own));
        match &self.read {
            Some(read) if elsewhere || !check.plainly_ordered(read) => {
                put(&mut self.more.get_or_insert_default().reads, entry, check);
            }
            _ => self.read = Some(entry),
        }
    }
}

/// So many threads must have accessed a location before locksets are evaluated to find out whom to forget.
const MANY: usize = 1024;

/// Remembers an access as the last one of its slot.
///
/// Entries that happen before it can go: what is unordered with one of them is unordered with this one too. To look for
/// them at every access would cost too much, so it is done when the memory is used up, and thoroughly only where there
/// are very many: else a location would remember every thread that ever read it.
fn put(entries: &mut Vec<Entry>, entry: Entry, check: &mut Check<'_>) {
    if let Some(own) = entries.iter_mut().find(|e| e.is_of(check.slot)) {
        *own = entry;
        return;
    }
    if entries.len() == entries.capacity() {
        let thorough = entries.len() >= MANY;
        entries.retain(|earlier| !(check.plainly_ordered(earlier) || thorough && check.ordered(earlier)));
        if entries.len() > entries.capacity() / 2 {
            entries.reserve(entries.capacity());
        }
    }
    entries.push(entry);
}

impl Entry {
    #[inline]
    fn is_of(&self, slot: Slot) -> bool {
        self.frame.slot() == slot
    }

    fn prior(&self, class: Class) -> Prior {
        Prior {
            slot: self.frame.slot(),
            timestamp: self.frame.owner().into(),
            kind: class.kind,
            atomic: class.atomic,
            site: self.site,
        }
    }
}
