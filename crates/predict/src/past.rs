//! What the events in front of a window leave behind: locks held, barriers entered, calls open, values written.
//!
//! Prediction looks at a window as if everything before it had happened as observed. Memory grows with threads, locks held
//! and, up to [`VALUES`], with locations; what is forgotten beyond that can only cost a race, never make one up.

use deadheat_event::{AtomicOp, Event, Mode, Object, ObjectSetId, Op, SyncId, Tables, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The most words whose last value is remembered.
const VALUES: usize = 1 << 20;

/// The state at the start of a window.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// Locks held: the mode of the outermost acquire, and how often they were taken.
    pub held: BTreeMap<(ThreadId, SyncId), (Mode, u32)>,
    /// Calls into untraced code that are open, outermost first.
    pub calls: BTreeMap<ThreadId, Vec<ObjectSetId>>,
    /// Barriers that were used.
    pub barriers: BTreeMap<SyncId, Barrier>,
}

/// Who is in which round of a barrier.
#[derive(Clone, Debug, Default)]
pub struct Barrier {
    /// The round that whoever enters next belongs to.
    pub round: u64,
    /// Who has entered and not left, with the round.
    pub inside: BTreeMap<ThreadId, u64>,
}

impl Barrier {
    /// `thread` enters. The round that it is in now.
    pub fn enter(&mut self, thread: ThreadId) -> u64 {
        self.inside.insert(thread, self.round);
        self.round
    }

    /// `thread` leaves. The round that it was in: whoever enters from now on is in a later one.
    pub fn leave(&mut self, thread: ThreadId) -> Option<u64> {
        let round = self.inside.remove(&thread)?;
        self.round = self.round.max(round + 1);
        Some(round)
    }
}

impl Past {
    /// Takes note of the next events.
    pub fn advance(&mut self, events: &[Event]) {
        for event in events {
            let thread = event.thread;
            match event.op {
                Op::Acquire { lock, mode } => {
                    self.held.entry((thread, lock)).or_insert((mode, 0)).1 += 1;
                }
                Op::Release { lock } => {
                    if let Some((_, depth)) = self.held.get_mut(&(thread, lock)) {
                        *depth -= 1;
                        if *depth == 0 {
                            self.held.remove(&(thread, lock));
                        }
                    }
                }
                Op::End => self.gone(thread),
                Op::Join { child } => self.gone(child),
                Op::BarrierEnter { barrier } => {
                    self.barriers.entry(barrier).or_default().enter(thread);
                }
                Op::BarrierLeave { barrier } => {
                    self.barriers.entry(barrier).or_default().leave(thread);
                }
                Op::CallBegin { objects, .. } => self.calls.entry(thread).or_default().push(objects),
                Op::CallEnd => {
                    if let Some(calls) = self.calls.get_mut(&thread) {
                        calls.pop();
                        if calls.is_empty() {
                            self.calls.remove(&thread);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// What an ended thread held is nobody's.
    fn gone(&mut self, thread: ThreadId) {
        let range = (thread, SyncId(0))..=(thread, SyncId(u64::MAX));
        let held: Vec<_> = self.held.range(range).map(|(key, _)| *key).collect();
        for key in held {
            self.held.remove(&key);
        }
        self.calls.remove(&thread);
    }
}

/// The last value of every byte that was accessed with one.
#[derive(Debug, Default)]
pub struct Values {
    /// By the number of the word: its bytes, and a bit for each that is known.
    words: FxHashMap<u64, (u64, u8)>,
}

impl Values {
    /// Takes note of the next events. `past` is what was before them; it tells which calls are open.
    pub fn advance(&mut self, events: &[Event], past: &Past, tables: &Tables) {
        let mut calls = past.calls.clone();
        for event in events {
            match event.op {
                // What a call did to the memory that it could reach is not known.
                Op::CallBegin { objects, .. } => {
                    self.forget_objects(objects, tables);
                    calls.entry(event.thread).or_default().push(objects);
                }
                Op::CallEnd => {
                    if let Some(objects) = calls.get_mut(&event.thread).and_then(Vec::pop) {
                        self.forget_objects(objects, tables);
                    }
                }
                Op::Read { addr, size, value } => self.note(addr.0, size, value, false),
                Op::Atomic {
                    addr,
                    size,
                    op: AtomicOp::Load,
                    value,
                    ..
                } => self.note(addr.0, size, value, false),
                Op::Write { addr, size, value }
                | Op::Atomic {
                    addr, size, value, ..
                } => {
                    self.note(addr.0, size, value, true);
                }
                Op::Alloc { addr, size } | Op::Free { addr, size } => self.note(addr.0, size, None, true),
                _ => {}
            }
        }
    }

    fn note(&mut self, addr: u64, size: u32, value: Option<u64>, written: bool) {
        match value {
            Some(value) if size <= 8 => {
                if self.words.len() >= VALUES {
                    self.words.clear();
                }
                for n in 0..u64::from(size) {
                    let at = addr.wrapping_add(n);
                    let (word, known) = self.words.entry(at / 8).or_default();
                    let shift = at % 8 * 8;
                    *word = *word & !(0xff << shift) | (value >> (8 * n) & 0xff) << shift;
                    *known |= 1 << (at % 8);
                }
            }
            _ if written && !self.words.is_empty() => self.forget(addr, size),
            _ => {}
        }
    }

    fn forget_objects(&mut self, objects: ObjectSetId, tables: &Tables) {
        let objects = tables.objects(objects);
        if objects.contains(&Object::EVERYTHING) {
            self.words.clear();
        } else if !self.words.is_empty() {
            for object in objects {
                self.forget(object.addr.0, object.size);
            }
        }
    }

    fn forget(&mut self, addr: u64, size: u32) {
        let last = addr.saturating_add(u64::from(size)).saturating_sub(1);
        if u64::from(size) / 8 > self.words.len() as u64 {
            // Fewer words are known than were written.
            self.words.retain(|&word, (_, known)| {
                for n in 0..8 {
                    if (addr..=last).contains(&(word * 8 + n)) {
                        *known &= !(1 << n);
                    }
                }
                *known != 0
            });
            return;
        }
        for word in addr / 8..=last / 8 {
            if let Some((_, known)) = self.words.get_mut(&word) {
                for n in 0..8 {
                    if (addr..=last).contains(&(word * 8 + n)) {
                        *known &= !(1 << n);
                    }
                }
                if *known == 0 {
                    self.words.remove(&word);
                }
            }
        }
    }

    /// What is known of the words that these events access.
    pub fn of(&self, events: &[Event]) -> Values {
        let mut values = Values::default();
        if self.words.is_empty() {
            return values;
        }
        for event in events {
            let (Op::Read { addr, size, .. } | Op::Write { addr, size, .. } | Op::Atomic { addr, size, .. }) =
                event.op
            else {
                continue;
            };
            if size <= 8 && size > 0 {
                let last = addr.0.saturating_add(u64::from(size) - 1);
                for word in addr.0 / 8..=last / 8 {
                    if let Some(known) = self.words.get(&word) {
                        values.words.insert(word, *known);
                    }
                }
            }
        }
        values
    }

    /// The value of `size` bytes, at most 8, if all are known.
    pub fn get(&self, addr: u64, size: u64) -> Option<u64> {
        let mut value = 0;
        for n in 0..size {
            let at = addr.checked_add(n)?;
            let (word, known) = self.words.get(&(at / 8))?;
            if known >> (at % 8) & 1 == 0 {
                return None;
            }
            value |= (word >> (at % 8 * 8) & 0xff) << (8 * n);
        }
        Some(value)
    }
}
