//! The theory of orders: a set of edges is consistent if it has no cycle.
//!
//! An incremental topological order (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs")
//! over the events of a query. Fixed edges are those of the [`Graph`]; others come and go with the literals of the
//! solver. A cycle becomes a conflict clause of the literals on it. To take an edge back, nothing has to be undone but the
//! edge itself: the order stays one of what is left.

use crate::graph::{Cut, Graph, Id};
use batsat::{Lit, Theory, TheoryArg};

/// The theory for one query.
pub struct Acyclic<'g> {
    graph: &'g Graph<'g>,
    /// The events that take part.
    universe: Vec<u32>,
    /// Fixed edges forward, besides program order.
    after: &'g [Vec<Id>],
    /// Edges of literals that are true, in the order in which they came.
    edges: Vec<(Id, Id)>,
    out: Vec<Vec<(Id, Lit)>>,
    into: Vec<Vec<Id>>,
    /// The place of each event in the present order.
    rank: Vec<u32>,
    /// The edge of each variable, by its number.
    meaning: Vec<Option<(Id, Id)>>,
    /// For each level of decisions: how many literals had been looked at, and how many edges there were.
    levels: Vec<(usize, usize)>,
    seen: usize,
    /// For searches.
    mark: Vec<u32>,
    stamp: u32,
    parent: Vec<(Id, Option<Lit>)>,
}

impl<'g> Acyclic<'g> {
    /// No edges but the fixed ones. `after` are the graph's edges, forward.
    pub fn new(graph: &'g Graph<'g>, after: &'g [Vec<Id>], universe: &Cut) -> Acyclic<'g> {
        let n = graph.events.len();
        Acyclic {
            graph,
            universe: universe.to_vec(),
            after,
            edges: Vec::new(),
            out: vec![Vec::new(); n],
            into: vec![Vec::new(); n],
            rank: (0..n as u32).collect(),
            meaning: Vec::new(),
            levels: Vec::new(),
            seen: 0,
            mark: vec![0; n],
            stamp: 0,
            parent: vec![(0, None); n],
        }
    }

    /// From now on a true `lit`, which is a positive one, means that `from` comes before `to`.
    pub fn mean(&mut self, lit: Lit, from: Id, to: Id) {
        let number = lit.var().idx() as usize;
        if self.meaning.len() <= number {
            self.meaning.resize(number + 1, None);
        }
        self.meaning[number] = Some((from, to));
    }

    fn push(&mut self, from: Id, to: Id, lit: Lit) -> Result<(), Vec<Lit>> {
        if self.rank[from as usize] > self.rank[to as usize] {
            self.reorder(from, to, lit)?;
        }
        self.out[from as usize].push((to, lit));
        self.into[to as usize].push(from);
        self.edges.push((from, to));
        Ok(())
    }

    /// Makes room for an edge against the present order, or names the literals of a cycle.
    fn reorder(&mut self, from: Id, to: Id, lit: Lit) -> Result<(), Vec<Lit>> {
        let (low, high) = (self.rank[to as usize], self.rank[from as usize]);
        self.stamp += 1;
        let mut forward = vec![to];
        self.mark[to as usize] = self.stamp;
        let mut next = 0;
        while let Some(&at) = forward.get(next) {
            next += 1;
            let mut found = None;
            self.successors(at, |this, succ, why| {
                if succ == from {
                    found = found.or(Some(why));
                } else if this.rank[succ as usize] < high && this.mark[succ as usize] != this.stamp {
                    this.mark[succ as usize] = this.stamp;
                    this.parent[succ as usize] = (at, why);
                    forward.push(succ);
                }
            });
            if let Some(why) = found {
                return Err(self.cycle(at, to, why, lit));
            }
        }
        let reached = self.stamp;
        self.stamp += 1;
        let mut backward = vec![from];
        self.mark[from as usize] = self.stamp;
        let mut next = 0;
        while let Some(&at) = backward.get(next) {
            next += 1;
            self.predecessors(at, |this, pred| {
                let mark = this.mark[pred as usize];
                if this.rank[pred as usize] > low && mark != this.stamp && mark != reached {
                    this.mark[pred as usize] = this.stamp;
                    backward.push(pred);
                }
            });
        }
        // What leads to the edge comes first, then what follows it, both in their present order.
        backward.sort_unstable_by_key(|&event| self.rank[event as usize]);
        forward.sort_unstable_by_key(|&event| self.rank[event as usize]);
        let moved = backward.iter().chain(&forward);
        let mut ranks: Vec<u32> = moved.clone().map(|&event| self.rank[event as usize]).collect();
        ranks.sort_unstable();
        for (&event, rank) in moved.zip(ranks) {
            self.rank[event as usize] = rank;
        }
        Ok(())
    }

    /// The literals on the way from `to` to `at`, the one behind it, and the new one.
    fn cycle(&self, mut at: Id, to: Id, why: Option<Lit>, lit: Lit) -> Vec<Lit> {
        let mut lits = vec![!lit];
        lits.extend(why.map(|lit| !lit));
        while at != to {
            let (before, why) = self.parent[at as usize];
            lits.extend(why.map(|lit| !lit));
            at = before;
        }
        lits
    }

    fn successors(&mut self, at: Id, mut visit: impl FnMut(&mut Self, Id, Option<Lit>)) {
        let (slot, pos) = (self.graph.slot[at as usize] as usize, self.graph.pos[at as usize]);
        if pos + 1 < self.universe[slot] {
            visit(self, self.graph.threads[slot][pos as usize + 1], None);
        }
        let after = self.after;
        for &succ in &after[at as usize] {
            if self.graph.has(&self.universe, succ) {
                visit(self, succ, None);
            }
        }
        for n in 0..self.out[at as usize].len() {
            let (succ, lit) = self.out[at as usize][n];
            visit(self, succ, Some(lit));
        }
    }

    fn predecessors(&mut self, at: Id, mut visit: impl FnMut(&mut Self, Id)) {
        let graph = self.graph;
        if let Some(pos) = graph.pos[at as usize].checked_sub(1) {
            visit(
                self,
                graph.threads[graph.slot[at as usize] as usize][pos as usize],
            );
        }
        for &pred in graph.hard.get(at).iter().chain(graph.soft.get(at)) {
            visit(self, pred);
        }
        for n in 0..self.into[at as usize].len() {
            visit(self, self.into[at as usize][n]);
        }
    }
}

impl Theory for Acyclic<'_> {
    fn final_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.partial_check(acts);
    }

    fn partial_check(&mut self, acts: &mut TheoryArg<'_>) {
        while let Some(&lit) = acts.model().get(self.seen) {
            self.seen += 1;
            let meaning = self.meaning.get(lit.var().idx() as usize).copied().flatten();
            if let Some((from, to)) = meaning.filter(|_| lit.sign())
                && let Err(conflict) = self.push(from, to, lit)
            {
                acts.raise_conflict(&conflict, false);
                return;
            }
        }
    }

    fn create_level(&mut self) {
        self.levels.push((self.seen, self.edges.len()));
    }

    fn pop_levels(&mut self, n: usize) {
        let left = self.levels.len().saturating_sub(n);
        let Some(&(seen, edges)) = self.levels.get(left) else {
            return;
        };
        self.levels.truncate(left);
        self.seen = seen;
        while self.edges.len() > edges {
            if let Some((from, to)) = self.edges.pop() {
                self.out[from as usize].pop();
                self.into[to as usize].pop();
            }
        }
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn explain_propagation(&mut self, _: Lit) -> &[Lit] {
        // Nothing is ever propagated.
        &[]
    }
}
