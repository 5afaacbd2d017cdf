//! The off-line driver: runs a detector over the events of a trace, in their order.
//!
//! It owns all storage and does what is the same for every algorithm: thread ids to slots (and their reuse), re-entrant
//! locks, which bytes make a location, the two halves of an atomic, objects that untraced code can reach, and the races
//! as plain data. It never fails: events that make no sense (a lock not held, say) are taken as well as they can be;
//! `trace::validate` is there to find them.

use crate::keyed::{Atomics, Keyed};
use crate::objects::Objects;
use crate::shadow::Shadow;
use crate::threads::Threads;
use crate::weight::{MAX_WEIGHT, weight};
use deadheat_event::{
    Access, AccessKind, Addr, ArrayId, AtomicOp, Detector, Event, Fresh, Indices, Object, Op, Order, Place,
    Prior, Race, RaceKind, Races, Side, SiteId, Stats, SyncId, SyncOp, Tables,
};

/// An analysis of a trace, with its detector and layers chosen at run time.
pub trait Analysis {
    /// Takes the next events, at least one, but not more than weigh [`MAX_WEIGHT`] together: the caller may want to look
    /// how much memory it takes. Returns how many. Every race found is passed on at once.
    fn advance(&mut self, events: &[Event], tables: &Tables, found: &mut dyn FnMut(Race)) -> usize;

    /// Takes all of the next events.
    fn process(&mut self, mut events: &[Event], tables: &Tables, found: &mut dyn FnMut(Race)) {
        while !events.is_empty() {
            let taken = self.advance(events, tables, found);
            events = &events[taken..];
        }
    }

    /// The weight of all events so far that may have made states.
    fn weight(&self) -> u64;

    /// Makes the checks that are still put off at the end of the trace.
    fn finish(&mut self, found: &mut dyn FnMut(Race));

    /// Counters so far. Walks all states, so not for every event.
    fn stats(&self) -> Stats;
}

/// Runs a [`Detector`] over events.
pub struct Driver<D: Detector> {
    detector: D,
    threads: Threads<D::Thread>,
    /// Locks, barriers and channels. One id names one kind of object.
    syncs: Keyed<SyncId, D::Sync>,
    /// Atomics, by address.
    atomics: Atomics<D::Sync>,
    objects: Objects<D::Sync>,
    memory: Shadow<D::Location>,
    arrays: Keyed<ArrayId, D::Array>,
    /// Findings of the event at hand. Kept here so that its buffer is used again.
    findings: Findings,
    stats: Stats,
    weight: u64,
}

impl<D: Detector> Driver<D> {
    /// A driver that has seen nothing yet.
    pub fn new(detector: D) -> Driver<D> {
        Driver {
            detector,
            threads: Threads::default(),
            syncs: Keyed::default(),
            atomics: Atomics::default(),
            objects: Objects::default(),
            memory: Shadow::default(),
            arrays: Keyed::default(),
            findings: Findings::default(),
            stats: Stats::default(),
            weight: 0,
        }
    }

    /// The detector, for tests that look inside.
    pub fn detector(&self) -> &D {
        &self.detector
    }

    /// Checks the first events, as long as each is a plain access to exactly one state that is there, as most are, and
    /// there is no race. Returns how many there are, and what was found at the last of them.
    ///
    /// This loop is where an analysis spends its time: what is rare is kept out of it, so that all it needs stays in
    /// registers.
    #[inline(never)]
    fn quick_accesses(&mut self, events: &[Event]) -> (usize, Option<(RaceKind, Option<Prior>)>) {
        let mut writes = 0;
        let mut race = None;
        let mut count = 0;
        for event in events {
            // Whether it reads or writes cannot be guessed, so it is a value, not a branch.
            let (Op::Read { addr, size, .. } | Op::Write { addr, size, .. }) = event.op else {
                break;
            };
            let write = matches!(event.op, Op::Write { .. });
            let checked = self.quick_access(event, addr, size, write);
            if let Checked::Not = checked {
                break;
            }
            writes += u64::from(write);
            count += 1;
            if let Checked::Race(kind, prior) = checked {
                race = Some((kind, prior));
                break;
            }
        }
        self.stats.writes += writes;
        self.stats.reads += count as u64 - writes;
        (count, race)
    }

    #[inline(always)]
    fn quick_access(&mut self, event: &Event, addr: Addr, size: u32, write: bool) -> Checked {
        let Driver {
            detector,
            threads,
            memory,
            stats,
            ..
        } = self;
        let Some(location) = memory.exact(addr, size) else {
            return Checked::Not;
        };
        let Some(thread) = threads.near(event.thread) else {
            return Checked::Not;
        };
        let access = Access {
            place: Place::Memory { addr, size },
            kind: if write {
                AccessKind::Write
            } else {
                AccessKind::Read
            },
            atomic: false,
            site: event.site,
        };
        if !detector.admit(thread, &access) {
            stats.filtered += 1;
            return Checked::Ordered;
        }
        match detector.access(thread, location, &access) {
            None => Checked::Ordered,
            Some((kind, prior)) => Checked::Race(kind, prior),
        }
    }

    /// Reports what [`Driver::quick_accesses`] has found at an event.
    #[cold]
    fn quick_race(
        &mut self,
        event: &Event,
        number: u64,
        (kind, prior): (RaceKind, Option<Prior>),
        found: &mut dyn FnMut(Race),
    ) {
        let (access, addr, size) = match event.op {
            Op::Read { addr, size, .. } => (AccessKind::Read, addr, size),
            Op::Write { addr, size, .. } => (AccessKind::Write, addr, size),
            _ => return,
        };
        let access = Access {
            place: Place::Memory { addr, size },
            kind: access,
            atomic: false,
            site: event.site,
        };
        self.findings.memory(kind, addr, size, access, prior);
        let me = self.threads.of(event.thread, &mut self.detector);
        self.report(At::new(event, me, number), found);
    }

    /// Takes any event.
    #[inline(never)]
    fn event(&mut self, event: &Event, number: u64, tables: &Tables, found: &mut dyn FnMut(Race)) {
        let me = self.threads.of(event.thread, &mut self.detector);
        let at = At::new(event, me, number);
        match event.op {
            Op::Read { addr, size, .. } => {
                self.stats.reads += 1;
                self.memory_access(at, addr, size, AccessKind::Read, false, found);
            }
            Op::Write { addr, size, .. } => {
                self.stats.writes += 1;
                self.memory_access(at, addr, size, AccessKind::Write, false, found);
            }
            Op::ArrayRead { array, indices } => {
                self.stats.reads += 1;
                self.array_access(at, array, indices, AccessKind::Read, found);
            }
            Op::ArrayWrite { array, indices } => {
                self.stats.writes += 1;
                self.array_access(at, array, indices, AccessKind::Write, found);
            }
            op => self.synchronise(at, op, tables, found),
        }
    }

    fn memory_access(
        &mut self,
        at: At,
        addr: Addr,
        size: u32,
        kind: AccessKind,
        atomic: bool,
        found: &mut dyn FnMut(Race),
    ) {
        if self.objects.may_contain(addr, size) {
            return self.touching_access(at, addr, size, kind, atomic, found);
        }
        self.plain_access(at, addr, size, kind, atomic, found);
    }

    /// An access that may be to an object that untraced code can reach: ordered with the calls that reach it (RDIT
    /// caveat 3).
    fn touching_access(
        &mut self,
        at: At,
        addr: Addr,
        size: u32,
        kind: AccessKind,
        atomic: bool,
        found: &mut dyn FnMut(Race),
    ) {
        if !self.objects.contain(addr, size) {
            return self.plain_access(at, addr, size, kind, atomic, found);
        }
        self.commit(at, found);
        let thread = &mut self.threads.get_mut(at.me()).state;
        let detector = &mut self.detector;
        self.objects.touched(addr, size, |object| {
            detector.sync(thread, SyncOp::Touch(true), object);
        });
        self.plain_access(at, addr, size, kind, atomic, found);
        let thread = &mut self.threads.get_mut(at.me()).state;
        let detector = &mut self.detector;
        self.objects.touched(addr, size, |object| {
            detector.sync(thread, SyncOp::Touch(false), object);
        });
    }

    fn plain_access(
        &mut self,
        at: At,
        addr: Addr,
        size: u32,
        kind: AccessKind,
        atomic: bool,
        found: &mut dyn FnMut(Race),
    ) {
        let access = Access {
            place: Place::Memory { addr, size },
            kind,
            atomic,
            site: at.site,
        };
        let Driver {
            detector,
            threads,
            memory,
            findings,
            stats,
            ..
        } = self;
        let thread = &mut threads.get_mut(at.me()).state;
        if !detector.admit(thread, &access) {
            stats.filtered += 1;
            return;
        }
        memory.access(addr, size, |location, addr, size| {
            if let Some((kind, prior)) = detector.access(thread, location, &access) {
                findings.memory(kind, addr, size, access, prior);
            }
        });
        if !self.findings.0.is_empty() {
            self.report(at, found);
        }
    }

    fn array_access(
        &mut self,
        at: At,
        id: ArrayId,
        indices: Indices,
        kind: AccessKind,
        found: &mut dyn FnMut(Race),
    ) {
        self.stats.elements += indices.len();
        let access = Access {
            place: Place::Array { array: id, indices },
            kind,
            atomic: false,
            site: at.site,
        };
        let Driver {
            detector,
            threads,
            arrays,
            findings,
            stats,
            ..
        } = self;
        let thread = &mut threads.get_mut(at.me()).state;
        if !detector.admit(thread, &access) {
            stats.filtered += 1;
            return;
        }
        let array = arrays.get_or(id, |array| detector.new_array(array, None));
        detector.array(thread, id, array, indices, &access, findings);
        if !self.findings.0.is_empty() {
            self.report(at, found);
        }
    }

    /// Makes the checks that the thread has put off.
    #[inline]
    fn commit(&mut self, at: At, found: &mut dyn FnMut(Race)) {
        let Driver {
            detector,
            threads,
            arrays,
            findings,
            ..
        } = self;
        let thread = &mut threads.get_mut(at.me()).state;
        while let Some(id) = detector.pending(thread) {
            let array = arrays.get_or(id, |array| detector.new_array(array, None));
            detector.commit(thread, id, array, findings);
        }
        if !self.findings.0.is_empty() {
            self.report(at, found);
        }
    }

    fn synchronise(&mut self, at: At, op: Op, tables: &Tables, found: &mut dyn FnMut(Race)) {
        self.commit(at, found);
        match op {
            Op::Acquire { lock, mode } => {
                self.stats.locks += 1;
                if self.threads.get_mut(at.me()).acquire(lock, mode) {
                    self.sync(at, lock, SyncOp::Acquire(lock, mode));
                }
            }
            Op::Release { lock } => {
                self.stats.locks += 1;
                if let Some(mode) = self.threads.get_mut(at.me()).release(lock) {
                    self.sync(at, lock, SyncOp::Release(lock, mode));
                }
            }
            Op::Atomic {
                addr,
                size,
                op,
                order,
                ..
            } => {
                self.stats.atomics += 1;
                self.atomic(at, addr, size, op, order, found);
            }
            Op::Fence { order } => {
                self.stats.atomics += 1;
                self.detector
                    .fence(&mut self.threads.get_mut(at.me()).state, order);
            }
            Op::Fork { child } => {
                self.stats.threads += 1;
                self.threads.fork(at.me(), child, &mut self.detector);
            }
            Op::Join { child } => {
                self.stats.threads += 1;
                if let Some(child_me) = self.threads.ending(child) {
                    self.commit(at.by(child_me), found);
                }
                self.threads.join(at.me(), child, &mut self.detector);
            }
            Op::Begin => self.stats.threads += 1,
            Op::End => {
                self.stats.threads += 1;
                let id = self.threads.get_mut(at.me()).id;
                self.threads.end(id);
            }
            Op::BarrierEnter { barrier } => self.other(at, barrier, SyncOp::Enter(barrier)),
            Op::BarrierLeave { barrier } => self.other(at, barrier, SyncOp::Leave(barrier)),
            Op::Send { channel } => self.other(at, channel, SyncOp::Send(channel)),
            Op::Receive { channel } => self.other(at, channel, SyncOp::Receive(channel)),
            Op::Alloc { addr, size } => {
                self.stats.others += 1;
                self.detector.reset(Fresh::Memory { addr, size });
                self.memory.reset(addr, size);
                self.atomics.reset(addr, size);
            }
            Op::Free { addr, size } => {
                self.stats.others += 1;
                self.memory_access(at, addr, size, AccessKind::Write, false, found);
            }
            Op::NewArray { array, len } => {
                self.stats.others += 1;
                self.new_array(at, array, len, found);
            }
            Op::CallBegin { objects, .. } => {
                self.stats.others += 1;
                let objects = tables.objects(objects);
                self.threads.get_mut(at.me()).calls.push(objects.into());
                for object in objects {
                    if !self.objects.is_reached(*object) {
                        self.first_reach(at, *object, found);
                    }
                }
                self.call(at, objects, true);
            }
            Op::CallEnd => {
                self.stats.others += 1;
                let objects = self.threads.get_mut(at.me()).calls.pop().unwrap_or_default();
                self.call(at, &objects, false);
            }
            Op::Read { .. } | Op::Write { .. } | Op::ArrayRead { .. } | Op::ArrayWrite { .. } => {
                unreachable!("accesses do not synchronise")
            }
        }
    }

    fn other(&mut self, at: At, id: SyncId, op: SyncOp) {
        self.stats.others += 1;
        self.sync(at, id, op);
    }

    fn sync(&mut self, at: At, id: SyncId, op: SyncOp) {
        let thread = &mut self.threads.get_mut(at.me()).state;
        self.detector.sync(thread, op, self.syncs.get(id));
    }

    /// What an atomic acquires comes before its access, what it releases after.
    fn atomic(
        &mut self,
        at: At,
        addr: Addr,
        size: u32,
        op: AtomicOp,
        order: Order,
        found: &mut dyn FnMut(Race),
    ) {
        let (before, after, kind) = match op {
            AtomicOp::Load => (Some(SyncOp::Load(order)), None, AccessKind::Read),
            AtomicOp::Store => (None, Some(SyncOp::Store(order)), AccessKind::Write),
            AtomicOp::Rmw => (
                Some(SyncOp::Load(order)),
                Some(SyncOp::Update(order)),
                AccessKind::Write,
            ),
        };
        match kind {
            AccessKind::Read => self.stats.reads += 1,
            AccessKind::Write => self.stats.writes += 1,
        }
        if let Some(op) = before {
            let thread = &mut self.threads.get_mut(at.me()).state;
            self.detector.sync(thread, op, self.atomics.get(addr));
        }
        self.memory_access(at, addr, size, kind, true, found);
        if let Some(op) = after {
            let thread = &mut self.threads.get_mut(at.me()).state;
            self.detector.sync(thread, op, self.atomics.get(addr));
        }
    }

    /// The hidden code may use the objects in any order, so what it acquires from one it may release to all. The second
    /// pass sees to that.
    fn call(&mut self, at: At, objects: &[Object], begin: bool) {
        let besides = self.besides(objects);
        for object in [objects, besides, objects, besides].into_iter().flatten() {
            let thread = &mut self.threads.get_mut(at.me()).state;
            self.detector
                .sync(thread, SyncOp::Call(*object, begin), self.objects.reach(*object));
        }
    }

    /// What a call reaches besides its objects, once there was a call that reaches everything: what the two have in common.
    fn besides(&self, objects: &[Object]) -> &'static [Object] {
        let common = !objects.is_empty()
            && !objects.contains(&Object::EVERYTHING)
            && self.objects.is_reached(Object::EVERYTHING);
        if common { &[Object::EVERYTHING] } else { &[] }
    }

    /// Nobody kept track of who touched the object before a call could reach it, and the call may wait for any of
    /// them. So every thread counts as having touched it just now: that can hide a race, but not make one up.
    fn first_reach(&mut self, at: At, object: Object, found: &mut dyn FnMut(Race)) {
        let size = match object {
            Object::EVERYTHING => u32::MAX,
            _ => object.size,
        };
        self.memory.forget(object.addr, size);
        for me in self.threads.all() {
            self.commit(at.by(me), found);
            let thread = &mut self.threads.get_mut(me).state;
            self.detector
                .sync(thread, SyncOp::Touch(false), self.objects.reach(object));
        }
    }

    fn new_array(&mut self, at: At, id: ArrayId, len: u64, found: &mut dyn FnMut(Race)) {
        // Checks put off by any thread are about the old array.
        for me in self.threads.all() {
            self.commit(at.by(me), found);
        }
        self.detector.reset(Fresh::Array(id));
        let mut array = D::Array::default();
        self.detector.new_array(&mut array, Some(len));
        *self.arrays.get(id) = array;
    }

    #[cold]
    fn report(&mut self, at: At, found: &mut dyn FnMut(Race)) {
        let thread = self.threads.get_mut(at.me());
        let (id, locks) = (thread.id, thread.locks());
        for Finding {
            kind,
            place,
            access,
            prior,
        } in self.findings.0.drain(..)
        {
            let first = prior.map(|prior| Side {
                thread: self.threads.who(prior.slot, prior.timestamp),
                access: prior.kind,
                atomic: prior.atomic,
                site: prior.site,
                locks: Vec::new(),
            });
            let second = Side {
                thread: id,
                access: access.kind,
                atomic: access.atomic,
                site: access.site,
                locks: locks.clone(),
            };
            found(Race {
                kind,
                place,
                first,
                second,
                event: at.number,
            });
        }
    }
}

impl<D: Detector> Analysis for Driver<D> {
    fn advance(&mut self, events: &[Event], tables: &Tables, found: &mut dyn FnMut(Race)) -> usize {
        // Quick accesses weigh nothing: their states were there.
        let (mut taken, before) = (0, self.weight);
        while let Some(next) = events.get(taken) {
            let (count, race) = match next.op {
                Op::Read { .. } | Op::Write { .. } => self.quick_accesses(&events[taken..]),
                _ => (0, None),
            };
            taken += count;
            self.stats.events += count as u64;
            if let Some(race) = race {
                let number = self.stats.events - 1;
                self.quick_race(&events[taken - 1], number, race, found);
                continue;
            }
            let Some(event) = events.get(taken) else {
                break;
            };
            if let Op::Read { addr, .. } | Op::Write { addr, .. } = event.op
                && self.memory.remember(addr, |page| self.objects.may_touch(page))
            {
                continue;
            }
            let weight = weight(event);
            if self.weight - before + weight > MAX_WEIGHT && taken > 0 {
                break;
            }
            self.weight += weight;
            self.event(event, self.stats.events, tables, found);
            self.stats.events += 1;
            taken += 1;
        }
        taken
    }

    fn weight(&self) -> u64 {
        self.weight
    }

    fn finish(&mut self, found: &mut dyn FnMut(Race)) {
        let end = At {
            me: 0,
            site: SiteId::default(),
            number: self.stats.events,
        };
        for me in self.threads.all() {
            self.commit(end.by(me), found);
        }
    }

    fn stats(&self) -> Stats {
        let mut stats = self.stats.clone();
        stats.merge(&self.detector.stats());
        for thread in self.threads.iter() {
            stats.merge(&self.detector.thread_stats(thread));
            stats.bytes += size_of::<D::Thread>() as u64;
        }
        let mut bytes = self.memory.bytes();
        for location in self.memory.states() {
            stats.shadow_states += 1;
            bytes += self.detector.location_bytes(location);
        }
        for array in self.arrays.iter() {
            let (states, size) = self.detector.array_size(array);
            stats.shadow_states += states as u64;
            bytes += size + size_of::<D::Array>();
        }
        for object in self
            .syncs
            .iter()
            .chain(self.atomics.iter())
            .chain(self.objects.iter())
        {
            bytes += self.detector.sync_bytes(object) + size_of::<D::Sync>();
        }
        stats.bytes += bytes as u64;
        stats
    }
}

/// The event at hand. Two words, so that it travels in registers.
#[derive(Clone, Copy)]
struct At {
    /// The thread's place in [`Threads`].
    me: u32,
    site: SiteId,
    number: u64,
}

const _: () = assert!(size_of::<At>() == 16);

impl At {
    #[inline(always)]
    fn new(event: &Event, me: usize, number: u64) -> At {
        At {
            me: me as u32,
            site: event.site,
            number,
        }
    }

    #[inline(always)]
    fn me(self) -> usize {
        self.me as usize
    }

    /// The same event, for another thread.
    fn by(self, me: usize) -> At {
        At {
            me: me as u32,
            ..self
        }
    }
}

/// What became of an access that should be a quick one.
enum Checked {
    /// It is none: nothing was done.
    Not,
    /// It was checked.
    Ordered,
    /// It was checked and races.
    Race(RaceKind, Option<Prior>),
}

/// Findings on their way from the detector to the caller.
#[derive(Default)]
struct Findings(Vec<Finding>);

struct Finding {
    kind: RaceKind,
    place: Place,
    access: Access,
    prior: Option<Prior>,
}

impl Findings {
    /// Neighbouring cells that race with one earlier access are one finding.
    #[cold]
    fn memory(&mut self, kind: RaceKind, addr: Addr, size: u32, access: Access, prior: Option<Prior>) {
        if let Some(last) = self.0.last_mut()
            && let Place::Memory {
                addr: start,
                size: before,
            } = &mut last.place
            && (last.kind, last.prior) == (kind, prior)
            && start.0.wrapping_add(u64::from(*before)) == addr.0
        {
            *before += size;
        } else {
            self.0.push(Finding {
                kind,
                place: Place::Memory { addr, size },
                access,
                prior,
            });
        }
    }
}

impl Races for Findings {
    #[cold]
    fn race(&mut self, kind: RaceKind, indices: Indices, access: &Access, prior: Option<Prior>) {
        let Place::Array { array, .. } = access.place else {
            return;
        };
        if let Some(last) = self.0.last_mut()
            && let Place::Array {
                array: same,
                indices: before,
            } = &mut last.place
            && (*same, last.kind, last.prior, last.access) == (array, kind, prior, *access)
            && let Some(joined) = before.append(indices)
        {
            *before = joined;
        } else {
            self.0.push(Finding {
                kind,
                place: Place::Array { array, indices },
                access: *access,
                prior,
            });
        }
    }
}
