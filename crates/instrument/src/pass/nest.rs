//! Which blocks every way passes, and what is a loop.

use super::flow::Flow;
use super::ir::Block;
use std::collections::HashMap;

/// The blocks of a function that can be reached, by their number in the order of [`Flow::order`].
pub struct Nest<'m> {
    /// The blocks.
    pub blocks: Vec<Block<'m>>,
    number: HashMap<Block<'m>, usize>,
    /// Where each may go.
    pub successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    /// The last block that is passed on every way to it; its own number for the first.
    dominator: Vec<usize>,
}

/// A natural loop: one entry, its header.
pub struct Loop {
    /// The only block that it is entered by.
    pub header: usize,
    /// The only block outside that goes to the header.
    pub entry: usize,
    /// The only block that goes back to the header.
    pub latch: usize,
    /// Its blocks, those of loops within it too, in order of their numbers.
    pub blocks: Vec<usize>,
    /// Edges out of it.
    pub exits: Vec<(usize, usize)>,
}

impl Loop {
    /// Whether a block is in it.
    pub fn has(&self, block: usize) -> bool {
        self.blocks.binary_search(&block).is_ok()
    }
}

impl<'m> Nest<'m> {
    /// Of the blocks of a function.
    pub fn new(all: &[Block<'m>]) -> Self {
        let flow = Flow::new(all);
        let mut position = vec![usize::MAX; all.len()];
        for (number, &block) in flow.order.iter().enumerate() {
            position[block] = number;
        }
        let places = |blocks: &[usize]| -> Vec<usize> {
            let reached = blocks.iter().map(|&block| position[block]);
            reached.filter(|number| *number != usize::MAX).collect()
        };
        let blocks: Vec<Block<'m>> = flow.order.iter().map(|&block| all[block]).collect();
        let predecessors: Vec<Vec<usize>> = flow
            .order
            .iter()
            .map(|&block| places(&flow.predecessors[block]))
            .collect();
        Nest {
            number: blocks.iter().enumerate().map(|(n, block)| (*block, n)).collect(),
            successors: flow
                .order
                .iter()
                .map(|&block| places(&flow.successors[block]))
                .collect(),
            dominator: dominators(&predecessors),
            predecessors,
            blocks,
        }
    }

    /// The number of a block, if it can be reached.
    pub fn number(&self, block: Block<'m>) -> Option<usize> {
        self.number.get(&block).copied()
    }

    /// The blocks that go to one.
    pub fn predecessors(&self, block: usize) -> &[usize] {
        &self.predecessors[block]
    }

    /// Whether every way to `after` passes `before`.
    pub fn dominates(&self, before: usize, mut after: usize) -> bool {
        while after > before {
            after = self.dominator[after];
        }
        after == before
    }

    /// The loops that have one way in, one latch, and exits that only they lead to; inner ones come before those around them.
    pub fn loops(&self) -> Vec<Loop> {
        let mut loops: Vec<Loop> = (0..self.blocks.len())
            .filter_map(|header| self.loop_of(header))
            .collect();
        loops.sort_by_key(|found| found.blocks.len());
        loops
    }

    fn loop_of(&self, header: usize) -> Option<Loop> {
        let (latches, entries): (Vec<usize>, Vec<usize>) = self.predecessors[header]
            .iter()
            .partition(|&&from| self.dominates(header, from));
        let (&[latch], &[entry]) = (&latches[..], &entries[..]) else {
            return None;
        };
        let mut blocks = vec![header];
        let mut todo = vec![latch];
        while let Some(block) = todo.pop() {
            if !blocks.contains(&block) {
                blocks.push(block);
                todo.extend(&self.predecessors[block]);
            }
        }
        blocks.sort_unstable();
        // A way in past the header: no loop that could be reasoned about.
        if blocks[0] != header {
            return None;
        }
        let inside = |block: &usize| blocks.binary_search(block).is_ok();
        let mut exits = Vec::new();
        for &from in &blocks {
            for &to in self.successors[from].iter().filter(|to| !inside(to)) {
                if !self.predecessors[to].iter().all(inside) {
                    return None;
                }
                exits.push((from, to));
            }
        }
        Some(Loop {
            header,
            entry,
            latch,
            blocks,
            exits,
        })
    }
}

/// Cooper, Harvey and Kennedy's way: sets shrink to chains of nearest dominators, which meet by number.
fn dominators(predecessors: &[Vec<usize>]) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let mut nearest = vec![UNKNOWN; predecessors.len()];
    nearest[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for block in 1..predecessors.len() {
            let mut meet = UNKNOWN;
            for &from in predecessors[block]
                .iter()
                .filter(|&&from| nearest[from] != UNKNOWN)
            {
                let (mut one, mut other) = (from, if meet == UNKNOWN { from } else { meet });
                while one != other {
                    if one > other {
                        one = nearest[one];
                    } else {
                        other = nearest[other];
                    }
                }
                meet = one;
            }
            if nearest[block] != meet {
                nearest[block] = meet;
                changed = true;
            }
        }
    }
    nearest
}
