//! What the tests of detectors share: running one over a trace, and comparing its answer with the reference.

#![allow(dead_code, reason = "each test binary uses its own part")]

use deadheat_detect::reference::{Reference, Spot};
use deadheat_detect::{Analysis, Driver};
use deadheat_event::{AccessKind, Detector, Event, Op, Place, Race, RaceKind, Stats};
use deadheat_trace::recipe::Trace;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::collections::BTreeMap;

/// How many random traces each property sees: `DEADHEAT_CASES` times the number that CI runs.
pub fn cases(cases: u32) -> ProptestConfig {
    let times = std::env::var("DEADHEAT_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    ProptestConfig::with_cases(cases.saturating_mul(times))
}

/// Parses the text format.
pub fn trace(text: &str) -> Trace {
    let (events, tables) = deadheat_trace::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Trace { events, tables }
}

/// All that an analysis finds in a trace, and its counters.
pub fn analyse(analysis: &mut dyn Analysis, trace: &Trace) -> (Vec<Race>, Stats) {
    let mut races = Vec::new();
    analysis.process(&trace.events, &trace.tables, &mut |race| races.push(race));
    analysis.finish(&mut |race| races.push(race));
    (races, analysis.stats())
}

/// All that a detector finds in a trace.
pub fn run(detector: impl Detector, trace: &Trace) -> Vec<Race> {
    analyse(&mut Driver::new(detector), trace).0
}

/// The bytes or elements of a race.
pub fn spots(race: &Race) -> Vec<Spot> {
    match race.place {
        Place::Memory { addr, size } => (addr.0..addr.0 + u64::from(size)).map(Spot::Byte).collect(),
        Place::Array { array, indices } => indices.iter().map(|i| Spot::Element(array, i)).collect(),
    }
}

/// The spots with a happens-before race, each with the event at which it was first reported.
pub fn first_reports(races: &[Race]) -> BTreeMap<Spot, usize> {
    let mut first = BTreeMap::new();
    for race in races.iter().filter(|race| race.kind == RaceKind::HappensBefore) {
        for spot in spots(race) {
            let event = first.entry(spot).or_insert(race.event as usize);
            *event = (*event).min(race.event as usize);
        }
    }
    first
}

/// The racing spots are exactly the reference's, the first race of each is seen at the same event, and both accesses of
/// every first report really race. Needs a trace in which every event has a site of its own.
pub fn exact(detector: impl Detector, trace: &Trace) -> Result<(), TestCaseError> {
    exact_races(&run(detector, trace), trace)
}

/// [`exact`] for findings made elsewhere.
pub fn exact_races(races: &[Race], trace: &Trace) -> Result<(), TestCaseError> {
    let reference = Reference::new(&trace.events, &trace.tables);
    prop_assert_eq!(first_reports(races), reference.first());
    real_pairs(races, trace, &reference, true)
}

/// The racing spots are exactly the reference's, and every reported pair really races. For layers that put checks off,
/// and so may see a race at a later event and with another partner.
pub fn same_spots(detector: impl Detector, trace: &Trace) -> Result<(), TestCaseError> {
    let reference = Reference::new(&trace.events, &trace.tables);
    same_spots_races(&run(detector, trace), trace, &reference)
}

/// [`same_spots`] for findings made elsewhere.
pub fn same_spots_races(races: &[Race], trace: &Trace, reference: &Reference) -> Result<(), TestCaseError> {
    let found: Vec<Spot> = first_reports(races).into_keys().collect();
    prop_assert_eq!(found, reference.races.keys().copied().collect::<Vec<_>>());
    real_pairs(races, trace, reference, false)
}

/// Whether the reported pair is in the reference, for each spot's first report (`in_order`: second after first).
fn real_pairs(
    races: &[Race],
    trace: &Trace,
    reference: &Reference,
    in_order: bool,
) -> Result<(), TestCaseError> {
    let mut seen = std::collections::HashSet::new();
    for race in races.iter().filter(|race| race.kind == RaceKind::HappensBefore) {
        let first = race
            .first
            .as_ref()
            .expect("happens-before races name both accesses");
        let (a, b) = (by_site(trace, first.site.0), by_site(trace, race.second.site.0));
        for (side, event) in [(first, a), (&race.second, b)] {
            prop_assert_eq!(side.thread, trace.events[event].thread, "thread of {:?}", race);
            prop_assert_eq!(
                (side.access, side.atomic),
                class(&trace.events[event]),
                "kind of {:?}",
                race
            );
        }
        for spot in spots(race) {
            if !seen.insert(spot) {
                continue;
            }
            let (early, late) = if in_order { (a, b) } else { (a.min(b), a.max(b)) };
            let real = reference.races.get(&spot).and_then(|events| events.get(&late));
            prop_assert!(
                real.is_some_and(|partners| partners.contains(&early)),
                "{spot:?}: events {early} and {late} do not race: {race:?}"
            );
        }
    }
    Ok(())
}

fn by_site(trace: &Trace, site: u32) -> usize {
    trace
        .events
        .iter()
        .position(|e| e.site.0 == site)
        .expect("a report names a site of the trace")
}

fn class(event: &Event) -> (AccessKind, bool) {
    match event.op {
        Op::Read { .. } | Op::ArrayRead { .. } => (AccessKind::Read, false),
        Op::Atomic { op, .. } if op.writes() => (AccessKind::Write, true),
        Op::Atomic { .. } => (AccessKind::Read, true),
        _ => (AccessKind::Write, false),
    }
}
