//! A section for each function and each variable, so that the linker can leave out what is not used. (Rust's libraries
//! count on that. LLVM has a switch for it, but not in its C interface.)

use super::ir::{Ir, Value};
use llvm_sys::LLVMLinkage;
use std::collections::HashSet;

/// Gives sections to what has none.
pub fn split(ir: Ir<'_>) {
    for function in ir.functions() {
        if !function.is_declaration() && function.section().is_empty() {
            function.set_section(&format!(".text.{}", function.name()));
        }
    }
    for global in ir.globals() {
        let Some(initializer) = global.initializer() else {
            continue;
        };
        // Not emitted here, or merged by the linker under a rule of its own.
        if matches!(
            global.linkage(),
            LLVMLinkage::LLVMAvailableExternallyLinkage
                | LLVMLinkage::LLVMAppendingLinkage
                | LLVMLinkage::LLVMCommonLinkage
        ) {
            continue;
        }
        // Constants without a name of their own go to sections where the linker merges equal ones.
        let mergeable = global.is_constant_global() && global.is_local() && !has_address(initializer);
        if global.section().is_empty()
            && !global.name().is_empty()
            && !global.name().starts_with("llvm.")
            && !mergeable
        {
            let zero = initializer.is_no_memory();
            let kind = match (global.is_thread_local(), global.is_constant_global()) {
                (true, _) if zero => "tbss",
                (true, _) => "tdata",
                (_, true) if has_address(initializer) => "data.rel.ro",
                (_, true) => "rodata",
                _ if zero => "bss",
                _ => "data",
            };
            global.set_section(&format!(".{kind}.{}", global.name()));
        }
    }
}

/// Whether the loader may have to put an address into the constant.
fn has_address(constant: Value<'_>) -> bool {
    let mut seen = HashSet::new();
    let mut todo = vec![constant];
    while let Some(value) = todo.pop() {
        if value.is_function() || value.is_global_variable() || value.is_other_global() {
            return true;
        }
        todo.extend(value.operands().filter(|&operand| seen.insert(operand)));
    }
    false
}
