//! The solver: finds a schedule behind which two accesses are about to happen, or proves that there is none.
//!
//! What may be chosen is boolean: which events happen at all (each thread a prefix of what it did), which critical section
//! comes first, which write a read sees. A choice of an order is an edge, and edges must not form a cycle
//! ([`acyclic`]), which a SAT solver with a theory decides (RDIT's Algorithms 9 and 10 without its cubic formula).
//!
//! Constraints are made on demand. A solution is laid out as a schedule as close to the trace as it allows, and replayed;
//! a lock taken twice or a read that sees a wrong value adds the constraint that forbids it, and the search goes on. All
//! constraints hold in every schedule, so a contradiction is a proof; a schedule that replays well is an answer.

mod acyclic;
#[cfg(feature = "z3")]
pub mod z3;

use crate::graph::{Graph, Id, Read, raise};
use crate::query::{Answer, Query};
use acyclic::Acyclic;
use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, lbool};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

/// Stops the solver in time.
struct Deadline {
    at: Option<Instant>,
    /// How often it was asked: a look at the clock takes longer than most steps of the solver.
    asked: Cell<u32>,
}

impl Callbacks for Deadline {
    fn stop(&self) -> bool {
        self.asked.set(self.asked.get().wrapping_add(1));
        self.asked.get().is_multiple_of(64) && self.at.is_some_and(|at| Instant::now() >= at)
    }
}

/// What all questions about a window have in common.
#[derive(Debug)]
pub struct Solvers<'g> {
    graph: &'g Graph<'g>,
    /// The graph's edges, forward.
    after: Vec<Vec<Id>>,
}

impl<'g> Solvers<'g> {
    /// For a window.
    pub fn new(graph: &'g Graph<'g>) -> Solvers<'g> {
        let mut after = vec![Vec::new(); graph.events.len()];
        for id in 0..graph.events.len() as Id {
            for &before in graph.hard.get(id).iter().chain(graph.soft.get(id)) {
                after[before as usize].push(id);
            }
        }
        Solvers { graph, after }
    }

    /// Answers.
    pub fn solve(&self, query: &Query, deadline: Option<Instant>) -> Answer {
        let universe = universe(self.graph, query);
        Search::new(self, query, universe, deadline).run()
    }
}

/// All that could be of use in a schedule: what is needed, the writes that its reads could see, and the releases of its
/// locks, transitively.
pub fn universe(graph: &Graph<'_>, query: &Query) -> Vec<u32> {
    let mut cut = query.needed.clone();
    let mut done = vec![0; cut.len()];
    let add = |cut: &mut Vec<u32>, event: Id| {
        let needs = graph.included(event);
        if query.fits(graph, needs) {
            raise(cut, needs);
        }
    };
    while done != cut {
        for slot in 0..cut.len() {
            while done[slot] < cut[slot] {
                let event = graph.threads[slot][done[slot] as usize];
                done[slot] += 1;
                for read in graph.reads.get(event) {
                    graph
                        .candidates(event, read)
                        .for_each(|writer| add(&mut cut, writer));
                }
                if let Some(&section) = graph.begins.get(&event)
                    && let Some(release) = graph.sections[section as usize].release
                {
                    add(&mut cut, release);
                }
            }
        }
    }
    cut
}

/// A literal, or what is known without one.
#[derive(Clone, Copy)]
enum Term {
    True,
    False,
    Lit(Lit),
}

/// A write that a read may see, and the literal for that.
type Choice = (Option<Id>, Lit);

struct Search<'s> {
    solvers: &'s Solvers<'s>,
    graph: &'s Graph<'s>,
    query: &'s Query,
    universe: Vec<u32>,
    solver: Solver<Deadline>,
    theory: Acyclic<'s>,
    deadline: Option<Instant>,
    /// Whether an event happens, for those that may or may not.
    happens: FxHashMap<Id, Lit>,
    orders: FxHashMap<(Id, Id), Lit>,
    /// The sources of reads for which a constraint was made: None is what was there before the window.
    sources: FxHashMap<(Id, u32), Vec<Choice>>,
    excluded: FxHashSet<(u32, u32)>,
    undisturbed: FxHashSet<(Lit, Id)>,
    contradiction: bool,
}

impl<'s> Search<'s> {
    fn new(
        solvers: &'s Solvers<'s>,
        query: &'s Query,
        universe: Vec<u32>,
        deadline: Option<Instant>,
    ) -> Search<'s> {
        let graph = solvers.graph;
        let limit = Deadline {
            at: deadline,
            asked: Cell::new(0),
        };
        let mut search = Search {
            solvers,
            graph,
            query,
            solver: Solver::new(SolverOpts::default(), limit),
            theory: Acyclic::new(graph, &solvers.after, &universe),
            universe,
            deadline,
            happens: FxHashMap::default(),
            orders: FxHashMap::default(),
            sources: FxHashMap::default(),
            excluded: FxHashSet::default(),
            undisturbed: FxHashSet::default(),
            contradiction: false,
        };
        search.prefixes();
        search
    }

    /// What happens has what it needs.
    ///
    /// The solver does not choose these variables, which are most of them: what no constraint asks for does not happen. No clause
    /// has two of them that are not negated, so if those left open are taken as false, all clauses hold.
    fn prefixes(&mut self) {
        let graph = self.graph;
        for slot in 0..graph.slots() {
            for pos in self.query.needed[slot]..self.universe[slot] {
                let event = graph.threads[slot][pos as usize];
                let lit = Lit::new(self.solver.new_var(lbool::UNDEF, false), true);
                self.happens.insert(event, lit);
            }
        }
        for slot in 0..graph.slots() {
            for pos in self.query.needed[slot]..self.universe[slot] {
                let event = graph.threads[slot][pos as usize];
                let before = pos.checked_sub(1).map(|pos| graph.threads[slot][pos as usize]);
                let edges = graph.hard.get(event).iter().chain(graph.soft.get(event));
                for &needs in before.iter().chain(edges) {
                    self.clause(&[self.not(self.happens(event)), self.happens(needs)]);
                }
            }
        }
    }

    fn happens(&self, event: Id) -> Term {
        if self.graph.has(&self.query.needed, event) {
            Term::True
        } else {
            self.happens
                .get(&event)
                .map_or(Term::False, |&lit| Term::Lit(lit))
        }
    }

    fn not(&self, term: Term) -> Term {
        match term {
            Term::True => Term::False,
            Term::False => Term::True,
            Term::Lit(lit) => Term::Lit(!lit),
        }
    }

    /// Whether `a` comes before `b`.
    fn order(&mut self, a: Id, b: Id) -> Term {
        if self.graph.precedes(a, b) {
            return Term::True;
        }
        if self.graph.precedes(b, a) {
            return Term::False;
        }
        let (solver, theory) = (&mut self.solver, &mut self.theory);
        let lit = self.orders.entry((a, b)).or_insert_with(|| {
            let lit = Lit::new(solver.new_var_default(), true);
            theory.mean(lit, a, b);
            lit
        });
        Term::Lit(*lit)
    }

    fn clause(&mut self, terms: &[Term]) {
        let mut lits = Vec::with_capacity(terms.len());
        for term in terms {
            match term {
                Term::True => return,
                Term::False => {}
                Term::Lit(lit) => lits.push(*lit),
            }
        }
        if lits.is_empty() || !self.solver.add_clause_reuse(&mut lits) {
            self.contradiction = true;
        }
    }

    fn run(mut self) -> Answer {
        loop {
            if self.contradiction {
                return Answer::Ordered;
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Answer::Unknown;
            }
            let result = self.solver.solve_limited_th(&mut self.theory, &[]);
            if result == lbool::FALSE {
                return Answer::Ordered;
            } else if result != lbool::TRUE {
                return Answer::Unknown;
            }
            let schedule = self.lay_out();
            let known = (self.excluded.len(), self.sources.len(), self.undisturbed.len());
            if self.replay(&schedule) {
                return Answer::Race(schedule);
            }
            // Every replay that fails teaches something; if not, it would fail for ever.
            if known == (self.excluded.len(), self.sources.len(), self.undisturbed.len()) {
                return Answer::Unknown;
            }
        }
    }

    fn is_true(&self, lit: Lit) -> bool {
        self.solver.value_lit(lit) == lbool::TRUE
    }

    /// The solution as a schedule: of all events that can come next, always the first of the trace.
    fn lay_out(&self) -> Vec<Id> {
        let graph = self.graph;
        let mut cut = self.query.needed.clone();
        for (&event, &lit) in &self.happens {
            if self.is_true(lit) {
                let slot = graph.slot[event as usize] as usize;
                cut[slot] = cut[slot].max(graph.pos[event as usize] + 1);
            }
        }
        let mut waits: FxHashMap<Id, u32> = FxHashMap::default();
        let mut chosen: FxHashMap<Id, Vec<Id>> = FxHashMap::default();
        for (&(a, b), &lit) in &self.orders {
            if self.is_true(lit) && graph.has(&cut, a) && graph.has(&cut, b) {
                chosen.entry(a).or_default().push(b);
                *waits.entry(b).or_default() += 1;
            }
        }
        let mut ready = BinaryHeap::new();
        let mut missing = vec![0; graph.events.len()];
        for (thread, &count) in graph.threads.iter().zip(&cut) {
            for &event in &thread[..count as usize] {
                let edges = graph.hard.get(event).len() + graph.soft.get(event).len();
                let before = u32::from(graph.pos[event as usize] > 0);
                missing[event as usize] = edges as u32 + before + waits.get(&event).copied().unwrap_or(0);
                if missing[event as usize] == 0 {
                    ready.push(Reverse(event));
                }
            }
        }
        let mut schedule = Vec::new();
        while let Some(Reverse(event)) = ready.pop() {
            schedule.push(event);
            let (slot, pos) = (
                graph.slot[event as usize] as usize,
                graph.pos[event as usize] as usize,
            );
            let next = graph.threads[slot].get(pos + 1).into_iter();
            let chosen = chosen.get(&event).into_iter().flatten();
            for &after in next.chain(&self.solvers.after[event as usize]).chain(chosen) {
                if graph.has(&cut, after) {
                    missing[after as usize] -= 1;
                    if missing[after as usize] == 0 {
                        ready.push(Reverse(after));
                    }
                }
            }
        }
        schedule
    }

    /// Whether the schedule keeps locks and values. What is wrong with it is forbidden from now on.
    fn replay(&mut self, schedule: &[Id]) -> bool {
        let graph = self.graph;
        let mut open: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut closing: FxHashMap<Id, Vec<u32>> = FxHashMap::default();
        let mut history: FxHashMap<u32, Vec<Id>> = FxHashMap::default();
        let mut clashes = Vec::new();
        let mut wrong: Vec<(Id, Read, Vec<Id>)> = Vec::new();
        for &event in schedule {
            for section in closing.remove(&event).unwrap_or_default() {
                let lock = graph.sections[section as usize].lock;
                if let Some(open) = open.get_mut(&lock) {
                    open.retain(|&other| other != section);
                }
            }
            if let Some(&number) = graph.begins.get(&event) {
                let section = &graph.sections[number as usize];
                let open = open.entry(section.lock).or_default();
                for &other in open.iter() {
                    if section.excludes(&graph.sections[other as usize]) {
                        clashes.push((other, number));
                    }
                }
                open.push(number);
                if let Some(release) = section.release {
                    closing.entry(release).or_default().push(number);
                }
            }
            for read in graph.reads.get(event) {
                let writes = history.get(&read.cell).map_or(&[][..], |writes| &writes[..]);
                if !graph.allows(read, writes.last().copied()) {
                    wrong.push((event, *read, writes.to_vec()));
                }
            }
            for write in graph.writes.get(event) {
                history.entry(write.cell).or_default().push(event);
            }
        }
        let good = clashes.is_empty() && wrong.is_empty();
        for (a, b) in clashes {
            self.exclude(a, b);
        }
        for (event, read, writes) in wrong {
            self.correct(event, &read, &writes);
        }
        good
    }

    /// One of two critical sections is over when the other begins.
    fn exclude(&mut self, a: u32, b: u32) {
        if !self.excluded.insert((a.min(b), a.max(b))) {
            return;
        }
        let graph = self.graph;
        let (a, b) = (graph.sections[a as usize], graph.sections[b as usize]);
        let mut ways = vec![
            self.not(self.happens(a.acquire)),
            self.not(self.happens(b.acquire)),
        ];
        for (first, then) in [(a, b), (b, a)] {
            if let Some(release) = first.release
                && self.graph.has(&self.universe, release)
            {
                let order = self.order(release, then.acquire);
                self.clause(&[self.not(order), self.happens(release)]);
                ways.push(order);
            }
        }
        self.clause(&ways);
    }

    /// A read sees a write that it may see, with no other in between.
    fn correct(&mut self, event: Id, read: &Read, writes: &[Id]) {
        let key = (event, read.cell);
        if !self.sources.contains_key(&key) {
            self.choose_source(event, read);
            return;
        }
        let sources: Vec<_> = self.sources[&key].clone();
        for (writer, lit) in sources {
            if !self.is_true(lit) {
                continue;
            }
            let from = writer.and_then(|writer| writes.iter().rposition(|&other| other == writer));
            for &other in &writes[from.map_or(0, |from| from + 1)..] {
                if !self.graph.allows(read, Some(other)) && self.undisturbed.insert((lit, other)) {
                    let mut ways = vec![Term::Lit(!lit), self.not(self.happens(other))];
                    ways.push(self.order(event, other));
                    if let Some(writer) = writer {
                        ways.push(self.order(other, writer));
                    }
                    self.clause(&ways);
                }
            }
        }
    }

    fn choose_source(&mut self, event: Id, read: &Read) {
        let graph = self.graph;
        let mut sources = Vec::new();
        let mut ways = vec![self.not(self.happens(event))];
        let initial = graph.allows(read, None).then_some(None);
        let writers: Vec<Id> = graph.candidates(event, read).collect();
        for writer in initial.into_iter().chain(writers.into_iter().map(Some)) {
            if writer.is_some_and(|writer| !graph.has(&self.universe, writer)) {
                continue;
            }
            let lit = Lit::new(self.solver.new_var_default(), true);
            ways.push(Term::Lit(lit));
            sources.push((writer, lit));
            if let Some(writer) = writer {
                let order = self.order(writer, event);
                self.clause(&[Term::Lit(!lit), self.happens(writer)]);
                self.clause(&[Term::Lit(!lit), order]);
            }
        }
        self.clause(&ways);
        self.sources.insert((event, read.cell), sources);
    }
}
