//! What a module says of memory that its functions give to others, and of variables, for the whole link to judge
//! ([`crate::effects::sharing`]).

use super::behind::behind;
use super::effects::{Callee, Reader, reach};
use super::flow::Flow;
use super::ir::{Ir, Opcode, Value};
use super::private::{Private, underlying_objects};
use super::whole::{is_fresh, plain_calls};
use crate::effects::known;
use crate::effects::summary::{Before, Function, Give, Given, Reach, Variable};
use std::collections::{BTreeSet, HashMap};

/// Functions that call more others than this are not looked through.
const CALLEES: usize = 256;

/// For each instruction that may write to variables, or to blocks behind them, which ones; true for a block.
type Writes<'m> = HashMap<Value<'m>, Vec<(usize, bool)>>;

/// Reads a module.
pub struct Sharer<'a, 'm> {
    pub private: Private<'m>,
    /// The numbers of functions and other names.
    pub numbers: &'a HashMap<Value<'m>, u32>,
    pub reader: &'a Reader,
}

impl<'m> Sharer<'_, 'm> {
    /// Completes what is said of the functions of a module, and answers with its variables.
    pub fn complete(&mut self, ir: Ir<'m>, all: &[Value<'m>], functions: &mut [Function]) -> Vec<Variable> {
        let mut variables = Vec::new();
        // The variables that instructions may write, and whether it is a block behind them.
        let mut writes: Writes<'m> = HashMap::new();
        for global in ir.globals() {
            let reach = reach(global);
            if reach == Reach::Module || global.name().starts_with("llvm.") {
                continue;
            }
            // Those of a section of their own may be found by the section's beginning.
            let seen = !global.is_thread_local() && global.section().is_empty();
            let written = seen.then(|| self.private.writes(global)).flatten();
            let blocks = written.as_ref().and_then(|_| behind(&self.private, global));
            for &at in written.iter().flatten() {
                writes.entry(at).or_default().push((variables.len(), false));
            }
            for &at in blocks.iter().flat_map(|blocks| &blocks.writes) {
                writes.entry(at).or_default().push((variables.len(), true));
            }
            variables.push(Variable {
                name: global.name().to_owned(),
                reach,
                leaves: written.is_none(),
                writes: Vec::new(),
                blocks: blocks.map(|_| Vec::new()),
            });
        }
        for (number, (&value, function)) in all.iter().zip(functions).enumerate() {
            if !value.is_function() {
                continue;
            }
            function.only_called = plain_calls(value).is_some();
            if function.reach != Reach::Declared {
                function.gives = self.gives(value);
                self.steps(value, function, &writes, |(variable, block), before| {
                    let Variable { writes, blocks, .. } = &mut variables[variable];
                    let writes = blocks.as_mut().filter(|_| block).unwrap_or(writes);
                    writes.push((number as u32, before));
                });
            }
        }
        variables
    }

    /// The addresses that a function gives to others.
    fn gives(&mut self, function: Value<'m>) -> Vec<Give> {
        let mut gives = BTreeSet::new();
        let blocks = function.blocks();
        for call in blocks.iter().flat_map(|block| block.instructions()) {
            let Some(callee) = self.callee(call) else {
                continue;
            };
            // Of aliases, and of libc's functions, nobody asks.
            let called = call.callee();
            if !called.is_function() || known::effects(called.name()).is_some() {
                continue;
            }
            let fixed = called.parameters().len();
            for (i, argument) in call.arguments().enumerate().take(fixed) {
                if !argument.ty().is_plain_pointer() {
                    continue;
                }
                let mut give = |what| {
                    gives.insert(Give {
                        callee,
                        parameter: i as u32,
                        what,
                    });
                };
                match underlying_objects(argument) {
                    None => give(Given::Shared),
                    Some(objects) => objects
                        .into_iter()
                        .filter_map(|object| self.given(object))
                        .for_each(give),
                }
            }
        }
        gives.into_iter().collect()
    }

    /// What an object is to whoever is given its address; none if no other thread sees it.
    fn given(&mut self, object: Value<'m>) -> Option<Given> {
        if self.private.needs_none(object, true) {
            return None;
        }
        let copy = self.private.is_copy(object);
        if let Some((_, i)) = object.as_parameter().filter(|_| !copy) {
            return Some(Given::Parameter(i));
        }
        if object.opcode() != Some(Opcode::LLVMAlloca) && !copy && !is_fresh(object) {
            return Some(Given::Shared);
        }
        let uses = self.private.parameter(object, self.numbers);
        match uses.kept {
            true => Some(Given::Shared),
            false => Some(Given::Local(uses.given)),
        }
    }

    /// The calls of a function and its writes of variables, each with what may have been called before.
    fn steps(
        &self,
        value: Value<'m>,
        function: &mut Function,
        writes: &Writes<'m>,
        mut write: impl FnMut((usize, bool), Before),
    ) {
        let blocks = value.blocks();
        let flow = Flow::new(&blocks);
        // What each block adds, and what may have been called when it begins.
        let own: Vec<Called> = blocks
            .iter()
            .map(|block| {
                let mut called = Called::default();
                block.instructions().for_each(|at| self.pass(at, &mut called));
                called
            })
            .collect();
        let mut begins = vec![Called::default(); blocks.len()];
        let callees: BTreeSet<u32> = own.iter().flat_map(|called| &called.functions).copied().collect();
        if callees.len() > CALLEES {
            begins.fill(Called::UNKNOWN);
        }
        let mut todo = flow.order.clone();
        while let Some(block) = todo.pop() {
            let mut end = begins[block].clone();
            end.add(&own[block]);
            for &to in &flow.successors[block] {
                if begins[to].add(&end) {
                    todo.push(to);
                }
            }
        }
        let mut sets: HashMap<BTreeSet<u32>, u32> = HashMap::new();
        let mut before = |called: &Called| {
            let next = sets.len() as u32;
            (!called.anything).then(|| *sets.entry(called.functions.clone()).or_insert(next))
        };
        for (block, called) in blocks.iter().zip(&mut begins) {
            for at in block.instructions() {
                if let Some(callee) = self.callee(at) {
                    function.steps.push((callee, before(called)));
                }
                self.pass(at, called);
                // A call that writes does so until it ends.
                for &variable in writes.get(&at).into_iter().flatten() {
                    write(variable, before(called));
                }
            }
        }
        function.steps.sort_unstable();
        function.steps.dedup();
        let mut rows: Vec<(BTreeSet<u32>, u32)> = sets.into_iter().collect();
        rows.sort_unstable_by_key(|(_, number)| *number);
        function.before = rows
            .into_iter()
            .map(|(set, _)| set.into_iter().collect())
            .collect();
    }

    /// The number of the function that an instruction calls by its name. (Of those that are called through pointers others have the address, so nobody
    /// asks who calls them.)
    fn callee(&self, at: Value<'m>) -> Option<u32> {
        let named = at.is_call() && (at.callee().is_function() || at.callee().is_other_global());
        match named.then(|| self.reader.callee(at))? {
            Callee::Among(functions) => self.numbers.get(functions.first()?).copied(),
            Callee::Does(_) => None,
        }
    }

    /// An instruction is made.
    fn pass(&self, at: Value<'m>, called: &mut Called) {
        if !at.is_call() {
            return;
        }
        match self.reader.callee(at) {
            Callee::Does(effects) => called.anything |= effects.spawns,
            Callee::Among(functions) => {
                for function in functions {
                    match self.numbers.get(&function) {
                        Some(&callee) => _ = called.functions.insert(callee),
                        None => called.anything = true,
                    }
                }
            }
        }
    }
}

/// What may have been called.
#[derive(Clone, Default)]
struct Called {
    functions: BTreeSet<u32>,
    /// Also what is not known.
    anything: bool,
}

impl Called {
    const UNKNOWN: Called = Called {
        functions: BTreeSet::new(),
        anything: true,
    };

    /// Adds what else may have been called. Whether that is more.
    fn add(&mut self, more: &Called) -> bool {
        let before = (self.functions.len(), self.anything);
        self.functions.extend(&more.functions);
        self.anything |= more.anything;
        before != (self.functions.len(), self.anything)
    }
}
