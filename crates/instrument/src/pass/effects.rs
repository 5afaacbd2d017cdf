//! What instructions and calls do that matters to checks around them ([`crate::effects`]).

use super::callees::Callees;
use super::flow;
use super::ir::{At, Ir, Opcode, Order, Value, attribute_kind, llvm};
use super::private::Private;
use super::sharing::Sharer;
use crate::effects::summary::{Function, Reach, Summary};
use crate::effects::{Effects, Facts, known, resolve};
use llvm_sys::LLVMVisibility;
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// What is known of the functions of a module.
pub struct Calls<'m> {
    reader: Reader,
    known: HashMap<Value<'m>, Effects>,
    /// What calls through pointers do, where that is known. Found out before checks are put in, which are given addresses of variables.
    through: HashMap<Value<'m>, Effects>,
    facts: Facts,
}

impl<'m> Calls<'m> {
    /// Of a module that calls functions of which these facts are known.
    pub fn new(ir: Ir<'m>, facts: Facts) -> Self {
        let (functions, summary) = read(ir);
        let effects = resolve::module(&summary, &facts);
        let mut calls = Calls {
            reader: Reader::new(ir),
            known: functions.into_iter().zip(effects).collect(),
            through: HashMap::new(),
            facts,
        };
        let blocks = ir.functions().into_iter().flat_map(|function| function.blocks());
        for block in blocks {
            for call in block.instructions().filter(|at| is_through_pointer(*at)) {
                if let Callee::Among(functions) = calls.reader.callee(call) {
                    let each = functions.into_iter().map(|function| calls.of_function(function));
                    let effects = each.fold(Effects::NONE, Effects::or);
                    calls.through.insert(call, effects);
                }
            }
        }
        calls
    }

    /// What is known of the link.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What a call may do.
    pub fn of_call(&self, call: Value<'m>) -> Effects {
        let effects = match is_through_pointer(call) {
            true => self.through.get(&call).copied().unwrap_or(Effects::UNKNOWN),
            false => match self.reader.callee(call) {
                Callee::Does(effects) => effects,
                Callee::Among(functions) => {
                    let each = functions.into_iter().map(|function| self.of_function(function));
                    each.fold(Effects::NONE, Effects::or)
                }
            },
        };
        effects.and(self.reader.limit_of_call(call))
    }

    fn of_function(&self, function: Value<'m>) -> Effects {
        self.known.get(&function).copied().unwrap_or_else(|| {
            // The optimiser has put it in, or it is an intrinsic that became a function.
            let facts = self.facts.get(function.name());
            facts
                .or_else(|| known::effects(function.name()))
                .unwrap_or(Effects::UNKNOWN)
        })
    }

    /// Whether a call is one of the compiler's own, or of a function outside of the link that calls no function of it.
    pub fn calls_nothing_back(&self, call: Value<'m>) -> bool {
        let callee = call.callee();
        if callee.intrinsic().is_some() {
            return true;
        }
        let outside =
            callee.is_function() && callee.is_declaration() && self.facts.get(callee.name()).is_none();
        outside && known::effects(callee.name()) == Some(Effects::NONE)
    }

    /// What any instruction may do.
    pub fn of(&self, at: Value<'m>) -> Effects {
        match at.is_call() {
            true => self.of_call(at),
            false => self.reader.own(at),
        }
    }
}

/// Whether it is a call of what is not named.
fn is_through_pointer(at: Value<'_>) -> bool {
    at.is_call() && {
        let callee = at.callee();
        !callee.is_function() && !callee.is_other_global() && !callee.is_assembly()
    }
}

/// What the functions of a module do.
pub fn summary(ir: Ir<'_>) -> Summary {
    let (all, mut summary) = read(ir);
    let numbers: HashMap<Value<'_>, u32> = all.iter().copied().zip(0..).collect();
    let mut sharer = Sharer {
        private: Private::new(ir),
        numbers: &numbers,
        reader: &Reader::new(ir),
    };
    summary.variables = sharer.complete(ir, &all, &mut summary.functions);
    summary.mentioned = mentioned(ir, &all);
    summary
}

/// The functions and other names of a module, and what they do.
fn read<'m>(ir: Ir<'m>) -> (Vec<Value<'m>>, Summary) {
    let reader = Reader::new(ir);
    let private = Private::new(ir);
    let mut all: Vec<Value<'m>> = ir.functions();
    all.retain(|function| function.intrinsic().is_none());
    all.extend(ir.aliases());
    let numbers: HashMap<Value<'m>, u32> = all.iter().copied().zip(0..).collect();
    let functions = all
        .iter()
        .map(|&function| {
            let mut summary = reader.function(function, &numbers);
            if summary.reach != Reach::Declared && function.is_function() {
                let parameters = function.parameters().into_iter();
                summary.parameters = parameters
                    .map(|parameter| private.parameter(parameter, &numbers))
                    .collect();
            }
            summary
        })
        .collect();
    let (constructors, starts_otherwise) = before_main(ir, &numbers);
    let summary = Summary {
        functions,
        constructors,
        starts_otherwise,
        ..Summary::default()
    };
    (all, summary)
}

/// Words of a module's assembly, which may be names: that of the module itself, and of its functions.
fn mentioned(ir: Ir<'_>, functions: &[Value<'_>]) -> Vec<String> {
    let mut words: HashSet<String> = HashSet::new();
    let mut add = |text: &[u8]| {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.$".contains(byte);
        let parts = text.split(|byte| !is_part(byte)).filter(|part| !part.is_empty());
        words.extend(parts.map(|part| String::from_utf8_lossy(part).into_owned()));
    };
    add(ir.assembly());
    let defined = functions.iter().filter(|function| function.is_function());
    let blocks = defined.flat_map(|function| function.blocks());
    for block in blocks {
        for at in block.instructions().filter(|at| at.is_call()) {
            if at.callee().is_assembly() {
                add(at.callee().assembly_text());
            }
        }
    }
    let mut words: Vec<String> = words.into_iter().collect();
    words.sort_unstable();
    words
}

/// The functions that run before `main`; and whether there may be others, or `main` is called by the program itself.
fn before_main<'m>(ir: Ir<'m>, numbers: &HashMap<Value<'m>, u32>) -> (Vec<u32>, bool) {
    let mut first = ir.resolvers();
    if let Some(list) = ir.global("llvm.global_ctors") {
        // Each has a priority, the function and what it belongs to.
        let entries = list.initializer().into_iter().flat_map(Value::operands);
        first.extend(entries.filter_map(|entry| entry.operands().nth(1)));
    }
    let numbered: Option<Vec<u32>> = first
        .iter()
        .map(|function| numbers.get(function).copied())
        .collect();
    let listed = [".init_array", ".preinit_array", ".ctors"];
    let otherwise = ir.globals().into_iter().any(|global| {
        let section = global.section().to_bytes();
        listed.iter().any(|start| section.starts_with(start.as_bytes()))
    });
    let used = ir.functions().into_iter().any(|function| match function.name() {
        "main" => function.is_declaration() || function.users().next().is_some(),
        "_start" => !function.is_declaration(),
        _ => false,
    });
    let unknown = numbered.is_none();
    (numbered.unwrap_or_default(), otherwise || used || unknown)
}

/// What a call calls.
pub enum Callee<'m> {
    /// Something that does this.
    Does(Effects),
    /// One of these functions and aliases; only one, if it is called by its name.
    Among(Vec<Value<'m>>),
}

/// Reads instructions.
pub struct Reader {
    nosync: u32,
    nofree: u32,
    willreturn: u32,
    nounwind: u32,
    mustprogress: u32,
    loops: u32,
    callees: Callees,
}

impl Reader {
    fn new(ir: Ir<'_>) -> Self {
        Reader {
            nosync: attribute_kind("nosync"),
            nofree: attribute_kind("nofree"),
            willreturn: attribute_kind("willreturn"),
            nounwind: attribute_kind("nounwind"),
            mustprogress: attribute_kind("mustprogress"),
            loops: ir.metadata_kind("llvm.loop"),
            callees: Callees::new(ir),
        }
    }

    fn function<'m>(&self, function: Value<'m>, numbers: &HashMap<Value<'m>, u32>) -> Function {
        let mut summary = Function {
            name: function.name().to_owned(),
            reach: reach(function),
            own: Effects::NONE,
            loops: false,
            limit: Effects::UNKNOWN,
            calls: Vec::new(),
            parameters: Vec::new(),
            only_called: false,
            gives: Vec::new(),
            steps: Vec::new(),
            before: Vec::new(),
        };
        if !function.is_function() {
            match numbers.get(&aliased(function)) {
                Some(&number) => summary.calls.push((number, Effects::UNKNOWN)),
                None => summary.own = Effects::UNKNOWN,
            }
            return summary;
        }
        summary.limit = self.limit(|kind| function.has(kind));
        if summary.reach == Reach::Declared {
            return summary;
        }
        let blocks = function.blocks();
        let mut calls: HashMap<u32, Effects> = HashMap::new();
        for at in blocks.iter().flat_map(|block| block.instructions()) {
            if !at.is_call() {
                summary.own = summary.own.or(self.own(at));
                continue;
            }
            let limit = self.limit_of_call(at);
            match self.callee(at) {
                Callee::Does(effects) => summary.own = summary.own.or(effects.and(limit)),
                Callee::Among(callees) => {
                    for callee in callees {
                        let Some(&number) = numbers.get(&callee) else {
                            summary.own = Effects::UNKNOWN;
                            continue;
                        };
                        let known = calls.entry(number).or_insert(Effects::NONE);
                        *known = known.or(limit);
                    }
                }
            }
            // It is a loop if it comes back to this function.
            summary.own.may_not_end |= at.is_musttail();
        }
        summary.calls.extend(calls);
        let progress = function.has(self.mustprogress);
        for at in flow::retreating(&blocks) {
            match progress || self.must_progress(at) {
                true => summary.loops = true,
                false => summary.own.may_not_end = true,
            }
        }
        summary
    }

    /// What an instruction other than a call does by itself.
    fn own(&self, at: Value<'_>) -> Effects {
        use Opcode::*;
        let (acquires, releases) = match at.opcode() {
            Some(LLVMLoad) => (is_acquire(at.ordering()), false),
            Some(LLVMStore) => (false, is_release(at.ordering())),
            Some(LLVMAtomicRMW | LLVMFence) => (is_acquire(at.ordering()), is_release(at.ordering())),
            Some(LLVMAtomicCmpXchg) => {
                let (success, failure) = at.exchange_orderings();
                (
                    is_acquire(success) || is_acquire(failure),
                    is_release(success) || is_release(failure),
                )
            }
            // The stack is unwound.
            Some(LLVMResume | LLVMCleanupRet | LLVMCatchRet | LLVMCatchSwitch) => {
                return Effects {
                    may_not_return: true,
                    ..Effects::NONE
                };
            }
            _ => return Effects::NONE,
        };
        let here = at.is_single_thread();
        let volatile = at.opcode() != Some(LLVMFence) && llvm!(LLVMGetVolatile(at.raw())) != 0;
        Effects {
            acquires: acquires && !here,
            releases: releases && !here,
            observable: volatile || llvm!(LLVMIsAtomic(at.raw())) != 0,
            ..Effects::NONE
        }
    }

    /// What a call calls.
    pub fn callee<'m>(&self, call: Value<'m>) -> Callee<'m> {
        let callee = call.callee();
        if let Some(name) = callee.intrinsic() {
            return Callee::Does(intrinsic(name));
        }
        if callee.is_assembly() {
            return Callee::Does(assembly(callee));
        }
        // Another type is another function, as far as one can know.
        let fits =
            callee.is_other_global() || callee.is_function() && callee.function_type() == call.called_type();
        if fits {
            return Callee::Among(vec![callee]);
        }
        let among = is_through_pointer(call).then(|| self.callees.of(call)).flatten();
        among.map_or(Callee::Does(Effects::UNKNOWN), Callee::Among)
    }

    fn limit_of_call(&self, call: Value<'_>) -> Effects {
        self.limit(|kind| call.call_attribute(At::Function, kind).is_some())
    }

    /// The most that is possible by attributes.
    fn limit(&self, has: impl Fn(u32) -> bool) -> Effects {
        let mut limit = Effects::UNKNOWN;
        if has(self.nosync) {
            (limit.acquires, limit.releases) = (false, false);
        }
        if has(self.nofree) {
            limit.frees = false;
        }
        if has(self.willreturn) {
            limit.may_not_end = false;
            // It may return by unwinding.
            limit.may_not_return = !has(self.nounwind);
        }
        limit
    }

    /// Whether the loop that this branch goes round says that it ends, unless it can be observed.
    fn must_progress(&self, branch: Value<'_>) -> bool {
        let Some(node) = branch.metadata(self.loops) else {
            return false;
        };
        node.metadata_operands().into_iter().any(|operand| {
            let name = operand
                .metadata_operands()
                .first()
                .and_then(|name| name.metadata_string());
            name == Some(b"llvm.loop.mustprogress")
        })
    }
}

/// Who can see a function or a variable.
pub fn reach(global: Value<'_>) -> Reach {
    if global.is_declaration() || global.linkage() == llvm_sys::LLVMLinkage::LLVMAvailableExternallyLinkage {
        Reach::Declared
    } else if global.is_local() {
        Reach::Module
    } else if llvm!(LLVMGetVisibility(global.raw())) == LLVMVisibility::LLVMHiddenVisibility {
        Reach::Output
    } else {
        Reach::All
    }
}

/// What an alias is another name of; itself if it is none.
fn aliased(value: Value<'_>) -> Value<'_> {
    match llvm!(LLVMIsAGlobalAlias(value.raw())).is_null() {
        true => value,
        false => Value::some(llvm!(LLVMAliasGetAliasee(value.raw()))),
    }
}

/// Most intrinsics compute. Their accesses of memory are those of the function that they are in.
fn intrinsic(name: &str) -> Effects {
    let unknown = [
        "llvm.coro.",
        "llvm.eh.sjlj.",
        // Transactions.
        "llvm.x86.x",
        "llvm.experimental.deoptimize",
        "llvm.experimental.guard",
        "llvm.experimental.gc.",
        "llvm.experimental.patchpoint.",
    ];
    match unknown.iter().any(|start| name.starts_with(start)) {
        true => Effects::UNKNOWN,
        false => Effects::NONE,
    }
}

/// Assembly without side effects computes; any other may be a barrier.
fn assembly(callee: Value<'_>) -> Effects {
    let constraints = callee.assembly_constraints();
    let memory = constraints.windows(8).any(|part| part == b"~{memory");
    match memory || llvm!(LLVMGetInlineAsmHasSideEffects(callee.raw())) != 0 {
        true => Effects::UNKNOWN,
        false => Effects::NONE,
    }
}

fn is_acquire(order: Order) -> bool {
    matches!(
        order,
        Order::LLVMAtomicOrderingAcquire
            | Order::LLVMAtomicOrderingAcquireRelease
            | Order::LLVMAtomicOrderingSequentiallyConsistent
    )
}

fn is_release(order: Order) -> bool {
    matches!(
        order,
        Order::LLVMAtomicOrderingRelease
            | Order::LLVMAtomicOrderingAcquireRelease
            | Order::LLVMAtomicOrderingSequentiallyConsistent
    )
}
