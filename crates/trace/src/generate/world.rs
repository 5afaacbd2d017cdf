//! The simulated threads: who runs next, who waits for whom, and what is written down.

use super::plan::Step;
use super::rng::Rng;
use super::{Config, Sites};
use crate::Interner;
use deadheat_event::{Addr, Event, Mode, Op, Site, SiteId, SyncId, Tables, ThreadId};
use std::collections::VecDeque;

/// Variables of injected races.
const RACY: u64 = 0x7000_0000_0000;

/// One thread.
pub(super) struct Worker {
    pub(super) id: ThreadId,
    pub(super) plan: VecDeque<Step>,
    /// Where in the program the current plan starts.
    pub(super) base: u32,
    /// Where the worker stands in its sweeps.
    pub(super) cursor: u64,
}

/// Who holds a lock.
#[derive(Clone, Default)]
struct Lock {
    writer: Option<usize>,
    /// How often the writer has taken it, or how many readers there are.
    count: u32,
}

pub(super) struct World {
    pub(super) config: Config,
    pub(super) rng: Rng,
    pub(super) workers: Vec<Worker>,
    locks: Vec<Lock>,
    /// The worker that runs, and for how many steps more.
    current: usize,
    slice: u64,
    next_thread: u32,
    pub(super) interner: Interner,
    /// Events made and not yet taken.
    pub(super) out: VecDeque<Event>,
    emitted: u64,
    races: u64,
    /// Sites in unique mode.
    file: deadheat_event::NameId,
}

impl World {
    pub(super) fn new(config: &Config) -> World {
        let mut interner = Interner::new();
        let file = interner.name("generated.c");
        if let Sites::Program(count) = config.sites {
            for n in 0..count.max(1) {
                let function = interner.name(&format!("f{}", n / 32));
                interner.site(Site {
                    function,
                    file,
                    line: n + 1,
                    column: 0,
                });
            }
        }
        let mut world = World {
            config: config.clone(),
            rng: Rng::new(config.seed),
            workers: Vec::new(),
            locks: vec![Lock::default(); config.locks.max(1) as usize],
            current: 0,
            slice: 0,
            next_thread: 0,
            interner,
            out: VecDeque::new(),
            emitted: 0,
            races: 0,
            file,
        };
        for n in 0..config.threads.max(1) {
            let id = ThreadId(n);
            world.workers.push(Worker {
                id,
                plan: VecDeque::new(),
                base: 0,
                cursor: 0,
            });
            if n > 0 {
                world.emit(0, Op::Fork { child: id }, 0);
            }
        }
        world.next_thread = config.threads.max(1);
        world.set_up();
        world
    }

    pub(super) fn tables(&self) -> &Tables {
        self.interner.tables()
    }

    /// Writes down an event of a worker, at `offset` behind the start of its plan.
    pub(super) fn emit(&mut self, worker: usize, op: Op, offset: u32) {
        let site = match self.config.sites {
            Sites::Program(count) => {
                SiteId(1 + self.workers[worker].base.wrapping_add(offset) % count.max(1))
            }
            Sites::Unique => {
                let line = u32::try_from(self.emitted + 1).unwrap_or(u32::MAX);
                let site = Site {
                    file: self.file,
                    line,
                    ..Site::default()
                };
                let sites = &mut self.interner.tables_mut().sites;
                sites.push(site);
                SiteId(u32::try_from(sites.len() - 1).unwrap_or(0))
            }
        };
        self.emitted += 1;
        self.out.push_back(Event {
            thread: self.workers[worker].id,
            site,
            op,
        });
    }

    /// Goes on by at least one event.
    pub(super) fn step(&mut self) {
        if self.race_is_due() {
            self.race();
        }
        if self.slice == 0 {
            self.current = self.rng.index(self.workers.len());
            self.slice = 1 + self.rng.below(31);
        }
        self.slice -= 1;
        // Someone can always go on: locks are taken in ascending order, and plans end.
        for n in 0..self.workers.len() {
            let worker = (self.current + n) % self.workers.len();
            if self.workers[worker].plan.is_empty() {
                self.make_plan(worker);
            }
            if self.run(worker) {
                if n > 0 {
                    self.current = worker;
                }
                return;
            }
        }
        debug_assert!(false, "all workers are blocked");
    }

    /// Runs a worker's next step, if it has one and is not blocked.
    fn run(&mut self, worker: usize) -> bool {
        let Some(&Step { op, offset }) = self.workers[worker].plan.front() else {
            // Its plan involved others and is over.
            return true;
        };
        if !self.may(worker, op) {
            return false;
        }
        self.workers[worker].plan.pop_front();
        self.emit(worker, op, offset);
        true
    }

    /// Events so far.
    pub(super) fn emitted(&self) -> u64 {
        self.emitted
    }

    /// Whether an operation does not block; if so, takes or releases its lock.
    fn may(&mut self, worker: usize, op: Op) -> bool {
        match op {
            Op::Acquire { lock, mode } => {
                let lock = &mut self.locks[lock.index()];
                let free = match (mode, lock.writer) {
                    (_, Some(writer)) => writer == worker,
                    (Mode::Exclusive, None) => lock.count == 0,
                    (Mode::Shared, None) => true,
                };
                if free {
                    lock.count += 1;
                    if mode == Mode::Exclusive {
                        lock.writer = Some(worker);
                    }
                }
                free
            }
            Op::Release { lock } => {
                let lock = &mut self.locks[lock.index()];
                lock.count = lock.count.saturating_sub(1);
                if lock.count == 0 {
                    lock.writer = None;
                }
                true
            }
            _ => true,
        }
    }

    /// Runs all plans to their end, so that all workers hold nothing.
    pub(super) fn drain(&mut self) {
        while self.workers.iter().any(|worker| !worker.plan.is_empty()) {
            for worker in 0..self.workers.len() {
                while !self.workers[worker].plan.is_empty() && self.run(worker) {}
            }
        }
    }

    /// Everybody meets at a barrier.
    pub(super) fn barrier(&mut self, barrier: SyncId) {
        self.drain();
        let start = self.rng.index(self.workers.len());
        let order = |n: usize, len: usize| (start + n) % len;
        for n in 0..self.workers.len() {
            self.emit(order(n, self.workers.len()), Op::BarrierEnter { barrier }, 7);
        }
        for n in 0..self.workers.len() {
            self.emit(order(n, self.workers.len()), Op::BarrierLeave { barrier }, 8);
        }
    }

    /// Some worker ends and the main thread replaces it. If there is only the main thread, it goes on with its own work.
    pub(super) fn replace(&mut self, idle: usize) {
        if self.workers.len() < 2 {
            return self.local(idle);
        }
        let worker = 1 + self.rng.index(self.workers.len() - 1);
        while !self.workers[worker].plan.is_empty() {
            if !self.run(worker) {
                // Blocked by another one's lock.
                self.drain();
            }
        }
        let old = self.workers[worker].id;
        if self.rng.chance(500) {
            self.emit(worker, Op::End, 9);
        }
        self.emit(0, Op::Join { child: old }, 10);
        if !self.config.id_reuse || self.rng.chance(200) {
            self.workers[worker].id = ThreadId(self.next_thread);
            self.next_thread = self.next_thread.wrapping_add(1);
        }
        let child = self.workers[worker].id;
        self.emit(0, Op::Fork { child }, 11);
    }

    fn race_is_due(&self) -> bool {
        let Config { races, events, .. } = self.config;
        self.races < races
            && u128::from(self.emitted) * (u128::from(races) + 1)
                >= u128::from(events) * u128::from(self.races + 1)
    }

    /// Two writes, one right after the other: nothing can have ordered them.
    fn race(&mut self) {
        let addr = Addr(RACY + 8 * self.races);
        self.races += 1;
        let count = self.workers.len();
        let first = self.rng.index(count);
        let second = (first + 1 + self.rng.index(count.saturating_sub(1))) % count;
        for worker in [first, second] {
            self.emit(
                worker,
                Op::Write {
                    addr,
                    size: 8,
                    value: None,
                },
                12,
            );
        }
    }
}
