//! Every exact detector names the racing locations of the reference, and the first race of each.

mod common;

use common::exact;
use deadheat_detect::{djit::Djit, fasttrack::FastTrack, vc::Vc};
use deadheat_trace::recipe::{Config, Trace, traces};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

fn all_exact(trace: &Trace) -> Result<(), TestCaseError> {
    exact(Vc::default(), trace)?;
    exact(Djit::default(), trace)?;
    exact(FastTrack::default(), trace)
}

proptest! {
    #![proptest_config(common::cases(3000))]

    #[test]
    fn on_locks_forks_and_joins(trace in traces(Config::classic())) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_the_whole_vocabulary(trace in traces(Config::all())) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_atomics_and_fences(trace in traces(Config {
        atomics: true, volatiles: true, fences: true, mixed: true, subword: true, variables: 2, ..Config::accesses()
    })) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_read_write_locks_and_barriers(trace in traces(Config {
        mutexes: true, rwlocks: true, reentrant: true, barriers: true, barrier_overlap: true, locks: 2, ..Config::accesses()
    })) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_threads_whose_ids_are_used_again(trace in traces(Config {
        id_reuse: true, begin_end: true, messages: true, max_choices: 160, ..Config::classic()
    })) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_memory_that_comes_and_goes(trace in traces(Config {
        heap: true, subword: true, arrays: true, ..Config::classic()
    })) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_calls_into_untraced_code(trace in traces(Config {
        calls: true, subword: true, ..Config::classic()
    })) {
        all_exact(&trace)?;
    }
}
