//! What becomes of the value of a load: where the program has read what it is.

use super::super::address::Address;
use super::super::effects::Calls;
use super::super::ir::{At, Block, Opcode, Value};
use super::super::nest::Nest;
use super::Kind;
use llvm_sys::target::LLVMTargetDataRef;
use std::collections::HashSet;

/// So many steps are followed, for each load.
const STEPS: usize = 1 << 12;
/// So many conditions one after the other.
const CONDITIONS: usize = 8;

/// A read of the program.
#[derive(Clone, PartialEq)]
pub struct Read<'m> {
    /// A check of it can stand before this instruction.
    pub before: Value<'m>,
    /// It was made only if these are so.
    pub conditions: Vec<(Value<'m>, bool)>,
    /// What has its line, if anything has.
    pub like: Value<'m>,
}

/// What is known of the next round of a loop.
enum Next<'m> {
    /// It comes.
    Sure,
    /// It reads here, if it comes.
    Reads(Read<'m>),
    Unknown,
}

/// Follows values in a function.
pub struct Uses<'a, 'm> {
    nest: &'a Nest<'m>,
    /// What acquires, releases or frees.
    synchronises: Marked<'m>,
    /// What may not come to what is behind it.
    leaves: Marked<'m>,
    /// Loads and stores, and where.
    accesses: Vec<(Value<'m>, Address<'m>)>,
    layout: LLVMTargetDataRef,
    /// The attribute of functions that only compute.
    speculatable: u32,
}

/// Instructions of a kind, and whether blocks have any.
struct Marked<'m> {
    at: HashSet<Value<'m>>,
    blocks: Vec<bool>,
}

impl<'m> Marked<'m> {
    fn new(nest: &Nest<'m>, is: impl Fn(Value<'m>) -> bool) -> Self {
        let mut at = HashSet::new();
        let mut has = |block: &Block<'m>| {
            let before = at.len();
            at.extend(block.instructions().filter(|at| is(*at)));
            at.len() > before
        };
        let blocks = nest.blocks.iter().map(&mut has).collect();
        Marked { at, blocks }
    }
}

impl<'a, 'm> Uses<'a, 'm> {
    /// In a function.
    pub fn new(nest: &'a Nest<'m>, calls: &Calls<'m>, layout: LLVMTargetDataRef, speculatable: u32) -> Self {
        let is_access = |at: &Value<'m>| matches!(at.opcode(), Some(Opcode::LLVMLoad | Opcode::LLVMStore));
        Uses {
            nest,
            synchronises: Marked::new(nest, |at| {
                let effects = calls.of(at);
                effects.acquires || effects.releases || effects.frees
            }),
            leaves: Marked::new(nest, |at| {
                let effects = calls.of(at);
                effects.may_not_return || effects.may_not_end
            }),
            accesses: { nest.blocks.iter() }
                .flat_map(|block| block.instructions().filter(is_access))
                .map(|at| (at, Address::of(place(at), layout)))
                .collect(),
            layout,
            speculatable,
        }
    }

    /// The reads that a load stands for; none if it is one itself.
    pub fn reads(&self, load: Value<'m>, kind: Kind) -> Option<Vec<Read<'m>>> {
        self.nest.number(load.block()?)?;
        let same = self.of_the_same(load);
        let memory = self.memory(load, &same);
        if kind != Kind::Promoted {
            match (self.next_round(load, &memory), kind) {
                (Next::Sure, _) => return None,
                // Whether it is the program's own, which reads anew where it has called something, is not known.
                (Next::Reads(_), Kind::Widened) => return Some(Vec::new()),
                (_, Kind::Widened) => return None,
                (Next::Reads(read), _) => return Some(vec![read]),
                (Next::Unknown, _) => {}
            }
        }
        let mut search = Search {
            uses: self,
            memory: &memory,
            handed_on: self.stored_by_way_of_phis(&same),
            of: load,
            steps: STEPS,
            seen: HashSet::new(),
            frozen: HashSet::new(),
            reads: Vec::new(),
        };
        for &value in &memory {
            search.of = value;
            search.seen.clear();
            search.follow(value, &[], None);
        }
        let mut reads = search.reads;
        let certain = |read: &Read<'m>| read.conditions.is_empty() && self.is_certain(load, read.before);
        if reads.iter().any(certain) || reads.is_empty() && kind != Kind::Promoted {
            return None;
        }
        reads.retain(|read| self.is_at_hand(load, read.before));

        Some(reads)
    }

    /// The read of a loop's next round that a load is made for.
    fn next_round(&self, load: Value<'m>, memory: &[Value<'m>]) -> Next<'m> {
        // Where a phi is that is used, the program reads.
        let is_used = |value: &Value<'m>| value.users().any(|user| !is_phi(user) && !is_hint(user));
        let used = memory.iter().filter(|phi| **phi != load && is_used(phi));
        let places: Vec<Value<'m>> = used.filter_map(|phi| Some(phi.block()?.first_real())).collect();
        if places.iter().any(|place| self.is_certain(load, *place)) {
            return Next::Sure;
        }
        // Each round of the loop around the load does.
        let around = |place: &Value<'m>| self.dominates(*place, load) && self.is_at_hand(load, *place);
        match places.into_iter().find(around).filter(|_| !is_used(&load)) {
            None => Next::Unknown,
            Some(before) => Next::Reads(Read {
                before,
                conditions: Vec::new(),
                like: load,
            }),
        }
    }

    /// Loads and stores of the place of a load, but for itself.
    fn of_the_same(&self, load: Value<'m>) -> Vec<Value<'m>> {
        let Address { origin, offset } = Address::of(place(load), self.layout);
        let others = self.accesses.iter().filter(|(at, _)| *at != load);
        let same = others.filter(|(_, other)| other.offset == offset && other.origin == origin);
        same.map(|(at, _)| *at).collect()
    }

    /// A load, and the phis that say what is in memory, as far as they come from it.
    fn memory(&self, load: Value<'m>, same: &[Value<'m>]) -> Vec<Value<'m>> {
        let mut memory = vec![load];
        let mut next = 0;
        while let Some(&value) = memory.get(next) {
            next += 1;
            // Others that one is made of as well: what was stored in two ways, say.
            let made_of = value.incoming().filter(|one| is_phi(*one));
            for phi in value.users().filter(|user| is_phi(*user)).chain(made_of) {
                if memory.len() < STEPS && !memory.contains(&phi) {
                    memory.push(phi);
                }
            }
        }
        loop {
            let all: HashSet<Value<'m>> = memory.iter().copied().collect();
            let is_in_memory = |(value, from): (Value<'m>, Block<'m>)| {
                let end = from.terminator();
                let comes = |at: Value<'m>| self.between(at, end, &self.synchronises) == Some(false);
                let accessed = |at: &Value<'m>| {
                    let moved = if is_load(*at) { *at } else { at.operand(0) };
                    moved == value && self.dominates(*at, end) && comes(*at)
                };
                !self.is_reached(from) || all.contains(&value) && comes(value) || same.iter().any(accessed)
            };
            let stays = |value: &Value<'m>| *value == load || { value.incoming_from() }.all(is_in_memory);
            memory.retain(stays);
            if memory.len() == all.len() {
                break;
            }
        }
        // Those that it comes to.
        let mut reached = vec![load];
        let mut next = 0;
        while let Some(&value) = reached.get(next) {
            next += 1;
            let more: Vec<Value<'m>> = { value.users() }
                .filter(|user| is_phi(*user) && memory.contains(user) && !reached.contains(user))
                .collect();
            reached.extend(more);
        }
        reached
    }

    /// Values that are stored there, or are what phis and choices make such of.
    fn stored_by_way_of_phis(&self, same: &[Value<'m>]) -> HashSet<Value<'m>> {
        let stores = same.iter().filter(|at| !is_load(**at));
        made_of(stores.map(|store| store.operand(0)).collect(), &[])
    }

    fn is_reached(&self, block: Block<'m>) -> bool {
        self.nest.number(block).is_some()
    }

    /// Whether one instruction comes before another on every way to it.
    fn dominates(&self, before: Value<'m>, after: Value<'m>) -> bool {
        let number = |at: Value<'m>| self.nest.number(at.block()?);
        match (number(before), number(after)) {
            (Some(one), Some(other)) if one == other => comes_before(before, after),
            (Some(one), Some(other)) => self.nest.dominates(one, other),
            _ => false,
        }
    }

    /// Whether anything of a kind may come between an instruction and another one that it dominates, since it came last.
    fn between(&self, from: Value<'m>, to: Value<'m>, what: &Marked<'m>) -> Option<bool> {
        let (first, last) = (from.block()?, to.block()?);
        let (start, end) = (self.nest.number(first)?, self.nest.number(last)?);
        let is = |at: Value<'m>| what.at.contains(&at);
        if comes_before(from, to) {
            return Some(behind(from).take_while(|at| *at != to).any(is));
        }
        if behind(from).any(is) || last.instructions().take_while(|at| *at != to).any(is) {
            return Some(true);
        }
        let mut seen = HashSet::new();
        let mut todo = vec![end];
        while let Some(block) = todo.pop() {
            for &before in self.nest.predecessors(block) {
                if before != start && seen.insert(before) {
                    if what.blocks[before] {
                        return Some(true);
                    }
                    todo.push(before);
                }
            }
        }
        Some(false)
    }

    /// Whether an instruction is reached from a load for certain.
    fn is_certain(&self, load: Value<'m>, at: Value<'m>) -> bool {
        if comes_before(load, at) {
            return self.between(load, at, &self.leaves) == Some(false);
        }
        let (Some(first), Some(last)) = (load.block(), at.block()) else {
            return false;
        };
        let (Some(from), Some(to)) = (self.nest.number(first), self.nest.number(last)) else {
            return false;
        };
        let mut seen = HashSet::new();
        let mut todo = vec![from];
        while let Some(block) = todo.pop() {
            let next = &self.nest.successors[block];
            let goes_back = next.iter().any(|&next| next <= block && next != to);
            if next.is_empty() || goes_back || block != from && self.leaves.blocks[block] {
                return false;
            }
            todo.extend(next.iter().filter(|next| **next != to && seen.insert(**next)));
        }
        let leaves = |at: Value<'m>| self.leaves.at.contains(&at);
        let mut before = last.instructions().take_while(|other| *other != at);
        !before.any(leaves) && !behind(load).any(leaves)
    }

    /// Whether the address of a load is known before an instruction.
    fn is_at_hand(&self, load: Value<'m>, before: Value<'m>) -> bool {
        let pointer = load.operand(0);
        pointer.opcode().is_none() || self.dominates(pointer, before)
    }
}

/// A search for the reads that were values of a load.
struct Search<'a, 'm> {
    uses: &'a Uses<'a, 'm>,
    memory: &'a [Value<'m>],
    /// What may be in memory where it comes from.
    handed_on: HashSet<Value<'m>>,
    /// What is in memory, and followed now.
    of: Value<'m>,
    steps: usize,
    seen: HashSet<(Value<'m>, Vec<(Value<'m>, bool)>)>,
    /// What is computed from frozen values.
    frozen: HashSet<Value<'m>>,
    reads: Vec<Read<'m>>,
}

impl<'m> Search<'_, 'm> {
    /// Follows a value that is computed from what is in memory and wanted under some conditions.
    fn follow(&mut self, value: Value<'m>, conditions: &[(Value<'m>, bool)], like: Option<Value<'m>>) {
        for user in value.users() {
            if self.steps == 0 || conditions.len() > CONDITIONS {
                return;
            }
            self.steps -= 1;
            if is_phi(user) {
                self.choose(user, value, conditions, like.unwrap_or(user));
                continue;
            }
            if user.opcode().is_none() || is_hint(user) {
                continue;
            }
            let like = like.filter(|like| like.line() != 0).unwrap_or(user);
            // A branch by what a loop leaves alone is taken out of it, and asks in front of it what may never be asked: LLVM then freezes
            // what it asks.
            if self.frozen.contains(&value) || user.opcode() == Some(Opcode::LLVMFreeze) {
                self.frozen.insert(user);
            }
            if !self.computes(user) {
                let branches = matches!(user.opcode(), Some(Opcode::LLVMBr | Opcode::LLVMSwitch));
                if !(branches && self.frozen.contains(&user)) {
                    self.read(user, conditions.to_vec(), like);
                }
                continue;
            }
            let mut under = conditions.to_vec();
            match (user.opcode(), user.ty().integer_bits()) {
                (Some(Opcode::LLVMSelect), _) => {
                    let condition = user.operand(0);
                    let is_either = [1, 2].map(|side| user.operand(side) == value);
                    if condition != value && is_either[0] != is_either[1] {
                        if condition.ty().vector().is_some() {
                            continue;
                        }
                        under.push((condition, is_either[0]));
                    }
                }
                // What became of `&&` and `||`.
                (Some(opcode @ (Opcode::LLVMAnd | Opcode::LLVMOr)), Some(1)) => {
                    let other = u32::from(user.operand(0) == value);
                    under.push((user.operand(other), opcode == Opcode::LLVMAnd));
                }
                _ => {}
            }
            if self.seen.insert((user, under.clone())) {
                self.follow(user, &under, Some(like));
            }
        }
    }

    /// A phi that takes a value.
    fn choose(
        &mut self,
        phi: Value<'m>,
        value: Value<'m>,
        conditions: &[(Value<'m>, bool)],
        like: Value<'m>,
    ) {
        let is_of_memory = |value: Value<'m>| self.memory.contains(&value);
        // What comes to it was loaded here, or stored.
        if is_of_memory(phi) {
            return;
        }
        if value == self.of {
            // If it may be of the memory all the same, nothing is known of it.
            let is_stored = |value: &Value<'m>| !value.is_constant() && self.handed_on.contains(value);
            let may_be = |other: Value<'m>| {
                !is_of_memory(other)
                    && (self.handed_on.contains(&other)
                        || made_of(vec![other], self.memory).iter().any(is_stored))
            };
            if self.handed_on.contains(&phi) || phi.incoming().any(may_be) {
                return;
            }
        }
        let to = phi.block();
        for (_, from) in phi.incoming_from().filter(|(incoming, _)| *incoming == value) {
            let Some(number) = self.uses.nest.number(from) else {
                continue;
            };
            let end = from.terminator();
            let mut under = conditions.to_vec();
            if self.uses.nest.successors[number].len() > 1 {
                let Some(condition) = end.condition() else {
                    continue;
                };
                under.push((condition, end.successor(0) == to));
            }
            self.read(end, under, like);
        }
    }

    /// A read that was made before an instruction, unless something came in between.
    fn read(&mut self, before: Value<'m>, conditions: Vec<(Value<'m>, bool)>, like: Value<'m>) {
        if self.uses.between(self.of, before, &self.uses.synchronises) != Some(false) {
            return;
        }
        let known = |read: &Read<'m>| read.before == before && read.conditions == conditions;
        if !self.reads.iter().any(known) {
            self.reads.push(Read {
                before,
                conditions,
                like,
            });
        }
    }

    /// Whether an instruction only computes, so that it may be where it is in vain.
    fn computes(&self, at: Value<'m>) -> bool {
        use Opcode::*;
        match at.opcode() {
            Some(
                LLVMAdd | LLVMFAdd | LLVMSub | LLVMFSub | LLVMMul | LLVMFMul | LLVMFDiv | LLVMShl | LLVMLShr
                | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor | LLVMFNeg | LLVMICmp | LLVMFCmp | LLVMSelect
                | LLVMFreeze | LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP
                | LLVMSIToFP | LLVMFPTrunc | LLVMFPExt | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast
                | LLVMGetElementPtr | LLVMExtractElement | LLVMInsertElement | LLVMShuffleVector
                | LLVMExtractValue | LLVMInsertValue,
            ) => true,
            Some(LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem) => {
                at.operand(1).constant_integer().is_some_and(|by| by != 0)
            }
            Some(LLVMCall) => at.call_attribute(At::Function, self.uses.speculatable).is_some(),
            _ => false,
        }
    }
}

/// Some values, and those that phis and choices make them of, but for some that are not gone into.
fn made_of<'m>(mut todo: Vec<Value<'m>>, but: &[Value<'m>]) -> HashSet<Value<'m>> {
    let mut found = HashSet::new();
    while let Some(value) = todo.pop() {
        if !but.contains(&value) && found.insert(value) {
            match value.opcode() {
                Some(Opcode::LLVMPHI) => todo.extend(value.incoming()),
                Some(Opcode::LLVMSelect) => todo.extend([value.operand(1), value.operand(2)]),
                _ => {}
            }
        }
    }
    found
}

fn is_phi(at: Value<'_>) -> bool {
    at.opcode() == Some(Opcode::LLVMPHI)
}

fn is_load(at: Value<'_>) -> bool {
    at.opcode() == Some(Opcode::LLVMLoad)
}

/// Where a load or a store is made.
fn place(at: Value<'_>) -> Value<'_> {
    at.operand(u32::from(!is_load(at)))
}

/// Whether it only tells the optimiser or a debugger something.
fn is_hint(at: Value<'_>) -> bool {
    let name = |at: Value<'_>| at.callee().intrinsic();
    at.is_call() && name(at).is_some_and(|name| name == "llvm.assume" || name.starts_with("llvm.dbg."))
}

/// The instructions behind one in its block.
fn behind(one: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let block = one.block().into_iter().flat_map(|block| block.instructions());
    block.skip_while(move |at| *at != one).skip(1)
}

/// Whether one instruction of a block comes before another one of it.
fn comes_before<'m>(one: Value<'m>, other: Value<'m>) -> bool {
    one.block() == other.block() && behind(one).any(|at| at == other)
}
