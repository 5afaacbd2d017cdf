//! Happens-before and causally-precedes over a window, as relations between its events.
//!
//! Happens-before is what the detectors use (`deadheat_detect::hb`), without calls into untraced code: program order, fork and
//! join, barriers, messages, locks, and atomics by their ordering with release sequences and fences.
//!
//! Causally-precedes (Smaragdakis, Evans, Sadowski, Yi and Flanagan, "Sound predictive race detection in polynomial time", POPL
//! 2012) orders two critical sections of a lock only if they conflict, or if events in them are ordered by it
//! already; everything but locks orders as in happens-before. It is closed under composition with happens-before on both sides, so
//! `a` causally precedes `b` if some ordering edge leads from behind or at `a` to before or at `b`. For each section only the
//! first later one that it is ordered with matters: the others come behind that one in happens-before.
//!
//! Both are kept as the earliest event of each thread that comes behind an event.

use crate::footprint::{Footprint, Kind};
use crate::graph::{Graph, Id, Unfinished};
use crate::{Model, Window};
use deadheat_event::{Addr, AtomicOp, Mode, Op, Order, SyncId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::time::Instant;

/// Nothing of a thread comes behind.
const NEVER: u32 = u32::MAX;

/// A relation: for each event and thread, the place of the first event there that comes behind it.
#[derive(Debug)]
pub struct Causal {
    behind: Vec<u32>,
    slots: usize,
}

impl Causal {
    /// The relation of a model, if it has one of its own.
    pub fn new(
        graph: &Graph<'_>,
        window: &Window,
        model: Model,
        deadline: Instant,
    ) -> Result<Option<Causal>, Unfinished> {
        let edges = match model {
            Model::Hb | Model::Cp => Edges::new(graph, window),
            Model::Mc | Model::Rdit => return Ok(None),
        };
        let hb = happens_before(graph, &edges);
        Ok(Some(match model {
            Model::Hb => hb,
            _ => causally_precedes(graph, &edges, &hb, deadline)?,
        }))
    }

    /// Whether `a` comes before `b`, which is of another thread.
    pub fn orders(&self, graph: &Graph<'_>, a: Id, b: Id) -> bool {
        self.row(a)[graph.slot[b as usize] as usize] <= graph.pos[b as usize]
    }

    fn row(&self, event: Id) -> &[u32] {
        &self.behind[event as usize * self.slots..][..self.slots]
    }

    fn empty(graph: &Graph<'_>) -> Causal {
        Causal {
            behind: vec![NEVER; graph.events.len() * graph.slots()],
            slots: graph.slots(),
        }
    }

    /// Lowers the row of `event` to that of a later one.
    fn take(&mut self, event: Id, later: Id) {
        let (mine, rest) = self.behind.split_at_mut((event as usize + 1) * self.slots);
        let mine = &mut mine[event as usize * self.slots..];
        let theirs = &rest[(later - event - 1) as usize * self.slots..][..self.slots];
        for (mine, theirs) in mine.iter_mut().zip(theirs) {
            *mine = (*mine).min(*theirs);
        }
    }
}

/// Edges to later events, besides program order.
#[derive(Debug)]
struct Edges {
    locks: Vec<Vec<Id>>,
    others: Vec<Vec<Id>>,
}

fn happens_before(graph: &Graph<'_>, edges: &Edges) -> Causal {
    let mut hb = Causal::empty(graph);
    for event in (0..graph.events.len() as Id).rev() {
        let (slot, pos) = (graph.slot[event as usize] as usize, graph.pos[event as usize]);
        let next = graph.threads[slot].get(pos as usize + 1).into_iter();
        let edges = edges.locks[event as usize]
            .iter()
            .chain(&edges.others[event as usize]);
        for &later in next.chain(edges) {
            hb.take(event, later);
        }
        hb.behind[event as usize * hb.slots + slot] = pos;
    }
    hb
}

fn causally_precedes(
    graph: &Graph<'_>,
    edges: &Edges,
    hb: &Causal,
    deadline: Instant,
) -> Result<Causal, Unfinished> {
    let mut follower = conflicting(graph);
    while Instant::now() < deadline {
        let cp = compose(graph, edges, hb, &follower);
        if !extend(graph, &cp, &mut follower) {
            return Ok(cp);
        }
    }
    Err(Unfinished::Late)
}

/// The relation, given the first section that each section is ordered with.
fn compose(graph: &Graph<'_>, edges: &Edges, hb: &Causal, follower: &[Option<u32>]) -> Causal {
    let mut ordered: FxHashMap<Id, Vec<Id>> = FxHashMap::default();
    for (section, follower) in graph.sections.iter().zip(follower) {
        if let (Some(release), Some(follower)) = (section.release, follower) {
            let acquire = graph.sections[*follower as usize].acquire;
            ordered.entry(release).or_default().push(acquire);
        }
    }
    let mut cp = Causal::empty(graph);
    for event in (0..graph.events.len() as Id).rev() {
        let (slot, pos) = (graph.slot[event as usize] as usize, graph.pos[event as usize]);
        let next = graph.threads[slot].get(pos as usize + 1).into_iter();
        let (locks, others) = (&edges.locks[event as usize], &edges.others[event as usize]);
        for &later in next.chain(locks).chain(others) {
            cp.take(event, later);
        }
        let ordered = ordered.get(&event).into_iter().flatten();
        for &later in others.iter().chain(ordered) {
            let row = &mut cp.behind[event as usize * cp.slots..][..cp.slots];
            for (mine, theirs) in row.iter_mut().zip(hb.row(later)) {
                *mine = (*mine).min(*theirs);
            }
        }
    }
    cp
}

/// For each section the first later one of its lock that conflicts with it (rule a).
fn conflicting(graph: &Graph<'_>) -> Vec<Option<u32>> {
    // Which sections touch a cell, by lock, and whether they write it.
    let mut touching: FxHashMap<(u32, u32), BTreeMap<u32, bool>> = FxHashMap::default();
    for (number, section) in graph.sections.iter().enumerate() {
        let thread = &graph.threads[section.slot as usize];
        let from = graph.pos[section.acquire as usize] as usize;
        let inside = thread[from..]
            .iter()
            .take_while(|&&event| section.release.is_none_or(|end| event < end));
        for &event in inside {
            for read in graph.reads.get(event) {
                let cell = touching.entry((section.lock, read.cell)).or_default();
                cell.entry(number as u32).or_default();
            }
            for write in graph.writes.get(event) {
                let cell = touching.entry((section.lock, write.cell)).or_default();
                cell.insert(number as u32, true);
            }
        }
    }
    let mut follower: Vec<Option<u32>> = vec![None; graph.sections.len()];
    for cell in touching.values() {
        for (&number, &writes) in cell {
            let section = &graph.sections[number as usize];
            let mut later = cell.range(number + 1..).filter(|&(&other, &also)| {
                (writes || also) && section.excludes(&graph.sections[other as usize])
            });
            if let Some((&first, _)) = later.next() {
                let follower = &mut follower[number as usize];
                *follower = Some(follower.map_or(first, |known| known.min(first)));
            }
        }
    }
    follower
}

/// Adds sections that hold events which are ordered already (rule b). Whether there were any.
fn extend(graph: &Graph<'_>, cp: &Causal, follower: &mut [Option<u32>]) -> bool {
    let mut changed = false;
    for sections in &graph.locks {
        for (n, &number) in sections.iter().enumerate() {
            let section = &graph.sections[number as usize];
            let behind = cp.row(section.acquire);
            let later = sections[n + 1..].iter().copied();
            let first = later
                .take_while(|&other| follower[number as usize].is_none_or(|known| other < known))
                .find(|&other| {
                    let other = &graph.sections[other as usize];
                    let end = other.release.map(|end| graph.pos[end as usize]);
                    section.excludes(other) && end.is_some_and(|end| behind[other.slot as usize] <= end)
                });
            if first.is_some() {
                follower[number as usize] = first;
                changed = true;
            }
        }
    }
    changed
}

/// What an atomic variable's last store and the updates since then released.
type Releases = Vec<Id>;

#[derive(Default)]
struct Thread {
    fence: Option<Id>,
    /// What relaxed loads have read.
    read: Releases,
}

impl Edges {
    fn new(graph: &Graph<'_>, window: &Window) -> Edges {
        let mut edges = Edges {
            locks: vec![Vec::new(); graph.events.len()],
            others: vec![Vec::new(); graph.events.len()],
        };
        edges.locks(graph, window);
        edges.threads(graph);
        edges.waits(graph, window);
        edges.atomics(graph);
        // What a thread tells itself is program order. Causally-precedes composes each of these edges with happens-before, so that
        // one too many would order whatever comes before it with all that locks put behind it.
        for (from, later) in edges.others.iter_mut().enumerate() {
            later.retain(|&to| graph.slot[to as usize] != graph.slot[from]);
        }
        edges
    }

    fn threads(&mut self, graph: &Graph<'_>) {
        let mut now = FxHashMap::default();
        let mut forks = FxHashMap::default();
        for (event, e) in graph.events.iter().enumerate() {
            let slot = graph.slot[event];
            now.insert(e.thread, slot);
            if let Some(fork) = forks.remove(&e.thread) {
                self.add(fork, event as Id);
            }
            match e.op {
                Op::Fork { child } => {
                    forks.insert(child, event as Id);
                    now.remove(&child);
                }
                Op::Join { child } => {
                    let last = now.get(&child).and_then(|&child| {
                        let done = graph.threads[child as usize].iter().rev();
                        done.copied().find(|&last| last < event as Id)
                    });
                    // A thread that did nothing still comes behind its fork.
                    if let Some(last) = last.or(forks.get(&child).copied()) {
                        self.add(last, event as Id);
                    }
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, from: Id, to: Id) {
        self.others[from as usize].push(to);
    }

    fn locks(&mut self, graph: &Graph<'_>, window: &Window) {
        let mut held: FxHashMap<(u32, SyncId), (Mode, u32)> = FxHashMap::default();
        let mut started = vec![false; graph.slots()];
        let mut forked = vec![];
        let mut releases: FxHashMap<SyncId, Vec<(Id, Mode)>> = FxHashMap::default();
        for (event, e) in graph.events.iter().enumerate() {
            let slot = graph.slot[event];
            if !std::mem::replace(&mut started[slot as usize], true) && !forked.contains(&e.thread) {
                let range = (e.thread, SyncId(0))..=(e.thread, SyncId(u64::MAX));
                let past = window.past.held.range(range);
                held.extend(past.map(|(&(_, lock), &state)| ((slot, lock), state)));
            }
            match e.op {
                Op::Fork { child } => forked.push(child),
                Op::Acquire { lock, mode } => {
                    let (_, depth) = held.entry((slot, lock)).or_insert((mode, 0));
                    *depth += 1;
                    if *depth == 1 {
                        for &(release, released) in releases.get(&lock).into_iter().flatten() {
                            if released == Mode::Exclusive || mode == Mode::Exclusive {
                                self.locks[release as usize].push(event as Id);
                            }
                        }
                    }
                }
                Op::Release { lock } => {
                    if let Some((mode, depth)) = held.get_mut(&(slot, lock)) {
                        *depth -= 1;
                        if *depth == 0 {
                            let releases = releases.entry(lock).or_default();
                            if *mode == Mode::Exclusive {
                                // All before come behind this one through its acquire.
                                releases.clear();
                            }
                            releases.push((event as Id, *mode));
                            held.remove(&(slot, lock));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn waits(&mut self, graph: &Graph<'_>, window: &Window) {
        let mut barriers = window.past.barriers.clone();
        let mut entered: FxHashMap<(SyncId, u64), Vec<Id>> = FxHashMap::default();
        let mut sent: FxHashMap<SyncId, BTreeMap<u32, Id>> = FxHashMap::default();
        for (event, e) in graph.events.iter().enumerate() {
            match e.op {
                Op::BarrierEnter { barrier } => {
                    let round = barriers.entry(barrier).or_default().enter(e.thread);
                    entered.entry((barrier, round)).or_default().push(event as Id);
                }
                Op::BarrierLeave { barrier } => {
                    if let Some(round) = barriers.entry(barrier).or_default().leave(e.thread) {
                        for &enter in entered.get(&(barrier, round)).into_iter().flatten() {
                            self.others[enter as usize].push(event as Id);
                        }
                    }
                }
                Op::Send { channel } => {
                    sent.entry(channel)
                        .or_default()
                        .insert(graph.slot[event], event as Id);
                }
                Op::Receive { channel } => {
                    for &send in sent.get(&channel).into_iter().flat_map(BTreeMap::values) {
                        self.others[send as usize].push(event as Id);
                    }
                }
                _ => {}
            }
        }
    }

    fn atomics(&mut self, graph: &Graph<'_>) {
        let mut variables: BTreeMap<Addr, Releases> = BTreeMap::new();
        let mut threads: FxHashMap<u32, Thread> = FxHashMap::default();
        for (event, e) in graph.events.iter().enumerate() {
            let event = event as Id;
            let thread = threads.entry(graph.slot[event as usize]).or_default();
            match e.op {
                Op::Fence { order } => {
                    if order.acquires() {
                        for release in thread.read.drain(..) {
                            self.others[release as usize].push(event);
                        }
                    }
                    if order.releases() {
                        thread.fence = Some(event);
                    }
                }
                Op::Atomic { addr, op, order, .. } => {
                    let releases = variables.entry(addr).or_default();
                    if op != AtomicOp::Store {
                        if order.acquires() {
                            for &release in &*releases {
                                self.others[release as usize].push(event);
                            }
                        } else {
                            thread.read.extend_from_slice(releases);
                        }
                    }
                    if op == AtomicOp::Store && order != Order::Volatile {
                        releases.clear();
                    }
                    if op != AtomicOp::Load {
                        let releaser = if order.releases() {
                            Some(event)
                        } else {
                            thread.fence
                        };
                        releases.extend(releaser);
                    }
                }
                _ => {
                    if let Some(print) = Footprint::of(&e.op)
                        && print.kind == Kind::Birth
                        && print.space == 0
                    {
                        let range = Addr(print.first)..=Addr(print.last);
                        let gone: Vec<Addr> = variables.range(range).map(|(addr, _)| *addr).collect();
                        gone.iter().for_each(|addr| drop(variables.remove(addr)));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Windows;
    use std::time::Duration;

    fn window(text: &str) -> Window {
        let (events, tables) = deadheat_trace::parse(text).expect("a trace");
        let mut windows = Windows::new(events.len());
        windows.push(&events);
        windows.next(true, &tables).expect("a window")
    }

    /// Whether events `a` and `b` are ordered.
    fn orders(text: &str, model: Model, a: Id, b: Id) -> bool {
        let window = window(text);
        let deadline = Instant::now() + Duration::from_secs(60);
        let graph = Graph::new(&window, model, deadline).expect("a graph");
        let causal = Causal::new(&graph, &window, model, deadline).expect("in time");
        let causal = causal.expect("a relation");
        causal.orders(&graph, a, b)
    }

    #[test]
    fn who_comes_too_late_stops() {
        let window = window("T1 w x; T2 r x");
        let now = Instant::now();
        let late = Graph::new(&window, Model::Cp, now).map(|_| ());
        assert_eq!(late, Err(Unfinished::Late));
        let graph = Graph::new(&window, Model::Cp, now + Duration::from_secs(60)).expect("a graph");
        let late = Causal::new(&graph, &window, Model::Cp, now).map(|_| ());
        assert_eq!(late, Err(Unfinished::Late));
    }

    #[test]
    fn only_conflicting_critical_sections_are_ordered_by_cp() {
        let conflict = "T1 w y; T1 acq L; T1 w x; T1 rel L; T2 acq L; T2 r x; T2 rel L; T2 w y";
        let none = "T1 w y; T1 acq L; T1 w a; T1 rel L; T2 acq L; T2 r b; T2 rel L; T2 w y";
        for (trace, model, expect) in [
            (conflict, Model::Hb, true),
            (conflict, Model::Cp, true),
            (none, Model::Hb, true),
            (none, Model::Cp, false),
        ] {
            assert_eq!(orders(trace, model, 0, 7), expect, "{model}: {trace}");
        }
    }

    /// A message, or a store, that a thread has from itself orders nothing that program order does not.
    #[test]
    fn what_a_thread_tells_itself_orders_no_other_by_cp() {
        for (tell, hear) in [("send C", "recv C"), ("store a rel", "load a acq")] {
            let own = format!("T1 w x; T1 acq L; T1 {tell}; T1 {hear}; T1 rel L; T2 acq L; T2 w x");
            assert!(!orders(&own, Model::Cp, 0, 6), "{own}");
            let others = format!("T1 w x; T1 {tell}; T2 acq L; T2 {hear}; T2 rel L; T3 acq L; T3 w x");
            assert!(orders(&others, Model::Cp, 0, 6), "{others}");
        }
    }

    /// Rule (b): the sections of M conflict, and they lie inside those of L. So the sections of L are ordered, too: what comes
    /// before T1's release of L comes before what T2 does behind its acquire, though before the inner section.
    #[test]
    fn sections_that_hold_ordered_events_are_ordered_by_cp() {
        let trace = "T1 acq L; T1 acq M; T1 w x; T1 rel M; T1 w y; T1 rel L
             T2 acq L; T2 w y; T2 acq M; T2 w x; T2 rel M; T2 rel L";
        assert!(orders(trace, Model::Cp, 4, 9));
        // Without L nothing orders the writes of y: T1's is behind its section of M.
        let trace = trace.replace("acq L", "w a").replace("rel L", "w b");
        assert!(!orders(
            &trace.replace("T2 w a", "T2 w c").replace("T2 w b", "T2 w d"),
            Model::Cp,
            4,
            7
        ));
        // The write of y is not in a conflicting section, but it comes behind one that is.
        let outside = "T1 acq L; T1 acq M; T1 w x; T1 rel M; T1 rel L; T1 acq L; T1 rel L
             T2 acq L; T2 acq M; T2 w x; T2 rel M; T2 rel L";
        assert!(
            orders(outside, Model::Cp, 4, 7),
            "T1's first section of L precedes T2's"
        );
        assert!(!orders(outside, Model::Cp, 5, 7), "its second holds nothing");
    }
}
