//! The runtime's machine against the slow reference: random traces, run by simulated threads on real cells.
//!
//! Everything is real but the threads: records, slots and their reuse, sync objects, atomics, cells, side states.

use crate::cell::{self, Cell, Found};
use crate::heard::{self, Floor, Heard};
use crate::locks::LockSet;
use crate::places::{At, Place};
use crate::registry::{Registry, SLOTS};
use crate::terms::tests::{self as terms, Alone};
use crate::thread::Thread;
use crate::{loads, quick, readers, short, side, sync};
use deadheat_abi::atomics::{Kind, Ordering as AbiOrder, What};
use deadheat_abi::shadow::EPOCH;
use deadheat_abi::tls::{NO_WORD, SHARED_MASK, SHARED_SHIFT, SHARED_WORDS};
use deadheat_detect::hb;
use deadheat_event::{
    AccessKind, Addr, AtomicOp, Event, Mode, Op, Order, Place as Bytes, Race, RaceKind, Side as Access,
    SiteId, SyncId, ThreadId,
};
use deadheat_trace::recipe::{Config, Trace, traces};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

mod arrays;
#[path = "../../detect/tests/common/mod.rs"]
mod common;

/// Sync objects are known by their address in the whole process: every run has addresses of its own.
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// A run of a trace.
struct World {
    base: usize,
    registry: Registry,
    threads: HashMap<ThreadId, Simulated>,
    ids: u32,
    who: Vec<ThreadId>,
    cells: HashMap<u64, Box<Cell>>,
    races: Vec<Race>,
    arrays: Option<arrays::Arrays>,
    /// What all of its threads have heard of, if they say so.
    floor: Option<&'static Floor>,
    /// If terms are so short that there is a new one for each third operation, the right to take them.
    short_terms: Option<Alone>,
}

struct Simulated {
    thread: Thread,
    ended: bool,
    held: Vec<(SyncId, Mode, u32)>,
    shared: Shared,
}

/// What the inline test of reads has at hand of read words of several readers (`abi::shadow`): of which epoch, and the words.
struct Shared(u64, [u64; SHARED_WORDS]);

impl Shared {
    fn new() -> Shared {
        Shared(0, [NO_WORD; SHARED_WORDS])
    }

    fn at(read: u64) -> usize {
        (read >> SHARED_SHIFT & SHARED_MASK) as usize / 8
    }

    /// Whether the test finds that a read of these bytes is on record.
    fn has(&self, t: &Thread, read: u64, mask: u8) -> bool {
        self.0 == t.epoch && self.1[Shared::at(read)] == read && read as u8 & mask == 0
    }

    /// The word is remembered wherever it may be.
    fn see(&mut self, t: &mut Thread, read: u64, mask: u8) {
        let mut own = readers::each(read)
            .filter(|read| (read ^ t.epoch) & EPOCH == 0)
            .fold(0, |own, read| own | cell::bytes(read));
        let is_id = side::kept::is_id(read);
        if is_id {
            own = t.leases.kept(t.epoch, read, mask);
        }
        if (is_id || cell::place(read).is_readers()) && !t.far && cell::bytes(read) & !own == 0 {
            if self.0 != t.epoch {
                *self = Shared(t.epoch, Shared::new().1);
            }
            self.1[Shared::at(read)] = read;
        }
    }
}

fn place(site: SiteId) -> Place {
    Place::of(At {
        context: 1,
        pc: 0x1000 + site.0 as usize,
        locks: LockSet::NONE,
        free: false,
    })
}

fn site(place: Place) -> SiteId {
    let known = place.known().expect("a place of the test");
    SiteId(known.stack.frames().next().expect("a frame") as u32 - 0x1000)
}

fn number(id: ThreadId) -> String {
    format!("{id} takes part")
}

impl World {
    fn new() -> World {
        World {
            base: NEXT.fetch_add(1, Ordering::Relaxed) << 32,
            registry: Registry::new(),
            threads: HashMap::new(),
            ids: 0,
            who: Vec::new(),
            cells: HashMap::new(),
            races: Vec::new(),
            arrays: None,
            floor: None,
            short_terms: None,
        }
    }

    /// After so many threads.
    fn after(threads: u32) -> World {
        let mut world = World::new();
        while world.registry.fresh(0).is_some_and(|slot| slot.0 + 1 < threads) {}
        world
    }

    fn start(&mut self, id: ThreadId, parent: Option<ThreadId>) {
        let parent_hb = parent.map(|parent| &self.threads[&parent].thread.hb);
        let (mut child, seen) = self.registry.place(self.ids, parent_hb);
        if let Some(parent) = parent {
            let parent = &mut self
                .threads
                .get_mut(&parent)
                .unwrap_or_else(|| panic!("{}", number(parent)))
                .thread;
            parent.renew();
            hb::fork(&mut parent.hb, &mut child);
            parent.refresh();
        }
        let mut thread = Thread::new(self.ids, child, seen);
        if self.arrays.is_some() {
            arrays::own_regions(&mut thread);
        }
        if let Some(floor) = self.floor {
            thread.heard = Heard::among(floor);
            heard::begin(&mut thread);
        }
        let simulated = Simulated {
            thread,
            ended: false,
            held: Vec::new(),
            shared: Shared::new(),
        };
        self.ids += 1;
        self.who.push(id);
        self.threads.insert(id, simulated);
    }

    fn simulated(&mut self, id: ThreadId) -> &mut Simulated {
        if !self.threads.contains_key(&id) {
            self.start(id, None);
        }
        self.threads.get_mut(&id).expect("started above")
    }

    fn access(
        &mut self,
        event: &Event,
        number: usize,
        addr: Addr,
        size: u32,
        kind: AccessKind,
        atomic: bool,
    ) {
        let at = place(event.site);
        self.simulated(event.thread);
        let mut byte = addr.0;
        let end = addr.0 + u64::from(size);
        while byte < end {
            let next = ((byte | 7) + 1).min(end);
            let mask = (byte..next).fold(0u8, |mask, byte| mask | 1 << (byte % 8));
            let cell: &Cell = self.cells.entry(byte / 8).or_default();
            let simulated = self.threads.get_mut(&event.thread).expect("started above");
            let mut found = Vec::new();
            let t = &mut simulated.thread;
            let read = |cell: &Cell| cell.read.load(Ordering::Relaxed);
            let reads = kind == AccessKind::Read && !atomic;
            if reads && simulated.shared.has(t, read(cell), mask) {
                byte = next;
                continue;
            }
            t.last = t.epoch;
            // One thread simulates all, so a region may be anybody's.
            let own = number.is_multiple_of(2);
            if mask == 0xff && !atomic && !number.is_multiple_of(3) {
                let (context, pc) = (1, 0x1000 + event.site.0 as usize);
                assert_eq!(t.place(context, pc, false), at);
                let quick = match kind {
                    AccessKind::Read => quick::tests::access::<false>(t, cell, own, context, pc),
                    AccessKind::Write => quick::tests::access::<true>(t, cell, own, context, pc),
                };
                if quick {
                    byte = next;
                    continue;
                }
            }
            if atomic && !number.is_multiple_of(3) && side::repeat_atomic(t, cell, mask, kind, at) {
                byte = next;
                continue;
            }
            if !atomic && number.is_multiple_of(5) {
                let one = std::slice::from_ref(cell);
                let done = match kind {
                    AccessKind::Read => short::granules::<false>(t, one, own, (mask, mask), at),
                    AccessKind::Write => short::granules::<true>(t, one, own, (mask, mask), at),
                };
                if done {
                    byte = next;
                    continue;
                }
            }
            match (atomic, kind) {
                (true, _) => side::atomic(t, cell, mask, kind, at, &mut found),
                (false, AccessKind::Read) => cell::access::<false>(t, cell, own, mask, at, &mut found),
                (false, AccessKind::Write) => cell::access::<true>(t, cell, own, mask, at, &mut found),
            }
            if reads {
                simulated.shared.see(t, read(cell), mask);
            }
            for found in found {
                self.race(event, number, byte / 8 * 8, kind, atomic, &found);
            }
            byte = next;
        }
    }

    fn race(
        &mut self,
        event: &Event,
        number: usize,
        granule: u64,
        kind: AccessKind,
        atomic: bool,
        found: &Found,
    ) {
        for byte in (0..8).filter(|byte| found.mask >> byte & 1 == 1) {
            let place = Bytes::Memory {
                addr: Addr(granule + byte),
                size: 1,
            };
            self.race_at(event, number, place, kind, atomic, found);
        }
    }

    fn race_at(
        &mut self,
        event: &Event,
        number: usize,
        place: Bytes,
        kind: AccessKind,
        atomic: bool,
        found: &Found,
    ) {
        let who = self
            .registry
            .who(found.prior.slot.0, found.prior.timestamp)
            .expect("a slot of a thread");
        {
            self.races.push(Race {
                kind: RaceKind::HappensBefore,
                place,
                first: Some(Access {
                    thread: self.who[who as usize],
                    access: found.prior.kind,
                    atomic: found.prior.atomic,
                    site: site(Place(found.prior.site.0)),
                    locks: Vec::new(),
                }),
                second: Access {
                    thread: event.thread,
                    access: kind,
                    atomic,
                    site: event.site,
                    locks: Vec::new(),
                },
                event: number as u64,
            });
        }
    }

    fn object(&self, id: SyncId) -> usize {
        self.base + 0x4000_0000 + 64 * id.0 as usize
    }

    fn step(&mut self, event: &Event, number: usize) {
        use AccessKind::{Read, Write};
        let id = event.thread;
        match event.op {
            Op::Read { addr, size, .. } => self.access(event, number, addr, size, Read, false),
            Op::Write { addr, size, .. } | Op::Free { addr, size } => {
                self.access(event, number, addr, size, Write, false);
            }
            Op::Atomic {
                addr,
                size,
                op,
                order,
                ..
            } => self.atomic(event, number, addr, size, op, order),
            Op::Fence { order } => sync::fence(&mut self.simulated(id).thread, order),
            Op::Alloc { addr, size } => {
                let granules = addr.0 / 8..(addr.0 + u64::from(size)).div_ceil(8);
                for cell in granules.filter_map(|granule| self.cells.get(&granule)) {
                    side::reset(cell);
                }
                let start = self.base + addr.0 as usize;
                sync::forget_range(&mut self.simulated(id).thread, start, size as usize);
            }
            Op::Acquire { lock, mode } => {
                let object = self.object(lock);
                let simulated = self.simulated(id);
                match simulated.held.iter_mut().find(|held| held.0 == lock) {
                    Some(held) => held.2 += 1,
                    None => {
                        simulated.held.push((lock, mode, 1));
                        sync::acquire(&mut simulated.thread, object, mode);
                    }
                }
            }
            Op::Release { lock } => {
                let object = self.object(lock);
                let simulated = self.simulated(id);
                let at = simulated
                    .held
                    .iter()
                    .position(|held| held.0 == lock)
                    .expect("held");
                simulated.held[at].2 -= 1;
                if simulated.held[at].2 == 0 {
                    let (_, mode, _) = simulated.held.remove(at);
                    sync::release(&mut simulated.thread, object, mode);
                }
            }
            Op::Fork { child } => {
                self.simulated(id);
                self.start(child, Some(id));
            }
            Op::Join { child } => {
                self.end(child);
                self.simulated(id);
                if let Some(ended) = self.threads.remove(&child) {
                    hb::join(&mut self.simulated(id).thread.hb, &ended.thread.hb);
                    self.threads.insert(child, ended);
                }
                heard::goes_on(&mut self.simulated(id).thread);
            }
            Op::End => self.end(id),
            Op::Begin => {
                self.simulated(id);
            }
            Op::BarrierEnter { barrier } => {
                let object = self.object(barrier);
                sync::enter(&mut self.simulated(id).thread, object);
            }
            Op::BarrierLeave { barrier } => {
                let object = self.object(barrier);
                sync::leave(&mut self.simulated(id).thread, object);
            }
            Op::Send { channel } => {
                let object = self.object(channel);
                sync::send(&mut self.simulated(id).thread, object);
            }
            Op::Receive { channel } => {
                let object = self.object(channel);
                sync::receive(&mut self.simulated(id).thread, object);
            }
            Op::ArrayRead { array, indices } => self.elements(event, number, array, indices, Read),
            Op::ArrayWrite { array, indices } => self.elements(event, number, array, indices, Write),
            Op::NewArray { array, .. } => self.new_array(array),
            Op::CallBegin { .. } | Op::CallEnd => unreachable!("not in these traces"),
        }
    }

    fn end(&mut self, id: ThreadId) {
        if let Some(simulated) = self.threads.get_mut(&id)
            && !simulated.ended
        {
            simulated.ended = true;
            let t = &simulated.thread;
            self.registry.leave(t.hb.slot(), t.hb.time(), t.is_clean());
            if let Some(floor) = self.floor {
                floor.end(t.id);
            }
        }
    }

    fn atomic(&mut self, event: &Event, number: usize, addr: Addr, size: u32, op: AtomicOp, order: Order) {
        let order = match order {
            Order::Relaxed => AbiOrder::Relaxed,
            Order::Acquire => AbiOrder::Acquire,
            Order::Release => AbiOrder::Release,
            Order::AcqRel => AbiOrder::AcqRel,
            Order::SeqCst => AbiOrder::SeqCst,
            Order::Volatile => unreachable!("not in these traces"),
        };
        let kind = match op {
            AtomicOp::Load => Kind::Load,
            AtomicOp::Store => Kind::Store,
            AtomicOp::Rmw => Kind::Update,
        };
        let access = if op == AtomicOp::Load {
            AccessKind::Read
        } else {
            AccessKind::Write
        };
        let what = What {
            size: size as u8,
            kind,
            order,
        };
        let object = self.base + addr.0 as usize;
        self.simulated(event.thread);
        let mut simulated = self.threads.remove(&event.thread).expect("started above");
        // The check needs the whole world, so the thread goes back into it meanwhile.
        let (slot, time) = (simulated.thread.hb.slot(), simulated.thread.hb.time());
        let hole = Thread::new(u32::MAX, hb::HbThread::after(slot, time), true);
        let check = |t: &mut Thread| {
            let thread = std::mem::replace(t, hole);
            let simulated = Simulated {
                thread,
                ended: false,
                held: Vec::new(),
                shared: Shared::new(),
            };
            self.threads.insert(event.thread, simulated);
            self.access(event, number, addr, size, access, true);
            *t = self
                .threads
                .remove(&event.thread)
                .expect("put there above")
                .thread;
        };
        let t = &mut simulated.thread;
        if kind == Kind::Load && !number.is_multiple_of(3) {
            loads::load_by(t, object, what, || 0, check);
        } else {
            sync::begin_atomic(t, object);
            sync::end_atomic(t, object, what, check);
        }
        self.threads.insert(event.thread, simulated);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.cells.values().for_each(|cell| side::reset(cell));
    }
}

fn exact(trace: &Trace) -> Result<(), TestCaseError> {
    exact_in(World::new(), trace)
}

/// As if there had been so many threads before that shadow words have room for two more only.
fn exact_after_many(trace: &Trace) -> Result<(), TestCaseError> {
    let _alone = terms::alone();
    exact_in(World::after(SLOTS - 2), trace)
}

/// As if the times of words ran out all the time.
fn exact_in_short_terms(trace: &Trace) -> Result<(), TestCaseError> {
    let alone = terms::alone();
    let mut world = World::after(terms::FIRST);
    world.short_terms = Some(alone);
    exact_in(world, trace)
}

fn exact_in(mut world: World, trace: &Trace) -> Result<(), TestCaseError> {
    for (number, event) in trace.events.iter().enumerate() {
        if world.short_terms.is_some() && number % 3 == 0 {
            world.simulated(event.thread).thread.worn = 0;
        }
        world.step(event, number);
    }
    common::exact_races(&world.races, trace)
}

proptest! {
    #![proptest_config(common::cases(4000))]

    #[test]
    fn on_accesses_of_all_sizes(trace in traces(Config {
        subword: true, mutexes: true, variables: 2, locks: 2, ..Config::classic()
    })) {
        exact(&trace)?;
    }

    #[test]
    fn on_many_threads_and_few_bytes(trace in traces(Config {
        subword: true, mutexes: true, rwlocks: true, variables: 1, locks: 2, threads: 6, ..Config::accesses()
    })) {
        exact(&trace)?;
    }

    #[test]
    fn on_reads_by_many_threads(trace in traces(Config {
        subword: true, few_writes: true, mutexes: true, rwlocks: true, variables: 1, locks: 2, threads: 24, max_choices: 200,
        ..Config::accesses()
    })) {
        exact(&trace)?;
    }

    #[test]
    fn on_words_that_many_threads_read(trace in traces(Config {
        few_writes: true, mutexes: true, atomics: true, mixed: true, variables: 1, threads: 24, max_choices: 200,
        ..Config::accesses()
    })) {
        exact(&trace)?;
    }

    #[test]
    fn on_words_that_a_few_threads_read(trace in traces(Config {
        few_writes: true, mutexes: true, rwlocks: true, variables: 1, locks: 3, threads: 3, max_choices: 200,
        ..Config::accesses()
    })) {
        exact(&trace)?;
    }

    #[test]
    fn on_atomics_and_fences(trace in traces(Config {
        atomics: true, fences: true, mixed: true, subword: true, variables: 2, ..Config::accesses()
    })) {
        exact(&trace)?;
    }

    #[test]
    fn on_barriers_and_messages(trace in traces(Config {
        mutexes: true, rwlocks: true, reentrant: true, barriers: true, barrier_overlap: true, messages: true,
        subword: true, locks: 2, ..Config::accesses()
    })) {
        exact(&trace)?;
    }

    #[test]
    fn on_threads_that_come_and_go(trace in traces(Config {
        id_reuse: true, begin_end: true, messages: true, subword: true, max_choices: 160, ..Config::classic()
    })) {
        exact(&trace)?;
    }

    #[test]
    fn on_memory_that_comes_and_goes(trace in traces(Config {
        heap: true, subword: true, atomics: true, mixed: true, ..Config::classic()
    })) {
        exact(&trace)?;
    }
}

proptest! {
    #![proptest_config(common::cases(100))]

    #[test]
    fn on_more_threads_than_shadow_words_have_room_for(trace in traces(Config {
        subword: true, mutexes: true, rwlocks: true, variables: 1, locks: 2, threads: 6, ..Config::accesses()
    })) {
        exact_after_many(&trace)?;
    }

    #[test]
    fn on_atomics_of_such_threads(trace in traces(Config {
        atomics: true, fences: true, mixed: true, subword: true, variables: 2, ..Config::accesses()
    })) {
        exact_after_many(&trace)?;
    }

    #[test]
    fn on_accesses_in_short_terms(trace in traces(Config {
        subword: true, mutexes: true, rwlocks: true, variables: 1, locks: 2, threads: 6, ..Config::accesses()
    })) {
        exact_in_short_terms(&trace)?;
    }

    #[test]
    fn on_reads_by_many_threads_in_short_terms(trace in traces(Config {
        subword: true, few_writes: true, mutexes: true, rwlocks: true, variables: 1, locks: 2, threads: 24, max_choices: 200,
        ..Config::accesses()
    })) {
        exact_in_short_terms(&trace)?;
    }

    #[test]
    fn on_atomics_and_fences_in_short_terms(trace in traces(Config {
        atomics: true, fences: true, mixed: true, subword: true, variables: 2, ..Config::accesses()
    })) {
        exact_in_short_terms(&trace)?;
    }

    #[test]
    fn on_threads_that_come_and_go_in_short_terms(trace in traces(Config {
        id_reuse: true, begin_end: true, messages: true, subword: true, max_choices: 160, ..Config::classic()
    })) {
        exact_in_short_terms(&trace)?;
    }

    #[test]
    fn on_such_threads_that_come_and_go(trace in traces(Config {
        id_reuse: true, begin_end: true, messages: true, subword: true, max_choices: 160, ..Config::classic()
    })) {
        exact_after_many(&trace)?;
    }
}
