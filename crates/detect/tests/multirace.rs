//! MultiRace confirms exactly the races of DJIT+, though it makes fewer checks, and ranks what LockSet adds.

mod common;

use common::{analyse, run, spots, trace};
use deadheat_detect::djit::Djit;
use deadheat_detect::lockset::LockSet;
use deadheat_detect::multirace::MultiRace;
use deadheat_detect::reference::Spot;
use deadheat_detect::{Analysis, Driver};
use deadheat_event::{Race, RaceKind, Rank, Side};
use deadheat_trace::recipe::{Config, Trace, traces};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::collections::BTreeSet;

fn is_confirmed(race: &Race) -> bool {
    race.kind == RaceKind::HappensBefore
}

/// Races by spot: warnings in between may keep elements from being one report.
fn by_spot(races: &[Race]) -> Vec<(Spot, u64, Option<Side>, Side)> {
    let by_spot = |race: &Race| {
        let race = race.clone();
        spots(&race)
            .into_iter()
            .map(move |spot| (spot, race.event, race.first.clone(), race.second.clone()))
    };
    races.iter().flat_map(by_spot).collect()
}

fn confirms_what_djit_finds(trace: &Trace) -> Result<(), TestCaseError> {
    let mut found = run(MultiRace::default(), trace);
    found.retain(is_confirmed);
    prop_assert_eq!(by_spot(&found), by_spot(&run(Djit::default(), trace)));
    Ok(())
}

fn all_spots<'a>(races: impl IntoIterator<Item = &'a Race>) -> BTreeSet<Spot> {
    races.into_iter().flat_map(spots).collect()
}

proptest! {
    #![proptest_config(common::cases(3000))]

    #[test]
    fn confirms_djits_races_on_the_whole_vocabulary(trace in traces(Config::all())) {
        confirms_what_djit_finds(&trace)?;
    }

    #[test]
    fn confirms_djits_races_on_locks_forks_and_joins(trace in traces(Config::classic())) {
        confirms_what_djit_finds(&trace)?;
    }

    #[test]
    fn confirms_djits_races_where_few_threads_meet_at_barriers(trace in traces(Config {
        threads: 3, roots: 3, variables: 1, locks: 1, max_choices: 120,
        mutexes: true, rwlocks: true, barriers: true, barrier_overlap: true, ..Config::accesses()
    })) {
        confirms_what_djit_finds(&trace)?;
    }

    #[test]
    fn confirms_djits_races_where_workers_meet_at_barriers(trace in traces(Config {
        threads: 3, roots: 1, variables: 2, locks: 1, max_choices: 160, forks: true, begin_end: true,
        id_reuse: true, mutexes: true, rwlocks: true, barriers: true, barrier_overlap: true, ..Config::accesses()
    })) {
        confirms_what_djit_finds(&trace)?;
    }

    #[test]
    fn confirms_djits_races_on_mixed_atomics(trace in traces(Config {
        atomics: true, volatiles: true, fences: true, mixed: true, subword: true, mutexes: true, variables: 2,
        ..Config::accesses()
    })) {
        confirms_what_djit_finds(&trace)?;
    }

    #[test]
    fn reports_what_either_part_reports_and_nothing_else(trace in traces(Config {
        barriers: false, ..Config::all()
    })) {
        let found = run(MultiRace::default(), &trace);
        let either = [run(Djit::default(), &trace), run(LockSet::default(), &trace)].concat();
        prop_assert_eq!(all_spots(&found), all_spots(&either));
    }

    #[test]
    fn reports_only_what_either_part_reports_where_there_are_barriers(trace in traces(Config::all())) {
        // Happens-before tells more threads that are gone for good, so more barriers are seen to be of all threads.
        let found = run(MultiRace::default(), &trace);
        let either = [run(Djit::default(), &trace), run(LockSet::default(), &trace)].concat();
        prop_assert!(all_spots(&found).is_subset(&all_spots(&either)));
    }
}

/// The kinds of all findings, in order.
fn check(text: &str, expect: &[RaceKind]) {
    let found: Vec<RaceKind> = run(MultiRace::default(), &trace(text))
        .iter()
        .map(|race| race.kind)
        .collect();
    assert_eq!(found, expect, "{text}");
}

const LOW: RaceKind = RaceKind::Discipline(Rank::Low);
const MEDIUM: RaceKind = RaceKind::Discipline(Rank::Medium);
const HIGH: RaceKind = RaceKind::Discipline(Rank::High);

#[test]
fn sparing_as_published_would_lose_a_race_with_an_initialising_access() {
    // C(x) is {L} at the second access and so not empty, yet the first one, not counted in it, races.
    check("T1 w x; T2 acq L; T2 w x; T2 rel L", &[RaceKind::HappensBefore]);
    // A read is enough, and so is a later access that finds C(x) unchanged.
    check("T1 r x; T2 acq L; T2 w x; T2 rel L", &[RaceKind::HappensBefore]);
    check(
        "T0 fork T1; T1 w x; T1 send c; T2 recv c; T2 acq L; T2 w x; T2 rel L; T3 acq L; T3 r x; T3 rel L",
        &[],
    );
    check(
        "T1 w x; T1 send c; T2 recv c; T2 acqr L; T2 r x; T2 rel L; T3 acqr L; T3 r x; T3 rel L",
        &[RaceKind::HappensBefore],
    );
}

#[test]
fn sparing_would_lose_a_race_of_a_thread_that_missed_the_barrier() {
    // T3 knows of T1's write, but did not pass the barrier at which C(x) started anew, so T2's is not before its read.
    check(
        "T1 w x; T1 send c; T2 recv c; T2 acq L; T2 w x; T2 rel L
         T1 enter b; T2 enter b; T1 leave b; T2 leave b
         T1 r x
         T3 recv c; T3 r x",
        &[RaceKind::HappensBefore],
    );
}

#[test]
fn consistent_locking_spares_all_checks_but_keeps_the_log() {
    let mut text = String::from("T0 w x; T0 fork T1; T0 fork T2\n");
    for _ in 0..100 {
        text += "T1 acq L; T1 w x; T1 rel L; T2 acq L; T2 r x; T2 w x; T2 rel L\n";
    }
    let protected = trace(&text);
    let mut driver = Driver::new(MultiRace::default());
    let (found, stats) = analyse(&mut driver, &protected);
    assert_eq!(found, []);
    assert_eq!((stats.race_checks, driver.detector().spared()), (0, 301));
    let djit = analyse(&mut Driver::new(Djit::default()), &protected).1;
    assert_eq!(djit.race_checks, 301);

    // The log is there when it is needed: an access without the lock races with the last of both threads.
    let races = trace(&(text + "T0 w x"));
    let found = run(MultiRace::default(), &races);
    assert_eq!(found.len(), 1);
    assert_eq!(found, run(Djit::default(), &races));
}

#[test]
fn a_single_hand_over_by_luck_ranks_high() {
    check("T1 w x; T1 acq L; T1 rel L; T2 acq L; T2 rel L; T2 w x", &[HIGH]);
    check("T1 w x; T1 store f rel; T2 load f acq; T2 w x", &[HIGH]);
}

#[test]
fn more_hand_overs_rank_lower() {
    let hand_overs = |n| {
        let locks = "T1 acq L; T1 rel L;".repeat(n);
        format!("T1 w x; {locks} T2 acq L; T2 rel L; T2 w x")
    };
    check(&hand_overs(1), &[HIGH]);
    check(&hand_overs(2), &[MEDIUM]);
    check(&hand_overs(4), &[MEDIUM]);
    check(&hand_overs(5), &[LOW]);
}

#[test]
fn forks_joins_barriers_and_messages_rank_low_however_few() {
    check("T1 w x; T1 fork T2; T2 w x", &[LOW]);
    check("T1 fork T2; T2 w x; T1 join T2; T1 w x", &[LOW]);
    check("T1 w x; T1 send c; T2 recv c; T2 w x", &[LOW]);
    // A barrier of all threads needs no rank; here a third one is elsewhere.
    check(
        "T3 w y; T1 w x; T1 enter b; T2 enter b; T1 leave b; T2 leave b; T2 w x",
        &[LOW],
    );
    check(
        "T1 w x; T1 enter b; T2 enter b; T1 leave b; T2 leave b; T2 w x",
        &[],
    );
}

#[test]
fn the_least_ordered_of_the_earlier_accesses_is_shown() {
    let found = run(
        MultiRace::default(),
        &trace(
            "T1 r x @a:1; T1 fork T2
             T2 r x @a:2; T2 acq L; T2 rel L; T1 acq L; T1 rel L; T1 fork T3
             T3 r x @a:3; T3 acq L; T3 rel L; T2 acq L; T2 rel L; T1 acq L; T1 rel L
             T1 w x @a:4",
        ),
    );
    let prior = found[0].first.as_ref().expect("an earlier access");
    assert_eq!((found[0].kind, prior.thread.0), (HIGH, 3));
}

#[test]
fn a_confirmed_race_silences_later_warnings_but_not_the_other_way_round() {
    // LockSet objects only at T1's second write; T2's race at the same place is known by then.
    check(
        "T1 w x; T2 acq L; T2 w x; T2 rel L; T1 acq L; T1 rel L; T1 w x",
        &[RaceKind::HappensBefore],
    );
    check(
        "T1 w x; T1 acq L; T1 rel L; T2 acq L; T2 rel L; T2 w x; T3 w x",
        &[HIGH, RaceKind::HappensBefore],
    );
}

#[test]
fn counters_of_an_empty_run_are_zero_but_for_the_empty_lockset() {
    let stats = Driver::new(MultiRace::default()).stats();
    assert_eq!(
        (stats.race_checks, stats.clock_ops, stats.clock_allocs),
        (0, 0, 1)
    );
}
