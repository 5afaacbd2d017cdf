//! Finds the checks of a function and puts them in.

use super::accesses::{Access, Atomic, Extent, Meaning, Reader};
use super::also::{Lines, Standing, Table};
use super::builder::Builder;
use super::context::{self, Calls, Keeping};
use super::decisions::Decisions;
use super::effects;
use super::ir::{At, Block, Ir, Opcode, Value, attribute_kind};
use super::links::{self, Link};
use super::loops::{Sweep, Work};
use super::nest::Nest;
use super::places::Places;
use super::private::Private;
use super::redirect::redirect;
use super::redundant;
use super::speculated::Speculated;
use super::stretches::Filling;
use super::templates::{Shape, Template};
use super::whole::Whole;
use super::{lanes, log, loops, neighbours, outside, perform, steady, stretches, unmasked};
use crate::decisions::Rule;
use crate::module::{Options, Placement};
use deadheat_abi::{hooks, shadow};
use llvm_sys::target::LLVMTargetDataRef;
use std::collections::{BTreeSet, HashSet};

/// Instruments functions of one module.
pub struct Inserter<'m, 'u> {
    ir: Ir<'m>,
    builder: Builder<'m>,
    reader: Reader,
    places: Places<'m>,
    private: Private<'m>,
    /// What all of the program says of its memory, if that is asked.
    whole: Option<Whole<'m>>,
    used: &'u mut BTreeSet<Template>,
    kinds: Kinds,
    /// Whether accesses are to be counted.
    count: bool,
    /// For a program that is to be recorded.
    record: bool,
    /// Whether accesses and checks are to be logged, and which of the two is put in now.
    log: Option<Logged>,
    placement: Placement,
    /// What calls do.
    calls: effects::Calls<'m>,
    decisions: Decisions,
    /// Variables whose address goes nowhere.
    kept: HashSet<Value<'m>>,
    /// Lines of accesses that checks stand for, besides their own.
    lines: Table,
}

/// What goes to the log of a program that has one.
#[derive(Clone, Copy, PartialEq)]
enum Logged {
    Accesses,
    /// Those that have no check by this rule.
    Untold(Rule),
    Checks,
}

/// Numbers of attributes and metadata.
struct Kinds {
    noreturn: u32,
    returns_twice: u32,
    /// They say what a function does to memory and to other threads: more, now.
    outdated: [u32; 3],
    nosync: u32,
    nonlazybind: u32,
    nounwind: u32,
    invariant_load: u32,
}

/// What a function needs.
#[derive(Default)]
struct Plan<'m> {
    plain: Vec<(Value<'m>, Access<'m>)>,
    /// Those that need no check by what other functions do.
    untold: Vec<(Value<'m>, Access<'m>, Rule)>,
    /// Loads and stores that the runtime makes, and their bytes.
    performed: Vec<(Value<'m>, u64)>,
    /// Stores of what may be pointers, checked or not.
    links: Vec<Link<'m>>,
    atomic: Vec<(Value<'m>, Atomic<'m>)>,
    fences: Vec<(Value<'m>, u32)>,
    calls: Calls<'m>,
    /// How many plain accesses of shared memory a block makes, checked or not, and the first of them.
    counts: Vec<(Value<'m>, u64)>,
}

impl<'m, 'u> Inserter<'m, 'u> {
    /// For a module. The tests used are added to `used`.
    pub fn new(
        ir: Ir<'m>,
        layout: LLVMTargetDataRef,
        used: &'u mut BTreeSet<Template>,
        options: &Options,
        calls: effects::Calls<'m>,
    ) -> Self {
        let whole = (options.placement != Placement::Off).then(|| Whole::new(ir, &calls));
        Inserter {
            ir,
            builder: Builder::new(ir),
            reader: Reader::new(layout),
            places: Places::new(ir, layout),
            private: Private::new(ir),
            whole,
            used,
            count: options.count,
            kinds: Kinds {
                noreturn: attribute_kind("noreturn"),
                returns_twice: attribute_kind("returns_twice"),
                outdated: ["memory", "nosync", "speculatable"].map(attribute_kind),
                nosync: attribute_kind("nosync"),
                nonlazybind: attribute_kind("nonlazybind"),
                nounwind: attribute_kind("nounwind"),
                invariant_load: ir.metadata_kind("invariant.load"),
            },
            record: options.record,
            log: options.log.then_some(Logged::Checks),
            placement: options.placement,
            calls,
            decisions: Decisions::new(options.explain),
            kept: steady::kept(ir),
            lines: Table::default(),
        }
    }

    /// What became of the accesses of all functions, and the lines to put in once the inline tests are in place.
    pub fn finish(self) -> (Decisions, Table) {
        (self.decisions, self.lines)
    }

    /// The loads of a function where the program may not read.
    pub fn speculated(&self, function: Value<'m>) -> Speculated<'m> {
        let layout = self.reader.layout();
        Speculated::find(
            self.ir,
            &self.builder,
            &self.calls,
            layout,
            (function, self.record),
        )
    }

    /// Instruments a function.
    pub fn instrument(&mut self, function: Value<'m>, speculated: &Speculated<'m>) {
        let blocks = function.blocks();
        let mut plan = Plan::default();
        self.places.enter_function();
        for &block in &blocks {
            self.plan_block((function, speculated), block, &mut plan);
        }
        plan.plain.reverse();
        let logged = if self.log.is_some() {
            plan.plain.clone()
        } else {
            Vec::new()
        };
        let mut standing = Standing::default();
        if self.placement != Placement::Off && !self.record {
            let decisions = &mut self.decisions;
            redundant::remove(
                &mut plan.plain,
                &blocks,
                &self.calls,
                self.reader.layout(),
                &mut standing,
                |at, access, rule, by| decisions.note(at, access, rule, by),
            );
        }
        let mut sweeps = Vec::new();
        if self.placement == Placement::Full && !self.record && plan.calls.twice.is_empty() {
            sweeps = loops::sweep(
                self.ir,
                &self.builder,
                &self.reader,
                &self.calls,
                (&Nest::new(&blocks), &self.kept),
                &mut plan.plain,
            );
            self.decisions.note_sweeps(&sweeps);
        }
        let (mut fillings, mut ends) = (Vec::new(), Vec::new());
        if self.placement == Placement::Full && !self.record {
            let decisions = &mut self.decisions;
            neighbours::merge(
                &mut plan.plain,
                &blocks,
                &self.calls,
                &self.builder,
                self.reader.layout(),
                &mut standing,
                |at, access, rule, by| decisions.note(at, access, rule, by),
            );
            if plan.calls.twice.is_empty() {
                (fillings, ends) = stretches::find(
                    self.ir,
                    &self.builder,
                    &self.reader,
                    &self.calls,
                    (&Nest::new(&blocks), &self.kept),
                    &plan.plain,
                );
            }
        }
        if self.count {
            for &(at, count) in &plan.counts {
                self.builder.before(at);
                let ty = self.ir.function_type(self.ir.void(), &[self.ir.integer(64)]);
                let hook = self.ir.declare(hooks::ACCESSES, ty);
                self.builder.call(hook, ty, &[self.ir.number(count)]);
            }
        }
        let checks = !plan.plain.is_empty() || !plan.atomic.is_empty() || !sweeps.is_empty();
        let mut keeping = plan.calls.keeping(checks);
        if keeping == Keeping::Not
            && plan.fences.is_empty()
            && plan.performed.is_empty()
            && plan.links.is_empty()
            && (plan.untold.is_empty() || self.log.is_none())
        {
            return;
        }
        for kind in self.kinds.outdated {
            function.remove(kind);
        }

        if self.record {
            // Traces have no stacks.
            keeping = Keeping::Not;
        }
        self.to_entry(blocks[0]);
        if self.log.is_some() {
            log::locals(self.ir, &self.builder, blocks[0], self.reader.layout());
            self.to_entry(blocks[0]);
        }
        let thread = context::thread_variable(self.ir, &self.builder);
        // Contexts first: a check must come after the function's value is stored, and before the old one is put back.
        context::keep(self.ir, &self.builder, thread, keeping, &plan.calls);
        if self.log.is_some() {
            // The same ways to bytes as checks have, so that nothing is logged of one and not of the other.
            self.log = Some(Logged::Accesses);
            for (at, access) in logged {
                self.builder.before(at);
                self.check(access, thread, keeping, None);
            }
            for (at, access, rule) in plan.untold {
                self.log = Some(Logged::Untold(rule));
                self.builder.before(at);
                self.check(access, thread, keeping, None);
            }
            self.log = Some(Logged::Checks);
        }
        for (at, access) in plan.plain {
            let filling = fillings.iter().find(|filling| filling.at == at);
            let rule = filling.map_or(Rule::Checked, |_| Rule::Stretched);
            self.decisions.note(at, &access, rule, None);
            let lines = match filling {
                Some(filling) => stretches::lines(&fillings, filling, &standing),
                None => Lines::of(at, standing.of(at, &access).iter().copied()),
            };
            let also = lines.map(|lines| self.ir.number(self.lines.add(lines)));
            self.builder.before(at);
            match filling {
                Some(filling) => self.fill(filling, thread, (keeping, also)),
                None => self.check(access, thread, keeping, also),
            }
        }
        for (filling, before) in ends {
            let filling = &fillings[filling];
            let lines = stretches::lines(&fillings, filling, &standing);
            let also = lines.map(|lines| self.ir.number(self.lines.add(lines)));
            self.builder.before(before);
            self.builder.with_line_of(filling.at);
            if self.log.is_some() {
                log::stretches(self.ir, &self.builder, filling.state);
            }
            self.test(Shape::Stretches, true, (keeping, also), &[filling.state, thread]);
        }
        for sweep in sweeps {
            self.check_sweep(&sweep, &standing, thread, keeping);
        }
        // Behind the checks that come before a call: what it releases comes after them.
        if self.log.is_some() {
            let atomics = plan.atomic.iter().map(|(at, _)| *at);
            for at in atomics.chain(plan.fences.iter().map(|(at, _)| *at)) {
                log::atomic(self.ir, &self.builder, at);
            }
            for &call in &plan.calls.returning {
                log::call(self.ir, &self.builder, call);
            }
        }
        let layout = self.reader.layout();
        let is_made =
            |(at, atomic): &(Value<'m>, Atomic<'m>)| !self.record && perform::can_atomic(*at, atomic, layout);
        let (made, surrounded): (Vec<_>, Vec<_>) = plan.atomic.into_iter().partition(is_made);
        for (at, atomic) in surrounded {
            self.surround(at, atomic, thread, keeping);
        }
        for (at, order) in plan.fences {
            self.builder.after(at);
            let ty = self.ir.function_type(self.ir.void(), &[self.ir.integer(32)]);
            let hook = self.ir.declare(hooks::FENCE, ty);
            self.builder.call(hook, ty, &[self.ir.small(order)]);
        }
        for link in plan.links {
            link.tell(self.ir, &self.builder);
        }
        let calls = plan.calls;
        for call in calls.returning.iter().filter(|_| !self.record) {
            links::after_call(self.ir, &self.builder, *call);
        }
        for call in calls.returning.into_iter().chain(calls.ending) {
            if !redirect(self.ir, call) && self.may_go_outside(call) {
                outside::surround(self.ir, &self.builder, call, self.reader.layout());
            }
        }
        for call in calls.replacing {
            redirect(self.ir, call);
        }
        // Last: what was planned above may use values that are replaced here.
        for (at, bytes) in plan.performed {
            perform::replace(self.ir, &self.builder, at, bytes);
        }
        for (at, atomic) in made {
            self.builder.before(at);
            let context = self.context(thread, keeping);
            perform::replace_atomic(self.ir, &self.builder, at, atomic.what, context);
        }
    }

    /// What a block needs. Walks backwards; so do those that look at the plan until it is turned round.
    fn plan_block(
        &mut self,
        (function, speculated): (Value<'m>, &Speculated<'m>),
        block: Block<'m>,
        plan: &mut Plan<'m>,
    ) {
        let instructions: Vec<_> = block.instructions().collect();
        self.places.enter_block(&instructions);
        let replaced = instructions.iter().any(|instruction| instruction.is_musttail());
        let mut count: Option<(Value<'m>, u64)> = None;
        for (index, &at) in instructions.iter().enumerate().rev() {
            match self.reader.read(at) {
                Meaning::None => {}
                Meaning::Plain(_) if speculated.has(at) => {}
                Meaning::Plain(mut accesses) => {
                    let mut at = at;
                    if let Some(found) = unmasked::find(at, &instructions[index + 1..]) {
                        accesses.clear();
                        if let Some(selection) = found {
                            accesses.push(self.reader.unmasked(at, &selection));
                            at = selection.at;
                        }
                    }
                    let parts = lanes::looked_at(at);
                    if let (Some(parts), [whole]) = (&parts, &accesses[..]) {
                        accesses = lanes::parts(&self.builder, self.reader.layout(), at, *whole, parts);
                    }
                    for mut access in accesses.into_iter().rev() {
                        access.place = self.places.place(index, access.pointer, access.alignment);
                        if let Some(rule) = self.needs_none(at, access) {
                            self.decisions.note(at, &access, rule, None);
                            continue;
                        }
                        count = Some((at, count.map_or(1, |(_, count)| count + 1)));
                        if let Some(rule) = self.needs_none_by_others(access) {
                            self.decisions.note(at, &access, rule, None);
                            plan.untold.push((at, access, rule));
                            continue;
                        }
                        if self.record {
                            match access.extent {
                                Extent::Bytes(size)
                                    if parts.is_none() && perform::can(at, size, self.reader.layout()) =>
                                {
                                    plan.performed.push((at, size));
                                }
                                _ => plan.plain.push((at, access)),
                            }
                            continue;
                        }
                        plan.links.extend(Link::plain(at, access, self.reader.layout()));
                        plan.plain.push((at, access));
                    }
                }
                Meaning::Atomic(atomic) => {
                    if !self.private.is_private(atomic.pointer, true) {
                        plan.atomic.push((at, atomic));
                    }
                }
                Meaning::Fence(order) => {
                    plan.fences.push((at, order as u32));
                }
            }
            match at.opcode() {
                Some(Opcode::LLVMRet) if !replaced => plan.calls.returns.push(at),
                Some(Opcode::LLVMLandingPad) => plan.calls.landing_pads.push(at),
                _ => {}
            }
            if at.is_call() && at.callee().intrinsic().is_none() && !at.callee().is_assembly() {
                self.plan_call(function, at, &mut plan.calls);
            }
        }
        plan.counts.extend(count);
    }

    fn plan_call(&self, function: Value<'m>, call: Value<'m>, calls: &mut Calls<'m>) {
        if call.is_musttail() {
            calls.replacing.push(call);
        } else if call.call_attribute(At::Function, self.kinds.noreturn).is_some() {
            calls.ending.push(call);
        } else {
            calls.returning.push(call);
            if call.callee() == function {
                calls.recursive.push(call);
            }
            if call
                .call_attribute(At::Function, self.kinds.returns_twice)
                .is_some()
            {
                calls.twice.push(call);
            }
        }
    }

    /// Whether a call may be one of code that is not instrumented, and of consequence.
    fn may_go_outside(&self, call: Value<'m>) -> bool {
        outside::may_be_called(call)
            && call.call_attribute(At::Function, self.kinds.nosync).is_none()
            && call
                .call_attribute(At::Function, self.kinds.returns_twice)
                .is_none()
    }

    /// Why an access needs no check, if it needs none.
    fn needs_none(&mut self, at: Value<'m>, access: Access<'m>) -> Option<Rule> {
        if access.extent == Extent::Bytes(0) {
            return Some(Rule::Constant);
        }
        // LLVM's word for memory that never changes while it can be read: tables of virtual functions and the like.
        if !access.write && at.metadata(self.kinds.invariant_load).is_some() {
            return Some(Rule::Constant);
        }
        if !self.private.is_private(access.pointer, access.write) {
            return None;
        }
        // What only reads may do without is constant.
        let private = !self.decisions.wanted() || self.private.is_private(access.pointer, true);
        Some(if private { Rule::Private } else { Rule::Constant })
    }

    /// The same by what other functions do.
    fn needs_none_by_others(&mut self, access: Access<'m>) -> Option<Rule> {
        let whole = self.whole.as_mut()?;
        if self.record {
            // What private memory holds a missing call may learn of, so that writes of it count, and come out with, so that reads do.
            let constant = !access.write && whole.is_published(access.pointer);
            return constant.then_some(Rule::Published);
        }
        whole.rule(access.pointer, access.write)
    }

    /// Puts the builder behind the locals of the entry block. All locals must be there: in another block than the first,
    /// where inlined tests would leave them, they would be allocated at run time.
    fn to_entry(&self, entry: Block<'m>) {
        let mut instructions = entry.instructions();
        let first = instructions.find(|at| at.opcode() != Some(Opcode::LLVMAlloca));
        self.builder
            .before(first.expect("a block ends with an instruction that is no alloca"));
        for at in instructions {
            if at.opcode() == Some(Opcode::LLVMAlloca) && at.operand(0).constant_integer().is_some() {
                self.builder.take_here(at);
            }
        }
        self.builder.without_line();
    }

    /// Puts in the check of an access; `also` is the number of further lines.
    fn check(&mut self, access: Access<'m>, thread: Value<'m>, keeping: Keeping, also: Option<Value<'m>>) {
        let Access {
            pointer,
            extent,
            alignment,
            write,
            place,
        } = access;
        let keeping = (keeping, also);
        match extent {
            Extent::Bytes(bytes) => match Shape::of(bytes, alignment, place).filter(|_| !self.record) {
                Some(shape) => self.call(shape, write, keeping, &[pointer, thread]),
                None => {
                    let len = self.ir.number(bytes);
                    self.call(Shape::Range, write, keeping, &[pointer, len, thread]);
                }
            },
            Extent::Length(len) => {
                let len = self.builder.widen(len);
                self.call(Shape::Range, write, keeping, &[pointer, len, thread]);
            }
            Extent::Lanes {
                element,
                mask,
                set,
                limit,
            } => {
                let mask = self.bits(mask);
                let mask = if set { mask } else { self.builder.not(mask) };
                for lane in 0..lanes(mask) {
                    let pointer = self.builder.offset(pointer, u64::from(lane) * element);
                    self.check_lane(lane, pointer, (element, mask, limit), write, thread, keeping);
                }
            }
            Extent::Scattered { element, mask, limit } => {
                for lane in 0..lanes(mask) {
                    let pointer = self.builder.element(pointer, lane);
                    self.check_lane(lane, pointer, (element, mask, limit), write, thread, keeping);
                }
            }
            Extent::Indexed {
                element,
                mask,
                indices,
                scale,
            } => {
                let mask = self.bits(mask);
                // One of the two may have more elements than the processor uses.
                for lane in 0..lanes(mask).min(lanes(indices)) {
                    let index = self.builder.widen_signed(self.builder.element(indices, lane));
                    let distance = self.builder.multiply(index, self.ir.number(scale));
                    let pointer = self.builder.offset_by(pointer, distance);
                    self.check_lane(lane, pointer, (element, mask, None), write, thread, keeping);
                }
            }
            Extent::Packed { element, mask } => {
                let bits = self.ir.integer(lanes(mask));
                let (count, ty) = self.ir.intrinsic("llvm.ctpop", &[bits]);
                let mask = self.builder.reinterpret(mask, bits);
                let count = self.builder.call(count, ty, &[mask]);
                let count = self.builder.widen(count);
                let len = self.builder.multiply(count, self.ir.number(element));
                self.call(Shape::Range, write, keeping, &[pointer, len, thread]);
            }
        }
    }

    /// A mask as a vector of bits.
    fn bits(&self, mask: Value<'m>) -> Value<'m> {
        let (count, element) = mask.ty().vector().expect("a mask is a vector");
        if element.integer_bits() == Some(1) {
            return mask;
        }
        let bits = element.store_size(self.reader.layout()) as u32 * 8;
        let numbers = self.ir.integer_vector(bits, count);
        self.builder.negative(self.builder.reinterpret(mask, numbers))
    }

    /// Puts in the check of one element of a vector, made if the mask has it and it is below the limit.
    fn check_lane(
        &mut self,
        lane: u32,
        pointer: Value<'m>,
        (element, mask, limit): (u64, Value<'m>, Option<Value<'m>>),
        write: bool,
        thread: Value<'m>,
        keeping: (Keeping, Option<Value<'m>>),
    ) {
        let builder = &self.builder;
        let mut active = builder.element(mask, lane);
        if let Some(limit) = limit {
            active = builder.and(active, builder.below(self.ir.small(lane), limit));
        }
        if active.constant_integer() != Some(0) {
            let len = self.ir.number(element);
            self.call(Shape::RangeIf, write, keeping, &[pointer, len, active, thread]);
        }
    }

    fn call(
        &mut self,
        shape: Shape,
        write: bool,
        (keeping, also): (Keeping, Option<Value<'m>>),
        arguments: &[Value<'m>],
    ) {
        if let Some(what) = self.log {
            self.log(what, shape, write, arguments);
            if what != Logged::Checks {
                return;
            }
        }
        self.test(shape, write, (keeping, also), arguments);
    }

    /// Puts in an inline test.
    fn test(
        &mut self,
        shape: Shape,
        write: bool,
        (keeping, also): (Keeping, Option<Value<'m>>),
        arguments: &[Value<'m>],
    ) {
        let template = Template {
            write,
            shape,
            leaf: keeping != Keeping::Stored,
            record: self.record,
            also: also.is_some(),
        };
        self.used.insert(template);
        let mut arguments = arguments.to_vec();
        arguments.extend(also);
        self.builder
            .call(template.declare(self.ir), template.ty(self.ir), &arguments);
    }

    /// Puts in what logs an access or a check, with the arguments of the inline test.
    fn log(&self, what: Logged, shape: Shape, write: bool, arguments: &[Value<'m>]) {
        let (ir, builder) = (self.ir, &self.builder);
        let bytes = match shape {
            Shape::Exact { size, .. } | Shape::Loose { size } => ir.number(size),
            Shape::Granules { count, .. } => ir.number(count * shadow::GRANULE),
            Shape::Range => arguments[1],
            Shape::RangeIf => builder.select(arguments[2], arguments[1], ir.number(0)),
            // Logged with what is done in and behind loops.
            Shape::Stretch { .. } | Shape::Stretches | Shape::Batch => return,
        };
        match what {
            Logged::Accesses => log::access(ir, builder, (arguments[0], bytes), write, None),
            Logged::Untold(rule) => log::access(ir, builder, (arguments[0], bytes), write, Some(rule)),
            Logged::Checks => {
                let once = [ir.number(1), ir.number(0), bytes];
                log::check(ir, builder, arguments[0], once, write);
            }
        }
    }

    /// Puts in the check of a write that may go on with a stretch.
    fn fill(&mut self, filling: &Filling<'m>, thread: Value<'m>, keeping: (Keeping, Option<Value<'m>>)) {
        let Filling { state, size, .. } = *filling;
        let address = filling.access.pointer;
        if self.log.is_some() {
            log::stretch(self.ir, &self.builder, state, (address, size));
        }
        self.test(Shape::Stretch { size }, true, keeping, &[address, state, thread]);
    }

    /// Puts in the check behind a loop.
    fn check_sweep(
        &mut self,
        sweep: &Sweep<'m>,
        standing: &Standing<'m>,
        thread: Value<'m>,
        keeping: Keeping,
    ) {
        let own = sweep.accesses.iter().map(|access| access.0);
        let others = { sweep.accesses.iter() }.flat_map(|(at, access)| standing.of(*at, access));
        let lines = Lines::of(sweep.accesses[0].0, own.chain(others.copied()));
        self.builder.before(sweep.before);
        self.builder.with_line_of(sweep.accesses[0].0);
        if self.log.is_some() {
            log::sweep(self.ir, &self.builder, sweep);
        }
        if let Work::Batch {
            state,
            now,
            far,
            count,
            stride,
            size,
        } = sweep.work
        {
            let also = lines.map(|lines| self.ir.number(self.lines.add(lines)));
            let size = self.ir.number(size);
            let arguments = [state, now, far, count, stride, size, thread];
            self.test(Shape::Batch, sweep.write, (keeping, also), &arguments);
            return;
        }
        let (ir, builder) = (self.ir, &self.builder);
        let context = self.context(thread, keeping);
        let (pointer, number) = (ir.pointer(), ir.integer(64));
        let (names, parameters, arguments) = match sweep.work {
            Work::Check {
                address,
                count,
                stride,
                size,
            } => (
                [hooks::READ_STRIDED, hooks::WRITE_STRIDED],
                vec![pointer, number, number, number, number],
                vec![address, count, stride, ir.number(size), context],
            ),
            Work::Gather {
                footprint,
                address,
                len,
            } => (
                [hooks::READ_GATHER, hooks::WRITE_GATHER],
                vec![pointer, pointer, number, number],
                vec![footprint, address, len, context],
            ),
            Work::Column {
                footprint,
                address,
                count,
                stride,
                size,
            } => {
                let places = builder.multiply(count, ir.number(hooks::COLUMN));
                (
                    [hooks::READ_COLUMN, hooks::WRITE_COLUMN],
                    vec![pointer, pointer, number, number, number],
                    vec![
                        footprint,
                        address,
                        builder.add(places, ir.number(size)),
                        stride,
                        context,
                    ],
                )
            }
            Work::Commit { footprint } => (
                [hooks::READ_COMMIT, hooks::WRITE_COMMIT],
                vec![pointer, number],
                vec![footprint, context],
            ),
            // Done.
            Work::Batch { .. } => return,
        };
        let ty = ir.function_type(ir.void(), &parameters);
        let hook = ir.declare(names[usize::from(sweep.write)], ty);
        // Bound when the program is loaded: the resolver of lazy binding spoils r10.
        for kind in [self.kinds.nonlazybind, self.kinds.nounwind] {
            ir.add(hook, kind, 0);
        }
        builder.call_preserving(hook, ty, &arguments);
        if let Some(lines) = lines {
            lines.mark(builder);
        }
    }

    fn context(&self, thread: Value<'m>, keeping: Keeping) -> Value<'m> {
        match keeping {
            Keeping::Stored => context::found(&self.builder, thread),
            _ => context::compute(self.ir, &self.builder, thread),
        }
    }

    /// Puts an atomic operation between the calls that make it one with its effect on clocks.
    fn surround(&self, at: Value<'m>, atomic: Atomic<'m>, thread: Value<'m>, keeping: Keeping) {
        let (ir, builder) = (self.ir, &self.builder);
        let ty = ir.function_type(ir.void(), &[ir.pointer()]);
        builder.before(at);
        builder.call(ir.declare(hooks::ATOMIC_BEGIN, ty), ty, &[atomic.pointer]);
        builder.after(at);
        if !self.record {
            links::after_atomic(ir, builder, at, atomic.pointer, self.reader.layout());
        }
        let mut what = ir.small(atomic.what.pack());
        if let Some(failed) = atomic.failed {
            what = builder.select(builder.member(at, 1), what, ir.small(failed.pack()));
        }
        let context = self.context(thread, keeping);
        let ty = ir.function_type(ir.void(), &[ir.pointer(), ir.integer(32), ir.integer(64)]);
        builder.call(
            ir.declare(hooks::ATOMIC_END, ty),
            ty,
            &[atomic.pointer, what, context],
        );
    }
}

/// Elements of a mask.
fn lanes(mask: Value<'_>) -> u32 {
    mask.ty().vector().expect("a mask is a vector").0
}
