//! Variables that a loop reads again and again and never changes, though the optimiser could not know: it takes `cos` for a function that
//! may change anything, because of `errno`.
//!
//! A variable of this module alone, whose address goes nowhere, is changed only by stores that name it. So a loop leaves it alone that has none of those, and
//! that calls only functions of libc and libm that call nothing back. (Another thread may change it at the same time. That is a race, and
//! reading the variable is checked; [`super::watch`] sees to it that nothing else is made of it.)

use super::effects::Calls;
use super::ir::{Ir, Opcode, Value};
use super::nest::{Loop, Nest};
use std::collections::{HashMap, HashSet};

/// The variables of a module whose address goes nowhere: all that is done with them is to load and to store them. To be asked for before checks
/// are put in, which are given addresses.
pub fn kept(ir: Ir<'_>) -> HashSet<Value<'_>> {
    let plain = |user: Value<'_>, variable: Value<'_>| match user.opcode() {
        Some(Opcode::LLVMLoad) => !user.is_volatile(),
        Some(Opcode::LLVMStore) => user.operand(0) != variable && !user.is_volatile(),
        _ => false,
    };
    let mut kept: HashSet<Value<'_>> = ir.globals().into_iter().collect();
    kept.retain(|variable| {
        variable.is_local()
            && !variable.is_thread_local()
            && variable.users().all(|user| plain(user, *variable))
    });
    kept
}

/// What is known of the loops of a function.
pub struct Steady<'a, 'm> {
    kept: &'a HashSet<Value<'m>>,
    /// For each loop, by its header: whether it calls nothing but the functions said above.
    alone: HashMap<usize, bool>,
}

impl<'a, 'm> Steady<'a, 'm> {
    /// For the loops of a function.
    pub fn new(calls: &Calls<'m>, nest: &Nest<'m>, loops: &[Loop], kept: &'a HashSet<Value<'m>>) -> Self {
        let alone = |around: &Loop| {
            let mut blocks = around.blocks.iter().map(|&block| nest.blocks[block]);
            blocks.all(|block| {
                let mut instructions = block.instructions();
                instructions.all(|at| !at.is_call() || calls.calls_nothing_back(at))
            })
        };
        let alone = |around: &Loop| (around.header, alone(around));
        Steady {
            kept,
            alone: loops.iter().map(alone).collect(),
        }
    }

    /// The variable that a load of a loop reads, if the loop leaves it alone.
    pub fn variable(&self, nest: &Nest<'m>, around: &Loop, load: Value<'m>) -> Option<Value<'m>> {
        let variable = load.operand(0);
        let fits = self.alone.get(&around.header).copied().unwrap_or_default()
            && self.kept.contains(&variable)
            && !load.is_volatile();
        let stored = |user: Value<'m>| {
            let block = user.block().and_then(|block| nest.number(block));
            user.opcode() == Some(Opcode::LLVMStore) && block.is_some_and(|block| around.has(block))
        };
        (fits && !variable.users().any(stored)).then_some(variable)
    }
}
