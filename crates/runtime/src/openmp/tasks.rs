//! Parallel regions and tasks of OpenMP, and what orders them.

use super::Token;
use crate::spin::Spin;
use crate::thread::Thread;
use core::ffi::c_int;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A `parallel` region and its team.
#[derive(Debug, Default)]
pub struct Region {
    /// From its thread to all implicit tasks.
    pub fork: Token,
    /// Two that take turns: who has left one barrier may reach the next while others are still leaving.
    barriers: [Token; 2],
    /// Reductions that no barrier goes with.
    reduced: Token,
    /// `ordered depend`.
    posted: Token,
}

impl Region {
    /// All of it is over, and the thread that began it goes on.
    pub fn join(&self, t: &mut Thread) {
        self.barriers.iter().for_each(|barrier| barrier.receive(t));
    }
}

/// `ompt_dependence_t`.
#[derive(Debug)]
#[repr(C)]
pub struct Dependence {
    variable: u64,
    kind: c_int,
}

const IN: c_int = 1;
const SOURCE: c_int = 5;
const SINK: c_int = 6;
const SET: c_int = 7;

/// What children of a task did to a variable that they depend on. Reads among themselves, and members of a set, are not ordered.
#[derive(Debug, Default)]
struct Variable {
    read: Token,
    written: Token,
    set: Token,
}

impl Variable {
    fn begin(&self, t: &mut Thread, kind: c_int) {
        self.written.receive(t);
        if kind != IN {
            self.read.receive(t);
        }
        if kind != SET {
            self.set.receive(t);
        }
    }

    fn end(&self, t: &mut Thread, kind: c_int) {
        match kind {
            IN => self.read.send(t),
            SET => self.set.send(t),
            _ => self.written.send(t),
        }
    }
}

/// A task: what each thread of a team does (implicit), or one that was made by `task` and its like.
pub struct Task {
    parent: Option<Arc<Task>>,
    region: Arc<Region>,
    /// How many barriers its team had left when it was made, or now, if it is implicit.
    barriers: AtomicUsize,
    /// From who made it, or left it in the middle, to who runs it.
    pub start: Token,
    /// From its children to the end of a `taskwait`.
    pub children: Token,
    /// The groups it is in, innermost last. The first one is that of its parent when it was made.
    groups: Spin<Vec<Arc<Token>>>,
    /// What it depends on.
    depends: Spin<Vec<(Arc<Variable>, c_int)>>,
    /// What its children depend on.
    variables: Spin<FxHashMap<u64, Arc<Variable>>>,
}

impl Task {
    /// What a thread of a team does.
    pub fn implicit(region: Arc<Region>) -> Task {
        Task {
            parent: None,
            region,
            barriers: AtomicUsize::new(0),
            start: Token::default(),
            children: Token::default(),
            groups: Spin::default(),
            depends: Spin::default(),
            variables: Spin::default(),
        }
    }

    /// A child.
    pub fn explicit(parent: Arc<Task>) -> Task {
        let mut task = Task::implicit(Arc::clone(&parent.region));
        task.barriers.store(parent.barriers(), Ordering::Relaxed);
        task.groups.lock().extend(parent.groups.lock().last().cloned());
        task.parent = Some(parent);
        task
    }

    /// Whether it was made by `task` or its like.
    pub fn is_explicit(&self) -> bool {
        self.parent.is_some()
    }

    fn barriers(&self) -> usize {
        self.barriers.load(Ordering::Relaxed)
    }

    /// The barrier that ends it at the latest.
    fn barrier(&self) -> &Token {
        &self.region.barriers[self.barriers() % 2]
    }

    /// The thread reaches a barrier.
    pub fn enter_barrier(&self, t: &mut Thread) {
        self.barrier().send(t);
    }

    /// The thread goes on from it.
    pub fn leave_barrier(&self, t: &mut Thread) {
        self.barrier().receive(t);
        self.barriers.fetch_add(1, Ordering::Relaxed);
    }

    /// The thread adds up what others have, which they have told by reaching the barrier, or before.
    pub fn begin_reduction(&self, t: &mut Thread) {
        self.barrier().receive(t);
        self.region.reduced.receive(t);
    }

    /// It has done so.
    pub fn end_reduction(&self, t: &mut Thread) {
        self.barrier().send(t);
        self.region.reduced.send(t);
    }

    /// A `taskgroup` begins.
    pub fn begin_group(&self) {
        self.groups.lock().push(Arc::default());
    }

    /// It is over, and with it all tasks that were made in it.
    pub fn end_group(&self, t: &mut Thread) {
        let group = self.groups.lock().pop();
        if let Some(group) = group {
            group.receive(t);
        }
    }

    /// The thread begins to run it, or goes on with it.
    pub fn begin(&self, t: &mut Thread) {
        if self.is_explicit() {
            self.start.receive(t);
            for (variable, kind) in &*self.depends.lock() {
                variable.begin(t, *kind);
            }
        }
    }

    /// It is over.
    pub fn complete(&self, t: &mut Thread) {
        let Some(parent) = &self.parent else { return };
        for (variable, kind) in &*self.depends.lock() {
            variable.end(t, *kind);
        }
        parent.children.send(t);
        if let Some(group) = self.groups.lock().first() {
            group.send(t);
        }
        self.barrier().send(t);
    }

    /// What it depends on; or, for the loop that it is in, what was done or is waited for.
    pub fn depends(&self, t: &mut Thread, all: &[Dependence]) {
        for dependence in all {
            match (dependence.kind, &self.parent) {
                (SOURCE, _) => self.region.posted.send(t),
                (SINK, _) => self.region.posted.receive(t),
                (kind, Some(parent)) => {
                    let variable =
                        Arc::clone(parent.variables.lock().entry(dependence.variable).or_default());
                    self.depends.lock().push((variable, kind));
                }
                (_, None) => {}
            }
        }
    }
}

impl Drop for Task {
    /// Parents that nobody else knows end with it, one by one and not one within the other: there may be very many.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(parent) = next {
            next = Arc::into_inner(parent).and_then(|mut parent| parent.parent.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_detect::hb::HbThread;
    use deadheat_event::Slot;

    const OUT: c_int = 2;

    fn two() -> (Thread, Thread) {
        let thread = |slot| Thread::new(slot, HbThread::after(Slot(slot), 0), true);
        (thread(1), thread(2))
    }

    /// Tokens are forgotten when a thread of the program drops them, and here is none: no other may come to lie where one was.
    fn kept(task: Task) -> Arc<Task> {
        let task = Arc::new(task);
        std::mem::forget(Arc::clone(&task));
        task
    }

    fn parent() -> Arc<Task> {
        kept(Task::implicit(Arc::default()))
    }

    fn child(parent: &Arc<Task>, t: &mut Thread, depends: &[(u64, c_int)]) -> Arc<Task> {
        let task = kept(Task::explicit(Arc::clone(parent)));
        let all: Vec<_> = { depends.iter() }
            .map(|(variable, kind)| Dependence {
                variable: *variable,
                kind: *kind,
            })
            .collect();
        task.depends(t, &all);
        task
    }

    #[test]
    fn tasks_are_ordered_by_what_they_depend_on() {
        let ways = [
            (IN, IN),
            (IN, OUT),
            (OUT, IN),
            (OUT, OUT),
            (SET, SET),
            (SET, IN),
            (IN, SET),
        ];
        for (first, second) in ways {
            for same in [true, false] {
                let (mut a, mut b) = two();
                let parent = parent();
                let one = child(&parent, &mut a, &[(8, first)]);
                let other = child(&parent, &mut a, &[(if same { 8 } else { 16 }, second)]);
                let before = a.hb.epoch();
                one.complete(&mut a);
                other.begin(&mut b);
                let among_themselves = first == second && first != OUT;
                assert_eq!(
                    b.hb.knows(before),
                    same && !among_themselves,
                    "{first} {second} {same}"
                );
            }
        }
    }

    #[test]
    fn children_end_before_taskwait_and_their_barrier_and_not_before() {
        let (mut a, mut b) = two();
        let parent = parent();
        let task = child(&parent, &mut b, &[]);
        let before = a.hb.epoch();
        task.begin(&mut a);
        parent.children.receive(&mut b);
        assert!(!b.hb.knows(before));
        task.complete(&mut a);
        parent.children.receive(&mut b);
        assert!(b.hb.knows(before));

        let (_, mut c) = two();
        parent.leave_barrier(&mut c);
        assert!(c.hb.knows(before));
    }

    #[test]
    fn a_group_waits_for_tasks_of_tasks() {
        let (mut a, mut b) = two();
        let parent = parent();
        parent.begin_group();
        let task = child(&parent, &mut b, &[]);
        let inner = child(&task, &mut a, &[]);
        let before = a.hb.epoch();
        inner.complete(&mut a);
        let group = parent.groups.lock().last().cloned();
        std::mem::forget(group);
        parent.end_group(&mut b);
        assert!(b.hb.knows(before));
        // What is made afterwards belongs to no group.
        assert!(child(&parent, &mut b, &[]).groups.lock().is_empty());
    }
}
