//! The checker refuses what is no witness: schedules that are good but for one thing are each refused for that thing.

mod common;

use common::parse;
use deadheat_predict::check::{Checker, State};
use deadheat_predict::{Model, Options, Windows, look};
use deadheat_trace::recipe::Trace;
use std::time::{Duration, Instant};

/// What the checker says of a schedule of the whole trace.
fn verdict(trace: &Trace, model: Model, schedule: &[usize]) -> Result<(), String> {
    let state = State::default();
    let objects = |set| trace.tables.objects(set).to_vec();
    let deadline = Instant::now() + Duration::from_secs(600);
    let checker = Checker::new(&trace.events, &state, model, &objects, deadline).expect("time");
    checker.check(schedule)
}

/// Good as it is; each other schedule is refused, with words that say why.
#[track_caller]
fn check(text: &str, model: Model, good: &[usize], bad: &[(&[usize], &str)]) {
    let trace = parse(text);
    assert_eq!(verdict(&trace, model, good), Ok(()));
    for (schedule, why) in bad {
        let wrong = verdict(&trace, model, schedule).expect_err("no witness");
        assert!(wrong.contains(why), "{schedule:?}: {wrong}");
    }
}

#[test]
fn a_schedule_that_breaks_a_lock_is_refused() {
    // 0 w y, 1 acq, 2 w x, 3 rel by T1; 4 acq, 5 w x, 6 rel, 7 w y by T2.
    check(
        "T1 w y; T1 acq L; T1 w x; T1 rel L; T2 acq L; T2 w x; T2 rel L; T2 w y",
        Model::Mc,
        &[4, 5, 6, 0, 7],
        &[
            (&[5, 4, 6, 0, 7], "not the next of its thread"),
            (&[4, 5, 0, 7], "not the next of its thread"),
            (&[0, 1, 4, 5, 6, 2, 7], "another thread holds"),
            (&[4, 5, 6, 6, 0, 7], "appears twice"),
            (&[4, 5, 6, 9, 0, 7], "no event 9"),
            (&[0, 1, 2, 3, 4], "not two accesses"),
            (&[0], "at least two"),
        ],
    );
}

#[test]
fn a_schedule_in_which_a_read_has_another_value_is_refused() {
    // 0 w f, 1 w x by T1; 2 r f, 3 w x by T2; 4 w f by T3.
    check(
        "T1 w f =1; T1 w x; T2 r f =1; T2 w x; T3 w f =2",
        Model::Mc,
        &[0, 2, 1, 3],
        &[
            (&[0, 4, 2, 1, 3], "another value"),
            (&[2, 0, 1, 3], "another value"),
        ],
    );
}

#[test]
fn a_schedule_that_runs_a_thread_before_its_fork_or_after_its_join_is_refused() {
    // 0 fork, 2 w x by T0; 1 w x, 3 w y by T1; 4 join by T0, 5 w y by T0.
    let text = "T0 fork T1; T1 w x; T0 w x; T1 w y; T0 join T1; T0 w y";
    check(
        text,
        Model::Mc,
        &[0, 1, 2],
        &[
            (&[1, 0, 2], "comes before event 0"),
            (&[0, 1, 2, 4, 3, 5], "comes before event"),
            (&[0, 2, 4, 1, 3], "comes before event"),
        ],
    );
}

#[test]
fn a_pair_that_does_not_conflict_is_no_race() {
    let text = "T1 r x; T2 r x; T1 w y; T2 w z";
    let trace = parse(text);
    for (schedule, why) in [
        (&[0, 1][..], "do not conflict"),
        (&[0, 1, 2, 3], "nothing in common"),
        (&[0, 2], "one thread"),
    ] {
        let wrong = verdict(&trace, Model::Mc, schedule).expect_err("no race");
        assert!(wrong.contains(why), "{schedule:?}: {wrong}");
    }
}

/// Two neighbours of one thread that are swapped in a witness, or an event of a thread left out before another of the same thread:
/// no witness stays one.
#[test]
fn no_witness_survives_a_broken_program_order() {
    let text = "T1 w y; T1 acq L; T1 w x; T1 rel L; T1 w z
                T2 acq L; T2 w x; T2 rel L; T2 w z; T2 w y";
    let trace = parse(text);
    let options = Options {
        model: Model::Mc,
        window: trace.events.len(),
        ..Options::default()
    };
    let mut windows = Windows::new(options.window);
    windows.push(&trace.events);
    let window = windows.next(true, &trace.tables).expect("a window");
    let found = look(&window, &options, &|_| true);
    assert!(!found.races.is_empty());
    let mut tried = 0;
    for (_, prediction) in &found.races {
        let good: Vec<usize> = prediction
            .witness
            .schedule()
            .map(|event| event as usize)
            .collect();
        assert_eq!(verdict(&trace, options.model, &good), Ok(()));
        for i in 0..good.len() {
            for j in i + 1..good.len() {
                if trace.events[good[i]].thread != trace.events[good[j]].thread {
                    continue;
                }
                let (mut swapped, mut without) = (good.clone(), good.clone());
                swapped.swap(i, j);
                without.remove(i);
                for bad in [swapped, without] {
                    tried += 1;
                    assert!(
                        verdict(&trace, options.model, &bad).is_err(),
                        "{good:?} became {bad:?}"
                    );
                }
            }
        }
    }
    assert!(tried > 20, "{tried}");
}
