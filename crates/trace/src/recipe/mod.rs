//! Small random traces that are well-formed by construction, for property tests.
//!
//! A trace is cooked from a list of [`Choice`]s: four bytes each, "that thread, that kind of action, that object, that
//! detail". Cooking keeps the state of the world (who is alive, who holds what) and turns each choice into something
//! that is legal there, or into nothing. So *any* list of choices gives a well-formed trace, and a shrinker that drops
//! choices or makes bytes smaller can never leave the set of well-formed traces. Smaller bytes mean simpler things:
//! thread 0, variable 0, a plain full-width access.
//!
//! What comes out passes [`validate`](crate::validate()). Every event has a site of its own, line `n + 1` for event `n`.
//!
//! ```
//! use deadheat_trace::recipe::{Choice, Config, cook};
//! let trace = cook(&Config::all(), 2, &[Choice { thread: 0, action: 0, object: 1, detail: 7 }]);
//! assert_eq!(trace.events.len(), 1);
//! ```

#[cfg(feature = "proptest")]
mod strategy;
mod world;

#[cfg(feature = "proptest")]
pub use strategy::{events, traces};

use deadheat_event::{Event, Tables};
use std::fmt;

/// What may appear in a trace, and how much of it.
#[derive(Clone, Debug)]
pub struct Config {
    /// The most threads alive at once, at least 1.
    pub threads: u32,
    /// The most threads that run from the start without a fork, at least 1. Each trace has 1 to this many.
    pub roots: u32,
    /// Locks, read-write locks included.
    pub locks: u32,
    /// Variables of 8 bytes, side by side.
    pub variables: u32,
    /// The least number of choices. An event can come from no choice, or a choice can give several events or none.
    pub min_choices: usize,
    /// The most choices.
    pub max_choices: usize,
    /// Accesses of 1, 2 and 4 bytes, and ones that reach into the next variable.
    pub subword: bool,
    /// A plain write for every 20 plain reads, where there are as many of both otherwise.
    pub few_writes: bool,
    /// Recorded values on accesses.
    pub values: bool,
    /// Locks taken exclusively.
    pub mutexes: bool,
    /// Locks taken as a reader too (never upgraded: see [`validate`](crate::validate())).
    pub rwlocks: bool,
    /// Locks taken again by their holder.
    pub reentrant: bool,
    /// Atomic loads, stores and read-modify-writes with all C11 orderings.
    pub atomics: bool,
    /// Java's volatile accesses.
    pub volatiles: bool,
    /// Plain accesses to atomic variables and the other way round.
    pub mixed: bool,
    /// Fences.
    pub fences: bool,
    /// Barriers.
    pub barriers: bool,
    /// A thread may enter a barrier's next round while others have yet to leave the one before.
    pub barrier_overlap: bool,
    /// Sends and receives.
    pub messages: bool,
    /// Forks, joins and thread ends. Without, all threads are roots.
    pub forks: bool,
    /// Thread numbers that are given to a new thread after the old one was joined or has ended.
    pub id_reuse: bool,
    /// Optional begin and end events.
    pub begin_end: bool,
    /// Allocations and frees.
    pub heap: bool,
    /// Array elements and ranges.
    pub arrays: bool,
    /// Calls into untraced code.
    pub calls: bool,
}

impl Config {
    /// Reads and writes of whole variables by `threads` root threads, nothing else.
    pub fn accesses() -> Config {
        Config {
            threads: 4,
            roots: 4,
            locks: 3,
            variables: 3,
            min_choices: 10,
            max_choices: 80,
            subword: false,
            few_writes: false,
            values: false,
            mutexes: false,
            rwlocks: false,
            reentrant: false,
            atomics: false,
            volatiles: false,
            mixed: false,
            fences: false,
            barriers: false,
            barrier_overlap: false,
            messages: false,
            forks: false,
            id_reuse: false,
            begin_end: false,
            heap: false,
            arrays: false,
            calls: false,
        }
    }

    /// The vocabulary of most papers: accesses, mutexes, forks and joins.
    pub fn classic() -> Config {
        Config {
            roots: 2,
            mutexes: true,
            reentrant: true,
            forks: true,
            ..Config::accesses()
        }
    }

    /// Everything that an event can be.
    pub fn all() -> Config {
        Config {
            threads: 5,
            subword: true,
            values: true,
            rwlocks: true,
            atomics: true,
            volatiles: true,
            mixed: true,
            fences: true,
            barriers: true,
            barrier_overlap: true,
            messages: true,
            id_reuse: true,
            begin_end: true,
            heap: true,
            arrays: true,
            calls: true,
            ..Config::classic()
        }
    }
}

/// One step of a recipe. Each byte chooses among what is possible when its turn comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Who.
    pub thread: u8,
    /// What kind of thing.
    pub action: u8,
    /// On which variable, lock, thread, ….
    pub object: u8,
    /// Size, offset, ordering, mode, ….
    pub detail: u8,
}

/// A trace in memory. Its `Debug` form is the text format, so that a failing property test prints something to read
/// and to paste into a test.
#[derive(Clone, PartialEq, Eq)]
pub struct Trace {
    /// The events in order.
    pub events: Vec<Event>,
    /// What their ids stand for.
    pub tables: Tables,
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\n")?;
        f.write_str(&crate::text::print(&self.events, &self.tables))
    }
}

/// Makes the trace of a recipe that starts with `roots` threads.
pub fn cook(config: &Config, roots: u32, choices: &[Choice]) -> Trace {
    let mut world = world::World::new(config, roots);
    for &choice in choices {
        world.step(choice);
    }
    world.finish()
}
