//! Addresses taken apart: a base, values that are counted from there, and a constant distance. Two that differ in the distance
//! only are that far apart.

use super::ir::Value;
use llvm_sys::target::LLVMTargetDataRef;

/// An address.
pub struct Address<'m> {
    /// What everything is counted from, and values with the bytes that each step of them goes.
    pub origin: Origin<'m>,
    /// Bytes behind all that.
    pub offset: i64,
}

/// The part of an address that varies.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Origin<'m> {
    base: Value<'m>,
    steps: Vec<(Value<'m>, i64)>,
}

impl<'m> Origin<'m> {
    /// The values it is made of.
    pub fn values(&self) -> impl Iterator<Item = Value<'m>> {
        std::iter::once(self.base).chain(self.steps.iter().map(|&(value, _)| value))
    }
}

/// Steps of an address at most.
const STEPS: usize = 8;

impl<'m> Address<'m> {
    /// Takes a pointer apart.
    pub fn of(pointer: Value<'m>, layout: LLVMTargetDataRef) -> Self {
        let mut address = Address {
            origin: Origin {
                base: pointer,
                steps: Vec::new(),
            },
            offset: 0,
        };
        while address.step(layout).is_some() {}
        address
    }

    /// Takes one computation apart, the last of those that are left; none if there is no more to take apart.
    fn step(&mut self, layout: LLVMTargetDataRef) -> Option<()> {
        let pointer = self.origin.base;
        let mut ty = pointer.element_type()?;
        if pointer.ty().vector().is_some() {
            return None;
        }
        let mut offset = self.offset;
        let mut steps = Vec::new();
        for (i, index) in pointer.operands().skip(1).enumerate() {
            if i > 0 {
                if let Some(element) = ty.array() {
                    ty = element;
                } else {
                    let (member, place) = ty.member(index.constant_integer()?, layout)?;
                    ty = member;
                    offset = offset.checked_add(i64::try_from(place).ok()?)?;
                    continue;
                }
            }
            let stride = i64::try_from(ty.stride(layout)).ok()?;
            match index.constant_integer() {
                Some(number) => {
                    // Indices are signed, of any width.
                    let above = 64 - index.ty().integer_bits()?;
                    let number = (number << above).cast_signed() >> above;
                    offset = offset.checked_add(number.checked_mul(stride)?)?;
                }
                None => steps.push((index, stride)),
            }
        }
        if self.origin.steps.len() + steps.len() > STEPS {
            return None;
        }
        self.offset = offset;
        self.origin.steps.extend(steps);
        self.origin.base = pointer.operand(0);
        Some(())
    }
}
