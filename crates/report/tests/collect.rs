//! Races against the obvious way to merge them: compare every pair.

use deadheat_event::{
    AccessKind, Addr, NameId, Place, Race, RaceKind, Rank, Side, Site, SiteId, Tables, ThreadId,
};
use deadheat_report::{Baseline, Collector, Labels, Report, Summary, json};
use proptest::prelude::*;

const LABELS: Labels<'static> = Labels {
    detector: "d",
    again: "show {id}",
};

fn side() -> impl Strategy<Value = Side> {
    (0..4_u32, 0..4_u32, any::<bool>(), any::<bool>()).prop_map(|(thread, site, write, atomic)| Side {
        thread: ThreadId(thread),
        access: if write {
            AccessKind::Write
        } else {
            AccessKind::Read
        },
        atomic,
        site: SiteId(site),
        locks: Vec::new(),
    })
}

fn race() -> impl Strategy<Value = Race> {
    let kind = prop_oneof![
        Just(RaceKind::HappensBefore),
        Just(RaceKind::Discipline(Rank::Low)),
        Just(RaceKind::Discipline(Rank::High)),
    ];
    (kind, 0..3_u64, prop::option::of(side()), side(), 0..100_u64).prop_map(
        |(kind, addr, first, second, event)| Race {
            kind,
            place: Place::Memory {
                addr: Addr(addr * 8),
                size: 8,
            },
            first,
            second,
            event,
        },
    )
}

/// Sites 1 to 3 are lines 1, 2 and again 2: different numbers may mean the same line.
fn tables() -> Tables {
    let site = |line| Site {
        file: NameId(1),
        line,
        ..Site::default()
    };
    Tables {
        strings: vec![String::new(), "a.c".to_owned()],
        sites: vec![Site::default(), site(1), site(2), site(2)],
        ..Tables::default()
    }
}

/// Whether two races should be one finding, said without keys and hashes.
fn same(a: &Race, b: &Race) -> bool {
    let line = |side: &Side| [0, 1, 2, 2][side.site.index()];
    let end = |side: &Side| (line(side), side.access, side.atomic);
    let ends = |race: &Race| (race.first.as_ref().map(end), Some(end(&race.second)));
    let ((a1, a2), (b1, b2)) = (ends(a), ends(b));
    let known = [a1, a2].into_iter().flatten().all(|(line, ..)| line != 0);
    ((a1, a2) == (b1, b2) || (a1, a2) == (b2, b1)) && (known || a.place == b.place)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn findings_are_the_classes_of_races_that_are_the_same(races in prop::collection::vec(race(), 0..30)) {
        let mut collector = Collector::new();
        for race in &races {
            collector.add(race.clone());
        }
        let findings = collector.findings(&tables(), LABELS);
        let classes = races.iter().enumerate().filter(|(i, race)| !races[..*i].iter().any(|earlier| same(earlier, race)));
        prop_assert_eq!(findings.len(), classes.count());
        prop_assert_eq!(findings.iter().map(|finding| finding.count).sum::<u64>(), races.len() as u64);
        prop_assert_eq!(collector.occurrences(), races.len() as u64);
        // A class is confirmed if any of its races is.
        let confirmed = races.iter().filter(|race| race.kind == RaceKind::HappensBefore);
        let mut seen: Vec<&Race> = Vec::new();
        for race in confirmed {
            if !seen.iter().any(|earlier| same(earlier, race)) {
                seen.push(race);
            }
        }
        prop_assert_eq!(findings.iter().filter(|finding| finding.confirmed).count(), seen.len());
        prop_assert!(findings.is_sorted_by(|a, b| a.confirmed >= b.confirmed));
        for finding in &findings {
            prop_assert_eq!(&finding.again, &format!("show {}", finding.id));
        }
    }

    #[test]
    fn a_json_report_comes_back_as_it_was_and_knows_its_findings(races in prop::collection::vec(race(), 0..10)) {
        let mut collector = Collector::new();
        races.into_iter().for_each(|race| { collector.add(race); });
        let report = Report {
            tool: "deadheat".to_owned(),
            version: "0".to_owned(),
            command: "c".to_owned(),
            races: collector.findings(&tables(), LABELS),
            summary: Summary { seconds: Some(0.5), ..Summary::default() },
        };
        let mut text = Vec::new();
        json::write(&report, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Report>(&text).unwrap(), &report);
        let baseline = Baseline::parse(&text).unwrap();
        prop_assert!(report.races.iter().all(|finding| baseline.has(finding)));
    }

    #[test]
    fn no_text_makes_the_baseline_panic(text in "\\PC*") {
        let _ = Baseline::parse(&text);
    }
}
