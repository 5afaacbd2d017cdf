//! Addresses taken apart: a base, values that are counted from there, and a constant distance. Two that differ in the distance
//! only are that far apart. Indices are sums and multiples of values and constants where their arithmetic does not wrap, so that `a[i]` and
//! `a[i + 1]` have all but the distance in common.

use super::affine::{Computed, Part, Width, computed, constant};
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
    /// No two of the same value, no zeros, in an order that is the same for all.
    steps: Vec<(Part<'m>, i64)>,
}

impl<'m> Origin<'m> {
    /// The values it is made of.
    pub fn values(&self) -> impl Iterator<Item = Value<'m>> {
        std::iter::once(self.base).chain(self.steps.iter().map(|&((value, _), _)| value))
    }
}

/// Steps of an address at most.
const STEPS: usize = 8;
/// So deep is looked into an index.
const DEPTH: u32 = 8;

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
            // Indices are signed, of any width.
            let width = match index.ty().integer_bits()? {
                64 => Width::Whole,
                ..64 => Width::Signed,
                _ => return None,
            };
            let mut taken = (steps.clone(), offset);
            match add(&mut taken, (index, width), stride, DEPTH) {
                Some(()) => (steps, offset) = taken,
                None => steps.push(((index, width), stride)),
            }
        }
        let mut all = self.origin.steps.clone();
        for (part, factor) in steps {
            step_by(&mut all, part, factor)?;
        }
        all.retain(|step| step.1 != 0);
        if all.len() > STEPS {
            return None;
        }
        all.sort_unstable_by_key(|((value, width), _)| (value.raw() as usize, *width as u8));
        self.offset = offset;
        self.origin.steps = all;
        self.origin.base = pointer.operand(0);
        Some(())
    }
}

/// Adds a value so many times to steps and a distance. None if that is too far, or takes too long.
fn add<'m>(to: &mut (Vec<(Part<'m>, i64)>, i64), part: Part<'m>, times: i64, depth: u32) -> Option<()> {
    let (value, width) = part;
    if let Some(number) = constant(value, width) {
        to.1 = to.1.checked_add(number.checked_mul(times)?)?;
        return Some(());
    }
    let depth = depth.checked_sub(1)?;
    let multiple = match computed(value, width) {
        Some(Computed::Sum(one, other, sign)) => {
            add(to, one, times, depth)?;
            return add(to, other, times.checked_mul(sign)?, depth);
        }
        Some(Computed::Product(one, other)) => match (constant(one.0, one.1), constant(other.0, other.1)) {
            (Some(factor), _) => Some((other, factor)),
            (_, Some(factor)) => Some((one, factor)),
            _ => None,
        },
        Some(Computed::Multiple(one, factor)) => Some((one, factor)),
        Some(Computed::Same(one)) => Some((one, 1)),
        None => None,
    };
    match multiple {
        Some((one, factor)) => add(to, one, times.checked_mul(factor)?, depth),
        None => step_by(&mut to.0, part, times),
    }
}

/// Adds a step.
fn step_by<'m>(steps: &mut Vec<(Part<'m>, i64)>, part: Part<'m>, factor: i64) -> Option<()> {
    match steps.iter_mut().find(|step| step.0 == part) {
        Some(step) => step.1 = step.1.checked_add(factor)?,
        None => steps.push((part, factor)),
    }
    Some(())
}
