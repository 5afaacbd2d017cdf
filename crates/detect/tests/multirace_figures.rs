//! The worked examples of MultiRace, and what is known to be wrong or missing in lockset algorithms.

mod common;

use common::{analyse, run, trace};
use deadheat_detect::djit::Djit;
use deadheat_detect::eraser::Eraser;
use deadheat_detect::lockset::LockSet;
use deadheat_detect::multirace::MultiRace;
use deadheat_detect::reference::Reference;
use deadheat_detect::{Analysis, Driver};
use deadheat_event::{Detector, Place, RaceKind, Rank};

/// What a detector reports: the variable's name, the lines of both accesses (0 if unknown), and the kind.
fn reports(detector: impl Detector, text: &str) -> Vec<(String, u32, u32, RaceKind)> {
    let trace = trace(text);
    let line = |site| trace.tables.site(site).line;
    let name = |place| match place {
        Place::Memory { addr, .. } => trace
            .tables
            .variables
            .get(&addr)
            .map_or("?", |name| trace.tables.name(*name))
            .to_owned(),
        Place::Array { .. } => "?".to_owned(),
    };
    run(detector, &trace)
        .into_iter()
        .map(|race| {
            let first = race.first.map_or(0, |side| line(side.site));
            (name(race.place), first, line(race.second.site), race.kind)
        })
        .collect()
}

/// The variables and lines that a detector reports, as `x:1-2`.
fn check(detector: impl Detector, text: &str, expect: &[&str]) {
    let found: Vec<String> = reports(detector, text)
        .into_iter()
        .map(|(name, first, second, _)| format!("{name}:{first}-{second}"))
        .collect();
    assert_eq!(found, expect, "{text}");
}

const FIGURE_1: &str = "
    T1 acq L; T1 w x @f:1; T1 rel L; T1 w y @f:2
    T2 acq L; T2 w y @f:3; T2 rel L; T2 w x @f:4";

#[test]
fn figure_1_the_writes_to_x_are_synchronised_and_those_to_y_race() {
    check(Djit::default(), FIGURE_1, &["y:2-3"]);
    let trace = trace(FIGURE_1);
    let line = |n: u32| {
        let at = |e: &deadheat_event::Event| trace.tables.site(e.site).line == n;
        trace.events.iter().position(at).expect("a line of the figure")
    };
    let reference = Reference::new(&trace.events, &trace.tables);
    assert!(reference.happens_before(line(1), line(4)));
    assert!(!reference.happens_before(line(2), line(3)));
}

#[test]
fn figure_1_multirace_confirms_y_and_leaves_x_a_violation() {
    let found = reports(MultiRace::default(), FIGURE_1);
    let expect = [
        ("y".to_owned(), 2, 3, RaceKind::HappensBefore),
        ("x".to_owned(), 1, 4, RaceKind::Discipline(Rank::High)),
    ];
    assert_eq!(found, expect);
    // LockSet takes T1's accesses for initialisation, so the lock at the second write to y hides the race from it.
    check(LockSet::default(), FIGURE_1, &["x:1-4"]);
}

/// The tokens are released without having been acquired, and L2 is acquired by T2: locks or semaphores in the paper's
/// terms, messages here.
const FIGURE_2: &str = "
    T1 send L1; T1 w x @f:1; T1 send L2
    T2 send L3; T2 w x @f:2; T2 recv L2; T2 w x @f:3";

#[test]
fn figure_2_the_first_two_writes_race_and_the_third_is_behind_both() {
    check(Djit::default(), FIGURE_2, &["x:1-2"]);
    check(MultiRace::default(), FIGURE_2, &["x:1-2"]);
    check(LockSet::default(), FIGURE_2, &["x:1-2"]);
}

#[test]
fn figure_2_the_third_write_is_in_the_second_ones_time_frame() {
    // An acquire does not end a frame, so the third write is not even checked.
    let stats = analyse(&mut Driver::new(Djit::default()), &trace(FIGURE_2)).1;
    assert_eq!((stats.race_checks, stats.same_epoch_writes), (2, 1));
}

/// Figure 5: the second write adds nothing to what the first one told. `before` makes the location shared.
fn figure_5(body: &str) -> (u64, Vec<(String, u32, u32, RaceKind)>) {
    let before =
        "T1 w x; T2 acq L; T2 acq L1; T2 acq L2; T2 w x; T2 rel L2; T2 rel L1; T2 rel L; T1 acq L; T1 rel L;";
    let text = format!("{before} {body}");
    let stats = analyse(&mut Driver::new(LockSet::default()), &trace(&text)).1;
    (stats.same_epoch_writes, reports(LockSet::default(), &text))
}

#[test]
fn figure_5a_the_second_write_under_the_same_locks_is_skipped() {
    let body = "T1 acq L1; T1 acq L2; T1 w x; T1 w x; T1 rel L2; T1 rel L1";
    assert_eq!(figure_5(body), (1, vec![]));
}

#[test]
fn figure_5b_the_second_write_under_more_locks_is_skipped() {
    let body = "T1 acq L1; T1 w x; T1 acq L2; T1 w x; T1 rel L2; T1 rel L1";
    assert_eq!(figure_5(body), (1, vec![]));
    // Only L1 is left: the skipped write did not bring L2 back.
    let with_l2 = format!("{body}; T2 acq L2; T2 w x @f:9; T2 rel L2");
    let (_, found) = figure_5(&with_l2);
    assert_eq!(found.len(), 1);
    let with_l1 = format!("{body}; T2 acq L1; T2 w x @f:9; T2 rel L1");
    assert_eq!(figure_5(&with_l1), (1, vec![]));
}

#[test]
fn figure_5_a_release_between_the_writes_makes_the_second_one_count() {
    let body = "T1 acq L1; T1 acq L2; T1 w x; T1 rel L2; T1 w x; T1 rel L1";
    assert_eq!(figure_5(body), (0, vec![]));
    let body = "T1 acq L1; T1 w x; T1 rel L1; T1 w x @f:8";
    let (skipped, found) = figure_5(body);
    assert_eq!((skipped, found.len()), (0, 1));
}

/// The flag is polled twice: once before it is raised, once after.
const FIGURE_7: &str = "
    T2 acq L; T2 r f; T2 w t; T2 rel L; T2 r t
    T1 w x @f:1; T1 acq L; T1 w f; T1 rel L
    T2 acq L; T2 r f; T2 w t; T2 rel L; T2 r t; T2 w x @f:2";

#[test]
fn figure_7_a_flag_orders_the_writes_and_djit_shows_the_warning_to_be_false() {
    check(Djit::default(), FIGURE_7, &[]);
    check(LockSet::default(), FIGURE_7, &["x:1-2"]);
    check(Eraser::default(), FIGURE_7, &["x:1-2"]);
    let found = reports(MultiRace::default(), FIGURE_7);
    assert_eq!(
        found,
        [("x".to_owned(), 1, 2, RaceKind::Discipline(Rank::High))],
        "a violation, not a confirmed race"
    );
}

const FIGURE_8: &str = "
    T1 w y @f:1; T1 acq L; T1 w x; T1 rel L
    T2 acq L; T2 w x; T2 rel L; T2 w y @f:2";

#[test]
fn figure_8_lockset_finds_a_race_that_this_interleaving_hides_from_djit() {
    check(Djit::default(), FIGURE_8, &[]);
    check(LockSet::default(), FIGURE_8, &["y:1-2"]);
    check(Eraser::default(), FIGURE_8, &["y:1-2"]);
    check(MultiRace::default(), FIGURE_8, &["y:1-2"]);
    // The other interleaving.
    let other = "
        T2 acq L; T2 w x; T2 rel L; T2 w y @f:2
        T1 w y @f:1; T1 acq L; T1 w x; T1 rel L";
    check(Djit::default(), other, &["y:2-1"]);
    check(LockSet::default(), other, &["y:2-1"]);
}

#[test]
fn false_alarm_data_handed_over_by_fork_and_join() {
    let text = "T1 w x @f:1; T1 fork T2; T2 w x @f:2; T1 join T2; T1 w x @f:3";
    check(Eraser::default(), text, &["x:1-2"]);
    check(LockSet::default(), text, &["x:1-2"]);
    check(Djit::default(), text, &[]);
}

#[test]
fn false_alarm_of_eraser_only_data_handed_over_at_a_barrier() {
    let text = "T1 w x @f:1; T1 enter b; T2 enter b; T1 leave b; T2 leave b; T2 w x @f:2";
    check(Eraser::default(), text, &["x:1-2"]);
    check(LockSet::default(), text, &[]);
    check(Djit::default(), text, &[]);
}

#[test]
fn false_alarm_data_handed_over_at_a_barrier_of_some_threads() {
    let text = "T3 w y; T1 w x @f:1; T1 enter b; T2 enter b; T1 leave b; T2 leave b; T2 w x @f:2";
    check(LockSet::default(), text, &["x:1-2"]);
    check(Djit::default(), text, &[]);
}

#[test]
fn false_alarm_data_that_two_locks_protect_in_turn() {
    let text = "
        T0 w x @f:1; T0 fork T1; T0 fork T2
        T1 acq L; T1 w x @f:2; T1 acq M; T1 rel L; T1 w x @f:3; T1 rel M
        T2 acq M; T2 w x @f:4; T2 rel M";
    // Already the second write has no lock in common with the first one of the same thread.
    check(Eraser::default(), text, &["x:1-3"]);
    check(LockSet::default(), text, &["x:1-3"]);
    check(Djit::default(), text, &[]);
}

#[test]
fn false_alarm_memory_used_again_unless_its_allocation_is_seen() {
    let text = "T1 w x @f:1; T1 send c; T2 recv c; T2 w x @f:2";
    check(Eraser::default(), text, &["x:1-2"]);
    let text = "T1 w x @f:1; T1 send c; T2 recv c; T2 alloc x:8; T2 w x @f:2";
    check(Eraser::default(), text, &[]);
    check(LockSet::default(), text, &[]);
}

#[test]
fn miss_a_race_with_an_initialising_access() {
    let text = "T1 w x @f:1; T2 acq L; T2 w x @f:2; T2 rel L";
    check(Djit::default(), text, &["x:1-2"]);
    check(Eraser::default(), text, &[]);
    check(LockSet::default(), text, &[]);
    check(MultiRace::default(), text, &["x:1-2"]);
}

#[test]
fn miss_of_eraser_a_value_published_without_a_lock_and_only_read_since() {
    // Exclusive to Shared does not warn, and LockSet does not count what was written while initialising either.
    let text = "T1 w x @f:1; T2 r x @f:2; T3 r x @f:3";
    check(Djit::default(), text, &["x:1-2", "x:1-3"]);
    check(Eraser::default(), text, &[]);
    check(LockSet::default(), text, &[]);
}

#[test]
fn lockset_counts_what_a_single_thread_did_after_a_barrier_and_eraser_does_not() {
    // The first access of each thread behind the barrier; T1 has written x before.
    let text = "T1 w x; T1 enter b; T2 enter b; T1 leave b; T2 leave b; T1 w x @f:1; T2 acq L; T2 w x @f:2; T2 rel L";
    check(Djit::default(), text, &["x:1-2"]);
    check(LockSet::default(), text, &["x:1-2"]);
    check(Eraser::default(), text, &[]);
}

#[test]
fn consistent_locking_and_read_sharing_give_no_warning() {
    let locked = "
        T0 w x; T0 fork T1; T0 fork T2
        T1 acq L; T1 w x; T1 rel L; T2 acq L; T2 r x; T2 w x; T2 rel L; T0 acq L; T0 r x; T0 rel L";
    let read = "T0 w x; T0 fork T1; T0 fork T2; T1 r x; T2 r x; T0 r x";
    let reader_lock = "
        T0 w x; T0 fork T1; T0 fork T2
        T1 acq L; T1 w x; T1 rel L; T2 acqr L; T2 r x; T2 rel L";
    let atomics = "T0 store x rel; T1 rmw x acqrel; T2 load x acq; T1 store x rlx";
    for text in [locked, read, reader_lock, atomics] {
        check(Eraser::default(), text, &[]);
        check(LockSet::default(), text, &[]);
    }
}

#[test]
fn a_write_under_a_readers_lock_is_not_protected() {
    let text = "T0 w x @f:1; T0 fork T1; T1 acqr L; T1 w x @f:2; T1 rel L";
    check(Eraser::default(), text, &["x:1-2"]);
    check(LockSet::default(), text, &["x:1-2"]);
}

#[test]
fn a_thread_that_missed_the_barrier_is_not_taken_to_be_behind_it() {
    // T3's read races with T2's write, which was forgotten at the barrier that T3 did not reach.
    let text = "
        T1 w x; T2 acq L; T2 w x @f:1; T2 rel L
        T1 enter b; T2 enter b; T1 leave b; T2 leave b
        T1 r x @f:2
        T3 r x @f:3";
    check(LockSet::default(), text, &["x:1-3"]);
}

#[test]
fn a_thread_that_gets_behind_a_barrier_by_waiting_counts_anew_within_its_time_frame() {
    // A join ends no time frame. T0's second write is in the frame of its first one, but behind T1's barrier.
    let text = "
        T0 w x; T0 fork T1; T0 fork T2
        T1 enter b; T2 enter b; T1 leave b; T2 leave b; T0 join T1
        T0 r x; T0 w x @f:1
        T2 r x @f:2";
    check(Djit::default(), text, &["x:1-2"]);
    check(LockSet::default(), text, &["x:1-2"]);
}

#[test]
fn workers_whose_parent_only_waits_may_use_barriers_alone() {
    let text = "
        T0 w x; T0 fork T1; T0 fork T2
        T1 w x; T1 enter b; T2 enter b; T1 leave b; T2 leave b; T2 w x
        T2 enter b; T1 enter b; T2 leave b; T1 leave b; T1 w x
        T0 join T1; T0 join T2";
    // The first write of a worker is a hand-over by fork, which LockSet does not know.
    check(LockSet::default(), text, &["x:0-0"]);
    check(LockSet::default(), &text.replacen("T0 w x;", "", 1), &[]);
    check(Djit::default(), text, &[]);
}

#[test]
fn sub_word_accesses_are_told_apart() {
    let text = "T1 w x:4; T2 w x:4+4; T1 w x:4; T2 w x:4+4; T1 r x:2+2 @f:1; T2 w x:1+3 @f:2";
    let found = run(LockSet::default(), &trace(text));
    let sizes: Vec<Place> = found.into_iter().map(|race| race.place).collect();
    assert!(matches!(sizes[..], [Place::Memory { size: 1, .. }]), "{sizes:?}");
}

#[test]
fn counters_tell_checks_skips_and_intersections() {
    let text = "T1 w x; T2 acq L; T2 acq M; T2 w x; T2 r x; T2 rel M; T1 acq L; T1 w x; T1 rel L";
    let stats = analyse(&mut Driver::new(LockSet::default()), &trace(text)).1;
    assert_eq!((stats.race_checks, stats.same_epoch_reads), (3, 1));
    // {L, M} ∩ {L} is computed once; the empty set, {L, M} and {L} are interned.
    assert_eq!((stats.clock_ops, stats.clock_allocs), (1, 3));
    assert!(stats.bytes > 0 && stats.shadow_states > 0);
    let driver = Driver::new(Eraser::default());
    assert_eq!(driver.stats().race_checks, 0);
}
