//! The state that keeps a recipe well-formed.

use super::{Choice, Config, Trace};
use crate::Interner;
use deadheat_event::{
    Addr, ArrayId, AtomicOp, Event, Indices, Mode, Object, ObjectSetId, Op, Order, Site, SyncId, ThreadId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Where the variables start.
const VARIABLES: u64 = 0x1000;
/// Where the atomic variables start.
const ATOMICS: u64 = 0x2000;
/// Where the heap starts; its blocks are this far apart.
const HEAP: u64 = 0x4000;
const HEAP_BLOCK: u64 = 64;
const HEAP_BLOCKS: u64 = 2;
const ATOMIC_VARIABLES: u64 = 2;
const BARRIERS: u64 = 2;
const CHANNELS: u64 = 2;
const ARRAYS: u32 = 2;
const ARRAY_LEN: u64 = 12;
const CALL_DEPTH: usize = 2;
/// Barriers and channels are numbered apart from locks, for people's sake.
const FIRST_BARRIER: u64 = 100;
const FIRST_CHANNEL: u64 = 200;

/// What a choice can ask for. The order matters: shrinking goes towards the first.
#[derive(Clone, Copy)]
enum Action {
    Write,
    Read,
    Acquire,
    Release,
    Fork,
    Join,
    Atomic,
    Fence,
    Barrier,
    Send,
    Receive,
    ArrayWrite,
    ArrayRead,
    NewArray,
    Alloc,
    Free,
    Call,
    Return,
    End,
}

#[derive(Default)]
struct Thread {
    /// Locks held, innermost last.
    held: Vec<SyncId>,
    /// Open calls into untraced code.
    calls: usize,
    /// The barrier that it waits at.
    barrier: Option<SyncId>,
    /// Whether it has done anything.
    ran: bool,
}

#[derive(Default)]
struct Lock {
    /// Who holds it, how often, and the mode of each acquire.
    holders: BTreeMap<ThreadId, Vec<Mode>>,
}

#[derive(Default)]
struct Barrier {
    /// Who has entered the current round.
    gathering: BTreeSet<ThreadId>,
    /// Who has yet to leave the round before.
    draining: BTreeSet<ThreadId>,
}

pub(super) struct World<'c> {
    config: &'c Config,
    actions: Vec<Action>,
    alive: BTreeMap<ThreadId, Thread>,
    /// Threads that the trace has mentioned: only these can be joined.
    seen: BTreeSet<ThreadId>,
    /// Ended, and nobody has joined it.
    ended: BTreeSet<ThreadId>,
    /// Numbers free to be used again.
    reusable: BTreeSet<ThreadId>,
    next_thread: u32,
    locks: BTreeMap<SyncId, Lock>,
    barriers: BTreeMap<SyncId, Barrier>,
    allocated: BTreeMap<u64, u32>,
    sets: Vec<ObjectSetId>,
    interner: Interner,
    events: Vec<Event>,
}

impl<'c> World<'c> {
    pub(super) fn new(config: &'c Config, roots: u32) -> World<'c> {
        let roots = if config.forks {
            roots.clamp(1, config.threads.max(1))
        } else {
            config.threads.max(1)
        };
        let mut interner = Interner::new();
        let variable = |n: u64| Object {
            addr: Addr(VARIABLES + 8 * n),
            size: 8,
        };
        let count = u64::from(config.variables.max(1));
        let mut sets = vec![ObjectSetId(0)];
        for n in 0..count {
            sets.push(interner.objects(vec![variable(n)]));
            sets.push(interner.objects(vec![variable(n), variable((n + 1) % count)]));
        }
        sets.push(interner.objects(vec![Object::EVERYTHING]));
        World {
            config,
            actions: actions(config),
            alive: (0..roots).map(|n| (ThreadId(n), Thread::default())).collect(),
            seen: BTreeSet::new(),
            ended: BTreeSet::new(),
            reusable: BTreeSet::new(),
            next_thread: roots,
            locks: BTreeMap::new(),
            barriers: BTreeMap::new(),
            allocated: BTreeMap::new(),
            sets,
            interner,
            events: Vec::new(),
        }
    }

    pub(super) fn finish(self) -> Trace {
        Trace {
            events: self.events,
            tables: self.interner.into_tables(),
        }
    }

    fn emit(&mut self, thread: ThreadId, op: Op) {
        let line = u32::try_from(self.events.len() + 1).unwrap_or(u32::MAX);
        let file = self.interner.name("t");
        let site = self.interner.site(Site {
            file,
            line,
            ..Site::default()
        });
        self.seen.insert(thread);
        if let Op::Fork { child } = op {
            self.seen.insert(child);
        }
        self.events.push(Event { thread, site, op });
    }

    pub(super) fn step(&mut self, choice: Choice) {
        let Some(thread) = nth(self.alive.keys(), choice.thread) else {
            return;
        };
        let Some(state) = self.alive.get_mut(&thread) else {
            return;
        };
        if let Some(barrier) = state.barrier {
            // It is blocked: all it can do is go on.
            self.leave(thread, barrier);
            return;
        }
        let first = !std::mem::replace(&mut state.ran, true);
        if first && self.config.begin_end && choice.detail & 0x80 != 0 {
            self.emit(thread, Op::Begin);
        }
        let action = self.actions[usize::from(choice.action) % self.actions.len()];
        self.act(thread, action, choice);
    }

    fn act(&mut self, thread: ThreadId, action: Action, choice: Choice) {
        let Choice { object, detail, .. } = choice;
        match action {
            Action::Write | Action::Read => {
                self.access(thread, matches!(action, Action::Write), object, detail);
            }
            Action::Acquire => self.acquire(thread, object, detail),
            Action::Release => self.release(thread, object),
            Action::Fork => self.fork(thread, object),
            Action::Join => self.join(thread, object, detail),
            Action::Atomic => self.atomic(thread, object, detail),
            Action::Fence => {
                let order = pick(
                    &[Order::SeqCst, Order::AcqRel, Order::Acquire, Order::Release],
                    detail,
                );
                self.emit(thread, Op::Fence { order });
            }
            Action::Barrier => self.enter(thread, SyncId(FIRST_BARRIER + u64::from(object) % BARRIERS)),
            Action::Send => {
                let channel = SyncId(FIRST_CHANNEL + u64::from(object) % CHANNELS);
                self.emit(thread, Op::Send { channel });
            }
            Action::Receive => {
                let channel = SyncId(FIRST_CHANNEL + u64::from(object) % CHANNELS);
                self.emit(thread, Op::Receive { channel });
            }
            Action::ArrayWrite | Action::ArrayRead => {
                let array = ArrayId(u32::from(object) % ARRAYS);
                let indices = indices(object, detail);
                let write = matches!(action, Action::ArrayWrite);
                let op = if write {
                    Op::ArrayWrite { array, indices }
                } else {
                    Op::ArrayRead { array, indices }
                };
                self.emit(thread, op);
            }
            Action::NewArray => {
                let array = ArrayId(u32::from(object) % ARRAYS);
                self.emit(
                    thread,
                    Op::NewArray {
                        array,
                        len: ARRAY_LEN,
                    },
                );
            }
            Action::Alloc => {
                let addr = HEAP + HEAP_BLOCK * (u64::from(object) % HEAP_BLOCKS);
                let size = pick(&[16, 8, 32, 12], detail);
                if let std::collections::btree_map::Entry::Vacant(entry) = self.allocated.entry(addr) {
                    entry.insert(size);
                    self.emit(
                        thread,
                        Op::Alloc {
                            addr: Addr(addr),
                            size,
                        },
                    );
                }
            }
            Action::Free => {
                let addr = HEAP + HEAP_BLOCK * (u64::from(object) % HEAP_BLOCKS);
                if let Some(size) = self.allocated.remove(&addr) {
                    self.emit(
                        thread,
                        Op::Free {
                            addr: Addr(addr),
                            size,
                        },
                    );
                }
            }
            Action::Call => {
                if let Some(state) = self
                    .alive
                    .get_mut(&thread)
                    .filter(|state| state.calls < CALL_DEPTH)
                {
                    state.calls += 1;
                    let function = self.interner.name(pick(&["f", "g"], detail));
                    let objects = pick(&self.sets, object);
                    self.emit(thread, Op::CallBegin { function, objects });
                }
            }
            Action::Return => {
                if let Some(state) = self.alive.get_mut(&thread).filter(|state| state.calls > 0) {
                    state.calls -= 1;
                    self.emit(thread, Op::CallEnd);
                }
            }
            Action::End => {
                if self.alive.len() > 1 {
                    self.end(thread, detail);
                }
            }
        }
    }

    fn access(&mut self, thread: ThreadId, write: bool, object: u8, detail: u8) {
        let variables = u64::from(self.config.variables.max(1));
        let (mut places, mut base) = (variables, VARIABLES);
        let mut index = u64::from(object);
        if self.config.heap && index % 5 == 4 {
            (places, base, index) = (HEAP_BLOCKS * 2, HEAP, index / 5);
        } else if self.config.mixed && index % 7 == 6 {
            (places, base, index) = (ATOMIC_VARIABLES, ATOMICS, index / 7);
        }
        let spacing = if base == HEAP { HEAP_BLOCK / 2 } else { 8 };
        let mut addr = base + spacing * (index % places);
        let mut size = 8;
        if self.config.subword {
            let (sized, offset) = subword(detail);
            size = sized;
            addr += offset;
        }
        let value = (self.config.values && detail & 0x40 != 0).then_some(u64::from(object));
        let addr = Addr(addr);
        self.emit(
            thread,
            if write {
                Op::Write { addr, size, value }
            } else {
                Op::Read { addr, size, value }
            },
        );
    }

    fn atomic(&mut self, thread: ThreadId, object: u8, detail: u8) {
        const C11: [Order; 5] = [
            Order::SeqCst,
            Order::AcqRel,
            Order::Acquire,
            Order::Release,
            Order::Relaxed,
        ];
        let mut addr = ATOMICS + 8 * (u64::from(object) % ATOMIC_VARIABLES);
        if self.config.mixed && object % 7 == 6 {
            addr = VARIABLES + 8 * (u64::from(object / 7) % u64::from(self.config.variables.max(1)));
        }
        let op = pick(&[AtomicOp::Store, AtomicOp::Load, AtomicOp::Rmw], detail);
        // Half of the object space is volatile where both are wanted, so that both often meet on one address.
        let volatile = self.config.volatiles && (!self.config.atomics || object & 0x80 != 0);
        let order = if volatile {
            Order::Volatile
        } else {
            pick(&C11, detail / 3)
        };
        let narrow = self.config.subword && self.config.mixed && detail >= 0xc0;
        let size = if narrow { 4 } else { 8 };
        let value = (self.config.values && detail & 0x40 != 0).then_some(u64::from(detail));
        self.emit(
            thread,
            Op::Atomic {
                addr: Addr(addr),
                size,
                op,
                order,
                value,
            },
        );
    }

    fn acquire(&mut self, thread: ThreadId, object: u8, detail: u8) {
        let config = self.config;
        let id = SyncId(u64::from(object) % u64::from(config.locks.max(1)));
        let shared = config.rwlocks && (!config.mutexes || detail % 3 == 2);
        let mode = if shared { Mode::Shared } else { Mode::Exclusive };
        let lock = self.locks.entry(id).or_default();
        let mine = lock.holders.get(&thread);
        let legal = match mode {
            // No upgrade: a reader does not become a writer while it reads.
            Mode::Exclusive => match mine {
                None => lock.holders.is_empty(),
                Some(modes) => config.reentrant && modes[0] == Mode::Exclusive,
            },
            Mode::Shared => {
                let writer = lock
                    .holders
                    .iter()
                    .any(|(&other, modes)| other != thread && modes[0] == Mode::Exclusive);
                !writer && (mine.is_none() || config.reentrant)
            }
        };
        if legal {
            lock.holders.entry(thread).or_default().push(mode);
            if let Some(state) = self.alive.get_mut(&thread) {
                state.held.push(id);
            }
            self.emit(thread, Op::Acquire { lock: id, mode });
        }
    }

    /// Releases the innermost lock, or for a few choices another one: hand-over-hand locking is legal too.
    fn release(&mut self, thread: ThreadId, object: u8) {
        let Some(state) = self.alive.get_mut(&thread) else {
            return;
        };
        let Some(last) = state.held.len().checked_sub(1) else {
            return;
        };
        let index = if object >= 0xc0 {
            usize::from(object) % state.held.len()
        } else {
            last
        };
        let id = state.held.remove(index);
        if let Some(lock) = self.locks.get_mut(&id)
            && let Some(modes) = lock.holders.get_mut(&thread)
        {
            modes.pop();
            if modes.is_empty() {
                lock.holders.remove(&thread);
            }
        }
        self.emit(thread, Op::Release { lock: id });
    }

    fn enter(&mut self, thread: ThreadId, id: SyncId) {
        let barrier = self.barriers.entry(id).or_default();
        if barrier.draining.is_empty() || self.config.barrier_overlap {
            barrier.gathering.insert(thread);
            if let Some(state) = self.alive.get_mut(&thread) {
                state.barrier = Some(id);
            }
            self.emit(thread, Op::BarrierEnter { barrier: id });
        }
    }

    /// The first one to leave ends the round.
    fn leave(&mut self, thread: ThreadId, id: SyncId) {
        let barrier = self.barriers.entry(id).or_default();
        if barrier.gathering.contains(&thread) {
            if !barrier.draining.is_empty() {
                return;
            }
            std::mem::swap(&mut barrier.gathering, &mut barrier.draining);
        }
        barrier.draining.remove(&thread);
        if let Some(state) = self.alive.get_mut(&thread) {
            state.barrier = None;
        }
        self.emit(thread, Op::BarrierLeave { barrier: id });
    }

    fn fork(&mut self, thread: ThreadId, object: u8) {
        if self.alive.len() >= self.config.threads.max(1) as usize {
            return;
        }
        let old = if self.config.id_reuse {
            nth(self.reusable.iter(), object)
        } else {
            None
        };
        let child = match old {
            Some(old) if object & 1 == 0 => {
                self.reusable.remove(&old);
                self.ended.remove(&old);
                old
            }
            _ => {
                self.next_thread += 1;
                ThreadId(self.next_thread - 1)
            }
        };
        self.alive.insert(child, Thread::default());
        self.emit(thread, Op::Fork { child });
    }

    /// Waits for an ended thread, or makes another one end first.
    fn join(&mut self, thread: ThreadId, object: u8, detail: u8) {
        let child = match nth(self.ended.intersection(&self.seen), object) {
            Some(child) if detail & 1 == 0 => child,
            _ => {
                let others = self
                    .alive
                    .keys()
                    .filter(|other| **other != thread && self.seen.contains(other));
                let Some(child) = nth(others, object) else {
                    return;
                };
                if !self.end(child, detail) {
                    return;
                }
                child
            }
        };
        self.ended.remove(&child);
        self.reusable.insert(child);
        self.emit(thread, Op::Join { child });
    }

    /// Lets a thread clean up and end. `false` if it cannot because others still have to leave its barrier.
    fn end(&mut self, thread: ThreadId, detail: u8) -> bool {
        if let Some(barrier) = self.alive.get(&thread).and_then(|state| state.barrier) {
            self.leave(thread, barrier);
        }
        if self
            .alive
            .get(&thread)
            .is_none_or(|state| state.barrier.is_some())
        {
            return false;
        }
        while self.alive.get(&thread).is_some_and(|state| state.calls > 0) {
            self.act(thread, Action::Return, Choice::default());
        }
        while self
            .alive
            .get(&thread)
            .is_some_and(|state| !state.held.is_empty())
        {
            self.release(thread, 0);
        }
        self.alive.remove(&thread);
        self.ended.insert(thread);
        if self.config.begin_end && detail & 2 == 0 {
            self.emit(thread, Op::End);
            self.reusable.insert(thread);
        }
        true
    }
}

/// The actions that a configuration allows, more frequent ones several times.
fn actions(config: &Config) -> Vec<Action> {
    let [writes, reads, in_arrays] = if config.few_writes { [1, 20, 1] } else { [6, 6, 4] };
    let all: [(Action, usize, bool); 19] = [
        (Action::Write, writes, true),
        (Action::Read, reads, true),
        (Action::Acquire, 4, config.mutexes || config.rwlocks),
        (Action::Release, 4, config.mutexes || config.rwlocks),
        (Action::Fork, 3, config.forks),
        (Action::Join, 1, config.forks),
        (Action::Atomic, 5, config.atomics || config.volatiles),
        (Action::Fence, 3, config.fences),
        (Action::Barrier, 2, config.barriers),
        (Action::Send, 2, config.messages),
        (Action::Receive, 2, config.messages),
        (Action::ArrayWrite, in_arrays, config.arrays),
        (Action::ArrayRead, in_arrays * reads / writes, config.arrays),
        (Action::NewArray, 1, config.arrays),
        (Action::Alloc, 2, config.heap),
        (Action::Free, 2, config.heap),
        (Action::Call, 2, config.calls),
        (Action::Return, 2, config.calls),
        (Action::End, 1, config.forks),
    ];
    let enabled = all.into_iter().filter(|(_, _, enabled)| *enabled);
    enabled
        .flat_map(|(action, weight, _)| std::iter::repeat_n(action, weight))
        .collect()
}

fn nth<'a>(mut of: impl Iterator<Item = &'a ThreadId> + Clone, choice: u8) -> Option<ThreadId> {
    let count = of.clone().count();
    if count == 0 {
        None
    } else {
        of.nth(usize::from(choice) % count).copied()
    }
}

fn pick<T: Copy>(of: &[T], choice: u8) -> T {
    of[usize::from(choice) % of.len()]
}

/// Size and offset of a sub-word access: whole words first, then parts, then ones that reach into the next word.
fn subword(detail: u8) -> (u32, u64) {
    const SHAPES: [(u32, u64); 12] = [
        (8, 0),
        (4, 0),
        (4, 4),
        (2, 2),
        (1, 0),
        (1, 1),
        (1, 7),
        (2, 5),
        (4, 6),
        (8, 4),
        (2, 7),
        (3, 1),
    ];
    SHAPES[usize::from(detail) % SHAPES.len()]
}

/// Single indices, blocks and strides, all below [`ARRAY_LEN`].
fn indices(object: u8, detail: u8) -> Indices {
    let first = u64::from(object / 2) % ARRAY_LEN;
    let last = first + u64::from(detail >> 4) % (ARRAY_LEN - first);
    let stride = [1, 1, 2, 3][usize::from(detail & 3)];
    Indices::new(first, last, stride).unwrap_or_else(|| Indices::one(first))
}
