//! A piece of a trace that is looked at as a whole.

use crate::check;
use crate::past::{Past, Values};
use deadheat_event::{Event, Object, ObjectSetId, Op, Tables};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The most threads in one window: the order of a window takes memory in events times threads. A window ends earlier if
/// there are more.
const THREADS: usize = 512;

/// Consecutive events, and the state in front of them.
#[derive(Debug)]
pub struct Window {
    /// The number of its first event in the trace.
    pub start: u64,
    /// Pairs with both events in front of this place were looked at in the window before.
    pub fresh: usize,
    /// The events.
    pub events: Vec<Event>,
    pub(crate) past: Past,
    pub(crate) values: Values,
    /// The checker's own notes of the past.
    pub(crate) state: check::State,
    sets: FxHashMap<ObjectSetId, Box<[Object]>>,
}

impl Window {
    /// The objects of a set that a call of this window has.
    pub fn objects(&self, set: ObjectSetId) -> &[Object] {
        self.sets.get(&set).map_or(&[], |objects| objects)
    }
}

/// Cuts a trace into windows that overlap by half.
#[derive(Debug)]
pub struct Windows {
    size: usize,
    start: u64,
    pending: VecDeque<Event>,
    /// How many of the pending events the last window had.
    seen: usize,
    past: Past,
    values: Values,
    state: check::State,
    bytes: check::Bytes,
}

impl Windows {
    /// Windows of `size` events, at least 2.
    pub fn new(size: usize) -> Windows {
        Windows {
            size: size.max(2),
            start: 0,
            pending: VecDeque::new(),
            seen: 0,
            past: Past::default(),
            values: Values::default(),
            state: check::State::default(),
            bytes: check::Bytes::default(),
        }
    }

    /// Takes the next events.
    pub fn push(&mut self, events: &[Event]) {
        self.pending.extend(events);
    }

    /// The next window, if there are enough events for a whole one or, at the `end` of the trace, any that were in none.
    pub fn next(&mut self, end: bool, tables: &Tables) -> Option<Window> {
        if self.pending.len() < self.size && !end || self.pending.len() <= self.seen {
            return None;
        }
        let mut events: Vec<Event> = self.pending.iter().take(self.size).copied().collect();
        let mut threads = FxHashSet::default();
        let many = events.iter().position(|event| {
            threads.insert(event.thread);
            if let Op::Fork { child } = event.op {
                threads.insert(child);
            }
            threads.len() > THREADS
        });
        events.truncate(many.unwrap_or(usize::MAX).max(self.seen + 1));
        let mut window = Window {
            start: self.start,
            fresh: self.seen,
            past: self.past.clone(),
            values: self.values.of(&events),
            state: self.state.with(&self.bytes, &events),
            sets: FxHashMap::default(),
            events,
        };
        let begun = window.events.iter().filter_map(|event| match event.op {
            Op::CallBegin { objects, .. } => Some(objects),
            _ => None,
        });
        for set in begun.chain(self.past.calls.values().flatten().copied()) {
            window
                .sets
                .entry(set)
                .or_insert_with(|| tables.objects(set).into());
        }
        self.advance(&window.events, tables);
        Some(window)
    }

    /// Leaves the first half of a window behind.
    fn advance(&mut self, events: &[Event], tables: &Tables) {
        let done = &events[..events.len() - events.len() / 2];
        self.values.advance(done, &self.past, tables);
        self.past.advance(done);
        self.bytes.happen(done, &self.state, tables);
        done.iter().for_each(|event| self.state.happen(event));
        self.pending.drain(..done.len());
        self.start += done.len() as u64;
        self.seen = events.len() - done.len();
    }
}
