//! The same questions put to Z3's difference logic, to compare with: RDIT's formula (Algorithms 4 to 10), built whole, for what
//! the pair depends on. An event has a number, its place in the schedule, and where it may be left out, a boolean.

use super::universe;
use crate::graph::{Graph, Id};
use crate::query::{Answer, Query};
use rustc_hash::FxHashMap;
use std::time::Instant;
use z3::ast::{Bool, Int};
use z3::{Config, Context, Params, SatResult, Solver};

/// What Z3 needs, for all pairs of a window: to make it takes longer than many a pair.
pub fn context() -> Context {
    Context::new(&Config::new())
}

/// Answers.
pub fn solve(context: &Context, graph: &Graph<'_>, query: &Query, deadline: Option<Instant>) -> Answer {
    let mut formula = Formula {
        context,
        solver: Solver::new_for_logic(context, "QF_IDL").unwrap_or_else(|| Solver::new(context)),
        graph,
        query,
        universe: universe(graph, query),
        places: FxHashMap::default(),
        happens: FxHashMap::default(),
    };
    if let Some(deadline) = deadline {
        let left = deadline.saturating_duration_since(Instant::now()).as_millis();
        let mut params = Params::new(context);
        params.set_u32("timeout", u32::try_from(left).unwrap_or(u32::MAX).max(1));
        formula.solver.set_params(&params);
    }
    formula.threads();
    formula.locks();
    formula.reads();
    match formula.solver.check() {
        SatResult::Sat => formula.schedule().map_or(Answer::Unknown, Answer::Race),
        SatResult::Unsat => Answer::Ordered,
        SatResult::Unknown => Answer::Unknown,
    }
}

struct Formula<'q, 'c> {
    context: &'c Context,
    solver: Solver<'c>,
    graph: &'q Graph<'q>,
    query: &'q Query,
    universe: Vec<u32>,
    places: FxHashMap<Id, Int<'c>>,
    happens: FxHashMap<Id, Bool<'c>>,
}

impl<'c> Formula<'_, 'c> {
    fn has(&self, event: Id) -> bool {
        self.graph.has(&self.universe, event)
    }

    fn happens(&self, event: Id) -> Bool<'c> {
        match self.happens.get(&event) {
            Some(happens) => happens.clone(),
            None => Bool::from_bool(self.context, self.graph.has(&self.query.needed, event)),
        }
    }

    fn before(&self, a: Id, b: Id) -> Bool<'c> {
        self.places[&a].lt(&self.places[&b])
    }

    fn any(&self, ways: &[Bool<'c>]) -> Bool<'c> {
        Bool::or(self.context, &ways.iter().collect::<Vec<_>>())
    }

    fn all(&self, parts: &[Bool<'c>]) -> Bool<'c> {
        Bool::and(self.context, &parts.iter().collect::<Vec<_>>())
    }

    /// Program order and all that every schedule keeps.
    fn threads(&mut self) {
        let graph = self.graph;
        for slot in 0..graph.slots() {
            for pos in 0..self.universe[slot] {
                let event = graph.threads[slot][pos as usize];
                self.places
                    .insert(event, Int::new_const(self.context, format!("o{event}")));
                if pos >= self.query.needed[slot] {
                    self.happens
                        .insert(event, Bool::new_const(self.context, format!("h{event}")));
                }
            }
        }
        for slot in 0..graph.slots() {
            for pos in 0..self.universe[slot] {
                let event = graph.threads[slot][pos as usize];
                let before = pos.checked_sub(1).map(|pos| graph.threads[slot][pos as usize]);
                let edges = graph.hard.get(event).iter().chain(graph.soft.get(event));
                for &needs in before.iter().chain(edges) {
                    self.solver.assert(&self.before(needs, event));
                    self.solver
                        .assert(&self.happens(event).implies(&self.happens(needs)));
                }
            }
        }
    }

    fn locks(&self) {
        for sections in &self.graph.locks {
            for (n, &a) in sections.iter().enumerate() {
                for &b in &sections[..n] {
                    let (a, b) = (self.graph.sections[a as usize], self.graph.sections[b as usize]);
                    if !a.excludes(&b) || !self.has(a.acquire) || !self.has(b.acquire) {
                        continue;
                    }
                    let mut ways = vec![self.happens(a.acquire).not(), self.happens(b.acquire).not()];
                    for (first, then) in [(a, b), (b, a)] {
                        if let Some(release) = first.release.filter(|&release| self.has(release)) {
                            ways.push(self.all(&[self.happens(release), self.before(release, then.acquire)]));
                        }
                    }
                    self.solver.assert(&self.any(&ways));
                }
            }
        }
    }

    fn reads(&self) {
        let graph = self.graph;
        for &event in self.places.keys() {
            for read in graph.reads.get(event) {
                let writers = { graph.cells[read.cell as usize].writers.iter().copied() }
                    .filter(|&writer| self.has(writer) && writer != event);
                let bad: Vec<Id> = writers
                    .filter(|&writer| !graph.allows(read, Some(writer)))
                    .collect();
                let mut ways = vec![self.happens(event).not()];
                if graph.allows(read, None) {
                    let free = bad
                        .iter()
                        .map(|&w| self.any(&[self.happens(w).not(), self.before(event, w)]));
                    ways.push(self.all(&free.collect::<Vec<_>>()));
                }
                for writer in graph.candidates(event, read).filter(|&writer| self.has(writer)) {
                    let mut parts = vec![self.happens(writer), self.before(writer, event)];
                    for &other in &bad {
                        let outside = [
                            self.happens(other).not(),
                            self.before(other, writer),
                            self.before(event, other),
                        ];
                        parts.push(self.any(&outside));
                    }
                    ways.push(self.all(&parts));
                }
                self.solver.assert(&self.any(&ways));
            }
        }
    }

    fn schedule(&self) -> Option<Vec<Id>> {
        let model = self.solver.get_model()?;
        let mut schedule = Vec::new();
        for (&event, place) in &self.places {
            if model.eval(&self.happens(event), true)?.as_bool()? {
                schedule.push((model.eval(place, true)?.as_i64()?, event));
            }
        }
        // Places may be equal where nothing orders: then the trace does.
        schedule.sort_unstable();
        Some(schedule.into_iter().map(|(_, event)| event).collect())
    }
}
