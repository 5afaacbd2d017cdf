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

#[test]
fn a_schedule_that_moves_what_a_call_is_ordered_with_is_refused() {
    // 0 w a by T1; 1 call, 2 w x, 3 ret by T2; 4 send to an address of the object, 5 w x by T1.
    let text = "T1 w a; T2 call f {0x1000:8}; T2 w x; T2 ret; T1 send S4096; T1 w x";
    let bad: &[(&[usize], &str)] = &[
        (&[0, 4, 1, 2, 5], "untraced code"),
        (&[0, 1, 4, 2, 5], "untraced code"),
    ];
    let trace = parse(text);
    for (schedule, why) in bad {
        let wrong = verdict(&trace, Model::Rdit, schedule).expect_err("no witness");
        assert!(wrong.contains(why), "{schedule:?}: {wrong}");
        assert_eq!(verdict(&trace, Model::Mc, schedule), Ok(()));
    }
    // 0 call, 1 w x, 2 ret by T1; 3 call, 4 ret, 5 w x by T2: with nothing in common the second may come first.
    let calls = |other: &str| {
        parse(&format!(
            "T1 call f {{o}}; T1 w x; T1 ret; T2 call f {{{other}}}; T2 ret; T2 w x"
        ))
    };
    let swapped = [3, 4, 0, 1, 5];
    assert_eq!(verdict(&calls("p"), Model::Rdit, &swapped), Ok(()));
    for other in ["o", "0x8000000000000000:1"] {
        assert!(verdict(&calls(other), Model::Rdit, &swapped).is_err(), "{other}");
    }
    // 0 call by T1; 1 w o by T2, 2 w o by T3 while it is open; 3 w x by T3, 4 w x by T2.
    check(
        "T1 call f {o}; T2 w o; T3 w o; T3 w x; T2 w x",
        Model::Rdit,
        &[0, 1, 2, 3, 4],
        &[(&[0, 2, 1, 3, 4], "untraced code")],
    );
    // 0 w o, 2 w x by T1; 1 w o, 5 w x by T2; 3 call, 4 ret by T3: it begins with what T2 wrote.
    check(
        "T1 w o; T2 w o; T1 w x; T3 call f {o}; T3 ret; T3 w z; T2 w x; T2 w z",
        Model::Rdit,
        &[0, 1, 3, 4, 2, 6],
        &[(&[1, 0, 3, 4, 2, 6], "another value")],
    );
}

#[test]
fn a_schedule_that_breaks_a_round_of_a_barrier_is_refused() {
    // 0 w x, 1 enter by T1; 2 enter, 3 leave, 5 w x by T2; 4 leave by T1.
    check(
        "T1 w x; T1 enter B; T2 enter B; T2 leave B; T1 leave B; T2 w y; T1 w y",
        Model::Mc,
        &[0, 1, 2, 3, 4, 5, 6],
        &[
            (&[2, 3, 5, 0], "the barrier waits for it"),
            (&[0, 1, 4, 6, 2], "the barrier waits for it"),
        ],
    );
}

#[test]
fn a_schedule_in_which_a_message_comes_before_it_was_sent_is_refused() {
    // 0 w x, 1 send by T1; 2 recv, 3 w y by T2; 4 w y by T1.
    check(
        "T1 w x; T1 send C; T2 recv C; T2 w y; T1 w y",
        Model::Mc,
        &[0, 1, 2, 3, 4],
        &[(&[2, 0, 1, 3, 4], "it was sent before")],
    );
}

#[test]
fn a_schedule_that_uses_memory_outside_of_its_life_is_refused() {
    // 0 alloc, 1 w x by T1; 2 w m, 3 w x by T2; 4 free, 5 w y by T1; 6 w y by T2.
    check(
        "T1 alloc 0x1000:8; T1 w x; T2 w 0x1000:8; T2 w x; T1 free 0x1000:8; T1 w y; T2 w y",
        Model::Mc,
        &[0, 2, 1, 3],
        &[
            (&[2, 0, 1, 3], "brought the memory into being"),
            (&[0, 1, 4, 2, 3, 5, 6], "frees what event 2 uses"),
        ],
    );
}

#[test]
fn a_schedule_in_which_a_writer_meets_readers_is_refused() {
    // 0 acqr, 1 r a, 2 rel by T1; 3 acqr, 4 w x, 5 rel by T2; 6 acq, 7 w x, 8 rel by T3.
    check(
        "T1 acqr L; T1 w x; T1 rel L; T2 acqr L; T2 w x; T2 rel L; T3 acq L; T3 w x; T3 rel L",
        Model::Mc,
        &[0, 3, 1, 4],
        &[
            (&[0, 6, 1, 7], "another thread holds"),
            (&[6, 0, 1, 7], "another thread holds"),
        ],
    );
}

#[test]
fn a_schedule_that_takes_a_lock_that_was_held_when_the_window_began_is_refused() {
    let trace = parse("T1 acq L; T1 w x; T1 rel L; T2 acq L; T2 w x; T2 rel L; T1 w x");
    let mut state = State::default();
    state.happen(&trace.events[0]);
    let objects = |_| Vec::new();
    let deadline = Instant::now() + Duration::from_secs(600);
    let checker = Checker::new(&trace.events[1..], &state, Model::Mc, &objects, deadline).expect("time");
    // 0 w x, 1 rel by T1; 2 acq, 3 w x, 4 rel by T2; 5 w x by T1.
    assert_eq!(checker.check(&[0, 1, 2, 5, 3]), Ok(()));
    let wrong = checker.check(&[2, 0, 3]).expect_err("no witness");
    assert!(wrong.contains("another thread holds"), "{wrong}");
}

/// `count` calls by two threads in turn that all reach one block, each with one of `others` besides, and a race behind them.
fn many_calls(count: usize, others: usize) -> Trace {
    let mut text = String::new();
    for n in 0..count {
        let (thread, other) = (1 + n % 2, n % others);
        text += &format!(
            "T{thread} call f {{0x1000:64, {:#x}:8}}; T{thread} ret\n",
            0x2000 + 8 * other
        );
    }
    parse(&(text + "T1 w x; T2 w x"))
}

#[test]
fn what_there_is_to_check_grows_with_the_number_of_calls_and_not_with_its_square() {
    for others in [1, 50, 5000] {
        let trace = many_calls(5000, others);
        let state = State::default();
        let objects = |set| trace.tables.objects(set).to_vec();
        let deadline = Instant::now() + Duration::from_secs(600);
        let checker = Checker::new(&trace.events, &state, Model::Rdit, &objects, deadline).expect("time");
        // An event of a call has to do with the block and with the other.
        assert!(
            checker.relations() <= 2 * trace.events.len(),
            "{}",
            checker.relations()
        );
        // Decided, and not late.
        assert_eq!(common::predicted(&trace, Model::Rdit).len(), 1);
    }
}

#[test]
fn a_checker_that_is_late_says_so() {
    let trace = many_calls(10, 1);
    let objects = |set| trace.tables.objects(set).to_vec();
    let state = State::default();
    let late = Checker::new(&trace.events, &state, Model::Rdit, &objects, Instant::now());
    assert!(late.is_err());
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
