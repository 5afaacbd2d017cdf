//! Calls of functions that may not be instrumented ([`deadheat_abi::callee`]): the runtime is told where they begin and
//! end, and what they are given.

use super::builder::Builder;
use super::ir::{Ir, Opcode, Value};
use deadheat_abi::callee::{self, POINTERS};
use deadheat_abi::hooks;
use llvm_sys::LLVMLinkage;
use llvm_sys::target::LLVMTargetDataRef;

/// The names of the inline tests around a call, which ask the runtime only where they must.
pub const BEGIN: &str = "__deadheat_inline.call.begin";
pub const ARGUMENTS: &str = "__deadheat_inline.call.arguments";
pub const LOCAL: &str = "__deadheat_inline.call.local";
pub const END: &str = "__deadheat_inline.call.end";

/// The same for calls through pointers, which ask where those lead out of the module.
pub const POINTER_BEGIN: &str = "__deadheat_inline.pointer.begin";
pub const POINTER_ARGUMENTS: &str = "__deadheat_inline.pointer.arguments";
pub const POINTER_LOCAL: &str = "__deadheat_inline.pointer.local";
pub const POINTER_END: &str = "__deadheat_inline.pointer.end";

/// Whether the function that is called has its body elsewhere, and that may be outside.
pub fn may_be_called(call: Value<'_>) -> bool {
    let callee = call.callee();
    if !callee.is_function() {
        return !callee.is_other_global();
    }
    callee.is_declaration()
        && callee.intrinsic().is_none()
        && !callee.name().starts_with(hooks::PREFIX)
        && !is_rust(callee.name())
}

/// Whether a name is the Rust compiler's: such a function has bitcode wherever it comes from.
pub fn is_rust(name: &str) -> bool {
    // `_R…`, the older `_ZN…17h<hash>E`, and what allocates and panics.
    name.starts_with("_R")
        || name.starts_with("_ZN") && name.len() > 20 && name[name.len() - 20..].starts_with("17h")
        || name.starts_with("rust_")
        || name.starts_with("__rust_")
}

/// Tells other modules that calls of what this one defines are like any others.
pub fn say_what_is_inside(ir: Ir<'_>) {
    for function in ir.functions().into_iter().chain(ir.aliases()) {
        let name = function.name();
        // Functions that several modules may define cannot be told by a symbol that only one may.
        if !function.is_declaration()
            && function.linkage() == LLVMLinkage::LLVMExternalLinkage
            && !is_rust(name)
        {
            let known = ir.number(callee::INSIDE);
            ir.define(
                &format!("{}{name}", callee::PREFIX),
                known,
                LLVMLinkage::LLVMExternalLinkage,
            );
        }
    }
}

/// The variable that says what is known of a function.
fn variable<'m>(ir: Ir<'m>, function: Value<'m>) -> Value<'m> {
    let name = format!("{}{}", callee::PREFIX, function.name());
    ir.global(&name).unwrap_or_else(|| {
        let value = [ir.number(callee::UNKNOWN), ir.text(function.name()), function];
        ir.define(&name, ir.constants(&value), LLVMLinkage::LLVMWeakAnyLinkage)
    })
}

/// Whether an argument may lead to memory that threads share.
fn may_lead(argument: Value<'_>) -> bool {
    let ty = argument.ty();
    (ty.is_plain_pointer() || ty.integer_bits() == Some(64))
        && argument.constant_integer().is_none()
        && !argument.is_no_memory()
        && !argument.is_function()
        && !(argument.is_global_variable() && argument.is_constant_global())
}

/// Those of a call's arguments that may lead to memory, as numbers.
pub fn pointers<'m>(builder: &Builder<'m>, arguments: impl Iterator<Item = Value<'m>>) -> Vec<Value<'m>> {
    arguments
        .filter(|argument| may_lead(*argument))
        .map(|argument| match argument.ty().is_plain_pointer() {
            true => builder.address(argument),
            false => argument,
        })
        .collect()
}

/// Those that are told before the call's begin, a multiple of [`POINTERS`], and those that are told with it.
pub fn in_parts<'p, 'm>(pointers: &'p [Value<'m>]) -> (&'p [Value<'m>], &'p [Value<'m>]) {
    match pointers.len() {
        0..=POINTERS => (&[], pointers),
        count => pointers.split_at((count - 1) / POINTERS * POINTERS),
    }
}

/// The local variables that arguments of a call lead into, and how large they are.
fn locals<'m>(call: Value<'m>, layout: LLVMTargetDataRef) -> Vec<(Value<'m>, u64)> {
    let mut locals: Vec<(Value<'m>, u64)> = Vec::new();
    for argument in call.arguments().filter(|argument| may_lead(*argument)) {
        let mut base = argument;
        while let Some(Opcode::LLVMGetElementPtr | Opcode::LLVMPtrToInt) = base.opcode() {
            base = base.operand(0);
        }
        if let Some(size) = base.local_size(layout)
            && !locals.iter().any(|(known, _)| *known == base)
        {
            locals.push((base, size));
        }
    }
    locals
}

/// Puts the tests around a call.
pub fn surround<'m>(ir: Ir<'m>, builder: &Builder<'m>, call: Value<'m>, layout: LLVMTargetDataRef) {
    let callee = call.callee();
    let (variable, local, arguments, begin, end) = match callee.is_function() {
        true => (variable(ir, callee), LOCAL, ARGUMENTS, BEGIN, END),
        false => (
            callee,
            POINTER_LOCAL,
            POINTER_ARGUMENTS,
            POINTER_BEGIN,
            POINTER_END,
        ),
    };
    builder.before(call);
    let ty = ir.function_type(ir.void(), &[ir.pointer(), ir.integer(64), ir.integer(64)]);
    for (start, len) in locals(call, layout) {
        let arguments = [variable, builder.address(start), ir.number(len)];
        builder.call(ir.declare(local, ty), ty, &arguments);
    }
    let pointers = pointers(builder, call.arguments());
    let (more, last) = in_parts(&pointers);
    let number = ir.integer(64);
    let ty = ir.function_type(ir.void(), &[ir.pointer(), number, number, number, number]);
    let tell = |name: &str, pointers: &[Value<'m>]| {
        let mut arguments = vec![variable];
        arguments.extend(pointers);
        arguments.resize(POINTERS + 1, ir.number(0));
        builder.call(ir.declare(name, ty), ty, &arguments);
    };
    more.chunks(POINTERS)
        .for_each(|pointers| tell(arguments, pointers));
    tell(begin, last);

    match call.normal_destination() {
        // Where other calls arrive as well the pointer is not known. The runtime finds out at the next call.
        Some(block) if !callee.is_function() && !block.has_one_entry() => return,
        Some(block) => builder.before(block.first_real()),
        None => builder.after(call),
    }
    let ty = ir.function_type(ir.void(), &[ir.pointer()]);
    builder.call(ir.declare(end, ty), ty, &[variable]);
}

/// The definitions of the tests, as text of a module, if there are calls of them.
pub fn definitions(ir: Ir<'_>) -> String {
    let called = |name: &str| ir.functions().iter().any(|function| function.name() == name);
    let mut text = String::new();
    let parameters = "ptr %callee, i64 %a, i64 %b, i64 %c, i64 %d";
    let types = "ptr, i64, i64, i64, i64";
    if called(BEGIN) || called(POINTER_BEGIN) {
        for hook in [hooks::CALL_BEGIN, hooks::CALL_ARGUMENTS, hooks::POINTER_BEGIN] {
            text.push_str(&format!("declare void @{hook}({types}) cold nounwind\n"));
        }
        let hook = hooks::CALL_LOCAL;
        text.push_str(&format!("declare void @{hook}(ptr, i64, i64) cold nounwind\n"));
        for hook in [hooks::CALL_END, hooks::POINTER_END] {
            text.push_str(&format!("declare void @{hook}(ptr) cold nounwind\n"));
        }
    }
    if called(BEGIN) {
        by_name(&mut text, parameters);
    }
    if called(POINTER_BEGIN) {
        by_pointer(&mut text, parameters);
    }
    text
}

/// Of the tests that tell of a local variable: the names are those of arguments, for what is handed on.
const LOCAL_PARAMETERS: &str = "ptr %callee, i64 %a, i64 %b";

/// A pointer into the code of this module leads to instrumented code: the linker knows where that begins and ends.
fn by_pointer(text: &mut String, parameters: &str) {
    text.push_str("@__ehdr_start = external hidden global i8\n@_etext = external hidden global i8\n");
    let tests = [
        (POINTER_BEGIN, hooks::POINTER_BEGIN, parameters),
        (POINTER_ARGUMENTS, hooks::CALL_ARGUMENTS, parameters),
        (POINTER_LOCAL, hooks::CALL_LOCAL, LOCAL_PARAMETERS),
        (POINTER_END, hooks::POINTER_END, "ptr %callee"),
    ];
    for (name, hook, parameters) in tests {
        text.push_str(&format!(
            "define linkonce_odr hidden void @{name}({parameters}) alwaysinline mustprogress nounwind {{
  %at = ptrtoint ptr %callee to i64
  %start = ptrtoint ptr @__ehdr_start to i64
  %end = ptrtoint ptr @_etext to i64
  %offset = sub i64 %at, %start
  %len = sub i64 %end, %start
  %outside = icmp uge i64 %offset, %len
  br i1 %outside, label %call, label %done, !prof !0
call:
  call void @{hook}({parameters})
  br label %done
done:
  ret void
}}
"
        ));
    }
}

/// What the module knows of a function says whether it is outside.
fn by_name(text: &mut String, parameters: &str) {
    let test = |text: &mut String, name: &str, hook: &str, parameters: &str| {
        text.push_str(&format!(
            "define linkonce_odr hidden void @{name}({parameters}) alwaysinline mustprogress nounwind {{
  %state = load i64, ptr %callee, align 8
  %outside = icmp ne i64 %state, {inside}
  br i1 %outside, label %call, label %done, !prof !0
call:
  call void @{hook}({parameters})
  br label %done
done:
  ret void
}}
",
            inside = callee::INSIDE
        ));
    };
    test(text, BEGIN, hooks::CALL_BEGIN, parameters);
    test(text, ARGUMENTS, hooks::CALL_ARGUMENTS, parameters);
    test(text, LOCAL, hooks::CALL_LOCAL, LOCAL_PARAMETERS);
    test(text, END, hooks::CALL_END, "ptr %callee");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_rust_are_known() {
        for (name, rust) in [
            ("_RNvCs1_3foo3bar", true),
            ("_ZN4core9panicking5panic17h0123456789abcdefE", true),
            ("__rust_alloc", true),
            ("_ZN3foo3barEv", false),
            ("deflate", false),
        ] {
            assert_eq!(is_rust(name), rust, "{name}");
        }
    }
}
