//! What the checker keeps of the events in front of a window.

use deadheat_event::{AtomicOp, Event, Mode, Object, ObjectSetId, Op, SyncId, Tables, ThreadId};
use std::collections::{BTreeMap, HashMap};

/// Words whose value is remembered, at most; then all is forgotten, as the solver does, so that both know the same.
const MOST: usize = 1 << 20;

/// The world as the observed events left it.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The modes of all acquires that were not given back.
    pub(super) locks: BTreeMap<(ThreadId, SyncId), Vec<Mode>>,
    /// Open calls, innermost last.
    pub(super) calls: BTreeMap<ThreadId, Vec<ObjectSetId>>,
    /// For each barrier the round that gathers, and who is in which.
    pub(super) barriers: BTreeMap<SyncId, (u64, BTreeMap<ThreadId, u64>)>,
    /// Last values of what the window accesses.
    pub(super) bytes: Bytes,
}

/// Last values of bytes, by the number of their word.
#[derive(Clone, Debug, Default)]
pub struct Bytes(HashMap<u64, [Option<u8>; 8]>);

impl State {
    /// The same, with what is known of the memory that the events of a window access.
    pub fn with(&self, bytes: &Bytes, events: &[Event]) -> State {
        State {
            bytes: bytes.of(events),
            ..self.clone()
        }
    }

    /// Lets an event happen as observed.
    pub fn happen(&mut self, event: &Event) {
        match event.op {
            Op::Acquire { lock, mode } => self.locks.entry((event.thread, lock)).or_default().push(mode),
            Op::Release { lock } => {
                let key = (event.thread, lock);
                if let Some(modes) = self.locks.get_mut(&key) {
                    modes.pop();
                    if modes.is_empty() {
                        self.locks.remove(&key);
                    }
                }
            }
            Op::BarrierEnter { barrier } => {
                let (round, inside) = self.barriers.entry(barrier).or_default();
                inside.insert(event.thread, *round);
            }
            Op::BarrierLeave { barrier } => {
                let (round, inside) = self.barriers.entry(barrier).or_default();
                if let Some(left) = inside.remove(&event.thread) {
                    *round = (*round).max(left + 1);
                }
            }
            Op::CallBegin { objects, .. } => self.calls.entry(event.thread).or_default().push(objects),
            Op::CallEnd => {
                self.calls.entry(event.thread).or_default().pop();
                self.calls.retain(|_, open| !open.is_empty());
            }
            Op::End => self.end(event.thread),
            Op::Join { child } => self.end(child),
            _ => {}
        }
    }

    fn end(&mut self, thread: ThreadId) {
        self.locks.retain(|&(holder, _), _| holder != thread);
        self.calls.remove(&thread);
    }
}

impl Bytes {
    /// Lets events happen as observed. `state` is what was before them.
    pub fn happen(&mut self, events: &[Event], state: &State, tables: &Tables) {
        let mut calls = state.calls.clone();
        for event in events {
            match event.op {
                Op::Read { value: None, .. }
                | Op::Atomic {
                    op: AtomicOp::Load,
                    value: None,
                    ..
                } => {}
                Op::Read { addr, size, value } => self.set(addr.0, size, value),
                Op::Write { addr, size, value }
                | Op::Atomic {
                    addr, size, value, ..
                } => {
                    self.set(addr.0, size, value);
                }
                Op::Alloc { addr, size } | Op::Free { addr, size } => self.set(addr.0, size, None),
                Op::CallBegin { objects, .. } => {
                    calls.entry(event.thread).or_default().push(objects);
                    self.unknown(objects, tables);
                }
                Op::CallEnd => {
                    if let Some(objects) = calls.entry(event.thread).or_default().pop() {
                        self.unknown(objects, tables);
                    }
                }
                _ => {}
            }
        }
    }

    fn unknown(&mut self, objects: ObjectSetId, tables: &Tables) {
        let objects = tables.objects(objects);
        if objects.contains(&Object::EVERYTHING) {
            self.0.clear();
            return;
        }
        for object in objects {
            self.set(object.addr.0, object.size, None);
        }
    }

    fn set(&mut self, addr: u64, size: u32, value: Option<u64>) {
        let end = addr.saturating_add(u64::from(size));
        match value {
            Some(value) if size <= 8 => {
                if self.0.len() >= MOST {
                    self.0.clear();
                }
                for (byte, at) in value.to_le_bytes().into_iter().zip(addr..end) {
                    self.0.entry(at / 8).or_default()[at as usize % 8] = Some(byte);
                }
            }
            _ if self.0.is_empty() || size == 0 => {}
            _ => {
                let within = |word: u64, n: usize| (addr..end).contains(&(word * 8 + n as u64));
                let mut words: Vec<u64> = (addr / 8..=(end - 1) / 8).take(self.0.len() + 1).collect();
                if words.len() > self.0.len() {
                    words = self.0.keys().copied().collect();
                }
                for word in words {
                    if let Some(bytes) = self.0.get_mut(&word) {
                        let old = *bytes;
                        *bytes = std::array::from_fn(|n| old[n].filter(|_| !within(word, n)));
                        if bytes.iter().all(Option::is_none) {
                            self.0.remove(&word);
                        }
                    }
                }
            }
        }
    }

    /// What is known of the words that these events read or write.
    pub fn of(&self, events: &[Event]) -> Bytes {
        let mut bytes = Bytes::default();
        if self.0.is_empty() {
            return bytes;
        }
        for event in events {
            if let Op::Read { addr, size, .. }
            | Op::Write { addr, size, .. }
            | Op::Atomic { addr, size, .. } = event.op
            {
                let end = addr.0.saturating_add(u64::from(size.clamp(1, 8)) - 1);
                for word in addr.0 / 8..=end / 8 {
                    if let Some(known) = self.0.get(&word) {
                        bytes.0.insert(word, *known);
                    }
                }
            }
        }
        bytes
    }

    /// The value of a range, if all of it is known.
    pub(super) fn value(&self, first: u64, last: u64) -> Option<u64> {
        if last - first >= 8 {
            return None;
        }
        let mut bytes = [0; 8];
        for (byte, at) in bytes.iter_mut().zip(first..=last) {
            *byte = self.0.get(&(at / 8))?[at as usize % 8]?;
        }
        Some(u64::from_le_bytes(bytes))
    }
}
