//! What the observed order of a window says: who is who, what was read from where, what had to wait for what.

use super::calls::{self, Calls, Reached};
use super::state::{Bytes, State};
use super::{Clock, Incarnations, Late};
use crate::Model;
use deadheat_event::{AtomicOp, Event, Object, ObjectSetId, Op, SyncId, ThreadId};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// From in front of the window.
    Before,
    /// From this event.
    Event(usize),
}

/// A read of one piece of memory.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub piece: usize,
    pub source: Source,
    pub value: Option<u64>,
}

/// An access as the rules see it.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// 0 for memory, else 1 + the array.
    space: u64,
    first: u64,
    last: u64,
    stride: u64,
    reads: bool,
    pub writes: bool,
    pub atomic: bool,
    /// Memory comes into being: no access.
    pub birth: bool,
    free: bool,
    value: Option<u64>,
}

/// Reads an event as an access.
pub fn access(op: &Op) -> Option<Access> {
    let plain = Access {
        space: 0,
        first: 0,
        last: 0,
        stride: 1,
        reads: false,
        writes: false,
        atomic: false,
        birth: false,
        free: false,
        value: None,
    };
    let bytes = |first: u64, size: u32| {
        let last = first.saturating_add(u64::from(size) - 1);
        Access { first, last, ..plain }
    };
    let found = match *op {
        Op::Read { size: 0, .. }
        | Op::Write { size: 0, .. }
        | Op::Atomic { size: 0, .. }
        | Op::Alloc { size: 0, .. }
        | Op::Free { size: 0, .. } => return None,
        Op::Read { addr, size, value } => Access {
            reads: true,
            value,
            ..bytes(addr.0, size)
        },
        Op::Write { addr, size, value } => Access {
            writes: true,
            value,
            ..bytes(addr.0, size)
        },
        Op::Atomic {
            addr,
            size,
            op,
            value,
            ..
        } => Access {
            reads: matches!(op, AtomicOp::Load | AtomicOp::Rmw),
            writes: op.writes(),
            atomic: true,
            value,
            ..bytes(addr.0, size)
        },
        Op::Alloc { addr, size } => Access {
            writes: true,
            birth: true,
            ..bytes(addr.0, size)
        },
        Op::Free { addr, size } => Access {
            writes: true,
            free: true,
            ..bytes(addr.0, size)
        },
        Op::ArrayRead { array, indices } | Op::ArrayWrite { array, indices } => {
            let writes = matches!(op, Op::ArrayWrite { .. });
            Access {
                space: u64::from(array.0) + 1,
                first: indices.first(),
                last: indices.last(),
                stride: u64::from(indices.stride()),
                reads: !writes,
                writes,
                ..plain
            }
        }
        Op::NewArray { array, .. } => Access {
            space: u64::from(array.0) + 1,
            last: u64::MAX,
            writes: true,
            birth: true,
            ..plain
        },
        _ => return None,
    };
    Some(found)
}

/// Facts about a window.
#[derive(Debug)]
pub struct Facts {
    /// The thread of each event, and its place in it.
    pub thread: Vec<usize>,
    pub turn: Vec<usize>,
    /// Threads that were there when the window began.
    pub at_start: HashMap<ThreadId, usize>,
    /// Events that must be before each event, even if that is one of the racing accesses, and why.
    pub needs: Vec<Vec<(usize, &'static str)>>,
    /// The thread that a join waits for.
    pub joined: Vec<Option<usize>>,
    pub reads: Vec<Vec<Seen>>,
    pub writes: Vec<Vec<usize>>,
    /// What a free must come behind.
    pub freed_after: Vec<Vec<usize>>,
    pub calls: Calls,
    /// Begins and ends of calls that reach everything: whatever was written before is not known any more.
    pub sweeps: HashSet<usize>,
    /// The first byte or element of each piece.
    bounds: Vec<(u64, u64)>,
    accesses: Vec<Option<Access>>,
    first_values: HashMap<usize, u64>,
}

impl Facts {
    pub fn new(
        events: &[Event],
        state: &State,
        model: Model,
        objects: &dyn Fn(ObjectSetId) -> Vec<Object>,
        clock: Clock,
    ) -> Result<Facts, Late> {
        let mut facts = Facts {
            thread: Vec::new(),
            turn: Vec::new(),
            at_start: HashMap::new(),
            needs: vec![Vec::new(); events.len()],
            joined: vec![None; events.len()],
            reads: vec![Vec::new(); events.len()],
            writes: vec![Vec::new(); events.len()],
            freed_after: vec![Vec::new(); events.len()],
            calls: Calls::default(),
            sweeps: HashSet::new(),
            bounds: Vec::new(),
            accesses: events.iter().map(|event| access(&event.op)).collect(),
            first_values: HashMap::new(),
        };
        facts.threads(events);
        if model == Model::Rdit {
            facts.calls = calls::find(events, &facts.thread, &facts.at_start, state, objects);
        }
        facts.cut();
        facts.waits(events, state, clock)?;
        facts.memory(&state.bytes, clock)?;
        if model == Model::Rdit {
            calls::relate(&mut facts, events, clock)?;
        }
        Ok(facts)
    }

    fn threads(&mut self, events: &[Event]) {
        let mut now = Incarnations::default();
        let mut acted: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut forks: HashMap<usize, usize> = HashMap::new();
        for (event, e) in events.iter().enumerate() {
            let thread = now.acting(e.thread);
            if !forks.contains_key(&thread) {
                self.at_start.insert(e.thread, thread);
            }
            let turns = acted.entry(thread).or_default();
            if let (true, Some(&fork)) = (turns.is_empty(), forks.get(&thread)) {
                self.needs[event].push((fork, "it forked the thread"));
            }
            self.thread.push(thread);
            self.turn.push(turns.len());
            turns.push(event);
            match e.op {
                Op::Fork { child } => {
                    forks.insert(now.forked(child), event);
                }
                Op::Join { child } => {
                    let known = now.now.contains_key(&child);
                    let child = now.acting(child);
                    self.joined[event] = Some(child);
                    if known {
                        let all = acted.get(&child).into_iter().flatten();
                        self.needs[event].extend(all.map(|&e| (e, "the thread is joined")));
                    } else {
                        self.at_start.insert(
                            match e.op {
                                Op::Join { child } => child,
                                _ => e.thread,
                            },
                            child,
                        );
                    }
                }
                _ => {}
            }
        }
    }

    /// Barriers and channels.
    fn waits(&mut self, events: &[Event], state: &State, clock: Clock) -> Result<(), Late> {
        let mut state = state.clone();
        let mut entered: BTreeMap<(SyncId, u64), Vec<usize>> = BTreeMap::new();
        let mut sends: BTreeMap<SyncId, Vec<usize>> = BTreeMap::new();
        let mut receives: BTreeMap<SyncId, Vec<usize>> = BTreeMap::new();
        for (event, e) in events.iter().enumerate() {
            clock.at(event)?;
            let round = |state: &State, barrier| {
                let (_, inside) = state.barriers.get(&barrier)?;
                inside.get(&e.thread).copied()
            };
            match e.op {
                Op::BarrierEnter { barrier } => {
                    state.happen(e);
                    if let Some(round) = round(&state, barrier) {
                        for (_, earlier) in entered.range((barrier, 0)..(barrier, round)) {
                            let earlier = earlier.iter().map(|&e| (e, "it is of an earlier round"));
                            self.needs[event].extend(earlier);
                        }
                        entered.entry((barrier, round)).or_default().push(event);
                    }
                }
                Op::BarrierLeave { barrier } => {
                    if let Some(round) = round(&state, barrier) {
                        let members = entered.get(&(barrier, round)).into_iter().flatten();
                        self.needs[event].extend(members.map(|&e| (e, "the barrier waits for it")));
                    }
                    state.happen(e);
                }
                Op::Send { channel } => {
                    let sends = sends.entry(channel).or_default();
                    self.needs[event].extend(sends.last().map(|&e| (e, "it was sent first")));
                    sends.push(event);
                }
                Op::Receive { channel } => {
                    let sends = sends.get(&channel).into_iter().flatten();
                    self.needs[event].extend(sends.map(|&e| (e, "it was sent before")));
                    let receives = receives.entry(channel).or_default();
                    self.needs[event].extend(receives.last().map(|&e| (e, "it received first")));
                    receives.push(event);
                }
                _ => state.happen(e),
            }
        }
        Ok(())
    }

    /// Cuts memory at every first and behind every last byte.
    fn cut(&mut self) {
        let mut bounds = BTreeSet::new();
        let mut range = |space, first, last: u64| {
            bounds.insert((space, first));
            bounds.extend(last.checked_add(1).map(|end| (space, end)));
        };
        for access in self.accesses.iter().flatten() {
            if access.stride == 1 {
                range(access.space, access.first, access.last);
            } else {
                let elements = (access.first..=access.last).step_by(access.stride as usize);
                elements.for_each(|at| range(access.space, at, at));
            }
        }
        for object in self.calls.objects() {
            range(0, object.addr.0, calls::last_byte(object));
        }
        self.bounds = bounds.into_iter().collect();
    }

    /// The pieces of a range.
    pub fn pieces(&self, space: u64, first: u64, last: u64) -> std::ops::Range<usize> {
        let from = self
            .bounds
            .binary_search(&(space, first))
            .unwrap_or_else(|place| place);
        let count = { self.bounds[from..].iter() }
            .take_while(|&&at| at <= (space, last))
            .count();
        from..from + count
    }

    /// The pieces that an event accesses.
    pub fn pieces_of(&self, event: usize) -> impl Iterator<Item = usize> {
        let access = self.accesses[event].into_iter();
        access.flat_map(move |access| {
            let single = access.stride == 1;
            let count = if single {
                1
            } else {
                (access.last - access.first) / access.stride + 1
            };
            (0..count).flat_map(move |n| {
                let at = access.first + n * access.stride;
                self.pieces(access.space, at, if single { access.last } else { at })
            })
        })
    }

    /// Whether an event accesses anything.
    pub fn touches(&self, event: usize) -> bool {
        self.accesses[event].is_some()
    }

    /// The piece of memory that has this address.
    pub fn pieces_around(&self, address: u64) -> Option<usize> {
        let behind = self.bounds.partition_point(|&bound| bound <= (0, address));
        behind.checked_sub(1)
    }

    fn piece_range(&self, piece: usize) -> Option<(u64, u64)> {
        let (space, first) = self.bounds[piece];
        let &(next, end) = self.bounds.get(piece + 1)?;
        (space == 0 && next == 0).then(|| (first, end - 1))
    }

    /// The part of an event's recorded value in a piece.
    fn recorded(&self, event: usize, piece: usize) -> Option<u64> {
        let access = self.accesses[event]?;
        let (first, last) = self.piece_range(piece)?;
        if access.space != 0 || access.last - access.first >= 8 {
            return None;
        }
        let bytes = access.value?.to_le_bytes();
        let part = bytes.get((first - access.first) as usize..=(last - access.first) as usize)?;
        let mut value = [0; 8];
        value[..part.len()].copy_from_slice(part);
        Some(u64::from_le_bytes(value))
    }

    /// What an event wrote to a piece, if recorded.
    pub fn written(&self, event: usize, piece: usize) -> Option<u64> {
        self.accesses[event].filter(|access| access.writes)?;
        self.recorded(event, piece)
    }

    /// What was in a piece when the window began, if known.
    pub fn first_value(&self, piece: usize) -> Option<u64> {
        self.first_values.get(&piece).copied()
    }

    fn memory(&mut self, bytes: &Bytes, clock: Clock) -> Result<(), Late> {
        // Since the last sweep, and that.
        let mut writer: HashMap<usize, usize> = HashMap::new();
        let mut swept: Option<usize> = None;
        let mut born: HashMap<usize, usize> = HashMap::new();
        let mut used: HashMap<usize, Vec<usize>> = HashMap::new();
        // What a call has reached may have changed.
        let mut touched: BTreeSet<usize> = BTreeSet::new();
        let mut all_touched = false;
        for reached in self.calls.at_start() {
            match reached {
                Reached::Everything => all_touched = true,
                Reached::Objects(objects) => {
                    touched.extend(objects.iter().flat_map(|object| self.object_pieces(object)));
                }
            }
        }
        for event in 0..self.accesses.len() {
            clock.at(event)?;
            let reached: Vec<usize> = match self.calls.at(event) {
                None => Vec::new(),
                Some(Reached::Objects(objects)) => { objects.iter() }
                    .flat_map(|object| self.object_pieces(object))
                    .collect(),
                Some(Reached::Everything) => {
                    // It finds what was written, and leaves nobody knows what. Pieces that were not written since the last such
                    // event have what that left: nothing can come in between.
                    let found = writer.drain().map(|(piece, write)| Seen {
                        piece,
                        source: Source::Event(write),
                        value: None,
                    });
                    self.reads[event].extend(found);
                    self.sweeps.insert(event);
                    (swept, all_touched) = (Some(event), true);
                    continue;
                }
            };
            let pieces: Vec<usize> = self.pieces_of(event).collect();
            if let Some(access) = self.accesses[event] {
                for &piece in &pieces {
                    if !all_touched && !touched.contains(&piece) && !self.first_values.contains_key(&piece) {
                        let carried = self
                            .piece_range(piece)
                            .and_then(|(first, last)| bytes.value(first, last));
                        let seen = || {
                            (access.reads && !access.writes)
                                .then(|| self.recorded(event, piece))
                                .flatten()
                        };
                        if let Some(value) = carried.or_else(seen) {
                            self.first_values.insert(piece, value);
                        }
                    }
                    if let Some(&birth) = born.get(&piece) {
                        self.needs[event].push((birth, "it brought the memory into being"));
                    }
                    let before = used.entry(piece).or_default();
                    if access.birth {
                        let before = before.drain(..);
                        self.needs[event].extend(before.map(|e| (e, "it used the memory as it was")));
                        born.insert(piece, event);
                    } else if access.free {
                        self.freed_after[event].extend_from_slice(before);
                    }
                    before.push(event);
                }
                if access.reads {
                    for &piece in &pieces {
                        let source = writer.get(&piece).copied().or(swept);
                        let own = if access.writes {
                            None
                        } else {
                            self.recorded(event, piece)
                        };
                        let value = own.or_else(|| match source {
                            None => self.first_value(piece),
                            Some(write) => self.written(write, piece),
                        });
                        self.reads[event].push(Seen {
                            piece,
                            source: source.map_or(Source::Before, Source::Event),
                            value,
                        });
                    }
                }
                if access.writes {
                    for &piece in &pieces {
                        writer.insert(piece, event);
                        touched.insert(piece);
                        self.writes[event].push(piece);
                    }
                }
            }
            for piece in reached {
                self.reads[event].push(Seen {
                    piece,
                    source: { writer.get(&piece).copied().or(swept) }.map_or(Source::Before, Source::Event),
                    value: None,
                });
                self.writes[event].push(piece);
                writer.insert(piece, event);
                touched.insert(piece);
            }
        }
        Ok(())
    }

    pub fn object_pieces(&self, object: &Object) -> std::ops::Range<usize> {
        self.pieces(0, object.addr.0, calls::last_byte(object))
    }
}
