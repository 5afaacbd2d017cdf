//! Source lines of accesses whose check is made elsewhere: a report names them all.
//!
//! A check has the line of its own access. For each other line an instruction that does nothing follows the call of the runtime
//! ([`deadheat_abi::also`]). The call is within an inline test, which is a function until LLVM's inliner has put it in place. So a
//! test with such lines calls a function that does not exist, with a number for the lines, behind the runtime's; once the test is in
//! place, the marks take the place of that call. They are where the code goes only if the runtime is asked.

use super::accesses::Access;
use super::builder::Builder;
use super::ir::{Ir, Value, llvm};
use deadheat_abi::also;
use llvm_sys::core::{LLVMDeleteFunction, LLVMInstructionEraseFromParent};
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::LLVMMetadataRef;
use std::collections::HashMap;

/// The function that does not exist.
pub const FUNCTION: &str = "deadheat.also";

/// The accesses that checks of a function stand for, besides their own.
#[derive(Default)]
pub struct Standing<'m> {
    others: HashMap<(Value<'m>, Value<'m>, bool), Vec<Value<'m>>>,
}

impl<'m> Standing<'m> {
    /// The check of an access stands for others from now on.
    pub fn add(&mut self, at: Value<'m>, access: &Access<'m>, others: impl IntoIterator<Item = Value<'m>>) {
        let known = self.others.entry((at, access.pointer, access.write)).or_default();
        for other in others {
            if !known.contains(&other) {
                known.push(other);
            }
        }
    }

    /// What the check of an access stands for.
    pub fn of(&self, at: Value<'m>, access: &Access<'m>) -> &[Value<'m>] {
        let others = self.others.get(&(at, access.pointer, access.write));
        others.map_or(&[], Vec::as_slice)
    }
}

/// The lines of a check.
pub struct Lines {
    /// Its own.
    own: also::Place,
    others: Vec<LLVMMetadataRef>,
    more: bool,
}

impl Lines {
    /// Of the check of one instruction, and of others that it stands for; none if they are all of one line.
    pub fn of<'m>(own: Value<'m>, others: impl IntoIterator<Item = Value<'m>>) -> Option<Lines> {
        let mut told = vec![Line::of(own)];
        let mut lines = Lines {
            own: place(own),
            others: Vec::new(),
            more: false,
        };
        for other in others {
            let (line, location) = (Line::of(other), location(other));
            if location.is_null() || told.contains(&line) {
                continue;
            }
            if lines.others.len() == also::MOST {
                lines.more = true;
                break;
            }
            told.push(line);
            lines.others.push(location);
        }
        (!lines.others.is_empty()).then_some(lines)
    }

    /// Puts in the marks, right behind the call of the runtime.
    pub fn mark(&self, builder: &Builder<'_>) {
        for &location in &self.others {
            builder.with_line(location);
            builder.mark(&also::mark(self.own));
        }
        if self.more {
            builder.mark(&also::more(self.own));
        }
    }
}

/// The lines of all inline tests of a module, by number.
#[derive(Default)]
pub struct Table(Vec<Lines>);

impl Table {
    /// The number of some lines.
    pub fn add(&mut self, lines: Lines) -> u64 {
        self.0.push(lines);
        self.0.len() as u64 - 1
    }

    /// Puts marks in the place of all calls of the function that does not exist.
    pub fn mark(&self, ir: Ir<'_>) {
        let Some(function) = ir.function(FUNCTION) else {
            return;
        };
        let builder = Builder::new(ir);
        for call in function.users().collect::<Vec<_>>() {
            // A test that is still there as a function has no number.
            let number = call.operand(0).constant_integer();
            if let Some(lines) = number.and_then(|number| self.0.get(usize::try_from(number).ok()?)) {
                builder.before(call);
                lines.mark(&builder);
            }
            llvm!(LLVMInstructionEraseFromParent(call.raw()));
        }
        llvm!(LLVMDeleteFunction(function.raw()));
    }
}

/// A source line, with where its function was inlined.
#[derive(PartialEq, Eq)]
pub struct Line(u32, LLVMMetadataRef, LLVMMetadataRef);

impl Line {
    /// The line of an instruction.
    pub fn of(instruction: Value<'_>) -> Line {
        let none = std::ptr::null_mut();
        let location = location(instruction);
        if location.is_null() {
            return Line(0, none, none);
        }
        let scope = llvm!(LLVMDILocationGetScope(location));
        Line(
            llvm!(LLVMDILocationGetLine(location)),
            // Blocks of one file are one.
            llvm!(LLVMDIScopeGetFile(scope)),
            llvm!(LLVMDILocationGetInlinedAt(location)),
        )
    }
}

fn location(instruction: Value<'_>) -> LLVMMetadataRef {
    assert!(instruction.opcode().is_some());
    llvm!(LLVMInstructionGetDebugLoc(instruction.raw()))
}

fn place(instruction: Value<'_>) -> also::Place {
    let location = location(instruction);
    match location.is_null() {
        true => (0, 0),
        false => (
            llvm!(LLVMDILocationGetLine(location)),
            llvm!(LLVMDILocationGetColumn(location)),
        ),
    }
}
