//! Generated traces have exactly the races that were asked for, and every exact analysis finds them.

mod common;

use common::first_reports;
use deadheat_detect::reference::Spot;
use deadheat_detect::select::{self, Choice, DetectorName, FilterName};
use deadheat_event::{Event, Tables};
use deadheat_trace::Source;
use deadheat_trace::generate::{ArrayAccess, Config, Generator, Pattern};
use deadheat_trace::recipe::Trace;

fn generate(config: &Config) -> Trace {
    let mut source = Generator::new(config);
    let (mut events, mut block): (Vec<Event>, Vec<Event>) = Default::default();
    while source.next_block(&mut block).expect("a generator does not fail") {
        events.extend_from_slice(&block);
    }
    let tables: Tables = source.tables().clone();
    Trace { events, tables }
}

/// The variables (of eight bytes) that an analysis finds racing.
fn racing_variables(choice: Choice, trace: &Trace) -> usize {
    let mut analysis = select::analysis(&choice).expect("these layers go with the detector");
    let (races, _) = common::analyse(&mut *analysis, trace);
    let mut variables: Vec<_> = first_reports(&races)
        .into_keys()
        .map(|spot| match spot {
            Spot::Byte(addr) => (0, addr / 8),
            Spot::Element(array, index) => (u64::from(array.0) + 1, index),
        })
        .collect();
    variables.sort_unstable();
    variables.dedup();
    variables.len()
}

fn check(config: &Config) {
    let trace = generate(config);
    for detector in DetectorName::ALL.iter().copied().filter(|d| d.is_exact()) {
        for filter in [FilterName::None, FilterName::Span, FilterName::TreeStrict] {
            for compress in [false, true] {
                let choice = Choice {
                    detector,
                    filter,
                    compress,
                    ..Choice::default()
                };
                let found = racing_variables(choice, &trace);
                assert_eq!(
                    found as u64, config.races,
                    "{choice} on {} with seed {}",
                    config.pattern, config.seed
                );
            }
        }
    }
}

#[test]
fn every_pattern_has_the_races_asked_for_and_no_other() {
    for pattern in Pattern::ALL {
        for (seed, races) in [(1, 0), (2, 7)] {
            for array_access in [ArrayAccess::Ranges, ArrayAccess::Elements] {
                check(&Config {
                    pattern,
                    seed,
                    races,
                    array_access,
                    events: 6_000,
                    array_len: 1_000,
                    id_reuse: true,
                    ..Config::default()
                });
            }
        }
    }
}
