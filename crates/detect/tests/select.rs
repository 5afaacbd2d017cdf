//! Detectors and layers by name.

use deadheat_detect::select::{Choice, DetectorName, FilterName, analysis};

#[test]
fn every_name_finds_its_detector() {
    for &detector in DetectorName::ALL {
        assert_eq!(detector.as_str().parse(), Ok(detector));
    }
    for &filter in FilterName::ALL {
        assert_eq!(filter.as_str().parse(), Ok(filter));
    }
}

#[test]
fn a_wrong_name_is_answered_with_the_right_ones() {
    let error = "fastrack".parse::<DetectorName>().unwrap_err();
    assert!(error.to_string().contains("fasttrack, vc, djit"), "{error}");
}

fn choices() -> impl Iterator<Item = Choice> {
    let flags = [(false, false), (false, true), (true, false), (true, true)];
    let filters = move |detector| {
        FilterName::ALL.iter().flat_map(move |&filter| {
            flags
                .into_iter()
                .map(move |(compress, disable_after_race)| Choice {
                    detector,
                    filter,
                    compress,
                    disable_after_race,
                })
        })
    };
    DetectorName::ALL.iter().copied().flat_map(filters)
}

#[test]
fn every_choice_analyses_a_trace_or_says_why_not() {
    let text = "T1 w x; T2 w x; T1 w a[0..9]; T2 w a[5]; T1 w x";
    let (events, tables) = deadheat_trace::parse(text).unwrap();
    for choice in choices() {
        let mut races = 0;
        match analysis(&choice) {
            Ok(mut analysis) => {
                analysis.process(&events, &tables, &mut |_| races += 1);
                analysis.finish(&mut |_| races += 1);
                assert_eq!(analysis.stats().events, 5, "{choice}");
                // Two locations race. Whether the third race is seen too, detectors may decide.
                let expected = if choice.disable_after_race { 2..=2 } else { 2..=3 };
                let exact = choice.detector.is_exact() && choice.filter != FilterName::Tree;
                assert!(!exact || expected.contains(&races), "{choice}: {races}");
            }
            Err(error) => {
                assert!(choice.disable_after_race, "{choice}: {error}");
            }
        }
    }
}
