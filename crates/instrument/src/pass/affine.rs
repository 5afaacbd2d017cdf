//! Values that a loop changes by the same amount each time round.
//!
//! A value is a *sum* of constants and of values that the loop leaves alone, or products of two, each times a constant; or it is
//! such a sum at first and grows by another each time. All is modulo 2⁶⁴, as addresses are. Narrower numbers are followed only where
//! their arithmetic never wraps, so that their extension is the sum of their parts' extensions.

use super::ir::{Opcode, Value};
use super::nest::{Loop, Nest};
use super::steady::Steady;
use llvm_sys::target::LLVMTargetDataRef;
use std::collections::HashMap;

/// So deep is looked into expressions.
const DEPTH: u32 = 24;

/// How a value of fewer than 64 bits is meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    /// It has 64.
    Whole,
    /// Its sign is extended.
    Signed,
    /// Zeros are put before it.
    Unsigned,
    /// It is a variable, and what is meant is the 64 bits in it, which the loop leaves alone.
    Inside,
}

/// A value, and how it is meant.
pub type Part<'m> = (Value<'m>, Width);

/// How a value is computed from others, where no bits are lost.
pub enum Computed<'m> {
    /// The first and the second, which counts with this sign.
    Sum(Part<'m>, Part<'m>, i64),
    /// Both, one times the other.
    Product(Part<'m>, Part<'m>),
    /// One times a constant.
    Multiple(Part<'m>, i64),
    /// It is the other.
    Same(Part<'m>),
}

/// How a value is computed, meant in this way.
pub fn computed<'m>(value: Value<'m>, width: Width) -> Option<Computed<'m>> {
    use Opcode::*;
    let part = |i| (value.operand(i), width);
    let exact = match width {
        Width::Whole => matches!(value.ty().integer_bits(), Some(64)) || value.ty().is_plain_pointer(),
        Width::Signed => value.never_overflows(),
        Width::Unsigned => value.never_carries(),
        Width::Inside => false,
    };
    Some(match value.opcode()? {
        LLVMAdd if exact => Computed::Sum(part(0), part(1), 1),
        LLVMSub if exact => Computed::Sum(part(0), part(1), -1),
        LLVMOr if value.is_disjoint() => Computed::Sum(part(0), part(1), 1),
        LLVMMul if exact => Computed::Product(part(0), part(1)),
        LLVMShl if exact => {
            let by = value.operand(1).constant_integer().filter(|by| *by < 63)?;
            Computed::Multiple(part(0), 1 << by)
        }
        LLVMSExt if width != Width::Unsigned => Computed::Same((value.operand(0), Width::Signed)),
        LLVMZExt => {
            let signed = value.is_nonnegative() && width != Width::Unsigned;
            let width = if signed { Width::Signed } else { Width::Unsigned };
            Computed::Same((value.operand(0), width))
        }
        LLVMPtrToInt | LLVMIntToPtr | LLVMFreeze if exact => Computed::Same(part(0)),
        _ => return None,
    })
}

/// The constant that a value is, meant in this way.
pub fn constant(value: Value<'_>, width: Width) -> Option<i64> {
    let number = value.constant_integer()?;
    let bits = value.ty().integer_bits()?;
    Some(match width {
        Width::Signed if bits < 64 => (number as i64) << (64 - bits) >> (64 - bits),
        _ => number as i64,
    })
}

/// A value, or a product of two, times a constant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Term<'m> {
    /// The value.
    pub value: Part<'m>,
    /// The other one.
    pub by: Option<Part<'m>>,
    /// The constant.
    pub factor: i64,
}

impl<'m> Term<'m> {
    /// The values.
    pub fn parts(&self) -> impl Iterator<Item = Part<'m>> {
        [self.value].into_iter().chain(self.by)
    }

    /// Whether another differs in its constant only.
    fn is_like(&self, other: &Term<'m>) -> bool {
        (self.value, self.by) == (other.value, other.by)
            || (Some(self.value), self.by) == (other.by, Some(other.value))
    }
}

/// A constant and values times constants.
#[derive(Clone, PartialEq, Eq)]
pub struct Sum<'m> {
    /// No two alike, no zero.
    pub terms: Vec<Term<'m>>,
    /// The rest.
    pub constant: i64,
}

impl<'m> Sum<'m> {
    /// A constant.
    pub fn constant(constant: i64) -> Self {
        Sum {
            terms: Vec::new(),
            constant,
        }
    }

    fn value(value: Value<'m>, width: Width) -> Self {
        Sum {
            terms: vec![Term {
                value: (value, width),
                by: None,
                factor: 1,
            }],
            constant: 0,
        }
    }

    /// The constant that it is.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Whether another differs from it by a constant only.
    pub fn has_terms_of(&self, other: &Sum<'m>) -> bool {
        self.terms.len() == other.terms.len() && self.terms.iter().all(|term| other.terms.contains(term))
    }

    /// The same of other values: what `part` answers with for each.
    pub fn with_parts(&self, part: impl Fn(Part<'m>) -> Part<'m>) -> Self {
        let terms = self.terms.iter().map(|term| Term {
            value: part(term.value),
            by: term.by.map(&part),
            factor: term.factor,
        });
        Sum {
            terms: terms.collect(),
            constant: self.constant,
        }
    }

    fn plus(mut self, other: &Sum<'m>, times: i64) -> Self {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(times));
        for more in &other.terms {
            let factor = more.factor.wrapping_mul(times);
            match self.terms.iter_mut().find(|term| term.is_like(more)) {
                Some(term) => term.factor = term.factor.wrapping_add(factor),
                None => self.terms.push(Term { factor, ..*more }),
            }
        }
        self.terms.retain(|term| term.factor != 0);
        self
    }

    /// What is between another and it.
    pub fn minus(&self, other: &Sum<'m>) -> Self {
        self.clone().plus(other, -1)
    }

    /// The product of two, if no value in it is a product yet.
    fn product(&self, other: &Sum<'m>) -> Option<Self> {
        let mut product = other.times(self.constant).plus(self, other.constant);
        product.constant = self.constant.wrapping_mul(other.constant);
        for (one, other) in self
            .terms
            .iter()
            .flat_map(|one| other.terms.iter().map(move |other| (one, other)))
        {
            if one.by.is_some() || other.by.is_some() {
                return None;
            }
            let both = Sum {
                terms: vec![Term {
                    value: one.value,
                    by: Some(other.value),
                    factor: one.factor.wrapping_mul(other.factor),
                }],
                constant: 0,
            };
            product = product.plus(&both, 1);
        }
        Some(product)
    }

    fn times(&self, factor: i64) -> Self {
        Sum::constant(0).plus(self, factor)
    }
}

/// What a value is in the first round of a loop, and what each round adds.
#[derive(Clone, PartialEq, Eq)]
pub struct Affine<'m> {
    /// In the first round.
    pub start: Sum<'m>,
    /// Added each round.
    pub step: Sum<'m>,
}

impl<'m> Affine<'m> {
    fn still(start: Sum<'m>) -> Self {
        Affine {
            start,
            step: Sum::constant(0),
        }
    }

    fn plus(self, other: &Affine<'m>, times: i64) -> Self {
        Affine {
            start: self.start.plus(&other.start, times),
            step: self.step.plus(&other.step, times),
        }
    }

    /// The product, if it is still affine.
    fn times(&self, other: &Affine<'m>) -> Option<Self> {
        let scaled = |one: &Affine<'m>, other: &Affine<'m>| {
            other.step.as_constant().filter(|step| *step == 0)?;
            Some(Affine {
                start: one.start.product(&other.start)?,
                step: one.step.product(&other.start)?,
            })
        };
        scaled(self, other).or_else(|| scaled(other, self))
    }
}

/// The values of one loop.
pub struct Values<'a, 'm> {
    nest: &'a Nest<'m>,
    around: &'a Loop,
    layout: LLVMTargetDataRef,
    known: HashMap<(Value<'m>, Width), Option<Affine<'m>>>,
    /// Which variables the loop leaves alone.
    steady: &'a Steady<'a, 'm>,
}

impl<'a, 'm> Values<'a, 'm> {
    /// Of a loop.
    pub fn new(
        nest: &'a Nest<'m>,
        around: &'a Loop,
        layout: LLVMTargetDataRef,
        steady: &'a Steady<'a, 'm>,
    ) -> Self {
        Values {
            nest,
            around,
            layout,
            known: HashMap::new(),
            steady,
        }
    }

    /// The variable that a value of 64 bits is read from in the loop, if the loop leaves that alone.
    fn read_of(&self, value: Value<'m>) -> Option<Value<'m>> {
        let whole = value.ty().is_plain_pointer() || value.ty().integer_bits() == Some(64);
        self.steadily_read(value).filter(|_| whole)
    }

    /// The same of any value.
    fn steadily_read(&self, value: Value<'m>) -> Option<Value<'m>> {
        let read = value.opcode() == Some(Opcode::LLVMLoad) && self.changes(value);
        read.then(|| self.steady.variable(self.nest, self.around, value))?
    }

    /// Whether a value is the same in each round: it is computed from what the loop leaves alone.
    pub fn is_still(&self, value: Value<'m>) -> bool {
        self.stays(value, DEPTH)
    }

    fn stays(&self, value: Value<'m>, depth: u32) -> bool {
        use Opcode::*;
        if value.is_constant() || !self.changes(value) || self.steadily_read(value).is_some() {
            return true;
        }
        let computed = matches!(
            value.opcode(),
            Some(
                LLVMAdd
                    | LLVMSub
                    | LLVMMul
                    | LLVMSDiv
                    | LLVMUDiv
                    | LLVMShl
                    | LLVMLShr
                    | LLVMAShr
                    | LLVMAnd
                    | LLVMOr
                    | LLVMSExt
                    | LLVMZExt
                    | LLVMTrunc
                    | LLVMGetElementPtr
            )
        );
        computed && depth > 0 && value.operands().all(|operand| self.stays(operand, depth - 1))
    }

    /// What a value of 64 bits, or an address, is.
    pub fn of(&mut self, value: Value<'m>) -> Option<Affine<'m>> {
        self.find(value, Width::Whole, DEPTH)
    }

    /// What a number of fewer bits is with its sign extended, where it does not wrap.
    pub fn of_signed(&mut self, value: Value<'m>) -> Option<Affine<'m>> {
        self.find(value, Width::Signed, DEPTH)
    }

    /// The same of a number of any width, where it does not wrap.
    pub fn of_number(&mut self, value: Value<'m>) -> Option<Affine<'m>> {
        match value.ty().integer_bits() {
            Some(64) | None => self.of(value),
            Some(_) => self
                .find(value, Width::Signed, DEPTH)
                .or_else(|| self.find(value, Width::Unsigned, DEPTH)),
        }
    }

    fn find(&mut self, value: Value<'m>, width: Width, depth: u32) -> Option<Affine<'m>> {
        if let Some(number) = constant(value, width) {
            return Some(Affine::still(Sum::constant(number)));
        }
        if let Some(variable) = self.read_of(value).filter(|_| width == Width::Whole) {
            return Some(Affine::still(Sum::value(variable, Width::Inside)));
        }
        if !self.changes(value) {
            // Parts of one object have its beginning in common.
            let part = self
                .is_part(value)
                .then(|| self.address(value, depth.checked_sub(1)?));
            return Some(
                part.flatten()
                    .unwrap_or_else(|| Affine::still(Sum::value(value, width))),
            );
        }
        if let Some(known) = self.known.get(&(value, width)) {
            return known.clone();
        }
        let depth = depth.checked_sub(1)?;
        let found = match value.opcode()? {
            Opcode::LLVMPHI => self.phi(value, width, depth),
            _ => self.computed(value, width, depth),
        };
        self.known.insert((value, width), found.clone());
        found
    }

    /// Whether it is an address in a known distance from another.
    fn is_part(&self, value: Value<'m>) -> bool {
        let mut indices = value.operands().skip(1);
        value.opcode() == Some(Opcode::LLVMGetElementPtr)
            && value.ty().is_plain_pointer()
            && indices.all(|index| index.constant_integer().is_some())
    }

    /// Whether it is made in the loop.
    pub fn changes(&self, value: Value<'m>) -> bool {
        value
            .block()
            .is_some_and(|block| self.nest.number(block).is_none_or(|block| self.around.has(block)))
    }

    fn phi(&mut self, phi: Value<'m>, width: Width, depth: u32) -> Option<Affine<'m>> {
        if phi.block()? != self.nest.blocks[self.around.header] {
            return None;
        }
        let (mut first, mut next) = (None, None);
        for (value, from) in phi.incoming_from() {
            match from == self.nest.blocks[self.around.latch] {
                true => next = Some(value),
                false => first = Some(value),
            }
        }
        let start = self.find(first?, width, depth)?.start;
        // What comes next, if the present were a value like any other. What was found on the way holds for that only.
        let known = std::mem::take(&mut self.known);
        let present = Sum::value(phi, width);
        self.known
            .insert((phi, width), Some(Affine::still(present.clone())));
        let next = self.find(next?, width, depth);
        self.known = known;
        let next = next?;
        let step = next.start.plus(&present, -1);
        // What it grows by must not change, nor be itself.
        let changes = step
            .terms
            .iter()
            .flat_map(Term::parts)
            .any(|part| self.changes(part.0));
        let steady = next.step.as_constant() == Some(0) && !changes;
        steady.then_some(Affine { start, step })
    }

    fn computed(&mut self, value: Value<'m>, width: Width, depth: u32) -> Option<Affine<'m>> {
        let mut find = |(value, width): Part<'m>| self.find(value, width, depth);
        match computed(value, width) {
            Some(Computed::Sum(one, other, sign)) => Some(find(one)?.plus(&find(other)?, sign)),
            Some(Computed::Product(one, other)) => find(one)?.times(&find(other)?),
            Some(Computed::Multiple(one, factor)) => find(one)?.times(&Affine::still(Sum::constant(factor))),
            Some(Computed::Same(one)) => find(one),
            None if width == Width::Whole && value.opcode()? == Opcode::LLVMGetElementPtr => {
                self.address(value, depth)
            }
            None => None,
        }
    }

    fn address(&mut self, pointer: Value<'m>, depth: u32) -> Option<Affine<'m>> {
        if pointer.ty().vector().is_some() {
            return None;
        }
        let mut ty = pointer.element_type()?;
        let mut address = self.find(pointer.operand(0), Width::Whole, depth)?;
        for (i, index) in pointer.operands().skip(1).enumerate() {
            if i > 0 {
                if let Some(element) = ty.array() {
                    ty = element;
                } else {
                    let (member, place) = ty.member(index.constant_integer()?, self.layout)?;
                    ty = member;
                    address.start.constant = address.start.constant.wrapping_add(place as i64);
                    continue;
                }
            }
            let width = match index.ty().integer_bits()? {
                64 => Width::Whole,
                ..64 => Width::Signed,
                _ => return None,
            };
            let index = self.find(index, width, depth)?;
            address = address.plus(&index, ty.stride(self.layout) as i64);
        }
        Some(address)
    }
}
