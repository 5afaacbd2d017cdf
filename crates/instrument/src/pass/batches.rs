//! Loops of which nobody knows whether they end: `while (*p) p++`, or one whose bound is read anew in each round.
//!
//! What such a loop accesses is checked as that of others ([`super::loops`]), but not only where it is left: also each time that it has gone
//! round so often, so that a race is found in a loop that never ends. Between two checks nothing acquires, releases or frees, so the
//! rule is the same. For each range there are three words in the function's frame. The test in the loop is a comparison with one of
//! them, made at the end of the round, where all that is swept has been accessed.

use super::builder::Builder;
use super::ir::{Ir, Opcode, Value};
use super::loops::{Rounds, number};
use super::nest::{Loop, Nest};
use super::swept::Swept;

/// So many rounds are a batch.
pub const ROUNDS: u64 = 256;
/// So many ranges of a function have room in its frame.
pub const MOST: usize = 16;

/// Words of the state: where the present batch begins, first of all; ...
const WORDS: u64 = 3;
/// ... what the value that counts rounds is in the last round of the batch; ...
pub const LIMIT: u64 = 1;
/// ... how many rounds were in batches before.
pub const DONE: u64 = 2;

/// A range that is checked in batches.
#[derive(Clone, Copy)]
pub struct Batch<'m> {
    /// Three words of the frame.
    pub state: Value<'m>,
    /// How far from one round to the next.
    pub stride: Value<'m>,
}

/// Whether there is a place before a loop where values can be computed that it leaves alone.
pub fn has_room_before(nest: &Nest<'_>, around: &Loop) -> bool {
    nest.blocks[around.entry].terminator().opcode() == Some(Opcode::LLVMBr)
}

/// Begins the first batch, before the loop.
pub fn begin<'m>(
    ir: Ir<'m>,
    builder: &Builder<'m>,
    nest: &Nest<'m>,
    around: &Loop,
    rounds: &Rounds<'m>,
    one: &Swept<'m>,
) -> Batch<'m> {
    builder.before(nest.blocks[0].first_real());
    builder.without_line();
    let state = builder.local(WORDS);
    builder.before(nest.blocks[around.entry].terminator());
    builder.without_line();
    let word = |number: u64| builder.offset(state, number * 8);
    builder.store(number(ir, builder, &one.address.start), state);
    let way = rounds.step.wrapping_mul(ROUNDS as i64 - 1);
    let limit = builder.add(number(ir, builder, &rounds.start), ir.number(way as u64));
    builder.store(limit, word(LIMIT));
    builder.store(ir.number(0), word(DONE));
    Batch {
        state,
        stride: number(ir, builder, &one.address.step),
    }
}

impl<'m> Batch<'m> {
    /// Where the present batch begins, at the builder's place.
    pub fn start(&self, builder: &Builder<'m>) -> Value<'m> {
        builder.load(self.state)
    }

    /// How many of these rounds are not of batches before, at the builder's place.
    pub fn rest(&self, builder: &Builder<'m>, rounds: Value<'m>) -> Value<'m> {
        let done = builder.load(builder.offset(self.state, DONE * 8));
        builder.subtract(rounds, done)
    }
}
