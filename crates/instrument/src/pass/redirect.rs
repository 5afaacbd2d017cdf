//! Calls of functions that the runtime checks go to the runtime's functions of the same types.

use super::ir::{Ir, Type, Value};
use deadheat_abi::hooks::{PREFIX, REDIRECTED};
use llvm_sys::LLVMTypeKind;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Types by name.
static TYPES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let rows = REDIRECTED.iter();
    rows.flat_map(|(ty, names)| names.iter().map(|name| (*name, *ty)))
        .collect()
});

/// Redirects a call if its function is one of those; whether it was.
pub fn redirect<'m>(ir: Ir<'m>, call: Value<'m>) -> bool {
    let callee = call.callee();
    if !callee.is_function() || !callee.is_declaration() {
        return false;
    }
    let Some(expected) = TYPES.get(callee.name()) else {
        return false;
    };
    let ty = call.called_type();
    let one_of_them = ty == callee.function_type() && fits(ty, expected);
    if one_of_them {
        call.set_callee(ir.declare(&format!("{PREFIX}{}", callee.name()), ty));
    }
    one_of_them
}

/// Whether a function's type is the one of these letters.
fn fits(ty: Type<'_>, expected: &str) -> bool {
    let Some((returns, parameters, more)) = ty.function() else {
        return false;
    };
    let fixed = expected.strip_suffix('.');
    let letters = fixed.unwrap_or(expected);
    more == fixed.is_some()
        && letters.len() == parameters.len() + 1
        && std::iter::once(returns)
            .chain(parameters)
            .zip(letters.chars())
            .all(|(ty, letter)| match letter {
                'v' => ty.kind() == LLVMTypeKind::LLVMVoidTypeKind,
                'p' => ty.is_plain_pointer(),
                's' => ty.integer_bits() == Some(64),
                'd' => ty.integer_bits() == Some(32),
                'f' => ty.kind() == LLVMTypeKind::LLVMDoubleTypeKind,
                'g' => ty.kind() == LLVMTypeKind::LLVMFloatTypeKind,
                _ => matches!(ty.integer_bits(), Some(1 | 8)),
            })
}
