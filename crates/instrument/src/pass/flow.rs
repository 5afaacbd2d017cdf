//! How control goes from block to block.

use super::ir::{Block, Value, llvm};
use llvm_sys::core::*;
use std::collections::HashMap;

/// The blocks of a function by their numbers, of which 0 is the first.
pub struct Flow {
    /// Where control goes from each.
    pub successors: Vec<Vec<usize>>,
    /// Where it comes from.
    pub predecessors: Vec<Vec<usize>>,
    /// All blocks that can be reached, each behind those that lead to it, but for loops.
    pub order: Vec<usize>,
    /// Where each block is in that order.
    position: Vec<usize>,
}

impl Flow {
    /// Of these blocks.
    pub fn new(blocks: &[Block<'_>]) -> Flow {
        let ends: Vec<Value<'_>> = blocks.iter().map(|block| end(*block)).collect();
        let parent = |at: Value<'_>| llvm!(LLVMGetInstructionParent(at.raw()));
        let numbers: HashMap<_, _> = ends.iter().map(|&at| parent(at)).zip(0..).collect();
        let successors: Vec<Vec<usize>> = ends
            .iter()
            .map(|at| {
                let count = llvm!(LLVMGetNumSuccessors(at.raw()));
                let mut to: Vec<usize> = (0..count)
                    .map(|i| numbers[&llvm!(LLVMGetSuccessor(at.raw(), i))])
                    .collect();
                // A switch may lead to one block in many ways.
                to.sort_unstable();
                to.dedup();
                to
            })
            .collect();
        Flow::of(successors)
    }

    /// Of blocks that are known by where control goes.
    pub fn of(successors: Vec<Vec<usize>>) -> Flow {
        let count = successors.len();
        let mut predecessors = vec![Vec::new(); count];
        for (from, to) in successors.iter().enumerate() {
            for &to in to {
                predecessors[to].push(from);
            }
        }
        let mut order = Vec::new();
        let mut seen = vec![false; count];
        // Blocks that are being left, and which way to go next. Functions may be deeper than the stack.
        let mut path = Vec::new();
        if count > 0 {
            seen[0] = true;
            path.push((0, 0));
        }
        while let Some((block, next)) = path.last_mut() {
            match successors[*block].get(*next) {
                Some(&to) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[to], true) {
                        path.push((to, 0));
                    }
                }
                None => {
                    order.push(*block);
                    path.pop();
                }
            }
        }
        order.reverse();
        let mut position = vec![usize::MAX; count];
        for (i, &block) in order.iter().enumerate() {
            position[block] = i;
        }
        Flow {
            successors,
            predecessors,
            order,
            position,
        }
    }

    /// Whether control goes back by this edge: all loops have one such, also those with several entries.
    pub fn is_retreating(&self, from: usize, to: usize) -> bool {
        self.position[to] <= self.position[from]
    }

    /// Whether the block can be reached.
    pub fn is_reached(&self, block: usize) -> bool {
        self.position[block] != usize::MAX
    }
}

/// The instruction that ends a block.
fn end(block: Block<'_>) -> Value<'_> {
    block
        .instructions()
        .last()
        .expect("a block ends with an instruction")
}

/// The branches by which control goes back.
pub fn retreating<'m>(blocks: &[Block<'m>]) -> Vec<Value<'m>> {
    if blocks.len() == 1 && llvm!(LLVMGetNumSuccessors(end(blocks[0]).raw())) == 0 {
        return Vec::new();
    }
    let flow = Flow::new(blocks);
    let back = |from: &&usize| {
        flow.successors[**from]
            .iter()
            .any(|&to| flow.is_retreating(**from, to))
    };
    flow.order
        .iter()
        .filter(back)
        .map(|&from| end(blocks[from]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_where_control_goes_back() {
        // 0 → 1 ⇄ 2, 1 → 3; 4 cannot be reached.
        let flow = Flow::of(vec![vec![1], vec![2, 3], vec![1], vec![], vec![3]]);
        assert!(flow.is_retreating(2, 1));
        assert!(!flow.is_retreating(0, 1) && !flow.is_retreating(1, 2) && !flow.is_retreating(1, 3));
        assert!(!flow.is_reached(4));
        assert_eq!((flow.order[0], flow.order[1]), (0, 1));
        assert_eq!(flow.predecessors[1], [0, 2]);
    }
}
