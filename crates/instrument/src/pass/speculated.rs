//! Loads that the optimiser makes where the program may not read.
//!
//! `sanitize_thread` keeps LLVM from most of them, but not from two:
//!
//! * *Promotion* (`LICM`): of a variable that a loop stores to in some rounds only, it loads the value once in front of the loop, and rounds
//!   hand it on from one to the next. The stores stay where they are; the loads in the loop are gone.
//! * *Reloads* (`GVN`): of a variable that each round reads first, and that may change where the loop seldom goes, it loads the value anew
//!   there, and rounds need not. But the loop may be left before the next round begins.
//!
//! A check at such a load could report a race that the program does not have. So it has none. In its place stand loads whose values nobody
//! uses, where the program has read: they are checked as all others are, and taken out when the checks are in ([`Speculated::remove`]).
//!
//! Where that was is found by what becomes of the value. It is handed on by *phis of the memory*: each value that comes to one is what is in
//! memory then, as it was loaded, or stored before, or is such a phi. What uses one of these comes behind the read that it was, with nothing
//! in between that acquires, releases or frees: in such a case a check at the user is as good. What is computed from it may be computed
//! in vain; so a user is what has an effect (a store, a branch, a call), or another phi, at the end of the block that it takes the value from. Where
//! the value is selected, or the branch taken that leads to the phi, under a condition, then the read was made only if that holds: so the load that
//! stands for it is a masked one.
//!
//! If one of the users is certain to be reached from the load, it is no speculation, and its check stays. So it does at reloads if the
//! round that reads is sure to come. Otherwise the read is at the beginning of the loop's rounds, if the value comes to be used there.
//!
//! What can be missed: promoted reads whose value was used behind something that synchronises or not at all, or in a way that is not followed; and
//! reloads side by side that were made a vector, since those have lost their names. Rather that than an alarm about what the program does not read.
//!
//! LLVM names such loads, and so they are known. Programs to be recorded have the reads that stand for them as events without
//! values: the load itself is none.

use super::builder::Builder;
use super::effects::Calls;
use super::ir::{Ir, Opcode, Value, attribute_kind, llvm};
use super::nest::Nest;
use llvm_sys::core::LLVMInstructionEraseFromParent;
use llvm_sys::target::LLVMTargetDataRef;
use std::collections::HashSet;

mod uses;

use uses::{Read, Uses};

/// What a function has of such loads.
#[derive(Default)]
pub struct Speculated<'m> {
    loads: HashSet<Value<'m>>,
    stand_ins: Vec<Value<'m>>,
}

impl<'m> Speculated<'m> {
    /// Finds those of a function and puts in what stands for them. To be done before lines are given to what has none.
    pub fn find(
        ir: Ir<'m>,
        builder: &Builder<'m>,
        calls: &Calls<'m>,
        layout: LLVMTargetDataRef,
        (function, record): (Value<'m>, bool),
    ) -> Self {
        let blocks = function.blocks();
        let typed = ir.metadata_kind("tbaa");
        let loads: Vec<(Value<'m>, Kind)> = blocks
            .iter()
            .flat_map(|block| block.instructions())
            .filter_map(|at| Some((at, kind(at, typed)?)))
            .collect();
        let mut speculated = Speculated::default();
        if loads.is_empty() {
            return speculated;
        }
        let nest = Nest::new(&blocks);
        let uses = Uses::new(&nest, calls, layout, attribute_kind("speculatable"));
        let found: Vec<_> = loads
            .into_iter()
            .filter_map(|(load, kind)| Some((load, uses.reads(load, kind)?)))
            .collect();
        for (load, reads) in found {
            speculated.loads.insert(load);
            for read in reads {
                let stand_in = stand_in(ir, builder, layout, load, &read, record);
                speculated.stand_ins.extend(stand_in);
            }
        }
        speculated
    }

    /// Whether a load needs no check where it is.
    pub fn has(&self, at: Value<'m>) -> bool {
        self.loads.contains(&at)
    }

    /// Takes out what stands for the reads, when the checks are in.
    pub fn remove(self) {
        for at in self.stand_ins {
            // Nobody uses it, and it is not looked at again.
            llvm!(LLVMInstructionEraseFromParent(at.raw()));
        }
    }
}

/// Why a load was put in.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Promoted,
    Reloaded,
    /// It may be one of several that were loaded anew.
    Widened,
}

/// Whether LLVM put a load in, by what it calls them; a number or where it was inlined may follow.
fn kind(at: Value<'_>, typed: u32) -> Option<Kind> {
    if at.opcode() != Some(Opcode::LLVMLoad) || at.is_volatile() {
        return None;
    }
    let follows = |name: &str| {
        let (_, rest) = at.name().split_once(name)?;
        (!rest.starts_with(|next: char| next.is_alphabetic() || next == '_')).then_some(())
    };
    if follows(".promoted").is_some() {
        // Its type stays known only if it is sure that the loop reads there.
        return at.metadata(typed).is_none().then_some(Kind::Promoted);
    }
    match follows(".pre") {
        Some(()) => Some(Kind::Reloaded),
        None => {
            let is_phi = |user: Value<'_>| user.opcode() == Some(Opcode::LLVMPHI);
            let is_one = at.name().is_empty() && at.ty().vector().is_some() && at.users().all(is_phi);
            is_one.then_some(Kind::Widened)
        }
    }
}

/// Puts in a load that stands for a read of the program.
fn stand_in<'m>(
    ir: Ir<'m>,
    builder: &Builder<'m>,
    layout: LLVMTargetDataRef,
    load: Value<'m>,
    read: &Read<'m>,
    record: bool,
) -> Option<Value<'m>> {
    builder.before(read.before);
    builder.with_line_of(read.like);
    let pointer = load.operand(0);
    if read.conditions.is_empty() && !record {
        return Some(builder.load_like(load));
    }
    let bytes = load.ty().store_size(layout);
    if !matches!(bytes, 1 | 2 | 4 | 8 | 16) {
        return None;
    }
    let mut mask = None;
    for &(condition, holds) in &read.conditions {
        // Where it does not matter it may be of no value.
        let condition = builder.frozen(condition);
        let condition = if holds { condition } else { builder.not(condition) };
        mask = Some(mask.map_or(condition, |mask| builder.and(mask, condition)));
    }
    let mask = mask.unwrap_or_else(|| builder.below(ir.number(0), ir.number(1)));
    let (bits, value) = (ir.integer_vector(1, 1), ir.integer_vector(8 * bytes as u32, 1));
    let (function, ty) = ir.intrinsic("llvm.masked.load", &[value, ir.pointer()]);
    let arguments = [pointer, builder.reinterpret(mask, bits), value.anything()];
    Some(builder.call(function, ty, &arguments))
}
