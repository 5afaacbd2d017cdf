//! Accesses that a loop makes in every round, or in all as long as one condition holds, and whose addresses grow by the same amount each time.
//!
//! Loops within a loop are mostly guarded: `if (0 < n)`, and what comes with the inner loop is made only then. Where the loop leaves that
//! condition alone, the access is made in each of its rounds or in none, and the condition says so behind the loop as well.

use super::accesses::{Access, Extent};
use super::affine::{Affine, Term, Values};
use super::builder::Builder;
use super::ir::{Ir, Opcode, Value};
use super::nest::{Loop, Nest};
use super::watch;
use deadheat_abi::hooks::COLUMN;

/// So far from one round to the next an address may go.
const FAR: u64 = 32;

/// An access of a loop.
pub struct Swept<'m> {
    /// Where it is made; one stands for all.
    pub at: Vec<(Value<'m>, Access<'m>)>,
    /// A write or a read.
    pub write: bool,
    /// Its address.
    pub address: Affine<'m>,
    /// From this byte behind its address to that.
    pub size: u64,
    /// So many more rounds than there were: neighbouring places that other accesses sweep.
    pub more: i64,
    /// For each exit of the loop whether it was made in the round that is left.
    pub last: Vec<bool>,
    guard: Option<Guard<'m>>,
}

/// What a loop leaves alone and each round asks: whether an access is made.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Guard<'m> {
    condition: Value<'m>,
    /// What it has to be.
    holds: bool,
}

impl<'m> Swept<'m> {
    /// Whether one check is cheaper than many. Places that are far apart have a cell each in any case, and are looked at
    /// sooner where they are accessed; in a loop `within` another, what lies between them may follow.
    pub fn pays(&self, within: bool) -> bool {
        let step = self.address.step.as_constant().map(i64::unsigned_abs);
        let near = step.is_some_and(|step| step <= FAR.max(2 * self.size));
        near || within && step != Some(0) && self.size < COLUMN
    }

    /// The array that it is of, or the pointer that it was reached by.
    pub fn array(&self) -> Option<Value<'m>> {
        let pointer = |term: &&Term<'m>| term.value.0.ty().is_plain_pointer() && term.factor == 1;
        let mut array = self.address.start.terms.iter().find(pointer)?.value.0;
        while array.opcode() == Some(Opcode::LLVMGetElementPtr) {
            array = array.operand(0);
        }
        Some(array)
    }

    /// Whether it is always of the same place, and made whenever the loop is begun.
    pub fn is_in_the_first_round(&self) -> bool {
        let still = self.address.step.as_constant() == Some(0) && self.more == 0 && self.guard.is_none();
        still && self.last.iter().all(|made| *made) && !watch::has_variables(&self.address)
    }

    /// How far it goes each round, if nothing is left out between rounds.
    pub fn unbroken_step(&self) -> Option<i64> {
        let step = self.address.step.as_constant();
        step.filter(|step| step.unsigned_abs() <= self.size)
    }

    /// Whether it is made in all rounds, whatever holds.
    pub fn is_always_made(&self) -> bool {
        self.guard.is_none()
    }

    /// `count`, or 0 if it is not made at all. To be put behind the loop, at the builder's place.
    pub fn if_made(&self, ir: Ir<'m>, builder: &Builder<'m>, count: Value<'m>) -> Value<'m> {
        match self.guard {
            None => count,
            Some(Guard { condition, holds }) => {
                // Where no round has come to ask it may be of no value.
                let condition = builder.frozen(condition);
                let (yes, no) = match holds {
                    true => (count, ir.number(0)),
                    false => (ir.number(0), count),
                };
                builder.select(condition, yes, no)
            }
        }
    }
}

/// Blocks that a round may come to from one on, if it does not pass another.
fn reached(nest: &Nest<'_>, around: &Loop, from: usize, without: Option<usize>) -> Vec<usize> {
    let mut reached = vec![];
    let mut todo = vec![from];
    while let Some(block) = todo.pop() {
        if Some(block) != without && block != around.header && around.has(block) && !reached.contains(&block)
        {
            reached.push(block);
            todo.extend(&nest.successors[block]);
        }
    }
    reached
}

/// When a block of a loop is passed: with which condition, and of each exit whether it was passed in the round that is left by it.
fn passed<'m>(
    nest: &Nest<'m>,
    around: &Loop,
    values: &Values<'_, 'm>,
    block: usize,
) -> Option<(Option<Guard<'m>>, Vec<bool>)> {
    if nest.dominates(block, around.latch) {
        let exits = around.exits.iter();
        return Some((None, exits.map(|exit| nest.dominates(block, exit.0)).collect()));
    }
    // The nearest one that each round passes asks.
    let asks = (0..block).rfind(|&asks| {
        around.has(asks) && nest.dominates(asks, block) && nest.dominates(asks, around.latch)
    })?;
    let end = nest.blocks[asks].terminator();
    let condition = end.condition().filter(|condition| !values.changes(*condition))?;
    let to = |way: u32| nest.number(end.successor(way)?);
    let (yes, no) = (to(0)?, to(1)?);
    let holds = nest.dominates(yes, block);
    let way = if holds { yes } else { no };
    if yes == no || !nest.dominates(way, block) || nest.predecessors(way) != [asks] {
        return None;
    }
    // Behind the condition, the block left out, and all.
    let past = reached(nest, around, way, Some(block));
    let behind = reached(nest, around, way, None);
    let last = around.exits.iter().map(|exit| {
        let sure = !past.contains(&exit.0) && exit.0 != asks;
        let asked = nest.dominates(asks, exit.0);
        // Where the condition may not have been asked yet, the block must not have been passed.
        (sure && (asked || !behind.contains(&exit.0))).then_some(asked)
    });
    let last: Vec<bool> = last.collect::<Option<_>>()?;
    (!past.contains(&around.latch)).then_some((Some(Guard { condition, holds }), last))
}

/// An access as one that is swept, if it is.
pub fn find<'m>(
    nest: &Nest<'m>,
    around: &Loop,
    values: &mut Values<'_, 'm>,
    at: Value<'m>,
    access: Access<'m>,
) -> Option<Swept<'m>> {
    let block = nest.number(at.block()?)?;
    let Extent::Bytes(size) = access.extent else {
        return None;
    };
    if !around.has(block) {
        return None;
    }
    let (guard, last) = passed(nest, around, values, block)?;
    let address = values.of(access.pointer)?;
    if guard.is_some() && watch::has_variables(&address) {
        return None;
    }
    // Where it matters which way a block behind the loop was reached, each must be one way.
    let mut ways = around.exits.iter().zip(&last);
    let branches = ways.all(|(exit, made)| {
        let differs = |(other, also): (&(usize, usize), &bool)| other.1 == exit.1 && also != made;
        !around.exits.iter().zip(&last).any(differs)
            || nest.blocks[exit.0].terminator().opcode() == Some(Opcode::LLVMBr)
    });
    branches.then(|| Swept {
        at: vec![(at, access)],
        write: access.write,
        address,
        size,
        more: 0,
        last,
        guard,
    })
}

/// Unites accesses whose places lie side by side, and drops reads of what is written.
pub fn coalesce(mut swept: Vec<Swept<'_>>) -> Vec<Swept<'_>> {
    // Writes first, then from low to high.
    swept.sort_by_key(|one| (!one.write, one.address.start.constant));
    let mut united: Vec<Swept<'_>> = Vec::new();
    for one in swept {
        let fits = united.iter_mut().find_map(|other| {
            let same = other.address.step == one.address.step
                && other.address.start.has_terms_of(&one.address.start)
                && (&other.last, other.guard) == (&one.last, one.guard);
            let joined = same.then(|| join(other, &one)).flatten()?;
            Some((other, joined))
        });
        match fits {
            Some((other, (size, more))) => {
                (other.size, other.more) = (size, more);
                other.at.extend(one.at);
            }
            None => united.push(one),
        }
    }
    united
}

/// What two accesses that go side by side are together: so many bytes from the first one's place on, in so many more rounds.
fn join(first: &Swept<'_>, second: &Swept<'_>) -> Option<(u64, i64)> {
    let distance = second
        .address
        .start
        .constant
        .wrapping_sub(first.address.start.constant);
    let (size, end) = (first.size as i64, distance.checked_add(second.size as i64)?);
    let inside = distance >= 0 && end <= size;
    if first.write != second.write {
        return (first.write && inside && second.more <= first.more).then_some((first.size, first.more));
    }
    if (0..=size).contains(&distance) && first.more == 0 && second.more == 0 {
        return Some((size.max(end) as u64, 0));
    }
    let step = first.address.step.as_constant()?;
    let next =
        step > 0 && distance == step * (first.more + 1) && first.size == second.size && second.more == 0;
    next.then_some((first.size, first.more + 1))
}
