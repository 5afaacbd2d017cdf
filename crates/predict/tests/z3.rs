//! Z3 and the own solver find the same races. With the feature `z3` only.

#![cfg(feature = "z3")]

mod common;

use common::{Pairs, handed_on, parse, predicted_with, realistic};
use deadheat_predict::{Model, Options, SolverName};
use deadheat_trace::recipe::{Config, Trace, traces};
use proptest::prelude::*;

/// What a solver finds. Fails if the checker rejects a witness or a pair is not decided.
fn found(trace: &Trace, model: Model, solver: SolverName) -> Pairs {
    let options = Options {
        model,
        solver,
        window: trace.events.len(),
        ..Options::default()
    };
    predicted_with(trace, &options)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn finds_the_same_races_in_random_windows(mut trace in traces(Config {
        threads: 3,
        variables: 2,
        locks: 2,
        min_choices: 10,
        max_choices: 40,
        ..Config::all()
    })) {
        realistic(&mut trace);
        for model in [Model::Mc, Model::Rdit] {
            let own = found(&trace, model, SolverName::Order);
            prop_assert_eq!(found(&trace, model, SolverName::Z3), own, "{} {:?}", model, trace);
        }
    }
}

#[test]
fn finds_the_same_races_where_few_pairs_are_decided_without_a_solver() {
    for seed in 0..8 {
        let trace = parse(&handed_on(140, seed));
        let own = found(&trace, Model::Mc, SolverName::Order);
        assert!(!own.is_empty());
        assert_eq!(found(&trace, Model::Mc, SolverName::Z3), own, "{seed}");
    }
}
