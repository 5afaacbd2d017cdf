//! Code that is not to be recorded ([`crate::select`]): RDIT's missing calls.
//!
//! A function that is left out tells the runtime where it begins and ends, and nothing else. What it calls is not recorded
//! either, but for functions that the user wants to see: those tell that they were called back. The standard library's
//! functions belong to whoever calls them. Functions that are only declared here (libc's) and left out are told of by
//! whoever calls them. And whatever code that is not instrumented may call tells when it does.

use super::builder::Builder;
use super::ir::{Ir, Opcode, Value, attribute_kind, llvm};
use super::outside;
use crate::module::Options;
use crate::select::{Selection, Treatment};
use deadheat_abi::callee::{self, POINTERS};
use deadheat_abi::{hooks, tls};
use llvm_sys::LLVMLinkage;
use llvm_sys::core::{LLVMAddCallSiteAttribute, LLVMCreateEnumAttribute};

const MISSING_BEGIN: &str = "__deadheat_inline.missing.begin";
const MISSING_END: &str = "__deadheat_inline.missing.end";
const CALLBACK_BEGIN: &str = "__deadheat_inline.callback.begin";
const CALLBACK_END: &str = "__deadheat_inline.callback.end";
const CALLED_BEGIN: &str = "__deadheat_inline.called.begin";
const CALLED_END: &str = "__deadheat_inline.called.end";
const LANDED: &str = "__deadheat_inline.landed";

/// The attribute that says how a function is treated.
const ATTRIBUTE: &str = "deadheat";
const EXCLUDED: &str = "excluded";
const CALLERS: &str = "callers";

/// Before the optimiser: decides what is left out, and keeps that apart from the rest.
pub fn prepare(ir: Ir<'_>, selection: &Selection) {
    if selection.is_all() {
        return;
    }
    let [noinline, alwaysinline] = ["noinline", "alwaysinline"].map(attribute_kind);
    let functions = ir.functions();
    for &function in &functions {
        if function.is_declaration() {
            continue;
        }
        let file = function.source_file();
        match selection.treats(function.name(), file.as_deref()) {
            Treatment::Recorded => {}
            Treatment::Callers => ir.add_text(function, ATTRIBUTE, CALLERS),
            Treatment::Excluded => {
                ir.add_text(function, ATTRIBUTE, EXCLUDED);
                function.remove(alwaysinline);
                ir.add(function, noinline, 0);
            }
        }
    }
    // What is recorded must not become a part of what is not: neither where it is called, nor where the optimiser finds out whom a
    // pointer leads to.
    for &function in &functions {
        if !function.is_declaration()
            && treatment(function) == Treatment::Recorded
            && !function.users().all(|user| is_call_of(user, function))
        {
            function.remove(alwaysinline);
            ir.add(function, noinline, 0);
        }
    }
    for &function in &functions {
        if treatment(function) == Treatment::Recorded {
            continue;
        }
        let blocks = function.blocks();
        for call in blocks.iter().flat_map(|block| block.instructions()) {
            if !call.is_call() {
                continue;
            }
            let callee = call.callee();
            if callee.is_function() && !callee.is_declaration() && treatment(callee) == Treatment::Recorded {
                callee.remove(alwaysinline);
                let attribute = llvm!(LLVMCreateEnumAttribute(ir.raw_context(), noinline, 0));
                llvm!(LLVMAddCallSiteAttribute(
                    call.raw(),
                    llvm_sys::LLVMAttributeFunctionIndex,
                    attribute
                ));
            }
        }
    }
}

/// How a function that is defined is treated.
pub fn treatment(function: Value<'_>) -> Treatment {
    match function.text_attribute(ATTRIBUTE) {
        Some(EXCLUDED) => Treatment::Excluded,
        Some(CALLERS) => Treatment::Callers,
        _ => Treatment::Recorded,
    }
}

/// Whether code that is not instrumented may know a function, by its name or its address.
fn may_be_called_elsewhere(function: Value<'_>) -> bool {
    !function.is_local() || !function.users().all(|user| is_call_of(user, function))
}

/// Whether it calls a function and does nothing else with it.
fn is_call_of(user: Value<'_>, function: Value<'_>) -> bool {
    user.is_call() && user.callee() == function && user.arguments().all(|argument| argument != function)
}

/// Puts the tests into functions.
pub struct Missing<'m> {
    ir: Ir<'m>,
    builder: Builder<'m>,
    selection: Selection,
}

impl<'m> Missing<'m> {
    /// For a module.
    pub fn new(ir: Ir<'m>, options: &Options) -> Missing<'m> {
        Missing {
            ir,
            builder: Builder::new(ir),
            selection: options.selection.clone(),
        }
    }

    /// Surrounds calls of declared functions that are left out. Before anything else is put into the function.
    pub fn surround_calls(&self, function: Value<'m>) {
        if self.selection.exclude.is_empty() {
            return;
        }
        let calls: Vec<_> = function
            .blocks()
            .iter()
            .flat_map(|block| block.instructions())
            .filter(|at| at.is_call() && !at.is_musttail() && self.is_left_out(at.callee()))
            // Where other calls arrive as well, it would not be known which one has ended.
            .filter(|at| at.normal_destination().is_none_or(|block| block.has_one_entry()))
            .collect();
        for call in calls {
            let callee = self.variable(call.callee(), callee::EXCLUDED_ARGUMENTS);
            self.builder.before(call);
            let thread = super::context::thread_variable(self.ir, &self.builder);
            let state = self.begin(thread, callee, call.arguments());
            match call.normal_destination() {
                Some(block) => self.builder.before(block.first_real()),
                None => self.builder.after(call),
            }
            self.end(state, callee);
        }
    }

    fn is_left_out(&self, callee: Value<'m>) -> bool {
        callee.is_function()
            && callee.is_declaration()
            && callee.intrinsic().is_none()
            && !callee.name().starts_with(hooks::PREFIX)
            && self.selection.excludes_declared(callee.name())
    }

    /// A function that is left out, or not.
    pub fn mark(&self, function: Value<'m>) {
        let builder = &self.builder;
        let blocks = function.blocks();
        let all = || blocks.iter().flat_map(|block| block.instructions());
        let treatment = treatment(function);
        let landing: Vec<_> = all()
            .filter(|at| at.opcode() == Some(Opcode::LLVMLandingPad))
            .collect();
        let tail = |at: &Value<'m>| at.is_call() && at.is_musttail();
        let tails: Vec<_> = all().filter(tail).collect();
        let returns = all().filter(|at| at.opcode() == Some(Opcode::LLVMRet));
        // Nothing may stand between a call that takes the function's place and the return behind it.
        let leaving: Vec<_> = returns
            .filter(|at| !at.previous().is_some_and(|before| tail(&before)))
            .chain(tails)
            .collect();
        let stores: Vec<_> = all()
            .filter(|at| at.opcode() == Some(Opcode::LLVMStore))
            .collect();
        // By whom it may be called back: also by what is left out, or only by code that is not instrumented.
        let callback = match treatment {
            Treatment::Recorded if !self.selection.is_all() => Some((CALLBACK_BEGIN, CALLBACK_END)),
            Treatment::Recorded | Treatment::Callers if may_be_called_elsewhere(function) => {
                Some((CALLED_BEGIN, CALLED_END))
            }
            _ => None,
        };
        if treatment != Treatment::Excluded && callback.is_none() && landing.is_empty() {
            return;
        }
        // They say what a function does to memory and to other threads: more, now.
        for kind in ["memory", "nosync", "speculatable"] {
            function.remove(attribute_kind(kind));
        }
        let first = all().find(|at| at.opcode() != Some(Opcode::LLVMAlloca));
        let Some(first) = first else { return };
        builder.before(first);
        builder.without_line();
        let thread = super::context::thread_variable(self.ir, builder);
        match callback {
            _ if treatment == Treatment::Excluded => {
                let callee = self.variable(function, callee::EXCLUDED);
                let state = self.begin(thread, callee, function.parameters().into_iter());
                for at in leaving {
                    builder.before(at);
                    self.end(state, callee);
                }
                for at in stores {
                    self.tell_pointers(at);
                }
            }
            Some((begin, end)) => {
                let ty = self.ir.function_type(self.ir.integer(64), &[self.ir.pointer()]);
                let state = builder.call(self.ir.declare(begin, ty), ty, &[thread]);
                let ty = self.ir.function_type(self.ir.void(), &[self.ir.integer(64)]);
                for at in leaving {
                    builder.before(at);
                    builder.call(self.ir.declare(end, ty), ty, &[state]);
                }
            }
            None => {}
        }
        for at in landing {
            builder.after(at);
            let ty = self.ir.function_type(self.ir.void(), &[self.ir.pointer()]);
            builder.call(self.ir.declare(LANDED, ty), ty, &[thread]);
        }
    }

    /// A store that is not recorded: if it may be one of pointers, what can be reached is another now.
    fn tell_pointers(&self, store: Value<'m>) {
        let (value, pointer) = (store.operand(0), store.operand(1));
        let ty = value.ty();
        let bits = ty.integer_bits();
        let number = bits.is_some_and(|bits| bits < 64);
        let float = super::perform::is_float(ty);
        if number
            || float
            || value.constant_integer().is_some()
            || pointer.opcode() == Some(Opcode::LLVMAlloca)
        {
            return;
        }
        self.builder.after(store);
        let ty = self.ir.function_type(self.ir.void(), &[self.ir.pointer()]);
        self.builder
            .call(self.ir.declare(hooks::POINTERS_WRITTEN, ty), ty, &[pointer]);
    }

    /// What the runtime knows a function that is left out by.
    fn variable(&self, function: Value<'m>, state: u64) -> Value<'m> {
        let ir = self.ir;
        let name = format!("{}excluded.{}", callee::PREFIX, function.name());
        ir.global(&name).unwrap_or_else(|| {
            let value = [ir.number(state), ir.text(function.name()), function];
            ir.define(&name, ir.constants(&value), LLVMLinkage::LLVMPrivateLinkage)
        })
    }

    fn begin(
        &self,
        thread: Value<'m>,
        callee: Value<'m>,
        arguments: impl Iterator<Item = Value<'m>>,
    ) -> Value<'m> {
        let (ir, builder) = (self.ir, &self.builder);
        let pointers = outside::pointers(builder, arguments);
        let (more, last) = outside::in_parts(&pointers);
        let number = ir.integer(64);
        let padded = |pointers: &[Value<'m>]| {
            let mut all = pointers.to_vec();
            all.resize(POINTERS, ir.number(0));
            all
        };
        for pointers in more.chunks(POINTERS) {
            let ty = ir.function_type(ir.void(), &[ir.pointer(), number, number, number, number]);
            let mut arguments = vec![callee];
            arguments.extend(padded(pointers));
            builder.call(ir.declare(hooks::CALL_ARGUMENTS, ty), ty, &arguments);
        }
        let ty = ir.function_type(
            number,
            &[ir.pointer(), ir.pointer(), number, number, number, number],
        );
        let mut arguments = vec![thread, callee];
        arguments.extend(padded(last));
        builder.call(ir.declare(MISSING_BEGIN, ty), ty, &arguments)
    }

    fn end(&self, state: Value<'m>, callee: Value<'m>) {
        let ir = self.ir;
        let ty = ir.function_type(ir.void(), &[ir.integer(64), ir.pointer()]);
        self.builder
            .call(ir.declare(MISSING_END, ty), ty, &[state, callee]);
    }
}

/// The definitions of the tests, as text of a module, if there are calls of them.
pub fn definitions(ir: Ir<'_>) -> String {
    let functions = ir.functions();
    let called = |name: &str| functions.iter().any(|function| function.name() == name);
    let mut text = String::new();
    let state = format!(
        "  %at = getelementptr i8, ptr %thread, i64 {}
  %state = load i64, ptr %at, align 8",
        tls::MISSING
    );
    let is = |bits: u64, test: &str| {
        format!("  %missing = and i64 %state, {bits}\n  %tell = icmp {test} i64 %missing, 0")
    };
    let left_out = is(tls::LEFT_OUT, "eq");
    let called_back = is(tls::LEFT_OUT | tls::ELSEWHERE, "ne");
    let called_elsewhere = is(tls::ELSEWHERE, "ne");
    let attributes = "alwaysinline mustprogress nounwind";
    let mut define = |name: &str, returns: &str, parameters: &str, test: &str, hook: &str, given: &str| {
        if !called(name) {
            return;
        }
        let result = if returns == "i64" {
            "ret i64 %state"
        } else {
            "ret void"
        };
        text.push_str(&format!(
            "define linkonce_odr hidden {returns} @{name}({parameters}) {attributes} {{
{test}
  br i1 %tell, label %call, label %done, !prof !0
call:
  call void @{hook}({given})
  br label %done
done:
  {result}
}}
"
        ));
        let types: Vec<_> = given
            .split(',')
            .map(|word| word.split_whitespace().next().unwrap_or_default())
            .collect();
        let declaration = format!("declare void @{hook}({}) cold nounwind\n", types.join(", "));
        if !text.contains(&declaration) {
            text.push_str(&declaration);
        }
    };
    let arguments = "ptr %callee, i64 %a, i64 %b, i64 %c, i64 %d";
    define(
        MISSING_BEGIN,
        "i64",
        &format!("ptr %thread, {arguments}"),
        &format!("{state}\n{left_out}"),
        hooks::MISSING_BEGIN,
        arguments,
    );
    define(
        MISSING_END,
        "void",
        "i64 %state, ptr %callee",
        &left_out,
        hooks::MISSING_END,
        "ptr %callee",
    );
    for (begin, end, test) in [
        (CALLBACK_BEGIN, CALLBACK_END, &called_back),
        (CALLED_BEGIN, CALLED_END, &called_elsewhere),
    ] {
        let first = format!("{state}\n{test}");
        define(begin, "i64", "ptr %thread", &first, hooks::CALLBACK_BEGIN, "");
        define(end, "void", "i64 %state", test, hooks::CALLBACK_END, "");
    }
    define(
        LANDED,
        "void",
        "ptr %thread",
        &format!("{state}\n  %tell = icmp ne i64 %state, 0"),
        hooks::LANDED,
        "",
    );
    text
}
