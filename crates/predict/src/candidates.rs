//! Pairs of accesses that may race, one pair of program locations after the other.

use crate::footprint::{Footprint, Kind};
use crate::graph::{Graph, Id};
use crate::query::exclude;
use deadheat_event::{AccessKind, Event, Place, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Two events of a window, the earlier one first.
pub type Pair = (Id, Id);

/// A pair of program locations: a race is looked for until one is found. Where a site is not known, what was accessed
/// stands in for it, as in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    sides: [(SiteId, AccessKind, bool); 2],
    place: Option<(u64, u64)>,
}

impl Location {
    /// The location of two accesses.
    pub fn of(a: &Event, b: &Event) -> Option<Location> {
        let (x, y) = (Footprint::of(&a.op)?, Footprint::of(&b.op)?);
        let mut sides = [side(a, &x), side(b, &y)];
        sides.sort_unstable();
        let unknown = a.site == SiteId::default() || b.site == SiteId::default();
        let place = if x.space == 0 { x.first.max(y.first) } else { 0 };
        Some(Location {
            sides,
            place: unknown.then_some((x.space, place)),
        })
    }
}

fn side(event: &Event, print: &Footprint) -> (SiteId, AccessKind, bool) {
    (event.site, kind(print), print.kind == Kind::Atomic)
}

fn kind(print: &Footprint) -> AccessKind {
    if print.writes {
        AccessKind::Write
    } else {
        AccessKind::Read
    }
}

/// An access as reports name it: read or write, whether atomic, and what it shares with the other.
pub fn describe(event: &Event, other: &Event) -> Option<(AccessKind, bool, Place)> {
    let (mine, theirs) = (Footprint::of(&event.op)?, Footprint::of(&other.op)?);
    let (first, last) = (mine.first.max(theirs.first), mine.last.min(theirs.last));
    let place = if mine.space == 0 {
        Place::Memory {
            addr: deadheat_event::Addr(first),
            size: u32::try_from(last.checked_sub(first)? + 1).unwrap_or(u32::MAX),
        }
    } else {
        let array = deadheat_event::ArrayId(u32::try_from(mine.space - 1).ok()?);
        Place::Array {
            array,
            indices: common(&mine, &theirs)?,
        }
    };
    Some((kind(&mine), mine.kind == Kind::Atomic, place))
}

/// The indices that both have, or the first of them if they are no range.
fn common(a: &Footprint, b: &Footprint) -> Option<deadheat_event::Indices> {
    use deadheat_event::Indices;
    let (first, last) = (a.first.max(b.first), a.last.min(b.last));
    let inside = |print: &Footprint, index: u64| (index - print.first).is_multiple_of(u64::from(print.step));
    if a.step == b.step {
        if (a.first.abs_diff(b.first)).is_multiple_of(u64::from(a.step)) {
            return Indices::new(first, last, a.step);
        }
        return None;
    }
    let (wide, narrow) = if a.step > b.step { (a, b) } else { (b, a) };
    let from = wide.first + (first - wide.first).next_multiple_of(u64::from(wide.step));
    let mut all = (from..=last)
        .step_by(wide.step as usize)
        .filter(|&index| inside(narrow, index));
    let one = all.next()?;
    let step = u32::try_from(all.next().map_or(1, |next| next - one)).ok()?;
    Indices::new(one, last, step)
}

/// Accesses to a cell that are alike: same thread, program location and locks.
#[derive(Debug)]
struct Group {
    slot: u32,
    lockset: u32,
    writes: bool,
    atomic: bool,
    events: Vec<Id>,
}

/// Calls `visit` with each pair that may race, until it answers for the last time. Pairs that every schedule orders, or that
/// hold a lock in common, are left out where that is cheap to see.
///
/// `wanted` says whether a pair of program locations is still of interest. `fresh`: at least one event is at this place or
/// behind it.
pub fn visit(
    graph: &Graph<'_>,
    fresh: usize,
    wanted: &dyn Fn(&Location) -> bool,
    visit: &mut dyn FnMut(Location, Pair) -> bool,
) {
    let mut seen: FxHashSet<Pair> = FxHashSet::default();
    for cell in &graph.cells {
        let mut groups: FxHashMap<(u32, u32, SiteId, bool, bool), usize> = FxHashMap::default();
        let mut list: Vec<Group> = Vec::new();
        for &event in &cell.accesses {
            let Some(print) = Footprint::of(&graph.events[event as usize].op) else {
                continue;
            };
            let (slot, lockset) = (graph.slot[event as usize], graph.lockset[event as usize]);
            let (writes, atomic) = (print.writes, print.kind == Kind::Atomic);
            let key = (slot, lockset, graph.events[event as usize].site, writes, atomic);
            let place = *groups.entry(key).or_insert(list.len());
            if place == list.len() {
                list.push(Group {
                    slot,
                    lockset,
                    writes,
                    atomic,
                    events: Vec::new(),
                });
            }
            list[place].events.push(event);
        }
        for (n, a) in list.iter().enumerate() {
            for b in &list[..n] {
                if a.slot != b.slot
                    && (a.writes || b.writes)
                    && !(a.atomic && b.atomic)
                    && !exclude(
                        &graph.locksets[a.lockset as usize],
                        &graph.locksets[b.lockset as usize],
                    )
                    && !pairs(graph, fresh, a, b, wanted, &mut seen, visit)
                {
                    return;
                }
            }
        }
    }
}

fn pairs(
    graph: &Graph<'_>,
    fresh: usize,
    a: &Group,
    b: &Group,
    wanted: &dyn Fn(&Location) -> bool,
    seen: &mut FxHashSet<Pair>,
    visit: &mut dyn FnMut(Location, Pair) -> bool,
) -> bool {
    let mut cut = vec![0; graph.slots()];
    for &x in &a.events {
        cut.fill(0);
        graph.enable(x, &mut cut);
        // What of the other thread must be before `x`, and what needs `x`: in between nothing is ordered.
        let from = b.events.partition_point(|&y| graph.has(&cut, y));
        for &y in &b.events[from..] {
            if (x.max(y) as usize) < fresh {
                continue;
            }
            if graph.needs(y, x) {
                break;
            }
            let events = (&graph.events[x as usize], &graph.events[y as usize]);
            let Some(location) = Location::of(events.0, events.1) else {
                continue;
            };
            if !wanted(&location) {
                if location.place.is_some() {
                    continue;
                }
                break;
            }
            let pair = (x.min(y), x.max(y));
            if seen.insert(pair) && !visit(location, pair) {
                return false;
            }
        }
    }
    true
}
