//! From a witness to the plan of a steered run (`abi::steer`).
//!
//! A witness is one order of all its events. Most of that order does not matter, and each change of threads costs a wait. So
//! first the events are put into another order that agrees with the witness on all that depends on each other, with as
//! few changes of threads as a greedy choice makes ([`calm`]). What one thread does then without a change is a turn.

use super::walk::{Key, Mark, Marked, Nth};
use deadheat_abi::steer::ASIDE;
use deadheat_event::{AccessKind, Event, Op, Tables, ThreadId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::time::Duration;

/// How patient a run is, and whether it follows the witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// The most time that a thread waits for its turn.
    pub hold: Duration,
    /// The most time in front of a racing access.
    pub stand: Duration,
    /// Threads wait at the racing places by chance, which starts here, and nowhere else.
    pub loose: Option<u64>,
}

/// Bytes of a range that are looked at when dependences are looked for.
const MOST_BYTES: u64 = 1 << 16;

/// The plan's text.
pub fn plan(
    marked: &Marked,
    children: &[(ThreadId, u32, ThreadId)],
    tables: &Tables,
    manner: Manner,
) -> Option<String> {
    let [prefix @ .., first, second] = &marked.schedule[..] else {
        return None;
    };
    let mut plan = Text::default();
    plan.line(format_args!("hold {}", manner.hold.as_micros()));
    plan.line(format_args!("stand {}", manner.stand.as_micros()));
    match manner.loose {
        Some(seed) => plan.line(format_args!("loose {seed}")),
        None => plan.steps(marked, prefix, [first.event.thread, second.event.thread], tables),
    }
    for (parent, number, child) in children {
        plan.line(format_args!("child {} {number} {}", parent.0, child.0));
    }
    for (side, mark) in [first, second].into_iter().enumerate() {
        let (access, atomic, size) = access(&mark.event.op)?;
        let (thread, write) = (mark.event.thread.0, u8::from(access == AccessKind::Write));
        let (key, nth) = plan.nth(mark.nth?);
        plan.line(format_args!(
            "meet {side} {thread} {key} {nth} {write} {} {size}",
            u8::from(atomic)
        ));
    }
    plan.places(tables);
    Some(plan.text)
}

/// An access that can be waited for: what it does, whether it is atomic, its size.
fn access(op: &Op) -> Option<(AccessKind, bool, u32)> {
    Some(match *op {
        Op::Read { size, .. } => (AccessKind::Read, false, size),
        Op::Write { size, .. } | Op::Free { size, .. } => (AccessKind::Write, false, size),
        Op::Atomic { size, op, .. } if op.writes() => (AccessKind::Write, true, size),
        Op::Atomic { size, .. } => (AccessKind::Read, true, size),
        _ => return None,
    })
}

#[derive(Default)]
struct Text {
    text: String,
    keys: BTreeMap<Key, u32>,
}

impl Text {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "{line}");
    }

    fn nth(&mut self, (key, nth): Nth) -> (u32, u32) {
        let next = self.keys.len() as u32 + 1;
        (*self.keys.entry(key).or_insert(next), nth)
    }

    fn stop(&mut self, thread: ThreadId, event: Nth, turn: u32, next: u32) {
        let (key, nth) = self.nth(event);
        self.line(format_args!("stop {} {key} {nth} {turn} {next}", thread.0));
    }

    /// The turns: who waits where for whom.
    fn steps(&mut self, marked: &Marked, prefix: &[Mark], racing: [ThreadId; 2], tables: &Tables) {
        let turns = turns(prefix, tables);
        let last = turns.len() as u32 + 1;
        let mut of: BTreeMap<ThreadId, Vec<(u32, Nth)>> = BTreeMap::new();
        for (turn, &(thread, event)) in (1..).zip(&turns) {
            of.entry(thread).or_default().push((turn, event));
        }
        for &thread in marked.before.keys().chain(&racing) {
            of.entry(thread).or_default();
        }
        let mut arrive = 0;
        for (thread, turns) in of {
            // Who has done its part lets the others do theirs.
            let end = if racing.contains(&thread) { last } else { ASIDE };
            let next = |at: usize| turns.get(at).map_or(end, |turn| turn.0);
            match marked.before.get(&thread) {
                Some(&event) => {
                    arrive += 1;
                    self.stop(thread, event, 0, next(0));
                }
                None => self.line(format_args!("begin {} {}", thread.0, next(0))),
            }
            for (at, &(turn, event)) in turns.iter().enumerate() {
                self.stop(thread, event, turn + 1, next(at + 1));
            }
        }
        self.line(format_args!("arrive {arrive}"));
    }

    /// What the keys stand for.
    fn places(&mut self, tables: &Tables) {
        for (number, path) in &tables.modules {
            let path = tables.name(*path).to_owned();
            self.line(format_args!("module {number} {path}"));
        }
        let mut code: Vec<_> = tables.code.iter().collect();
        code.sort_unstable();
        for (code, site) in code {
            if let Some(key) = self.keys.get(&Key::Site(*site)).copied() {
                self.line(format_args!("code {} {} {key}", code.module(), code.offset()));
            }
        }
        for (key, number) in self.keys.clone() {
            if let Key::Class(class) = key {
                self.line(format_args!("class {class} {number}"));
            }
        }
    }
}

/// Who does something without a change of threads, and the last event of it that the program counts.
fn turns(prefix: &[Mark], tables: &Tables) -> Vec<(ThreadId, Nth)> {
    let mut turns: Vec<(ThreadId, Nth)> = Vec::new();
    for at in calm(prefix, tables) {
        let mark = &prefix[at];
        let Some(nth) = mark.nth else { continue };
        match turns.last_mut() {
            Some(last) if last.0 == mark.event.thread => last.1 = nth,
            _ => turns.push((mark.event.thread, nth)),
        }
    }
    turns
}

/// The events in an order with few changes of threads.
fn calm(prefix: &[Mark], tables: &Tables) -> Vec<usize> {
    let needs = dependences(prefix, tables);
    let mut queues: HashMap<ThreadId, Vec<usize>> = HashMap::new();
    for (at, mark) in prefix.iter().enumerate().rev() {
        queues.entry(mark.event.thread).or_default().push(at);
    }
    let mut done = vec![false; prefix.len()];
    let (mut order, mut first) = (Vec::with_capacity(prefix.len()), 0);
    let mut current = None;
    while order.len() < prefix.len() {
        let next = { current }.and_then(|thread| queues.get(&thread)?.last().copied());
        let next = match next.filter(|&at| needs[at].iter().all(|&before| done[before])) {
            Some(at) => at,
            None => {
                // All that it depends on is in front of it, so the first one can always come.
                while done[first] {
                    first += 1;
                }
                first
            }
        };
        current = Some(prefix[next].event.thread);
        if let Some(queue) = queues.get_mut(&prefix[next].event.thread) {
            queue.pop();
        }
        done[next] = true;
        order.push(next);
    }
    order
}

#[derive(Default)]
struct Word {
    write: Option<usize>,
    reads: Vec<usize>,
}

/// For each event those of other threads that must stay in front of it.
fn dependences(prefix: &[Mark], tables: &Tables) -> Vec<Vec<usize>> {
    let mut words: HashMap<u64, Word> = HashMap::new();
    let mut syncs: HashMap<u64, usize> = HashMap::new();
    let mut calls = None;
    let mut born: HashMap<ThreadId, usize> = HashMap::new();
    let mut last: HashMap<ThreadId, usize> = HashMap::new();
    let mut all = Vec::with_capacity(prefix.len());
    for (at, Mark { event, .. }) in prefix.iter().enumerate() {
        let mut needs = HashSet::new();
        needs.extend(born.remove(&event.thread));
        for (addr, size, write) in touched(event, tables) {
            for word in addr / 8..=addr.saturating_add(size.clamp(1, MOST_BYTES) - 1) / 8 {
                let word = words.entry(word).or_default();
                needs.extend(word.write);
                if write {
                    needs.extend(word.reads.drain(..));
                    word.write = Some(at);
                } else {
                    word.reads.push(at);
                }
            }
        }
        match event.op {
            Op::Acquire { lock: sync, .. }
            | Op::Release { lock: sync }
            | Op::BarrierEnter { barrier: sync }
            | Op::BarrierLeave { barrier: sync }
            | Op::Send { channel: sync }
            | Op::Receive { channel: sync } => needs.extend(syncs.insert(sync.0, at)),
            Op::Fork { child } => drop(born.insert(child, at)),
            Op::Join { child } => needs.extend(last.get(&child)),
            Op::CallBegin { .. } | Op::CallEnd => needs.extend(calls.replace(at)),
            _ => {}
        }
        last.insert(event.thread, at);
        all.push(needs.into_iter().collect());
    }
    all
}

/// The bytes that an event touches: address, size, whether they change.
fn touched(event: &Event, tables: &Tables) -> Vec<(u64, u64, bool)> {
    match event.op {
        Op::Read { addr, size, .. } => vec![(addr.0, size.into(), false)],
        Op::Write { addr, size, .. } | Op::Alloc { addr, size } | Op::Free { addr, size } => {
            vec![(addr.0, size.into(), true)]
        }
        Op::Atomic { addr, size, op, .. } => vec![(addr.0, size.into(), op.writes())],
        Op::CallBegin { objects, .. } => { tables.objects(objects).iter() }
            .map(|object| (object.addr.0, object.size.into(), true))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::walk::Walk;
    use super::*;

    const MANNER: Manner = Manner {
        hold: Duration::from_millis(2),
        stand: Duration::from_millis(3),
        loose: None,
    };

    fn of(trace: &str, start: u64, schedule: &[u64]) -> String {
        let (events, tables) = deadheat_trace::parse(trace).expect("a trace");
        let mut walk = Walk::new([(start, schedule.to_vec())]);
        walk.take(&events);
        let (marked, children) = walk.finish();
        let marked = marked[0].as_ref().expect("all events are there");
        plan(marked, &children, &tables, MANNER).expect("a plan")
    }

    #[test]
    fn what_does_not_matter_is_not_waited_for() {
        // Two threads take turns at variables of their own: one turn each.
        let trace = "T0 fork T1 @a.c:1; T0 fork T2 @a.c:2
            T1 w x @a.c:3; T2 w y @a.c:4; T1 w x @a.c:3; T2 w y @a.c:4
            T1 w z @a.c:5; T2 w z @a.c:6";
        let plan = of(trace, 0, &[0, 1, 2, 3, 4, 5, 6, 7]);
        let stops: Vec<&str> = plan.lines().filter(|line| line.starts_with("stop")).collect();
        // Keys are numbered as they come up.
        assert_eq!(
            stops,
            ["stop 0 1 1 2 4294967294", "stop 1 2 2 3 4", "stop 2 3 2 4 4"]
        );
        assert!(
            plan.contains("\nbegin 1 2\n") && plan.contains("\nbegin 2 3\n"),
            "{plan}"
        );
        assert!(
            plan.contains("\nchild 0 2 2\n") && plan.contains("\narrive 0\n"),
            "{plan}"
        );
        assert!(
            plan.contains("\nmeet 0 1 4 1 1 0 8\nmeet 1 2 5 1 1 0 8\n"),
            "{plan}"
        );
    }

    #[test]
    fn what_matters_is_kept_and_threads_arrive_where_it_begins() {
        let trace = "T0 fork T1 @a.c:1; T0 fork T2 @a.c:2
            T1 w y @a.c:3; T1 acq L @a.c:4; T1 rel L @a.c:5
            T2 acq L @b.c:4; T2 rel L @b.c:5; T2 w y @b.c:6";
        let plan = of(trace, 2, &[5, 6, 2, 7]);
        let lines: Vec<&str> = plan.lines().collect();
        assert!(lines.contains(&"arrive 1"), "{plan}");
        let stops: Vec<&&str> = lines.iter().filter(|line| line.starts_with("stop")).collect();
        assert_eq!(stops, [&"stop 0 1 1 0 4294967294", &"stop 2 2 1 2 2"], "{plan}");
        assert!(
            lines.contains(&"begin 1 2") && lines.contains(&"begin 2 1"),
            "{plan}"
        );
    }
}
