//! Calls into untraced code: RDIT's BarrierPairs (§4.2 to 4.4 of RDIT, Algorithms 5 and 6) as edges of the graph.
//!
//! A call that can reach the objects D may do anything to them, at any time between its begin and its end, and may wait
//! for anything that others do to them. So the events of a call (begin, end, and what its thread does in between) stay in
//! the observed order
//!
//! - with the events of every other call that reaches an object in common (caveats 1, 2 and 4), and
//! - with every access to an object in D (caveat 3), and every synchronisation on a lock, barrier or channel whose id is an
//!   address in D.
//!
//! A call that reaches [`Object::EVERYTHING`] has to do with every access, every synchronisation and every other call that reaches
//! something.
//!
//! These edges are hard: they hold for racing accesses as well. A global variable that a call uses belongs in D (caveat 5).
//!
//! Algorithm 5 alone lets two things through that a missing event could observe; here both are kept:
//!
//! - Two writes before a call may change places with each other, so that the call begins with another value. Here begin and end
//!   read, and may change, all of D: the last write before them stays the last.
//! - While a call is open, accesses to D by two other threads may change places with each other, though the call may
//!   have waited for the first and caused the second. Here they keep their order, by soft edges: only if both have
//!   happened, so that they can still race with each other.

use crate::Window;
use crate::cells::{Cutter, Grid};
use crate::footprint::{Footprint, MEMORY};
use crate::graph::Id;
use deadheat_event::{Event, Object, Op, SyncId};
use rustc_hash::FxHashMap;

/// A call of the window.
#[derive(Debug)]
struct Call {
    slot: u32,
    objects: Vec<Object>,
    /// It reaches [`Object::EVERYTHING`], and no objects are named.
    everything: bool,
    /// Cells of these objects that others touch, too.
    cells: Vec<u32>,
    /// The last event of the call, or the last access to its objects while it is open.
    last: Option<Id>,
}

/// What is known of a cell.
#[derive(Debug, Default)]
struct Reach {
    /// The last event of a call that reaches it.
    last: Option<Id>,
    /// Accesses since then.
    touches: Vec<Id>,
    /// Calls that reach it and are open.
    open: Vec<u32>,
}

/// What is known of the calls that reach everything. They are not looked up by cells: each would have all of them.
#[derive(Debug, Default)]
struct Everything {
    /// The last event of such a call.
    last: Option<Id>,
    /// Of each thread the last access, synchronisation or event of another call since then.
    since: FxHashMap<u32, Id>,
    /// Such calls that are open.
    open: Vec<u32>,
}

/// The calls of a window.
#[derive(Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
    /// The call that a begin or end belongs to.
    of: FxHashMap<Id, u32>,
    /// Calls that were open when the window began.
    carried: Vec<u32>,
    /// Calls open at present, for each thread.
    open: FxHashMap<u32, Vec<u32>>,
    reach: FxHashMap<u32, Reach>,
    everything: Everything,
}

impl Calls {
    /// Finds the calls, and names to the cutter what they reach.
    pub fn new(window: &Window, slots: &[u32], cutter: &mut Cutter) -> Calls {
        let mut calls = Calls::default();
        let mut open: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (thread, sets) in &window.past.calls {
            // The first thread of that name in the window.
            let slot = { window.events.iter().zip(slots) }.find(|(event, _)| event.thread == *thread);
            // One that does nothing here is given a number of its own.
            let slot = slot.map_or(u32::MAX - thread.0.min(u32::MAX / 2), |(_, &slot)| slot);
            for &set in sets {
                let number = calls.add(slot, window.objects(set));
                calls.carried.push(number);
                open.entry(slot).or_default().push(number);
            }
        }
        for (id, (event, &slot)) in window.events.iter().zip(slots).enumerate() {
            match event.op {
                Op::CallBegin { objects, .. } => {
                    let number = calls.add(slot, window.objects(objects));
                    calls.of.insert(id as Id, number);
                    open.entry(slot).or_default().push(number);
                }
                Op::CallEnd => {
                    if let Some(number) = open.entry(slot).or_default().pop() {
                        calls.of.insert(id as Id, number);
                    }
                }
                _ => {}
            }
        }
        if calls.calls.is_empty() {
            return calls;
        }
        for call in &calls.calls {
            for object in &call.objects {
                let (first, last) = bounds(object);
                cutter.add(call.slot, MEMORY, first, last);
            }
        }
        for (event, &slot) in window.events.iter().zip(slots) {
            if let Some(at) = sync_of(event) {
                cutter.add(slot, MEMORY, at.0, at.0);
            }
        }
        calls
    }

    fn add(&mut self, slot: u32, objects: &[Object]) -> u32 {
        let everything = objects.contains(&Object::EVERYTHING);
        let named = objects.iter().copied();
        self.calls.push(Call {
            slot,
            objects: named.filter(|object| object.size > 0 && !everything).collect(),
            everything,
            cells: Vec::new(),
            last: None,
        });
        self.calls.len() as u32 - 1
    }

    /// Learns where the objects lie.
    pub fn place(&mut self, grid: &Grid) {
        for call in &mut self.calls {
            for object in &call.objects {
                let (first, last) = bounds(object);
                grid.visit(MEMORY, first, last, |cell, _, _| call.cells.push(cell));
            }
            call.cells.sort_unstable();
            call.cells.dedup();
            for &cell in &call.cells {
                self.reach.entry(cell).or_default();
            }
        }
        for number in self.carried.clone() {
            self.enter(number);
        }
    }

    /// Cells that calls can reach that were open when the window began.
    pub fn open_at_start(&self) -> impl Iterator<Item = u32> {
        let cells = self
            .carried
            .iter()
            .map(|&number| &self.calls[number as usize].cells);
        cells.flatten().copied()
    }

    /// The cells that the call reaches that this event begins or ends.
    pub fn reached_by(&self, id: Id) -> &[u32] {
        { self.of.get(&id) }.map_or(&[], |&number| &self.calls[number as usize].cells)
    }

    /// Whether this event begins or ends a call that reaches everything.
    pub fn reaches_everything(&self, id: Id) -> bool {
        { self.of.get(&id) }.is_some_and(|&number| self.calls[number as usize].everything)
    }

    /// Whether such a call was open when the window began.
    pub fn everything_open_at_start(&self) -> bool {
        { self.carried.iter() }.any(|&number| self.calls[number as usize].everything)
    }

    fn enter(&mut self, number: u32) {
        let call = &self.calls[number as usize];
        self.open.entry(call.slot).or_default().push(number);
        if call.everything {
            self.everything.open.push(number);
        }
        for cell in &call.cells {
            self.reach.entry(*cell).or_default().open.push(number);
        }
    }

    fn leave(&mut self, slot: u32) {
        let Some(number) = self.open.get_mut(&slot).and_then(Vec::pop) else {
            return;
        };
        self.everything.open.retain(|&other| other != number);
        for cell in &self.calls[number as usize].cells {
            if let Some(reach) = self.reach.get_mut(cell) {
                reach.open.retain(|&other| other != number);
            }
        }
    }

    /// The edges of the next event.
    pub fn order(
        &mut self,
        id: Id,
        slot: u32,
        event: &Event,
        grid: &Grid,
        hard: &mut Vec<Id>,
        soft: &mut Vec<Id>,
    ) {
        if self.calls.is_empty() {
            return;
        }
        if matches!(event.op, Op::CallBegin { .. })
            && let Some(&number) = self.of.get(&id)
        {
            self.enter(number);
        }
        if let Some(print) = Footprint::of(&event.op) {
            self.touch_everything(id, slot, hard, soft);
            grid.visit_footprint(&print, |cell, _, _| self.touch(id, slot, cell, hard, soft));
        } else if let Some(at) = sync_of(event) {
            self.touch_everything(id, slot, hard, soft);
            grid.visit(MEMORY, at.0, at.0, |cell, _, _| {
                self.touch(id, slot, cell, hard, soft);
            });
        }
        for &number in self.open.get(&slot).into_iter().flatten() {
            let call = &mut self.calls[number as usize];
            hard.extend(call.last.replace(id));
            if call.everything {
                hard.extend(self.everything.last.replace(id));
                hard.extend(self.everything.since.drain().map(|(_, before)| before));
            } else if !call.objects.is_empty() {
                hard.extend(self.everything.last);
                self.everything.since.insert(slot, id);
            }
            for cell in &call.cells {
                let reach = self.reach.entry(*cell).or_default();
                hard.extend(reach.last.replace(id));
                hard.append(&mut reach.touches);
            }
        }
        if event.op == Op::CallEnd {
            self.leave(slot);
        }
    }

    /// An access or synchronisation, seen from the calls of others that reach everything.
    fn touch_everything(&mut self, id: Id, slot: u32, hard: &mut Vec<Id>, soft: &mut Vec<Id>) {
        hard.extend(self.everything.last);
        self.everything.since.insert(slot, id);
        for &number in &self.everything.open {
            let call = &mut self.calls[number as usize];
            if call.slot != slot {
                soft.extend(call.last.replace(id));
            }
        }
    }

    /// An access to a cell, seen from the calls of others.
    fn touch(&mut self, id: Id, slot: u32, cell: u32, hard: &mut Vec<Id>, soft: &mut Vec<Id>) {
        let Some(reach) = self.reach.get_mut(&cell) else {
            return;
        };
        hard.extend(reach.last);
        reach.touches.push(id);
        for &number in &reach.open {
            let call = &mut self.calls[number as usize];
            if call.slot != slot {
                soft.extend(call.last.replace(id));
            }
        }
    }
}

fn bounds(object: &Object) -> (u64, u64) {
    let last = object
        .addr
        .0
        .saturating_add(u64::from(object.size).saturating_sub(1));
    (object.addr.0, last)
}

/// The object that an event synchronises on.
fn sync_of(event: &Event) -> Option<SyncId> {
    match event.op {
        Op::Acquire { lock, .. } | Op::Release { lock } => Some(lock),
        Op::BarrierEnter { barrier } | Op::BarrierLeave { barrier } => Some(barrier),
        Op::Send { channel } | Op::Receive { channel } => Some(channel),
        _ => None,
    }
}
