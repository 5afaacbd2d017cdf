//! Puts new instructions into a function.

use super::ir::{Block, Ir, Type, Value, llvm};
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMInlineAsmDialect, LLVMIntPredicate};
use std::ffi::c_uint;
use std::ptr::null_mut;

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

/// A place in a function, and what can be built there. What is built has the source line of the instruction there.
pub struct Builder<'m> {
    raw: LLVMBuilderRef,
    ir: Ir<'m>,
}

impl<'m> Builder<'m> {
    /// A builder without a place yet.
    pub fn new(ir: Ir<'m>) -> Self {
        Builder {
            raw: llvm!(LLVMCreateBuilderInContext(ir.raw_context())),
            ir,
        }
    }

    /// Builds before an instruction from now on.
    pub fn before(&self, instruction: Value<'m>) {
        assert!(instruction.opcode().is_some());
        llvm!(LLVMPositionBuilderBefore(self.raw, instruction.raw()));
        self.with_line_of(instruction);
    }

    /// Builds after an instruction that does not end its block, with the source line of that instruction.
    pub fn after(&self, instruction: Value<'m>) {
        assert!(instruction.opcode().is_some());
        let next = Value::some(llvm!(LLVMGetNextInstruction(instruction.raw())));
        self.before(next);
        self.with_line_of(instruction);
    }

    /// What is built from now on has the source line of an instruction.
    pub fn with_line_of(&self, instruction: Value<'m>) {
        let line = llvm!(LLVMInstructionGetDebugLoc(instruction.raw()));
        llvm!(LLVMSetCurrentDebugLocation2(self.raw, line));
    }

    /// What is built from now on has this source line.
    pub fn with_line(&self, location: LLVMMetadataRef) {
        llvm!(LLVMSetCurrentDebugLocation2(self.raw, location));
    }

    /// What is built from now on has no source line: it belongs to the function as a whole.
    pub fn without_line(&self) {
        llvm!(LLVMSetCurrentDebugLocation2(self.raw, null_mut()));
    }

    /// Takes an instruction from where it is and puts it here.
    pub fn take_here(&self, instruction: Value<'m>) {
        assert!(instruction.opcode().is_some());
        llvm!(LLVMInstructionRemoveFromParent(instruction.raw()));
        llvm!(LLVMInsertIntoBuilder(self.raw, instruction.raw()));
    }

    /// A call.
    pub fn call(&self, function: Value<'m>, ty: Type<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<_> = arguments.iter().map(|value| value.raw()).collect();
        let count = raw.len() as c_uint;
        Value::some(llvm!(LLVMBuildCall2(
            self.raw,
            ty.raw(),
            function.raw(),
            raw.as_mut_ptr(),
            count,
            NO_NAME
        )))
    }

    /// An instruction that does nothing, of these bytes.
    pub fn mark(&self, bytes: &[u8]) {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
        let text = format!(".byte {}", bytes.join(","));
        let ty = self.ir.function_type(self.ir.void(), &[]);
        let assembly = llvm!(LLVMGetInlineAsm(
            ty.raw(),
            text.as_ptr().cast(),
            text.len(),
            NO_NAME,
            0,
            1,
            0,
            LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
            0
        ));
        self.call(Value::some(assembly), ty, &[]);
    }

    /// A call of a hook that keeps registers (`preserve_most`).
    pub fn call_preserving(&self, function: Value<'m>, ty: Type<'m>, arguments: &[Value<'m>]) {
        const PRESERVE_MOST: c_uint = 14;
        llvm!(LLVMSetFunctionCallConv(function.raw(), PRESERVE_MOST));
        let call = self.call(function, ty, arguments);
        llvm!(LLVMSetInstructionCallConv(call.raw(), PRESERVE_MOST));
    }

    /// The address so many bytes behind another.
    pub fn offset(&self, pointer: Value<'m>, bytes: u64) -> Value<'m> {
        if bytes == 0 {
            return pointer;
        }
        self.offset_by(pointer, self.ir.number(bytes))
    }

    /// A variable of so many words, which lives as long as the function if it is made in its first block.
    pub fn local(&self, words: u64) -> Value<'m> {
        let ty = llvm!(LLVMArrayType2(self.ir.integer(64).raw(), words));
        Value::some(llvm!(LLVMBuildAlloca(self.raw, ty, NO_NAME)))
    }

    /// A load of 64 bits.
    pub fn load(&self, pointer: Value<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildLoad2(
            self.raw,
            self.ir.integer(64).raw(),
            pointer.raw(),
            NO_NAME
        )))
    }

    /// A load of the same as another one.
    pub fn load_like(&self, load: Value<'m>) -> Value<'m> {
        let (ty, pointer) = (load.ty(), load.operand(0));
        let new = llvm!(LLVMBuildLoad2(self.raw, ty.raw(), pointer.raw(), NO_NAME));
        llvm!(LLVMSetAlignment(new, load.alignment() as c_uint));
        Value::some(new)
    }

    /// A store.
    pub fn store(&self, value: Value<'m>, pointer: Value<'m>) {
        llvm!(LLVMBuildStore(self.raw, value.raw(), pointer.raw()));
    }

    /// An address as a number.
    pub fn address(&self, pointer: Value<'m>) -> Value<'m> {
        let ty = self.ir.integer(64).raw();
        Value::some(llvm!(LLVMBuildPtrToInt(self.raw, pointer.raw(), ty, NO_NAME)))
    }

    /// A ^ b.
    pub fn xor(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildXor(self.raw, a.raw(), b.raw(), NO_NAME)))
    }

    /// A & b.
    pub fn and(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildAnd(self.raw, a.raw(), b.raw(), NO_NAME)))
    }

    /// A | b.
    pub fn or(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildOr(self.raw, a.raw(), b.raw(), NO_NAME)))
    }

    /// All bits the other way round.
    pub fn not(&self, a: Value<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildNot(self.raw, a.raw(), NO_NAME)))
    }

    /// A * b, wrapping.
    pub fn multiply(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildMul(self.raw, a.raw(), b.raw(), NO_NAME)))
    }

    /// A + b, wrapping.
    pub fn add(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildAdd(self.raw, a.raw(), b.raw(), NO_NAME)))
    }

    /// A - b, wrapping.
    pub fn subtract(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildSub(self.raw, a.raw(), b.raw(), NO_NAME)))
    }

    /// A / b, unsigned, where nothing is left over.
    pub fn divide(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildExactUDiv(self.raw, a.raw(), b.raw(), NO_NAME)))
    }

    /// One number for each block that a block may come from, at its beginning. Then the builder is behind it.
    pub fn choice(&self, block: Block<'m>, numbers: &[(Value<'m>, Block<'m>)]) -> Value<'m> {
        let first = block.instructions().next().expect("a block has an end");
        // No debug record may come before it.
        llvm!(LLVMPositionBuilderBeforeInstrAndDbgRecords(self.raw, first.raw()));
        self.without_line();
        let phi = llvm!(LLVMBuildPhi(self.raw, self.ir.integer(64).raw(), NO_NAME));
        for (number, from) in numbers {
            let (mut value, mut from) = (number.raw(), from.raw());
            llvm!(LLVMAddIncoming(phi, &raw mut value, &raw mut from, 1));
        }
        Value::some(phi)
    }

    /// A < b, unsigned.
    pub fn below(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildICmp(
            self.raw,
            LLVMIntPredicate::LLVMIntULT,
            a.raw(),
            b.raw(),
            NO_NAME
        )))
    }

    /// Which elements of a vector of integers are below zero.
    pub fn negative(&self, vector: Value<'m>) -> Value<'m> {
        let zero = llvm!(LLVMConstNull(vector.ty().raw()));
        Value::some(llvm!(LLVMBuildICmp(
            self.raw,
            LLVMIntPredicate::LLVMIntSLT,
            vector.raw(),
            zero,
            NO_NAME
        )))
    }

    /// The address a number of bytes behind another.
    pub fn offset_by(&self, pointer: Value<'m>, bytes: Value<'m>) -> Value<'m> {
        let mut index = bytes.raw();
        let byte = self.ir.integer(8).raw();
        Value::some(llvm!(LLVMBuildGEP2(
            self.raw,
            byte,
            pointer.raw(),
            &raw mut index,
            1,
            NO_NAME
        )))
    }

    /// The signed value as a number of 64 bits.
    pub fn widen_signed(&self, value: Value<'m>) -> Value<'m> {
        let ty = self.ir.integer(64).raw();
        Value::some(llvm!(LLVMBuildSExtOrBitCast(self.raw, value.raw(), ty, NO_NAME)))
    }

    /// The value as a number of 64 bits.
    pub fn widen(&self, value: Value<'m>) -> Value<'m> {
        let ty = self.ir.integer(64).raw();
        Value::some(llvm!(LLVMBuildZExtOrBitCast(self.raw, value.raw(), ty, NO_NAME)))
    }

    /// The low bits of a number of 64.
    pub fn narrow(&self, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildTruncOrBitCast(
            self.raw,
            value.raw(),
            ty.raw(),
            NO_NAME
        )))
    }

    /// A number as an address.
    pub fn pointer(&self, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildIntToPtr(self.raw, value.raw(), ty.raw(), NO_NAME)))
    }

    /// One or the other.
    pub fn select(&self, condition: Value<'m>, yes: Value<'m>, no: Value<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildSelect(
            self.raw,
            condition.raw(),
            yes.raw(),
            no.raw(),
            NO_NAME
        )))
    }

    /// A value, or any other if it has none.
    pub fn frozen(&self, value: Value<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildFreeze(self.raw, value.raw(), NO_NAME)))
    }

    /// A member of a struct.
    pub fn member(&self, value: Value<'m>, index: u32) -> Value<'m> {
        Value::some(llvm!(LLVMBuildExtractValue(
            self.raw,
            value.raw(),
            index,
            NO_NAME
        )))
    }

    /// An element of a vector.
    pub fn element(&self, vector: Value<'m>, index: u32) -> Value<'m> {
        let index = self.ir.small(index).raw();
        Value::some(llvm!(LLVMBuildExtractElement(
            self.raw,
            vector.raw(),
            index,
            NO_NAME
        )))
    }

    /// The vector with another element there.
    pub fn with_element(&self, vector: Value<'m>, element: Value<'m>, index: u32) -> Value<'m> {
        let index = self.ir.small(index).raw();
        Value::some(llvm!(LLVMBuildInsertElement(
            self.raw,
            vector.raw(),
            element.raw(),
            index,
            NO_NAME
        )))
    }

    /// A value of as many bits, of another type.
    pub fn reinterpret(&self, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        Value::some(llvm!(LLVMBuildBitCast(self.raw, value.raw(), ty.raw(), NO_NAME)))
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        llvm!(LLVMDisposeBuilder(self.raw));
    }
}
