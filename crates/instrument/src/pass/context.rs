//! The context value of a function ([`deadheat_abi::tls`]).

use super::builder::Builder;
use super::ir::{Ir, Opcode, Value};
use deadheat_abi::tls;

/// How a function keeps its context value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keeping {
    /// Nobody asks for it.
    Not,
    /// It is computed where it is needed: the function calls nothing, or nothing that returns to it. Before a call that does not
    /// return it is stored; there is nobody left to put the old one back for.
    AsNeeded,
    /// It is stored at entry, and what was there is put back before the function returns.
    Stored,
}

/// Calls of a function, as far as contexts are concerned.
#[derive(Default)]
pub struct Calls<'m> {
    /// Calls that come back.
    pub returning: Vec<Value<'m>>,
    /// Calls that do not, but by unwinding.
    pub ending: Vec<Value<'m>>,
    /// Calls that take the place of the function on the stack. The callee sees the context of our caller.
    pub replacing: Vec<Value<'m>>,
    /// Those of the calls that come back whose callee is the function itself.
    pub recursive: Vec<Value<'m>>,
    /// Calls that may come back twice.
    pub twice: Vec<Value<'m>>,
    /// Where unwinding arrives.
    pub landing_pads: Vec<Value<'m>>,
    /// Where the function returns.
    pub returns: Vec<Value<'m>>,
}

impl Calls<'_> {
    /// How the context must be kept.
    pub fn keeping(&self, checks: bool) -> Keeping {
        if !self.returning.is_empty() || !self.ending.is_empty() && !self.landing_pads.is_empty() {
            Keeping::Stored
        } else if checks || !self.ending.is_empty() {
            Keeping::AsNeeded
        } else {
            Keeping::Not
        }
    }
}

/// The address of the thread's variable, put at the builder's place.
pub fn thread_variable<'m>(ir: Ir<'m>, builder: &Builder<'m>) -> Value<'m> {
    let variable = ir.declare_thread_local(tls::NAME, size_of::<tls::Tls>() as u64);
    let (address_of, ty) = ir.intrinsic("llvm.threadlocal.address", &[ir.pointer()]);
    builder.call(address_of, ty, &[variable])
}

/// The context value of a function that does not store it, put at the builder's place.
pub fn compute<'m>(ir: Ir<'m>, builder: &Builder<'m>, thread: Value<'m>) -> Value<'m> {
    mix(ir, builder, found(builder, thread))
}

/// What the caller left in the variable, or what a function that stores its value has stored.
pub fn found<'m>(builder: &Builder<'m>, thread: Value<'m>) -> Value<'m> {
    builder.load(builder.offset(thread, tls::CONTEXT))
}

fn mix<'m>(ir: Ir<'m>, builder: &Builder<'m>, caller: Value<'m>) -> Value<'m> {
    let (return_address, ty) = ir.intrinsic("llvm.returnaddress", &[]);
    let address = builder.call(return_address, ty, &[ir.small(0)]);
    let mixed = builder.xor(caller, builder.address(address));
    builder.multiply(mixed, ir.number(tls::CONTEXT_FACTOR))
}

fn store<'m>(builder: &Builder<'m>, thread: Value<'m>, value: Value<'m>) {
    builder.store(value, builder.offset(thread, tls::CONTEXT));
}

/// Stores and puts back the context value of a function. The builder is at its entry.
pub fn keep<'m>(ir: Ir<'m>, builder: &Builder<'m>, thread: Value<'m>, keeping: Keeping, calls: &Calls<'m>) {
    match keeping {
        Keeping::Not => {}
        Keeping::AsNeeded => {
            for &call in &calls.ending {
                builder.before(call);
                store(builder, thread, compute(ir, builder, thread));
            }
        }
        Keeping::Stored => {
            let caller = found(builder, thread);
            let mut own = mix(ir, builder, caller);
            if !calls.recursive.is_empty() {
                let mark = ir.number(tls::RECURSION);
                let marked = builder.below(ir.number(0), builder.and(caller, mark));
                own = builder.select(marked, builder.xor(caller, mark), own);
            }
            store(builder, thread, own);
            for &call in &calls.recursive {
                builder.before(call);
                store(builder, thread, builder.xor(own, ir.number(tls::RECURSION)));
                match call.normal_destination() {
                    Some(block) => builder.before(block.first_real()),
                    None => builder.after(call),
                }
                store(builder, thread, own);
            }
            for &call in &calls.replacing {
                builder.before(call);
                store(builder, thread, caller);
            }
            for &at in &calls.returns {
                builder.before(at);
                store(builder, thread, caller);
            }
            // Whoever was unwound or jumped over did not put back what it found.
            for &at in &calls.landing_pads {
                builder.after(at);
                store(builder, thread, own);
            }
            for &at in &calls.twice {
                if at.opcode() == Some(Opcode::LLVMCall) {
                    builder.after(at);
                    store(builder, thread, own);
                }
            }
        }
    }
}
