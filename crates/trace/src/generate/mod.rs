//! Random well-formed traces of any length, by seed.
//!
//! A trace comes from simulated threads. Each executes *plans*, small pieces of program (a loop over local data, a
//! critical section, a message, …) that are race-free by construction: what is shared is guarded by a lock, handed
//! over, or only read. Races are added on purpose ([`Config::races`]): two threads write to a variable that is used for
//! nothing else, one right after the other, so nothing can order them. So the races of a generated trace are known.
//!
//! [`Pattern`] chooses what the threads do. `sharedspot`, `localspot` and `multiset` are the microbenchmarks of
//! Goldilocks §4; `sweep`, `random-array` and `phases` are for array compression (SHRINKWRAP).
//!
//! A generator is a [`Source`]; it holds no more than a block of the trace. The same configuration always gives the same
//! trace.

mod plan;
mod rng;
mod world;

use crate::{Place, Position, Result, Source};
use deadheat_event::{Event, Tables};
use std::fmt;
use std::str::FromStr;
use world::World;

/// What the threads of a generated trace do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Local work, critical sections and whatever [`Config::shares`] asks for.
    #[default]
    Mixed,
    /// Shared variables, each with a lock of its own.
    SharedSpot,
    /// The same with variables and locks that no two threads share.
    LocalSpot,
    /// A concurrent multiset: insert, delete and query slots, each with a lock.
    Multiset,
    /// Every thread sweeps its part of every array; barriers in between.
    Sweep,
    /// Every thread accesses random elements of its part of every array.
    RandomArray,
    /// Sweeps, then random accesses, then sweeps again, and so on.
    Phases,
}

impl Pattern {
    /// All patterns.
    pub const ALL: [Pattern; 7] = [
        Pattern::Mixed,
        Pattern::SharedSpot,
        Pattern::LocalSpot,
        Pattern::Multiset,
        Pattern::Sweep,
        Pattern::RandomArray,
        Pattern::Phases,
    ];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Pattern::Mixed => "mixed",
            Pattern::SharedSpot => "sharedspot",
            Pattern::LocalSpot => "localspot",
            Pattern::Multiset => "multiset",
            Pattern::Sweep => "sweep",
            Pattern::RandomArray => "random-array",
            Pattern::Phases => "phases",
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(name: &str) -> Result<Pattern, String> {
        Pattern::ALL
            .into_iter()
            .find(|pattern| pattern.as_str() == name)
            .ok_or_else(|| {
                let names: Vec<_> = Pattern::ALL.iter().map(|pattern| pattern.as_str()).collect();
                format!("no pattern `{name}`; there are {}", names.join(", "))
            })
    }
}

/// Which sites events have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sites {
    /// So many places in a program, visited in runs as loops and functions do.
    Program(u32),
    /// Every event its own, for tests. Takes 16 bytes of memory for each event.
    Unique,
}

/// How elements of arrays are accessed in [`Pattern::Mixed`] and [`Pattern::Sweep`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArrayAccess {
    /// As events on ranges, the way hoisted checks come.
    #[default]
    Ranges,
    /// One event for each element.
    Elements,
}

/// How often each kind of plan is chosen in [`Pattern::Mixed`], relative to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Loops over data of the thread itself, and reads of data that nobody writes.
    pub local: u32,
    /// Critical sections of a mutex.
    pub locks: u32,
    /// Critical sections of a read-write lock.
    pub rwlocks: u32,
    /// Data handed over through an atomic flag, and counters.
    pub atomics: u32,
    /// The same with relaxed atomics and fences.
    pub fences: u32,
    /// Data handed over through a channel.
    pub messages: u32,
    /// Barriers of all threads.
    pub barriers: u32,
    /// Memory allocated, used and freed.
    pub heap: u32,
    /// Sweeps over a thread's part of an array, by block or stride.
    pub arrays: u32,
    /// Calls into untraced code.
    pub calls: u32,
    /// Threads that end, are joined and replaced.
    pub forks: u32,
}

impl Default for Shares {
    /// Mostly local work and locks, a little of the rest: what programs look like.
    fn default() -> Shares {
        Shares {
            local: 700,
            locks: 200,
            rwlocks: 40,
            atomics: 30,
            fences: 4,
            messages: 10,
            barriers: 1,
            heap: 10,
            arrays: 0,
            calls: 4,
            forks: 1,
        }
    }
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Config {
    /// Same seed, same trace.
    pub seed: u64,
    /// Events, exactly.
    pub events: u64,
    /// Threads alive at once, the main thread included.
    pub threads: u32,
    /// Locks.
    pub locks: u32,
    /// Shared variables; as many again for each thread alone.
    pub variables: u64,
    /// Arrays.
    pub arrays: u32,
    /// Elements of each.
    pub array_len: u64,
    /// How arrays are accessed.
    pub array_access: ArrayAccess,
    /// The most locks held at once.
    pub nesting: u32,
    /// How many accesses a critical section or local loop has on average: the more, the less synchronisation.
    pub work: u32,
    /// How many of a thousand accesses are to some bytes of a variable that no other access need share.
    pub subword: u32,
    /// What [`Pattern::Mixed`] does.
    pub shares: Shares,
    /// Whether new threads get the numbers of joined ones.
    pub id_reuse: bool,
    /// Races to inject, each on a variable of its own.
    pub races: u64,
    /// Which sites events have.
    pub sites: Sites,
    /// What the threads do.
    pub pattern: Pattern,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            seed: 0,
            events: 100_000,
            threads: 8,
            locks: 64,
            variables: 4096,
            arrays: 4,
            array_len: 4096,
            array_access: ArrayAccess::Ranges,
            nesting: 2,
            work: 12,
            subword: 1,
            shares: Shares::default(),
            id_reuse: true,
            races: 0,
            sites: Sites::Program(1000),
            pattern: Pattern::Mixed,
        }
    }
}

/// Events in one block.
const BLOCK: usize = 8192;

/// A trace that is made while it is read.
pub struct Generator {
    world: World,
    events: u64,
    given: u64,
}

impl Generator {
    /// Starts a trace.
    pub fn new(config: &Config) -> Generator {
        Generator {
            world: World::new(config),
            events: config.events,
            given: 0,
        }
    }
}

impl Source for Generator {
    fn next_block(&mut self, out: &mut Vec<Event>) -> Result<bool> {
        out.clear();
        let left = self.events - self.given;
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(BLOCK);
        while self.world.out.len() < wanted {
            self.world.step();
        }
        // A step can give more than one event; what is too much comes first in the next block, or never.
        out.extend(self.world.out.drain(..wanted));
        self.given += wanted as u64;
        Ok(!out.is_empty())
    }

    fn tables(&self) -> &Tables {
        self.world.tables()
    }

    fn position(&self) -> Position {
        Position {
            done: self.given,
            total: Some(self.events),
        }
    }

    fn locate(&self, index: usize) -> Place {
        Place::Offset(self.given.saturating_sub(BLOCK as u64) + index as u64)
    }
}
