//! Checks of loops: one after the loop for all rounds, instead of one in each.
//!
//! An access in a loop is *swept* if its address grows by the same amount each round, and if it is made in every round that
//! comes to an end. Its checks then are one check of a range (or of many places in equal distances) where the loop is left:
//! by then all that is checked was accessed, by this thread, in this epoch. For nothing in such a loop acquires,
//! releases, gives memory back, or leaves in another way, and the loop comes to an end: some test that every round makes
//! compares a value that grows with one that does not. The same race is found as in the loop, as both sides of it are in the same
//! epochs; and it is found once.
//!
//! A loop within a loop of that kind is not checked each time that it is left. What it went through then goes into a *footprint*
//! ([`deadheat_abi::footprint`]), a few words of the function's frame, which puts rows together: side by side, or in equal
//! steps. Accesses of one array share one, so that halves that are accessed side by side, and what is left over of a
//! vectorised loop, are one row. It is checked where the outermost such loop is left, or where rows do not go on as they began. So nothing needs to be
//! known of how the loops depend on each other; rows, tiles and triangles are all the same.
//!
//! A loop that may not come to an end is checked in batches as well ([`super::batches`]).
//!
//! How many rounds there were is computed where the loop is left, from a value that grows. A round that was begun counts for
//! accesses that come before the way out.

use super::accesses::{Access, Reader};
use super::affine::{Affine, Part, Sum, Term, Values, Width};
use super::batches::{self, Batch};
use super::builder::Builder;
use super::effects::Calls;
use super::ir::{Ir, Opcode, Value};
use super::nest::{Loop, Nest};
use super::steady::Steady;
use super::swept::{Swept, coalesce, find};
use super::watch::{self, Watch};
use crate::effects::Effects;
use deadheat_abi::footprint;
use deadheat_abi::hooks::COLUMN;
use std::collections::HashSet;

/// So many footprints a function has room for in its frame; further loops are checked each time that they are left.
const FOOTPRINTS: usize = 24;
/// A loop that is known to make more rounds than this is taken for one that does not end. They take a second at the least, and with anything in them
/// much longer; no array is so long that it fits into memory twice; and who writes such a number mostly means "for ever".
const LONG: u64 = 1 << 30;

/// One check after a loop, at one of its exits.
pub struct Sweep<'m> {
    /// Before this instruction, the first of the block that the loop is left to.
    pub before: Value<'m>,
    /// The accesses that it stands for.
    pub accesses: Vec<(Value<'m>, Access<'m>)>,
    /// A write or a read.
    pub write: bool,
    /// What to do.
    pub work: Work<'m>,
}

/// What is done behind a loop.
#[derive(Clone, Copy)]
pub enum Work<'m> {
    /// A check: the lowest, or last, address; how many; how far apart; how many bytes each.
    Check {
        address: Value<'m>,
        count: Value<'m>,
        stride: Value<'m>,
        size: u64,
    },
    /// Some bytes go into a footprint.
    Gather {
        footprint: Value<'m>,
        address: Value<'m>,
        len: Value<'m>,
    },
    /// Places in equal distances go into a footprint: the first, or last; how many; how far apart; how many bytes each.
    Column {
        footprint: Value<'m>,
        address: Value<'m>,
        count: Value<'m>,
        stride: Value<'m>,
        size: u64,
    },
    /// A footprint is checked.
    Commit { footprint: Value<'m> },
    /// A batch is checked if it is full: its state; the value that counts rounds, and how far that goes in a batch; how many places;
    /// how far apart; how many bytes each.
    Batch {
        state: Value<'m>,
        now: Value<'m>,
        far: Value<'m>,
        count: Value<'m>,
        stride: Value<'m>,
        size: u64,
    },
}

/// So many accesses of one loop that are made as long as something holds are checked behind it.
const GUARDED: usize = 64;

/// Takes the accesses that can be swept out of `plain`, and puts what computes their ranges into the blocks behind loops.
pub fn sweep<'m>(
    ir: Ir<'m>,
    builder: &Builder<'m>,
    reader: &Reader,
    calls: &Calls<'m>,
    (nest, kept): (&Nest<'m>, &HashSet<Value<'m>>),
    plain: &mut Vec<(Value<'m>, Access<'m>)>,
) -> Vec<Sweep<'m>> {
    let loops = nest.loops();
    let steady = &Steady::new(calls, nest, &loops, kept);
    let fit: Vec<bool> = (0..loops.len())
        .map(|n| can_wait(reader, calls, (nest, steady), &loops, n))
        .collect();
    let batched: Vec<bool> = (0..loops.len())
        .map(|n| !fit[n] && can_be_batched(reader, calls, (nest, steady), &loops, n))
        .collect();
    let mut room = batches::MOST;
    let mut sweeps = Vec::new();
    let mut frame = Frame {
        ir,
        builder,
        nest,
        footprints: Vec::new(),
    };
    // Outer loops first: what does not depend on an inner one is checked once for all of it.
    for (n, around) in loops.iter().enumerate().rev() {
        if !fit[n] && !batched[n] {
            continue;
        }
        let outermost = (n + 1..loops.len()).rfind(|&m| fit[m] && loops[m].has(around.header));
        let mut values = Values::new(nest, around, reader.layout(), steady);
        let Some(rounds) = Rounds::of(nest, around, &mut values) else {
            continue;
        };
        let found = plain
            .iter()
            .filter_map(|&(at, access)| find(nest, around, &mut values, at, access));
        let mut swept = coalesce(found.collect());
        swept.retain(|one| one.pays(outermost.is_some()));
        // What they ask has to be kept through the loop.
        let mut guarded = 0;
        swept.retain(|one| {
            guarded += usize::from(!one.is_always_made());
            one.is_always_made() || guarded <= GUARDED
        });
        if batched[n] {
            // What is reached by variables could not be watched from batch to batch.
            let entered = is_entered(nest, around);
            swept.retain(|one| {
                let moves = one.address.step.as_constant() != Some(0);
                (moves || entered && one.is_in_the_first_round())
                    && !watch::has_variables(&one.address)
                    && one.is_always_made()
            });
            swept.retain(|one| {
                let moves = one.address.step.as_constant() != Some(0);
                let fits = !moves || room > 0;
                room -= usize::from(moves && fits);
                fits
            });
        }
        let is_swept = |at: &Value<'m>, access: &Access<'m>| {
            let same = |other: &(Value<'m>, Access<'m>)| {
                other.0 == *at && other.1.write == access.write && other.1.pointer == access.pointer
            };
            swept.iter().any(|one| one.at.iter().any(same))
        };
        plain.retain(|(at, access)| !is_swept(at, access));
        let place = Place {
            around,
            within: outermost.map(|m| (m, &loops[m])),
            rounds: &rounds,
            batched: batched[n],
        };
        let swept = place.put_before(&frame, swept, &mut sweeps);
        place.put(&mut frame, &swept, &mut sweeps);
    }
    frame.commit(&loops, &mut sweeps);
    sweeps
}

/// Whether what a loop accesses may be checked where it is left: it is calm, and it and all loops in it come to an end.
pub fn can_wait<'m>(
    reader: &Reader,
    calls: &Calls<'m>,
    (nest, steady): (&Nest<'m>, &Steady<'_, 'm>),
    loops: &[Loop],
    n: usize,
) -> bool {
    let around = &loops[n];
    let inner = |one: &&Loop| around.has(one.header);
    // All loops in it that have no simple form may be endless; they have latches too.
    let known = loops[..=n].iter().filter(inner).count();
    is_calm(calls, nest, around)
        && back_edges(nest, around) == known
        && loops[..=n]
            .iter()
            .filter(inner)
            .all(|one| ends(reader, nest, steady, one))
}

/// Whether what a loop accesses may be checked in batches: it is calm, and all loops in it come to an end. Not loops within others: they may
/// be short, and made often, and then looking at each access takes less than a check behind them.
fn can_be_batched<'m>(
    reader: &Reader,
    calls: &Calls<'m>,
    (nest, steady): (&Nest<'m>, &Steady<'_, 'm>),
    loops: &[Loop],
    n: usize,
) -> bool {
    let around = &loops[n];
    let inner = |one: &&Loop| around.has(one.header);
    let known = loops[..=n].iter().filter(inner).count();
    let mut within = loops[..n].iter().filter(inner);
    batches::has_room_before(nest, around)
        && !loops[n + 1..].iter().any(|one| one.has(around.header))
        && is_calm(calls, nest, around)
        && back_edges(nest, around) == known
        && within.all(|one| ends(reader, nest, steady, one))
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

/// Whether a loop comes to an end, in a time that can be waited for: each round compares a value that grows with one that does not, and leaves by
/// the outcome.
fn ends<'m>(reader: &Reader, nest: &Nest<'m>, steady: &Steady<'_, 'm>, around: &Loop) -> bool {
    let mut values = Values::new(nest, around, reader.layout(), steady);
    around.exits.iter().any(|&(from, _)| {
        nest.dominates(from, around.latch) && {
            let end = nest.blocks[from].terminator();
            let condition = end.condition();
            condition.is_some_and(|condition| {
                compares_growing(&mut values, condition) && !is_far(&mut values, condition)
            })
        }
    })
}

fn compares_growing<'m>(values: &mut Values<'_, 'm>, condition: Value<'m>) -> bool {
    if condition.opcode() != Some(Opcode::LLVMICmp) {
        return false;
    }
    let of = |side| condition.operand(side);
    let [one, other] = [0, 1].map(|side| values.of_number(of(side)));
    let values = &*values;
    let still = |value: &Option<Affine<'m>>, of: Value<'m>| match value {
        Some(value) => value.step.as_constant() == Some(0),
        None => values.is_still(of),
    };
    // A value that must be met, and not only passed, could be jumped over for ever; not where wrapping around is undefined, nor where
    // both are multiples of the step.
    let met = condition.is_equality();
    let grows = |value: &Option<Affine<'m>>, side: u32| {
        let step = value.as_ref().and_then(|value| value.step.as_constant());
        let step = step.map(i64::unsigned_abs).filter(|step| *step != 0);
        step.is_some_and(|step| {
            let start = value.as_ref().and_then(|value| value.start.as_constant());
            let divides = |step: i64| start.is_some_and(|start| start % step == 0);
            let sure =
                || step.is_power_of_two() && divides(step as i64) && is_multiple_of(of(1 - side), step);
            step == 1 || !met || never_wraps(values, of(side)) || sure()
        })
    };
    still(&one, of(0)) && grows(&other, 1) || grows(&one, 0) && still(&other, of(1))
}

/// Whether a number is a multiple of a power of two, however often it has wrapped around.
fn is_multiple_of(value: Value<'_>, power: u64) -> bool {
    let constant = |value: Value<'_>| value.constant_integer();
    let divides = |value: Option<u64>| value.is_some_and(|value| value.is_multiple_of(power));
    match value.opcode() {
        None => divides(constant(value)),
        Some(Opcode::LLVMAnd) => [0, 1]
            .into_iter()
            .any(|side| divides(constant(value.operand(side)))),
        Some(Opcode::LLVMShl) => {
            constant(value.operand(1)).is_some_and(|by| by < 64 && (1 << by) % power == 0)
        }
        _ => false,
    }
}

/// Whether a value that grows is so far from what it is compared with that the loop does not get there: `i < LONG_MAX`.
fn is_far<'m>(values: &mut Values<'_, 'm>, condition: Value<'m>) -> bool {
    let of = [0, 1].map(|side| values.of_number(condition.operand(side)));
    let [Some(one), Some(other)] = of else {
        return false;
    };
    let (grows, still) = match other.step.as_constant() {
        Some(0) => (one, other),
        _ => (other, one),
    };
    let Some(step) = grows.step.as_constant().filter(|step| *step != 0) else {
        return false;
    };
    let way = match (
        still.start.minus(&grows.start).as_constant(),
        still.start.as_constant(),
    ) {
        // All ways go up to where numbers begin again.
        (Some(way), _) => {
            let way = if step > 0 { way } else { way.wrapping_neg() };
            let bits = condition.operand(0).ty().integer_bits().unwrap_or(64);
            way as u64 & (u64::MAX >> (64 - bits.clamp(1, 64)))
        }
        // It begins anywhere; most things begin near zero.
        (None, Some(end)) if step > 0 && condition.is_unsigned() => end as u64,
        (None, Some(end)) if (end > 0) == (step > 0) => end.unsigned_abs(),
        _ => return false,
    };
    way / step.unsigned_abs() > LONG
}

/// Whether a value that a loop changes by itself, or the next one after it, is computed in a way that must not wrap around. How it begins
/// does not matter.
fn never_wraps<'m>(values: &Values<'_, 'm>, value: Value<'m>) -> bool {
    let exact = |value: Value<'_>| {
        value.never_overflows() || value.never_carries() || value.is_disjoint() || value.is_inbounds()
    };
    let next = |next: Value<'m>| !values.is_still(next) && exact(next);
    exact(value) || value.opcode() == Some(Opcode::LLVMPHI) && value.incoming().any(next)
}

/// A value that tells how often a loop went round.
pub struct Rounds<'m> {
    value: Value<'m>,
    /// What it is in the first round.
    pub start: Sum<'m>,
    /// What each adds.
    pub step: i64,
}

impl<'m> Rounds<'m> {
    fn of(nest: &Nest<'m>, around: &Loop, values: &mut Values<'_, 'm>) -> Option<Self> {
        let mut best: Option<Rounds<'m>> = None;
        let header = nest.blocks[around.header];
        for value in header
            .instructions()
            .take_while(|at| at.opcode() == Some(Opcode::LLVMPHI))
        {
            let found = match value.ty().integer_bits() {
                Some(64) => values.of(value),
                Some(..64) => values.of_signed(value),
                None if value.ty().is_plain_pointer() => values.of(value),
                _ => None,
            };
            let Some(Affine { start, step }) = found else {
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

    /// What it is now, as a number, put at the builder's place.
    fn now(&self, builder: &Builder<'m>) -> Value<'m> {
        match self.value.ty().integer_bits() {
            None => builder.address(self.value),
            Some(64) => self.value,
            Some(_) => builder.widen_signed(self.value),
        }
    }

    /// How often the loop went back to its header, put at the builder's place.
    fn count(&self, ir: Ir<'m>, builder: &Builder<'m>) -> Value<'m> {
        let now = self.now(builder);
        let start = number(ir, builder, &self.start);
        let distance = match self.step > 0 {
            true => builder.subtract(now, start),
            false => builder.subtract(start, now),
        };
        builder.divide(distance, ir.number(self.step.unsigned_abs()))
    }
}

/// The footprints of a function.
struct Frame<'a, 'm> {
    ir: Ir<'m>,
    builder: &'a Builder<'m>,
    nest: &'a Nest<'m>,
    footprints: Vec<Shared<'m>>,
}

/// A footprint, and whose it is: all accesses of an array, or of what is reached by one pointer, in the loops in one.
struct Shared<'m> {
    variable: Value<'m>,
    array: Option<Value<'m>>,
    write: bool,
    /// The number of the loop that it is checked behind.
    within: usize,
    accesses: Vec<(Value<'m>, Access<'m>)>,
}

impl<'m> Frame<'_, 'm> {
    /// One that is empty where a loop begins, if there is room.
    fn footprint(&mut self, one: &Swept<'m>, (within, of): (usize, &Loop)) -> Option<Value<'m>> {
        let array = one.array();
        let fits = |shared: &&mut Shared<'m>| {
            array.is_some() && (shared.array, shared.write, shared.within) == (array, one.write, within)
        };
        if let Some(shared) = self.footprints.iter_mut().find(fits) {
            shared.accesses.extend(&one.at);
            return Some(shared.variable);
        }
        if self.footprints.len() == FOOTPRINTS {
            return None;
        }
        let (ir, builder) = (self.ir, self.builder);
        builder.before(self.nest.blocks[0].first_real());
        builder.without_line();
        let variable = builder.local(footprint::WORDS);
        builder.before(self.nest.blocks[of.entry].terminator());
        builder.without_line();
        let rows = footprint::ROWS as u64;
        for (word, value) in [
            (footprint::HIGH, 0),
            (footprint::COUNT, 0),
            (footprint::LEFT, rows),
        ] {
            builder.store(ir.number(value), builder.offset(variable, word * 8));
        }
        self.footprints.push(Shared {
            variable,
            array,
            write: one.write,
            within,
            accesses: one.at.clone(),
        });
        Some(variable)
    }

    /// Has all footprints checked behind their loops. What is added to one may be checked where another adds to it, so each of those
    /// places stands for all.
    fn commit(&self, loops: &[Loop], sweeps: &mut Vec<Sweep<'m>>) {
        for shared in &self.footprints {
            let users = sweeps.iter_mut().filter(
                |sweep| matches!(sweep.work, Work::Gather { footprint, .. } | Work::Column { footprint, .. } if footprint == shared.variable),
            );
            for user in users {
                let own = |at: Value<'m>| user.accesses.iter().any(|access| access.0 == at);
                let others = shared.accesses.iter().filter(|other| !own(other.0));
                let others: Vec<_> = others.copied().collect();
                user.accesses.extend(others);
            }
            for to in behind(&loops[shared.within]) {
                sweeps.push(Sweep {
                    before: self.nest.blocks[to].first_real(),
                    accesses: shared.accesses.clone(),
                    write: shared.write,
                    work: Work::Commit {
                        footprint: shared.variable,
                    },
                });
            }
        }
    }
}

/// A loop whose accesses are checked behind it.
struct Place<'a, 'm> {
    around: &'a Loop,
    /// The outermost loop around it that all checks of it may wait for, and its number.
    within: Option<(usize, &'a Loop)>,
    rounds: &'a Rounds<'m>,
    /// Whether it may not end, so that checks are made in it, too.
    batched: bool,
}

impl<'m> Place<'_, 'm> {
    /// Has what each round accesses at one place checked in front of the loop: the first round comes to it, and nothing in between synchronises.
    /// Answers with the others.
    fn put_before(
        &self,
        frame: &Frame<'_, 'm>,
        swept: Vec<Swept<'m>>,
        sweeps: &mut Vec<Sweep<'m>>,
    ) -> Vec<Swept<'m>> {
        let (ir, builder, nest) = (frame.ir, frame.builder, frame.nest);
        // Where loops around this one wait for checks, footprints take less time.
        let can = self.within.is_none() && is_entered(nest, self.around);
        let (before, others): (Vec<_>, Vec<_>) = swept
            .into_iter()
            .partition(|one| can && one.is_in_the_first_round());
        for one in before {
            let end = nest.blocks[self.around.entry].terminator();
            builder.before(end);
            builder.without_line();
            let address = number(ir, builder, &one.address.start);
            let work = Work::Check {
                address: builder.pointer(address, ir.pointer()),
                count: ir.number(1),
                stride: ir.number(0),
                size: one.size,
            };
            sweeps.push(one.at_block(end, work));
        }
        others
    }

    /// Puts what computes the ranges behind the loop.
    fn put(&self, frame: &mut Frame<'_, 'm>, swept: &[Swept<'m>], sweeps: &mut Vec<Sweep<'m>>) {
        if swept.is_empty() {
            return;
        }
        // Those with a footprint are checked behind the loops around this one.
        let footprints: Vec<Option<Value<'m>>> = swept
            .iter()
            .map(|one| {
                let of = self.within.filter(|_| one.size < COLUMN)?;
                frame.footprint(one, of)
            })
            .collect();
        let (ir, builder, nest) = (frame.ir, frame.builder, frame.nest);
        let mut watch = Watch::default();
        let addresses: Vec<Affine<'m>> = swept
            .iter()
            .map(|one| watch.begin(ir, builder, (nest, self.around), &one.address))
            .collect();
        let mut batches: Vec<Option<Batch<'m>>> = Vec::new();
        for one in swept {
            batches.push(self.batched.then(|| self.begin_batch(frame, one, sweeps)));
        }
        for to in behind(self.around) {
            let block = nest.blocks[to];
            let before = block.first_real();
            builder.before(before);
            builder.without_line();
            let back = self.rounds.count(ir, builder);
            let parts = swept.iter().zip(&addresses).zip(&footprints).zip(&batches);
            for (((one, of), footprint), batch) in parts {
                let begun = self.begun(frame, one, to);
                builder.before(before);
                builder.without_line();
                let back = batch.map_or(back, |batch| batch.rest(builder, back));
                let mut count = builder.add(back, begun);
                if one.more != 0 {
                    let any = builder.below(ir.number(0), count);
                    let more = builder.add(count, ir.number(one.more as u64));
                    count = builder.select(any, more, ir.number(0));
                }
                let count = one.if_made(ir, builder, count);
                let count = watch.unless_changed(ir, builder, &one.address, count);
                let address = match batch {
                    Some(batch) => batch.start(builder),
                    None => number(ir, builder, &of.start),
                };
                let footprint = footprint.filter(|_| self.within.is_some_and(|(_, of)| of.has(to)));
                let work = match (footprint, one.unbroken_step()) {
                    (Some(footprint), Some(step)) => {
                        let (address, len) = unbroken(ir, builder, address, count, (step, one.size));
                        let address = builder.pointer(address, ir.pointer());
                        Work::Gather {
                            footprint,
                            address,
                            len,
                        }
                    }
                    (Some(footprint), None) => Work::Column {
                        footprint,
                        address: builder.pointer(address, ir.pointer()),
                        count,
                        stride: number(ir, builder, &of.step),
                        size: one.size,
                    },
                    // A range is many places side by side, so that one hook does for both.
                    _ => Work::Check {
                        address: builder.pointer(address, ir.pointer()),
                        count,
                        stride: number(ir, builder, &of.step),
                        size: one.size,
                    },
                };
                sweeps.push(one.at_block(before, work));
            }
        }
    }

    /// Puts in what checks full batches, at the end of each round.
    fn begin_batch(&self, frame: &Frame<'_, 'm>, one: &Swept<'m>, sweeps: &mut Vec<Sweep<'m>>) -> Batch<'m> {
        let (ir, builder, nest) = (frame.ir, frame.builder, frame.nest);
        let batch = batches::begin(ir, builder, nest, self.around, self.rounds, one);
        let end = nest.blocks[self.around.latch].terminator();
        builder.before(end);
        builder.without_line();
        let far = self.rounds.step.wrapping_mul(batches::ROUNDS as i64);
        let work = Work::Batch {
            state: batch.state,
            now: self.rounds.now(builder),
            far: ir.number(far as u64),
            count: ir.number(batches::ROUNDS + one.more as u64),
            stride: batch.stride,
            size: one.size,
        };
        sweeps.push(one.at_block(end, work));
        batch
    }

    /// Whether the round that is left to a block has made an access, as a number.
    fn begun(&self, frame: &Frame<'_, 'm>, one: &Swept<'m>, to: usize) -> Value<'m> {
        let (ir, nest) = (frame.ir, frame.nest);
        let edges = self.around.exits.iter().zip(&one.last);
        let edges = edges.filter(|(exit, _)| exit.1 == to);
        let last: Vec<_> = edges.map(|(exit, last)| (nest.blocks[exit.0], *last)).collect();
        if last.iter().all(|edge| edge.1 == last[0].1) {
            return ir.number(last[0].1.into());
        }
        let numbers: Vec<_> = last
            .iter()
            .map(|edge| (ir.number(edge.1.into()), edge.0))
            .collect();
        frame.builder.choice(nest.blocks[to], &numbers)
    }
}

impl<'m> Swept<'m> {
    fn at_block(&self, before: Value<'m>, work: Work<'m>) -> Sweep<'m> {
        Sweep {
            before,
            accesses: self.at.clone(),
            write: self.write,
            work,
        }
    }
}

/// Whether what comes before a loop leads nowhere else.
fn is_entered(nest: &Nest<'_>, around: &Loop) -> bool {
    batches::has_room_before(nest, around) && nest.successors[around.entry].len() == 1
}

/// The blocks that a loop is left to.
pub fn behind(around: &Loop) -> Vec<usize> {
    let mut outside: Vec<usize> = around.exits.iter().map(|exit| exit.1).collect();
    outside.sort_unstable();
    outside.dedup();
    outside
}

/// Where accesses that leave nothing out begin, and how many bytes they are.
fn unbroken<'m>(
    ir: Ir<'m>,
    builder: &Builder<'m>,
    address: Value<'m>,
    count: Value<'m>,
    (step, size): (i64, u64),
) -> (Value<'m>, Value<'m>) {
    let way = builder.multiply(count, ir.number(step.unsigned_abs()));
    let rest = ir.number(size - step.unsigned_abs());
    let any = builder.below(ir.number(0), count);
    let len = builder.select(any, builder.add(way, rest), ir.number(0));
    if step >= 0 {
        return (address, len);
    }
    // The last one is the lowest.
    let lowest = builder.subtract(builder.add(address, ir.number(step.unsigned_abs())), way);
    (lowest, len)
}

/// A sum as a number, put at the builder's place.
pub fn number<'m>(ir: Ir<'m>, builder: &Builder<'m>, sum: &Sum<'m>) -> Value<'m> {
    let mut total = ir.number(sum.constant as u64);
    let part = |(value, width): Part<'m>| match width {
        Width::Whole if value.ty().is_plain_pointer() => builder.address(value),
        Width::Whole => value,
        Width::Signed => builder.widen_signed(value),
        Width::Unsigned => builder.widen(value),
        // Where it matters whether it has changed meanwhile, what it was is in its place ([`watch`]).
        Width::Inside => builder.load(value),
    };
    for &Term { value, by, factor } in &sum.terms {
        let mut value = part(value);
        if let Some(by) = by {
            value = builder.multiply(value, part(by));
        }
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
