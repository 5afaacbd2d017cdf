//! Windows: what is carried over, what is lost, and that it does not matter how many run at once.

mod common;

use common::{handed_on, parse, predicted, predicted_in};
use deadheat_predict::{Model, Options, Step, Windows, look, predict};
use deadheat_trace::generate::{self, Generator};
use deadheat_trace::recipe::{Config, traces};
use proptest::prelude::*;
use std::time::Duration;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// A schedule of a window, behind what came before, is a schedule of the whole trace. So windows find no more than
    /// there is; that they are replayed with what was carried over is checked by the checker.
    #[test]
    fn a_window_finds_nothing_that_the_whole_trace_has_not(
        mut trace in traces(Config { max_choices: 40, ..Config::all() }),
        window in 2_usize..24,
        realistic in any::<bool>(),
    ) {
        if realistic {
            common::realistic(&mut trace);
        }
        for model in [Model::Mc, Model::Rdit] {
            let whole = predicted(&trace, model);
            let found = predicted_in(&trace, model, window);
            prop_assert!(found.is_subset(&whole), "{model} {window}: {:?} {trace:?}", &found - &whole);
        }
    }
}

#[test]
fn pairs_on_both_sides_of_an_edge_are_seen() {
    // With windows of 8 events, events 6 and 9 are only together in the second, which begins at 4.
    let filler = "T3 w a; T3 w a; T3 w a; T3 w a; T3 w a; T3 w a; ";
    let trace = parse(&format!(
        "{filler} T1 w x; T3 w a; T3 w a; T2 w x; T3 w a; T3 w a"
    ));
    assert!(predicted_in(&trace, Model::Mc, 8).contains(&(6, 9)));
    // With windows of 4 they are in none.
    assert!(predicted_in(&trace, Model::Mc, 3).is_empty());
}

#[test]
fn locks_held_when_a_window_begins_are_held_in_it() {
    // The second window (from event 4 on) does not see T1 take L.
    let trace =
        parse("T1 acq L; T3 w a; T3 w a; T3 w a; T1 w x; T1 rel L; T2 acq L; T2 w x; T2 rel L; T3 w a");
    assert!(predicted_in(&trace, Model::Mc, 8).is_empty());
    let trace =
        parse("T1 acq M; T3 w a; T3 w a; T3 w a; T1 w x; T1 rel M; T2 acq L; T2 w x; T2 rel L; T3 w a");
    assert_eq!(predicted_in(&trace, Model::Mc, 8).len(), 1);
}

#[test]
fn calls_and_barriers_open_when_a_window_begins_order_in_it() {
    let trace =
        parse("T1 call f {y}; T3 w a; T3 w a; T3 w a; T1 w x; T1 ret; T2 r y; T2 w x; T3 w a; T3 w a");
    assert!(predicted_in(&trace, Model::Rdit, 8).is_empty());
    assert_eq!(predicted_in(&trace, Model::Mc, 8).len(), 1);
    let trace = parse(
        "T1 enter B; T3 w a; T3 w a; T3 w a; T2 w x; T2 enter B; T1 leave B; T1 w x; T2 leave B; T3 w a",
    );
    assert!(predicted_in(&trace, Model::Mc, 8).is_empty());
}

#[test]
fn values_written_before_a_window_are_known_in_it() {
    // T2 may read 5 before T1's writes, because x was 5 when the window began: so the writes of y can meet.
    let text = "T3 w x =5; T3 w a; T3 w a; T3 w a; T3 w a; T3 w a;
        T1 w y; T1 acq L; T1 w x =7; T1 w x =5; T1 rel L; T2 acq L; T2 r x =5; T2 rel L; T2 w y; T3 w a; T3 w a";
    let trace = parse(text);
    assert!(predicted_in(&trace, Model::Mc, 12).contains(&(6, 14)));
    // Not if another value was there.
    let trace = parse(&text.replacen("=5", "=6", 1));
    assert!(!predicted_in(&trace, Model::Mc, 12).contains(&(6, 14)));
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let config = generate::Config {
        events: 30_000,
        races: 12,
        ..generate::Config::default()
    };
    let mut expect = None;
    for jobs in [1, 2, 5] {
        let options = Options {
            window: 1000,
            jobs,
            ..Options::default()
        };
        let mut source = Generator::new(&config);
        let (predictions, stopped) = predict(&mut source, &options, &mut |_| {});
        assert!(stopped.is_none());
        let found: Vec<_> = { predictions.races.iter() }
            .map(|prediction| (prediction.events, prediction.witness.clone()))
            .collect();
        assert!(found.len() >= 3, "{}", found.len());
        assert_eq!(expect.get_or_insert_with(|| found.clone()), &found, "{jobs} jobs");
    }
}

#[test]
fn the_checker_accepts_what_the_solver_finds_in_larger_windows() {
    for seed in 0..6 {
        let trace = parse(&handed_on(210, seed));
        for window in [60, 210] {
            // Fails if a witness is rejected or a pair is not decided.
            assert!(!predicted_in(&trace, Model::Mc, window).is_empty());
        }
    }
}

#[test]
fn pairs_that_there_was_no_time_for_are_counted() {
    let trace = parse(&handed_on(210, 1));
    let options = Options {
        model: Model::Mc,
        pair: Some(Duration::ZERO),
        ..Options::default()
    };
    let mut windows = Windows::new(options.window);
    windows.push(&trace.events);
    let window = windows.next(true, &trace.tables).expect("a window");
    let outcome = look(&window, &options, &|_| true).outcome;
    // Those that need no solver are decided all the same.
    assert!(outcome.undecided.pairs > 0 && outcome.quick > 0, "{outcome:?}");
    assert_eq!((outcome.solved, outcome.undecided.windows), (0, 0));
}

#[test]
fn windows_that_are_finished_are_told_as_they_are() {
    let config = generate::Config {
        events: 10_000,
        ..generate::Config::default()
    };
    let options = Options {
        window: 1000,
        jobs: 2,
        ..Options::default()
    };
    let (mut read, mut told) = (0, Vec::new());
    let (predictions, _) = predict(&mut Generator::new(&config), &options, &mut |step| match step {
        Step::Read(block, _) => read += block.len() as u64,
        Step::Finished(events) => {
            assert!(events <= read);
            told.push(events);
        }
    });
    assert!(told.is_sorted() && told.len() as u64 == predictions.outcome.windows);
    assert_eq!(told.last(), Some(&read));
}
