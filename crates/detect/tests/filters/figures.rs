//! TREE's Figures 3.1 to 3.7 and the case study of §3.5. Lines of the traces are the numbers in circles.

use crate::common::{self, first_reports};
use crate::probe::{Probe, dropped};
use deadheat_detect::fasttrack::FastTrack;
use deadheat_detect::filter::{Label, Options, Span, Tree, TreeStrict};
use deadheat_event::{Detector, SiteId, SyncId};
use deadheat_trace::recipe::Trace;
use std::fmt::Write;

/// The numbers of the dropped events, counted from 1 as in the figures.
fn filtered<L: Detector>(layer: impl FnOnce(Probe) -> L, trace: &Trace) -> Vec<usize> {
    let dropped = dropped(layer, trace).0;
    (1..=dropped.len()).filter(|n| dropped[n - 1]).collect()
}

fn site(trace: &Trace, line: u32) -> SiteId {
    let place = trace.tables.sites.iter().position(|site| site.line == line);
    SiteId(place.expect("a line of the trace") as u32)
}

fn figure_3_1() -> Trace {
    let mut text = String::new();
    for _ in 0..10 {
        text += "T0 acq A; T0 w x @:1; T0 rel A\n";
    }
    common::trace(&(text + "T1 acq B; T1 w x @:2; T1 rel B"))
}

#[test]
fn figure_3_1_keeps_the_first_turn_of_the_loop_and_its_race() {
    let trace = figure_3_1();
    let turns: Vec<usize> = (1..10).map(|turn| 3 * turn + 2).collect();
    assert_eq!(filtered(Tree::new, &trace), turns);
    assert_eq!(filtered(TreeStrict::new, &trace), turns);
    assert_eq!(filtered(Span::new, &trace), [0; 0], "each unlock ends a span");

    let all = common::run(FastTrack::default(), &trace);
    assert!(!all.is_empty());
    assert_eq!(common::run(TreeStrict::new(FastTrack::default()), &trace), all);
    assert_eq!(common::run(Tree::new(FastTrack::default()), &trace), all);
}

/// The figure is a picture; this is what its text says: the read at (1) and the write at (2) are reached from (3) with
/// lock A in the first five turns, from (4) with lock B in the others, and from (5) without a lock.
#[test]
fn figure_3_2_keeps_one_access_for_each_lock() {
    let mut text = String::new();
    for turn in 0..10 {
        let lock = if turn < 5 { "A" } else { "B" };
        writeln!(
            text,
            "T0 r x @:1; T0 acq {lock}; T0 w x @:2; T0 rel {lock}; T0 w x @:2"
        )
        .unwrap();
    }
    let trace = common::trace(&text);
    let dropped = dropped(Tree::new, &trace).0;
    for (turn, events) in dropped.chunks(5).enumerate() {
        let (read, locked, unlocked) = (events[0], events[2], events[4]);
        assert_eq!(read, turn != 0, "read in turn {turn}");
        assert_eq!(
            locked,
            turn != 0 && turn != 5,
            "write under a lock in turn {turn}"
        );
        assert_eq!(unlocked, turn != 0, "write without a lock in turn {turn}");
    }
}

/// T0 reads x at (1), forks T1 to T9 in turn and writes x at (3) under lock A after each fork. The children write x at
/// (5), the first four under A.
fn figure_3_3() -> Trace {
    let mut text = String::new();
    for child in 1..10 {
        writeln!(
            text,
            "T0 r x @:1; T0 fork T{child}; T0 acq A; T0 w x @:3; T0 rel A"
        )
        .unwrap();
        if child < 5 {
            writeln!(text, "T{child} acq A; T{child} w x @:5; T{child} rel A").unwrap();
        } else {
            writeln!(text, "T{child} w x @:5").unwrap();
        }
    }
    common::trace(&text)
}

#[test]
fn figure_3_3_keeps_two_threads_with_the_lock_and_two_without() {
    let trace = figure_3_3();
    let dropped = dropped(Tree::new, &trace).0;
    let children: Vec<u32> = (0..dropped.len())
        .filter(|i| dropped[*i])
        .map(|i| trace.events[i].thread.0)
        .collect();
    // The text calls T6 to T9 redundant to T5; but a node's stack holds two threads, so T6 passes. T0's context grows
    // with every fork, so that none of its accesses is dropped, although the text would ignore those after turn two.
    assert_eq!(children, [3, 4, 7, 8, 9]);
}

#[test]
fn figure_3_3_has_nothing_redundant_if_the_start_of_a_thread_is_a_message() {
    let starts = Options {
        starts: true,
        ..Options::default()
    };
    assert_eq!(
        filtered(|probe| Tree::with_options(probe, starts), &figure_3_3()),
        [0; 0]
    );
}

pub fn figure_3_4() -> Trace {
    let mut text = "T0 fork T1; T0 fork T2; T0 fork T3\n".to_owned();
    for i in 1..4 {
        writeln!(text, "T0 acq S{i}; T0 w x @:1; T0 rel S{i}; T0 r x @:2").unwrap();
    }
    for i in 1..4 {
        writeln!(text, "T{i} acq S{i}; T{i} w x @:3; T{i} rel S{i}; T{i} w x @:4").unwrap();
    }
    common::trace(&text)
}

#[test]
fn figure_3_4_drops_the_repeated_reads_and_the_third_thread() {
    assert_eq!(filtered(Tree::new, &figure_3_4()), [11, 15, 27]);
}

#[test]
fn figure_3_6_is_what_the_four_sites_remember() {
    let trace = figure_3_4();
    let (_, driver) = dropped(Tree::new, &trace);
    let history = |line| {
        let nodes = driver.detector().history(site(&trace, line));
        let show = |path: Vec<Label>| path.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        nodes
            .into_iter()
            .map(|(path, threads)| format!("{}: {threads:?}", show(path)))
            .collect::<Vec<_>>()
    };
    let forks = "!g1 !g2 !g3";
    let locks = [1, 2, 3].map(SyncId);
    assert_eq!(history(1), locks.map(|lock| format!("{forks} {lock}: [0]")));
    assert_eq!(history(2), [format!("{forks}: [0]")]);
    assert_eq!(history(3), locks.map(|lock| format!("{lock}: [{}]", lock.0)));
    assert_eq!(history(4), [": [1, 2]"]);
}

/// Five sweeps over an array without synchronisation, with the index variable j written in each turn.
#[test]
fn figure_3_7_is_one_span_with_one_access_for_each_place() {
    let turn: String = (0..20).map(|j| format!("T0 w a[{j}]; T0 w j\n")).collect();
    let trace = common::trace(&turn.repeat(5));
    for dropped in [
        dropped(Span::new, &trace).0,
        dropped(TreeStrict::new, &trace).0,
        dropped(Tree::new, &trace).0,
    ] {
        let passed = dropped.iter().filter(|dropped| !**dropped).count();
        assert_eq!(passed, 21, "20 elements and j");
    }
}

#[test]
fn span_keeps_the_race_of_a_sweep_that_is_checked_once() {
    let sweep = |thread| format!("{thread} w a[0..99]\n{thread} r a[5..50:5]\n{thread} w a[7]\n");
    let trace = common::trace(&format!("{}{}", sweep("T0").repeat(3), sweep("T1").repeat(3)));
    let dropped = dropped(Span::new, &trace).0;
    let passed: Vec<usize> = (0..dropped.len()).filter(|i| !dropped[*i]).collect();
    assert_eq!(passed, [0, 9], "what the whole range covers is dropped");
    assert_eq!(
        first_reports(&common::run(Span::new(FastTrack::default()), &trace)),
        first_reports(&common::run(FastTrack::default(), &trace)),
    );
}
