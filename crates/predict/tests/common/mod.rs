//! The slow, obvious answer: run every schedule of a small trace, and look which accesses are ever about to happen together.
//!
//! Written from the definitions in `docs/prediction.md`, byte by byte and pair by pair. Shares no code with the crate.

#![allow(dead_code)]

use deadheat_detect::reference::Reference;
use deadheat_event::{AtomicOp, Event, Mode, Object, Op, SyncId, Tables, ThreadId};
use deadheat_predict::{Model, Options, Windows, look};
use deadheat_trace::recipe::Trace;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;

/// Pairs of events, the earlier one first.
pub type Pairs = BTreeSet<(usize, usize)>;

/// Reads a trace in the text format.
pub fn parse(text: &str) -> Trace {
    let (events, tables) = deadheat_trace::parse(text).expect("a trace");
    Trace { events, tables }
}

/// What the crate finds, all pairs of it, with the whole trace as one window.
pub fn predicted(trace: &Trace, model: Model) -> Pairs {
    predicted_in(trace, model, trace.events.len())
}

/// The same with smaller windows.
pub fn predicted_in(trace: &Trace, model: Model, window: usize) -> Pairs {
    let options = Options {
        model,
        window,
        ..Options::default()
    };
    predicted_with(trace, &options)
}

/// The same with other options.
pub fn predicted_with(trace: &Trace, options: &Options) -> Pairs {
    let mut windows = Windows::new(options.window);
    windows.push(&trace.events);
    let mut pairs = Pairs::new();
    while let Some(window) = windows.next(true, &trace.tables) {
        let found = look(&window, options, &|_| true);
        assert_eq!(found.rejection, None, "the checker rejects a witness");
        assert!(found.outcome.undecided.is_none(), "{:?}", found.outcome);
        for (_, prediction) in found.races {
            let [a, b] = prediction.events;
            let schedule: Vec<u64> = prediction.witness.schedule().collect();
            assert_eq!(schedule[schedule.len() - 2..], [a, b]);
            pairs.insert((a as usize, b as usize));
        }
    }
    pairs
}

/// Rounds of: write a number, take a lock, pass the state on, give the lock back, read another's number. The order of critical
/// sections and the sources of reads are free, so that the solver has much to do.
pub fn handed_on(events: usize, seed: u64) -> String {
    let mut trace = String::new();
    let mut states = [0_u64; 2];
    let mut random = seed;
    for _ in 0..events / 7 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (t, lock, slot) = (random >> 60 & 3, (random >> 50 & 1) as usize, random >> 40 & 7);
        let state = states[lock];
        states[lock] = (state + (random >> 33 & 1)) % 3;
        let _ = writeln!(
            trace,
            "T{t} w d{slot}; T{t} acq L{lock}; T{t} r s{lock} ={state}; T{t} w s{lock} ={}; T{t} rel L{lock}; T{t} w e{slot}; T{t} r d{}",
            states[lock],
            (slot + 1) % 8
        );
    }
    trace
}

/// Gives accesses the values that a memory of zeros would have had, with few different ones written.
pub fn realistic(trace: &mut Trace) {
    let mut memory: HashMap<u64, u8> = HashMap::new();
    let mut call = 0;
    for (n, event) in trace.events.iter_mut().enumerate() {
        let read = |memory: &HashMap<u64, u8>, addr: u64, size: u32| {
            let bytes =
                (0..u64::from(size)).map(|at| u64::from(*memory.get(&(addr + at)).unwrap_or(&0)) << (8 * at));
            bytes.sum::<u64>()
        };
        let write = |memory: &mut HashMap<u64, u8>, addr: u64, size: u32, value: u64| {
            for at in 0..u64::from(size) {
                memory.insert(addr + at, (value >> (8 * (at % 8))) as u8);
            }
        };
        let fresh = |size: u32| {
            if size == 8 {
                (n % 2) as u64 * 0x0101_0101_0101_0101
            } else {
                (n % 2) as u64
            }
        };
        match &mut event.op {
            Op::Read { addr, size, value } => *value = Some(read(&memory, addr.0, *size)),
            Op::Write { addr, size, value } => {
                *value = Some(fresh(*size));
                write(&mut memory, addr.0, *size, fresh(*size));
            }
            Op::Atomic {
                addr,
                size,
                op,
                value,
                ..
            } => {
                if op.writes() {
                    *value = Some(fresh(*size));
                    write(&mut memory, addr.0, *size, fresh(*size));
                } else {
                    *value = Some(read(&memory, addr.0, *size));
                }
            }
            Op::Alloc { addr, size } | Op::Free { addr, size } => {
                call += 1;
                write(&mut memory, addr.0, (*size).min(64), call);
            }
            _ => {}
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Spot {
    Byte(u64),
    Element(u32, u64),
}

#[derive(Clone, Debug, Default)]
struct Touch {
    spots: Vec<Spot>,
    reads: bool,
    writes: bool,
    atomic: bool,
    birth: bool,
    free: bool,
    value: Option<u64>,
    first: u64,
}

fn touch(op: &Op) -> Option<Touch> {
    let bytes = |addr: u64, size: u32| Touch {
        spots: (addr..addr + u64::from(size)).map(Spot::Byte).collect(),
        first: addr,
        ..Touch::default()
    };
    Some(match *op {
        Op::Read { addr, size, value } => Touch {
            reads: true,
            value,
            ..bytes(addr.0, size)
        },
        Op::Write { addr, size, value } => Touch {
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
        } => Touch {
            reads: op != AtomicOp::Store,
            writes: op != AtomicOp::Load,
            atomic: true,
            value,
            ..bytes(addr.0, size)
        },
        Op::Alloc { addr, size } => Touch {
            writes: true,
            birth: true,
            ..bytes(addr.0, size)
        },
        Op::Free { addr, size } => Touch {
            writes: true,
            free: true,
            ..bytes(addr.0, size)
        },
        Op::ArrayRead { array, indices } => Touch {
            spots: indices.iter().map(|at| Spot::Element(array.0, at)).collect(),
            reads: true,
            ..Touch::default()
        },
        Op::ArrayWrite { array, indices } => Touch {
            spots: indices.iter().map(|at| Spot::Element(array.0, at)).collect(),
            writes: true,
            ..Touch::default()
        },
        Op::NewArray { array, len } => Touch {
            spots: (0..len.min(64)).map(|at| Spot::Element(array.0, at)).collect(),
            writes: true,
            birth: true,
            ..Touch::default()
        },
        _ => return None,
    })
}

/// A call: its thread, begin, end, and what it reaches.
struct Call {
    thread: usize,
    begin: usize,
    end: usize,
    objects: Vec<Object>,
}

impl Call {
    fn own(&self, brute: &Brute<'_>, event: usize) -> bool {
        brute.thread[event] == self.thread && self.begin <= event && event <= self.end
    }

    fn reaches_everything(&self) -> bool {
        self.objects.contains(&Object::EVERYTHING)
    }

    fn reaches(&self, byte: u64) -> bool {
        if self.reaches_everything() {
            return true;
        }
        let has = |o: &Object| (o.addr.0..o.addr.0 + u64::from(o.size)).contains(&byte);
        self.objects.iter().any(has)
    }

    fn touched_by(&self, brute: &Brute<'_>, event: usize) -> bool {
        match brute.events[event].op {
            Op::Acquire { lock: SyncId(id), .. }
            | Op::Release { lock: SyncId(id) }
            | Op::BarrierEnter { barrier: SyncId(id) }
            | Op::BarrierLeave { barrier: SyncId(id) }
            | Op::Send { channel: SyncId(id) }
            | Op::Receive { channel: SyncId(id) } => self.reaches(id),
            _ if self.reaches_everything() => brute.touches[event].is_some(),
            _ => { brute.touches[event].iter().flat_map(|touch| &touch.spots) }
                .any(|spot| matches!(spot, Spot::Byte(at) if self.reaches(*at))),
        }
    }

    fn meets(&self, other: &Call) -> bool {
        if other.reaches_everything() {
            return !self.objects.is_empty();
        }
        if self.reaches_everything() {
            return !other.objects.is_empty();
        }
        let bytes = |o: &Object| o.addr.0..o.addr.0 + u64::from(o.size);
        self.objects
            .iter()
            .flat_map(bytes)
            .any(|byte| other.reaches(byte))
    }
}

type Seen = (Spot, Option<usize>, Option<u8>);

/// Runs every schedule.
pub struct Brute<'t> {
    events: &'t [Event],
    thread: Vec<usize>,
    threads: Vec<Vec<usize>>,
    touches: Vec<Option<Touch>>,
    hard: Vec<Vec<usize>>,
    soft: Vec<Vec<usize>>,
    joins: Vec<Option<usize>>,
    /// For reads (and calls): spot, observed writer, value.
    sees: Vec<Vec<Seen>>,
    /// Spots that a call writes at its begin and end.
    changes: Vec<Vec<Spot>>,
    initial: HashMap<Spot, u8>,
}

impl<'t> Brute<'t> {
    pub fn new(trace: &'t Trace, model: Model) -> Brute<'t> {
        let events = &trace.events[..];
        let mut brute = Brute {
            events,
            thread: Vec::new(),
            threads: Vec::new(),
            touches: events.iter().map(|event| touch(&event.op)).collect(),
            hard: vec![Vec::new(); events.len()],
            soft: vec![Vec::new(); events.len()],
            joins: vec![None; events.len()],
            sees: vec![Vec::new(); events.len()],
            changes: vec![Vec::new(); events.len()],
            initial: HashMap::new(),
        };
        brute.threads();
        brute.syncs();
        let calls = if model == Model::Rdit {
            brute.calls(&trace.tables)
        } else {
            Vec::new()
        };
        brute.memory(&calls);
        brute.barrier_pairs(&calls);
        brute
    }

    fn threads(&mut self) {
        let mut now: HashMap<ThreadId, usize> = HashMap::new();
        let mut forked: HashMap<usize, usize> = HashMap::new();
        for (i, e) in self.events.iter().enumerate() {
            let next = self.threads.len();
            let thread = *now.entry(e.thread).or_insert(next);
            if thread == next {
                self.threads.push(Vec::new());
            }
            if let (true, Some(&fork)) = (self.threads[thread].is_empty(), forked.get(&thread)) {
                self.hard[i].push(fork);
            }
            self.thread.push(thread);
            self.threads[thread].push(i);
            match e.op {
                Op::Fork { child } => {
                    now.insert(child, self.threads.len());
                    forked.insert(self.threads.len(), i);
                    self.threads.push(Vec::new());
                }
                Op::Join { child } => {
                    if let Some(&child) = now.get(&child) {
                        self.hard[i].extend(&self.threads[child]);
                        self.joins[i] = Some(child);
                    }
                }
                _ => {}
            }
        }
    }

    fn syncs(&mut self) {
        let mut rounds: BTreeMap<SyncId, (usize, BTreeMap<ThreadId, usize>)> = BTreeMap::new();
        let mut entered: Vec<(SyncId, usize, usize)> = Vec::new();
        for (i, e) in self.events.iter().enumerate() {
            match e.op {
                Op::BarrierEnter { barrier } => {
                    let (round, inside) = rounds.entry(barrier).or_default();
                    inside.insert(e.thread, *round);
                    let earlier = entered.iter().filter(|(b, r, _)| *b == barrier && r < round);
                    self.hard[i].extend(earlier.map(|(_, _, e)| e));
                    entered.push((barrier, *round, i));
                }
                Op::BarrierLeave { barrier } => {
                    let (present, inside) = rounds.entry(barrier).or_default();
                    if let Some(round) = inside.remove(&e.thread) {
                        *present = (*present).max(round + 1);
                        let members = entered.iter().filter(|(b, r, _)| *b == barrier && *r == round);
                        self.hard[i].extend(members.map(|(_, _, e)| e));
                    }
                }
                Op::Send { channel } => {
                    let sends = |j: &usize| self.events[*j].op == Op::Send { channel };
                    self.hard[i].extend((0..i).filter(sends));
                }
                Op::Receive { channel } => {
                    let before = |j: &usize| {
                        let op = self.events[*j].op;
                        op == Op::Send { channel } || op == Op::Receive { channel }
                    };
                    self.hard[i].extend((0..i).filter(before));
                }
                _ => {}
            }
        }
    }

    fn calls(&self, tables: &Tables) -> Vec<Call> {
        let mut calls: Vec<Call> = Vec::new();
        let mut open: HashMap<usize, Vec<usize>> = HashMap::new();
        for (i, e) in self.events.iter().enumerate() {
            let thread = self.thread[i];
            match e.op {
                Op::CallBegin { objects, .. } => {
                    open.entry(thread).or_default().push(calls.len());
                    let objects = tables.objects(objects).to_vec();
                    calls.push(Call {
                        thread,
                        begin: i,
                        end: usize::MAX,
                        objects,
                    });
                }
                Op::CallEnd => {
                    if let Some(call) = open.entry(thread).or_default().pop() {
                        calls[call].end = i;
                    }
                }
                _ => {}
            }
        }
        calls
    }

    fn memory(&mut self, calls: &[Call]) {
        let touched = self.touches.iter().flatten().flat_map(|touch| &touch.spots);
        let named = { calls.iter().flat_map(|call| &call.objects) }
            .flat_map(|o| (o.addr.0..o.addr.0 + u64::from(o.size)).map(Spot::Byte));
        let everything: BTreeSet<Spot> = touched.copied().chain(named).collect();
        let mut writer: HashMap<Spot, usize> = HashMap::new();
        let mut birth: HashMap<Spot, usize> = HashMap::new();
        let mut used: HashMap<Spot, Vec<usize>> = HashMap::new();
        for i in 0..self.events.len() {
            for call in calls.iter().filter(|call| call.begin == i || call.end == i) {
                if call.reaches_everything() {
                    for &spot in &everything {
                        self.sees[i].push((spot, writer.insert(spot, i), None));
                        self.changes[i].push(spot);
                    }
                    continue;
                }
                for object in &call.objects {
                    for spot in (object.addr.0..object.addr.0 + u64::from(object.size)).map(Spot::Byte) {
                        self.sees[i].push((spot, writer.insert(spot, i), None));
                        self.changes[i].push(spot);
                    }
                }
            }
            let Some(touch) = self.touches[i].clone() else {
                continue;
            };
            for &spot in &touch.spots {
                let recorded = recorded(&touch, spot);
                self.hard[i].extend(birth.get(&spot));
                if touch.reads {
                    let source = writer.get(&spot).copied();
                    if source.is_none()
                        && !touch.writes
                        && let Some(value) = recorded
                    {
                        self.initial.entry(spot).or_insert(value);
                    }
                    let own = if touch.writes { None } else { recorded };
                    let value = own.or_else(|| match source {
                        None => self.initial.get(&spot).copied(),
                        Some(write) => self.touches[write].as_ref().and_then(|t| self::recorded(t, spot)),
                    });
                    self.sees[i].push((spot, source, value));
                }
                let before = used.entry(spot).or_default();
                if touch.birth {
                    self.hard[i].append(before);
                    birth.insert(spot, i);
                }
                if touch.free {
                    self.soft[i].extend(&*before);
                }
                before.push(i);
                if touch.writes {
                    writer.insert(spot, i);
                }
            }
        }
    }

    fn barrier_pairs(&mut self, calls: &[Call]) {
        for call in calls {
            for f in 0..self.events.len() {
                for e in 0..f {
                    let related = |x: usize| {
                        call.own(self, x)
                            || call.touched_by(self, x)
                            || calls.iter().any(|other| other.meets(call) && other.own(self, x))
                    };
                    let own = call.own(self, e) || call.own(self, f);
                    if own && related(e) && related(f) {
                        self.hard[f].push(e);
                    }
                    let open = |x: usize| call.begin < x && x < call.end && call.touched_by(self, x);
                    if open(e) && open(f) {
                        self.soft[f].push(e);
                    }
                }
            }
        }
    }

    fn happened(&self, at: &[usize], event: usize) -> bool {
        self.threads[self.thread[event]][..at[self.thread[event]]].contains(&event)
    }

    /// All pairs that some schedule brings side by side.
    pub fn races(&self) -> Pairs {
        let start = (vec![0; self.threads.len()], BTreeMap::new());
        let mut seen: HashSet<(Vec<usize>, BTreeMap<Spot, usize>)> = HashSet::from([start.clone()]);
        let mut todo = vec![start];
        let mut pairs = Pairs::new();
        while let Some((at, contents)) = todo.pop() {
            let next: Vec<usize> = { self.threads.iter().zip(&at) }
                .filter_map(|(thread, &n)| thread.get(n).copied())
                .filter(|&event| self.hard[event].iter().all(|&before| self.happened(&at, before)))
                .collect();
            for (n, &x) in next.iter().enumerate() {
                for &y in &next[..n] {
                    if self.conflict(x, y) {
                        pairs.insert((x.min(y), x.max(y)));
                    }
                }
            }
            let held = self.held(&at);
            for event in next {
                if self.can(event, &at, &contents, &held) {
                    let (mut at, mut contents) = (at.clone(), contents.clone());
                    at[self.thread[event]] += 1;
                    if let Some(touch) = self.touches[event].as_ref().filter(|touch| touch.writes) {
                        contents.extend(touch.spots.iter().map(|&spot| (spot, event)));
                    }
                    contents.extend(self.changes[event].iter().map(|&spot| (spot, event)));
                    let state = (at, contents);
                    if seen.insert(state.clone()) {
                        todo.push(state);
                    }
                }
            }
        }
        pairs
    }

    fn conflict(&self, x: usize, y: usize) -> bool {
        let (Some(a), Some(b)) = (&self.touches[x], &self.touches[y]) else {
            return false;
        };
        !a.birth
            && !b.birth
            && (a.writes || b.writes)
            && !(a.atomic && b.atomic)
            && a.spots.iter().any(|spot| b.spots.contains(spot))
    }

    /// Locks held, by thread, with how often and how.
    fn held(&self, at: &[usize]) -> BTreeMap<(SyncId, usize), Vec<Mode>> {
        let mut held: BTreeMap<(SyncId, usize), Vec<Mode>> = BTreeMap::new();
        let mut gone = HashSet::new();
        for (number, thread) in self.threads.iter().enumerate() {
            for &event in &thread[..at[number]] {
                match self.events[event].op {
                    Op::Acquire { lock, mode } => held.entry((lock, number)).or_default().push(mode),
                    Op::Release { lock } => drop(held.entry((lock, number)).or_default().pop()),
                    Op::End => drop(gone.insert(number)),
                    Op::Join { .. } => gone.extend(self.joins[event]),
                    _ => {}
                }
            }
        }
        held.retain(|(_, thread), modes| !modes.is_empty() && !gone.contains(thread));
        held
    }

    fn can(
        &self,
        event: usize,
        at: &[usize],
        contents: &BTreeMap<Spot, usize>,
        held: &BTreeMap<(SyncId, usize), Vec<Mode>>,
    ) -> bool {
        if !self.soft[event].iter().all(|&before| self.happened(at, before)) {
            return false;
        }
        if let Op::Acquire { lock, mode } = self.events[event].op {
            let blocks = |(&(other, thread), modes): (&(SyncId, usize), &Vec<Mode>)| {
                other == lock
                    && thread != self.thread[event]
                    && (mode == Mode::Exclusive || modes.contains(&Mode::Exclusive))
            };
            if held.iter().any(blocks) {
                return false;
            }
        }
        self.sees[event].iter().all(|(spot, source, value)| {
            let now = contents.get(spot).copied();
            let present = match now {
                None => self.initial.get(spot).copied(),
                Some(write) if self.changes[write].contains(spot) => None,
                Some(write) => self.touches[write]
                    .as_ref()
                    .and_then(|touch| recorded(touch, *spot)),
            };
            now == *source || value.is_some() && *value == present
        })
    }
}

fn recorded(touch: &Touch, spot: Spot) -> Option<u8> {
    match spot {
        Spot::Byte(at) if touch.spots.len() <= 8 => Some((touch.value? >> (8 * (at - touch.first))) as u8),
        _ => None,
    }
}

/// Causally-precedes by its definition: the least relation that has rules (a), (b) and is closed under composition with
/// happens-before. Synchronisation other than locks orders as in happens-before.
pub fn causally_precedes(trace: &Trace, hb: &Reference) -> HashSet<(usize, usize)> {
    let n = trace.events.len();
    // Without locks, happens-before is what orders besides them.
    let mut unlocked = trace.clone();
    for event in &mut unlocked.events {
        if matches!(event.op, Op::Acquire { .. } | Op::Release { .. }) {
            event.op = Op::Fence {
                order: deadheat_event::Order::Relaxed,
            };
        }
    }
    let others = Reference::new(&unlocked.events, &unlocked.tables);
    let brute = Brute::new(trace, Model::Mc);
    let sections = sections(&brute);
    let before = |a: usize, b: usize| a == b || hb.happens_before(a, b);
    let mut cp: HashSet<(usize, usize)> = HashSet::new();
    for a in 0..n {
        for b in a..n {
            if brute.thread[a] != brute.thread[b] && others.happens_before(a, b) {
                cp.insert((a, b));
            }
        }
    }
    loop {
        let mut next = cp.clone();
        for (i, x) in sections.iter().enumerate() {
            for y in &sections[i + 1..] {
                let (Some(release), Some(end)) = (x.release, y.release.or(Some(n))) else {
                    continue;
                };
                if x.lock != y.lock
                    || x.thread == y.thread
                    || !(x.exclusive || y.exclusive)
                    || release > y.acquire
                {
                    continue;
                }
                let inside = |thread: usize, from: usize, to: usize| {
                    let events = brute.threads[thread].clone();
                    events.into_iter().filter(move |e| from <= *e && *e <= to)
                };
                let related = inside(x.thread, x.acquire, release).any(|e| {
                    inside(y.thread, y.acquire, end).any(|f| {
                        let ordered = cp.contains(&(e, f)) && y.release.is_some();
                        ordered || brute.conflict_any(e, f)
                    })
                });
                if related {
                    next.insert((release, y.acquire));
                }
            }
        }
        let edges: Vec<_> = next.iter().copied().collect();
        for (u, v) in edges {
            for a in (0..=u).filter(|&a| before(a, u)) {
                for b in (v..n).filter(|&b| before(v, b)) {
                    next.insert((a, b));
                }
            }
        }
        if next.len() == cp.len() {
            return cp;
        }
        cp = next;
    }
}

struct Section {
    lock: SyncId,
    thread: usize,
    exclusive: bool,
    acquire: usize,
    release: Option<usize>,
}

fn sections(brute: &Brute<'_>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut open: HashMap<(usize, SyncId), (usize, usize)> = HashMap::new();
    for (i, e) in brute.events.iter().enumerate() {
        let thread = brute.thread[i];
        match e.op {
            Op::Acquire { lock, mode } => {
                let (_, depth) = open.entry((thread, lock)).or_insert((sections.len(), 0));
                *depth += 1;
                if *depth == 1 {
                    let exclusive = mode == Mode::Exclusive;
                    sections.push(Section {
                        lock,
                        thread,
                        exclusive,
                        acquire: i,
                        release: None,
                    });
                }
            }
            Op::Release { lock } => {
                if let Some((section, depth)) = open.get_mut(&(thread, lock)) {
                    *depth -= 1;
                    if *depth == 0 {
                        sections[*section].release = Some(i);
                        open.remove(&(thread, lock));
                    }
                }
            }
            _ => {}
        }
    }
    sections
}

impl Brute<'_> {
    /// Whether two events touch something in common and one writes, atomically or not.
    fn conflict_any(&self, x: usize, y: usize) -> bool {
        let (Some(a), Some(b)) = (&self.touches[x], &self.touches[y]) else {
            return false;
        };
        (a.writes || b.writes) && a.spots.iter().any(|spot| b.spots.contains(spot))
    }
}
