//! What deadheat counts, in a run of its own: of a program that was built to count its accesses, and with `count=1`, which
//! makes every check a call. Such a run takes several times as long, so it is not timed.

use super::build::{Builder, Version};
use super::measure::{Meter, Run};
use super::results::Outcome;
use super::tools::{Build, Tool};
use super::workload::Workload;
use anyhow::Result;
use deadheat_abi::options::VARIABLE;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// What tables are made of: the runtime's name, and what it means.
pub const NAMES: [(&str, &str); 7] = [
    (
        "accesses",
        "plain accesses that instrumented code makes to memory that another thread could see",
    ),
    ("checks", "those of them that are checked"),
    (
        "checks-while-alone",
        "checks made while no other thread existed, which end at once",
    ),
    (
        "race-checks",
        "checks that the thread had not made on the same bytes in the same epoch",
    ),
    ("atomics", "atomic operations"),
    ("shadow-bytes", "memory of the shadow at the end"),
    (
        "shadow-states",
        "states at the end: of eight bytes each, or, where the shadow is compressed, of as many as share one",
    ),
];

/// Runs a workload as `tool` does, built to count. The inner error says why it could not.
pub fn count(
    tool: &Tool,
    build: &Build,
    workload: &Workload,
    arguments: [OsString; 2],
    builder: &Builder,
    meter: &Meter,
) -> Result<Result<BTreeMap<String, u64>, String>> {
    let program = match builder.program(workload, build, Version::Clean) {
        Ok(program) => program,
        Err(error) => return Ok(Err(format!("it cannot be built to count: {error:#}"))),
    };
    let mut options = "stats=1:count=1".to_owned();
    for (_, more) in tool.environment.iter().filter(|(name, _)| *name == VARIABLE) {
        options = format!("{options}:{more}");
    }
    let mut run = Run {
        command: vec![program.into()],
        environment: vec![(VARIABLE.to_owned(), options)],
    };
    run.command.extend(arguments);
    let ran = meter.run(&run)?;
    if ran.sample.outcome != Outcome::Ok {
        return Ok(Err(format!("counting, {}", ran.sample.outcome.sentence())));
    }
    Ok(Ok(parse(&ran.stderr)))
}

/// The counters among the lines that `stats` prints: `  name  value`, with commas in the value.
fn parse(stderr: &str) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    for line in stderr.lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(value), None) = (words.next(), words.next(), words.next())
            && NAMES.iter().any(|(known, _)| *known == name)
            && let Ok(value) = value.replace(',', "").parse()
        {
            counters.insert(name.to_owned(), value);
        }
    }
    counters
}

/// Checks for each access.
pub fn check_ratio(counters: &BTreeMap<String, u64>) -> Option<f64> {
    let of = |name: &str| counters.get(name).map(|value| *value as f64);
    let (checks, accesses) = (of("checks")?, of("accesses")?);
    (accesses > 0.0).then(|| checks / accesses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read() {
        let stderr =
            "  accesses 1,024,002\n  places 6\n  checks 512002\ndeadheat: no data races\nchecks 1 2\n";
        let counters = parse(stderr);
        assert_eq!(counters.len(), 2);
        assert_eq!((counters["accesses"], counters["checks"]), (1_024_002, 512_002));
        assert!((check_ratio(&counters).unwrap() - 0.5).abs() < 1e-5);
        assert_eq!(check_ratio(&BTreeMap::new()), None);
    }
}
