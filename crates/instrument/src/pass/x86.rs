//! The processor's own vector accesses, as C's and Rust's `_mm…` functions come out: masked by the sign bits of a vector,
//! gathered and scattered by a base and a vector of indices, and a few plain ones. LLVM makes its general intrinsics of
//! them only where the mask is constant.
//!
//! Left out: what saves and restores the processor's state (`fxsave`, `xsave`, …), which is for the thread itself.

use super::accesses::{Access, Extent};
use super::ir::Value;
use llvm_sys::target::LLVMTargetDataRef;

/// What an intrinsic of the processor accesses.
pub fn access<'m>(call: Value<'m>, name: &str, layout: LLVMTargetDataRef) -> Option<Access<'m>> {
    let name = name.strip_prefix("llvm.x86.")?;
    let (set, name) = name.split_once('.')?;
    let (operation, _) = name.split_once('.').unwrap_or((name, ""));
    let operand = |i: u32| call.operand(i);
    let element = |vector: Value<'m>| Some(vector.ty().vector()?.1.store_size(layout));
    let plain = |pointer, extent, write| {
        Some(Access {
            pointer,
            extent,
            alignment: 1,
            write,
            place: None,
        })
    };
    match (set, operation) {
        ("avx" | "avx2", "maskload") => plain(operand(0), masked(element(call)?, operand(1)), false),
        ("avx" | "avx2", "maskstore") => plain(operand(0), masked(element(operand(2))?, operand(1)), true),
        ("sse2", "maskmov") => plain(operand(2), masked(element(operand(0))?, operand(1)), true),
        ("avx2", "gather") => plain(
            operand(1),
            Extent::Indexed {
                element: element(call)?,
                mask: operand(3),
                indices: operand(2),
                scale: operand(4).constant_integer()?,
            },
            false,
        ),
        ("avx512", "mask") if name.starts_with("mask.gather") => plain(
            operand(1),
            Extent::Indexed {
                element: element(call)?,
                mask: operand(3),
                indices: operand(2),
                scale: operand(4).constant_integer()?,
            },
            false,
        ),
        ("avx512", "mask") if name.starts_with("mask.scatter") => plain(
            operand(0),
            Extent::Indexed {
                element: element(operand(3))?,
                mask: operand(1),
                indices: operand(2),
                scale: operand(4).constant_integer()?,
            },
            true,
        ),
        ("sse3" | "avx", "ldu") => plain(operand(0), Extent::Bytes(call.ty().store_size(layout)), false),
        ("sse", "ldmxcsr") => plain(operand(0), Extent::Bytes(4), false),
        ("sse", "stmxcsr") => plain(operand(0), Extent::Bytes(4), true),
        _ => None,
    }
}

fn masked(element: u64, mask: Value<'_>) -> Extent<'_> {
    Extent::Lanes {
        element,
        mask,
        set: true,
        limit: None,
    }
}
