//! The examples of the documents: RDIT's caveats and figures, its Account program, MultiRace's Figure 8.
//!
//! Each trace is written so that the accesses in question can be named by their lines.

mod common;

use common::{Brute, parse, predicted};
use deadheat_predict::Model;
use deadheat_trace::recipe::Trace;
use std::collections::BTreeSet;

/// Pairs of lines that race under a model; brute force must agree.
fn races(trace: &Trace, model: Model) -> BTreeSet<(u32, u32)> {
    let found = predicted(trace, model);
    if matches!(model, Model::Mc | Model::Rdit) {
        assert_eq!(found, Brute::new(trace, model).races(), "{model}");
    }
    let line = |event: usize| trace.tables.site(trace.events[event].site).line;
    { found.into_iter() }
        .map(|(a, b)| (line(a).min(line(b)), line(a).max(line(b))))
        .collect()
}

#[track_caller]
fn check(text: &str, expect: [&[(u32, u32)]; 4]) {
    let trace = parse(text);
    for (model, expect) in Model::ALL.into_iter().zip(expect) {
        let expect: BTreeSet<(u32, u32)> = expect.iter().copied().collect();
        assert_eq!(races(&trace, model), expect, "{model}");
    }
}

/// MultiRace, Figure 8: the locks happened to order the writes of Y. Happens-before misses the race, and so does
/// causally-precedes, because both critical sections write X; which of them comes first is free all the same.
#[test]
fn multirace_figure_8_is_missed_by_happens_before_and_found_by_mc() {
    check(
        "T1 w y @:1; T1 acq L; T1 w x @:2; T1 rel L
         T2 acq L; T2 w x @:3; T2 rel L; T2 w y @:4",
        [&[], &[], &[(1, 4)], &[(1, 4)]],
    );
}

/// Without the conflict in the critical sections, causally-precedes finds it too.
#[test]
fn critical_sections_without_a_conflict_do_not_order_for_cp() {
    check(
        "T1 w y @:1; T1 acq L; T1 w a @:2; T1 rel L
         T2 acq L; T2 w b @:3; T2 rel L; T2 w y @:4",
        [&[], &[(1, 4)], &[(1, 4)], &[(1, 4)]],
    );
}

/// Causally-precedes, rule (b): the sections of L have no conflict, but T1's write of y causally precedes what T2 receives from T3,
/// and each is in a section of L. So these sections keep their order, and with them the writes of x, of which
/// the second is in no section: no other rule orders them. (Random small traces hardly ever have this.)
#[test]
fn critical_sections_with_ordered_events_are_ordered_for_cp() {
    check(
        "T1 acq L; T1 acq M; T1 w y @:1; T1 rel M; T1 w x @:2; T1 rel L
         T3 acq M; T3 w y @:3; T3 rel M; T3 send C
         T2 acq L; T2 recv C; T2 rel L; T2 w x @:4",
        [&[], &[], &[(2, 4)], &[(2, 4)]],
    );
    // Without the message nothing in the sections is ordered.
    check(
        "T1 acq L; T1 acq M; T1 w y @:1; T1 rel M; T1 w x @:2; T1 rel L
         T3 acq M; T3 w y @:3; T3 rel M; T3 send C
         T2 acq L; T2 rel L; T2 w x @:4",
        [&[], &[(2, 4)], &[(2, 4)], &[(2, 4)]],
    );
}

/// A read that decides what its thread does must keep its value: MultiRace, Figure 7.
#[test]
fn what_a_read_depends_on_stays_before_it() {
    check(
        "T1 w x @:1; T1 acq L; T1 w f =1 @:2; T1 rel L
         T2 acq L; T2 r f =1 @:3; T2 rel L; T2 w x @:4",
        [&[], &[], &[], &[]],
    );
    // With another write of the same value it may come from there.
    check(
        "T3 acq L; T3 w f =1 @:5; T3 rel L
         T1 w x @:1; T1 acq L; T1 w f =1 @:2; T1 rel L
         T2 acq L; T2 r f =1 @:3; T2 rel L; T2 w x @:4",
        [&[], &[], &[(1, 4)], &[(1, 4)]],
    );
}

/// Figure 4.1: ad hoc synchronisation on y inside two missing methods. Caveat 0 is that ordering all missing methods would
/// lose the race where they have nothing in common.
#[test]
fn figure_4_1_and_caveat_0() {
    check(
        "T1 w x @:1; T1 call set {y}; T1 ret
         T2 call wait {y}; T2 ret; T2 r x @:2",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[]],
    );
    check(
        "T1 w x @:1; T1 call set {y}; T1 ret
         T2 call wait {z}; T2 ret; T2 r x @:2",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[(1, 2)]],
    );
}

/// Figure 4.2: six BarrierPairs; a → c → b through x, d → f → e through z.
#[test]
fn figure_4_2_orders_only_what_overlaps() {
    check(
        "T1 w u @:1; T1 call a {x}; T1 ret
         T3 w v @:2; T3 call d {z}; T3 ret
         T2 call c {x, y}; T2 ret; T2 w u @:3
         T4 call f {z}; T4 ret; T4 w v @:4
         T1 call b {x}; T1 ret
         T3 call e {z}; T3 ret
         T1 w w @:5
         T3 w w @:6",
        [
            &[(1, 3), (2, 4), (5, 6)],
            &[(1, 3), (2, 4), (5, 6)],
            &[(1, 3), (2, 4), (5, 6)],
            &[(5, 6)],
        ],
    );
}

/// Figure 4.3, caveat 1: two missing methods overlap in time, so the begin of one comes before the end of the other, too.
#[test]
fn figure_4_3_overlapping_barrier_pairs() {
    check(
        "T3 w y @:1; T1 call a {x}; T3 call d {x}; T1 ret; T1 r y @:2; T3 ret",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[]],
    );
    check(
        "T1 w y @:1; T1 call a {x}; T3 call d {x}; T1 ret; T3 ret; T3 r y @:2",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[]],
    );
}

/// Figure 4.4, caveat 2: events between begin and end are ordered with the other method's.
#[test]
fn figure_4_4_events_in_between() {
    check(
        "T1 call a {x}; T1 r y @:1; T3 call d {x}; T3 w y @:2; T3 ret; T1 ret",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[]],
    );
}

/// Figure 4.4 again, caveat 3: method d is traced, its spinning on x are ordinary reads.
#[test]
fn caveat_3_ordinary_events() {
    check(
        "T1 call a {x}; T1 r y @:1; T3 r x @:3; T3 w y @:2; T1 ret",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[]],
    );
}

/// Figure 4.5, caveat 4: c and e have nothing in common, but f comes between them.
#[test]
fn figure_4_5_transitive_orderings() {
    check(
        "T2 w x @:1; T2 call c {y}; T2 ret
         T4 call f {y, z}; T4 ret
         T3 call e {z}; T3 ret; T3 r x @:2",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[]],
    );
}

/// Caveat 5: a global variable that missing methods use directly has to be named with the call.
#[test]
fn caveat_5_globals_are_named_with_the_call() {
    check(
        "T1 w x @:1; T1 call a {p}; T1 ret
         T2 call b {q}; T2 ret; T2 r x @:2",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[(1, 2)]],
    );
    check(
        "T1 w x @:1; T1 call a {p, global}; T1 ret
         T2 call b {q, global}; T2 ret; T2 r x @:2",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[]],
    );
}

/// Beyond Algorithm 5: the call may have returned only because f was 1 when it began. For T1 to be about to write x in its critical
/// section, T2's must come first; then f is 2, though all writes of f are still before the call.
#[test]
fn what_a_call_finds_when_it_begins_stays() {
    check(
        "T1 acq L; T1 w f =2 @:1; T1 w x @:2; T1 rel L
         T2 acq L; T2 w f =1 @:3; T2 rel L
         T3 call look {f}; T3 ret; T3 w x @:4",
        [&[(2, 4)], &[(2, 4)], &[(2, 4)], &[]],
    );
}

/// Beyond Algorithm 5: while T1's call is open it may see T2's write of f and cause what T3 reads in g.
#[test]
fn a_call_can_pass_on_what_it_sees_while_it_is_open() {
    check(
        "T1 call serve {f, g}
         T2 w x @:1; T2 w f @:2
         T3 r g @:3; T3 r x @:4
         T1 ret",
        [&[(1, 4)], &[(1, 4)], &[(1, 4)], &[]],
    );
    // The accesses to g themselves still race, whatever the call does.
    check(
        "T1 call serve {f, g}
         T2 w g @:1
         T3 r g @:2
         T1 ret",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[(1, 2)]],
    );
}

/// §4.5, Figures 4.6 and 4.7. `isAlive` is native: its calls reach the thread objects t1 and t2, which ending threads change
/// (here by a call of the thread library). Lines are those of the program.
#[test]
fn account_has_one_race_and_only_rdit_says_so() {
    let account = "
        T0 w y =0 @:1; T0 w x1 =0 @:2; T0 w x2 =0 @:3; T0 fork T1; T0 fork T2
        T1 w x1 =100 @:4; T1 r y =0 @:5; T1 w y =100 @:5; T1 call exit {t1}; T1 ret; T1 end
        T2 w x2 =200 @:7; T2 r y =100 @:8; T2 w y =300 @:8; T2 call exit {t2}; T2 ret; T2 end
        T0 call isAlive {t1} @:11; T0 ret; T0 call isAlive {t2} @:11; T0 ret
        T0 r x1 =100 @:16; T0 r x2 =200 @:17; T0 r y =300 @:19";
    let false_alarms: &[(u32, u32)] = &[(4, 16), (5, 8), (5, 19), (7, 17), (8, 19)];
    let trace = parse(account);
    assert_eq!(races(&trace, Model::Rdit), BTreeSet::from([(5, 8)]));
    for model in [Model::Hb, Model::Cp, Model::Mc] {
        let found = races(&trace, model);
        let all: BTreeSet<_> = false_alarms.iter().copied().collect();
        assert!(found.contains(&(5, 8)) && found.len() > 1, "{model}: {found:?}");
        assert!(found.is_subset(&all), "{model}: {found:?}");
    }
}

/// A lock that is taken in traced code and in a missing method is named by its address.
#[test]
fn a_lock_that_a_call_reaches_orders_as_observed() {
    check(
        "sync L = 0x5000
         T1 w x @:1; T1 call unlock {0x5000:8}; T1 ret
         T2 acq L; T2 r x @:2; T2 rel L",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[]],
    );
}

/// Memory that is used again is no race, and a use just before it is freed is one.
#[test]
fn lives_of_memory() {
    check(
        "T1 alloc 0x1000:8; T1 w 0x1000 @:1; T1 acq L; T1 rel L; T2 acq L; T2 rel L; T2 free 0x1000:8 @:2
         T2 alloc 0x1000:8; T2 w 0x1000 @:3",
        [&[], &[(1, 2)], &[(1, 2)], &[(1, 2)]],
    );
}

/// A thread at a barrier waits for its round; receives wait for sends; both stay.
#[test]
fn barriers_and_messages_order() {
    let none: [&[(u32, u32)]; 4] = [&[], &[], &[], &[]];
    check(
        "T1 w x @:1; T1 enter B; T2 enter B; T1 leave B; T2 leave B; T2 w x @:2",
        none,
    );
    check("T1 w x @:1; T1 send C; T2 recv C; T2 w x @:2", none);
    check(
        "T1 acqr L; T1 w x @:1; T1 rel L; T2 acq L; T2 w x @:2; T2 rel L",
        none,
    );
    check(
        "T1 acqr L; T1 w x @:1; T1 rel L; T2 acqr L; T2 w x @:2; T2 rel L",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[(1, 2)]],
    );
}

/// A call that reaches everything (the byte at 2⁶³) may have synchronised by whatever is accessed or synchronised on; what nothing of it comes in
/// between still races.
#[test]
fn a_call_that_reaches_everything_is_ordered_with_everything() {
    // By an atomic of another block, as the recorded half of a hand-over.
    check(
        "T1 w x @:1; T1 store flag sc; T2 call f {0x8000000000000000:1}; T2 ret; T2 w x @:2; T2 w y @:3; T1 w y @:4",
        [&[(1, 2), (3, 4)], &[(1, 2), (3, 4)], &[(1, 2), (3, 4)], &[(3, 4)]],
    );
    // By a lock, by a call that reaches something, and not by one that reaches nothing.
    check(
        "T1 w x @:1; T1 acq L; T1 rel L; T2 call f {0x8000000000000000:1}; T2 ret; T2 w x @:2",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[]],
    );
    check(
        "T1 w a[1] @:1; T1 call g {z}; T1 ret; T2 call f {0x8000000000000000:1}; T2 ret; T2 w a[1] @:2",
        [&[(1, 2)], &[(1, 2)], &[(1, 2)], &[]],
    );
    // What it finds when it begins stays: T1's write of x is the last before it.
    check(
        "T2 w x @:1; T2 w y @:2; T1 w x @:3; T1 w y @:4; T3 call f {0x8000000000000000:1}; T3 ret; T3 w z @:5",
        [
            &[(1, 3), (2, 4)],
            &[(1, 3), (2, 4)],
            &[(1, 3), (2, 4)],
            &[(1, 3), (2, 4)],
        ],
    );
}

/// What was written before such a call is not known behind it, in later windows either.
#[test]
fn a_call_that_reaches_everything_leaves_no_value_known() {
    let text = "T3 w x =5; T3 call f {0x8000000000000000:1}; T3 ret; T3 w a; T3 w a; T3 w a;
        T1 w y; T1 acq L; T1 w x =7; T1 w x =5; T1 rel L; T2 acq L; T2 r x =5; T2 rel L; T2 w y; T3 w a; T3 w a";
    assert!(!common::predicted_in(&parse(text), Model::Rdit, 12).contains(&(6, 14)));
    let elsewhere = text.replace("0x8000000000000000:1", "b");
    assert!(common::predicted_in(&parse(&elsewhere), Model::Rdit, 12).contains(&(6, 14)));
}
