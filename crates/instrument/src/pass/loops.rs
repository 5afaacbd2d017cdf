//! Checks of loops: one after the loop for all rounds, instead of one in each.
//!
//! An access in a loop is *swept* if its address grows by the same amount each round, and if it is made in every round that
//! comes to an end. Its checks then are one check of a range (or of many places in equal distances) where the loop is left:
//! by then all that is checked was accessed, by this thread, in this epoch. For nothing in such a loop acquires,
//! releases, gives memory back, or leaves in another way, and the loop comes to an end: some test that every round makes
//! compares a value that grows with one that does not. The same race is found as in the loop, as both sides of it are in the same
//! epochs; and it is found once.
//!
//! How many rounds there were is computed where the loop is left, from a value that grows. A round that was begun counts for
//! accesses that come before the way out.

use super::accesses::{Access, Extent, Reader};
use super::affine::{Affine, Sum, Values, Width};
use super::builder::Builder;
use super::effects::Calls;
use super::ir::{Ir, Opcode, Value};
use super::nest::{Loop, Nest};
use crate::effects::Effects;

/// So far from one round to the next an address may go.
const FAR: u64 = 32;

/// One check after a loop, at one of its exits.
pub struct Sweep<'m> {
    /// Before this instruction, the first of the block that the loop is left to.
    pub before: Value<'m>,
    /// The accesses that it stands for.
    pub accesses: Vec<(Value<'m>, Access<'m>)>,
    /// A write or a read.
    pub write: bool,
    /// The lowest, or last, address; how many; how far apart; how many bytes each.
    pub address: Value<'m>,
    pub count: Value<'m>,
    pub stride: Value<'m>,
    pub size: u64,
}

/// An access of a loop.
struct Swept<'m> {
    at: Vec<(Value<'m>, Access<'m>)>,
    write: bool,
    /// Its address.
    address: Affine<'m>,
    /// From this byte behind its address to that.
    size: u64,
    /// So many more rounds than there were: neighbouring places that other accesses sweep.
    more: i64,
    /// For each exit of the loop whether it was made in the round that is left.
    last: Vec<bool>,
}

impl Swept<'_> {
    /// Whether one check is cheaper than many. Places that are far apart have a cell each in any case, and are looked at
    /// sooner where they are accessed.
    fn pays(&self) -> bool {
        let step = self.address.step.as_constant().map(i64::unsigned_abs);
        step.is_some_and(|step| step <= FAR.max(self.size))
    }
}

/// Takes the accesses that can be swept out of `plain`, and puts what computes their ranges into the blocks behind loops.
pub fn sweep<'m>(
    ir: Ir<'m>,
    builder: &Builder<'m>,
    reader: &Reader,
    calls: &Calls<'m>,
    nest: &Nest<'m>,
    plain: &mut Vec<(Value<'m>, Access<'m>)>,
) -> Vec<Sweep<'m>> {
    let loops = nest.loops();
    let mut sweeps = Vec::new();
    // Outer loops first: what does not depend on an inner one is checked once for all of it.
    for (n, around) in loops.iter().enumerate().rev() {
        let inner = |one: &Loop| around.has(one.header);
        // All loops in it that have no simple form may be endless; they have latches too.
        let known = loops[..=n].iter().filter(|one| inner(one)).count();
        if !is_calm(calls, nest, around) || back_edges(nest, around) != known {
            continue;
        }
        if !(0..=n).all(|m| !inner(&loops[m]) || ends(reader, calls, nest, &loops[m])) {
            continue;
        }
        let mut values = Values::new(nest, around, reader.layout());
        let Some(rounds) = Rounds::of(nest, around, &mut values) else {
            continue;
        };
        let found = plain
            .iter()
            .filter_map(|&(at, access)| find(nest, around, &mut values, at, access));
        let mut swept = coalesce(found.collect());
        swept.retain(Swept::pays);
        let is_swept = |at: &Value<'m>, access: &Access<'m>| {
            let same = |other: &(Value<'m>, Access<'m>)| {
                other.0 == *at && other.1.write == access.write && other.1.pointer == access.pointer
            };
            swept.iter().any(|one| one.at.iter().any(same))
        };
        plain.retain(|(at, access)| !is_swept(at, access));
        put(ir, builder, nest, around, &rounds, &swept, &mut sweeps);
    }
    sweeps
}

/// Whether nothing in a loop synchronises, gives memory back, runs forever, or leaves but by its exits.
fn is_calm<'m>(calls: &Calls<'m>, nest: &Nest<'m>, around: &Loop) -> bool {
    let allowed = Effects {
        observable: true,
        ..Effects::NONE
    };
    let is_allowed = |effects: Effects| effects.or(allowed) == allowed;
    let blocks = around.blocks.iter().map(|&block| nest.blocks[block]);
    { blocks }.all(|block| block.instructions().all(|at| is_allowed(calls.of(at))))
}

/// How many edges within a loop go back to a block that dominates where they come from, or to one that comes earlier.
fn back_edges(nest: &Nest<'_>, around: &Loop) -> usize {
    let back = |&block: &usize| {
        nest.successors[block]
            .iter()
            .filter(move |to| **to <= block && around.has(**to))
            .count()
    };
    around.blocks.iter().map(back).sum()
}

/// Whether a loop comes to an end: each round compares a value that grows with one that does not, and leaves by the outcome.
fn ends<'m>(reader: &Reader, calls: &Calls<'m>, nest: &Nest<'m>, around: &Loop) -> bool {
    let mut values = Values::new(nest, around, reader.layout());
    // C and Rust promise that a loop of which nothing is seen ends. Where something is, steps may go past the end for ever.
    let blocks = around.blocks.iter().map(|&block| nest.blocks[block]);
    let seen = { blocks }.any(|block| block.instructions().any(|at| calls.of(at).observable));
    around.exits.iter().any(|&(from, _)| {
        nest.dominates(from, around.latch) && {
            let end = nest.blocks[from].terminator();
            let condition = end.condition();
            condition.is_some_and(|condition| compares_growing(&mut values, condition, seen))
        }
    })
}

/// `hits`: a step must not go past what it is compared with, if it is only asked whether the two are the same.
fn compares_growing<'m>(values: &mut Values<'_, 'm>, condition: Value<'m>, hits: bool) -> bool {
    if condition.opcode() != Some(Opcode::LLVMICmp) {
        return false;
    }
    let sides = [0, 1].map(|side| values.of_number(condition.operand(side)));
    let [Some(one), Some(other)] = sides else {
        return false;
    };
    let hits = hits && condition.compares_equality();
    let still = |value: &Affine<'m>| value.step.as_constant() == Some(0);
    let grows = |value: &Affine<'m>| {
        let step = value.step.as_constant().map(i64::unsigned_abs);
        step.is_some_and(|step| step == 1 || step != 0 && !hits)
    };
    still(&one) && grows(&other) || grows(&one) && still(&other)
}

/// A value that tells how often a loop went round.
struct Rounds<'m> {
    value: Value<'m>,
    start: Sum<'m>,
    step: i64,
}

impl<'m> Rounds<'m> {
    fn of(nest: &Nest<'m>, around: &Loop, values: &mut Values<'_, 'm>) -> Option<Self> {
        let mut best: Option<Rounds<'m>> = None;
        let header = nest.blocks[around.header];
        for value in header
            .instructions()
            .take_while(|at| at.opcode() == Some(Opcode::LLVMPHI))
        {
            if value.ty().integer_bits() != Some(64) && !value.ty().is_plain_pointer() {
                continue;
            }
            let Some(Affine { start, step }) = values.of(value) else {
                continue;
            };
            let Some(step) = step.as_constant().filter(|step| *step != 0) else {
                continue;
            };
            if best
                .as_ref()
                .is_none_or(|best| step.unsigned_abs() < best.step.unsigned_abs())
            {
                best = Some(Rounds { value, start, step });
            }
        }
        best
    }

    /// How often the loop went back to its header, put at the builder's place.
    fn count(&self, ir: Ir<'m>, builder: &Builder<'m>) -> Value<'m> {
        let now = match self.value.ty().is_plain_pointer() {
            true => builder.address(self.value),
            false => self.value,
        };
        let start = number(ir, builder, &self.start);
        let distance = match self.step > 0 {
            true => builder.subtract(now, start),
            false => builder.subtract(start, now),
        };
        builder.divide(distance, ir.number(self.step.unsigned_abs()))
    }
}

/// An access as one that is swept, if it is.
fn find<'m>(
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
    if !around.has(block) || !nest.dominates(block, around.latch) {
        return None;
    }
    let address = values.of(access.pointer)?;
    // Places that are far apart have a cell each in any case, and are looked at sooner where they are accessed.
    address
        .step
        .as_constant()
        .filter(|step| step.unsigned_abs() <= FAR)?;
    let last: Vec<bool> = around
        .exits
        .iter()
        .map(|exit| nest.dominates(block, exit.0))
        .collect();
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
    })
}

/// Unites accesses whose places lie side by side, and drops reads of what is written.
fn coalesce(mut swept: Vec<Swept<'_>>) -> Vec<Swept<'_>> {
    // Writes first, then from low to high.
    swept.sort_by_key(|one| (!one.write, one.address.start.constant));
    let mut united: Vec<Swept<'_>> = Vec::new();
    for one in swept {
        let fits = united.iter_mut().find_map(|other| {
            let same = other.address.step == one.address.step
                && other.address.start.has_terms_of(&one.address.start)
                && other.last == one.last;
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

/// Puts what computes the ranges behind a loop.
fn put<'m>(
    ir: Ir<'m>,
    builder: &Builder<'m>,
    nest: &Nest<'m>,
    around: &Loop,
    rounds: &Rounds<'m>,
    swept: &[Swept<'m>],
    sweeps: &mut Vec<Sweep<'m>>,
) {
    if swept.is_empty() {
        return;
    }
    let mut outside: Vec<usize> = around.exits.iter().map(|exit| exit.1).collect();
    outside.sort_unstable();
    outside.dedup();
    for to in outside {
        let block = nest.blocks[to];
        let before = block.first_real();
        builder.before(before);
        builder.without_line();
        let back = rounds.count(ir, builder);
        for one in swept {
            let edges = around
                .exits
                .iter()
                .zip(&one.last)
                .filter(|(exit, _)| exit.1 == to);
            let last: Vec<_> = edges.map(|(exit, last)| (nest.blocks[exit.0], *last)).collect();
            let begun = match last.iter().all(|edge| edge.1 == last[0].1) {
                true => ir.number(last[0].1.into()),
                false => builder.choice(
                    block,
                    &last
                        .iter()
                        .map(|edge| (ir.number(edge.1.into()), edge.0))
                        .collect::<Vec<_>>(),
                ),
            };
            builder.before(before);
            builder.without_line();
            let mut count = builder.add(back, begun);
            if one.more != 0 {
                let any = builder.below(ir.number(0), count);
                let more = builder.add(count, ir.number(one.more as u64));
                count = builder.select(any, more, ir.number(0));
            }
            let address = number(ir, builder, &one.address.start);
            // A range is many places side by side, so that one hook does for both.
            let stride = number(ir, builder, &one.address.step);
            sweeps.push(Sweep {
                before,
                accesses: one.at.clone(),
                write: one.write,
                address: builder.pointer(address, ir.pointer()),
                count,
                stride,
                size: one.size,
            });
        }
    }
}

/// A sum as a number, put at the builder's place.
fn number<'m>(ir: Ir<'m>, builder: &Builder<'m>, sum: &Sum<'m>) -> Value<'m> {
    let mut total = ir.number(sum.constant as u64);
    for &(value, width, factor) in &sum.terms {
        let value = match width {
            Width::Whole if value.ty().is_plain_pointer() => builder.address(value),
            Width::Whole => value,
            Width::Signed => builder.widen_signed(value),
            Width::Unsigned => builder.widen(value),
        };
        let product = match factor {
            1 => value,
            _ => builder.multiply(value, ir.number(factor as u64)),
        };
        total = match total.constant_integer() {
            Some(0) => product,
            _ => builder.add(product, total),
        };
    }
    total
}
