//! Loads and stores that the runtime makes, in programs that are built to be recorded: access, order and value are one step.

use super::builder::Builder;
use super::ir::{Ir, Opcode, Type, Value, attribute_kind, llvm};
use deadheat_abi::hooks;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::{LLVMInstructionEraseFromParent, LLVMReplaceAllUsesWith};
use llvm_sys::target::{LLVMSizeOfTypeInBits, LLVMTargetDataRef};

/// Whether the runtime can make this access of so many bytes: its value fits into a number.
pub fn can(at: Value<'_>, bytes: u64, layout: LLVMTargetDataRef) -> bool {
    let ty = match at.opcode() {
        Some(Opcode::LLVMLoad) => at.ty(),
        Some(Opcode::LLVMStore) => at.operand(0).ty(),
        _ => return false,
    };
    matches!(bytes, 1 | 2 | 4 | 8) && (ty.integer_bits().is_some() || fits(ty, bytes, layout))
}

/// Whether all bits of a value of the type are those of a number of so many bytes.
fn fits(ty: Type<'_>, bytes: u64, layout: LLVMTargetDataRef) -> bool {
    let plain = match ty.vector() {
        Some((_, element)) => element.integer_bits().is_some() || is_float(element),
        None => is_float(ty) || ty.is_plain_pointer(),
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
        let value = match at.ty() {
            ty if ty.is_plain_pointer() => builder.pointer(loaded, ty),
            ty if ty.integer_bits().is_some() => builder.narrow(loaded, ty),
            ty => builder.reinterpret(builder.narrow(loaded, number), ty),
        };
        llvm!(LLVMReplaceAllUsesWith(at.raw(), value.raw()));
    }
    // Nobody uses it now, and it is not looked at again.
    llvm!(LLVMInstructionEraseFromParent(at.raw()));
}

/// The runtime's function. Calls from different lines stay apart, for where it returns to is what is recorded.
fn declare<'m>(ir: Ir<'m>, name: &str, ty: Type<'m>) -> Value<'m> {
    let function = ir.declare(name, ty);
    for attribute in ["nomerge", "nounwind", "nonlazybind"] {
        ir.add(function, attribute_kind(attribute), 0);
    }
    function
}
