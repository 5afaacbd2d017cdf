//! The proof of the placement: that checks which were left out, merged or moved find what all checks find, and nothing else.
//!
//! `generated` builds random programs ([`generate`]) of which it is known what races, with every `--placement` and at several
//! levels of optimisation, and compares what is reported with that. `DEADHEAT_CASES` is how many times as many as in CI;
//! `DEADHEAT_SEED` and `DEADHEAT_SCENARIO` make one again, which the message of a failure says.
//!
//! `logged` has programs log their accesses and checks, and [`verify`] goes through the logs: generated programs, test programs, and
//! workloads (`DEADHEAT_WORKLOADS=all` for all that are in C).

mod action;
mod generate;
mod generated;
#[path = "../cli/harness.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod harness;
mod logged;
mod truth;
mod verify;
