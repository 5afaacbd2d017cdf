//! Which barrier rounds were reached by all threads (MultiRace §4.3), without clocks.
//!
//! A round that all threads reached separates what came before it from what comes after it, so candidate sets start
//! anew. The rounds that count make *generations*: a thread's generation is the last such round that it is known to
//! be behind (it left it, was forked by a thread behind it, or waited for one). A location remembers the generation
//! in which it was last accessed and changes its state when a thread of a later one comes along, so that a barrier
//! costs nothing for locations that are not used again.
//!
//! "All threads" are all that have started and have not been waited for. A round that leaves one out does not count:
//! to start anew there would hide what the outsider does. One thread may stay away: one that was alone when it forked
//! the first of the others, and has since then only forked. That is a main thread which starts workers and waits for
//! them; its past is before all that they do. (If it accesses memory after all before it has waited for them, it is
//! an outsider: see [`Member::is_outside`].) A thread that has ended and that nobody waits for counts as alive for
//! ever, so a detached thread ends the usefulness of barriers: warnings may then be false, but none is lost.
//!
//! Barriers whose threads do something else between entering and leaving do not count either.

use deadheat_event::{SyncId, SyncOp};
use rustc_hash::FxHashSet;

/// What is known of all threads together.
#[derive(Debug, Default)]
pub struct Barriers {
    /// Rounds so far that all threads reached.
    generation: u32,
    /// By serial number of the thread: started, and not waited for.
    alive: Vec<bool>,
    living: u32,
    /// Threads that were not forked, as far as we know.
    roots: u32,
    /// The thread that may stay away, and how many roots there were when it began to wait.
    waiting: Option<(u32, u32)>,
    /// Barriers in which threads did not just wait.
    distrusted: FxHashSet<SyncId>,
}

/// A thread's part.
#[derive(Clone, Debug)]
pub struct Member {
    serial: u32,
    generation: u32,
    /// The barrier it has entered, and the round.
    inside: Option<(SyncId, u64)>,
    /// No access since it started, forked or entered a barrier.
    idle: bool,
    /// Has made an access, ever.
    acted: bool,
    root: bool,
    /// Took over the slot of an ended thread that nobody had waited for.
    inherits: bool,
}

impl Member {
    /// The last generation that this thread is behind.
    #[inline]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether a round that began a generation, and what was before it, is not ordered before this thread.
    #[inline]
    pub fn is_outside(&self, generation: u32) -> bool {
        self.generation < generation
    }
}

/// A barrier's part. It is used in rounds, which are told apart as in [`hb`](crate::hb): the first thread to leave a
/// round closes it for those who enter later.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// The round that threads enter now.
    present: u64,
    /// How many have entered it.
    entered: u32,
    /// The last round that all threads reached, and the generation that it began.
    began: Option<(u64, u32)>,
}

impl Barriers {
    /// The present generation.
    #[inline]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// A thread starts. `predecessor` has ended, and all it did is ordered before the new thread.
    pub fn start(&mut self, predecessor: Option<&Member>) -> Member {
        let inherits = predecessor.is_some_and(|ended| self.depart(ended));
        let serial = self.alive.len() as u32;
        self.alive.push(true);
        self.living += 1;
        self.roots += 1;
        Member {
            serial,
            generation: 0,
            inside: None,
            idle: true,
            acted: false,
            root: true,
            inherits,
        }
    }

    /// To be called before every access of a thread.
    #[inline]
    pub fn access(&mut self, thread: &mut Member) {
        if thread.idle {
            self.stir(thread);
        }
    }

    #[cold]
    fn stir(&mut self, thread: &mut Member) {
        thread.idle = false;
        thread.acted = true;
        self.stop_waiting(thread);
        self.distrust(thread);
    }

    fn stop_waiting(&mut self, thread: &Member) {
        self.waiting.take_if(|(serial, _)| *serial == thread.serial);
    }

    /// The barrier that the thread is inside of, if any, is not only waited in.
    fn distrust(&mut self, thread: &Member) {
        self.distrusted.extend(thread.inside.map(|(barrier, _)| barrier));
    }

    /// Whether the thread was alive until now.
    fn depart(&mut self, thread: &Member) -> bool {
        self.distrust(thread);
        self.stop_waiting(thread);
        let alive = self
            .alive
            .get_mut(thread.serial as usize)
            .is_some_and(std::mem::take);
        self.living -= u32::from(alive);
        alive
    }

    /// `parent` creates `child`.
    pub fn fork(&mut self, parent: &mut Member, child: &mut Member) {
        child.generation = child.generation.max(parent.generation);
        if !child.acted && std::mem::take(&mut child.root) {
            self.roots -= 1;
        }
        if std::mem::take(&mut child.inherits) {
            // What the ended thread did is before the parent's next steps, but not before its other children's.
            self.stop_waiting(parent);
        }
        let alone = self.living == 2 && !child.acted;
        if alone {
            self.waiting = Some((parent.serial, self.roots));
        }
        parent.idle = true;
    }

    /// `thread` has waited for `child`.
    pub fn join(&mut self, thread: &mut Member, child: &Member) {
        self.depart(child);
        thread.generation = thread.generation.max(child.generation);
        // What the child did is before this thread now, but not before the others.
        self.stop_waiting(thread);
        self.distrust(thread);
    }

    /// `thread` reaches a barrier or goes on from it.
    pub fn sync(&mut self, thread: &mut Member, op: SyncOp, rounds: &mut Rounds) {
        match op {
            SyncOp::Enter(barrier) => {
                self.stop_waiting(thread);
                if thread.inside.is_some() {
                    self.distrust(thread);
                    self.distrusted.insert(barrier);
                }
                thread.inside = Some((barrier, rounds.present));
                thread.idle = true;
                rounds.entered = rounds.entered.saturating_add(1);
            }
            SyncOp::Leave(barrier) => {
                let Some((_, round)) = thread.inside.take_if(|(inside, _)| *inside == barrier) else {
                    return;
                };
                if round == rounds.present {
                    if let Some(generation) = self.open(barrier, rounds.entered) {
                        rounds.began = Some((round, generation));
                    }
                    rounds.present += 1;
                    rounds.entered = 0;
                }
                if let Some((began, generation)) = rounds.began
                    && began == round
                {
                    thread.generation = generation;
                }
            }
            _ => {}
        }
    }

    /// The generation that a round of `entered` threads begins, if these are all.
    fn open(&mut self, barrier: SyncId, entered: u32) -> Option<u32> {
        let waiting = u32::from(self.waiting.is_some_and(|(_, roots)| roots == self.roots));
        if entered.saturating_add(waiting) != self.living || self.distrusted.contains(&barrier) {
            return None;
        }
        self.generation = self.generation.checked_add(1)?;
        Some(self.generation)
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        self.alive.capacity() + self.distrusted.capacity() * size_of::<SyncId>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const B: SyncId = SyncId(1);

    /// Threads by number; `forked` ones descend from thread 0.
    fn threads(barriers: &mut Barriers, roots: usize, forked: usize) -> Vec<Member> {
        let mut all: Vec<Member> = (0..roots).map(|_| barriers.start(None)).collect();
        for _ in 0..forked {
            let mut child = barriers.start(None);
            barriers.fork(&mut all[0], &mut child);
            all.push(child);
        }
        all
    }

    /// The generation after one round of these threads.
    fn round(barriers: &mut Barriers, all: &mut [Member], who: &[usize]) -> u32 {
        let mut rounds = Rounds::default();
        for &i in who {
            barriers.sync(&mut all[i], SyncOp::Enter(B), &mut rounds);
        }
        for &i in who {
            barriers.sync(&mut all[i], SyncOp::Leave(B), &mut rounds);
        }
        barriers.generation()
    }

    #[test]
    fn a_round_of_all_threads_counts_and_a_round_of_some_does_not() {
        let mut barriers = Barriers::default();
        let mut all = threads(&mut barriers, 3, 0);
        assert_eq!(round(&mut barriers, &mut all, &[0, 1]), 0);
        assert_eq!(round(&mut barriers, &mut all, &[0, 1, 2]), 1);
        assert_eq!(all.iter().map(Member::generation).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(round(&mut barriers, &mut all, &[1, 2]), 1);
    }

    #[test]
    fn a_main_thread_that_only_waits_may_stay_away_until_it_acts() {
        let mut barriers = Barriers::default();
        let mut all = threads(&mut barriers, 1, 2);
        for member in &mut all[1..] {
            barriers.access(member);
        }
        assert_eq!(round(&mut barriers, &mut all, &[1, 2]), 1);
        assert_eq!(all[0].generation(), 0);
        assert!(all[0].is_outside(1));
        barriers.access(&mut all[0]);
        assert_eq!(round(&mut barriers, &mut all, &[1, 2]), 1);
    }

    #[test]
    fn a_main_thread_that_acted_between_two_forks_must_take_part() {
        let mut barriers = Barriers::default();
        let mut all = threads(&mut barriers, 1, 1);
        barriers.access(&mut all[0]);
        let mut late = barriers.start(None);
        barriers.fork(&mut all[0], &mut late);
        all.push(late);
        assert_eq!(round(&mut barriers, &mut all, &[1, 2]), 0);
        assert_eq!(round(&mut barriers, &mut all, &[0, 1, 2]), 1);
    }

    #[test]
    fn a_waiting_main_thread_does_not_stand_in_for_a_missing_worker() {
        let mut barriers = Barriers::default();
        let mut all = threads(&mut barriers, 1, 2);
        assert_eq!(round(&mut barriers, &mut all, &[0, 1]), 0);
    }

    #[test]
    fn what_a_joined_worker_did_is_not_before_the_remaining_ones() {
        let mut barriers = Barriers::default();
        let mut all = threads(&mut barriers, 1, 3);
        let worker = all.pop().expect("three workers");
        barriers.join(&mut all[0], &worker);
        assert_eq!(round(&mut barriers, &mut all, &[1, 2]), 0);
        // With the main thread, which knows what the worker did, it is.
        assert_eq!(round(&mut barriers, &mut all, &[0, 1, 2]), 1);
    }

    #[test]
    fn a_main_thread_whose_grandchild_lives_on_when_it_forks_again_must_take_part() {
        let mut barriers = Barriers::default();
        let mut all = threads(&mut barriers, 1, 1);
        let mut grandchild = barriers.start(None);
        barriers.fork(&mut all[1], &mut grandchild);
        let child = all.pop().expect("one child");
        barriers.join(&mut all[0], &child);
        barriers.access(&mut all[0]);
        let mut second = barriers.start(None);
        barriers.fork(&mut all[0], &mut second);
        all.extend([grandchild, second]);
        assert_eq!(round(&mut barriers, &mut all, &[1, 2]), 0);
    }

    #[test]
    fn with_a_second_root_nobody_may_stay_away() {
        let mut barriers = Barriers::default();
        let mut all = threads(&mut barriers, 1, 2);
        all.push(barriers.start(None));
        assert_eq!(round(&mut barriers, &mut all, &[1, 2, 3]), 0);
        assert_eq!(round(&mut barriers, &mut all, &[0, 1, 2, 3]), 1);
    }

    #[test]
    fn a_generation_is_handed_on_by_fork_and_join() {
        let mut barriers = Barriers::default();
        let mut all = threads(&mut barriers, 1, 1);
        assert_eq!(round(&mut barriers, &mut all, &[1]), 1);
        let mut child = barriers.start(None);
        barriers.fork(&mut all[1], &mut child);
        assert_eq!(child.generation(), 1);
        assert_eq!(all[0].generation(), 0);
        barriers.join(&mut all[0], &child);
        assert_eq!(all[0].generation(), 1);
    }

    #[test]
    fn a_barrier_in_which_a_thread_acts_or_enters_twice_is_not_trusted() {
        for intrude in [0, 1, 2] {
            let mut barriers = Barriers::default();
            let mut all = threads(&mut barriers, 2, 1);
            let child = all.pop().expect("one child");
            let mut rounds = Rounds::default();
            barriers.sync(&mut all[0], SyncOp::Enter(B), &mut rounds);
            match intrude {
                0 => barriers.access(&mut all[0]),
                1 => barriers.sync(&mut all[0], SyncOp::Enter(B), &mut rounds),
                _ => {}
            }
            barriers.join(&mut all[1], &child);
            barriers.sync(&mut all[1], SyncOp::Enter(B), &mut rounds);
            barriers.sync(&mut all[0], SyncOp::Leave(B), &mut rounds);
            assert_eq!(barriers.generation(), u32::from(intrude == 2));
        }
    }

    #[test]
    fn a_slow_thread_leaves_its_own_round_though_a_fast_one_has_entered_the_next() {
        let mut barriers = Barriers::default();
        let mut all = threads(&mut barriers, 2, 0);
        let mut rounds = Rounds::default();
        for member in &mut all {
            barriers.sync(member, SyncOp::Enter(B), &mut rounds);
        }
        barriers.sync(&mut all[0], SyncOp::Leave(B), &mut rounds);
        barriers.sync(&mut all[0], SyncOp::Enter(B), &mut rounds);
        assert_eq!(all[1].generation(), 0);
        barriers.sync(&mut all[1], SyncOp::Leave(B), &mut rounds);
        assert_eq!(all[1].generation(), 1);
        barriers.sync(&mut all[1], SyncOp::Enter(B), &mut rounds);
        barriers.sync(&mut all[1], SyncOp::Leave(B), &mut rounds);
        assert_eq!((barriers.generation(), all[1].generation()), (2, 2));
    }

    #[test]
    fn a_thread_waited_for_twice_departs_once() {
        let mut barriers = Barriers::default();
        let mut all = threads(&mut barriers, 2, 1);
        let child = all.pop().expect("one child");
        barriers.join(&mut all[0], &child);
        barriers.join(&mut all[1], &child);
        assert_eq!(round(&mut barriers, &mut all, &[0, 1]), 1);
    }
}
