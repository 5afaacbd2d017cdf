//! Which functions a call through a pointer may mean, where that can be seen: the pointer is one of several functions, comes out of a table that never
//! changes, or out of a variable into which nobody puts anything else.
//!
//! Whatever is not certain gives no answer. A call of null, or of what is no function, does not come back, so those in between do no harm.

use super::ir::{Ir, Opcode, Value};
use std::collections::HashSet;

/// So many functions at most; and so many values are walked through.
const FUNCTIONS: usize = 64;
const STEPS: usize = 512;

/// Looks for functions.
pub struct Callees {
    metadata: u32,
    /// Whether assembly outside of functions may name variables.
    assembly: bool,
}

impl Callees {
    /// In a module.
    pub fn new(ir: Ir<'_>) -> Self {
        Callees {
            metadata: ir.metadata_kind("callees"),
            assembly: !ir.assembly().is_empty(),
        }
    }

    /// All functions, and other names of such, that a call through a pointer may mean.
    pub fn of<'m>(&self, call: Value<'m>) -> Option<Vec<Value<'m>>> {
        let told = call.metadata(self.metadata).map(Value::metadata_operands);
        let mut search = Search {
            variables: !self.assembly,
            seen: HashSet::new(),
            found: Vec::new(),
        };
        for value in told.unwrap_or_else(|| vec![call.callee()]) {
            search.value(value)?;
        }
        let found = search.found;
        (1..=FUNCTIONS).contains(&found.len()).then_some(found)
    }
}

struct Search<'m> {
    /// Whether what is in variables is known by the stores that name them.
    variables: bool,
    seen: HashSet<Value<'m>>,
    found: Vec<Value<'m>>,
}

impl<'m> Search<'m> {
    /// Adds all that a value may be; none if there may be others.
    fn value(&mut self, value: Value<'m>) -> Option<()> {
        if !self.seen.insert(value) {
            return Some(());
        }
        if self.seen.len() > STEPS {
            return None;
        }
        if value.is_function() || value.is_other_global() {
            self.found.push(value);
            return Some(());
        }
        if value.is_no_memory() {
            return Some(());
        }
        match value.opcode()? {
            Opcode::LLVMPHI => value.incoming().try_for_each(|value| self.value(value)),
            Opcode::LLVMSelect => [1, 2].into_iter().try_for_each(|i| self.value(value.operand(i))),
            Opcode::LLVMFreeze => self.value(value.operand(0)),
            Opcode::LLVMLoad => self.loaded(value.operand(0)),
            _ => None,
        }
    }

    /// What is in memory.
    fn loaded(&mut self, pointer: Value<'m>) -> Option<()> {
        let mut variable = pointer;
        while variable.element_type().is_some() {
            variable = variable.operand(0);
        }
        // Another module, or a library, may have one of that name.
        if !variable.is_global_variable() || !variable.is_local() {
            return None;
        }
        if variable.is_constant_global() {
            return self.table(variable.initializer()?);
        }
        if !self.variables || variable != pointer || !variable.section().is_empty() {
            return None;
        }
        self.value(variable.initializer()?)?;
        for user in variable.users() {
            match user.opcode()? {
                Opcode::LLVMLoad => {}
                Opcode::LLVMStore
                    if user.operand(0).ty().is_plain_pointer() && user.operand(0) != variable =>
                {
                    self.value(user.operand(0))?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// All functions in the value of a constant. Names and numbers may be between them.
    fn table(&mut self, value: Value<'m>) -> Option<()> {
        if value.is_function() || value.is_other_global() {
            return self.value(value);
        }
        if value.constant_opcode().is_some() {
            // A part of another object; not a function that was made a number.
            let mut object = value;
            while object.element_type().is_some() {
                object = object.operand(0);
            }
            return object.is_global_variable().then_some(());
        }
        if value.is_no_memory() || value.is_global_variable() {
            return Some(());
        }
        let mut parts = value.operands().peekable();
        match value.ty().is_plain_pointer() && parts.peek().is_some() {
            true => None,
            false => parts.try_for_each(|part| self.table(part)),
        }
    }
}
