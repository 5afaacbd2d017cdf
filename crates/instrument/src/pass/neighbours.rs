//! Makes one check of several of neighbours: `p->x`, `p->y` and `p->z` of one line.
//!
//! The check is made at the first of the accesses. The others must follow for certain, so all are in one block, and nothing in
//! between may leave. And nothing may be acquired or released, so that whatever is unordered with one of them is
//! unordered with the check, and the other way round: it is made of bytes that are not accessed *there*, and must cry no
//! wolf. Reads go with reads, writes with writes; and only where the check of all is one inline test that costs less than theirs.
//! They are of one source line, because a report can then say which it was: with several, two races at two lines would be one
//! that names both. The lines that a check stood for already go with it ([`super::also`]).

use super::accesses::{Access, Extent};
use super::address::{Address, Origin};
use super::also::Standing;
use super::builder::Builder;
use super::effects::Calls;
use super::ir::{Block, Opcode, Value, llvm};
use crate::decisions::Rule;
use deadheat_abi::shadow;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::LLVMMetadataRef;
use llvm_sys::target::LLVMTargetDataRef;
use std::collections::HashMap;

/// Merges checks; `told` hears of each that is part of another now.
pub fn merge<'m>(
    plain: &mut Vec<(Value<'m>, Access<'m>)>,
    blocks: &[Block<'m>],
    calls: &Calls<'m>,
    builder: &Builder<'m>,
    layout: LLVMTargetDataRef,
    standing: &mut Standing<'m>,
    mut told: impl FnMut(Value<'m>, &Access<'m>, Rule, Option<Value<'m>>),
) {
    let mut at: HashMap<Value<'m>, usize> = HashMap::new();
    for (i, (instruction, access)) in plain.iter().enumerate() {
        let simple = matches!(instruction.opcode(), Some(Opcode::LLVMLoad | Opcode::LLVMStore));
        if simple && matches!(access.extent, Extent::Bytes(_)) {
            at.insert(*instruction, i);
        }
    }
    if at.len() < 2 {
        return;
    }
    let mut groups = Vec::new();
    for block in blocks {
        let mut open: HashMap<Key<'m>, Vec<Member>> = HashMap::new();
        for instruction in block.instructions() {
            if let Some(&i) = at.get(&instruction) {
                let access = &plain[i].1;
                let Extent::Bytes(bytes) = access.extent else {
                    continue;
                };
                let Address { origin, offset } = Address::of(access.pointer, layout);
                let key = (origin, access.write, Line::of(instruction));
                let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
                let group = open.entry(key).or_default();
                group.push(Member {
                    access: i,
                    number: group.len(),
                    start: offset,
                    end: offset.saturating_add(bytes),
                });
            }
            let effects = calls.of(instruction);
            if effects.ends_checks() || effects.ends_accesses() {
                groups.extend(open.drain().map(|(_, group)| group));
            }
        }
        // A value is computed once in a block, before what is computed from it.
        groups.extend(open.into_values());
    }
    let mut gone = vec![false; plain.len()];
    for group in groups.into_iter().filter(|group| group.len() > 1) {
        for (run, merged) in pieces(group, plain) {
            let first = *run
                .iter()
                .min_by_key(|member| member.number)
                .expect("a run has members");
            let mut others = standing
                .of(plain[first.access].0, &plain[first.access].1)
                .to_vec();
            for member in run.iter().filter(|member| member.number != first.number) {
                let (instruction, access) = &plain[member.access];
                others.push(*instruction);
                others.extend(standing.of(*instruction, access));
                told(*instruction, access, Rule::Merged, Some(plain[first.access].0));
                gone[member.access] = true;
            }
            let (instruction, access) = &mut plain[first.access];
            builder.before(*instruction);
            let distance = run[0].start.wrapping_sub(first.start);
            *access = Access {
                pointer: builder.offset(access.pointer, distance.cast_unsigned()),
                ..merged
            };
            standing.add(*instruction, access, others);
        }
    }
    let mut gone = gone.into_iter();
    plain.retain(|_| !gone.next().unwrap_or_default());
}

/// An access of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Member {
    access: usize,
    /// Its place among those of its group, as they come.
    number: usize,
    start: i64,
    end: i64,
}

/// What accesses must have in common.
type Key<'m> = (Origin<'m>, bool, Line);

/// A source line, with where its function was inlined.
#[derive(PartialEq, Eq, Hash)]
struct Line(u32, LLVMMetadataRef, LLVMMetadataRef);

impl Line {
    fn of(instruction: Value<'_>) -> Line {
        let none = std::ptr::null_mut();
        let location = llvm!(LLVMInstructionGetDebugLoc(instruction.raw()));
        if location.is_null() {
            return Line(0, none, none);
        }
        Line(
            llvm!(LLVMDILocationGetLine(location)),
            llvm!(LLVMDILocationGetScope(location)),
            llvm!(LLVMDILocationGetInlinedAt(location)),
        )
    }
}

/// Those that lie side by side or one over the other, from the lowest on.
fn runs(mut group: Vec<Member>) -> Vec<Vec<Member>> {
    group.sort_by_key(|member| (member.start, member.number));
    let mut runs: Vec<Vec<Member>> = Vec::new();
    let mut end = i64::MIN;
    for member in group {
        match runs.last_mut() {
            Some(run) if member.start <= end => run.push(member),
            _ => runs.push(vec![member]),
        }
        end = match runs.last().map(Vec::len) {
            Some(1) => member.end,
            _ => end.max(member.end),
        };
    }
    runs.retain(|run| run.len() > 1);
    runs
}

/// So many neighbours may be one check.
const MOST: usize = 32;

/// Runs that have an inline test, as large as they can be, from the lowest on; and the access that each is, but for its address.
fn pieces<'m>(group: Vec<Member>, plain: &[(Value<'m>, Access<'m>)]) -> Vec<(Vec<Member>, Access<'m>)> {
    let mut found = Vec::new();
    for run in runs(group) {
        let mut from = 0;
        while from < run.len() {
            let most = run.len().min(from + MOST);
            let piece = (from + 2..=most).rev().find_map(|to| {
                let piece = &run[from..to];
                let merged = merged(piece, plain)?;
                // Part of a run need not be one: what lies in between may be another member's.
                (runs(piece.to_vec()) == [piece]).then_some((piece.to_vec(), merged))
            });
            from += piece.as_ref().map_or(1, |piece| piece.0.len());
            found.extend(piece);
        }
    }
    found
}

/// The access of all bytes of a run, but for its address; none if it has no inline test that is worth it.
fn merged<'m>(run: &[Member], plain: &[(Value<'m>, Access<'m>)]) -> Option<Access<'m>> {
    let lowest = plain[run[0].access].1;
    let end = run.iter().map(|member| member.end).max()?;
    let bytes = u64::try_from(end.checked_sub(run[0].start)?).ok()?;
    let alignment = match lowest.place {
        Some(0) => lowest.alignment.max(shadow::GRANULE),
        Some(place) => lowest.alignment.max(1 << place.trailing_zeros()),
        None => lowest.alignment,
    };
    let small = bytes.is_power_of_two() && bytes <= shadow::GRANULE && alignment >= bytes;
    let whole = bytes.is_multiple_of(shadow::GRANULE)
        && bytes <= shadow::TESTED * shadow::GRANULE
        && alignment >= shadow::GRANULE;
    (small || whole).then_some(Access {
        extent: Extent::Bytes(bytes),
        alignment,
        ..lowest
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_no_gap() {
        let member = |number, start, end| Member {
            access: number,
            number,
            start,
            end,
        };
        let group = vec![
            member(0, 8, 16),
            member(1, 0, 8),
            member(2, 24, 32),
            member(3, -16, -8),
            member(4, 26, 28),
        ];
        let found = runs(group);
        let numbers: Vec<Vec<usize>> = found
            .iter()
            .map(|run| run.iter().map(|member| member.number).collect())
            .collect();
        assert_eq!(numbers, [vec![1, 0], vec![2, 4]]);
    }
}
