//! TREE's concurrency contexts (§3.3) as the nodes of one trie that all threads share.
//!
//! A context is its parent and one more label, and equal contexts are the same node, so that they are compared as
//! numbers. When the trie is full it is emptied, but no number is ever given twice: who holds an old one keeps it, and
//! only fails to find its equal.

use deadheat_event::{Mode, SyncId};
use rustc_hash::FxHashMap;
use std::fmt;

/// A step on the way to a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// A lock that is held.
    Held(SyncId, Mode),
    /// A message that was sent, by its number.
    Sent(u64),
    /// A message that was received, by its number.
    Received(u64),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Held(lock, Mode::Exclusive) => write!(f, "{lock}"),
            Label::Held(lock, Mode::Shared) => write!(f, "{lock}(shared)"),
            Label::Sent(message) => write!(f, "!g{message}"),
            Label::Received(message) => write!(f, "?g{message}"),
        }
    }
}

/// A node of the trie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Context(u64);

impl Context {
    /// No lock is held and no message was sent or received.
    pub(super) const EMPTY: Context = Context(0);
}

/// The trie.
#[derive(Debug)]
pub(super) struct Contexts {
    /// Parent and label of the nodes from `first` on.
    nodes: Vec<(Context, Label)>,
    first: u64,
    index: FxHashMap<(Context, Label), Context>,
    limit: usize,
}

impl Contexts {
    pub(super) fn new(limit: usize) -> Contexts {
        Contexts {
            nodes: Vec::new(),
            first: 1,
            index: FxHashMap::default(),
            limit: limit.max(1),
        }
    }

    /// The context one step further.
    pub(super) fn step(&mut self, from: Context, label: Label) -> Context {
        if let Some(context) = self.index.get(&(from, label)) {
            return *context;
        }
        let context = self.add(from, label);
        self.index.insert((from, label), context);
        context
    }

    /// The same for a label that is used only once, and so needs no look-up.
    pub(super) fn step_once(&mut self, from: Context, label: Label) -> Context {
        self.add(from, label)
    }

    /// The labels that lead to a context, as far as they are still known.
    pub(super) fn path(&self, context: Context) -> Vec<Label> {
        let mut path = Vec::new();
        let mut at = context;
        while let Some((parent, label)) =
            at.0.checked_sub(self.first)
                .and_then(|i| self.nodes.get(usize::try_from(i).ok()?))
        {
            path.push(*label);
            at = *parent;
        }
        path.reverse();
        path
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<(Context, Label)>()
            + self.index.capacity() * size_of::<((Context, Label), Context)>()
    }

    fn add(&mut self, from: Context, label: Label) -> Context {
        if self.nodes.len() >= self.limit {
            self.first += self.nodes.len() as u64;
            self.nodes.clear();
            self.index.clear();
        }
        let context = Context(self.first + self.nodes.len() as u64);
        self.nodes.push((from, label));
        context
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(lock: u64) -> Label {
        Label::Held(SyncId(lock), Mode::Exclusive)
    }

    #[test]
    fn the_same_steps_lead_to_the_same_context() {
        let mut contexts = Contexts::new(100);
        let g = contexts.step(Context::EMPTY, Label::Received(1));
        let a = contexts.step(g, held(1));
        assert_eq!(contexts.step(g, held(1)), a);
        assert_ne!(contexts.step(g, held(2)), a);
        assert_ne!(contexts.step(Context::EMPTY, held(1)), a);
        assert_eq!(contexts.path(a), [Label::Received(1), held(1)]);
    }

    #[test]
    fn a_full_trie_starts_anew_without_giving_a_number_twice() {
        let mut contexts = Contexts::new(8);
        let mut seen = std::collections::HashSet::new();
        for i in 0..100 {
            assert!(seen.insert(contexts.step(Context::EMPTY, held(i))));
        }
        assert!(contexts.nodes.len() <= 8 && contexts.index.len() <= 8);
    }
}
