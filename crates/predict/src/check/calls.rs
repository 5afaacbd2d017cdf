//! Calls into untraced code, as the checker sees them: group by group.
//!
//! For a call with the objects D, its *own* events are its begin, its end and all that its thread does in between; *related*
//! events are accesses to D, synchronisation on an id that is an address in D, and the own events of calls that reach an object in
//! common. Own events keep their order with related ones. Related events while the call is open keep their order with each
//! other, except for the racing accesses.
//!
//! An own event and one related to it have a piece of memory in common, and what is said of one piece is said of all that the same calls
//! reach. So pieces that the same calls reach are one *group*, and in each group the own events of those calls keep their order with each
//! other and with what touches the group. That takes as many steps as events have groups, where all pairs of calls would be too many.
//!
//! A call that reaches everything has a group of its own, which every access, every synchronisation and every event of a call that reaches
//! something touches.

use super::facts::Facts;
use super::state::State;
use super::{ABSENT, Clock, Late};
use deadheat_event::{Event, Object, ObjectSetId, Op, ThreadId};
use std::collections::{BTreeSet, HashMap};

/// The calls of a window.
#[derive(Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
    sets: Vec<Set>,
    /// The call that an event begins or ends.
    edges: HashMap<usize, usize>,
    /// For each group its own events and what touches it, in the observed order.
    groups: Vec<Vec<Item>>,
}

#[derive(Debug)]
struct Call {
    thread: usize,
    /// None if it began before the window.
    begin: Option<usize>,
    /// What it reaches.
    set: usize,
    /// What others and itself did to its objects while it was open.
    meanwhile: Vec<usize>,
}

/// What some calls reach.
#[derive(Debug)]
struct Set {
    objects: Vec<Object>,
    everything: bool,
    groups: BTreeSet<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    event: usize,
    own: bool,
}

/// What calls reach that begin or end somewhere.
#[derive(Debug)]
pub enum Reached<'c> {
    Everything,
    Objects(&'c [Object]),
}

pub fn last_byte(object: &Object) -> u64 {
    object.addr.0.saturating_add(u64::from(object.size) - 1)
}

/// The calls of a window.
pub fn find(
    events: &[Event],
    threads: &[usize],
    at_start: &HashMap<ThreadId, usize>,
    state: &State,
    objects: &dyn Fn(ObjectSetId) -> Vec<Object>,
) -> Calls {
    let mut found = Calls::default();
    let mut known: HashMap<ObjectSetId, usize> = HashMap::new();
    let mut open: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut add = |found: &mut Calls, thread: usize, begin: Option<usize>, id: ObjectSetId| {
        let next = found.sets.len();
        let set = *known.entry(id).or_insert(next);
        if set == next {
            let mut objects = objects(id);
            objects.retain(|object| object.size > 0);
            found.sets.push(Set {
                everything: objects.contains(&Object::EVERYTHING),
                objects,
                groups: BTreeSet::new(),
            });
        }
        found.calls.push(Call {
            thread,
            begin,
            set,
            meanwhile: Vec::new(),
        });
        found.calls.len() - 1
    };
    for (id, sets) in &state.calls {
        let thread = at_start.get(id).copied().unwrap_or(ABSENT - id.0 as usize);
        for &set in sets {
            let call = add(&mut found, thread, None, set);
            open.entry(thread).or_default().push(call);
        }
    }
    for (event, e) in events.iter().enumerate() {
        let open = open.entry(threads[event]).or_default();
        match e.op {
            Op::CallBegin { objects, .. } => {
                let call = add(&mut found, threads[event], Some(event), objects);
                found.edges.insert(event, call);
                open.push(call);
            }
            Op::CallEnd => {
                if let Some(call) = open.pop() {
                    found.edges.insert(event, call);
                }
            }
            _ => {}
        }
    }
    found
}

impl Calls {
    /// All objects that are named.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        { self.sets.iter() }
            .filter(|set| !set.everything)
            .flat_map(|set| &set.objects)
    }

    /// What calls reach that were open when the window began.
    pub fn at_start(&self) -> impl Iterator<Item = Reached<'_>> {
        { self.calls.iter() }
            .filter(|call| call.begin.is_none())
            .map(|call| self.sets[call.set].reached())
    }

    /// What the call reaches that begins or ends at an event.
    pub fn at(&self, event: usize) -> Option<Reached<'_>> {
        { self.edges.get(&event) }.map(|&call| self.sets[self.calls[call].set].reached())
    }

    /// How much is kept: what a check goes through.
    pub fn size(&self) -> usize {
        let meanwhile: usize = self.calls.iter().map(|call| call.meanwhile.len()).sum();
        meanwhile + self.groups.iter().map(Vec::len).sum::<usize>()
    }
}

impl Set {
    fn reached(&self) -> Reached<'_> {
        if self.everything {
            Reached::Everything
        } else {
            Reached::Objects(&self.objects)
        }
    }
}

/// Finds out which events each call has to do with.
pub fn relate(facts: &mut Facts, events: &[Event], clock: Clock) -> Result<(), Late> {
    let mut calls = std::mem::take(&mut facts.calls);
    let (group_of, everything) = gather(&mut calls, facts, clock)?;
    let mut open: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, call) in calls.calls.iter().enumerate() {
        if call.begin.is_none() {
            open.entry(call.thread).or_default().push(number);
        }
    }
    for (event, e) in events.iter().enumerate() {
        clock.at(event)?;
        let mine = open.entry(facts.thread[event]).or_default();
        let edge = calls.edges.get(&event).copied();
        if let (Op::CallBegin { .. }, Some(call)) = (e.op, edge) {
            mine.push(call);
        }
        let sets: BTreeSet<usize> = mine.iter().map(|&call| calls.calls[call].set).collect();
        let own: BTreeSet<usize> = sets
            .iter()
            .flat_map(|&set| &calls.sets[set].groups)
            .copied()
            .collect();
        let synchronises = synchronises_on(e);
        let mut touched: BTreeSet<usize> = match synchronises {
            Some(id) => { facts.pieces_around(id).into_iter() }
                .filter_map(|piece| group_of.get(&piece).copied())
                .collect(),
            None => { facts.pieces_of(event) }
                .filter_map(|piece| group_of.get(&piece).copied())
                .collect(),
        };
        if synchronises.is_some() || facts.touches(event) {
            touched.extend(everything);
        }
        let mut concerned = &own | &touched;
        // A call that reaches something has that in common with one that reaches everything.
        concerned.extend(everything.filter(|_| !own.is_empty()));
        for group in concerned {
            let own = own.contains(&group);
            calls.groups[group].push(Item { event, own });
        }
        if !touched.is_empty() {
            for &call in open.values().flatten().filter(|&&call| Some(call) != edge) {
                let call = &mut calls.calls[call];
                if !calls.sets[call.set].groups.is_disjoint(&touched) {
                    call.meanwhile.push(event);
                }
            }
        }
        if let (Op::CallEnd, Some(_)) = (e.op, edge) {
            open.entry(facts.thread[event]).or_default().pop();
        }
    }
    facts.calls = calls;
    Ok(())
}

/// Finds the groups: which one each piece is in, and the one of calls that reach everything.
fn gather(
    calls: &mut Calls,
    facts: &Facts,
    clock: Clock,
) -> Result<(HashMap<usize, usize>, Option<usize>), Late> {
    let mut reaching: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, set) in calls.sets.iter().enumerate() {
        clock.now()?;
        if !set.everything {
            let pieces = { set.objects.iter() }.flat_map(|object| facts.object_pieces(object));
            for piece in pieces.collect::<BTreeSet<usize>>() {
                reaching.entry(piece).or_default().push(number);
            }
        }
    }
    let mut known: HashMap<&[usize], usize> = HashMap::new();
    let mut group_of = HashMap::new();
    for (&piece, sets) in &reaching {
        let next = known.len();
        let group = *known.entry(sets).or_insert(next);
        group_of.insert(piece, group);
    }
    for (sets, &group) in &known {
        for &set in *sets {
            calls.sets[set].groups.insert(group);
        }
    }
    let mut count = known.len();
    let mut everything = None;
    for set in calls.sets.iter_mut().filter(|set| set.everything) {
        set.groups.insert(known.len());
        everything = Some(known.len());
        count = known.len() + 1;
    }
    calls.groups = vec![Vec::new(); count];
    Ok((group_of, everything))
}

/// The id of what an event synchronises on.
fn synchronises_on(event: &Event) -> Option<u64> {
    match event.op {
        Op::Acquire { lock: id, .. }
        | Op::Release { lock: id }
        | Op::BarrierEnter { barrier: id }
        | Op::BarrierLeave { barrier: id }
        | Op::Send { channel: id }
        | Op::Receive { channel: id } => Some(id.0),
        _ => None,
    }
}

/// Checks a schedule, given as the place of each event. The racing accesses are both at `last`.
pub fn check(facts: &Facts, places: &[usize], last: usize) -> Result<(), String> {
    let wrong = |event: usize| {
        Err(format!(
            "event {event} comes before one that it was ordered with by a call into untraced code"
        ))
    };
    for group in &facts.calls.groups {
        // The latest place of what came before: of own events, of any.
        let (mut own, mut any): (Option<usize>, Option<usize>) = (None, None);
        for item in group {
            let place = places[item.event];
            let before = if item.own { any } else { own };
            if place != ABSENT && before.is_some_and(|before| before >= place) {
                return wrong(item.event);
            }
            any = any.max(Some(place));
            if item.own {
                own = own.max(Some(place));
            }
        }
    }
    for call in &facts.calls.calls {
        let mut latest: Option<usize> = None;
        for &event in &call.meanwhile {
            let place = places[event];
            if place < last && latest.is_some_and(|latest| latest >= place) {
                return wrong(event);
            }
            latest = latest.max(Some(place));
        }
    }
    Ok(())
}
