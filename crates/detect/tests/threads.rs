//! Thousands of threads: slots of threads that were waited for are used again, others never hide a race.

mod common;

use common::{analyse, spots};
use deadheat_detect::reference::Spot;
use deadheat_detect::select::{self, Choice, DetectorName, FilterName};
use deadheat_event::{Race, Stats, ThreadId};
use deadheat_trace::recipe::Trace;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Every exact detector alone, and the default one under each lossless filter.
fn choices() -> Vec<Choice> {
    let plain = DetectorName::ALL.iter().filter(|d| d.is_exact());
    let filters = [FilterName::Span, FilterName::TreeStrict];
    plain
        .map(|&detector| Choice {
            detector,
            ..Choice::default()
        })
        .chain(filters.map(|filter| Choice {
            filter,
            compress: true,
            ..Choice::default()
        }))
        .collect()
}

fn answers(trace: &Trace) -> impl Iterator<Item = (Choice, Vec<Race>, Stats)> {
    choices().into_iter().map(|choice| {
        let mut analysis = select::analysis(&choice).expect("these layers go together");
        let (races, stats) = analyse(&mut *analysis, trace);
        (choice, races, stats)
    })
}

fn text(lines: impl IntoIterator<Item = String>) -> Trace {
    common::trace(&Vec::from_iter(lines).join("\n"))
}

/// Threads 1 to 5,000, each with a number of its own, come and go one after the other.
#[test]
fn threads_that_are_waited_for_in_turn_keep_clocks_short() {
    let trace = text((1..=5_000).map(|id| {
        format!(
            "T0 fork T{id}; T{id} acq L; T{id} w x; T{id} rel L; T{id} w y; T{id} end; T0 join T{id}; T0 r y"
        )
    }));
    for (choice, races, stats) in answers(&trace) {
        assert_eq!(races, [], "{choice}");
        // With a slot for each, clocks alone would take 100 MB. Goldilocks has none: it keeps the name of every thread
        // that somebody may still wait for, and its update list up to the bound.
        assert!(stats.bytes < 2 << 20, "{choice}: {} bytes", stats.bytes);
    }
}

/// The numbers of the threads are told right too, although they share a slot.
#[test]
fn a_race_with_one_of_many_threads_of_a_slot_names_it() {
    let threads = (1..=5_000).map(|id| {
        let racing = if id % 1_000 == 1 {
            format!("T{id} w x{id};")
        } else {
            String::new()
        };
        format!("T0 fork T{id}; {racing} T{id} w y; T{id} end; T0 join T{id}")
    });
    // T9999 runs from the start and knows nobody.
    let late = (1..=5_000).step_by(1_000).map(|id| format!("T9999 w x{id}"));
    let trace = text(threads.chain(late));
    for (choice, races, _) in answers(&trace) {
        let sides: BTreeSet<_> = races
            .iter()
            .map(|race| (race.first.as_ref().map(|side| side.thread), race.second.thread))
            .collect();
        let expected = (1..=5_000)
            .step_by(1_000)
            .map(|id| (Some(ThreadId(id)), ThreadId(9_999)));
        assert_eq!(sides, expected.collect(), "{choice}");
    }
}

/// Nobody waits for them, so each of their writes races with the read at the end.
#[test]
fn detached_threads_that_have_ended_do_not_hide_a_race() {
    let forks = (1..=5_000).map(|id| format!("T0 fork T{id}; T{id} w x{id}; T{id} end"));
    let reads = (1..=5_000).map(|id| format!("T0 r x{id}"));
    let trace = text(forks.chain(reads));
    for (choice, races, _) in answers(&trace) {
        let racing: BTreeSet<Spot> = races.iter().flat_map(spots).collect();
        assert_eq!(racing.len(), 5_000 * 8, "{choice}");
        for (race, id) in races.iter().zip(1..) {
            let first = race.first.as_ref().map(|side| side.thread);
            assert_eq!(first, Some(ThreadId(id)), "{choice}");
        }
    }
}

#[test]
fn two_thousand_threads_at_once_race_where_they_should() {
    let mut lines = String::new();
    let all = 1..=2_000;
    for id in all.clone() {
        writeln!(lines, "T0 fork T{id}").expect("strings take everything");
    }
    for id in all.clone() {
        writeln!(lines, "T{id} acq L; T{id} w sum; T{id} rel L; T{id} w own{id}")
            .expect("strings take everything");
    }
    // Behind the lock of everybody before it, but not behind its neighbour's last write.
    lines.push_str("T2000 w own1000\n");
    for id in all {
        writeln!(lines, "T0 join T{id}; T0 r own{id}").expect("strings take everything");
    }
    let trace = common::trace(&lines);
    for (choice, races, _) in answers(&trace) {
        let sides: Vec<_> = races
            .iter()
            .map(|race| (race.first.as_ref().map(|side| side.thread), race.second.thread))
            .collect();
        // T0 waits for 1000 before 2000, whose write it then does not know.
        let expected = [
            (Some(ThreadId(1_000)), ThreadId(2_000)),
            (Some(ThreadId(2_000)), ThreadId(0)),
        ];
        assert_eq!(sides, expected, "{choice}");
    }
}
