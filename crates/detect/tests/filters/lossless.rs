//! The promises of the filters, on random traces.

use crate::common::{cases, exact, first_reports, run, trace};
use crate::probe::{Probe, dropped, is_access};
use crate::{figures, sections};
use deadheat_detect::filter::{Options, Span, Tree, TreeStrict};
use deadheat_detect::reference::{Reference, Spot};
use deadheat_detect::{djit::Djit, fasttrack::FastTrack, vc::Vc};
use deadheat_event::{Detector, Event, Mode, Op, Order, SiteId, SyncId, ThreadId};
use deadheat_trace::recipe::{Config, Trace, traces};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

/// Few threads, locks and variables, so that accesses repeat.
fn crowded() -> Config {
    Config {
        threads: 3,
        roots: 3,
        locks: 2,
        variables: 2,
        min_choices: 30,
        max_choices: 140,
        ..Config::classic()
    }
}

fn span_and_strict(trace: &Trace) -> Result<(), TestCaseError> {
    exact(Span::new(FastTrack::default()), trace)?;
    exact(TreeStrict::new(FastTrack::default()), trace)?;
    let first = Reference::new(&trace.events, &trace.tables).first();
    for races in [
        run(Span::new(Vc::default()), trace),
        run(Span::new(Djit::default()), trace),
        run(TreeStrict::new(Vc::default()), trace),
        run(TreeStrict::new(Djit::default()), trace),
        run(Span::new(TreeStrict::new(FastTrack::default())), trace),
    ] {
        prop_assert_eq!(first_reports(&races), first.clone());
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn span_and_tree_strict_keep_the_first_races_of_critical_sections(trace in sections::traces(true)) {
        span_and_strict(&trace)?;
    }

    #[test]
    fn span_and_tree_strict_keep_the_first_races_with_locks_and_forks(trace in traces(crowded())) {
        span_and_strict(&trace)?;
    }

    #[test]
    fn span_and_tree_strict_keep_the_first_races_with_the_whole_vocabulary(trace in traces(Config::all())) {
        span_and_strict(&trace)?;
    }

    #[test]
    fn span_and_tree_strict_keep_the_first_races_with_atomics(trace in traces(Config {
        atomics: true, volatiles: true, fences: true, mixed: true, subword: true, ..crowded()
    })) {
        span_and_strict(&trace)?;
    }

    #[test]
    fn span_and_tree_strict_keep_the_first_races_with_read_write_locks(trace in traces(Config {
        rwlocks: true, variables: 1, ..crowded()
    })) {
        span_and_strict(&trace)?;
    }

    #[test]
    fn span_and_tree_strict_keep_the_first_races_of_memory_that_comes_and_goes(trace in traces(Config {
        heap: true, subword: true, arrays: true, id_reuse: true, begin_end: true, ..crowded()
    })) {
        span_and_strict(&trace)?;
    }
}

#[test]
fn tree_strict_drops_more_than_span_and_both_drop_something() {
    let (accesses, span, strict) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let count =
        |cell: &Cell<usize>, drops: Vec<bool>| cell.set(cell.get() + drops.iter().filter(|d| **d).count());
    let config = Config {
        variables: 4,
        ..crowded()
    };
    TestRunner::deterministic()
        .run(&traces(config), |trace| {
            count(&accesses, trace.events.iter().map(is_access).collect());
            count(&span, dropped(Span::new, &trace).0);
            count(&strict, dropped(TreeStrict::new, &trace).0);
            Ok(())
        })
        .unwrap();
    let (accesses, span, strict) = (accesses.get(), span.get(), strict.get());
    assert!(span * 4 > accesses, "{span} of {accesses}");
    assert!(strict * 50 > span * 51, "{strict} against {span} of {accesses}");
}

/// A race as TREE counts them: a place and two sites.
type Pair = (Spot, SiteId, SiteId);

/// The racing pairs of sites among the events that are kept: different threads, conflicting, no common lock, and
/// unordered by what `relaxed` has left of the trace.
fn pairs(trace: &Trace, relaxed: &[Event], kept: impl Fn(usize) -> bool) -> BTreeSet<Pair> {
    let reference = Reference::new(relaxed, &trace.tables);
    let locks = locksets(&trace.events);
    let mut pairs = BTreeSet::new();
    for (spot, events) in &reference.races {
        for (&late, early) in events {
            for &early in early {
                if kept(early) && kept(late) && !share(&locks[early], &locks[late]) {
                    let sites = [early, late].map(|event| trace.events[event].site);
                    pairs.insert((*spot, sites[0].min(sites[1]), sites[0].max(sites[1])));
                }
            }
        }
    }
    pairs
}

/// The locks held at each event, with how they are held.
fn locksets(events: &[Event]) -> Vec<Vec<(SyncId, Mode)>> {
    let mut held: HashMap<ThreadId, Vec<(SyncId, Mode)>> = HashMap::new();
    let mut locksets = Vec::new();
    for event in events {
        let held = held.entry(event.thread).or_default();
        match event.op {
            Op::Acquire { lock, mode } => held.push((lock, mode)),
            Op::Release { lock } => {
                let last = held
                    .iter()
                    .rposition(|(l, _)| *l == lock)
                    .expect("a well-formed trace");
                held.remove(last);
            }
            _ => {}
        }
        locksets.push(held.clone());
    }
    locksets
}

fn share(a: &[(SyncId, Mode)], b: &[(SyncId, Mode)]) -> bool {
    a.iter().any(|(lock, mode)| {
        b.iter()
            .any(|(l, m)| l == lock && (*mode == Mode::Exclusive || *m == Mode::Exclusive))
    })
}

/// The trace without the order that locks make. `Begin` does nothing and keeps the numbers of the events.
fn without_locks(events: &[Event]) -> Vec<Event> {
    events
        .iter()
        .map(|event| match event.op {
            Op::Acquire { .. } | Op::Release { .. } => Event {
                op: Op::Begin,
                ..*event
            },
            _ => *event,
        })
        .collect()
}

/// The trace without any order between threads.
fn without_order(events: &[Event]) -> Vec<Event> {
    let alone = |event: &Event| match event.op {
        Op::Atomic {
            addr,
            size,
            op,
            value,
            ..
        } => {
            let order = Order::Relaxed;
            Op::Atomic {
                addr,
                size,
                op,
                order,
                value,
            }
        }
        op if is_access(event) || matches!(op, Op::Alloc { .. } | Op::NewArray { .. }) => op,
        _ => Op::Begin,
    };
    events
        .iter()
        .map(|event| Event {
            op: alone(event),
            ..*event
        })
        .collect()
}

/// The pairs that a filter keeps are all there are, and it drops a good share of the accesses.
fn keeps_pairs<L: Detector>(
    traces: impl Strategy<Value = Trace>,
    layer: impl Fn(Probe) -> L,
    relax: impl Fn(&[Event]) -> Vec<Event>,
    least_percent: usize,
) {
    let (accesses, drops) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..cases(1500)
    });
    let result = runner.run(&traces, |trace| {
        let dropped = dropped(&layer, &trace).0;
        accesses.set(accesses.get() + trace.events.iter().filter(|e| is_access(e)).count());
        drops.set(drops.get() + dropped.iter().filter(|d| **d).count());
        let relaxed = relax(&trace.events);
        let all = pairs(&trace, &relaxed, |_| true);
        prop_assert_eq!(pairs(&trace, &relaxed, |event| !dropped[event]), all);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let percent = 100 * drops.get() / accesses.get();
    assert!(percent >= least_percent, "only {percent}% were dropped");
}

/// Traces whose accesses share two sites.
fn few_sites(config: Config) -> impl Strategy<Value = Trace> {
    traces(config).prop_map(|mut trace| {
        for (i, event) in trace.events.iter_mut().enumerate() {
            event.site = SiteId(1 + i as u32 % 2);
        }
        trace
    })
}

/// Locks, forks and joins.
fn locks() -> Config {
    Config {
        variables: 1,
        rwlocks: true,
        ..crowded()
    }
}

/// What else orders threads.
fn messages() -> Config {
    Config {
        messages: true,
        barriers: true,
        min_choices: 100,
        max_choices: 250,
        ..locks()
    }
}

/// Atomics, and memory that comes and goes.
fn memory() -> Config {
    Config {
        atomics: true,
        volatiles: true,
        mixed: true,
        heap: true,
        arrays: true,
        min_choices: 100,
        max_choices: 250,
        ..locks()
    }
}

#[test]
fn tree_keeps_the_pairs_of_sites_that_race_by_locksets() {
    keeps_pairs(few_sites(locks()), Tree::new, without_order, 25);
    keeps_pairs(sections::traces(false), Tree::new, without_order, 5);
    keeps_pairs(few_sites(messages()), Tree::new, without_order, 10);
    keeps_pairs(few_sites(memory()), Tree::new, without_order, 3);
}

fn with_starts(inner: Probe) -> Tree<Probe> {
    let options = Options {
        starts: true,
        ..Options::default()
    };
    Tree::with_options(inner, options)
}

#[test]
fn tree_with_starts_keeps_the_pairs_of_sites_that_race_for_a_hybrid() {
    keeps_pairs(few_sites(locks()), with_starts, without_locks, 20);
    keeps_pairs(sections::traces(false), with_starts, without_locks, 5);
    keeps_pairs(few_sites(messages()), with_starts, without_locks, 10);
    keeps_pairs(few_sites(memory()), with_starts, without_locks, 3);
}

/// §3.3 counts six pairs of lines in Figure 3.4. Its list of events has none of lines 3 and 4, which race too: one thread
/// writes under its own lock at 3, another without any at 4.
#[test]
fn figure_3_4_keeps_all_its_pairs_of_lines() {
    let trace = figures::figure_3_4();
    let relaxed = without_locks(&trace.events);
    let lines = |kept: &dyn Fn(usize) -> bool| -> Vec<(u32, u32)> {
        let line = |site| trace.tables.site(site).line;
        let pairs = pairs(&trace, &relaxed, kept).into_iter();
        let lines: BTreeSet<_> = pairs.map(|(_, a, b)| (line(a), line(b))).collect();
        lines.into_iter().collect()
    };
    let expected = [(1, 3), (1, 4), (2, 3), (2, 4), (3, 3), (3, 4), (4, 4)];
    assert_eq!(lines(&|_| true), expected);
    let dropped = dropped(Tree::new, &trace).0;
    assert_eq!(lines(&|event| !dropped[event]), expected);
}

/// The gap in the proof of Theorem 3.3.1: the three writers are in the same context, but do not have the same future.
#[test]
fn tree_loses_a_hybrid_race_with_a_thread_that_is_not_waited_for() {
    let trace = trace(
        "M fork A; M fork B; M fork C
         A w x @:1; B w x @:1; C w x @:1
         M join A; M join B; M r x @:2",
    );
    let relaxed = without_locks(&trace.events);
    let kept = |dropped: Vec<bool>| pairs(&trace, &relaxed, |event| !dropped[event]);
    let all = pairs(&trace, &relaxed, |_| true);
    let (write, read) = (trace.events[3].site, trace.events[8].site);
    assert!(all.iter().any(|(_, a, b)| (*a, *b) == (write, read)));
    assert_eq!(kept(dropped(with_starts, &trace).0), all);
    assert!(
        kept(dropped(Tree::new, &trace).0)
            .iter()
            .all(|(_, a, b)| (*a, *b) == (write, write))
    );
}

#[test]
fn a_small_history_only_lets_more_pass() {
    let tiny = |inner| {
        let options = Options {
            locations: 4,
            contexts: 3,
            starts: true,
        };
        Tree::with_options(inner, options)
    };
    keeps_pairs(few_sites(locks()), tiny, without_locks, 5);
}
