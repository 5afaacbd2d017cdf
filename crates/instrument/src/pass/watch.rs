//! Variables that a loop leaves alone ([`super::steady`]), watched: another thread may change one all the same, without any order.
//!
//! That is a race, and reading the variable is checked. But where the loop went by way of it then is not where the variable leads before the
//! loop, or behind it: a check of that range would be of memory that was perhaps never accessed. So what the variable was before the
//! loop is kept, each load in the loop is compared with it, and behind the loop nothing is checked that was reached by a variable that
//! has changed meanwhile.

use super::affine::{Affine, Part, Sum, Term, Width};
use super::builder::Builder;
use super::ir::{Ir, Opcode, Value};
use super::nest::{Loop, Nest};

/// A variable of a loop.
struct Watched<'m> {
    variable: Value<'m>,
    /// What it was before the loop.
    first: Value<'m>,
    /// A word of the frame that is not 0 if the loop found something else there.
    differs: Value<'m>,
}

/// Those of one loop.
#[derive(Default)]
pub struct Watch<'m>(Vec<Watched<'m>>);

/// Whether variables that a loop leaves alone are part of it.
pub fn has_variables(value: &Affine<'_>) -> bool {
    variables(value).next().is_some()
}

fn variables<'a, 'm>(value: &'a Affine<'m>) -> impl Iterator<Item = Value<'m>> + 'a {
    let terms = value.start.terms.iter().chain(&value.step.terms);
    let inside = |(variable, width): Part<'m>| (width == Width::Inside).then_some(variable);
    terms.flat_map(Term::parts).filter_map(inside)
}

impl<'m> Watch<'m> {
    /// Watches the variables that `value` has, in a loop. Answers with what it is by what they were before the loop.
    pub fn begin(
        &mut self,
        ir: Ir<'m>,
        builder: &Builder<'m>,
        (nest, around): (&Nest<'m>, &Loop),
        value: &Affine<'m>,
    ) -> Affine<'m> {
        for variable in variables(value) {
            if self.of(variable).is_none() {
                self.0.push(watched(ir, builder, (nest, around), variable));
            }
        }
        let before = |sum: &Sum<'m>| {
            sum.with_parts(|part| match (part.1, self.of(part.0)) {
                (Width::Inside, Some(watched)) => (watched.first, Width::Whole),
                _ => part,
            })
        };
        Affine {
            start: before(&value.start),
            step: before(&value.step),
        }
    }

    /// `count`, or 0 if a variable that `value` has has changed. To be put behind the loop, at the builder's place.
    pub fn unless_changed(
        &self,
        ir: Ir<'m>,
        builder: &Builder<'m>,
        value: &Affine<'m>,
        count: Value<'m>,
    ) -> Value<'m> {
        let watched = variables(value).filter_map(|variable| self.of(variable));
        watched.fold(count, |count, watched| {
            let differs = builder.load(watched.differs);
            builder.select(builder.below(ir.number(0), differs), ir.number(0), count)
        })
    }

    fn of(&self, variable: Value<'m>) -> Option<&Watched<'m>> {
        self.0.iter().find(|watched| watched.variable == variable)
    }
}

fn watched<'m>(
    ir: Ir<'m>,
    builder: &Builder<'m>,
    (nest, around): (&Nest<'m>, &Loop),
    variable: Value<'m>,
) -> Watched<'m> {
    let in_loop = |at: &Value<'m>| {
        let block = at.block().and_then(|block| nest.number(block));
        at.opcode() == Some(Opcode::LLVMLoad) && block.is_some_and(|block| around.has(block))
    };
    let loads: Vec<Value<'m>> = variable.users().filter(in_loop).collect();
    builder.before(nest.blocks[0].first_real());
    builder.without_line();
    let differs = builder.local(1);
    builder.before(nest.blocks[around.entry].terminator());
    builder.without_line();
    let first = builder.load(variable);
    builder.store(ir.number(0), differs);
    for load in loads {
        builder.after(load);
        builder.without_line();
        let now = match load.ty().is_plain_pointer() {
            true => builder.address(load),
            false => load,
        };
        let either = builder.or(builder.load(differs), builder.xor(now, first));
        builder.store(either, differs);
    }
    Watched {
        variable,
        first,
        differs,
    }
}
