//! The slow, obvious answer, kept for tests: build the happens-before graph and look at all pairs of accesses.
//!
//! Shares no code with the detectors: edges are drawn from the definitions (C++20's release sequences and fences, rounds
//! of barriers, …), the closure is computed over all events, and every pair of conflicting accesses to a byte or element
//! is looked at. Quadratic in the length of the trace.

use deadheat_event::{
    AccessKind, Addr, ArrayId, AtomicOp, Event, Mode, Object, Op, Order, SyncId, Tables, ThreadId,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The smallest thing that can race: one byte of memory or one element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spot {
    /// A byte.
    Byte(u64),
    /// An element.
    Element(ArrayId, u64),
}

/// Every race of a trace.
#[derive(Debug)]
pub struct Reference {
    /// For each spot that races: the events that race with an earlier one there, each with those earlier ones.
    pub races: BTreeMap<Spot, BTreeMap<usize, Vec<usize>>>,
    before: Vec<Bits>,
}

/// A set of event numbers.
type Bits = Vec<u64>;

impl Reference {
    /// Finds every race of a well-formed trace.
    pub fn new(events: &[Event], tables: &Tables) -> Reference {
        let graph = Graph::new(events, tables);
        let before = graph.closure();
        let mut races: BTreeMap<Spot, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
        for (spot, accesses) in accesses_by_spot(events) {
            for (n, &b) in accesses.iter().enumerate() {
                for &a in &accesses[..n] {
                    let together = graph.incarnation[a.event] == graph.incarnation[b.event];
                    if !together && a.life == b.life && a.conflicts(b) && !has(&before[b.event], a.event) {
                        races
                            .entry(spot)
                            .or_default()
                            .entry(b.event)
                            .or_default()
                            .push(a.event);
                    }
                }
            }
        }
        Reference { races, before }
    }

    /// Whether event `a` happens before event `b`.
    pub fn happens_before(&self, a: usize, b: usize) -> bool {
        has(&self.before[b], a)
    }

    /// The racing spots, each with the first event that races with an earlier one there.
    pub fn first(&self) -> BTreeMap<Spot, usize> {
        self.races
            .iter()
            .filter_map(|(spot, events)| Some((*spot, *events.keys().next()?)))
            .collect()
    }
}

fn has(bits: &Bits, event: usize) -> bool {
    bits[event / 64] >> (event % 64) & 1 == 1
}

/// An access to one spot.
#[derive(Clone, Copy)]
struct At {
    event: usize,
    kind: AccessKind,
    atomic: bool,
    /// How often the spot had come into being.
    life: usize,
}

impl At {
    fn conflicts(self, other: At) -> bool {
        let writes = self.kind == AccessKind::Write || other.kind == AccessKind::Write;
        writes && !(self.atomic && other.atomic)
    }
}

fn accesses_by_spot(events: &[Event]) -> BTreeMap<Spot, Vec<At>> {
    use AccessKind::{Read, Write};
    let mut spots: BTreeMap<Spot, Vec<At>> = BTreeMap::new();
    let mut lives: HashMap<Spot, usize> = HashMap::new();
    let mut array_lives: HashMap<ArrayId, usize> = HashMap::new();
    for (event, e) in events.iter().enumerate() {
        let mut bytes = |addr: Addr, size: u32, kind, atomic| {
            for spot in (addr.0..addr.0 + u64::from(size)).map(Spot::Byte) {
                let life = lives.get(&spot).copied().unwrap_or(0);
                spots.entry(spot).or_default().push(At {
                    event,
                    kind,
                    atomic,
                    life,
                });
            }
        };
        match e.op {
            Op::Read { addr, size, .. } => bytes(addr, size, Read, false),
            Op::Write { addr, size, .. } | Op::Free { addr, size } => bytes(addr, size, Write, false),
            Op::Atomic { addr, size, op, .. } => {
                bytes(addr, size, if op == AtomicOp::Load { Read } else { Write }, true);
            }
            Op::Alloc { addr, size } => {
                for spot in (addr.0..addr.0 + u64::from(size)).map(Spot::Byte) {
                    *lives.entry(spot).or_default() += 1;
                }
            }
            Op::NewArray { array, .. } => *array_lives.entry(array).or_default() += 1,
            Op::ArrayRead { array, indices } | Op::ArrayWrite { array, indices } => {
                let kind = if matches!(e.op, Op::ArrayRead { .. }) {
                    Read
                } else {
                    Write
                };
                let life = array_lives.get(&array).copied().unwrap_or(0);
                for index in indices.iter() {
                    let spot = Spot::Element(array, index);
                    spots.entry(spot).or_default().push(At {
                        event,
                        kind,
                        atomic: false,
                        life,
                    });
                }
            }
            _ => {}
        }
    }
    spots
}

/// Happens-before as edges between events, always from the earlier to the later.
struct Graph {
    edges: Vec<Vec<usize>>,
    /// Which thread each event belongs to; an id that is used again names another thread.
    incarnation: Vec<usize>,
}

impl Graph {
    fn new(events: &[Event], tables: &Tables) -> Graph {
        let mut graph = Graph {
            edges: vec![Vec::new(); events.len()],
            incarnation: vec![0; events.len()],
        };
        graph.threads(events);
        graph.locks(events);
        graph.atomics(events);
        graph.barriers(events);
        graph.messages(events);
        graph.calls(events, tables);
        graph
    }

    fn edge(&mut self, from: usize, to: usize) {
        assert!(from < to, "an edge leads forward");
        self.edges[to].push(from);
    }

    /// For each event the set of those that happen before it.
    fn closure(&self) -> Vec<Bits> {
        let words = self.edges.len().div_ceil(64);
        let mut before: Vec<Bits> = Vec::new();
        for edges in &self.edges {
            let mut set = vec![0; words];
            for &from in edges {
                set[from / 64] |= 1 << (from % 64);
                for (word, other) in set.iter_mut().zip(&before[from]) {
                    *word |= other;
                }
            }
            before.push(set);
        }
        before
    }

    fn threads(&mut self, events: &[Event]) {
        let mut last: HashMap<ThreadId, usize> = HashMap::new();
        let mut ended: HashSet<ThreadId> = HashSet::new();
        let mut incarnation: HashMap<ThreadId, usize> = HashMap::new();
        let mut incarnations = 0;
        for (i, e) in events.iter().enumerate() {
            self.incarnation[i] = *incarnation.entry(e.thread).or_insert_with(|| {
                incarnations += 1;
                incarnations
            });
            if let Some(before) = last.insert(e.thread, i) {
                self.edge(before, i);
            }
            match e.op {
                Op::Fork { child } => {
                    if ended.remove(&child) || !incarnation.contains_key(&child) {
                        incarnations += 1;
                        incarnation.insert(child, incarnations);
                    } else if let Some(&before) = last.get(&child) {
                        // Ill-formed: the child ran before. Its past stays its past.
                        self.edges[i].push(before);
                    }
                    last.insert(child, i);
                }
                Op::Join { child } => {
                    if let Some(&end) = last.get(&child) {
                        self.edge(end, i);
                    }
                    ended.insert(child);
                }
                Op::End => {
                    ended.insert(e.thread);
                }
                _ => {}
            }
        }
    }

    fn locks(&mut self, events: &[Event]) {
        let mut held: HashMap<(ThreadId, SyncId), (Mode, usize)> = HashMap::new();
        let mut releases: HashMap<SyncId, Vec<(usize, Mode)>> = HashMap::new();
        for (i, e) in events.iter().enumerate() {
            match e.op {
                Op::Acquire { lock, mode } => {
                    let (_, depth) = held.entry((e.thread, lock)).or_insert((mode, 0));
                    *depth += 1;
                    if *depth == 1 {
                        for &(release, released) in releases.get(&lock).into_iter().flatten() {
                            if released == Mode::Exclusive || mode == Mode::Exclusive {
                                self.edge(release, i);
                            }
                        }
                    }
                }
                Op::Release { lock } => {
                    if let Some((mode, depth)) = held.get_mut(&(e.thread, lock)) {
                        *depth -= 1;
                        if *depth == 0 {
                            releases.entry(lock).or_default().push((i, *mode));
                            held.remove(&(e.thread, lock));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn atomics(&mut self, events: &[Event]) {
        // Modification order of each atomic: its stores since the memory came into being.
        let mut stores: HashMap<Addr, Vec<usize>> = HashMap::new();
        for (i, e) in events.iter().enumerate() {
            if let Op::Alloc { addr, size } = e.op {
                stores.retain(|a, _| !(addr.0..addr.0 + u64::from(size)).contains(&a.0));
            }
            let Op::Atomic { addr, op, order, .. } = e.op else {
                continue;
            };
            if op != AtomicOp::Store {
                // Who acquires: the load itself, or a later acquire fence of its thread.
                let fences = self.later_fences(events, i);
                let acquirers = if order.acquires() { vec![i] } else { fences };
                for releaser in self.releasers(events, stores.get(&addr).map_or(&[], |s| s)) {
                    for &acquirer in &acquirers {
                        self.edge(releaser, acquirer);
                    }
                }
            }
            if op != AtomicOp::Load {
                stores.entry(addr).or_default().push(i);
            }
        }
    }

    /// What a load synchronises with that reads the last of `stores`: every store whose release sequence this one
    /// belongs to, if it releases, and else the last release fence before it in its thread.
    fn releasers(&self, events: &[Event], stores: &[usize]) -> Vec<usize> {
        let mut releasers = Vec::new();
        for &store in stores.iter().rev() {
            let Op::Atomic { op, order, .. } = events[store].op else {
                continue;
            };
            if order.releases() {
                releasers.push(store);
            } else if let Some(fence) = self.earlier_fence(events, store) {
                releasers.push(fence);
            }
            // A volatile write happens before every later read, so an older write is not cut off by it.
            if op == AtomicOp::Store && order != Order::Volatile {
                break;
            }
        }
        releasers
    }

    fn later_fences(&self, events: &[Event], from: usize) -> Vec<usize> {
        (from + 1..events.len())
            .filter(|&i| self.incarnation[i] == self.incarnation[from])
            .filter(|&i| matches!(events[i].op, Op::Fence { order } if order.acquires()))
            .collect()
    }

    fn earlier_fence(&self, events: &[Event], from: usize) -> Option<usize> {
        (0..from)
            .rev()
            .filter(|&i| self.incarnation[i] == self.incarnation[from])
            .find(|&i| matches!(events[i].op, Op::Fence { order } if order.releases()))
    }

    fn barriers(&mut self, events: &[Event]) {
        let mut rounds: HashMap<SyncId, usize> = HashMap::new();
        let mut inside: HashMap<(SyncId, ThreadId), usize> = HashMap::new();
        let mut entered: HashMap<(SyncId, usize), Vec<usize>> = HashMap::new();
        for (i, e) in events.iter().enumerate() {
            match e.op {
                Op::BarrierEnter { barrier } => {
                    let round = *rounds.entry(barrier).or_default();
                    inside.insert((barrier, e.thread), round);
                    entered.entry((barrier, round)).or_default().push(i);
                }
                Op::BarrierLeave { barrier } => {
                    let Some(round) = inside.remove(&(barrier, e.thread)) else {
                        continue;
                    };
                    // Once somebody has left a round, whoever enters is in the next.
                    let present = rounds.entry(barrier).or_default();
                    *present = (*present).max(round + 1);
                    for enter in entered[&(barrier, round)].clone() {
                        self.edge(enter, i);
                    }
                }
                _ => {}
            }
        }
    }

    fn messages(&mut self, events: &[Event]) {
        let mut sent: HashMap<SyncId, Vec<usize>> = HashMap::new();
        for (i, e) in events.iter().enumerate() {
            match e.op {
                Op::Send { channel } => sent.entry(channel).or_default().push(i),
                Op::Receive { channel } => {
                    for send in sent
                        .get(&channel)
                        .into_iter()
                        .flatten()
                        .copied()
                        .collect::<Vec<_>>()
                    {
                        self.edge(send, i);
                    }
                }
                _ => {}
            }
        }
    }

    /// Calls that reach one object are ordered as observed with each other and with ordinary accesses to it. Before
    /// its first call, any event of any thread may have touched an object.
    fn calls(&mut self, events: &[Event], tables: &Tables) {
        let mut open: HashMap<ThreadId, Vec<&[Object]>> = HashMap::new();
        let mut reached: BTreeMap<Object, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (i, e) in events.iter().enumerate() {
            let objects = match e.op {
                Op::CallBegin { objects, .. } => {
                    open.entry(e.thread).or_default().push(tables.objects(objects));
                    tables.objects(objects)
                }
                Op::CallEnd => open.entry(e.thread).or_default().pop().unwrap_or(&[]),
                Op::Read { addr, size, .. }
                | Op::Write { addr, size, .. }
                | Op::Free { addr, size }
                | Op::Atomic { addr, size, .. } => {
                    let range = (addr.0, addr.0 + u64::from(size));
                    for (object, (calls, touches)) in &mut reached {
                        let end = object.addr.0 + u64::from(object.size);
                        let overlap = object.addr.0 < range.1 && range.0 < end;
                        if overlap || *object == Object::EVERYTHING {
                            touches.push(i);
                            self.edges[i].extend(calls.iter().copied());
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            // With a call that reaches everything, each other call has something in common.
            let wide = !objects.is_empty()
                && !objects.contains(&Object::EVERYTHING)
                && reached.contains_key(&Object::EVERYTHING);
            let everything = wide.then_some(&Object::EVERYTHING);
            for &object in objects.iter().chain(everything) {
                let (calls, touches) = reached
                    .entry(object)
                    .or_insert_with(|| (Vec::new(), (0..i).collect()));
                self.edges[i].extend(calls.iter().chain(&*touches).copied());
                calls.push(i);
            }
        }
    }
}
