//! Calls into untraced code, as the checker sees them: pair by pair.
//!
//! For a call with the objects D, its *own* events are its begin, its end and all that its thread does in between; *related*
//! events are accesses to D, synchronisation on an id that is an address in D, and the own events of calls that reach an object in
//! common. Own events keep their order with related ones. Related events while the call is open keep their order with each
//! other, except for the racing accesses.

use super::ABSENT;
use super::facts::Facts;
use super::state::State;
use deadheat_event::{Event, Object, ObjectSetId, Op, ThreadId};
use std::collections::{BTreeSet, HashMap};

/// A call.
#[derive(Debug)]
pub struct Call {
    thread: usize,
    /// None if it began before the window.
    pub begin: Option<usize>,
    /// None if it has not ended.
    pub end: Option<usize>,
    pub objects: Vec<Object>,
    /// Own events and related ones, in the observed order.
    items: Vec<Item>,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    event: usize,
    own: bool,
    /// An access, not only an event of another call.
    touch: bool,
    open: bool,
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
) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut open: HashMap<usize, Vec<usize>> = HashMap::new();
    let add = |calls: &mut Vec<Call>, open: &mut HashMap<usize, Vec<usize>>, thread, begin, set| {
        open.entry(thread).or_default().push(calls.len());
        let mut objects = objects(set);
        objects.retain(|object| object.size > 0);
        calls.push(Call {
            thread,
            begin,
            end: None,
            objects,
            items: Vec::new(),
        });
    };
    for (id, sets) in &state.calls {
        let thread = at_start.get(id).copied().unwrap_or(ABSENT - id.0 as usize);
        for &set in sets {
            add(&mut calls, &mut open, thread, None, set);
        }
    }
    for (event, e) in events.iter().enumerate() {
        match e.op {
            Op::CallBegin { objects, .. } => add(&mut calls, &mut open, threads[event], Some(event), objects),
            Op::CallEnd => {
                if let Some(call) = open.entry(threads[event]).or_default().pop() {
                    calls[call].end = Some(event);
                }
            }
            _ => {}
        }
    }
    calls
}

/// Finds out which events each call has to do with.
pub fn relate(facts: &mut Facts, events: &[Event]) {
    let mut reaching: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, call) in facts.calls.iter().enumerate() {
        for piece in call.objects.iter().flat_map(|object| facts.object_pieces(object)) {
            reaching.entry(piece).or_default().push(number);
        }
    }
    let mut neighbours: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); facts.calls.len()];
    for calls in reaching.values() {
        for &call in calls {
            neighbours[call].extend(calls);
        }
    }
    let mut lists: Vec<Vec<Item>> = vec![Vec::new(); facts.calls.len()];
    for (event, e) in events.iter().enumerate() {
        let own: Vec<usize> = { facts.calls.iter().enumerate() }
            .filter(|(_, call)| call.thread == facts.thread[event] && call.spans(event))
            .map(|(number, _)| number)
            .collect();
        let pieces: Vec<usize> = match synchronises_on(e) {
            Some(id) => facts.pieces_around(id).into_iter().collect(),
            None => facts.pieces_of(event).collect(),
        };
        let touched = pieces
            .iter()
            .flat_map(|piece| reaching.get(piece).into_iter().flatten());
        let touched: BTreeSet<usize> = touched.copied().collect();
        let mut related = touched.clone();
        for &call in &own {
            related.insert(call);
            related.extend(&neighbours[call]);
        }
        for number in related {
            let call = &facts.calls[number];
            lists[number].push(Item {
                event,
                own: own.contains(&number),
                touch: touched.contains(&number),
                open: call.spans(event) && call.begin != Some(event) && call.end != Some(event),
            });
        }
    }
    for (call, items) in facts.calls.iter_mut().zip(lists) {
        call.items = items;
    }
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

impl Call {
    /// Whether the event is between begin and end, both included.
    fn spans(&self, event: usize) -> bool {
        self.begin.is_none_or(|begin| begin <= event) && self.end.is_none_or(|end| event <= end)
    }
}

/// Checks a schedule, given as the place of each event. The racing accesses are both at `last`.
pub fn check(facts: &Facts, places: &[usize], last: usize) -> Result<(), String> {
    for call in &facts.calls {
        // The latest place of what came before: of own events, of any, of accesses while the call was open.
        let (mut own, mut any, mut open): (Option<usize>, Option<usize>, Option<usize>) = (None, None, None);
        for item in &call.items {
            let place = places[item.event];
            if place != ABSENT {
                let before = if item.own { any } else { own };
                let chained = item.touch && item.open && place < last;
                let before = before.max(open.filter(|_| chained));
                if before.is_some_and(|before| before >= place) {
                    return Err(format!(
                        "event {} comes before one that it was ordered with by a call into untraced code",
                        item.event
                    ));
                }
            }
            any = any.max(Some(place));
            if item.own {
                own = own.max(Some(place));
            }
            if item.touch && item.open {
                open = open.max(Some(place));
            }
        }
    }
    Ok(())
}
