//! A tree of Arcs that is never changed: an insertion copies the path and shares the rest. Threads take the present version from
//! under a mutex, insert, put theirs in its place, and ask old versions for sums, which nodes remember. Checked by the keys.
// suite: rust
// size: 260000 quick: 3000 sweep: 26000 65000 130000 260000
#![allow(unexpected_cfgs)]

#[path = "include/workload.rs"]
mod workload;

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use workload::{arguments, scramble, team, verdict};

type Tree = Option<Arc<Node>>;

#[cfg(race)]
type Remembered = workload::Unguarded<Option<u64>>;
#[cfg(not(race))]
type Remembered = std::sync::OnceLock<u64>;

struct Node {
    key: u64,
    left: Tree,
    right: Tree,
    sum: Remembered,
}

impl Node {
    fn new(key: u64, left: Tree, right: Tree) -> Tree {
        #[cfg(race)]
        let sum = Remembered::new(None);
        #[cfg(not(race))]
        let sum = Remembered::new();
        Some(Arc::new(Self {
            key,
            left,
            right,
            sum,
        }))
    }

    fn compute_sum(&self) -> u64 {
        self.key
            .wrapping_add(sum(&self.left))
            .wrapping_add(sum(&self.right))
    }

    #[cfg(not(race))]
    fn sum(&self) -> u64 {
        *self.sum.get_or_init(|| self.compute_sum())
    }

    #[cfg(race)]
    fn sum(&self) -> u64 {
        // SAFETY: none. Another thread may remember it at the same time.
        let remembered = unsafe { *self.sum.get() }; //~ RACE sum
        remembered.unwrap_or_else(|| {
            let sum = self.compute_sum();
            // SAFETY: none.
            unsafe { *self.sum.get() = Some(sum) }; //~ RACE sum
            sum
        })
    }
}

fn sum(tree: &Tree) -> u64 {
    tree.as_ref().map_or(0, |node| node.sum())
}

fn insert(tree: &Tree, key: u64) -> Tree {
    let Some(node) = tree else {
        return Node::new(key, None, None);
    };
    if key < node.key {
        Node::new(node.key, insert(&node.left, key), node.right.clone())
    } else {
        Node::new(node.key, node.left.clone(), insert(&node.right, key))
    }
}

fn collect(tree: &Tree, keys: &mut Vec<u64>) {
    if let Some(node) = tree {
        collect(&node.left, keys);
        keys.push(node.key);
        collect(&node.right, keys);
    }
}

fn key(number: usize) -> u64 {
    scramble(number as u64 + 1)
}

fn main() -> ExitCode {
    let arguments = arguments(260_000, 64, 1 << 28);
    let (threads, size) = (arguments.threads, arguments.size);
    let start = size / 64;
    let first = (0..start).fold(None, |tree, number| insert(&tree, key(number)));
    let current = Mutex::new(first.clone());
    let sums = team(threads, |me| {
        let rest = size - start;
        let sum_of_first = sum(&first);
        for number in start + rest * me / threads..start + rest * (me + 1) / threads {
            let seen = {
                let mut current = current.lock().unwrap();
                let seen = current.clone();
                *current = insert(&seen, key(number));
                seen
            };
            // The version before is only ours, unless another thread still looks at it.
            if number % 16 == 0 {
                std::hint::black_box(sum(&seen));
            }
        }
        sum_of_first
    });
    let mut expected: Vec<u64> = (0..size).map(key).collect();
    let sum_of_first = expected[..start]
        .iter()
        .fold(0, |sum: u64, key| sum.wrapping_add(*key));
    expected.sort_unstable();
    let mut keys = Vec::with_capacity(size);
    let last = current.into_inner().unwrap();
    collect(&last, &mut keys);
    let total = expected.iter().fold(0, |sum: u64, key| sum.wrapping_add(*key));
    verdict(
        keys == expected && sum(&last) == total && sums.iter().all(|&sum| sum == sum_of_first),
        total,
    )
}
