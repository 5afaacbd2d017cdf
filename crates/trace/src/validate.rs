//! Is a trace well-formed? Names the first event that is not.
//!
//! What is checked, and what is deliberately not:
//! - **Threads.** A thread that acts without having been forked is a *root*: the main thread, or one whose start was not
//!   recorded (STD traces have many). A fork of a thread that is alive is ill-formed, be it a root that has acted, one
//!   that was forked before, or the forking thread itself; that rules out cycles of forks. An event of a thread
//!   behind its `end`, or behind a join of it, is ill-formed until it is forked anew: numbers may be used again. Joining
//!   needs a thread that was forked or has acted, other than the joining one; several may join the same thread (Java
//!   allows it). `begin` must be the thread's first event.
//! - **Locks.** One exclusive holder, or any number of readers. Re-entry is fine, but not from reading to writing: an
//!   upgrade of a lock that is held shared would make "the outermost acquire synchronises" wrong. Only a holder
//!   releases. A thread may end with locks held, which are then nobody's.
//! - **Barriers.** Leave only what was entered, enter only what was left. Events in between are fine (split barriers).
//! - **Calls into untraced code** are closed in order, and before their thread ends. Objects that calls reach are equal
//!   or apart, unless memory was allocated or freed in between.
//! - **Accesses** have 1 to [`MAX_ACCESS`] bytes and stay inside the address space; array indices stay inside arrays
//!   that were declared.
//! - *Not* checked: receives without a send (a semaphore may start above zero), frees without an allocation (the trace
//!   may start late), locks still held and calls still open where the trace ends, whether an ordering suits an atomic.
//!
//! Memory grows with the ids in use (threads ever seen, locks held, arrays, reachable objects), not with the length.

use crate::{Place, Result, Source, text};
use deadheat_event::{Addr, ArrayId, Event, MAX_ACCESS, Mode, Object, Op, SyncId, Tables, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::fmt;

/// The first ill-formed event of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Its number, counted from 0.
    pub event: u64,
    /// Where in the file.
    pub place: Place,
    /// The event as text.
    pub shown: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation {
            event,
            place,
            shown,
            message,
        } = self;
        write!(f, "event {event} ({place}): `{shown}`: {message}")
    }
}

/// Checks a trace to its end or its first ill-formed event. Returns how many events were well-formed, too.
pub fn validate(source: &mut dyn Source) -> Result<(u64, Option<Violation>)> {
    let mut validator = Validator::new();
    let mut block = Vec::new();
    while source.next_block(&mut block)? {
        for (index, event) in block.iter().enumerate() {
            if let Err(message) = validator.check(event, source.tables()) {
                let (place, shown) = (source.locate(index), text::print_event(event, source.tables()));
                let event = validator.events;
                return Ok((
                    event,
                    Some(Violation {
                        event,
                        place,
                        shown,
                        message,
                    }),
                ));
            }
        }
    }
    Ok((validator.events, None))
}

/// A thread that is alive.
#[derive(Default)]
struct Thread {
    /// Number of its first event, if it has had one.
    first: Option<u64>,
    forked: bool,
    calls: u32,
    barriers: FxHashSet<SyncId>,
    /// Locks held, for when it ends.
    held: FxHashSet<SyncId>,
}

/// Why a thread can act no more.
#[derive(Clone, Copy)]
enum Gone {
    Ended,
    Joined,
}

/// The check event by event, for those who have no [`Source`].
#[derive(Default)]
pub struct Validator {
    events: u64,
    alive: FxHashMap<ThreadId, Thread>,
    gone: FxHashMap<ThreadId, Gone>,
    /// Modes of the acquires of each holder, outermost first. Only locks that are held.
    locks: FxHashMap<SyncId, FxHashMap<ThreadId, Vec<Mode>>>,
    arrays: FxHashMap<ArrayId, u64>,
    /// Objects that calls can reach, by first byte.
    objects: BTreeMap<u64, u32>,
}

impl Validator {
    /// A validator that has seen nothing.
    pub fn new() -> Validator {
        Validator::default()
    }

    /// Well-formed events so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Checks the next event. `Err` says what is wrong; nothing more can be said about the trace then.
    pub fn check(&mut self, event: &Event, tables: &Tables) -> Result<(), String> {
        self.act(event.thread, event.op)?;
        match event.op {
            Op::Read { addr, size, .. } | Op::Write { addr, size, .. } | Op::Atomic { addr, size, .. } => {
                check_bytes(addr, size)?;
            }
            Op::Alloc { addr, size } | Op::Free { addr, size } => {
                check_bytes(addr, size)?;
                self.forget_objects(addr, size);
            }
            Op::ArrayRead { array, indices } | Op::ArrayWrite { array, indices } => {
                if let Some(&len) = self.arrays.get(&array).filter(|&&len| indices.last() >= len) {
                    return Err(format!(
                        "index {} is outside of the array, which has {len} elements",
                        indices.last()
                    ));
                }
            }
            Op::NewArray { array, len } => drop(self.arrays.insert(array, len)),
            Op::Acquire { lock, mode } => self.acquire(event.thread, lock, mode)?,
            Op::Release { lock } => self.release(event.thread, lock)?,
            Op::Fork { child } => self.fork(event.thread, child)?,
            Op::Join { child } => self.join(event.thread, child)?,
            Op::End => self.end(event.thread)?,
            Op::BarrierEnter { barrier } => {
                if !self.thread(event.thread).barriers.insert(barrier) {
                    return Err("the thread is already at this barrier".to_owned());
                }
            }
            Op::BarrierLeave { barrier } => {
                if !self.thread(event.thread).barriers.remove(&barrier) {
                    return Err("the thread has not entered this barrier".to_owned());
                }
            }
            Op::CallBegin { objects, .. } => {
                if objects.0 != 0 && objects.index() >= tables.object_sets.len() {
                    return Err(format!("the trace has no object set {}", objects.0));
                }
                self.reach(tables.objects(objects))?;
                self.thread(event.thread).calls += 1;
            }
            Op::CallEnd => {
                let thread = self.thread(event.thread);
                thread.calls = thread
                    .calls
                    .checked_sub(1)
                    .ok_or("the thread is in no call into untraced code")?;
            }
            Op::Begin | Op::Fence { .. } | Op::Send { .. } | Op::Receive { .. } => {}
        }
        self.events += 1;
        Ok(())
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        self.alive.entry(thread).or_default()
    }

    /// Whether the thread may act at all.
    fn act(&mut self, id: ThreadId, op: Op) -> Result<(), String> {
        let number = self.events;
        if let Some(thread) = self.alive.get_mut(&id) {
            if op == Op::Begin && thread.first.is_some() {
                return Err("this is not the thread's first event".to_owned());
            }
            thread.first.get_or_insert(number);
            return Ok(());
        }
        match self.gone.get(&id) {
            Some(Gone::Ended) => return Err("the thread has ended, and was not forked again".to_owned()),
            Some(Gone::Joined) => return Err("the thread was joined, and was not forked again".to_owned()),
            None => {}
        }
        self.alive.insert(
            id,
            Thread {
                first: Some(number),
                ..Thread::default()
            },
        );
        Ok(())
    }

    fn fork(&mut self, thread: ThreadId, child: ThreadId) -> Result<(), String> {
        if thread == child {
            return Err("a thread cannot fork itself".to_owned());
        }
        if let Some(alive) = self.alive.get(&child) {
            return Err(match (alive.forked, alive.first) {
                (true, _) => format!("{child} was forked before and has neither ended nor been joined"),
                (false, first) => format!(
                    "{child} is running since event {}, before this fork",
                    first.unwrap_or(0)
                ),
            });
        }
        self.gone.remove(&child);
        self.alive.insert(
            child,
            Thread {
                forked: true,
                ..Thread::default()
            },
        );
        Ok(())
    }

    fn join(&mut self, thread: ThreadId, child: ThreadId) -> Result<(), String> {
        if thread == child {
            return Err("a thread cannot join itself".to_owned());
        }
        if self.alive.contains_key(&child) {
            self.remove(child, Gone::Joined);
            return Ok(());
        }
        match self.gone.get_mut(&child) {
            Some(gone) => *gone = Gone::Joined,
            None => return Err(format!("{child} was never forked and has done nothing")),
        }
        Ok(())
    }

    fn end(&mut self, thread: ThreadId) -> Result<(), String> {
        let calls = self.thread(thread).calls;
        if calls > 0 {
            return Err(format!(
                "the thread ends inside {calls} call(s) into untraced code"
            ));
        }
        self.remove(thread, Gone::Ended);
        Ok(())
    }

    fn remove(&mut self, thread: ThreadId, how: Gone) {
        let held = self
            .alive
            .remove(&thread)
            .map(|thread| thread.held)
            .unwrap_or_default();
        for lock in held {
            if let Some(holders) = self.locks.get_mut(&lock) {
                holders.remove(&thread);
                if holders.is_empty() {
                    self.locks.remove(&lock);
                }
            }
        }
        self.gone.insert(thread, how);
    }

    fn acquire(&mut self, thread: ThreadId, lock: SyncId, mode: Mode) -> Result<(), String> {
        let holders = self.locks.entry(lock).or_default();
        let mine = holders.get(&thread).and_then(|modes| modes.first().copied());
        let other = |(holder, modes): (&ThreadId, &Vec<Mode>)| {
            let blocks = mode == Mode::Exclusive || modes.contains(&Mode::Exclusive);
            (*holder != thread && blocks).then_some(*holder)
        };
        if let Some(holder) = holders.iter().filter_map(other).min() {
            return Err(format!("the lock is held by {holder}"));
        }
        if mode == Mode::Exclusive && mine == Some(Mode::Shared) {
            return Err("the thread holds the lock as a reader: it cannot become a writer".to_owned());
        }
        holders.entry(thread).or_default().push(mode);
        self.thread(thread).held.insert(lock);
        Ok(())
    }

    fn release(&mut self, thread: ThreadId, lock: SyncId) -> Result<(), String> {
        let Some(holders) = self.locks.get_mut(&lock) else {
            return Err("nobody holds the lock".to_owned());
        };
        let Some(modes) = holders.get_mut(&thread) else {
            let holder = holders.keys().min().copied().unwrap_or_default();
            return Err(format!("the lock is held by {holder}, not by this thread"));
        };
        modes.pop();
        if modes.is_empty() {
            holders.remove(&thread);
            if holders.is_empty() {
                self.locks.remove(&lock);
            }
            self.thread(thread).held.remove(&lock);
        }
        Ok(())
    }

    /// Objects are equal or apart.
    fn reach(&mut self, objects: &[Object]) -> Result<(), String> {
        for object in objects {
            check_bytes(object.addr, object.size)?;
            let (addr, size) = (object.addr.0, object.size);
            if self.objects.get(&addr) == Some(&size) {
                continue;
            }
            // `check_bytes` made sure that the last byte exists.
            let last = addr + (u64::from(size) - 1);
            if let Some((&other, &len)) = self.objects.range(..=last).next_back()
                && other + (u64::from(len) - 1) >= addr
            {
                let message = format!(
                    "object {}:{size} overlaps object {}:{len}",
                    object.addr,
                    Addr(other)
                );
                return Err(message);
            }
            self.objects.insert(addr, size);
        }
        Ok(())
    }

    /// Memory that changes its purpose may hold other objects from now on.
    fn forget_objects(&mut self, addr: Addr, size: u32) {
        let last = addr.0 + (u64::from(size) - 1);
        while let Some((&object, &len)) = self.objects.range(..=last).next_back() {
            if object + (u64::from(len) - 1) < addr.0 {
                break;
            }
            self.objects.remove(&object);
        }
    }
}

fn check_bytes(addr: Addr, size: u32) -> Result<(), String> {
    if size == 0 {
        return Err("a size of 0 bytes".to_owned());
    }
    if u64::from(size) > MAX_ACCESS {
        return Err(format!(
            "{size} bytes are more than the {MAX_ACCESS} that one event may span"
        ));
    }
    if addr.0.checked_add(u64::from(size) - 1).is_none() {
        return Err("it reaches beyond the last address".to_owned());
    }
    Ok(())
}
