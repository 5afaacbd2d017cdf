//! Accesses that the optimiser has left without a source line: what it takes out of a loop, or makes one of two, has line 0. A report
//! would name the file alone.
//!
//! Such an access gets the line of who uses what it loads, or of what it stores, which in nearly all cases is that of its statement;
//! otherwise that of its nearest neighbour with a line. All are of the same function, so that the frames around them are right. Of several users
//! it is one at whose line the same place is accessed: `if (next++ < end)` compares at one line what another one has loaded, where `next++` is in a
//! function that was inlined.

use super::decisions::line;
use super::ir::{Opcode, Value, llvm};
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};

/// So many users of a value, and neighbours of an instruction, are looked at.
const LOOKED_AT: usize = 16;

/// Gives lines to all accesses of a function that can have one.
pub fn complete<'m>(function: Value<'m>) {
    let blocks = function.blocks();
    let with_line = |at: Value<'m>| Some((place(at)?, line(at)?));
    let accesses: Vec<_> = blocks
        .iter()
        .flat_map(|block| block.instructions().filter_map(with_line))
        .collect();
    for block in blocks {
        let instructions: Vec<Value<'_>> = block.instructions().collect();
        for (index, &at) in instructions.iter().enumerate() {
            let Some(place) = place(at).filter(|_| line(at).is_none()) else {
                continue;
            };
            let (before, behind) = instructions.split_at(index);
            let neighbours = behind
                .iter()
                .take(LOOKED_AT)
                .chain(before.iter().rev().take(LOOKED_AT));
            let users = users(at);
            let is_there = |user: &&Value<'_>| {
                accesses
                    .iter()
                    .any(|(of, at)| *of == place && line(**user) == Some(*at))
            };
            let found = users
                .iter()
                .find(is_there)
                .or(users.first())
                .copied()
                .or_else(|| stored(at))
                .or_else(|| neighbours.copied().find(|other| line(*other).is_some()));
            if let Some(like) = found {
                let location = llvm!(LLVMInstructionGetDebugLoc(like.raw()));
                llvm!(LLVMInstructionSetDebugLoc(at.raw(), location));
            }
        }
    }
}

/// Where an access is made, if this is one.
fn place<'m>(at: Value<'m>) -> Option<Value<'m>> {
    use Opcode::{LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMLoad, LLVMStore};
    match at.opcode()? {
        LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg => Some(at.operand(0)),
        LLVMStore => Some(at.operand(1)),
        _ => None,
    }
}

/// Instructions with a line that use a value, or use what is computed from it without one: the nearest first.
fn users(value: Value<'_>) -> Vec<Value<'_>> {
    let (mut found, mut with_line) = (vec![value], Vec::new());
    let mut next = 0;
    while let Some(&value) = found.get(next) {
        next += 1;
        for user in value.users().take(LOOKED_AT) {
            if user.opcode().is_none() || found.contains(&user) {
                continue;
            }
            if line(user).is_some() {
                with_line.push(user);
            } else if found.len() < LOOKED_AT {
                found.push(user);
            }
        }
    }
    with_line
}

/// What computes the value that is stored, or else its place.
fn stored(at: Value<'_>) -> Option<Value<'_>> {
    let is_one = |value: &Value<'_>| value.opcode().is_some() && line(*value).is_some();
    (at.opcode() == Some(Opcode::LLVMStore))
        .then(|| at.operands().find(is_one))
        .flatten()
}
