//! Handles on values, blocks and types of a module, and a builder: LLVM's C interface as far as the pass needs it.
//!
//! A handle is a pointer into the module and lives no longer than it (`'m`). Methods that are defined for one kind of
//! value only ask for the kind first.

use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMOffsetOfElement, LLVMStoreSizeOfType, LLVMTargetDataRef};
use llvm_sys::{LLVMLinkage, LLVMTailCallKind, LLVMTypeKind};
use std::ffi::{CStr, CString, c_char, c_uint};
use std::marker::PhantomData;

mod module;

pub use llvm_sys::LLVMAtomicOrdering as Order;
pub use llvm_sys::LLVMOpcode as Opcode;
pub use module::Ir;

/// Calls LLVM.
macro_rules! llvm {
    ($call:expr) => {{
        // SAFETY: handles are made from non-null pointers that LLVM gave out for a module that `'m` keeps in place, and
        // the method around this has asked for the kind of value that the function is defined for.
        unsafe { $call }
    }};
}

pub(super) use llvm;

/// Where attributes are: LLVM numbers the function, the return value and the parameters.
#[derive(Clone, Copy)]
pub enum At {
    /// The function itself.
    Function,
    /// A parameter, counted from 0.
    Parameter(u32),
}

impl At {
    fn index(self) -> c_uint {
        match self {
            At::Function => c_uint::MAX,
            At::Parameter(i) => i + 1,
        }
    }
}

/// The number of an attribute that LLVM knows by name.
pub fn attribute_kind(name: &str) -> u32 {
    let kind = llvm!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()));
    assert_ne!(kind, 0, "LLVM has no attribute {name}");
    kind
}

/// A value: constant, global, argument or instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value<'m>(LLVMValueRef, PhantomData<&'m ()>);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block<'m>(LLVMBasicBlockRef, PhantomData<&'m ()>);

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type<'m>(LLVMTypeRef, PhantomData<&'m ()>);

impl<'m> Type<'m> {
    fn new(raw: LLVMTypeRef) -> Self {
        assert!(!raw.is_null());
        Type(raw, PhantomData)
    }

    /// LLVM's own.
    pub(super) fn raw(self) -> LLVMTypeRef {
        self.0
    }

    /// Its kind.
    pub fn kind(self) -> LLVMTypeKind {
        llvm!(LLVMGetTypeKind(self.0))
    }

    /// Whether it is a pointer to memory as programs have it; others are relative to a segment or belong to devices.
    /// A vector of such counts as well.
    pub fn is_plain_pointer(self) -> bool {
        let ty = self.vector().map_or(self, |(_, element)| element);
        ty.kind() == LLVMTypeKind::LLVMPointerTypeKind && llvm!(LLVMGetPointerAddressSpace(ty.0)) == 0
    }

    /// Bits, if it is an integer.
    pub fn integer_bits(self) -> Option<u32> {
        (self.kind() == LLVMTypeKind::LLVMIntegerTypeKind).then(|| llvm!(LLVMGetIntTypeWidth(self.0)))
    }

    /// A value of the type of which nothing is said.
    pub fn anything(self) -> Value<'m> {
        Value::some(llvm!(LLVMGetPoison(self.0)))
    }

    /// Elements and their type, if it is a vector of known length.
    pub fn vector(self) -> Option<(u32, Type<'m>)> {
        (self.kind() == LLVMTypeKind::LLVMVectorTypeKind).then(|| {
            (
                llvm!(LLVMGetVectorSize(self.0)),
                Type::new(llvm!(LLVMGetElementType(self.0))),
            )
        })
    }

    /// Bytes that a store of it writes.
    pub fn store_size(self, layout: LLVMTargetDataRef) -> u64 {
        llvm!(LLVMStoreSizeOfType(layout, self.0))
    }

    /// Bytes from one to the next in an array.
    pub fn stride(self, layout: LLVMTargetDataRef) -> u64 {
        llvm!(LLVMABISizeOfType(layout, self.0))
    }

    /// The type of an element, if it is an array.
    pub fn array(self) -> Option<Type<'m>> {
        (self.kind() == LLVMTypeKind::LLVMArrayTypeKind).then(|| Type::new(llvm!(LLVMGetElementType(self.0))))
    }

    /// Type and place of a member, if it is a struct that has it.
    pub fn member(self, index: u64, layout: LLVMTargetDataRef) -> Option<(Type<'m>, u64)> {
        let is_struct = self.kind() == LLVMTypeKind::LLVMStructTypeKind;
        if !is_struct || index >= llvm!(LLVMCountStructElementTypes(self.0)).into() {
            return None;
        }
        let index = index as c_uint;
        Some((
            Type::new(llvm!(LLVMStructGetTypeAtIndex(self.0, index))),
            llvm!(LLVMOffsetOfElement(layout, self.0, index)),
        ))
    }

    /// Return and parameter types and whether more arguments may follow, if it is a function's.
    pub fn function(self) -> Option<(Type<'m>, Vec<Type<'m>>, bool)> {
        if self.kind() != LLVMTypeKind::LLVMFunctionTypeKind {
            return None;
        }
        let count = llvm!(LLVMCountParamTypes(self.0));
        let mut raw = vec![std::ptr::null_mut(); count as usize];
        llvm!(LLVMGetParamTypes(self.0, raw.as_mut_ptr()));
        Some((
            Type::new(llvm!(LLVMGetReturnType(self.0))),
            raw.into_iter().map(Type::new).collect(),
            llvm!(LLVMIsFunctionVarArg(self.0)) != 0,
        ))
    }
}

impl<'m> Block<'m> {
    fn new(raw: LLVMBasicBlockRef) -> Option<Self> {
        (!raw.is_null()).then_some(Block(raw, PhantomData))
    }

    /// LLVM's own.
    pub(super) fn raw(self) -> LLVMBasicBlockRef {
        self.0
    }

    /// Its instructions. The iterator steps before it yields, so that the yielded one may be moved.
    pub fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        let mut next = Value::new(llvm!(LLVMGetFirstInstruction(self.0)));
        std::iter::from_fn(move || {
            let this = next?;
            next = Value::new(llvm!(LLVMGetNextInstruction(this.0)));
            Some(this)
        })
    }

    /// Its last instruction.
    pub fn terminator(self) -> Value<'m> {
        Value::some(llvm!(LLVMGetBasicBlockTerminator(self.0)))
    }

    /// Whether only one instruction leads here.
    pub fn has_one_entry(self) -> bool {
        let first = llvm!(LLVMGetFirstUse(LLVMBasicBlockAsValue(self.0)));
        !first.is_null() && llvm!(LLVMGetNextUse(first)).is_null()
    }

    /// Its first instruction that need not be where it is: no phi, no landing pad.
    pub fn first_real(self) -> Value<'m> {
        let fixed = [Some(Opcode::LLVMPHI), Some(Opcode::LLVMLandingPad)];
        self.instructions()
            .find(|at| !fixed.contains(&at.opcode()))
            .expect("a block ends with an instruction that is no phi")
    }
}

impl<'m> Value<'m> {
    /// LLVM's own.
    pub(super) fn raw(self) -> LLVMValueRef {
        self.0
    }

    pub(super) fn new(raw: LLVMValueRef) -> Option<Self> {
        (!raw.is_null()).then_some(Value(raw, PhantomData))
    }

    pub(super) fn some(raw: LLVMValueRef) -> Self {
        Value::new(raw).expect("LLVM gives a value here")
    }

    /// Its type.
    pub fn ty(self) -> Type<'m> {
        Type::new(llvm!(LLVMTypeOf(self.0)))
    }

    /// Its name; empty if it has none.
    pub fn name(self) -> &'m str {
        let mut len = 0;
        let start = llvm!(LLVMGetValueName2(self.0, &raw mut len));
        // Names that are no text are none that we know.
        std::str::from_utf8(llvm!(std::slice::from_raw_parts(start.cast(), len))).unwrap_or_default()
    }

    /// The kind of instruction, if it is one.
    pub fn opcode(self) -> Option<Opcode> {
        (!llvm!(LLVMIsAInstruction(self.0)).is_null()).then(|| llvm!(LLVMGetInstructionOpcode(self.0)))
    }

    /// The same of a constant expression.
    pub fn constant_opcode(self) -> Option<Opcode> {
        (!llvm!(LLVMIsAConstantExpr(self.0)).is_null()).then(|| llvm!(LLVMGetConstOpcode(self.0)))
    }

    /// Its operands; none if it is not a user of others.
    pub fn operands(self) -> impl Iterator<Item = Value<'m>> {
        let count = match llvm!(LLVMIsAUser(self.0)).is_null() {
            true => 0,
            false => llvm!(LLVMGetNumOperands(self.0)) as c_uint,
        };
        // Operands that are null are left out: a function without a personality has such.
        (0..count).filter_map(move |i| Value::new(llvm!(LLVMGetOperand(self.0, i))))
    }

    /// An operand of an instruction or a constant expression.
    pub fn operand(self, index: u32) -> Value<'m> {
        assert!(!llvm!(LLVMIsAUser(self.0)).is_null());
        assert!((index as i32) < llvm!(LLVMGetNumOperands(self.0)));
        Value::some(llvm!(LLVMGetOperand(self.0, index)))
    }

    /// What uses it. One that uses it twice comes twice.
    pub fn users(self) -> impl Iterator<Item = Value<'m>> {
        let mut next = llvm!(LLVMGetFirstUse(self.0));
        std::iter::from_fn(move || {
            if next.is_null() {
                return None;
            }
            let user = Value::some(llvm!(LLVMGetUser(next)));
            next = llvm!(LLVMGetNextUse(next));
            Some(user)
        })
    }

    /// The values a phi may have.
    pub fn incoming(self) -> impl Iterator<Item = Value<'m>> {
        let count = match llvm!(LLVMIsAPHINode(self.0)).is_null() {
            true => 0,
            false => llvm!(LLVMCountIncoming(self.0)),
        };
        (0..count).map(move |i| Value::some(llvm!(LLVMGetIncomingValue(self.0, i))))
    }

    /// The values a phi may have, each with the block that it comes from.
    pub fn incoming_from(self) -> impl Iterator<Item = (Value<'m>, Block<'m>)> {
        let from = move |i| Block::new(llvm!(LLVMGetIncomingBlock(self.0, i)));
        (0..)
            .zip(self.incoming())
            .filter_map(move |(i, value)| Some((value, from(i)?)))
    }

    /// The block of an instruction.
    pub fn block(self) -> Option<Block<'m>> {
        self.opcode()?;
        Block::new(llvm!(LLVMGetInstructionParent(self.0)))
    }

    /// What a branch depends on, if it does.
    pub fn condition(self) -> Option<Value<'m>> {
        let branches = self.opcode() == Some(Opcode::LLVMBr) && llvm!(LLVMIsConditional(self.0)) != 0;
        branches.then(|| Value::some(llvm!(LLVMGetCondition(self.0))))
    }

    /// Where a branch goes: first if its condition holds, then if it does not.
    pub fn successor(self, way: u32) -> Option<Block<'m>> {
        Block::new(llvm!(LLVMGetSuccessor(self.0, way)))
    }

    /// Whether signed arithmetic here never overflows.
    pub fn never_overflows(self) -> bool {
        matches!(
            self.opcode(),
            Some(Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl)
        ) && llvm!(LLVMGetNSW(self.0)) != 0
    }

    /// The same of unsigned arithmetic.
    pub fn never_carries(self) -> bool {
        matches!(
            self.opcode(),
            Some(Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl)
        ) && llvm!(LLVMGetNUW(self.0)) != 0
    }

    /// Which elements of its two vectors a shuffle takes, those of the second counted on from those of the first.
    pub fn shuffled(self) -> impl Iterator<Item = u32> {
        let count = match self.opcode() {
            Some(Opcode::LLVMShuffleVector) => llvm!(LLVMGetNumMaskElements(self.0)),
            _ => 0,
        };
        // One that is below zero stands for any value.
        (0..count).filter_map(move |n| u32::try_from(llvm!(LLVMGetMaskValue(self.0, n))).ok())
    }

    /// Whether it is an address within the object that another address is in.
    pub fn is_inbounds(self) -> bool {
        self.opcode() == Some(Opcode::LLVMGetElementPtr) && llvm!(LLVMIsInBounds(self.0)) != 0
    }

    /// Whether it compares for being the same, or not.
    pub fn is_equality(self) -> bool {
        use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE};
        self.opcode() == Some(Opcode::LLVMICmp)
            && matches!(llvm!(LLVMGetICmpPredicate(self.0)), LLVMIntEQ | LLVMIntNE)
    }

    /// Whether it compares numbers that are not below zero.
    pub fn is_unsigned(self) -> bool {
        use llvm_sys::LLVMIntPredicate::{LLVMIntUGE, LLVMIntUGT, LLVMIntULE, LLVMIntULT};
        self.opcode() == Some(Opcode::LLVMICmp)
            && matches!(
                llvm!(LLVMGetICmpPredicate(self.0)),
                LLVMIntUGE | LLVMIntUGT | LLVMIntULE | LLVMIntULT
            )
    }

    /// Whether an `or` has no bit twice: then it adds.
    pub fn is_disjoint(self) -> bool {
        self.opcode() == Some(Opcode::LLVMOr) && llvm!(LLVMGetIsDisjoint(self.0)) != 0
    }

    /// Whether an extension by zeros is one of a number that is not below zero.
    pub fn is_nonnegative(self) -> bool {
        self.opcode() == Some(Opcode::LLVMZExt) && llvm!(LLVMGetNNeg(self.0)) != 0
    }

    /// Whether a load or a store is volatile or atomic.
    pub fn is_volatile(self) -> bool {
        assert!(matches!(
            self.opcode(),
            Some(Opcode::LLVMLoad | Opcode::LLVMStore)
        ));
        llvm!(LLVMGetVolatile(self.0)) != 0 || llvm!(LLVMIsAtomic(self.0)) != 0
    }

    /// What stands for its source line: the same for the same line and column.
    pub fn line(self) -> usize {
        match self.opcode() {
            Some(_) => llvm!(LLVMInstructionGetDebugLoc(self.0)).addr(),
            None => 0,
        }
    }

    /// Its value, if it is a constant integer of up to 64 bits.
    pub fn constant_integer(self) -> Option<u64> {
        let small = self.ty().integer_bits()? <= 64 && !llvm!(LLVMIsAConstantInt(self.0)).is_null();
        small.then(|| llvm!(LLVMConstIntGetZExtValue(self.0)))
    }

    /// Whether it is known when the program is linked: a number, the address of a variable or function.
    pub fn is_constant(self) -> bool {
        llvm!(LLVMIsConstant(self.0)) != 0
    }

    /// How many bytes a local variable has, if it is one and that is known.
    pub fn local_size(self, layout: LLVMTargetDataRef) -> Option<u64> {
        if self.opcode()? != Opcode::LLVMAlloca {
            return None;
        }
        let count = self.operand(0).constant_integer()?;
        let each = Type::new(llvm!(LLVMGetAllocatedType(self.0))).stride(layout);
        each.checked_mul(count)
    }

    /// Whether an atomic update puts its operand in the place of what was there.
    pub fn is_exchange(self) -> bool {
        let op = llvm!(LLVMGetAtomicRMWBinOp(self.0));
        matches!(op, llvm_sys::LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXchg)
    }

    /// Whether it is null, undefined or poison: no memory is there.
    pub fn is_no_memory(self) -> bool {
        llvm!(LLVMIsNull(self.0)) != 0 || llvm!(LLVMIsUndef(self.0)) != 0 || llvm!(LLVMIsPoison(self.0)) != 0
    }

    /// Whether metadata of this kind is on the instruction.
    pub fn metadata(self, kind: c_uint) -> Option<Value<'m>> {
        match self.opcode() {
            Some(_) => Value::new(llvm!(LLVMGetMetadata(self.0, kind))),
            None => None,
        }
    }

    /// The operands of a metadata node; a missing one is left out.
    pub fn metadata_operands(self) -> Vec<Value<'m>> {
        if llvm!(LLVMIsAMDNode(self.0)).is_null() {
            return Vec::new();
        }
        let count = llvm!(LLVMGetMDNodeNumOperands(self.0)) as usize;
        let mut raw = vec![std::ptr::null_mut(); count];
        llvm!(LLVMGetMDNodeOperands(self.0, raw.as_mut_ptr()));
        raw.into_iter().filter_map(Value::new).collect()
    }

    /// The text of a metadata string.
    pub fn metadata_string(self) -> Option<&'m [u8]> {
        if llvm!(LLVMIsAMDString(self.0)).is_null() {
            return None;
        }
        let mut len = 0;
        let start = llvm!(LLVMGetMDString(self.0, &raw mut len));
        Some(llvm!(std::slice::from_raw_parts(start.cast(), len as usize)))
    }
}

/// Loads, stores and atomics.
impl<'m> Value<'m> {
    /// The ordering of a load, a store, a fence or a read-modify-write.
    pub fn ordering(self) -> Order {
        assert!(matches!(
            self.opcode(),
            Some(Opcode::LLVMLoad | Opcode::LLVMStore | Opcode::LLVMFence | Opcode::LLVMAtomicRMW)
        ));
        llvm!(LLVMGetOrdering(self.0))
    }

    /// The orderings of a compare-exchange: where it succeeds, where it fails.
    pub fn exchange_orderings(self) -> (Order, Order) {
        assert_eq!(self.opcode(), Some(Opcode::LLVMAtomicCmpXchg));
        (
            llvm!(LLVMGetCmpXchgSuccessOrdering(self.0)),
            llvm!(LLVMGetCmpXchgFailureOrdering(self.0)),
        )
    }

    /// Whether an atomic orders only with signal handlers of its own thread.
    pub fn is_single_thread(self) -> bool {
        llvm!(LLVMIsAtomic(self.0)) != 0 && llvm!(LLVMIsAtomicSingleThread(self.0)) != 0
    }

    /// The type by whose size the first index of an address computation counts.
    pub fn element_type(self) -> Option<Type<'m>> {
        let opcode = self.opcode().or_else(|| self.constant_opcode());
        (opcode == Some(Opcode::LLVMGetElementPtr))
            .then(|| Type::new(llvm!(LLVMGetGEPSourceElementType(self.0))))
    }

    /// The alignment of a load, store or atomic, or of an allocation or global.
    pub fn alignment(self) -> u64 {
        let aligned = !llvm!(LLVMIsAGlobalObject(self.0)).is_null()
            || matches!(
                self.opcode(),
                Some(
                    Opcode::LLVMLoad
                        | Opcode::LLVMStore
                        | Opcode::LLVMAlloca
                        | Opcode::LLVMAtomicRMW
                        | Opcode::LLVMAtomicCmpXchg
                )
            );
        match aligned {
            true => llvm!(LLVMGetAlignment(self.0)).max(1).into(),
            false => 1,
        }
    }
}

/// Calls.
impl<'m> Value<'m> {
    /// Whether it is a call, an invoke or a branch out of assembly.
    pub fn is_call(self) -> bool {
        matches!(
            self.opcode(),
            Some(Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr)
        )
    }

    /// What a call calls.
    pub fn callee(self) -> Value<'m> {
        assert!(self.is_call());
        Value::some(llvm!(LLVMGetCalledValue(self.0)))
    }

    /// Where a call that may unwind goes on if it does not.
    pub fn normal_destination(self) -> Option<Block<'m>> {
        if self.opcode() != Some(Opcode::LLVMInvoke) {
            return None;
        }
        Block::new(llvm!(LLVMGetNormalDest(self.0)))
    }

    /// The type a call calls it by.
    pub fn called_type(self) -> Type<'m> {
        assert!(self.is_call());
        Type::new(llvm!(LLVMGetCalledFunctionType(self.0)))
    }

    /// Whether it is an alias or an indirect function.
    pub fn is_other_global(self) -> bool {
        !llvm!(LLVMIsAGlobalAlias(self.0)).is_null() || !llvm!(LLVMIsAGlobalIFunc(self.0)).is_null()
    }

    /// Whether it is a function. An alias is none.
    pub fn is_function(self) -> bool {
        !llvm!(LLVMIsAFunction(self.0)).is_null()
    }

    /// Whether it is assembly.
    pub fn is_assembly(self) -> bool {
        !llvm!(LLVMIsAInlineAsm(self.0)).is_null()
    }

    /// What assembly says.
    pub fn assembly_text(self) -> &'m [u8] {
        assert!(self.is_assembly());
        let mut len = 0;
        let start = llvm!(LLVMGetInlineAsmAsmString(self.0, &raw mut len));
        text(start, len)
    }

    /// What it says of its operands.
    pub fn assembly_constraints(self) -> &'m [u8] {
        assert!(self.is_assembly());
        let mut len = 0;
        let start = llvm!(LLVMGetInlineAsmConstraintString(self.0, &raw mut len));
        text(start, len)
    }

    /// The name of the intrinsic that it is, without its types.
    pub fn intrinsic(self) -> Option<&'static str> {
        if !self.is_function() {
            return None;
        }
        match llvm!(LLVMGetIntrinsicID(self.0)) {
            0 => None,
            id => {
                let mut len = 0;
                let start = llvm!(LLVMIntrinsicGetName(id, &raw mut len));
                std::str::from_utf8(llvm!(std::slice::from_raw_parts(start.cast(), len))).ok()
            }
        }
    }

    /// The arguments of a call.
    pub fn arguments(self) -> impl Iterator<Item = Value<'m>> {
        assert!(self.is_call());
        let count = llvm!(LLVMGetNumArgOperands(self.0));
        (0..count).map(move |i| self.operand(i))
    }

    /// The number of operand bundles of a call.
    pub fn has_bundles(self) -> bool {
        self.is_call() && llvm!(LLVMGetNumOperandBundles(self.0)) != 0
    }

    /// Whether a call must be a tail call.
    pub fn is_musttail(self) -> bool {
        self.opcode() == Some(Opcode::LLVMCall)
            && llvm!(LLVMGetTailCallKind(self.0)) == LLVMTailCallKind::LLVMTailCallKindMustTail
    }

    /// The number of an attribute of a call, said at the call or at the function called.
    pub fn call_attribute(self, at: At, kind: u32) -> Option<u64> {
        assert!(self.is_call());
        let here = llvm!(LLVMGetCallSiteEnumAttribute(self.0, at.index(), kind));
        if !here.is_null() {
            return Some(attribute_number(here));
        }
        let callee = self.callee();
        callee.is_function().then(|| callee.attribute(at, kind)).flatten()
    }

    /// The type in a call's attribute, said at the call: `byval` is always said there too.
    pub fn call_type_attribute(self, at: At, kind: u32) -> Option<Type<'m>> {
        assert!(self.is_call());
        let here = llvm!(LLVMGetCallSiteEnumAttribute(self.0, at.index(), kind));
        (!here.is_null()).then(|| Type::new(llvm!(LLVMGetTypeAttributeValue(here))))
    }

    /// Makes a call call something else.
    pub fn set_callee(self, callee: Value<'m>) {
        assert!(self.is_call());
        // The callee is the last operand of every kind of call.
        let last = llvm!(LLVMGetNumOperands(self.0)) as u32 - 1;
        assert!(self.operand(last) == self.callee());
        llvm!(LLVMSetOperand(self.0, last, callee.0));
    }
}

/// A number that an attribute carries, 0 if none.
fn attribute_number(attribute: LLVMAttributeRef) -> u64 {
    match llvm!(LLVMIsEnumAttribute(attribute)) {
        0 => 0,
        _ => llvm!(LLVMGetEnumAttributeValue(attribute)),
    }
}

/// Text of LLVM's.
fn text<'m>(start: *const c_char, len: usize) -> &'m [u8] {
    match start.is_null() {
        true => b"",
        false => llvm!(std::slice::from_raw_parts(start.cast(), len)),
    }
}

/// Functions and globals.
impl<'m> Value<'m> {
    /// Whether it has no body here.
    pub fn is_declaration(self) -> bool {
        llvm!(LLVMIsDeclaration(self.0)) != 0
    }

    /// Its linkage.
    pub fn linkage(self) -> LLVMLinkage {
        llvm!(LLVMGetLinkage(self.0))
    }

    /// Whether nothing outside of the module can name it.
    pub fn is_local(self) -> bool {
        matches!(
            self.linkage(),
            LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage
        )
    }

    /// The section it was put into; empty if none.
    pub fn section(self) -> &'m CStr {
        let start = llvm!(LLVMGetSection(self.0));
        match start.is_null() {
            true => c"",
            false => llvm!(CStr::from_ptr(start)),
        }
    }

    /// Puts it into a section.
    pub fn set_section(self, name: &str) {
        if let Ok(name) = CString::new(name) {
            llvm!(LLVMSetSection(self.0, name.as_ptr()));
        }
    }

    /// Whether it is a global variable.
    pub fn is_global_variable(self) -> bool {
        !llvm!(LLVMIsAGlobalVariable(self.0)).is_null()
    }

    /// Whether it is a global that never changes.
    pub fn is_constant_global(self) -> bool {
        self.is_global_variable() && llvm!(LLVMIsGlobalConstant(self.0)) != 0
    }

    /// Whether it is a thread-local global.
    pub fn is_thread_local(self) -> bool {
        self.is_global_variable() && llvm!(LLVMIsThreadLocal(self.0)) != 0
    }

    /// What a global starts with.
    pub fn initializer(self) -> Option<Value<'m>> {
        match self.is_global_variable() {
            true => Value::new(llvm!(LLVMGetInitializer(self.0))),
            false => None,
        }
    }

    /// The function and index of an argument.
    pub fn as_parameter(self) -> Option<(Value<'m>, u32)> {
        if llvm!(LLVMIsAArgument(self.0)).is_null() {
            return None;
        }
        let function = Value::some(llvm!(LLVMGetParamParent(self.0)));
        let count = llvm!(LLVMCountParams(function.0));
        let index = (0..count).find(|&i| llvm!(LLVMGetParam(function.0, i)) == self.0)?;
        Some((function, index))
    }

    /// The blocks of a function.
    pub fn blocks(self) -> Vec<Block<'m>> {
        assert!(self.is_function());
        let mut blocks = Vec::new();
        let mut next = Block::new(llvm!(LLVMGetFirstBasicBlock(self.0)));
        while let Some(block) = next {
            blocks.push(block);
            next = Block::new(llvm!(LLVMGetNextBasicBlock(block.0)));
        }
        blocks
    }

    /// The type of a function (not of a pointer to it).
    pub fn function_type(self) -> Type<'m> {
        Type::new(llvm!(LLVMGlobalGetValueType(self.0)))
    }

    /// The number of a function's attribute.
    pub fn attribute(self, at: At, kind: u32) -> Option<u64> {
        assert!(self.is_function());
        let attribute = llvm!(LLVMGetEnumAttributeAtIndex(self.0, at.index(), kind));
        (!attribute.is_null()).then(|| attribute_number(attribute))
    }

    /// Whether a function has an attribute.
    pub fn has(self, kind: u32) -> bool {
        self.attribute(At::Function, kind).is_some()
    }

    /// Takes an attribute from a function.
    pub fn remove(self, kind: u32) {
        assert!(self.is_function());
        llvm!(LLVMRemoveEnumAttributeAtIndex(self.0, At::Function.index(), kind));
    }
}
