//! Layers and detectors together, as `select` builds them: every exact combination names the racing locations of the
//! reference on the whole vocabulary, and the others keep what they promise.

mod common;

use common::{analyse, exact_races, first_reports, same_spots_races};
use deadheat_detect::reference::Reference;
use deadheat_detect::select::{self, Choice, DetectorName, FilterName};
use deadheat_event::Race;
use deadheat_trace::recipe::{Config, Trace, traces};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

fn races(choice: &Choice, trace: &Trace) -> Vec<Race> {
    let mut analysis = select::analysis(choice).unwrap_or_else(|e| panic!("{choice}: {e}"));
    analyse(&mut *analysis, trace).0
}

/// The layers that lose no racing location of an exact detector.
fn lossless(detector: DetectorName) -> impl Iterator<Item = Choice> {
    let layers = [
        (FilterName::None, false),
        (FilterName::None, true),
        (FilterName::Span, false),
        (FilterName::TreeStrict, false),
    ];
    layers.into_iter().flat_map(move |(filter, disable_after_race)| {
        [false, true].map(|compress| Choice {
            detector,
            filter,
            compress,
            disable_after_race,
        })
    })
}

fn check(choice: &Choice, trace: &Trace, reference: &Reference) -> Result<(), TestCaseError> {
    let races = races(choice, trace);
    let checked = if choice.compress {
        same_spots_races(&races, trace, reference)
    } else {
        exact_races(&races, trace)
    };
    checked.map_err(|e| TestCaseError::fail(format!("{choice}: {e}")))
}

fn all_lossless(trace: &Trace) -> Result<(), TestCaseError> {
    let reference = Reference::new(&trace.events, &trace.tables);
    for detector in DetectorName::ALL.iter().copied().filter(|d| d.is_exact()) {
        for choice in lossless(detector) {
            check(&choice, trace, &reference)?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(common::cases(1000))]

    #[test]
    fn exact_on_the_whole_vocabulary(trace in traces(Config::all())) {
        all_lossless(&trace)?;
    }

    #[test]
    fn exact_where_arrays_and_locks_meet(trace in traces(Config {
        arrays: true, rwlocks: true, heap: true, max_choices: 160, ..Config::classic()
    })) {
        all_lossless(&trace)?;
    }

    #[test]
    fn compressed_multirace_confirms_exactly_the_racing_spots(trace in traces(Config::all())) {
        let reference = Reference::new(&trace.events, &trace.tables);
        for choice in lossless(DetectorName::MultiRace).filter(|c| c.filter == FilterName::None && !c.disable_after_race) {
            let found: Vec<_> = first_reports(&races(&choice, &trace)).into_keys().collect();
            let real: Vec<_> = reference.races.keys().copied().collect();
            prop_assert_eq!(found, real, "{}", choice);
        }
    }

    /// Detectors of the locking discipline under every layer: no claim of happens-before, and both sides of the
    /// finding are accesses of the trace.
    #[test]
    fn discipline_under_every_layer_names_accesses_of_the_trace(trace in traces(Config::all())) {
        for detector in [DetectorName::Eraser, DetectorName::LockSet] {
            for choice in lossless(detector) {
                let races = races(&choice, &trace);
                prop_assert!(first_reports(&races).is_empty(), "{}", choice);
                for race in &races {
                    for side in race.first.iter().chain([&race.second]) {
                        let event = trace.events.iter().find(|e| e.site == side.site);
                        prop_assert!(event.is_some_and(|e| e.thread == side.thread), "{}: {:?}", choice, race);
                    }
                }
            }
        }
    }
}

#[test]
fn every_detector_names_both_accesses_and_where_they_are() {
    let texts = [
        "T1 w x @a.c:1; T2 w x @b.c:2",
        "T1 w a[0..9] @a.c:1; T2 w a[3..5] @b.c:2",
    ];
    for text in texts {
        let trace = common::trace(text);
        for &detector in DetectorName::ALL {
            if matches!(detector, DetectorName::Count | DetectorName::Empty) {
                continue;
            }
            for choice in lossless(detector) {
                let races = races(&choice, &trace);
                assert!(!races.is_empty(), "{choice}: {text}");
                for race in races {
                    let first = race
                        .first
                        .unwrap_or_else(|| panic!("{choice} names one access of {text}"));
                    let mut sides = [(first.thread, first.site), (race.second.thread, race.second.site)];
                    sides.sort_unstable();
                    let expected = [0, 1].map(|n: usize| (trace.events[n].thread, trace.events[n].site));
                    assert_eq!(sides, expected, "{choice}: {text}");
                }
            }
        }
    }
}
