//! Random traces of threads that mostly keep to a locking discipline.
//!
//! In traces without any, nearly every place races at once, and then a filter can do no more harm there. Here races are
//! few, and it matters which of many accesses under a lock a filter drops.

use crate::common;
use deadheat_trace::recipe::Trace;
use proptest::collection::vec;
use proptest::prelude::*;
use std::fmt::Write;

/// What a thread does in one go.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Takes some of two locks (by bits), makes an access (0 none, 1 read, else write) at a site, and gives them back.
    Section {
        locks: u8,
        shared: bool,
        access: u8,
        site: u8,
    },
    Send,
    Receive,
}

fn steps() -> impl Strategy<Value = Vec<(u8, Step)>> {
    let section = (
        prop_oneof![Just(1u8), Just(2), Just(3), Just(1), Just(2), 0u8..4],
        prop::bool::weighted(0.2),
        0u8..4,
        1u8..4,
    );
    let step = prop_oneof![
        20 => section.prop_map(|(locks, shared, access, site)| Step::Section { locks, shared, access, site }),
        1 => Just(Step::Send),
        1 => Just(Step::Receive),
    ];
    vec((0u8..3, step), 3..40)
}

/// Traces in which every event has a site of its own (`unique`), or accesses share three sites.
pub fn traces(unique: bool) -> impl Strategy<Value = Trace> {
    steps().prop_map(move |steps| {
        let mut text = String::new();
        for (number, (thread, step)) in steps.into_iter().enumerate() {
            write(&mut text, thread, step, unique.then_some(number)).expect("a string takes anything");
        }
        common::trace(&text)
    })
}

fn write(text: &mut String, thread: u8, step: Step, number: Option<usize>) -> std::fmt::Result {
    let Step::Section {
        locks,
        shared,
        access,
        site,
    } = step
    else {
        let op = if matches!(step, Step::Send) {
            "send"
        } else {
            "recv"
        };
        return writeln!(text, "T{thread} {op} c");
    };
    let held = [1, 2].into_iter().filter(|lock| locks & lock != 0);
    for lock in held.clone() {
        writeln!(text, "T{thread} {} S{lock}", if shared { "acqr" } else { "acq" })?;
    }
    if access != 0 {
        let op = if access == 1 { "r" } else { "w" };
        let line = number.map_or(site.into(), |number| number + 10);
        writeln!(text, "T{thread} {op} x @:{line}")?;
    }
    for lock in held {
        writeln!(text, "T{thread} rel S{lock}")?;
    }
    Ok(())
}
