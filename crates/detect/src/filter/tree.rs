//! `tree`: TREE as published (§3.3–3.5): one access of each site, place and kind for each concurrency context.
//!
//! The concurrency context of a thread is the set of locks it holds, in the order in which it took them, and the history
//! of messages it sent and received. An access is dropped if one with the same site, place, kind and context was seen
//! from the same thread, or from two others (Theorem 3.3.1).
//!
//! Messages are all that orders threads but locks: fork (sent by the parent), join (received), barriers, notify and wait,
//! atomic stores that release and loads that acquire, fences, calls into untraced code and what touches their objects.
//! A message received twice in a row (a spinning load) counts once. A read-write lock held as a reader is another label
//! than the same lock held exclusively. Whether the message that *starts* a thread enters its context, the paper leaves
//! open: §3.2 says so, but then no two forked threads ever have the same context, and Figures 3.3 to 3.6 say otherwise.
//! [`Options::starts`] chooses; without it, as by default, the figures come out as printed.
//!
//! Guarantee, for the pairs of sites that race:
//! - By locksets alone (two conflicting accesses of different threads with no common lock): the same pairs.
//! - By locksets and messages (a hybrid: also unordered by everything but locks): the same pairs with
//!   [`Options::starts`]. Without it pairs can be lost, and that is a gap in the proof of Theorem 3.3.1: equal contexts
//!   say that two threads have received the same so far, not that they will be waited for by the same. `A`, `B` and `C`
//!   write x at one site; the writes of `A` and `B` stay, that of `C` is dropped; the main thread joins `A` and `B`,
//!   but not `C`, and reads x.
//!
//! Neither holds for detectors that keep less than pairs:
//! - Happens-before detectors, where lock hand-overs order too: `A: acq L, w x, rel L, acq M, rel M, acq L, w x (same
//!   site), rel L` and then `B: acq M, rel M, r x`. The second write is dropped, and it alone races with the read. Use
//!   [`TreeStrict`](super::TreeStrict).
//! - Eraser and its kin, whose states forget the locksets of a location's first thread: `A: w x; B: acq L, w x, rel L;
//!   A: w x (same site)`. The last write would have emptied the candidate set.
//!
//! Deviations: the trie of a location is one hash table over (site, place, kind, context) with contexts hash-consed; messages come before locks on the way to a context, so that releasing a lock never
//! takes a message with it; sending and receiving one message are two labels. §5.1.2's bound on remembered locations is
//! built: the least recently used half is forgotten when the table is full.

use super::contexts::{Context, Contexts, Label};
use super::is_outgoing;
use super::resets::Resets;
use crate::history::Class;
use crate::layer::forward_checks;
use deadheat_event::{Access, Detector, Fresh, Mode, Order, Place, SiteId, Slot, Stats, SyncId, SyncOp};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// What TREE leaves to its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many accesses (site, place, kind and context) are remembered, at most.
    pub locations: usize,
    /// How many contexts are remembered, at most.
    pub contexts: usize,
    /// Whether the message that starts a thread enters its context. See the module's head for what that means.
    pub starts: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            locations: 1 << 19,
            contexts: 1 << 19,
            starts: false,
        }
    }
}

/// Drops accesses that are concurrentially equivalent to ones that were seen.
#[derive(Debug)]
pub struct Tree<D> {
    inner: D,
    options: Options,
    contexts: Contexts,
    history: History,
    resets: Resets,
    messages: u64,
    threads: u64,
}

/// A thread and its concurrency context.
#[derive(Debug)]
pub struct TreeThread<T> {
    inner: T,
    /// The threads of a slot are told apart.
    number: u64,
    messages: Context,
    /// The last message received.
    received: u64,
    /// Locks held in the order in which they were taken.
    held: Vec<(SyncId, Mode)>,
    /// The contexts after each lock, as far as they are known.
    path: Vec<Context>,
}

/// A synchronisation object and the last message that was left there; 0 if there was none.
#[derive(Debug, Default)]
pub struct TreeSync<S> {
    inner: S,
    message: u64,
}

impl<D> Tree<D> {
    /// Filters what `inner` sees.
    pub fn new(inner: D) -> Tree<D> {
        Tree::with_options(inner, Options::default())
    }

    /// The same with the given options.
    pub fn with_options(inner: D, options: Options) -> Tree<D> {
        Tree {
            inner,
            options,
            contexts: Contexts::new(options.contexts),
            history: History::new(options.locations),
            resets: Resets::default(),
            messages: 0,
            threads: 0,
        }
    }

    /// The concurrency history of a site (Θ of Figure 3.6): each context in which it was reached, in the order of their
    /// first use, with the threads on its stack, numbered from 0 as they started. For tests and the curious: slow.
    pub fn history(&self, site: SiteId) -> Vec<(Vec<Label>, Vec<u64>)> {
        let both = self.history.young.iter().chain(&self.history.old);
        let mut here: Vec<_> = both.filter(|(key, _)| key.site == site).collect();
        here.sort_by_key(|(key, _)| key.context);
        here.into_iter()
            .map(|(key, seen)| {
                let threads = seen.threads.iter().filter(|n| **n != 0).map(|n| n - 1);
                (self.contexts.path(key.context), threads.collect())
            })
            .collect()
    }

    fn message(&mut self) -> u64 {
        self.messages += 1;
        self.messages
    }

    fn send<T>(&mut self, thread: &mut TreeThread<T>) -> u64 {
        let message = self.message();
        let context = self.contexts.step_once(thread.messages, Label::Sent(message));
        thread.reach(context);
        message
    }

    fn receive<T>(&mut self, thread: &mut TreeThread<T>, message: u64) {
        if message != 0 && message != thread.received {
            thread.received = message;
            let context = self.contexts.step(thread.messages, Label::Received(message));
            thread.reach(context);
        }
    }

    fn context<T>(&mut self, thread: &mut TreeThread<T>) -> Context {
        let mut context = thread.path.last().copied().unwrap_or(thread.messages);
        for &(lock, mode) in &thread.held[thread.path.len()..] {
            context = self.contexts.step(context, Label::Held(lock, mode));
            thread.path.push(context);
        }
        context
    }
}

impl<T> TreeThread<T> {
    fn reach(&mut self, messages: Context) {
        self.messages = messages;
        self.path.clear();
    }

    fn release(&mut self, lock: SyncId) {
        if let Some(place) = self.held.iter().rposition(|(held, _)| *held == lock) {
            self.held.remove(place);
            self.path.truncate(place);
        }
    }
}

impl<D: Detector> Detector for Tree<D> {
    type Thread = TreeThread<D::Thread>;
    type Sync = TreeSync<D::Sync>;
    forward_checks!();

    fn start(&mut self, slot: Slot, predecessor: Option<&Self::Thread>) -> Self::Thread {
        self.threads += 1;
        let mut thread = TreeThread {
            inner: self.inner.start(slot, predecessor.map(|p| &p.inner)),
            number: self.threads,
            messages: Context::EMPTY,
            received: 0,
            held: Vec::new(),
            path: Vec::new(),
        };
        if self.options.starts {
            let message = self.message();
            self.receive(&mut thread, message);
        }
        thread
    }

    fn sync(&mut self, thread: &mut Self::Thread, op: SyncOp, object: &mut Self::Sync) {
        match op {
            SyncOp::Acquire(lock, mode) => thread.held.push((lock, mode)),
            SyncOp::Release(lock, _) => thread.release(lock),
            SyncOp::Leave(_) | SyncOp::Receive(_) | SyncOp::Touch(true) => {
                self.receive(thread, object.message);
            }
            SyncOp::Load(order) => {
                if order.acquires() {
                    self.receive(thread, object.message);
                }
            }
            _ if is_outgoing(op) => object.message = self.send(thread),
            // A relaxed store: it may carry what a fence released.
            _ => object.message = self.message(),
        }
        self.inner.sync(&mut thread.inner, op, &mut object.inner);
    }

    fn fence(&mut self, thread: &mut Self::Thread, order: Order) {
        // What relaxed loads have read is not kept apart: an acquire fence counts as news of its own.
        self.send(thread);
        self.inner.fence(&mut thread.inner, order);
    }

    fn fork(&mut self, parent: &mut Self::Thread, child: &mut Self::Thread) {
        self.send(parent);
        self.inner.fork(&mut parent.inner, &mut child.inner);
    }

    fn join(&mut self, thread: &mut Self::Thread, child: &mut Self::Thread) {
        let message = self.send(child);
        self.receive(thread, message);
        self.inner.join(&mut thread.inner, &mut child.inner);
    }

    #[inline]
    fn admit(&mut self, thread: &mut Self::Thread, access: &Access) -> bool {
        let key = Key {
            place: access.place,
            site: access.site,
            class: Class::of(access).index() as u8,
            context: self.context(thread),
        };
        !self.history.is_redundant(key, thread.number, &self.resets)
            && self.inner.admit(&mut thread.inner, access)
    }

    fn reset(&mut self, fresh: Fresh) {
        self.resets.note(fresh);
        self.inner.reset(fresh);
    }

    fn thread_stats(&self, thread: &Self::Thread) -> Stats {
        let mut stats = self.inner.thread_stats(&thread.inner);
        let held = thread.held.capacity() * size_of::<(SyncId, Mode)>();
        stats.bytes += (held + thread.path.capacity() * size_of::<Context>()) as u64;
        stats
    }

    fn sync_bytes(&self, object: &Self::Sync) -> usize {
        self.inner.sync_bytes(&object.inner)
    }

    fn stats(&self) -> Stats {
        let mut stats = self.inner.stats();
        stats.bytes += (self.contexts.bytes() + self.history.bytes() + self.resets.bytes()) as u64;
        stats
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    place: Place,
    site: SiteId,
    class: u8,
    context: Context,
}

/// The stack of two threads at a node; 0 is nobody.
#[derive(Clone, Copy, Debug)]
struct Seen {
    threads: [u64; 2],
    /// [`Resets::count`] when the first of them came.
    resets: u64,
}

/// The concurrency histories of all sites.
#[derive(Debug)]
struct History {
    young: FxHashMap<Key, Seen>,
    /// What was young when the table was last half full, less what was used since.
    old: FxHashMap<Key, Seen>,
    half: usize,
}

impl History {
    fn new(limit: usize) -> History {
        History {
            young: FxHashMap::default(),
            old: FxHashMap::default(),
            half: (limit / 2).max(1),
        }
    }

    /// Algorithm 2.
    fn is_redundant(&mut self, key: Key, thread: u64, resets: &Resets) -> bool {
        let unseen = Seen {
            threads: [0; 2],
            resets: resets.count(),
        };
        let seen = match self.young.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(_) => self.rejuvenate(key, unseen),
        };
        if resets.since(key.place, seen.resets) {
            *seen = unseen;
        }
        match seen.threads {
            [first, second] if first == thread || second == thread => true,
            [0, _] => {
                seen.threads[0] = thread;
                false
            }
            [_, 0] => {
                seen.threads[1] = thread;
                false
            }
            _ => true,
        }
    }

    /// Makes room among the young for a key that is old or new.
    fn rejuvenate(&mut self, key: Key, unseen: Seen) -> &mut Seen {
        let seen = self.old.remove(&key).unwrap_or(unseen);
        if self.young.len() >= self.half {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.entry(key).or_insert(seen)
    }

    fn bytes(&self) -> usize {
        (self.young.capacity() + self.old.capacity()) * size_of::<(Key, Seen)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_event::Addr;

    fn key(addr: u64) -> Key {
        Key {
            place: Place::Memory {
                addr: Addr(addr),
                size: 8,
            },
            site: SiteId(1),
            class: 0,
            context: Context::EMPTY,
        }
    }

    #[test]
    fn a_full_history_forgets_what_was_not_used_for_longest() {
        let (mut history, resets) = (History::new(8), Resets::default());
        let mut used = 0;
        for addr in 0..100 {
            assert!(!history.is_redundant(key(addr), 1, &resets));
            used += usize::from(history.is_redundant(key(0), 1, &resets));
            assert!(history.young.len() + history.old.len() <= 8);
        }
        assert_eq!(used, 100, "what is used all the time stays");
        assert!(!history.is_redundant(key(50), 1, &resets), "what is not goes");
    }

    #[test]
    fn a_third_thread_is_redundant_and_the_first_two_stay_so() {
        let (mut history, resets) = (History::new(8), Resets::default());
        let answers = [1, 1, 2, 3, 2, 1, 4].map(|thread| history.is_redundant(key(0), thread, &resets));
        assert_eq!(answers, [false, true, false, true, true, true, true]);
    }
}
