//! Loads of whole vectors of which some elements are never looked at.
//!
//! A loop over every second element, say, is vectorised with loads of all elements and a shuffle that takes every second one. The
//! program does not read the others: a check of them could report a race that it does not have.

use super::accesses::{Access, Extent};
use super::builder::Builder;
use super::ir::{Opcode, Value};
use llvm_sys::target::LLVMTargetDataRef;
use std::ops::Range;

/// The elements of a vector that are looked at after a load of all of them, as ranges; `None` if that is all of them, or not known.
pub fn looked_at(load: Value<'_>) -> Option<Vec<Range<u64>>> {
    let (count, _) = load.ty().vector()?;
    // What is not used at all is read because somebody wants it to be.
    if load.opcode() != Some(Opcode::LLVMLoad) || load.users().next().is_none() {
        return None;
    }
    let mut used = vec![false; count as usize];
    for user in load.users() {
        match user.opcode() {
            Some(Opcode::LLVMShuffleVector) => {
                // The elements of the first vector, then those of the second.
                let of = |which: u32| user.operand(which) == load;
                for lane in user.shuffled() {
                    let (which, lane) = (lane / count, (lane % count) as usize);
                    used[lane] |= of(which);
                }
            }
            Some(Opcode::LLVMExtractElement) if user.operand(0) == load => {
                let lane = user.operand(1).constant_integer()? as usize;
                *used.get_mut(lane)? = true;
            }
            _ => return None,
        }
    }
    if used.iter().all(|used| *used) {
        return None;
    }
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for lane in (0..u64::from(count)).filter(|lane| used[*lane as usize]) {
        match ranges.last_mut() {
            Some(last) if last.end == lane => last.end += 1,
            _ => ranges.push(lane..lane + 1),
        }
    }
    Some(ranges)
}

/// The parts of a vector that a load of all of it is about.
pub fn parts<'m>(
    builder: &Builder<'m>,
    layout: LLVMTargetDataRef,
    load: Value<'m>,
    whole: Access<'m>,
    parts: &[Range<u64>],
) -> Vec<Access<'m>> {
    let Some((count, element)) = load.ty().vector() else {
        return vec![whole];
    };
    let element = element.store_size(layout);
    // Not of elements that are less than a byte.
    if load.ty().store_size(layout) != u64::from(count) * element {
        return vec![whole];
    }
    builder.before(load);
    let part = |lanes: &Range<u64>| Access {
        pointer: builder.offset(whole.pointer, lanes.start * element),
        extent: Extent::Bytes((lanes.end - lanes.start) * element),
        // Whatever is a power of two in both.
        alignment: whole
            .alignment
            .min(1 << (lanes.start * element).trailing_zeros().min(16)),
        ..whole
    };
    parts.iter().map(part).collect()
}
