//! Accesses that the optimiser has left without a source line: what it takes out of a loop, or makes one of two, has line 0. A report
//! would name the file alone.
//!
//! Such an access gets the line of who uses what it loads, or of what it stores, which in nearly all cases is that of its statement;
//! otherwise that of its nearest neighbour with a line. All are of the same function, so that the frames around them are right.

use super::decisions::line;
use super::ir::{Opcode, Value, llvm};
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};

/// So many users of a value, and neighbours of an instruction, are looked at.
const LOOKED_AT: usize = 16;

/// Gives lines to all accesses of a function that can have one.
pub fn complete(function: Value<'_>) {
    for block in function.blocks() {
        let instructions: Vec<Value<'_>> = block.instructions().collect();
        for (index, &at) in instructions.iter().enumerate() {
            if !is_access(at) || line(at).is_some() {
                continue;
            }
            let (before, behind) = instructions.split_at(index);
            let neighbours = behind
                .iter()
                .take(LOOKED_AT)
                .chain(before.iter().rev().take(LOOKED_AT));
            let found = user(at)
                .or_else(|| stored(at))
                .or_else(|| neighbours.copied().find(|other| line(*other).is_some()));
            if let Some(like) = found {
                let location = llvm!(LLVMInstructionGetDebugLoc(like.raw()));
                llvm!(LLVMInstructionSetDebugLoc(at.raw(), location));
            }
        }
    }
}

fn is_access(at: Value<'_>) -> bool {
    use Opcode::{LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMLoad, LLVMStore};
    matches!(
        at.opcode(),
        Some(LLVMLoad | LLVMStore | LLVMAtomicRMW | LLVMAtomicCmpXchg)
    )
}

/// An instruction with a line that uses a value, or uses what is computed from it: the nearest.
fn user(value: Value<'_>) -> Option<Value<'_>> {
    let mut found = vec![value];
    let mut next = 0;
    while let Some(&value) = found.get(next) {
        next += 1;
        for user in value.users().take(LOOKED_AT) {
            if user.opcode().is_none() || found.contains(&user) {
                continue;
            }
            if line(user).is_some() {
                return Some(user);
            }
            if found.len() < LOOKED_AT {
                found.push(user);
            }
        }
    }
    None
}

/// What computes the value that is stored, or else its place.
fn stored(at: Value<'_>) -> Option<Value<'_>> {
    let is_one = |value: &Value<'_>| value.opcode().is_some() && line(*value).is_some();
    (at.opcode() == Some(Opcode::LLVMStore))
        .then(|| at.operands().find(is_one))
        .flatten()
}
