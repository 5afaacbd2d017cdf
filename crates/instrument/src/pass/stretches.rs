//! Loops that write here and there: what they fill from front to back, many stretches at once, is checked stretch by stretch
//! ([`deadheat_abi::stretches`]).
//!
//! The loop is one whose checks may wait until it is left ([`super::loops`]), so the rule is the same: nothing in it acquires, releases or
//! frees. Not for what is read where it is written, as counters are: that is not filled.

use super::accesses::{Access, Extent, Reader};
use super::affine::Values;
use super::also::{Line, Lines, Standing};
use super::builder::Builder;
use super::effects::Calls;
use super::ir::{Ir, Opcode, Value};
use super::loops;
use super::nest::Nest;
use super::steady::Steady;
use deadheat_abi::{shadow, stretches};
use std::collections::HashSet;

/// So many places of a function have a word in its frame.
const MOST: usize = 8;

/// A write that may go on with a stretch.
pub struct Filling<'m> {
    /// The write.
    pub at: Value<'m>,
    /// The word that says where the loop's table is.
    pub state: Value<'m>,
    /// What it does, and to how many bytes.
    pub access: Access<'m>,
    pub size: u64,
    /// The number of the loop.
    outer: usize,
}

/// Where a loop is left: the number of a write, the first of those with its word, and the first instruction there.
pub type End<'m> = (usize, Value<'m>);

/// Finds such writes in `plain`, and puts in their words. Also says where their loops are left.
pub fn find<'m>(
    ir: Ir<'m>,
    builder: &Builder<'m>,
    reader: &Reader,
    calls: &Calls<'m>,
    (nest, kept): (&Nest<'m>, &HashSet<Value<'m>>),
    plain: &[(Value<'m>, Access<'m>)],
) -> (Vec<Filling<'m>>, Vec<End<'m>>) {
    let mut ends = Vec::new();
    let mut fillings: Vec<Filling<'m>> = Vec::new();
    let sized = |(at, access): &'_ (Value<'m>, Access<'m>)| Some((*at, *access, size(*at, access)?));
    let candidates: Vec<_> = plain.iter().filter_map(sized).collect();
    if candidates.is_empty() {
        return (fillings, ends);
    }
    let mut states = 0;
    let loops = nest.loops();
    let steady = &Steady::new(calls, nest, &loops, kept);
    for (at, access, size) in &candidates {
        let block = at.block().and_then(|block| nest.number(block));
        let has = |n: &usize| block.is_some_and(|block| loops[*n].has(block));
        let waits = |n: &usize| loops::can_wait(reader, calls, (nest, steady), &loops, *n);
        let Some(inner) = (0..loops.len()).find(has) else {
            continue;
        };
        // Inner loops come first.
        let Some(outer) = (0..loops.len()).filter(has).take_while(waits).last() else {
            continue;
        };
        // Steps that are the same each round are looked at elsewhere: these are far apart.
        if Values::new(nest, &loops[inner], reader.layout(), steady)
            .of(access.pointer)
            .is_some()
        {
            continue;
        }
        // Copies of one write, as an unrolled loop has them, fill the same stretches in turn.
        let is_copy = |other: &&Filling<'m>| {
            (other.outer, other.size) == (outer, *size) && Line::of(other.at) == Line::of(*at)
        };
        let state = match fillings.iter().find(is_copy) {
            Some(copy) => copy.state,
            None if states == MOST => continue,
            None => {
                states += 1;
                builder.before(nest.blocks[0].first_real());
                builder.without_line();
                let state = builder.local(1);
                builder.before(nest.blocks[loops[outer].entry].terminator());
                builder.without_line();
                builder.store(ir.declare_hidden(stretches::NOTHING, stretches::BYTES), state);
                let behind = loops::behind(&loops[outer]).into_iter();
                ends.extend(behind.map(|to| (fillings.len(), nest.blocks[to].first_real())));
                state
            }
        };
        fillings.push(Filling {
            at: *at,
            state,
            access: *access,
            size: *size,
            outer,
        });
    }
    (fillings, ends)
}

/// The lines of all that stretches with the word of a write stand for.
pub fn lines<'m>(fillings: &[Filling<'m>], one: &Filling<'m>, standing: &Standing<'m>) -> Option<Lines> {
    let copies = fillings.iter().filter(|copy| copy.state == one.state);
    let others = copies.flat_map(|copy| standing.of(copy.at, &copy.access));
    Lines::of(one.at, others.copied())
}

/// The bytes of a write that may be one of those.
fn size(at: Value<'_>, access: &Access<'_>) -> Option<u64> {
    let Extent::Bytes(size) = access.extent else {
        return None;
    };
    let fits = at.opcode() == Some(Opcode::LLVMStore)
        && size.is_power_of_two()
        && size <= shadow::GRANULE
        && access.alignment >= size
        && access.pointer.opcode().is_some()
        && !access
            .pointer
            .users()
            .any(|user| user.opcode() == Some(Opcode::LLVMLoad));
    fits.then_some(size)
}
