//! Stores of what may be pointers: the runtime is told where they go, once calls into code that is not instrumented may follow them.
//!
//! What such a call can reach changes with the pointers in what it reaches (`runtime/src/outside/links.rs`). An inline test of one byte comes
//! behind each store of 64 bits that may be an address of the heap: pointers, numbers that were pointers or were loaded, vectors and
//! copies of memory; and behind calls of functions of libstdc++ that link nodes of lists and trees. Not behind stores of what is computed by arithmetic, of constants and of addresses of variables.

use super::accesses::{Access, Extent};
use super::builder::Builder;
use super::ir::{Ir, Opcode, Type, Value};
use super::perform::is_float;
use deadheat_abi::hooks;
use llvm_sys::target::LLVMTargetDataRef;

/// The names of the inline tests, for one word and for all words of a range.
const LINK: &str = "__deadheat_inline.link";
const LINKS: &str = "__deadheat_inline.links";

/// How far a value is followed to where it comes from.
const DEPTH: u32 = 6;

/// A store that may be one of pointers.
#[derive(Clone, Copy)]
pub struct Link<'m> {
    /// The tests come behind this.
    pub at: Value<'m>,
    access: Access<'m>,
    /// What is stored, if it is a word.
    word: Option<Value<'m>>,
}

impl<'m> Link<'m> {
    /// If a plain write is one.
    pub fn plain(at: Value<'m>, access: Access<'m>, layout: LLVMTargetDataRef) -> Option<Link<'m>> {
        if !access.write || matches!(access.extent, Extent::Bytes(bytes) if bytes < 8) {
            return None;
        }
        let mut word = None;
        match at.opcode()? {
            Opcode::LLVMStore => {
                let value = at.operand(0);
                if !may_be_address(value, layout) {
                    return None;
                }
                word = is_word(value.ty()).then_some(value);
            }
            Opcode::LLVMCall | Opcode::LLVMInvoke => {
                let name = at.callee().intrinsic()?;
                let copies = name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove");
                // Those of vectors; the processor's own have what is stored in other places.
                let stores = name.starts_with("llvm.masked.") || name.starts_with("llvm.vp.");
                let elsewhere = name.starts_with("llvm.x86.");
                if !(copies || elsewhere || stores && may_be_address(at.operand(0), layout)) {
                    return None;
                }
            }
            // Exchanges that are atomic only within their thread.
            _ => {}
        }
        Some(Link { at, access, word })
    }

    /// Puts in the test.
    pub fn tell(self, ir: Ir<'m>, builder: &Builder<'m>) {
        let Link { at, access, word } = self;
        builder.after(at);
        let pointer = access.pointer;
        if let Some(value) = word {
            return tell_word(ir, builder, pointer, value);
        }
        let range = |pointer: Value<'m>, len: Value<'m>| {
            let ty = ir.function_type(ir.void(), &[ir.pointer(), ir.integer(64)]);
            builder.call(ir.declare(LINKS, ty), ty, &[pointer, len]);
        };
        let lanes = |mask: Value<'m>| mask.ty().vector().map_or(0, |(count, _)| count);
        // Elements that the mask leaves out are looked at as well: they are what they were, if they are there.
        match access.extent {
            Extent::Bytes(bytes) => range(pointer, ir.number(bytes)),
            Extent::Length(len) => range(pointer, builder.widen(len)),
            Extent::Lanes { element, mask, .. } | Extent::Packed { element, mask } => {
                range(pointer, ir.number(element * u64::from(lanes(mask))));
            }
            Extent::Scattered { element, mask, .. } => {
                for lane in 0..lanes(mask) {
                    range(builder.element(pointer, lane), ir.number(element));
                }
            }
            Extent::Indexed {
                element,
                mask,
                indices,
                scale,
            } => {
                for lane in 0..lanes(mask).min(lanes(indices)) {
                    let index = builder.widen_signed(builder.element(indices, lane));
                    let distance = builder.multiply(index, ir.number(scale));
                    range(builder.offset_by(pointer, distance), ir.number(element));
                }
            }
        }
    }
}

/// Behind an atomic operation, if it may have stored a pointer. The builder is there.
pub fn after_atomic<'m>(
    ir: Ir<'m>,
    builder: &Builder<'m>,
    at: Value<'m>,
    pointer: Value<'m>,
    layout: LLVMTargetDataRef,
) {
    let value = match at.opcode() {
        Some(Opcode::LLVMStore) => at.operand(0),
        // Of all others, what is there afterwards leads where it led before.
        Some(Opcode::LLVMAtomicRMW) if at.is_exchange() => at.operand(1),
        Some(Opcode::LLVMAtomicCmpXchg) => at.operand(2),
        _ => return,
    };
    if !may_be_address(value, layout) {
        return;
    }
    if !is_word(value.ty()) {
        let ty = ir.function_type(ir.void(), &[ir.pointer(), ir.integer(64)]);
        let len = ir.number(value.ty().store_size(layout));
        builder.call(ir.declare(LINKS, ty), ty, &[pointer, len]);
        return;
    }
    let mut word = match value.ty().is_plain_pointer() {
        true => builder.address(value),
        false => value,
    };
    if at.opcode() == Some(Opcode::LLVMAtomicCmpXchg) {
        word = builder.select(builder.member(at, 1), word, ir.number(0));
    }
    tell_word(ir, builder, pointer, word);
}

/// Functions of libstdc++ that put nodes into lists and trees, and which of their arguments then leads to which other.
const LINKING: &[(&str, &[(usize, usize)])] = &[
    ("_ZNSt8__detail15_List_node_base7_M_hookEPS0_", &[(1, 0)]),
    ("_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_", &[(0, 1)]),
    ("_ZNSt8__detail15_List_node_base4swapERS0_S1_", &[(0, 1), (1, 0)]),
    (
        "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_",
        &[(2, 1), (3, 1)],
    ),
];

/// Behind a call of a function that is known to link its arguments.
pub fn after_call<'m>(ir: Ir<'m>, builder: &Builder<'m>, call: Value<'m>) {
    let callee = call.callee();
    if !callee.is_function() || call.normal_destination().is_some() {
        return;
    }
    let Some((_, pairs)) = LINKING.iter().find(|(name, _)| *name == callee.name()) else {
        return;
    };
    let arguments: Vec<_> = call.arguments().collect();
    builder.after(call);
    for &(place, value) in *pairs {
        if let (Some(place), Some(value)) = (arguments.get(place), arguments.get(value)) {
            tell_word(ir, builder, *place, *value);
        }
    }
}

fn tell_word<'m>(ir: Ir<'m>, builder: &Builder<'m>, pointer: Value<'m>, value: Value<'m>) {
    let word = match value.ty().is_plain_pointer() {
        true => builder.address(value),
        false => value,
    };
    let ty = ir.function_type(ir.void(), &[ir.pointer(), ir.integer(64)]);
    builder.call(ir.declare(LINK, ty), ty, &[pointer, word]);
}

fn is_word(ty: Type<'_>) -> bool {
    ty.vector().is_none() && (ty.is_plain_pointer() || ty.integer_bits() == Some(64))
}

/// Whether a value may hold addresses of heap blocks.
fn may_be_address(value: Value<'_>, layout: LLVMTargetDataRef) -> bool {
    let ty = value.ty();
    if ty.store_size(layout) < 8 || is_float(ty) || value.is_constant() {
        return false;
    }
    match ty.vector() {
        // Small elements hold addresses only if all of it is a copy.
        Some((_, element)) if element.integer_bits().is_some_and(|bits| bits < 64) => {
            value.opcode() == Some(Opcode::LLVMLoad)
        }
        Some((_, element)) => !is_float(element),
        None if is_word(ty) => comes_from_memory(value, DEPTH),
        None => true,
    }
}

/// Whether a word may be an address of the heap by where it comes from.
fn comes_from_memory(value: Value<'_>, depth: u32) -> bool {
    if value.is_constant() {
        return false;
    }
    let Some(opcode) = value.opcode() else {
        // A parameter.
        return true;
    };
    if depth == 0 {
        return true;
    }
    match opcode {
        Opcode::LLVMAlloca => false,
        Opcode::LLVMGetElementPtr | Opcode::LLVMPtrToInt | Opcode::LLVMBitCast | Opcode::LLVMFreeze => {
            comes_from_memory(value.operand(0), depth - 1)
        }
        Opcode::LLVMPHI => value.incoming().any(|value| comes_from_memory(value, depth - 1)),
        Opcode::LLVMSelect => (1..3).any(|i| comes_from_memory(value.operand(i), depth - 1)),
        // Numbers are counted, pointers are marked: in what was a pointer before.
        Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMOr | Opcode::LLVMAnd | Opcode::LLVMXor => {
            value.operands().any(|operand| was_pointer(operand, depth - 1))
        }
        Opcode::LLVMZExt
        | Opcode::LLVMSExt
        | Opcode::LLVMMul
        | Opcode::LLVMShl
        | Opcode::LLVMLShr
        | Opcode::LLVMAShr
        | Opcode::LLVMUDiv
        | Opcode::LLVMSDiv
        | Opcode::LLVMURem
        | Opcode::LLVMSRem
        | Opcode::LLVMFPToSI
        | Opcode::LLVMFPToUI => false,
        _ => true,
    }
}

/// Whether a number was made of a pointer.
fn was_pointer(value: Value<'_>, depth: u32) -> bool {
    if value.is_constant() || depth == 0 {
        return false;
    }
    match value.opcode() {
        Some(Opcode::LLVMPtrToInt) => true,
        Some(
            Opcode::LLVMAdd
            | Opcode::LLVMSub
            | Opcode::LLVMOr
            | Opcode::LLVMAnd
            | Opcode::LLVMXor
            | Opcode::LLVMFreeze,
        ) => value.operands().any(|operand| was_pointer(operand, depth - 1)),
        Some(Opcode::LLVMPHI) => value.incoming().any(|value| was_pointer(value, depth - 1)),
        Some(Opcode::LLVMSelect) => (1..3).any(|i| was_pointer(value.operand(i), depth - 1)),
        _ => false,
    }
}

/// The definitions of the tests, as text of a module, if there are calls of them.
pub fn definitions(ir: Ir<'_>) -> String {
    let functions = ir.functions();
    let called = |name: &str| functions.iter().any(|function| function.name() == name);
    let tests: Vec<_> = [(LINK, hooks::LINK), (LINKS, hooks::LINKS)]
        .into_iter()
        .filter(|(test, _)| called(test))
        .collect();
    let mut text = String::new();
    if !tests.is_empty() {
        text.push_str(&format!("@{} = external global i8\n", hooks::LINKING));
    }
    for (test, hook) in tests {
        text.push_str(&format!(
            "declare preserve_mostcc void @{hook}(ptr, i64) cold nounwind nonlazybind
define linkonce_odr hidden void @{test}(ptr %addr, i64 %what) alwaysinline mustprogress nounwind {{
  %on = load atomic i8, ptr @{flag} monotonic, align 1
  %tell = icmp ne i8 %on, 0
  br i1 %tell, label %call, label %done, !prof !0
call:
  call preserve_mostcc void @{hook}(ptr %addr, i64 %what)
  br label %done
done:
  ret void
}}
",
            flag = hooks::LINKING
        ));
    }
    text
}
