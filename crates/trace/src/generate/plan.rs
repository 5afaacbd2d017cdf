//! What simulated threads do: small race-free pieces of program.
//!
//! The rules that keep them race-free: a shared variable is accessed only under its lock (variable `v` has lock
//! `v % locks`), a local one only by its worker, an array element only by the worker whose part it is in, and data that
//! is handed over goes back before it is used again.

use super::world::World;
use super::{ArrayAccess, Pattern};
use deadheat_event::{
    Addr, ArrayId, AtomicOp, Indices, MAX_RANGE, Mode, NameId, Object, ObjectSetId, Op, Order, SyncId,
};

/// Fills a worker's plan.
type Plan = fn(&mut World, usize);

/// One event to come, and how far behind the start of its plan it stands in the program.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) op: Op,
    pub(super) offset: u32,
}

const SHARED: u64 = 0x6000_0000_0000;
const CONSTANT: u64 = 0x6800_0000_0000;
const FLAGS: u64 = 0x6c00_0000_0000;
const HANDED: u64 = 0x6d00_0000_0000;
/// Each worker has its own data here, this far apart.
const LOCAL: u64 = 0x5000_0000_0000;
const LOCAL_SPACING: u64 = 1 << 32;
/// A worker's heap, behind its data.
const HEAP: u64 = 1 << 31;
const BARRIER: SyncId = SyncId(1 << 40);
const CHANNELS: u64 = (1 << 40) + 1;
/// Pairs of flags or channels for data that is handed over.
const PAIRS: u64 = 16;
/// How often a piece of data is used in a row, on average.
const REPEATS: u64 = 3;
/// How many of a thousand pieces of data are written when they are used, not only read.
const WRITTEN: u32 = 350;
/// Elements between two bounds on a part that is swept at once.
const SWEEP: u64 = 256;

impl World {
    /// Arrays come into being before anything else.
    pub(super) fn set_up(&mut self) {
        let arrays = match self.config.pattern {
            Pattern::Sweep | Pattern::RandomArray | Pattern::Phases => true,
            Pattern::Mixed => self.config.shares.arrays > 0,
            _ => false,
        };
        if arrays {
            for array in 0..self.config.arrays.max(1) {
                let len = self.config.array_len.max(1);
                self.emit(
                    0,
                    Op::NewArray {
                        array: ArrayId(array),
                        len,
                    },
                    array,
                );
            }
            // The others must not touch them before they are there.
            self.barrier(BARRIER);
        }
    }

    /// Gives an idle worker something to do. The plan may stay empty if it involved others and is over already.
    pub(super) fn make_plan(&mut self, worker: usize) {
        // A sweep is one loop, whichever part of the array it is at; elsewhere the program moves on.
        let one_loop = matches!(
            self.config.pattern,
            Pattern::Sweep | Pattern::RandomArray | Pattern::Phases
        );
        self.workers[worker].base = if one_loop {
            0
        } else {
            (self.rng.next() as u32) & !31
        };
        match self.config.pattern {
            Pattern::Mixed => self.mixed(worker),
            Pattern::SharedSpot => {
                let variable = self.rng.below(self.config.variables.max(1));
                self.spot(worker, SHARED + 8 * variable, variable);
            }
            Pattern::LocalSpot => {
                // A lock of its own for each worker, as long as there are enough.
                let variable = self.rng.below(self.config.variables.max(1));
                let addr = LOCAL + LOCAL_SPACING * worker as u64 + 8 * variable;
                self.spot(worker, addr, worker as u64);
            }
            Pattern::Multiset => self.multiset(worker),
            Pattern::Sweep => self.sweep(worker),
            Pattern::RandomArray => self.random_array(worker),
            Pattern::Phases => self.phases(worker),
        }
    }

    fn push(&mut self, worker: usize, op: Op, offset: u32) {
        self.workers[worker].plan.push_back(Step { op, offset });
    }

    fn mixed(&mut self, worker: usize) {
        let shares = self.config.shares;
        let plans: [(u32, Plan); 11] = [
            (shares.local, World::local),
            (shares.locks, World::critical),
            (shares.rwlocks, World::read_critical),
            (shares.atomics, World::atomics),
            (shares.fences, World::fences),
            (shares.messages, World::message),
            (shares.barriers, |world, _| world.barrier(BARRIER)),
            (shares.heap, World::heap),
            (shares.arrays, World::array_part),
            (shares.calls, World::call),
            (shares.forks, World::replace),
        ];
        let total: u64 = plans.iter().map(|(share, _)| u64::from(*share)).sum();
        let mut choice = self.rng.below(total.max(1));
        for (share, plan) in plans {
            if choice < u64::from(share) {
                return plan(self, worker);
            }
            choice -= u64::from(share);
        }
        self.local(worker);
    }

    /// 1 to twice the average number of accesses.
    fn work(&mut self) -> u64 {
        1 + self.rng.below(2 * u64::from(self.config.work.max(1)) - 1)
    }

    /// How often a piece of data is used before the next one: loops come back to what they have just used. With
    /// [`REPEATS`] and [`WRITTEN`] as they are, a trace has about the mix that FastTrack's authors found in programs:
    /// five reads for each write, and two thirds of both repeat an access of the same epoch.
    fn repeats(&mut self) -> u64 {
        1 + self.rng.below(2 * REPEATS - 1)
    }

    /// A variable as programs use it: every fourth is a pair of fields, the others are words. Now and then some bytes of
    /// it that are neither.
    fn part(&mut self, addr: u64) -> (Addr, u32) {
        if self.config.subword > 0 && self.rng.chance(self.config.subword) {
            let size = 1 << self.rng.below(3);
            let offset = self.rng.below(9 - size);
            return (Addr(addr + offset), size as u32);
        }
        if (addr / 8).is_multiple_of(4) {
            return (Addr(addr + 4 * self.rng.below(2)), 4);
        }
        (Addr(addr), 8)
    }

    fn read(&mut self, worker: usize, addr: u64, offset: u32) {
        let (addr, size) = self.part(addr);
        self.push(
            worker,
            Op::Read {
                addr,
                size,
                value: None,
            },
            offset,
        );
    }

    fn write(&mut self, worker: usize, addr: u64, offset: u32) {
        let (addr, size) = self.part(addr);
        self.push(
            worker,
            Op::Write {
                addr,
                size,
                value: None,
            },
            offset,
        );
    }

    /// A loop over data of the worker itself, with reads of constants.
    pub(super) fn local(&mut self, worker: usize) {
        let variables = self.config.variables.max(1);
        let (start, constant) = (self.rng.below(variables), self.rng.below(variables));
        let base = LOCAL + LOCAL_SPACING * worker as u64;
        for n in 0..self.work().div_ceil(2 * REPEATS) {
            let at = base + 8 * ((start + n) % variables);
            let constant = CONSTANT + 8 * ((constant + n) % variables);
            let writes = self.rng.chance(WRITTEN);
            for _ in 0..self.repeats() {
                self.read(worker, at, 0);
                self.read(worker, constant, 1);
                if writes {
                    self.write(worker, at, 2);
                }
            }
        }
    }

    /// Variables that lock `lock` guards.
    fn guarded(&mut self, lock: u64) -> u64 {
        let (locks, variables) = (u64::from(self.config.locks.max(1)), self.config.variables.max(1));
        let count = variables.saturating_sub(lock).div_ceil(locks).max(1);
        SHARED + 8 * (lock + locks * self.rng.below(count))
    }

    /// A critical section, with more of them inside. Locks are taken in ascending order.
    fn critical(&mut self, worker: usize) {
        let locks = u64::from(self.config.locks.max(1));
        let depth = 1 + self.rng.below(u64::from(self.config.nesting.max(1)));
        let mut held = Vec::new();
        let mut lock = self.rng.below(locks);
        for level in 0..depth as u32 {
            let id = SyncId(lock);
            self.push(
                worker,
                Op::Acquire {
                    lock: id,
                    mode: Mode::Exclusive,
                },
                4 * level,
            );
            held.push(id);
            for _ in 0..self.work().div_ceil(depth * REPEATS) {
                let addr = self.guarded(lock);
                let writes = self.rng.chance(WRITTEN);
                for _ in 0..self.repeats() {
                    self.read(worker, addr, 4 * level + 1);
                    if writes {
                        self.write(worker, addr, 4 * level + 2);
                    }
                }
            }
            // Sometimes the same again: locks are re-entrant.
            lock += self.rng.below(locks / 4 + 2);
            if lock >= locks {
                break;
            }
        }
        while let Some(lock) = held.pop() {
            self.push(worker, Op::Release { lock }, 4 * held.len() as u32 + 3);
        }
    }

    /// A critical section that only reads.
    fn read_critical(&mut self, worker: usize) {
        let lock = self.rng.below(u64::from(self.config.locks.max(1)));
        self.push(
            worker,
            Op::Acquire {
                lock: SyncId(lock),
                mode: Mode::Shared,
            },
            0,
        );
        for _ in 0..self.work().div_ceil(REPEATS) {
            let addr = self.guarded(lock);
            for _ in 0..self.repeats() {
                self.read(worker, addr, 1);
            }
        }
        self.push(worker, Op::Release { lock: SyncId(lock) }, 2);
    }

    /// Another worker that is idle, to hand data to.
    fn partner(&mut self, worker: usize) -> Option<usize> {
        let other = self.rng.index(self.workers.len());
        (other != worker && self.workers[other].plan.is_empty()).then_some(other)
    }

    fn atomic(&mut self, worker: usize, addr: u64, op: AtomicOp, order: Order, offset: u32) {
        self.emit(
            worker,
            Op::Atomic {
                addr: Addr(addr),
                size: 8,
                op,
                order,
                value: None,
            },
            offset,
        );
    }

    /// Data handed over behind a release store, or a relaxed counter if nobody is there to take it.
    fn atomics(&mut self, worker: usize) {
        let pair = self.rng.below(PAIRS);
        let (flag, back, data) = (FLAGS + 16 * pair, FLAGS + 16 * pair + 8, HANDED + 8 * pair);
        let Some(other) = self.partner(worker) else {
            let addr = Addr(FLAGS + 16 * (PAIRS + pair));
            let op = Op::Atomic {
                addr,
                size: 8,
                op: AtomicOp::Rmw,
                order: Order::Relaxed,
                value: None,
            };
            return self.push(worker, op, 0);
        };
        self.atomic(worker, back, AtomicOp::Load, Order::Acquire, 0);
        self.emit(
            worker,
            Op::Write {
                addr: Addr(data),
                size: 8,
                value: None,
            },
            1,
        );
        self.atomic(worker, flag, AtomicOp::Store, Order::Release, 2);
        self.atomic(other, flag, AtomicOp::Load, Order::Acquire, 3);
        self.emit(
            other,
            Op::Read {
                addr: Addr(data),
                size: 8,
                value: None,
            },
            4,
        );
        self.atomic(other, back, AtomicOp::Store, Order::Release, 5);
    }

    /// The same with fences around relaxed accesses.
    fn fences(&mut self, worker: usize) {
        let pair = 2 * PAIRS + self.rng.below(PAIRS);
        let (flag, back, data) = (FLAGS + 16 * pair, FLAGS + 16 * pair + 8, HANDED + 8 * pair);
        let Some(other) = self.partner(worker) else {
            return self.push(worker, Op::Fence { order: Order::SeqCst }, 0);
        };
        let give = |world: &mut World, worker: usize, flag: u64| {
            world.emit(
                worker,
                Op::Fence {
                    order: Order::Release,
                },
                1,
            );
            world.atomic(worker, flag, AtomicOp::Store, Order::Relaxed, 2);
        };
        let take = |world: &mut World, worker: usize, flag: u64| {
            world.atomic(worker, flag, AtomicOp::Load, Order::Relaxed, 3);
            world.emit(
                worker,
                Op::Fence {
                    order: Order::Acquire,
                },
                4,
            );
        };
        take(self, worker, back);
        self.emit(
            worker,
            Op::Write {
                addr: Addr(data),
                size: 8,
                value: None,
            },
            5,
        );
        give(self, worker, flag);
        take(self, other, flag);
        self.emit(
            other,
            Op::Read {
                addr: Addr(data),
                size: 8,
                value: None,
            },
            6,
        );
        give(self, other, back);
    }

    /// The same through a channel and back.
    fn message(&mut self, worker: usize) {
        let pair = self.rng.below(PAIRS);
        let (channel, back) = (SyncId(CHANNELS + 2 * pair), SyncId(CHANNELS + 2 * pair + 1));
        let addr = Addr(HANDED + 8 * (4 * PAIRS + pair));
        let Some(other) = self.partner(worker) else {
            return self.local(worker);
        };
        self.emit(worker, Op::Receive { channel: back }, 0);
        self.emit(
            worker,
            Op::Write {
                addr,
                size: 8,
                value: None,
            },
            1,
        );
        self.emit(worker, Op::Send { channel }, 2);
        self.emit(other, Op::Receive { channel }, 3);
        self.emit(
            other,
            Op::Read {
                addr,
                size: 8,
                value: None,
            },
            4,
        );
        self.emit(other, Op::Send { channel: back }, 5);
    }

    /// Memory that is allocated, used and freed.
    fn heap(&mut self, worker: usize) {
        let size = 16 << self.rng.below(5);
        let addr = LOCAL + LOCAL_SPACING * worker as u64 + HEAP + 4096 * self.rng.below(64);
        self.push(
            worker,
            Op::Alloc {
                addr: Addr(addr),
                size,
            },
            0,
        );
        for _ in 0..self.work() {
            let at = addr + 8 * self.rng.below(u64::from(size) / 8);
            self.write(worker, at, 1);
            self.read(worker, at, 2);
        }
        self.push(
            worker,
            Op::Free {
                addr: Addr(addr),
                size,
            },
            3,
        );
    }

    /// A call into untraced code that can reach a variable of the worker, or nothing.
    fn call(&mut self, worker: usize) {
        let addr = LOCAL + LOCAL_SPACING * worker as u64;
        let objects = match self.rng.below(2) {
            0 => ObjectSetId(0),
            _ => self.interner.objects(vec![Object {
                addr: Addr(addr),
                size: 8,
            }]),
        };
        let function: NameId = self.interner.name("extern");
        self.push(worker, Op::CallBegin { function, objects }, 0);
        self.push(worker, Op::CallEnd, 1);
    }

    fn spot(&mut self, worker: usize, addr: u64, lock: u64) {
        let (lock, addr) = (SyncId(lock % u64::from(self.config.locks.max(1))), Addr(addr));
        self.push(
            worker,
            Op::Acquire {
                lock,
                mode: Mode::Exclusive,
            },
            0,
        );
        for n in 0..self.work().div_ceil(2) as u32 {
            self.push(
                worker,
                Op::Read {
                    addr,
                    size: 8,
                    value: None,
                },
                1 + 2 * (n % 4),
            );
            self.push(
                worker,
                Op::Write {
                    addr,
                    size: 8,
                    value: None,
                },
                2 + 2 * (n % 4),
            );
        }
        self.push(worker, Op::Release { lock }, 12);
    }

    /// Insert and delete probe a few slots and change the last; a query looks at more and changes none.
    fn multiset(&mut self, worker: usize) {
        let slots = u64::from(self.config.locks.max(1));
        let kind = self.rng.below(3) as u32;
        let probes = 1 + self.rng.below(if kind == 2 { 8 } else { 4 });
        let start = self.rng.below(slots);
        for n in 0..probes {
            let slot = (start + n) % slots;
            let (element, valid) = (SHARED + 16 * slot, SHARED + 16 * slot + 8);
            self.push(
                worker,
                Op::Acquire {
                    lock: SyncId(slot),
                    mode: Mode::Exclusive,
                },
                8 * kind,
            );
            self.push(
                worker,
                Op::Read {
                    addr: Addr(valid),
                    size: 8,
                    value: None,
                },
                8 * kind + 1,
            );
            self.push(
                worker,
                Op::Read {
                    addr: Addr(element),
                    size: 8,
                    value: None,
                },
                8 * kind + 2,
            );
            if n + 1 == probes && kind < 2 {
                self.push(
                    worker,
                    Op::Write {
                        addr: Addr(element),
                        size: 8,
                        value: None,
                    },
                    8 * kind + 3,
                );
                self.push(
                    worker,
                    Op::Write {
                        addr: Addr(valid),
                        size: 8,
                        value: None,
                    },
                    8 * kind + 4,
                );
            }
            self.push(worker, Op::Release { lock: SyncId(slot) }, 8 * kind + 5);
        }
    }

    /// The elements of an array that are this worker's: a contiguous part. Never empty unless the array is too short.
    fn block(&self, worker: usize) -> (u64, u64) {
        let (len, count) = (self.config.array_len.max(1), self.workers.len() as u64);
        let bound = |n: u64| (u128::from(len) * u128::from(n) / u128::from(count)) as u64;
        (bound(worker as u64), bound(worker as u64 + 1))
    }

    fn array_op(&mut self, worker: usize, array: ArrayId, indices: Indices, write: bool, offset: u32) {
        let op = if write {
            Op::ArrayWrite { array, indices }
        } else {
            Op::ArrayRead { array, indices }
        };
        self.push(worker, op, offset);
    }

    /// Reads and writes `first..end` in steps of `stride`, as ranges or element by element.
    fn traverse(&mut self, worker: usize, array: ArrayId, first: u64, end: u64, stride: u32) {
        let Some(last) = end.checked_sub(1).filter(|&last| last >= first) else {
            return;
        };
        match self.config.array_access {
            ArrayAccess::Ranges => {
                let last = last.min(first.saturating_add((MAX_RANGE - 1) * u64::from(stride)));
                if let Some(indices) = Indices::new(first, last, stride) {
                    self.array_op(worker, array, indices, false, 0);
                    self.array_op(worker, array, indices, true, 1);
                }
            }
            ArrayAccess::Elements => {
                for index in (first..end).step_by(stride as usize) {
                    self.array_op(worker, array, Indices::one(index), false, 0);
                    self.array_op(worker, array, Indices::one(index), true, 1);
                }
            }
        }
    }

    /// The next stretch of a sweep over the worker's part of all arrays. Whoever has finished waits for the others.
    fn sweep(&mut self, worker: usize) {
        let (first, end) = self.block(worker);
        let arrays = u64::from(self.config.arrays.max(1));
        let stretches = (end - first).div_ceil(SWEEP).max(1);
        let cursor = self.workers[worker].cursor;
        if cursor >= stretches * arrays {
            for worker in 0..self.workers.len() {
                self.finish_sweep(worker);
            }
            return self.barrier(BARRIER);
        }
        self.workers[worker].cursor += 1;
        let array = ArrayId((cursor / stretches) as u32);
        let from = first + SWEEP * (cursor % stretches);
        self.traverse(worker, array, from, end.min(from + SWEEP), 1);
        if end == first {
            // More threads than elements: this one has nothing of the array.
            self.local(worker);
        }
    }

    /// Plans all that is left of a worker's sweep.
    fn finish_sweep(&mut self, worker: usize) {
        let (first, end) = self.block(worker);
        let stretches = (end - first).div_ceil(SWEEP).max(1);
        let all = stretches * u64::from(self.config.arrays.max(1));
        let cursor = std::mem::replace(&mut self.workers[worker].cursor, 0);
        for at in cursor..all {
            let from = first + SWEEP * (at % stretches);
            self.traverse(
                worker,
                ArrayId((at / stretches) as u32),
                from,
                end.min(from + SWEEP),
                1,
            );
        }
    }

    fn random_array(&mut self, worker: usize) {
        let (first, end) = self.block(worker);
        if first == end {
            return self.local(worker);
        }
        let array = ArrayId(self.rng.below(u64::from(self.config.arrays.max(1))) as u32);
        for n in 0..self.work() as u32 {
            let index = Indices::one(first + self.rng.below(end - first));
            let write = self.rng.chance(300);
            self.array_op(worker, array, index, write, n % 8);
        }
    }

    /// Ten phases over the length of the trace, alternating.
    fn phases(&mut self, worker: usize) {
        let phase = (self.config.events / 10).max(1);
        if (self.emitted() / phase).is_multiple_of(2) {
            self.sweep(worker);
        } else {
            self.random_array(worker);
        }
    }

    /// A piece of a worker's part of an array. An array is shared out either by block or by stride, for good.
    fn array_part(&mut self, worker: usize) {
        let array = ArrayId(self.rng.below(u64::from(self.config.arrays.max(1))) as u32);
        if array.0.is_multiple_of(2) {
            let (first, end) = self.block(worker);
            let from = first + self.rng.below((end - first).max(1));
            let len = 1 + self.rng.below(SWEEP);
            self.traverse(worker, array, from, end.min(from + len), 1);
        } else {
            let (len, count) = (self.config.array_len.max(1), self.workers.len() as u64);
            let from = worker as u64 + count * self.rng.below((len / count).max(1));
            let end = len.min(from.saturating_add(count * (1 + self.rng.below(SWEEP))));
            self.traverse(worker, array, from, end, u32::try_from(count).unwrap_or(u32::MAX));
        }
    }
}
