//! The pass: finds what to check in optimised code, and puts in checks, context values and redirected calls.
//!
//! Left out, each for a reason that is written where it is decided: memory that no other thread sees or changes
//! ([`private`]), reads that a write follows at once ([`checks`]), and functions of which [`is_left_alone`] says so.

mod accesses;
mod address;
mod affine;
mod also;
mod batches;
mod behind;
mod builder;
mod callees;
mod checks;
mod context;
pub mod coverage;
mod decisions;
mod effects;
mod flow;
mod functions;
mod ir;
mod lanes;
mod lineless;
mod links;
mod log;
mod loops;
mod missing;
mod neighbours;
mod nest;
mod outside;
mod perform;
mod places;
mod private;
mod redirect;
mod redundant;
mod sections;
mod sharing;
mod speculated;
mod steady;
mod stretches;
mod swept;
mod templates;
mod unmasked;
mod watch;
mod whole;
mod x86;

use crate::effects::Facts;
use crate::effects::summary::Summary;
use crate::llvm::{Context, Machine, Module};
use crate::module::Options;
use crate::select::Treatment;
pub use also::Table as Lines;
use ir::{Ir, Value, attribute_kind};
use llvm_sys::LLVMLinkage;
pub use outside::is_rust;
use std::collections::BTreeSet;

/// Before the optimiser.
pub fn prepare(context: &Context, module: &Module<'_>, options: &Options) {
    let ir = Ir::new(context, module);
    if options.record {
        missing::prepare(ir, &options.selection);
    }
    let sanitize = attribute_kind("sanitize_thread");
    let uwtable = attribute_kind("uwtable");
    let optnone = attribute_kind("optnone");
    for function in ir.functions() {
        if function.is_declaration() {
            continue;
        }
        // Asynchronous tables, the kind that is exact at every instruction.
        ir.add(function, uwtable, 2);
        ir.add(function, sanitize, 0);
        ir.add_text(function, "disable-tail-calls", "true");
        // At level 0 a compiler puts it on everything; above, the user did and wants it.
        if options.opt_level == 0 {
            function.remove(optnone);
        }
    }
}

/// After the optimiser. Gives the text of a module that defines the inline tests that are called now, and the lines that are to
/// be told of them once they are in place.
pub fn run(
    context: &Context,
    module: &Module<'_>,
    machine: &Machine,
    options: &Options,
    facts: &Facts,
) -> (String, Lines) {
    let ir = Ir::new(context, module);
    let calls = effects::Calls::new(ir, facts.clone());
    let resolvers = ir.resolvers();
    outside::say_what_is_inside(ir);
    let mut used = BTreeSet::new();
    let mut inserter = checks::Inserter::new(ir, machine.layout(), &mut used, options, calls);
    let missing = options.record.then(|| missing::Missing::new(ir, options));
    for function in ir.functions() {
        if is_left_alone(function) || resolvers.contains(&function) {
            continue;
        }
        let speculated = inserter.speculated(function);
        lineless::complete(function);
        match &missing {
            None => inserter.instrument(function, &speculated),
            Some(missing) if missing::treatment(function) == Treatment::Excluded => missing.mark(function),
            Some(missing) => {
                missing.surround_calls(function);
                inserter.instrument(function, &speculated);
                missing.mark(function);
            }
        }
        speculated.remove();
    }
    let (decisions, lines) = inserter.finish();
    decisions.embed(ir);
    let mut text = templates::module(&ir.head(), used.into_iter());
    text.push_str(&outside::definitions(ir));
    text.push_str(&links::definitions(ir));
    text.push_str(&missing::definitions(ir));
    (text, lines)
}

/// How many functions are defined in a module.
pub fn defined(context: &Context, module: &Module<'_>) -> usize {
    let functions = Ir::new(context, module).functions().into_iter();
    functions.filter(|function| !function.is_declaration()).count()
}

/// What the functions of a module do.
pub fn summary(context: &Context, module: &Module<'_>) -> Summary {
    effects::summary(Ir::new(context, module))
}

/// After the inline tests are in place.
pub fn finish(context: &Context, module: &Module<'_>, lines: &Lines) {
    let ir = Ir::new(context, module);
    lines.mark(ir);
    sections::split(ir);
}

/// Whether a function is not to be touched.
fn is_left_alone(function: Value<'_>) -> bool {
    // Its code comes from another module.
    function.is_declaration() || function.linkage() == LLVMLinkage::LLVMAvailableExternallyLinkage
        // All of it is assembly.
        || function.has(attribute_kind("naked"))
        // The user's wish.
        || function.has(attribute_kind("disable_sanitizer_instrumentation"))
}
