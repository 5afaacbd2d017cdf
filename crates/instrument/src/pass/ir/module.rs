//! A module: its lists, its types and constants, and what is declared in it.

use super::{At, Type, Value, llvm, text};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMLinkage, LLVMThreadLocalMode, LLVMVisibility};
use std::ffi::{CStr, CString, c_uint};
use std::marker::PhantomData;

/// A module's context and lists.
#[derive(Clone, Copy)]
pub struct Ir<'m> {
    context: LLVMContextRef,
    module: LLVMModuleRef,
    live: PhantomData<&'m ()>,
}

impl<'m> Ir<'m> {
    /// Of a module.
    pub fn new(context: &'m crate::llvm::Context, module: &'m crate::llvm::Module<'_>) -> Self {
        Ir {
            context: context.raw(),
            module: module.raw(),
            live: PhantomData,
        }
    }

    /// LLVM's own.
    pub(in super::super) fn raw_context(self) -> LLVMContextRef {
        self.context
    }

    /// LLVM's own.
    pub(in super::super) fn raw_module(self) -> LLVMModuleRef {
        self.module
    }

    /// Data layout and target, as a module of text begins.
    pub fn head(self) -> String {
        let layout = llvm!(CStr::from_ptr(LLVMGetDataLayoutStr(self.module))).to_string_lossy();
        let target = llvm!(CStr::from_ptr(LLVMGetTarget(self.module))).to_string_lossy();
        format!("target datalayout = \"{layout}\"\ntarget triple = \"{target}\"\n")
    }

    /// The module's own assembly.
    pub fn assembly(self) -> &'m [u8] {
        let mut len = 0;
        let start = llvm!(LLVMGetModuleInlineAsm(self.module, &raw mut len));
        text(start, len)
    }

    /// Functions, also those only declared.
    pub fn functions(self) -> Vec<Value<'m>> {
        list(llvm!(LLVMGetFirstFunction(self.module)), |value| {
            llvm!(LLVMGetNextFunction(value))
        })
    }

    /// Global variables.
    pub fn globals(self) -> Vec<Value<'m>> {
        list(llvm!(LLVMGetFirstGlobal(self.module)), |value| {
            llvm!(LLVMGetNextGlobal(value))
        })
    }

    /// What picks the implementations of indirect functions.
    pub fn resolvers(self) -> Vec<Value<'m>> {
        let ifuncs = list(llvm!(LLVMGetFirstGlobalIFunc(self.module)), |value| {
            llvm!(LLVMGetNextGlobalIFunc(value))
        });
        let resolvers = ifuncs
            .into_iter()
            .map(|ifunc| llvm!(LLVMGetGlobalIFuncResolver(ifunc.0)));
        resolvers.filter_map(Value::new).collect()
    }

    /// The number of a kind of metadata.
    pub fn metadata_kind(self, name: &str) -> c_uint {
        llvm!(LLVMGetMDKindIDInContext(
            self.context,
            name.as_ptr().cast(),
            name.len() as c_uint
        ))
    }

    /// Gives a function an attribute.
    pub fn add(self, function: Value<'m>, kind: u32, number: u64) {
        assert!(function.is_function());
        let attribute = llvm!(LLVMCreateEnumAttribute(self.context, kind, number));
        llvm!(LLVMAddAttributeAtIndex(
            function.0,
            At::Function.index(),
            attribute
        ));
    }

    /// Gives a function an attribute that is text.
    pub fn add_text(self, function: Value<'m>, name: &str, text: &str) {
        assert!(function.is_function());
        let attribute = llvm!(LLVMCreateStringAttribute(
            self.context,
            name.as_ptr().cast(),
            name.len() as c_uint,
            text.as_ptr().cast(),
            text.len() as c_uint,
        ));
        llvm!(LLVMAddAttributeAtIndex(
            function.0,
            At::Function.index(),
            attribute
        ));
    }

    /// The integer type of so many bits.
    pub fn integer(self, bits: u32) -> Type<'m> {
        Type::new(llvm!(LLVMIntTypeInContext(self.context, bits)))
    }

    /// The type of a vector of so many integers of so many bits.
    pub fn integer_vector(self, bits: u32, count: u32) -> Type<'m> {
        Type::new(llvm!(LLVMVectorType(self.integer(bits).0, count)))
    }

    /// The pointer type.
    pub fn pointer(self) -> Type<'m> {
        Type::new(llvm!(LLVMPointerTypeInContext(self.context, 0)))
    }

    /// The type of no value.
    pub fn void(self) -> Type<'m> {
        Type::new(llvm!(LLVMVoidTypeInContext(self.context)))
    }

    /// A number of 64 bits.
    pub fn number(self, value: u64) -> Value<'m> {
        Value::some(llvm!(LLVMConstInt(self.integer(64).0, value, 0)))
    }

    /// A number of 32 bits.
    pub fn small(self, value: u32) -> Value<'m> {
        Value::some(llvm!(LLVMConstInt(self.integer(32).0, value.into(), 0)))
    }

    /// A struct of such members.
    pub fn structure(self, members: &[Type<'m>]) -> Type<'m> {
        let mut members: Vec<_> = members.iter().map(|member| member.raw()).collect();
        let (first, count) = (members.as_mut_ptr(), members.len() as u32);
        Type::new(llvm!(LLVMStructTypeInContext(self.context, first, count, 0)))
    }

    /// A function's type.
    pub fn function_type(self, returns: Type<'m>, parameters: &[Type<'m>]) -> Type<'m> {
        let mut raw: Vec<_> = parameters.iter().map(|ty| ty.0).collect();
        let count = raw.len() as c_uint;
        Type::new(llvm!(LLVMFunctionType(returns.0, raw.as_mut_ptr(), count, 0)))
    }

    /// The function of a name, declared if it is not there yet.
    pub fn declare(self, name: &str, ty: Type<'m>) -> Value<'m> {
        let name = CString::new(name).expect("names of functions have no zero byte");
        match Value::new(llvm!(LLVMGetNamedFunction(self.module, name.as_ptr()))) {
            Some(function) => function,
            None => Value::some(llvm!(LLVMAddFunction(self.module, name.as_ptr(), ty.0))),
        }
    }

    /// The variable of a name that this program has once, declared if it is not there yet.
    pub fn declare_hidden(self, name: &str, bytes: u64) -> Value<'m> {
        let name = CString::new(name).expect("names of variables have no zero byte");
        if let Some(global) = Value::new(llvm!(LLVMGetNamedGlobal(self.module, name.as_ptr()))) {
            return global;
        }
        let ty = llvm!(LLVMArrayType2(self.integer(8).0, bytes));
        let global = llvm!(LLVMAddGlobal(self.module, ty, name.as_ptr()));
        llvm!(LLVMSetVisibility(global, LLVMVisibility::LLVMHiddenVisibility));
        Value::some(global)
    }

    /// The thread-local variable of a name, declared if it is not there yet, in the initial-exec model.
    pub fn declare_thread_local(self, name: &str, bytes: u64) -> Value<'m> {
        let name = CString::new(name).expect("names of variables have no zero byte");
        if let Some(global) = Value::new(llvm!(LLVMGetNamedGlobal(self.module, name.as_ptr()))) {
            return global;
        }
        let ty = llvm!(LLVMArrayType2(self.integer(8).0, bytes));
        let global = llvm!(LLVMAddGlobal(self.module, ty, name.as_ptr()));
        llvm!(LLVMSetThreadLocalMode(
            global,
            LLVMThreadLocalMode::LLVMInitialExecTLSModel
        ));
        llvm!(LLVMSetAlignment(global, bytes as c_uint));
        Value::some(global)
    }

    /// A constant struct of these members.
    pub fn constants(self, members: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<_> = members.iter().map(|value| value.0).collect();
        let count = raw.len() as c_uint;
        Value::some(llvm!(LLVMConstStructInContext(
            self.context,
            raw.as_mut_ptr(),
            count,
            0
        )))
    }

    /// A constant text with a zero at its end, in memory.
    pub fn text(self, text: &str) -> Value<'m> {
        let raw = llvm!(LLVMConstStringInContext2(
            self.context,
            text.as_ptr().cast(),
            text.len(),
            0
        ));
        let global = self.define("", Value::some(raw), LLVMLinkage::LLVMPrivateLinkage);
        llvm!(LLVMSetGlobalConstant(global.0, 1));
        global
    }

    /// The global of a name, if there is one.
    pub fn global(self, name: &str) -> Option<Value<'m>> {
        let name = CString::new(name).ok()?;
        Value::new(llvm!(LLVMGetNamedGlobal(self.module, name.as_ptr())))
    }

    /// The function of a name, if there is one.
    pub fn function(self, name: &str) -> Option<Value<'m>> {
        let name = CString::new(name).ok()?;
        Value::new(llvm!(LLVMGetNamedFunction(self.module, name.as_ptr())))
    }

    /// A new variable, seen in its link only.
    pub fn define(self, name: &str, value: Value<'m>, linkage: LLVMLinkage) -> Value<'m> {
        let name = CString::new(name).expect("names of variables have no zero byte");
        let ty = value.ty();
        let global = llvm!(LLVMAddGlobal(self.module, ty.0, name.as_ptr()));
        llvm!(LLVMSetInitializer(global, value.0));
        llvm!(LLVMSetLinkage(global, linkage));
        if linkage != LLVMLinkage::LLVMPrivateLinkage {
            llvm!(LLVMSetVisibility(global, LLVMVisibility::LLVMHiddenVisibility));
        }
        Value::some(global)
    }

    /// Other names of functions and variables.
    pub fn aliases(self) -> Vec<Value<'m>> {
        list(llvm!(LLVMGetFirstGlobalAlias(self.module)), |value| {
            llvm!(LLVMGetNextGlobalAlias(value))
        })
    }

    /// The declaration of an intrinsic, for these types where its name has some.
    pub fn intrinsic(self, name: &str, types: &[Type<'m>]) -> (Value<'m>, Type<'m>) {
        let id = llvm!(LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len()));
        assert_ne!(id, 0, "LLVM has no intrinsic {name}");
        let mut raw: Vec<_> = types.iter().map(|ty| ty.0).collect();
        let function = llvm!(LLVMGetIntrinsicDeclaration(
            self.module,
            id,
            raw.as_mut_ptr(),
            raw.len()
        ));
        let function = Value::some(function);
        (function, function.function_type())
    }
}

fn list<'m>(first: LLVMValueRef, next: impl Fn(LLVMValueRef) -> LLVMValueRef) -> Vec<Value<'m>> {
    let mut values = Vec::new();
    let mut raw = first;
    while let Some(value) = Value::new(raw) {
        values.push(value);
        raw = next(raw);
    }
    values
}
