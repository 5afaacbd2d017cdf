//! Predictions compared with all schedules of small random traces.

mod common;

use common::{Brute, Pairs, causally_precedes, predicted, realistic};
use deadheat_detect::reference::Reference;
use deadheat_predict::Model;
use deadheat_trace::recipe::{Config, Trace, traces};
use proptest::prelude::*;

#[allow(clippy::needless_pass_by_value)]
fn small(config: Config) -> Config {
    Config {
        threads: 3,
        variables: 2,
        locks: 2,
        min_choices: 4,
        max_choices: 22,
        ..config
    }
}

fn check(trace: &Trace, model: Model) -> Result<(), TestCaseError> {
    let expect = Brute::new(trace, model).races();
    let found = predicted(trace, model);
    prop_assert_eq!(&found, &expect, "{} {:?}", model, trace);
    Ok(())
}

fn cases(default: u32) -> ProptestConfig {
    match std::env::var("PROPTEST_CASES") {
        Ok(_) => ProptestConfig::default(),
        Err(_) => ProptestConfig::with_cases(default),
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn mc_finds_all_races_there_are_and_no_other(trace in traces(small(Config::classic()))) {
        check(&trace, Model::Mc)?;
    }

    #[test]
    fn mc_with_values(mut trace in traces(small(Config { values: true, ..Config::classic() }))) {
        check(&trace, Model::Mc)?;
        realistic(&mut trace);
        check(&trace, Model::Mc)?;
    }

    #[test]
    fn mc_with_everything_an_event_can_be(mut trace in traces(small(Config::all()))) {
        check(&trace, Model::Mc)?;
        realistic(&mut trace);
        check(&trace, Model::Mc)?;
    }

    #[test]
    fn rdit_finds_all_races_there_are_and_no_other(mut trace in traces(small(Config {
        calls: true,
        ..Config::classic()
    }))) {
        check(&trace, Model::Rdit)?;
        realistic(&mut trace);
        check(&trace, Model::Rdit)?;
    }

    #[test]
    fn rdit_with_everything_an_event_can_be(mut trace in traces(small(Config::all()))) {
        check(&trace, Model::Rdit)?;
        realistic(&mut trace);
        check(&trace, Model::Rdit)?;
    }
}

fn is_subset(
    trace: &Trace,
    model: Model,
    ordered: &dyn Fn(usize, usize) -> bool,
) -> Result<(), TestCaseError> {
    let all = Brute::new(trace, model).races();
    let expect: Pairs = all.into_iter().filter(|&(a, b)| !ordered(a, b)).collect();
    prop_assert_eq!(&predicted(trace, model), &expect, "{} {:?}", model, trace);
    Ok(())
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn hb_finds_the_races_that_happens_before_leaves_unordered(trace in traces(small(Config {
        calls: false,
        ..Config::all()
    }))) {
        let reference = Reference::new(&trace.events, &trace.tables);
        is_subset(&trace, Model::Hb, &|a, b| reference.happens_before(a, b))?;
    }

    #[test]
    fn cp_finds_the_races_that_causally_precedes_leaves_unordered(trace in traces(small(Config {
        rwlocks: true,
        messages: true,
        atomics: true,
        ..Config::classic()
    }))) {
        let reference = Reference::new(&trace.events, &trace.tables);
        let cp = causally_precedes(&trace, &reference);
        is_subset(&trace, Model::Cp, &|a, b| cp.contains(&(a, b)))?;
    }
}
