//! A second pass over a trace: how the events of witnesses are known in another run of the program.
//!
//! An event is known by its thread, its place (a site, or the class of an event that has none) and how often the thread had come there.

use deadheat_abi::steer::Class;
use deadheat_event::{Event, Op, SiteId, ThreadId};
use std::collections::{HashMap, HashSet};

/// What events are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A program location.
    Site(SiteId),
    /// Events without one.
    Class(u8),
}

impl Key {
    /// None for what a steered program does not count.
    fn of(event: &Event) -> Option<Key> {
        if matches!(event.op, Op::Begin | Op::End | Op::Fence { .. }) {
            return None;
        }
        if event.site != SiteId(0) {
            return Some(Key::Site(event.site));
        }
        let class = match event.op {
            Op::Acquire { .. } | Op::Receive { .. } => Class::In,
            Op::Release { .. } | Op::Send { .. } => Class::Out,
            Op::BarrierEnter { .. } => Class::Enter,
            Op::BarrierLeave { .. } => Class::Leave,
            Op::Fork { .. } => Class::Fork,
            Op::Join { .. } => Class::Join,
            Op::CallBegin { .. } => Class::CallBegin,
            Op::CallEnd => Class::CallEnd,
            _ => return None,
        };
        Some(Key::Class(class as u8))
    }
}

/// The n-th event of a kind.
pub type Nth = (Key, u32);

/// An event of a witness.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// The event.
    pub event: Event,
    /// How it is known.
    pub nth: Option<Nth>,
}

/// A witness with all that is known of its events.
#[derive(Debug, Default)]
pub struct Marked {
    /// In the order of the schedule, the racing accesses last.
    pub schedule: Vec<Mark>,
    /// The last event of each thread in front of it.
    pub before: HashMap<ThreadId, Nth>,
}

/// A thread: who made it, as which of its children, and who it is.
pub type Child = (ThreadId, u32, ThreadId);

/// The pass.
#[derive(Debug, Default)]
pub struct Walk {
    starts: Vec<u64>,
    schedules: Vec<Vec<u64>>,
    wanted: HashSet<u64>,
    marks: HashMap<u64, Mark>,
    before: Vec<HashMap<ThreadId, Nth>>,
    number: u64,
    counts: HashMap<(ThreadId, Key), u32>,
    last: HashMap<ThreadId, Nth>,
    forks: HashMap<ThreadId, u32>,
    children: Vec<(ThreadId, u32, ThreadId)>,
}

impl Walk {
    /// For these witnesses: what is in front of each happens as observed, then its schedule.
    pub fn new(witnesses: impl IntoIterator<Item = (u64, Vec<u64>)>) -> Walk {
        let (starts, schedules): (Vec<u64>, Vec<Vec<u64>>) = witnesses.into_iter().unzip();
        Walk {
            wanted: schedules.iter().flatten().copied().collect(),
            before: vec![HashMap::new(); starts.len()],
            starts,
            schedules,
            ..Walk::default()
        }
    }

    /// Takes the next events of the trace.
    pub fn take(&mut self, events: &[Event]) {
        for event in events {
            for (start, before) in self.starts.iter().zip(&mut self.before) {
                if *start == self.number {
                    before.clone_from(&self.last);
                }
            }
            let nth = Key::of(event).map(|key| {
                let count = self.counts.entry((event.thread, key)).or_default();
                *count += 1;
                (key, *count)
            });
            if let Some(nth) = nth {
                self.last.insert(event.thread, nth);
            }
            if let Op::Fork { child } = event.op {
                let count = self.forks.entry(event.thread).or_default();
                *count += 1;
                self.children.push((event.thread, *count, child));
            }
            if self.wanted.contains(&self.number) {
                self.marks.insert(self.number, Mark { event: *event, nth });
            }
            self.number += 1;
        }
    }

    /// The witnesses in the order in which they were given; none for one whose events are not in the trace. Then the threads.
    pub fn finish(self) -> (Vec<Option<Marked>>, Vec<Child>) {
        let marks = self.marks;
        let marked = { self.schedules.into_iter().zip(self.before) }
            .map(|(schedule, before)| {
                let schedule = { schedule.iter() }
                    .map(|event| marks.get(event).copied())
                    .collect::<Option<Vec<_>>>()?;
                Some(Marked { schedule, before })
            })
            .collect();
        (marked, self.children)
    }
}
