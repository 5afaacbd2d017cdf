//! What every schedule of a window must keep, and what it may choose.
//!
//! A schedule is a sequence of events of the window in which each thread does what it did, up to some point. The order
//! that no schedule can change is kept as edges to earlier events:
//!
//! - *hard* edges: the event cannot even be about to happen before the other has happened. Program order, fork and join,
//!   rounds of a barrier, messages, memory that comes into being, a lock that was held when the window began, and, for
//!   RDIT, calls into untraced code ([`crate::calls`]).
//! - *soft* edges: the event cannot have happened without the other before it; but it can be about to happen. A read
//!   that goes on as observed needs its value; a racing read is the end of the schedule and does not.
//!
//! What remains open is in [`Section`]s (which critical section comes first) and [`Read`]s (which write is read).
//!
//! Rounds of a barrier keep their members and their order, and sends and receives of a channel stay in order among
//! themselves: the trace does not say how many a barrier waits for or what a message holds, so another order might
//! not be possible. This can cost a race and never makes one up.

use crate::calls::Calls;
use crate::cells::{Cutter, Grid, Numbering};
use crate::footprint::{Footprint, Kind, cut};
use crate::{Model, Window};
use deadheat_event::{Event, Mode, Op, SyncId, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::time::Instant;

/// An event of a window, by its place in it.
pub type Id = u32;

/// A time of every thread: how many of its events have happened.
pub type Cut = [u32];

/// Lists of different lengths, one behind the other.
#[derive(Debug)]
pub struct Lists<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists {
            starts: Vec::new(),
            items: Vec::new(),
        }
    }
}

impl<T> Lists<T> {
    /// Ends the present list and begins the next.
    fn close(&mut self) {
        self.starts.push(self.items.len() as u32);
    }

    /// The list with this number.
    pub fn get(&self, number: Id) -> &[T] {
        let from = match number {
            0 => 0,
            n => self.starts[n as usize - 1] as usize,
        };
        &self.items[from..self.starts[number as usize] as usize]
    }
}

/// A critical section: from the outermost acquire to the release that gives the lock back.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The lock.
    pub lock: u32,
    /// Whose it is.
    pub slot: u32,
    /// Exclusive or shared.
    pub mode: Mode,
    /// The acquire.
    pub acquire: Id,
    /// The release, or what ends the thread, if it is in the window.
    pub release: Option<Id>,
}

impl Section {
    /// Whether the two cannot overlap.
    pub fn excludes(&self, other: &Section) -> bool {
        self.lock == other.lock
            && self.slot != other.slot
            && (self.mode == Mode::Exclusive || other.mode == Mode::Exclusive)
    }
}

/// A read of one cell.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// The cell.
    pub cell: u32,
    /// The write before it in the trace, if it is in the window.
    pub writer: Option<Id>,
    /// What was read, if known.
    pub value: Option<u64>,
}

/// A write of one cell.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// The cell.
    pub cell: u32,
    /// What was written, if known.
    pub value: Option<u64>,
}

/// A cell.
#[derive(Debug, Default)]
pub struct Cell {
    /// Its accesses in the order of the trace.
    pub accesses: Vec<Id>,
    /// Its writes.
    pub writers: Vec<Id>,
    /// Its value when the window begins, if known.
    pub initial: Option<u64>,
    /// Writes by value.
    by_value: FxHashMap<u64, Vec<Id>>,
}

/// The order of a window. See the head of this module.
#[derive(Debug)]
pub struct Graph<'w> {
    /// The events.
    pub events: &'w [Event],
    /// The thread of each event. An id that is used again names another thread.
    pub slot: Vec<u32>,
    /// The place of each event in its thread.
    pub pos: Vec<u32>,
    /// The events of each thread.
    pub threads: Vec<Vec<Id>>,
    /// Hard edges besides program order.
    pub hard: Lists<Id>,
    /// Soft edges.
    pub soft: Lists<Id>,
    /// Critical sections that begin in the window.
    pub sections: Vec<Section>,
    /// The section that an event begins.
    pub begins: FxHashMap<Id, u32>,
    /// The sections of each lock, in the order of the trace.
    pub locks: Vec<Vec<u32>>,
    /// Which locks are held at each event: an index into `locksets`.
    pub lockset: Vec<u32>,
    /// Sets of locks, each with whether it is held exclusively.
    pub locksets: Vec<Vec<(SyncId, Mode)>>,
    /// What each event reads.
    pub reads: Lists<Read>,
    /// What each event writes.
    pub writes: Lists<Write>,
    /// Memory that several threads touch.
    pub cells: Vec<Cell>,
    /// What must have happened before and with each event, for each thread.
    inclusion: Vec<u32>,
}

/// Why a window was not looked at to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// Its memory is cut into too many pieces.
    Tangled,
    /// There was no more time.
    Late,
}

/// After so many events the clock is looked at.
const OFTEN: usize = 1024;

/// Events by their number, as long as there is time.
fn in_time(events: usize, deadline: Instant) -> impl Iterator<Item = Result<Id, Unfinished>> {
    (0..events).map(move |id| match id % OFTEN == 0 && Instant::now() >= deadline {
        true => Err(Unfinished::Late),
        false => Ok(id as Id),
    })
}

impl<'w> Graph<'w> {
    /// The order of a window.
    pub fn new(window: &'w Window, model: Model, deadline: Instant) -> Result<Graph<'w>, Unfinished> {
        Builder::new(window, model)
            .ok_or(Unfinished::Tangled)?
            .build(deadline)
    }

    /// How many threads there are.
    pub fn slots(&self) -> usize {
        self.threads.len()
    }

    /// What must have happened when `event` has, itself included.
    pub fn included(&self, event: Id) -> &Cut {
        let slots = self.slots();
        &self.inclusion[event as usize * slots..][..slots]
    }

    /// Whether `a` comes before `b` in every schedule that has `b`.
    pub fn precedes(&self, a: Id, b: Id) -> bool {
        self.has(self.included(b), a) && a != b
    }

    /// Whether the cut has the event.
    pub fn has(&self, cut: &Cut, event: Id) -> bool {
        cut[self.slot[event as usize] as usize] > self.pos[event as usize]
    }

    /// Adds what must have happened for `event` to be about to happen.
    pub fn enable(&self, event: Id, cut: &mut Cut) {
        if let Some(before) = self.pos[event as usize].checked_sub(1) {
            let slot = self.slot[event as usize] as usize;
            raise(cut, self.included(self.threads[slot][before as usize]));
        }
        for &before in self.hard.get(event) {
            raise(cut, self.included(before));
        }
    }

    /// Whether `event` cannot be about to happen before `other` has.
    pub fn needs(&self, event: Id, other: Id) -> bool {
        let slot = self.slot[event as usize] as usize;
        let before = { self.pos[event as usize].checked_sub(1) }.map(|pos| self.threads[slot][pos as usize]);
        let mut edges = before.iter().chain(self.hard.get(event));
        edges.any(|&before| self.has(self.included(before), other))
    }

    /// Whether a read may follow `writer` (None: what was there when the window began).
    pub fn allows(&self, read: &Read, writer: Option<Id>) -> bool {
        read.writer == writer || read.value.is_some() && read.value == self.value_after(read.cell, writer)
    }

    fn value_after(&self, cell: u32, writer: Option<Id>) -> Option<u64> {
        match writer {
            None => self.cells[cell as usize].initial,
            Some(writer) => {
                { self.writes.get(writer).iter() }
                    .find(|write| write.cell == cell)?
                    .value
            }
        }
    }

    /// All writes in the window that the read of `event` may follow.
    pub fn candidates(&self, event: Id, read: &Read) -> impl Iterator<Item = Id> {
        let same = read
            .value
            .and_then(|value| self.cells[read.cell as usize].by_value.get(&value));
        let others = same.into_iter().flatten().copied();
        { read.writer.into_iter() }
            .chain(others.filter(move |&other| Some(other) != read.writer && other != event))
    }
}

/// The later of two cuts, in place.
pub fn raise(cut: &mut Cut, other: &Cut) {
    for (mine, theirs) in cut.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// A lock as the scan sees it.
#[derive(Default)]
struct Held {
    section: Option<u32>,
    depth: u32,
    mode: Mode,
}

struct Builder<'w> {
    window: &'w Window,
    graph: Graph<'w>,
    grid: Grid,
    calls: Option<Calls>,
    current: FxHashMap<ThreadId, u32>,
    fork: Vec<Option<Id>>,
    held: BTreeMap<(u32, SyncId), Held>,
    /// Releases of locks that were held when the window began, with their mode.
    carried: FxHashMap<SyncId, Vec<(Id, Mode)>>,
    lock_numbers: Numbering<SyncId>,
    lockset_numbers: Numbering<Vec<(SyncId, Mode)>>,
    lockset_of: Vec<u32>,
    last_writer: Vec<Option<Id>>,
    /// Cells written since the last begin or end of a call that reaches everything, and whether there was one.
    changed: Vec<u32>,
    swept: bool,
    /// The last touch of a cell by each thread since it came into being, and what brought it into being.
    touched: Vec<Vec<Id>>,
    birth: Vec<Option<Id>>,
}

impl<'w> Builder<'w> {
    fn new(window: &'w Window, model: Model) -> Option<Builder<'w>> {
        let events = &window.events[..];
        let mut builder = Builder {
            window,
            graph: Graph {
                events,
                slot: Vec::with_capacity(events.len()),
                pos: Vec::with_capacity(events.len()),
                threads: Vec::new(),
                hard: Lists::default(),
                soft: Lists::default(),
                sections: Vec::new(),
                begins: FxHashMap::default(),
                locks: Vec::new(),
                lockset: Vec::with_capacity(events.len()),
                locksets: Vec::new(),
                reads: Lists::default(),
                writes: Lists::default(),
                cells: Vec::new(),
                inclusion: Vec::new(),
            },
            grid: Grid::default(),
            calls: None,
            current: FxHashMap::default(),
            fork: Vec::new(),
            held: BTreeMap::new(),
            carried: FxHashMap::default(),
            lock_numbers: Numbering::default(),
            lockset_numbers: Numbering::default(),
            lockset_of: Vec::new(),
            last_writer: Vec::new(),
            changed: Vec::new(),
            swept: false,
            touched: Vec::new(),
            birth: Vec::new(),
        };
        builder.threads();
        let mut cutter = Cutter::default();
        for (event, &slot) in events.iter().zip(&builder.graph.slot) {
            if let Some(print) = Footprint::of(&event.op) {
                cutter.add_footprint(slot, &print);
            }
        }
        if model == Model::Rdit {
            builder.calls = Some(Calls::new(window, &builder.graph.slot, &mut cutter));
        }
        builder.grid = cutter.finish()?;
        let cells = builder.grid.len();
        builder.graph.cells.resize_with(cells, Cell::default);
        builder.last_writer = vec![None; cells];
        builder.touched = vec![Vec::new(); cells];
        builder.birth = vec![None; cells];
        if let Some(calls) = &mut builder.calls {
            calls.place(&builder.grid);
        }
        Some(builder)
    }

    /// Which event belongs to which thread.
    fn threads(&mut self) {
        for (id, event) in self.window.events.iter().enumerate() {
            let slot = self.slot_of(event.thread);
            self.graph.slot.push(slot);
            let thread = &mut self.graph.threads[slot as usize];
            self.graph.pos.push(thread.len() as u32);
            thread.push(id as Id);
            if let Op::Fork { child } = event.op {
                let slot = self.new_slot(child);
                self.fork[slot as usize] = Some(id as Id);
            }
        }
    }

    fn slot_of(&mut self, thread: ThreadId) -> u32 {
        match self.current.get(&thread) {
            Some(slot) => *slot,
            None => self.new_slot(thread),
        }
    }

    fn new_slot(&mut self, thread: ThreadId) -> u32 {
        let slot = self.graph.threads.len() as u32;
        self.graph.threads.push(Vec::new());
        self.fork.push(None);
        self.current.insert(thread, slot);
        slot
    }

    fn build(mut self, deadline: Instant) -> Result<Graph<'w>, Unfinished> {
        // From now on: the thread that an id names at the event that is looked at.
        self.current.clear();
        self.lockset_of = vec![0; self.graph.threads.len()];
        self.graph.locksets.push(Vec::new());
        self.lockset_numbers.of(Vec::new());
        for slot in 0..self.graph.threads.len() {
            if let Some(&first) = self.graph.threads[slot].first() {
                self.enter_window(self.window.events[first as usize].thread, slot as u32);
            }
        }
        self.initial_values();
        let mut sync = Syncs::new(self.window);
        let mut hard = Vec::new();
        let mut soft = Vec::new();
        for id in in_time(self.window.events.len(), deadline) {
            let id = id?;
            let event = self.window.events[id as usize];
            let slot = self.graph.slot[id as usize];
            self.current.insert(event.thread, slot);
            hard.clear();
            soft.clear();
            if self.graph.pos[id as usize] == 0 {
                hard.extend(self.fork[slot as usize]);
            }
            self.graph.lockset.push(self.lockset_of[slot as usize]);
            match event.op {
                Op::Fork { child } => {
                    // Its slot is the one that this event forked.
                    if let Some(slot) = self.fork.iter().position(|fork| *fork == Some(id)) {
                        self.current.insert(child, slot as u32);
                    }
                }
                Op::Join { child } => match self.current.get(&child).copied() {
                    Some(child) => {
                        let last = self.graph.threads[child as usize].iter().rev();
                        hard.extend(last.copied().find(|&last| last < id));
                        self.gone(child, id);
                    }
                    None => self.gone_before(child, id),
                },
                Op::End => self.gone(slot, id),
                Op::Acquire { lock, mode } => self.acquire(id, slot, lock, mode, &mut hard),
                Op::Release { lock } => self.release(id, slot, lock),
                _ => sync.add(id, &event, &mut hard),
            }
            if let Some(calls) = &mut self.calls {
                calls.order(id, slot, &event, &self.grid, &mut hard, &mut soft);
            }
            self.touch(id, slot, &event, &mut hard, &mut soft);
            for (lists, edges) in [
                (&mut self.graph.hard, &mut hard),
                (&mut self.graph.soft, &mut soft),
            ] {
                edges.sort_unstable();
                edges.dedup();
                lists.items.extend(
                    edges
                        .iter()
                        .filter(|&&before| self.graph.slot[before as usize] != slot),
                );
                lists.close();
            }
        }
        self.determined(deadline)?;
        self.close(deadline)?;
        Ok(self.graph)
    }

    /// Locks that a thread holds when the window begins.
    fn enter_window(&mut self, thread: ThreadId, slot: u32) {
        if self.fork[slot as usize].is_some() {
            return;
        }
        let range = (thread, SyncId(0))..=(thread, SyncId(u64::MAX));
        for (&(_, lock), &(mode, depth)) in self.window.past.held.range(range) {
            let held = Held {
                section: None,
                depth,
                mode,
            };
            self.held.insert((slot, lock), held);
        }
        self.relock(slot);
    }

    fn acquire(&mut self, id: Id, slot: u32, lock: SyncId, mode: Mode, hard: &mut Vec<Id>) {
        let held = self.held.entry((slot, lock)).or_default();
        held.depth += 1;
        if held.depth > 1 {
            return;
        }
        let number = self.graph.sections.len() as u32;
        (held.section, held.mode) = (Some(number), mode);
        for &(release, released) in self.carried.get(&lock).into_iter().flatten() {
            if released == Mode::Exclusive || mode == Mode::Exclusive {
                hard.push(release);
            }
        }
        let lock = self.lock_numbers.of(lock);
        if self.graph.locks.len() <= lock as usize {
            self.graph.locks.push(Vec::new());
        }
        self.graph.locks[lock as usize].push(number);
        self.graph.begins.insert(id, number);
        self.graph.sections.push(Section {
            lock,
            slot,
            mode,
            acquire: id,
            release: None,
        });
        self.relock(slot);
    }

    fn release(&mut self, id: Id, slot: u32, lock: SyncId) {
        let Some(held) = self.held.get_mut(&(slot, lock)) else {
            return;
        };
        held.depth -= 1;
        if held.depth == 0 {
            self.give_back(id, slot, lock);
            self.relock(slot);
        }
    }

    fn give_back(&mut self, id: Id, slot: u32, lock: SyncId) {
        if let Some(held) = self.held.remove(&(slot, lock)) {
            match held.section {
                Some(section) => self.graph.sections[section as usize].release = Some(id),
                None => self.carried.entry(lock).or_default().push((id, held.mode)),
            }
        }
    }

    /// A thread has ended: what it held is nobody's.
    fn gone(&mut self, slot: u32, id: Id) {
        let range = (slot, SyncId(0))..=(slot, SyncId(u64::MAX));
        let held: Vec<SyncId> = self.held.range(range).map(|(&(_, lock), _)| lock).collect();
        for lock in held {
            self.give_back(id, slot, lock);
        }
    }

    /// A thread that does nothing in this window has ended.
    fn gone_before(&mut self, thread: ThreadId, id: Id) {
        let range = (thread, SyncId(0))..=(thread, SyncId(u64::MAX));
        for (&(_, lock), &(mode, _)) in self.window.past.held.range(range) {
            self.carried.entry(lock).or_default().push((id, mode));
        }
    }

    fn relock(&mut self, slot: u32) {
        let range = (slot, SyncId(0))..=(slot, SyncId(u64::MAX));
        let locks: Vec<(SyncId, Mode)> = { self.held.range(range) }
            .map(|(&(_, lock), held)| (lock, held.mode))
            .collect();
        let number = self.lockset_numbers.of(locks.clone());
        if number as usize == self.graph.locksets.len() {
            self.graph.locksets.push(locks);
        }
        self.lockset_of[slot as usize] = number;
    }

    /// Values at the start of the window: those carried over, else those of the first reads.
    fn initial_values(&mut self) {
        let mut written = vec![false; self.grid.len()];
        if let Some(calls) = &self.calls {
            calls
                .open_at_start()
                .for_each(|cell| written[cell as usize] = true);
            if calls.everything_open_at_start() {
                return;
            }
        }
        for (id, event) in self.window.events.iter().enumerate() {
            if let Some(calls) = &self.calls {
                if calls.reaches_everything(id as Id) {
                    return;
                }
                for &cell in calls.reached_by(id as Id) {
                    written[cell as usize] = true;
                }
            }
            let Some(print) = Footprint::of(&event.op) else {
                continue;
            };
            self.grid.visit_footprint(&print, |cell, at, size| {
                let initial = &mut self.graph.cells[cell as usize].initial;
                if !written[cell as usize] && initial.is_none() {
                    let size = size.unwrap_or(u64::MAX);
                    *initial = { (size <= 8).then(|| self.window.values.get(at, size)).flatten() }
                        .or_else(|| print.part(at, size).filter(|_| print.reads && !print.writes));
                }
                written[cell as usize] |= print.writes;
            });
        }
    }

    /// Reads, writes and lives of memory.
    fn touch(&mut self, id: Id, slot: u32, event: &Event, hard: &mut Vec<Id>, soft: &mut Vec<Id>) {
        let graph = &mut self.graph;
        let (reads, writes) = (&mut graph.reads, &mut graph.writes);
        if let Some(print) = Footprint::of(&event.op) {
            self.grid.visit_footprint(&print, |number, at, size| {
                let cell = &mut graph.cells[number as usize];
                let writer = self.last_writer[number as usize];
                hard.extend(self.birth[number as usize]);
                let touched = &mut self.touched[number as usize];
                match print.kind {
                    Kind::Birth => {
                        hard.append(touched);
                        self.birth[number as usize] = Some(id);
                    }
                    Kind::Free => soft.extend_from_slice(touched),
                    Kind::Plain | Kind::Atomic => {}
                }
                touched.retain(|&other| graph.slot[other as usize] != slot);
                touched.push(id);
                let part = print.part(at, size.unwrap_or(u64::MAX));
                if print.reads {
                    let value = if print.writes { None } else { part };
                    let value = value.or_else(|| match writer {
                        None if self.swept => None,
                        None => cell.initial,
                        Some(writer) => value_of(&graph.events[writer as usize], at, size),
                    });
                    reads.items.push(Read {
                        cell: number,
                        writer,
                        value,
                    });
                }
                if print.writes {
                    writes.items.push(Write {
                        cell: number,
                        value: part,
                    });
                    cell.writers.push(id);
                    if let Some(value) = part {
                        cell.by_value.entry(value).or_default().push(id);
                    }
                    self.last_writer[number as usize] = Some(id);
                    self.changed.push(number);
                }
                if print.kind.is_access() {
                    cell.accesses.push(id);
                }
            });
        }
        if let Some(calls) = &self.calls {
            // A call may read and change all that it can reach. If that is everything, the first one changes all cells: what was there at first
            // is there no more. What nobody has changed since the last such call needs no mention: its order with all other writes is fixed.
            let everything = calls.reaches_everything(id);
            let mut changed = Vec::new();
            if everything {
                changed = std::mem::take(&mut self.changed);
                if self.swept {
                    changed.sort_unstable();
                    changed.dedup();
                } else {
                    changed = (0..self.last_writer.len() as u32).collect();
                }
                self.swept = true;
            }
            for &number in calls.reached_by(id).iter().chain(&changed) {
                if !everything {
                    self.changed.push(number);
                }
                reads.items.push(Read {
                    cell: number,
                    writer: self.last_writer[number as usize],
                    value: None,
                });
                writes.items.push(Write {
                    cell: number,
                    value: None,
                });
                graph.cells[number as usize].writers.push(id);
                self.last_writer[number as usize] = Some(id);
            }
        }
        reads.close();
        writes.close();
    }

    /// A read with only one possible write has it as a soft edge.
    fn determined(&mut self, deadline: Instant) -> Result<(), Unfinished> {
        let graph = &mut self.graph;
        let old = std::mem::take(&mut graph.soft);
        let mut edges = Vec::new();
        for id in in_time(graph.events.len(), deadline) {
            let id = id?;
            edges.clear();
            edges.extend_from_slice(old.get(id));
            for read in graph.reads.get(id) {
                if !graph.allows(read, None)
                    && let Some(writer) = read.writer
                    && graph.slot[writer as usize] != graph.slot[id as usize]
                    && graph.candidates(id, read).count() == 1
                {
                    edges.push(writer);
                }
            }
            edges.sort_unstable();
            edges.dedup();
            graph.soft.items.extend_from_slice(&edges);
            graph.soft.close();
        }
        Ok(())
    }

    /// What each event needs, transitively. All edges lead back in the trace, so one pass does.
    fn close(&mut self, deadline: Instant) -> Result<(), Unfinished> {
        let graph = &mut self.graph;
        let slots = graph.threads.len();
        let mut inclusion = vec![0; graph.events.len() * slots];
        for id in in_time(graph.events.len(), deadline) {
            let id = id? as usize;
            let (done, rest) = inclusion.split_at_mut(id * slots);
            let mine = &mut rest[..slots];
            let (slot, pos) = (graph.slot[id] as usize, graph.pos[id] as usize);
            let before = pos.checked_sub(1).map(|pos| graph.threads[slot][pos]);
            let edges = graph.hard.get(id as Id).iter().chain(graph.soft.get(id as Id));
            for &before in before.iter().chain(edges) {
                raise(mine, &done[before as usize * slots..][..slots]);
            }
            mine[slot] = pos as u32 + 1;
        }
        graph.inclusion = inclusion;
        Ok(())
    }
}

/// What a write left in these bytes, if recorded.
fn value_of(event: &Event, at: u64, size: Option<u64>) -> Option<u64> {
    let print = Footprint::of(&event.op)?;
    Some(cut(print.part(at, size?)?, size?))
}

/// Barriers and channels: their order is fixed.
struct Syncs {
    barriers: BTreeMap<SyncId, crate::past::Barrier>,
    /// Who entered which round of a barrier in this window.
    entered: FxHashMap<(SyncId, u64), Vec<Id>>,
    sent: FxHashMap<SyncId, Id>,
    received: FxHashMap<SyncId, Id>,
}

impl Syncs {
    fn new(window: &Window) -> Syncs {
        Syncs {
            barriers: window.past.barriers.clone(),
            entered: FxHashMap::default(),
            sent: FxHashMap::default(),
            received: FxHashMap::default(),
        }
    }

    fn add(&mut self, id: Id, event: &Event, hard: &mut Vec<Id>) {
        match event.op {
            Op::BarrierEnter { barrier } => {
                let round = self.barriers.entry(barrier).or_default().enter(event.thread);
                if let Some(before) = round.checked_sub(1) {
                    hard.extend(self.entered.get(&(barrier, before)).into_iter().flatten());
                }
                self.entered.entry((barrier, round)).or_default().push(id);
            }
            Op::BarrierLeave { barrier } => {
                if let Some(round) = self.barriers.entry(barrier).or_default().leave(event.thread) {
                    hard.extend(self.entered.get(&(barrier, round)).into_iter().flatten());
                }
            }
            Op::Send { channel } => hard.extend(self.sent.insert(channel, id)),
            Op::Receive { channel } => {
                hard.extend(self.sent.get(&channel));
                hard.extend(self.received.insert(channel, id));
            }
            _ => {}
        }
    }
}
