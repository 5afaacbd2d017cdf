//! The independent checker: replays a witness over the trace, and says what is wrong with it.
//!
//! It shares no code with what finds witnesses: its own state in front of a window, its own pieces of memory, its own
//! reading of every rule. The rules, for a schedule whose last two events are the racing accesses:
//!
//! 1. Each thread does what it did in the trace, in that order, from the start of the window on.
//! 2. A thread acts only after its fork, and is joined only after all it did.
//! 3. A lock has one exclusive holder or any number of readers; a thread may take again what it holds.
//! 4. Rounds of a barrier have the members they had, and follow each other as they did. Sends and receives of a channel keep their
//!    order among themselves, and a receive comes behind the sends it came behind.
//! 5. A read sees, for each piece of memory, the last write that it saw in the trace, or another of the same value.
//! 6. Memory is used after it came into being and before that happens again. What was used before it was freed is so again.
//! 7. For RDIT: calls into untraced code keep their order with what they can reach (see `calls.rs` here).
//! 8. The last two events are by different threads, touch something in common, at least one writes, and not both are atomic. They
//!    are not bound by 5, nor by the last sentence of 6: nothing follows that depends on it.

mod calls;
mod facts;
mod state;

pub use state::{Bytes, State};

use crate::Model;
use deadheat_event::{Event, Mode, Object, ObjectSetId, Op, SyncId, ThreadId};
use facts::{Facts, Source};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

/// A window to check witnesses in.
#[derive(Debug)]
pub struct Checker<'w> {
    events: &'w [Event],
    state: &'w State,
    facts: Facts,
}

/// There was no time to find out what there is to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late;

/// Says when time is over.
#[derive(Clone, Copy, Debug)]
struct Clock(Instant);

impl Clock {
    fn now(self) -> Result<(), Late> {
        if Instant::now() >= self.0 {
            Err(Late)
        } else {
            Ok(())
        }
    }

    /// The same, looked at now and then as events go by.
    fn at(self, event: usize) -> Result<(), Late> {
        if event.is_multiple_of(256) {
            self.now()
        } else {
            Ok(())
        }
    }
}

/// Where an event stands in a schedule.
const ABSENT: usize = usize::MAX;

impl<'w> Checker<'w> {
    /// For these events behind `state`. `objects` names what sets stand for. Fails if it is not ready by the `deadline`.
    pub fn new(
        events: &'w [Event],
        state: &'w State,
        model: Model,
        objects: &dyn Fn(ObjectSetId) -> Vec<Object>,
        deadline: Instant,
    ) -> Result<Checker<'w>, Late> {
        let facts = Facts::new(events, state, model, objects, Clock(deadline))?;
        Ok(Checker { events, state, facts })
    }

    /// How many relations of events to calls each check goes through.
    pub fn relations(&self) -> usize {
        self.facts.calls.size()
    }

    /// Replays a schedule: places of events in the window, the racing accesses last.
    pub fn check(&self, schedule: &[usize]) -> Result<(), String> {
        let [prefix @ .., a, b] = schedule else {
            return Err("a schedule has at least two events".to_owned());
        };
        let mut places = vec![ABSENT; self.events.len()];
        for (place, &event) in schedule.iter().enumerate() {
            match places.get_mut(event) {
                None => return Err(format!("there is no event {event} in the window")),
                Some(place @ &mut ABSENT) => *place = 0,
                Some(_) => return Err(format!("event {event} appears twice")),
            }
            // Neither of the racing accesses is before the other.
            places[event] = place.min(prefix.len());
        }
        let mut replay = Replay {
            checker: self,
            places: &places,
            next: HashMap::new(),
            holders: self.holders(),
            contents: HashMap::new(),
            swept: None,
        };
        for &event in prefix {
            replay.step(event)?;
            replay.act(event)?;
        }
        for event in [*a, *b] {
            replay.step(event)?;
        }
        self.conflict(*a, *b)?;
        calls::check(&self.facts, &places, prefix.len())
    }

    fn holders(&self) -> HashMap<SyncId, Vec<(usize, Mode)>> {
        let mut holders: HashMap<SyncId, Vec<(usize, Mode)>> = HashMap::new();
        for (&(thread, lock), modes) in &self.state.locks {
            // A thread that does nothing here holds it all the same.
            let who = self
                .facts
                .at_start
                .get(&thread)
                .copied()
                .unwrap_or(ABSENT - thread.0 as usize);
            let holders = holders.entry(lock).or_default();
            holders.extend(modes.iter().map(|&mode| (who, mode)));
        }
        holders
    }

    fn conflict(&self, a: usize, b: usize) -> Result<(), String> {
        let facts = &self.facts;
        if facts.thread[a] == facts.thread[b] {
            return Err("both accesses are by one thread".to_owned());
        }
        let (Some(x), Some(y)) = (
            facts::access(&self.events[a].op),
            facts::access(&self.events[b].op),
        ) else {
            return Err("not two accesses".to_owned());
        };
        if x.birth || y.birth {
            return Err("not two accesses".to_owned());
        }
        if !(x.writes || y.writes) || x.atomic && y.atomic {
            return Err("the accesses do not conflict".to_owned());
        }
        let pieces: HashSet<usize> = facts.pieces_of(a).collect();
        if !facts.pieces_of(b).any(|piece| pieces.contains(&piece)) {
            return Err("the accesses touch nothing in common".to_owned());
        }
        Ok(())
    }
}

struct Replay<'c> {
    checker: &'c Checker<'c>,
    places: &'c [usize],
    /// How far each thread has come.
    next: HashMap<usize, usize>,
    /// Who holds each lock, once for each acquire.
    holders: HashMap<SyncId, Vec<(usize, Mode)>>,
    /// The last write of each piece since the last sweep, and that.
    contents: HashMap<usize, usize>,
    swept: Option<usize>,
}

impl Replay<'_> {
    /// Whether the event can be next in its thread, and all that must be before it is.
    fn step(&mut self, event: usize) -> Result<(), String> {
        let facts = &self.checker.facts;
        let next = self.next.entry(facts.thread[event]).or_default();
        if facts.turn[event] != *next {
            return Err(format!("event {event} is not the next of its thread"));
        }
        *next += 1;
        for &(before, why) in &facts.needs[event] {
            if self.places[before] >= self.places[event] {
                return Err(format!("event {event} comes before event {before}: {why}"));
            }
        }
        Ok(())
    }

    /// Lets an event happen.
    fn act(&mut self, event: usize) -> Result<(), String> {
        let facts = &self.checker.facts;
        let thread = facts.thread[event];
        match self.checker.events[event].op {
            Op::Acquire { lock, mode } => {
                let holders = self.holders.entry(lock).or_default();
                let blocks = |&(who, held): &(usize, Mode)| {
                    who != thread && (mode == Mode::Exclusive || held == Mode::Exclusive)
                };
                if holders.iter().any(blocks) {
                    return Err(format!("event {event} takes a lock that another thread holds"));
                }
                holders.push((thread, mode));
            }
            Op::Release { lock } => {
                let holders = self.holders.entry(lock).or_default();
                let Some(mine) = holders.iter().rposition(|&(who, _)| who == thread) else {
                    return Err(format!(
                        "event {event} releases a lock that its thread does not hold"
                    ));
                };
                holders.remove(mine);
            }
            Op::End => self.drop_locks(thread),
            Op::Join { .. } => {
                if let Some(child) = facts.joined[event] {
                    self.drop_locks(child);
                }
            }
            _ => {}
        }
        for &before in &facts.freed_after[event] {
            if self.places[before] >= self.places[event] {
                return Err(format!(
                    "event {event} frees what event {before} uses before that"
                ));
            }
        }
        for read in &facts.reads[event] {
            let now = self.contents.get(&read.piece).copied().or(self.swept);
            let value = match now {
                None => facts.first_value(read.piece),
                Some(write) => facts.written(write, read.piece),
            };
            let same = read.source == now.map_or(Source::Before, Source::Event);
            if !same && (value.is_none() || value != read.value) {
                return Err(format!("event {event} reads another value than it did"));
            }
        }
        if facts.sweeps.contains(&event) {
            self.contents.clear();
            self.swept = Some(event);
        }
        for &piece in &facts.writes[event] {
            self.contents.insert(piece, event);
        }
        Ok(())
    }

    fn drop_locks(&mut self, thread: usize) {
        for holders in self.holders.values_mut() {
            holders.retain(|&(who, _)| who != thread);
        }
    }
}

/// Threads of a window by their ids, as time goes on: an id can be used again.
#[derive(Debug, Default)]
struct Incarnations {
    now: BTreeMap<ThreadId, usize>,
    count: usize,
}

impl Incarnations {
    fn acting(&mut self, thread: ThreadId) -> usize {
        *self.now.entry(thread).or_insert_with(|| {
            self.count += 1;
            self.count - 1
        })
    }

    fn forked(&mut self, thread: ThreadId) -> usize {
        self.now.remove(&thread);
        self.acting(thread)
    }
}
