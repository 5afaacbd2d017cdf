//! Loads and stores that the runtime makes, in programs that are built to be recorded: access, order and value are one step. In others
//! it makes atomic loads: it may have to look again (`runtime/src/loads.rs`).
//!
//! Vectors and other values of several words are made in pieces of 16 bytes, as LLVM may do with them as well: none of them is an
//! atomic access.

use super::accesses::Atomic;
use super::builder::Builder;
use super::ir::{Ir, Opcode, Type, Value, attribute_kind, llvm};
use deadheat_abi::atomics::What;
use deadheat_abi::hooks;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::{LLVMInstructionEraseFromParent, LLVMReplaceAllUsesWith};
use llvm_sys::target::{LLVMSizeOfTypeInBits, LLVMTargetDataRef};

/// The most words of a value that is made in pieces: those of the widest registers.
const WORDS: u64 = 8;

/// Whether the runtime can make this access of so many bytes: its value fits into a number, or some.
pub fn can(at: Value<'_>, bytes: u64, layout: LLVMTargetDataRef) -> bool {
    let ty = match at.opcode() {
        Some(Opcode::LLVMLoad) => at.ty(),
        Some(Opcode::LLVMStore) => at.operand(0).ty(),
        _ => return false,
    };
    match bytes {
        1 | 2 | 4 | 8 => ty.integer_bits().is_some() || fits(ty, bytes, layout),
        _ => bytes.is_multiple_of(8) && bytes / 8 <= WORDS && fits(ty, bytes, layout),
    }
}

/// Whether all bits of a value of the type are those of a number of so many bytes.
fn fits(ty: Type<'_>, bytes: u64, layout: LLVMTargetDataRef) -> bool {
    let plain = match ty.vector() {
        Some((_, element)) => element.integer_bits().is_some() || is_float(element),
        None => is_float(ty) || ty.is_plain_pointer() || ty.integer_bits().is_some(),
    };
    plain && llvm!(LLVMSizeOfTypeInBits(layout, ty.raw())) == 8 * bytes
}

/// A floating-point number.
pub fn is_float(ty: Type<'_>) -> bool {
    use LLVMTypeKind::{LLVMBFloatTypeKind, LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMHalfTypeKind};
    matches!(
        ty.kind(),
        LLVMHalfTypeKind | LLVMBFloatTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind
    )
}

/// Puts a call of the runtime in the place of a load or store that it [`can`] make.
pub fn replace<'m>(ir: Ir<'m>, builder: &Builder<'m>, at: Value<'m>, bytes: u64) {
    if bytes > 8 {
        return replace_words(ir, builder, at, bytes / 8);
    }
    let (word, number) = (ir.integer(64), ir.integer(8 * bytes as u32));
    let name = |table: [(u32, &'static str); 4]| {
        table
            .iter()
            .find(|row| u64::from(row.0) == bytes)
            .map(|row| row.1)
    };
    builder.before(at);
    if at.opcode() == Some(Opcode::LLVMStore) {
        let Some(name) = name(hooks::STORE) else { return };
        let (value, pointer) = (at.operand(0), at.operand(1));
        let value = match value.ty() {
            ty if ty.is_plain_pointer() => builder.address(value),
            ty if ty.integer_bits().is_some() => builder.widen(value),
            _ => builder.widen(builder.reinterpret(value, number)),
        };
        let ty = ir.function_type(ir.void(), &[ir.pointer(), word]);
        builder.call(declare(ir, name, ty), ty, &[pointer, value]);
    } else {
        let Some(name) = name(hooks::LOAD) else { return };
        let ty = ir.function_type(word, &[ir.pointer()]);
        let loaded = builder.call(declare(ir, name, ty), ty, &[at.operand(0)]);
        return stand_for(builder, at, loaded, number);
    }
    // It is not looked at again.
    llvm!(LLVMInstructionEraseFromParent(at.raw()));
}

/// Puts what the runtime has loaded, a word of which `number` is the part that counts, in the place of a load.
fn stand_for<'m>(builder: &Builder<'m>, at: Value<'m>, loaded: Value<'m>, number: Type<'m>) {
    let value = match at.ty() {
        ty if ty.is_plain_pointer() => builder.pointer(loaded, ty),
        ty if ty.integer_bits().is_some() => builder.narrow(loaded, ty),
        ty => builder.reinterpret(builder.narrow(loaded, number), ty),
    };
    llvm!(LLVMReplaceAllUsesWith(at.raw(), value.raw()));
    // Nobody uses it now, and it is not looked at again.
    llvm!(LLVMInstructionEraseFromParent(at.raw()));
}

/// The same for a value of so many words: two of them at a time.
fn replace_words<'m>(ir: Ir<'m>, builder: &Builder<'m>, at: Value<'m>, words: u64) {
    let word = ir.integer(64);
    let vector = ir.integer_vector(64, words as u32);
    let pairs = (0..words as u32)
        .step_by(2)
        .map(|first| (first, u64::from(first + 1) < words));
    builder.before(at);
    if at.opcode() == Some(Opcode::LLVMStore) {
        let (value, pointer) = (builder.reinterpret(at.operand(0), vector), at.operand(1));
        for (first, pair) in pairs {
            let place = builder.offset(pointer, 8 * u64::from(first));
            let mut arguments = vec![place, builder.element(value, first)];
            let mut types = vec![ir.pointer(), word];
            let mut name = hooks::STORE[3].1;
            if pair {
                arguments.push(builder.element(value, first + 1));
                types.push(word);
                name = hooks::STORE16;
            }
            let ty = ir.function_type(ir.void(), &types);
            builder.call(declare(ir, name, ty), ty, &arguments);
        }
    } else {
        let mut value = vector.anything();
        for (first, pair) in pairs {
            let place = builder.offset(at.operand(0), 8 * u64::from(first));
            if pair {
                let ty = ir.function_type(ir.structure(&[word, word]), &[ir.pointer()]);
                let both = builder.call(declare(ir, hooks::LOAD16, ty), ty, &[place]);
                for index in 0..2 {
                    value = builder.with_element(value, builder.member(both, index), first + index);
                }
            } else {
                let ty = ir.function_type(word, &[ir.pointer()]);
                let loaded = builder.call(declare(ir, hooks::LOAD[3].1, ty), ty, &[place]);
                value = builder.with_element(value, loaded, first);
            }
        }
        let value = builder.reinterpret(value, at.ty());
        llvm!(LLVMReplaceAllUsesWith(at.raw(), value.raw()));
    }
    // As above.
    llvm!(LLVMInstructionEraseFromParent(at.raw()));
}

/// Whether the runtime can make this atomic operation: a load of a word or less.
pub fn can_atomic(at: Value<'_>, atomic: &Atomic<'_>, layout: LLVMTargetDataRef) -> bool {
    let bytes = atomic.what.size.into();
    at.opcode() == Some(Opcode::LLVMLoad) && bytes <= 8 && at.alignment() >= bytes && can(at, bytes, layout)
}

/// Puts a call of the runtime in the place of an atomic load that it [`can_atomic`]. The builder stands before it.
pub fn replace_atomic<'m>(ir: Ir<'m>, builder: &Builder<'m>, at: Value<'m>, what: What, context: Value<'m>) {
    let word = ir.integer(64);
    let ty = ir.function_type(word, &[ir.pointer(), ir.integer(32), word]);
    // Of the instruction: where it loads from may be the result of one that was replaced.
    let arguments = [at.operand(0), ir.small(what.pack()), context];
    let loaded = builder.call(declare(ir, hooks::ATOMIC_LOAD, ty), ty, &arguments);
    stand_for(builder, at, loaded, ir.integer(8 * u32::from(what.size)));
}

/// The runtime's function. Calls from different lines stay apart, for where it returns to is what is recorded.
fn declare<'m>(ir: Ir<'m>, name: &str, ty: Type<'m>) -> Value<'m> {
    let function = ir.declare(name, ty);
    for attribute in ["nomerge", "nounwind", "nonlazybind"] {
        ir.add(function, attribute_kind(attribute), 0);
    }
    function
}
