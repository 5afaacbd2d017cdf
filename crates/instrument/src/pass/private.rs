//! Which memory no other thread can see, or change. Its accesses need no check.
//!
//! Asked of the *underlying objects* of an address, not of the pointer at hand: a field of a local may be reached by many
//! pointers, and if one of them leaves the function, all of them are shared. Whatever is not known leaves.

use super::ir::{At, Ir, Opcode, Value, attribute_kind};
use crate::effects::Facts;
use crate::effects::summary::Parameter;
use std::collections::{HashMap, HashSet};

/// So many values are walked through at most; then the answer is "shared".
const STEPS: usize = 256;

/// So many pointers to a variable of the whole program are followed at most.
pub const GLOBAL_STEPS: usize = 1 << 14;

/// What is known of the objects of a module.
pub struct Private<'m> {
    captured: HashMap<Value<'m>, bool>,
    captures: u32,
    byval: u32,
    tbaa: u32,
    /// What functions of other modules do with addresses.
    facts: Facts,
}

impl<'m> Private<'m> {
    /// Nothing yet.
    pub fn new(ir: Ir<'m>) -> Self {
        Private::knowing(ir, Facts::default())
    }

    /// Nothing yet, but of functions that the module calls.
    pub fn knowing(ir: Ir<'m>, facts: Facts) -> Self {
        Private {
            facts,
            captured: HashMap::new(),
            captures: attribute_kind("captures"),
            byval: attribute_kind("byval"),
            tbaa: ir.metadata_kind("tbaa"),
        }
    }

    /// Whether an access by `pointer` needs no check.
    pub fn is_private(&mut self, pointer: Value<'m>, write: bool) -> bool {
        let Some(objects) = underlying_objects(pointer) else {
            return false;
        };
        objects.into_iter().all(|object| self.needs_none(object, write))
    }

    /// Whether accesses to an object need no check.
    pub fn needs_none(&mut self, object: Value<'m>, write: bool) -> bool {
        // A local, the callee's own copy of an argument, or a thread's own copy of a variable, if its address stays here.
        // (The address of a thread-local may well leave: then it is memory like any other.)
        let own = object.opcode() == Some(Opcode::LLVMAlloca)
            || self.is_copy(object)
            || object.is_thread_local() && object.is_local();
        if own {
            return !self.is_captured(object);
        }
        // Nobody writes to constants, so reads of them cannot race.
        if object.is_constant_global() || self.is_virtual_table(object) {
            return !write;
        }
        // Counters of coverage and profiles are meant to race.
        if object.is_global_variable() {
            let name = object.name();
            return name.starts_with("__llvm_prf")
                || name.starts_with("__llvm_gcov")
                || name.starts_with("__profc_")
                || object.section().to_bytes().starts_with(b"__llvm_prf");
        }
        // An access through null, or through nothing, does not come to an end.
        object.is_no_memory()
    }

    /// Whether it is the callee's own copy of an argument.
    pub fn is_copy(&self, object: Value<'m>) -> bool {
        let parameter = object.as_parameter();
        parameter.is_some_and(|(function, i)| function.attribute(At::Parameter(i), self.byval).is_some())
    }

    /// Whether it is a pointer to a table of virtual functions, as C++ compilers mark the loads of such. (The load of the
    /// pointer itself is one from an object, and is checked.)
    fn is_virtual_table(&self, object: Value<'m>) -> bool {
        let first = |node: Value<'m>| node.metadata_operands().first().copied();
        object.opcode() == Some(Opcode::LLVMLoad)
            && object
                .metadata(self.tbaa)
                .and_then(first)
                .and_then(first)
                .and_then(Value::metadata_string)
                == Some(b"vtable pointer")
    }

    /// Whether the address of an object may get to where others find it.
    pub fn is_captured(&mut self, object: Value<'m>) -> bool {
        if let Some(&known) = self.captured.get(&object) {
            return known;
        }
        let captured = !self.follow(object, STEPS, |_, _, used| used != Use::Leaves);
        self.captured.insert(object, captured);
        captured
    }

    /// Follows all uses of an object, and of the pointers made from it, `most` of them at the most. `visit` is told the pointer, its user and
    /// what that does with it, and says whether to go on. False if it did not, or if there are more pointers.
    pub fn follow(
        &self,
        object: Value<'m>,
        most: usize,
        mut visit: impl FnMut(Value<'m>, Value<'m>, Use) -> bool,
    ) -> bool {
        let mut seen = HashSet::from([object]);
        let mut todo = vec![object];
        while let Some(pointer) = todo.pop() {
            for user in pointer.users() {
                let used = self.use_of(pointer, user);
                if used == Use::Becomes && seen.insert(user) {
                    todo.push(user);
                }
                if seen.len() > most || !visit(pointer, user, used) {
                    return false;
                }
            }
        }
        true
    }

    /// What an instruction or a constant does with an address.
    pub fn use_of(&self, pointer: Value<'m>, user: Value<'m>) -> Use {
        use Opcode::*;
        let Some(opcode) = user.opcode().or_else(|| user.constant_opcode()) else {
            return Use::Leaves;
        };
        match opcode {
            LLVMLoad | LLVMICmp => Use::Stays,
            // As the address it stays; as the value it leaves.
            LLVMStore => Use::leaves_if(user.operand(0) == pointer),
            LLVMAtomicRMW => Use::leaves_if(user.operand(1) == pointer),
            LLVMAtomicCmpXchg => Use::leaves_if(user.operand(1) == pointer || user.operand(2) == pointer),
            LLVMGetElementPtr | LLVMBitCast | LLVMAddrSpaceCast | LLVMPHI | LLVMSelect | LLVMFreeze => {
                Use::Becomes
            }
            LLVMCall | LLVMInvoke => self.use_in_call(pointer, user),
            _ => Use::Leaves,
        }
    }

    fn use_in_call(&self, pointer: Value<'m>, call: Value<'m>) -> Use {
        let callee = call.callee();
        if let Some(name) = callee.intrinsic() {
            match name {
                "llvm.lifetime.start"
                | "llvm.lifetime.end"
                | "llvm.invariant.start"
                | "llvm.invariant.end"
                | "llvm.assume"
                | "llvm.objectsize"
                | "llvm.prefetch" => return Use::Stays,
                "llvm.memcpy"
                | "llvm.memcpy.inline"
                | "llvm.memmove"
                | "llvm.memset"
                | "llvm.memset.inline"
                | "llvm.memcpy.element.unordered.atomic"
                | "llvm.memmove.element.unordered.atomic"
                | "llvm.memset.element.unordered.atomic" => return Use::Stays,
                "llvm.masked.load" => return Use::Stays,
                "llvm.masked.store" => return Use::leaves_if(call.operand(0) == pointer),
                "llvm.launder.invariant.group"
                | "llvm.strip.invariant.group"
                | "llvm.ptrmask"
                | "llvm.threadlocal.address" => return Use::Becomes,
                _ => {}
            }
        }
        if callee == pointer || call.has_bundles() {
            return Use::Leaves;
        }
        if callee.is_function() && callee.is_declaration() && is_release(callee.name()) {
            return Use::Stays;
        }
        // `captures(none)`: no copy of the address outlives the call. What the callee does with it before it returns is
        // checked there, and comes before all that we do after the call.
        let leaves = call.arguments().enumerate().any(|(i, argument)| {
            let at = At::Parameter(i as u32);
            argument == pointer
                && call.call_attribute(at, self.captures) != Some(0)
                && call.call_attribute(at, self.byval).is_none()
                && !(is_plain_call(call) && !callee.is_local() && self.facts.forgets(callee.name(), i as u32))
        });
        Use::leaves_if(leaves)
    }

    /// Where a variable may be written; none if its address gets where we do not see it.
    pub fn writes(&self, global: Value<'m>) -> Option<Vec<Value<'m>>> {
        let mut writes = Vec::new();
        let seen = self.follow(global, GLOBAL_STEPS, |pointer, user, used| {
            if used == Use::Stays && may_write(pointer, user) {
                writes.push(user);
            }
            used != Use::Leaves
        });
        seen.then_some(writes)
    }

    /// What a function does with a parameter, or with memory of its own, where `numbers` are those of functions and other names of the module.
    pub fn parameter(&self, parameter: Value<'m>, numbers: &HashMap<Value<'m>, u32>) -> Parameter {
        let mut given = Vec::new();
        let follows = parameter.ty().is_plain_pointer()
            && self.follow(parameter, STEPS, |pointer, user, used| {
                used != Use::Leaves
                    || self.handed(pointer, user, numbers).is_some_and(|to| {
                        given.extend(to);
                        true
                    })
            });
        if !follows {
            given.clear();
        }
        given.sort_unstable();
        given.dedup();
        Parameter {
            kept: !follows,
            given,
        }
    }

    /// The functions that a call hands an address to, and as which parameters, if that is all it does with it.
    fn handed(
        &self,
        pointer: Value<'m>,
        call: Value<'m>,
        numbers: &HashMap<Value<'m>, u32>,
    ) -> Option<Vec<(u32, u32)>> {
        let invoked = matches!(call.opcode(), Some(Opcode::LLVMCall | Opcode::LLVMInvoke));
        if !invoked || !is_plain_call(call) || call.has_bundles() {
            return None;
        }
        let number = *numbers.get(&call.callee())?;
        let fixed = call.callee().parameters().len();
        let given = call
            .arguments()
            .enumerate()
            .filter(|(_, argument)| *argument == pointer);
        given
            .map(|(i, _)| (i < fixed).then_some((number, i as u32)))
            .collect()
    }
}

/// Whether an instruction that does not keep this address may write there.
pub fn may_write<'m>(pointer: Value<'m>, user: Value<'m>) -> bool {
    match user.opcode() {
        Some(Opcode::LLVMLoad | Opcode::LLVMICmp) => false,
        Some(Opcode::LLVMCall | Opcode::LLVMInvoke) => {
            let copies = user
                .callee()
                .intrinsic()
                .is_some_and(|name| name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove"));
            if copies {
                return user.operand(0) == pointer;
            }
            let readonly = ["readonly", "readnone"].map(attribute_kind);
            user.arguments().enumerate().any(|(i, argument)| {
                let only_read = |kind: &u32| user.call_attribute(At::Parameter(i as u32), *kind).is_some();
                argument == pointer && !readonly.iter().any(only_read)
            })
        }
        _ => true,
    }
}

/// Whether it calls a function as what that is.
fn is_plain_call(call: Value<'_>) -> bool {
    let callee = call.callee();
    callee.is_function() && callee.function_type() == call.called_type()
}

/// Whether a function gives memory back. Not everyone says of them that they keep nothing.
fn is_release(name: &str) -> bool {
    matches!(name, "free" | "realloc")
        || name.starts_with("_ZdlPv")
        || name.starts_with("_ZdaPv")
        || name.ends_with("__rust_dealloc")
        || name.ends_with("__rust_realloc")
}

/// What a use does with an address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is used and gone.
    Stays,
    /// The user is another pointer to the same object.
    Becomes,
    /// It gets where we do not see it.
    Leaves,
}

impl Use {
    fn leaves_if(condition: bool) -> Use {
        if condition { Use::Leaves } else { Use::Stays }
    }
}

/// The objects that an address may point into; `None` if there are too many steps to them.
pub fn underlying_objects<'m>(pointer: Value<'m>) -> Option<Vec<Value<'m>>> {
    use Opcode::*;
    let mut seen = HashSet::from([pointer]);
    let mut todo = vec![pointer];
    let mut objects = Vec::new();
    while let Some(value) = todo.pop() {
        let mut step = |to: Value<'m>| {
            if seen.insert(to) {
                todo.push(to);
            }
        };
        match value.opcode().or_else(|| value.constant_opcode()) {
            Some(LLVMGetElementPtr | LLVMBitCast | LLVMAddrSpaceCast | LLVMFreeze) => {
                step(value.operand(0));
            }
            Some(LLVMSelect) => {
                step(value.operand(1));
                step(value.operand(2));
            }
            Some(LLVMPHI) => value.incoming().for_each(step),
            Some(LLVMCall)
                if matches!(
                    value.callee().intrinsic(),
                    Some(
                        "llvm.launder.invariant.group"
                            | "llvm.strip.invariant.group"
                            | "llvm.ptrmask"
                            | "llvm.threadlocal.address"
                    )
                ) =>
            {
                step(value.operand(0));
            }
            _ => objects.push(value),
        }
        if seen.len() > STEPS {
            return None;
        }
    }
    Some(objects)
}
