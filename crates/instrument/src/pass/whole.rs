//! What no two threads access with a write, by all that the program does, and not only by the function at hand: beyond
//! [`super::private`], which knows where an address goes, but not where it comes from.
//!
//! * **Parameters that always point to private memory.** A function that only this module can call, and of which nobody has
//!   the address, is called in places that are all known. If each of them hands it memory of the calling thread whose address
//!   goes nowhere else, what it does with the parameter needs no check. Callers may hand on such a parameter of their own.
//! * **Locals that are handed to functions of other modules** that keep no copy of the address, by the summaries of the link
//!   ([`crate::effects`]). Within a module LLVM says so.
//! * **Memory of the heap** that a function asks for itself and whose address stays with it.
//! * **Variables that are published once and then only read**: all writes are in code that runs before there is a second
//!   thread ([`Alone`]). Whoever reads them was started later, by the thread that wrote them or by one that it started.
//! * **Blocks of the heap behind such variables** that nobody else has a pointer to ([`super::behind`]), if they are not written later either.
//!
//! Taken for shared is whatever is not known: a use that is none of those listed, a call through a pointer, too many steps.
//!
//! Of functions and variables that other modules can name, the link says the same ([`crate::effects::sharing`]).

use super::behind::behind;
use super::effects::Calls;
use super::flow::Flow;
use super::ir::{Block, Ir, Opcode, Value, llvm};
use super::private::{Private, underlying_objects};
use crate::decisions::Rule;
use crate::effects::Facts;
use llvm_sys::core::{LLVMGetBasicBlockParent, LLVMGetInstructionParent};
use std::collections::{HashMap, HashSet};

/// What is known of a module by all that the program does.
pub struct Whole<'m> {
    private: Private<'m>,
    parameters: HashSet<Value<'m>>,
    published: HashSet<Value<'m>>,
}

impl<'m> Whole<'m> {
    /// Looks at a module.
    pub fn new(ir: Ir<'m>, calls: &Calls<'m>) -> Self {
        let mut private = Private::knowing(ir, calls.facts().clone());
        Whole {
            parameters: parameters(ir, calls.facts(), &mut private),
            published: published(ir, calls, &private),
            private,
        }
    }

    /// Whether what `pointer` points to does not change any more from when the program has a second thread.
    pub fn is_published(&self, pointer: Value<'m>) -> bool {
        underlying_objects(pointer)
            .is_some_and(|objects| objects.iter().all(|object| self.published.contains(object)))
    }

    /// Why an access by `pointer` needs no check, if it needs none.
    pub fn rule(&mut self, pointer: Value<'m>, write: bool) -> Option<Rule> {
        let objects = underlying_objects(pointer)?;
        let mut rule = Rule::Private;
        for object in objects {
            if !write && self.published.contains(&object) {
                rule = Rule::Published;
            } else if !is_private(object, &self.parameters, &mut self.private)
                && !self.private.needs_none(object, write)
            {
                return None;
            }
        }
        Some(rule)
    }
}

/// Whether an object is one that other threads do not see.
fn is_private<'m>(object: Value<'m>, parameters: &HashSet<Value<'m>>, private: &mut Private<'m>) -> bool {
    parameters.contains(&object) || is_fresh(object) && !private.is_captured(object)
}

/// Functions that give memory of which nobody else knows. (Names of Rust have hashes around them.)
const FRESH: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "aligned_alloc",
    "memalign",
    "_Znwm",
    "_Znam",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
];

/// Whether it is new memory of the heap.
pub fn is_fresh(object: Value<'_>) -> bool {
    if !matches!(object.opcode(), Some(Opcode::LLVMCall | Opcode::LLVMInvoke)) {
        return false;
    }
    let callee = object.callee();
    let name = callee.name();
    callee.is_function()
        && callee.is_declaration()
        && (FRESH.contains(&name)
            || ["__rust_alloc", "__rust_alloc_zeroed", "__rust_realloc"]
                .iter()
                .any(|end| name.ends_with(end)))
}

/// The calls of a function that is only called, by its own type and by this module; none if others may call it.
fn all_calls(function: Value<'_>) -> Option<Vec<Value<'_>>> {
    let own = !function.is_declaration() && function.is_local();
    own.then(|| plain_calls(function)).flatten()
}

/// All that a module does with a function, if it is nothing but calls of it as what it is.
pub fn plain_calls(function: Value<'_>) -> Option<Vec<Value<'_>>> {
    let mut calls = Vec::new();
    for user in function.users() {
        let called = user.is_call()
            && user.callee() == function
            && user.called_type() == function.function_type()
            && !user.has_bundles()
            && user.arguments().all(|argument| argument != function);
        if !called {
            return None;
        }
        calls.push(user);
    }
    Some(calls)
}

/// Parameters that point to memory that is private to the caller, whoever calls.
fn parameters<'m>(ir: Ir<'m>, facts: &Facts, private: &mut Private<'m>) -> HashSet<Value<'m>> {
    // What each of them is given.
    let mut given: Vec<(Value<'m>, Vec<Value<'m>>)> = Vec::new();
    for function in ir.functions() {
        let Some(calls) = all_calls(function) else {
            continue;
        };
        for (i, parameter) in function.parameters().into_iter().enumerate() {
            // What the callee does with a copy of its own is for it to say.
            if !parameter.ty().is_plain_pointer() || private.is_copy(parameter) {
                continue;
            }
            let mut objects = Some(HashSet::new());
            for call in &calls {
                let these = underlying_objects(call.operand(i as u32));
                objects = objects.zip(these).map(|(mut objects, these)| {
                    objects.extend(these);
                    objects
                });
            }
            given.extend(objects.map(|objects| (parameter, objects.into_iter().collect())));
        }
    }
    let mut parameters: HashSet<Value<'m>> = given.iter().map(|(parameter, _)| *parameter).collect();
    // Of functions that other modules call, the link knows.
    for function in ir.functions() {
        if !function.is_declaration() && !function.is_local() {
            let known = function.parameters().into_iter().enumerate();
            let known = known.filter(|&(i, parameter)| {
                facts.is_private(function.name(), i as u32) && !private.is_copy(parameter)
            });
            parameters.extend(known.map(|(_, parameter)| parameter));
        }
    }
    // Until nothing changes. A parameter of a function that is called nowhere stays: it is never there.
    loop {
        let before = parameters.len();
        for (parameter, objects) in &given {
            let private = objects
                .iter()
                .all(|&object| is_private(object, &parameters, private) || private.needs_none(object, true));
            if !private {
                parameters.remove(parameter);
            }
        }
        if parameters.len() == before {
            return parameters;
        }
    }
}

/// Variables that are written only while the program has one thread, and the pointers to blocks behind them of which that is true as well.
fn published<'m>(ir: Ir<'m>, calls: &Calls<'m>, private: &Private<'m>) -> HashSet<Value<'m>> {
    let facts = calls.facts();
    let is_main = |function: Value<'m>| {
        facts.starts_alone && function.name() == "main" && function.users().next().is_none()
    };
    let mut roots = ir.functions();
    roots.retain(|&function| {
        !function.is_declaration()
            && !function.is_local()
            && (is_main(function) || facts.is_alone(function.name()))
    });
    let alone = (!roots.is_empty()).then(|| Alone::new(ir, &roots, calls));
    let is_early = |write: &Value<'m>| alone.as_ref().is_some_and(|alone| alone.is_write(*write, calls));
    let mut published = ir.globals();
    published.retain(|global| {
        if !global.is_local() {
            return facts.is_published(global.name());
        }
        // Those of a section of their own may be found by the section's beginning.
        alone.is_some()
            && !global.is_declaration()
            && !global.is_constant_global()
            && !global.is_thread_local()
            && global.section().is_empty()
            && private
                .writes(*global)
                .is_some_and(|writes| writes.iter().all(is_early))
    });
    let mut pointers = Vec::new();
    for &global in &published {
        let Some(blocks) = behind(private, global) else {
            continue;
        };
        let early = match global.is_local() {
            true => blocks.writes.iter().all(is_early),
            false => facts.are_blocks_published(global.name()),
        };
        if early {
            pointers.extend(blocks.pointers);
        }
    }
    published.into_iter().chain(pointers).collect()
}

/// Code that runs while the program has one thread: in `main`, and in functions that the link says are called only then, before any call
/// that may start another, and so on in functions that are only called from there.
struct Alone<'m> {
    /// For each function that is only called from such code, which of its instructions are.
    functions: HashMap<Value<'m>, HashSet<Value<'m>>>,
}

impl<'m> Alone<'m> {
    /// `roots` are called while there is one thread.
    fn new(ir: Ir<'m>, roots: &[Value<'m>], calls: &Calls<'m>) -> Self {
        let called: Vec<(Value<'m>, Vec<Value<'m>>)> = ir
            .functions()
            .into_iter()
            .filter_map(|function| Some((function, all_calls(function)?)))
            .collect();
        let mut alone = Alone {
            functions: called
                .iter()
                .map(|(function, _)| *function)
                .chain(roots.iter().copied())
                .map(|function| (function, before_others(function, calls)))
                .collect(),
        };
        loop {
            let before = alone.functions.len();
            for (function, calls) in &called {
                if !calls.iter().all(|&call| alone.has(call)) {
                    alone.functions.remove(function);
                }
            }
            if alone.functions.len() == before {
                return alone;
            }
        }
    }

    /// Whether there is one thread when an instruction begins.
    fn has(&self, at: Value<'m>) -> bool {
        self.functions
            .get(&function_of(at))
            .is_some_and(|instructions| instructions.contains(&at))
    }

    /// Whether there is one thread until an instruction ends.
    fn is_write(&self, at: Value<'m>, calls: &Calls<'m>) -> bool {
        self.has(at) && !calls.of(at).spawns
    }
}

/// The instructions of a function that no path from its beginning leads to by a call that may start a thread.
fn before_others<'m>(function: Value<'m>, calls: &Calls<'m>) -> HashSet<Value<'m>> {
    let blocks: Vec<Block<'m>> = function.blocks();
    let flow = Flow::new(&blocks);
    let starts = |block: &Block<'m>| block.instructions().any(|at| calls.of(at).spawns);
    let starting: Vec<bool> = blocks.iter().map(starts).collect();
    let mut late = vec![false; blocks.len()];
    let mut todo: Vec<usize> = (0..blocks.len()).filter(|&block| starting[block]).collect();
    while let Some(block) = todo.pop() {
        for &to in &flow.successors[block] {
            if !std::mem::replace(&mut late[to], true) {
                todo.push(to);
            }
        }
    }
    let mut early = HashSet::new();
    for (block, _) in blocks.iter().zip(&late).filter(|(_, late)| !**late) {
        for at in block.instructions() {
            early.insert(at);
            if calls.of(at).spawns {
                break;
            }
        }
    }
    early
}

fn function_of(at: Value<'_>) -> Value<'_> {
    assert!(at.opcode().is_some());
    Value::some(llvm!(LLVMGetBasicBlockParent(LLVMGetInstructionParent(at.raw()))))
}
