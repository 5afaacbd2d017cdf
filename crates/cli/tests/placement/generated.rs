//! Generated programs: what is reported of them is compared with what is true.

use crate::generate::{self, Program, Var};
use crate::harness::{Files, command, ran};
use crate::truth::Truth;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;

const LEVELS: &[&str] = &["-O0", "-O1", "-O2"];
const PLACEMENTS: &[&str] = &["off", "redundant", "full"];
/// So many scenarios are in one program.
const SCENARIOS: usize = 50;
/// So many programs CI sees.
const PROGRAMS: u64 = 4;

/// A number from the environment.
fn set(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Results of instrumenting are kept between tests.
pub fn cache() -> &'static str {
    concat!(env!("CARGO_TARGET_TMPDIR"), "/cache")
}

/// Programs to be made: so many, times `DEADHEAT_CASES`, or the one of `DEADHEAT_SEED`.
pub fn seeds(programs: u64) -> Range<u64> {
    match set("DEADHEAT_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..programs * set("DEADHEAT_CASES").unwrap_or(1),
    }
}

/// Scenarios of a program: all, or the one of `DEADHEAT_SCENARIO`.
pub fn scenarios() -> Range<usize> {
    match set("DEADHEAT_SCENARIO") {
        Some(one) => one as usize..one as usize + 1,
        None => 0..SCENARIOS,
    }
}

#[test]
fn every_placement_names_what_races_in_generated_programs() {
    let (mut racing, mut calm) = (0, 0);
    for seed in seeds(PROGRAMS) {
        let program = generate::program(seed, scenarios());
        for var in &program.vars {
            match var.races() {
                true => racing += 1,
                false => calm += 1,
            }
        }
        for level in LEVELS {
            for placement in PLACEMENTS {
                let mut wrongs = differences(&program, level, placement);
                let Some(wrong) = wrongs.pop() else {
                    continue;
                };
                // Alone it is easier to understand, if it is still wrong then.
                let alone = generate::program(seed, wrong.scenario..wrong.scenario + 1);
                let smaller = !differences(&alone, level, placement).is_empty();
                let command = format!(
                    "DEADHEAT_SEED={seed}{} cargo test -p deadheat --test placement generated",
                    if smaller {
                        format!(" DEADHEAT_SCENARIO={}", wrong.scenario)
                    } else {
                        String::new()
                    }
                );
                let text = if smaller { &alone.text } else { &program.text };
                panic!(
                    "{} with --placement {placement} at {level}\nagain: {command}\n{text}",
                    wrong.what
                );
            }
        }
    }
    // What all pass must have something to find, and something to leave alone.
    let one = set("DEADHEAT_SCENARIO").is_some();
    assert!(one || racing > 10 && calm > 10, "{racing} racing, {calm} calm");
    eprintln!(
        "{racing} arrays that race and {calm} that do not, {} builds of each",
        LEVELS.len() * PLACEMENTS.len()
    );
}

impl Var {
    fn races(&self) -> bool {
        self.truth.contains(&Truth::Always)
    }
}

/// A difference between a report and the truth.
struct Wrong {
    scenario: usize,
    what: String,
}

/// Builds and runs a program, and compares.
fn differences(program: &Program, level: &str, placement: &str) -> Vec<Wrong> {
    let files = Files::new();
    let source = files.file("generated.c", &program.text);
    let flags = format!("{level} -w");
    let mut command = command(&[
        "check",
        "--placement",
        placement,
        "--cflags",
        &flags,
        "--format",
        "json",
        &source,
    ]);
    let ran = ran(command
        .env("DEADHEAT_CACHE", cache())
        .env_remove("DEADHEAT_OPTIONS")
        .env_remove("DEADHEAT_PLACEMENT"));
    let text = ran.stdout.find('{').map_or("", |start| &ran.stdout[start..]);
    let report: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
    let (mut found, mut wrong) = (BTreeSet::new(), Vec::new());
    for race in report["races"].as_array().expect("a list of races") {
        let location = &race["location"];
        let number = |value: &Value| value.as_u64().unwrap_or_default() as usize;
        let (offset, size) = (number(&location["block"]["offset"]), number(&location["size"]));
        let Some(var) = find(program, location) else {
            let what = format!("a race at {location} is reported, where nothing is shared");
            wrong.push(Wrong { scenario: 0, what });
            continue;
        };
        found.insert(&var.name);
        let end = (offset + size).min(var.truth.len());
        if var.truth[offset.min(end)..end]
            .iter()
            .all(|truth| *truth == Truth::Never)
        {
            let what = format!("a race at {}+{offset} is reported that is none", var.name);
            wrong.push(Wrong {
                scenario: var.scenario(),
                what,
            });
        }
    }
    for var in program
        .vars
        .iter()
        .filter(|var| var.races() && !found.contains(&var.name))
    {
        let first = var.truth.iter().position(|truth| *truth == Truth::Always);
        let what = format!("the race at {}+{} is missed", var.name, first.unwrap_or_default());
        wrong.push(Wrong {
            scenario: var.scenario(),
            what,
        });
    }
    wrong
}

impl Var {
    /// The number in its name.
    fn scenario(&self) -> usize {
        let number = self.name.split('_').nth(1).and_then(|number| number.parse().ok());
        number.unwrap_or_default()
    }
}

/// The array that a race is reported at.
fn find<'p>(program: &'p Program, location: &Value) -> Option<&'p Var> {
    let name = location["name"].as_str().unwrap_or_default();
    let name = name.split('+').next().unwrap_or_default();
    let line = location["allocated_at"][0]["line"].as_u64();
    program.vars.iter().find(|var| match var.allocated {
        Some(at) => line == Some(at as u64),
        None => var.name == name,
    })
}
