//! Leaves out checks that another check stands for.
//!
//! Let `a` be an access, and `c` a check of at least the same bytes that the same thread makes where it accesses them itself,
//! as a write if `a` is one. Then `c` may stand for `a` if whatever access `b` of another thread is unordered with `a` is
//! unordered with `c` as well: the race is found at `c`. And `c` never cries wolf, for it is the check of an access that
//! happens there (BigFoot §2 has both conditions: each access is covered, each check is legitimate).
//!
//! * **`c` before `a`** (RedCard's redundancy). If `b` comes before `c`, it comes before `a`. If `c` comes before `b`, this
//!   thread has *released* something after `c`, and if it was not before `a`, then `a` comes before `b`, too. So only
//!   releases between the two end this; acquires do not. Nor does it matter what happens after `c`: the check was made.
//! * **`c` after `a`**. If `c` comes before `b`, so does `a`. If `b` comes before `c`, this thread has *acquired* something
//!   before `c`, and if it was not after `a`, then `b` comes before `a`, too. So only acquires end this; but `c` must come:
//!   between the two nothing may leave the function or run forever, and control may not go back (a loop may be endless).
//! * Where memory may be freed, unmapped or mapped anew in between, what is known of it is forgotten, so that ends both.
//!
//! What is *found* therefore is a race at the same bytes. What is *named* is the line of `c` first, and that of `a` as one that
//! was checked together with it ([`super::also`]).
//!
//! Two passes of data flow, with a bit for each place that is accessed: checks that were made on every path (forwards), and
//! then, among those that are left, checks that will be made on every path (backwards). A check that the first pass leaves
//! out is covered by one that it leaves in; the second leaves that out only if another one covers it, and so on, always
//! forwards in time. So each chain ends at a check that is there.
//!
//! Addresses are the same if they are a value of the function and a constant distance from it. Where the value is computed
//! anew, nothing is known of it any more. In functions that are too large blocks are looked at one by one.

use super::accesses::{Access, Extent};
use super::address::{Address, Origin};
use super::also::Standing;
use super::effects::Calls;
use super::flow::Flow;
use super::ir::{Block, Value};
use crate::decisions::Rule;
use llvm_sys::target::LLVMTargetDataRef;
use std::collections::{HashMap, HashSet};

/// Bits for all blocks of a function together, at most.
const BITS: usize = 1 << 24;
/// Places with the same base that are compared with each other.
const NEIGHBOURS: usize = 128;

/// So far is looked for the checks that stand for an access.
const LOOK: usize = 1 << 12;

/// Plain accesses, where they are.
type Plain<'m> = Vec<(Value<'m>, Access<'m>)>;

/// Leaves out checks; `told` hears of each access, what became of it, and where the check is that stands for it.
pub fn remove<'m>(
    plain: &mut Plain<'m>,
    blocks: &[Block<'m>],
    calls: &Calls<'m>,
    layout: LLVMTargetDataRef,
    standing: &mut Standing<'m>,
    mut told: impl FnMut(Value<'m>, &Access<'m>, Rule, Option<Value<'m>>),
) {
    if plain.len() < 2 {
        return;
    }
    let spots = Spots::of(plain, layout);
    if spots.of_access.iter().all(Option::is_none) {
        return;
    }
    let events = read(plain, &spots, blocks, calls);
    let mut left_out: Vec<Reason> = vec![None; plain.len()];
    let mut stand = |span: &Span<'_>, flow: &Flow| {
        span.solve(flow, &mut left_out);
        for (access, by) in span.checks(flow, &left_out, |access| plain[access].0.line() != 0) {
            standing.add(plain[by].0, &plain[by].1, [plain[access].0]);
        }
    };
    if blocks.len().saturating_mul(plain.len()) <= BITS {
        stand(&Span::new(&spots, &events), &Flow::new(blocks));
    } else {
        let alone = Flow::of(vec![Vec::new()]);
        for events in &events {
            stand(&Span::new(&spots, std::slice::from_ref(events)), &alone);
        }
    }
    for ((at, access), reason) in plain.iter().zip(&left_out) {
        if let &Some((rule, by)) = reason {
            told(*at, access, rule, by.map(|by| plain[by].0));
        }
    }
    let mut reasons = left_out.iter();
    plain.retain(|_| reasons.next().is_some_and(Option::is_none));
}

/// Bytes that an access is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Spot {
    /// The number of what it is counted from.
    origin: usize,
    start: i64,
    end: i64,
    write: bool,
}

impl Spot {
    /// Whether a check of this stands for an access of the other.
    fn covers(self, other: Spot) -> bool {
        self.origin == other.origin
            && self.start <= other.start
            && self.end >= other.end
            && self.write >= other.write
    }
}

/// The spots of all accesses.
struct Spots<'m> {
    /// None for those that have no like.
    of_access: Vec<Option<Spot>>,
    /// Values, and the numbers of what is counted from them.
    made_of: HashMap<Value<'m>, Vec<usize>>,
}

impl<'m> Spots<'m> {
    fn of(plain: &Plain<'m>, layout: LLVMTargetDataRef) -> Self {
        let mut numbers: HashMap<Origin<'m>, usize> = HashMap::new();
        let mut counts = Vec::new();
        let mut spot = |access: &Access<'m>| {
            let Extent::Bytes(bytes) = access.extent else {
                return None;
            };
            let Address { origin, offset } = Address::of(access.pointer, layout);
            let end = offset.checked_add(i64::try_from(bytes).ok()?)?;
            let origin = *numbers.entry(origin).or_insert_with(|| {
                counts.push(0);
                counts.len() - 1
            });
            counts[origin] += 1;
            Some(Spot {
                origin,
                start: offset,
                end,
                write: access.write,
            })
        };
        let mut of_access: Vec<Option<Spot>> = plain.iter().map(|(_, access)| spot(access)).collect();
        for spot in &mut of_access {
            *spot = spot.filter(|spot| counts[spot.origin] > 1);
        }
        let mut made_of: HashMap<Value<'m>, Vec<usize>> = HashMap::new();
        for (origin, number) in numbers {
            if counts[number] > 1 {
                for value in origin.values().filter(|value| value.opcode().is_some()) {
                    made_of.entry(value).or_default().push(number);
                }
            }
        }
        Spots { of_access, made_of }
    }
}

/// What happens in a block, as far as it matters.
#[derive(Clone, Copy)]
enum Event {
    /// The access of this number.
    Access(usize),
    /// Checks before do not count for accesses behind, or checks behind not for accesses before.
    Ends { checks: bool, accesses: bool },
    /// What addresses of this number are counted from changes.
    Changes(usize),
}

fn read<'m>(
    plain: &Plain<'m>,
    spots: &Spots<'m>,
    blocks: &[Block<'m>],
    calls: &Calls<'m>,
) -> Vec<Vec<Event>> {
    let mut at: HashMap<Value<'m>, Vec<usize>> = HashMap::new();
    for (i, (instruction, _)) in plain.iter().enumerate() {
        if spots.of_access[i].is_some() {
            at.entry(*instruction).or_default().push(i);
        }
    }
    let block = |block: &Block<'m>| {
        let mut events = Vec::new();
        for instruction in block.instructions() {
            let accesses = at.get(&instruction).into_iter().flatten();
            events.extend(accesses.map(|&i| Event::Access(i)));
            let effects = calls.of(instruction);
            let (checks, accesses) = (effects.ends_checks(), effects.ends_accesses());
            if checks || accesses {
                events.push(Event::Ends { checks, accesses });
            }
            let origins = spots.made_of.get(&instruction).into_iter().flatten();
            events.extend(origins.map(|&origin| Event::Changes(origin)));
        }
        events
    };
    blocks.iter().map(block).collect()
}

/// Why an access needs no check, and the access whose check stands for it, if there is one to name.
type Reason = Option<(Rule, Option<usize>)>;

/// Accesses among which checks stand for others.
struct Span<'a> {
    events: &'a [Vec<Event>],
    /// The place of each access; those of accesses that are of no interest are missing.
    place: HashMap<usize, usize>,
    /// For each place those that a check of it covers, itself among them.
    covers: Vec<Vec<usize>>,
    /// The places that are counted from the same.
    like: HashMap<usize, Vec<usize>>,
}

impl<'a> Span<'a> {
    fn new(spots: &Spots<'_>, events: &'a [Vec<Event>]) -> Self {
        let mut places: Vec<Spot> = Vec::new();
        let mut numbers: HashMap<Spot, usize> = HashMap::new();
        let mut place = HashMap::new();
        let mut like: HashMap<usize, Vec<usize>> = HashMap::new();
        for event in events.iter().flatten() {
            let &Event::Access(access) = event else { continue };
            let Some(spot) = spots.of_access[access] else {
                continue;
            };
            let number = *numbers.entry(spot).or_insert_with(|| {
                places.push(spot);
                like.entry(spot.origin).or_default().push(places.len() - 1);
                places.len() - 1
            });
            place.insert(access, number);
        }
        let covers = |(number, spot): (usize, &Spot)| {
            let near = &like[&spot.origin];
            if near.len() > NEIGHBOURS {
                return vec![number];
            }
            let covered = near.iter().copied();
            covered.filter(|&other| spot.covers(places[other])).collect()
        };
        let covers = places.iter().enumerate().map(covers).collect();
        Span {
            events,
            place,
            covers,
            like,
        }
    }

    fn solve(&self, flow: &Flow, left_out: &mut [Reason]) {
        self.forwards(flow, left_out);
        self.backwards(flow, left_out);
    }

    /// Checks that were made on every path.
    fn forwards(&self, flow: &Flow, left_out: &mut [Reason]) {
        let all = || Places::all(self.covers.len());
        let mut behind: Vec<Places> = flow.successors.iter().map(|_| all()).collect();
        let entry = |block: usize, behind: &[Places]| {
            if block == 0 {
                return Places::none(self.covers.len());
            }
            let mut made = all();
            for &from in &flow.predecessors[block] {
                // What cannot be reached says nothing.
                if flow.is_reached(from) {
                    made.keep(&behind[from]);
                }
            }
            made
        };
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &flow.order {
                let mut made = entry(block, &behind);
                for event in &self.events[block] {
                    self.pass_forwards(event, &mut made);
                }
                if made != behind[block] {
                    behind[block] = made;
                    changed = true;
                }
            }
        }
        // Who made the check last, for reports of what was done; of another block it may be any.
        let mut last: HashMap<usize, usize> = HashMap::new();
        for &block in &flow.order {
            let mut made = entry(block, &behind);
            for event in &self.events[block] {
                if let Event::Access(access) = event {
                    let place = self.place[access];
                    if made.has(place) {
                        left_out[*access] = Some((Rule::Covered, last.get(&place).copied()));
                    } else {
                        last.extend(self.covers[place].iter().map(|&covered| (covered, *access)));
                    }
                }
                self.pass_forwards(event, &mut made);
            }
        }
    }

    fn pass_forwards(&self, event: &Event, made: &mut Places) {
        match event {
            Event::Access(access) => made.add(&self.covers[self.place[access]]),
            Event::Ends { checks: true, .. } => made.clear(),
            Event::Ends { .. } => {}
            Event::Changes(origin) => made.remove(self.like.get(origin)),
        }
    }

    /// Checks that will be made on every path.
    fn backwards(&self, flow: &Flow, left_out: &mut [Reason]) {
        let none = || Places::none(self.covers.len());
        let mut before: Vec<Places> = flow.successors.iter().map(|_| none()).collect();
        // Who makes the check next, as above.
        let mut next: HashMap<usize, usize> = HashMap::new();
        // Control that goes back counts for nothing, so once is enough.
        for &block in flow.order.iter().rev() {
            let mut to_come = match flow.successors[block].is_empty() {
                true => none(),
                false => Places::all(self.covers.len()),
            };
            for &to in &flow.successors[block] {
                match flow.is_retreating(block, to) {
                    true => to_come.clear(),
                    false => to_come.keep(&before[to]),
                }
            }
            for event in self.events[block].iter().rev() {
                match event {
                    Event::Access(access) if left_out[*access].is_some() => {}
                    Event::Access(access) => {
                        let place = self.place[access];
                        if to_come.has(place) {
                            left_out[*access] = Some((Rule::Followed, next.get(&place).copied()));
                        } else {
                            next.extend(self.covers[place].iter().map(|&covered| (covered, *access)));
                        }
                        to_come.add(&self.covers[place]);
                    }
                    Event::Ends { accesses: true, .. } => to_come.clear(),
                    Event::Ends { .. } => {}
                    Event::Changes(origin) => to_come.remove(self.like.get(origin)),
                }
            }
            before[block] = to_come;
        }
    }
}

/// Which checks stand for an access.
impl Span<'_> {
    /// Accesses that are left out, of those that are `wanted`, each with the checks that stand for it, on one way or another.
    fn checks(
        &self,
        flow: &Flow,
        left_out: &[Reason],
        wanted: impl Fn(usize) -> bool,
    ) -> Vec<(usize, usize)> {
        let mut nearest: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut gone = Vec::new();
        for &block in &flow.order {
            for (index, event) in self.events[block].iter().enumerate() {
                if let Event::Access(access) = *event
                    && let Some((rule, _)) = left_out[access]
                {
                    let back = rule == Rule::Covered;
                    nearest.insert(access, self.nearest(flow, left_out, (block, index), back));
                    gone.push(access);
                }
            }
        }
        let mut found = Vec::new();
        for access in gone.into_iter().filter(|access| wanted(*access)) {
            // One that stands for it may have been left out for another.
            let mut seen = HashSet::new();
            let mut todo = vec![access];
            while let Some(one) = todo.pop() {
                match nearest.get(&one) {
                    Some(others) => todo.extend(others.iter().filter(|other| seen.insert(**other))),
                    None => found.push((access, one)),
                }
            }
        }
        found
    }

    /// The nearest checks, on all ways back from an access or on from it, that the first pass leaves in and that cover it.
    fn nearest(
        &self,
        flow: &Flow,
        left_out: &[Reason],
        (block, index): (usize, usize),
        back: bool,
    ) -> Vec<usize> {
        let Event::Access(access) = self.events[block][index] else {
            return Vec::new();
        };
        let place = self.place[&access];
        let stands = |event: &Event| match *event {
            Event::Access(other) => {
                let in_place = !matches!(left_out[other], Some((Rule::Covered, _)));
                (in_place && self.covers[self.place[&other]].contains(&place)).then_some(other)
            }
            _ => None,
        };
        let mut found = Vec::new();
        let mut budget = LOOK;
        let mut seen = HashSet::new();
        let all = |block: usize| 0..self.events[block].len();
        let rest = if back { 0..index } else { index + 1..all(block).end };
        let mut todo = vec![(block, rest)];
        while let Some((block, rest)) = todo.pop() {
            let Some(left) = budget.checked_sub(rest.len() + 1) else {
                break;
            };
            budget = left;
            let events = &self.events[block][rest];
            let nearest = match back {
                true => events.iter().rev().find_map(stands),
                false => events.iter().find_map(stands),
            };
            if let Some(nearest) = nearest {
                found.push(nearest);
                continue;
            }
            let next = match back {
                true => &flow.predecessors[block],
                false => &flow.successors[block],
            };
            for &to in next {
                let ahead = back || !flow.is_retreating(block, to);
                if ahead && flow.is_reached(to) && seen.insert(to) {
                    todo.push((to, all(to)));
                }
            }
        }
        found
    }
}

/// A set of places.
#[derive(PartialEq, Eq)]
struct Places(Vec<u64>);

impl Places {
    fn none(count: usize) -> Places {
        Places(vec![0; count.div_ceil(64)])
    }

    fn all(count: usize) -> Places {
        Places(vec![u64::MAX; count.div_ceil(64)])
    }

    fn has(&self, place: usize) -> bool {
        self.0[place / 64] >> (place % 64) & 1 != 0
    }

    fn add(&mut self, places: &[usize]) {
        for place in places {
            self.0[place / 64] |= 1 << (place % 64);
        }
    }

    fn remove(&mut self, places: Option<&Vec<usize>>) {
        for place in places.into_iter().flatten() {
            self.0[place / 64] &= !(1 << (place % 64));
        }
    }

    fn keep(&mut self, other: &Places) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }
}
