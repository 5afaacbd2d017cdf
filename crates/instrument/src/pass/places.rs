//! Where in its granule an access begins, if that can be known: the test of a part of a granule is shorter then.
//!
//! A pointer is a base and a distance. The distance is known modulo 8 if all variable indices count elements of a
//! multiple of 8 bytes. The base is known if it is a local, a global or a parameter of known alignment, or if an access
//! of known alignment by the same base was executed before: earlier in the block, or in the function's first block. (The
//! alignment of an access in another branch says nothing: the program may have chosen the branch by the address.)

use super::ir::{At, Ir, Opcode, Value, attribute_kind};
use deadheat_abi::shadow::GRANULE;
use llvm_sys::target::LLVMTargetDataRef;
use std::collections::HashMap;

/// What is known of bases in one function.
pub struct Places<'m> {
    layout: LLVMTargetDataRef,
    align: u32,
    align_metadata: u32,
    /// Blocks entered.
    blocks: usize,
    /// Bases, and where in a granule they point, as the first block shows.
    first: HashMap<Value<'m>, u64>,
    /// The same of the present block, from which instruction on.
    here: HashMap<Value<'m>, (usize, u64)>,
}

impl<'m> Places<'m> {
    /// With the sizes of types.
    pub fn new(ir: Ir<'m>, layout: LLVMTargetDataRef) -> Self {
        Places {
            layout,
            align: attribute_kind("align"),
            align_metadata: ir.metadata_kind("align"),
            blocks: 0,
            first: HashMap::new(),
            here: HashMap::new(),
        }
    }

    /// Forgets the function before.
    pub fn enter_function(&mut self) {
        self.blocks = 0;
        self.first.clear();
        self.here.clear();
    }

    /// Learns from the accesses of a block. The first block of a function comes first.
    pub fn enter_block(&mut self, instructions: &[Value<'m>]) {
        if self.blocks == 1 {
            let shown = self.here.drain().map(|(base, (_, place))| (base, place));
            self.first.extend(shown);
        }
        self.blocks += 1;
        self.here.clear();
        for (index, &at) in instructions.iter().enumerate() {
            let pointer = match at.opcode() {
                Some(Opcode::LLVMLoad | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => at.operand(0),
                Some(Opcode::LLVMStore) => at.operand(1),
                _ => continue,
            };
            if at.alignment() >= GRANULE {
                let (base, distance) = self.split(pointer);
                let place = (GRANULE - distance) % GRANULE;
                self.here.entry(base).or_insert((index, place));
            }
        }
    }

    /// Where in its granule an address points that the instruction of this index in the block uses.
    pub fn place(&self, index: usize, pointer: Value<'m>, alignment: u64) -> Option<u64> {
        if alignment >= GRANULE {
            return Some(0);
        }
        let (base, distance) = self.split(pointer);
        let base = match self.here.get(&base) {
            Some(&(since, place)) if since < index => place,
            _ => match self.first.get(&base) {
                Some(&place) => place,
                None if self.base_alignment(base) >= GRANULE => 0,
                None => return None,
            },
        };
        Some((base + distance) % GRANULE)
    }

    fn base_alignment(&self, base: Value<'m>) -> u64 {
        if let Some((function, i)) = base.as_parameter() {
            return function.attribute(At::Parameter(i), self.align).unwrap_or(1);
        }
        if base.opcode() == Some(Opcode::LLVMAlloca) || base.is_global_variable() {
            return base.alignment();
        }
        // A pointer from memory, of a type that says more than a pointer of C.
        let known = base
            .metadata(self.align_metadata)
            .map(Value::metadata_operands)
            .and_then(|operands| operands.first()?.constant_integer());
        known.unwrap_or(1)
    }

    /// The base of an address, and how far from it the address is, modulo the size of a granule.
    fn split(&self, pointer: Value<'m>) -> (Value<'m>, u64) {
        let mut base = pointer;
        let mut distance = 0u64;
        while let Some(step) = self.step(base) {
            distance = distance.wrapping_add(step);
            base = base.operand(0);
        }
        (base, distance % GRANULE)
    }

    /// How far an address computation goes, modulo the size of a granule, if that is known.
    fn step(&self, pointer: Value<'m>) -> Option<u64> {
        let mut ty = pointer.element_type()?;
        // A vector of addresses has no one place.
        if pointer.ty().vector().is_some() {
            return None;
        }
        let mut distance = 0u64;
        for (i, index) in pointer.operands().skip(1).enumerate() {
            if i > 0 {
                if let Some(element) = ty.array() {
                    ty = element;
                } else {
                    let (member, place) = ty.member(index.constant_integer()?, self.layout)?;
                    ty = member;
                    distance = distance.wrapping_add(place);
                    continue;
                }
            }
            let stride = ty.stride(self.layout);
            distance = match index.constant_integer() {
                // Indices are signed and of any width; their low bits are all that counts here.
                Some(number) => distance.wrapping_add(number.wrapping_mul(stride)),
                None if stride.is_multiple_of(GRANULE) => distance,
                None => return None,
            };
        }
        Some(distance)
    }
}
