//! Every transition of the state diagram, on one location.

use super::*;
use deadheat_event::{Addr, Mode, Place, SiteId, SyncId};

/// Runs a script of three threads on one location: `0w` thread 0 writes, `1r` thread 1 reads, `R` and `W` the same
/// atomically, `0+L` and `0-L` it takes and gives back lock L, `0*L` it takes it as a reader, `|` all threads reach a
/// barrier, `0|` that thread alone does.
struct Script {
    detector: LockSet,
    threads: Vec<Thread>,
    location: Location,
    rounds: [Rounds; 2],
    warnings: usize,
}

impl Script {
    fn run(script: &str) -> Script {
        let mut detector = LockSet::default();
        let threads = (0..3).map(|slot| detector.start(Slot(slot), None)).collect();
        let mut run = Script {
            detector,
            threads,
            location: Location::default(),
            rounds: [Rounds::default(); 2],
            warnings: 0,
        };
        script.split_whitespace().for_each(|step| run.step(step));
        run
    }

    fn step(&mut self, step: &str) {
        if step == "|" {
            (0..3).for_each(|thread| self.sync(thread, SyncOp::Enter(SyncId(1000)), 0));
            (0..3).for_each(|thread| self.sync(thread, SyncOp::Leave(SyncId(1000)), 0));
            return;
        }
        let thread: usize = step[..1].parse().expect("a thread");
        let lock = || SyncId(step.bytes().last().map_or(0, u64::from));
        match &step[1..2] {
            "+" => self.sync(thread, SyncOp::Acquire(lock(), Mode::Exclusive), 1),
            "*" => self.sync(thread, SyncOp::Acquire(lock(), Mode::Shared), 1),
            "-" => self.sync(thread, SyncOp::Release(lock(), Mode::Exclusive), 1),
            "|" => {
                self.sync(thread, SyncOp::Enter(SyncId(1001)), 1);
                self.sync(thread, SyncOp::Leave(SyncId(1001)), 1);
            }
            access => {
                let kind = match access {
                    "r" | "R" => AccessKind::Read,
                    _ => AccessKind::Write,
                };
                let access = Access {
                    place: Place::Memory {
                        addr: Addr(0),
                        size: 8,
                    },
                    kind,
                    atomic: access == "R" || access == "W",
                    site: SiteId(0),
                };
                let found = self
                    .detector
                    .access(&mut self.threads[thread], &mut self.location, &access);
                self.warnings += usize::from(found.is_some());
            }
        }
    }

    fn sync(&mut self, thread: usize, op: SyncOp, object: usize) {
        self.detector
            .sync(&mut self.threads[thread], op, &mut self.rounds[object]);
    }
}

/// The state and the number of warnings after a script.
fn check(script: &str, state: State, warnings: usize) {
    let run = Script::run(script);
    assert_eq!(
        (run.location.state(), run.warnings),
        (state, warnings),
        "{script}"
    );
}

#[test]
fn from_virgin() {
    check("", State::Virgin, 0);
    check("0w", State::Initializing, 0);
    // The text names only writes.
    check("0r", State::Initializing, 0);
    check("|", State::Virgin, 0);
    check("| 0w", State::Initializing, 0);
}

#[test]
fn from_initializing() {
    check("0w 0w 0- 0r 0w", State::Initializing, 0);
    check("0w 1+L 1w", State::Shared, 0);
    check("0w 1r", State::Shared, 0);
    check("0w 1w", State::Empty, 1);
    // To Clean, as the next access shows.
    check("0w | 0w", State::Exclusive, 0);
}

#[test]
fn from_shared() {
    check("0w 1+L 1w 1-L 0+L 0w 0-L 2+L 2r", State::Shared, 0);
    check("0w 1r 2r 0r", State::Shared, 0);
    check("0w 1r 0w", State::Empty, 1);
    check("0w 1+L 1w 0+M 0w", State::Empty, 1);
    check("0w 1+L 1w | 1w", State::Exclusive, 0);
}

#[test]
fn from_empty() {
    check("0w 1w 0w 1r 2w", State::Empty, 1);
    check("0w 1w | 2w", State::Exclusive, 1);
}

#[test]
fn from_clean() {
    check("0w | 1w", State::Exclusive, 0);
    check("0w | 1r", State::Exclusive, 0);
    check("0w | | 1r", State::Exclusive, 0);
}

#[test]
fn from_exclusive() {
    check("0w | 0w 0r 0w", State::Exclusive, 0);
    // Refined by the owner too, unlike Initializing, but without a warning.
    check("0w | 0w 1+L 1w", State::Empty, 1);
    check("0w | 0+L 0w 0-L 1+L 1w", State::Shared, 0);
    check("0w | 0+L 0w 0-L 0w 1+L 1w", State::Empty, 1);
    check("0w | 0r 1r", State::Shared, 0);
    check("0w | 0w 1r", State::Empty, 1);
    check("0w | 0w | 1w", State::Exclusive, 0);
}

#[test]
fn a_warning_is_given_only_the_first_time() {
    check("0w 1w | 0w 1w | 0w 1w", State::Empty, 1);
}

#[test]
fn a_barrier_of_some_threads_changes_nothing() {
    check("0w 0| 1| 1w", State::Empty, 1);
    check("0w 1| 0| 0w", State::Initializing, 0);
}

#[test]
fn a_readers_lock_protects_reads_but_no_writes() {
    check("0w 1*L 1r 2*L 2r", State::Shared, 0);
    check("0w 1+L 1w 1-L 2*L 2r", State::Shared, 0);
    check("0w 1*L 1w", State::Empty, 1);
    check("0w 1+L 1w 1-L 2*L 2w", State::Empty, 1);
}

#[test]
fn atomics_alone_never_give_a_warning_and_mixed_with_plain_accesses_do() {
    check("0W 1W 2W 0R 1W", State::Shared, 0);
    check("0w 1W 0W 2R", State::Shared, 0);
    check("0w 1W 2r", State::Empty, 1);
    check("0w 1R 2r", State::Shared, 0);
    check("0w 1R 2w", State::Empty, 1);
    check("0w 1+L 1W 1-L 2+L 2w", State::Shared, 0);
}

#[test]
fn the_owners_second_access_in_its_frame_counts_once_another_thread_has_come() {
    // As published, the second write of thread 0 is skipped: it is not the first one in its time frame.
    check("0w 1+L 1w 0w", State::Empty, 1);
}

#[test]
fn a_read_before_the_first_write_is_not_forgotten() {
    // As published, the location would still be Virgin when thread 1 writes.
    check("0r 1w", State::Empty, 1);
}

#[test]
fn only_first_accesses_in_a_frame_are_counted() {
    let skipped = |script| {
        let stats = Script::run(script).detector.stats();
        (stats.race_checks, stats.same_epoch_reads, stats.same_epoch_writes)
    };
    assert_eq!(skipped("0w 0r 0w 0r"), (1, 2, 1));
    assert_eq!(skipped("0r 0r 0w 0r 0w"), (2, 2, 1));
    assert_eq!(skipped("0w 0+L 0w 0-L 0w"), (2, 0, 1));
    assert_eq!(skipped("0w 1w 0w"), (3, 0, 0));
    // A plain read and an atomic write leave no token: nothing that follows in the frame can take more away.
    assert_eq!(skipped("0r 0R 0W 0r 0w"), (2, 2, 1));
    assert_eq!(skipped("0W 0r 0R 0w"), (2, 1, 1));
}
