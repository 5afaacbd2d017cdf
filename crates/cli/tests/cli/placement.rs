//! Which checks are left out: the same races are found with all of them, and `explain-checks` says why one is missing.

use crate::harness::{Files, Ran, command, ran};
use crate::native::cache;
use std::collections::BTreeSet;

fn run(arguments: &[&str]) -> Ran {
    let mut command = command(arguments);
    command
        .env("DEADHEAT_CACHE", cache())
        .env_remove("DEADHEAT_OPTIONS")
        .env_remove("DEADHEAT_PLACEMENT");
    ran(&mut command)
}

/// Programs whose races are at variables with names.
const PROGRAMS: &[&str] = &[
    "access_overlap_race",
    "array_halves_race",
    "atomic_mixed_race",
    "create_join_race",
    "placement_acquire_race",
    "placement_covers_race",
    "placement_leaves_race",
    "placement_release_race",
];

#[test]
fn races_are_found_at_the_same_variables_whatever_is_left_out() {
    for program in PROGRAMS {
        for level in ["-O0", "-O2"] {
            let racing = |placement: &str| {
                let source = format!("tests/programs/c/{program}.c");
                let ran = run(&[
                    "check",
                    "--placement",
                    placement,
                    "--cflags",
                    level,
                    "--format",
                    "json",
                    &source,
                ]);
                let text = ran.stdout.find('{').map_or("", |start| &ran.stdout[start..]);
                let report: serde_json::Value =
                    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
                let races = report["races"].as_array().expect("a list of races").clone();
                let place = |race: &serde_json::Value| {
                    let location = &race["location"];
                    format!("{}+{}", location["name"], location["block"]["offset"])
                };
                races.iter().map(place).collect::<BTreeSet<String>>()
            };
            let all = racing("off");
            assert!(!all.is_empty(), "{program} races");
            for placement in ["redundant", "full"] {
                assert_eq!(racing(placement), all, "{program} {level} {placement}");
            }
        }
    }
}

const TWICE: &str = "
#include <pthread.h>
long shared, other;
void *work(void *unused) {
    shared = shared + 1;
    other = shared;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
";

#[test]
fn each_line_says_what_is_checked_and_why_not() {
    let files = Files::new();
    // Not optimised, so that the second read is there.
    let source = &files.file("twice.c", TWICE.replace("long shared", "volatile long shared"));
    let explained = run(&["explain-checks", "--placement", "redundant", source]);
    assert_eq!(explained.status, 0, "{}", explained.stderr);
    let text = explained.stdout;
    for part in [
        "twice.c\n",
        "1/2      shared = shared + 1;\n",
        "- read of 8 bytes: a check behind it stands for it, in line 5\n",
        "1/2      other = shared;\n",
        "- read of 8 bytes: a check before it stands for it, in line 5\n",
        "followed: a check behind it stands for it\n",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
    let off = run(&["explain-checks", "--placement", "off", source]).stdout;
    assert!(off.contains("2/2      shared = shared + 1;\n"), "{off}");
    assert!(!off.contains("stands for it"), "{off}");
    let page = run(&["explain-checks", "--html", "-", source]).stdout;
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("shared = shared + 1;"),
        "{page}"
    );
}

#[test]
fn a_program_says_it_only_if_it_was_asked_to() {
    let files = Files::new();
    let (source, kept) = (&files.file("twice.c", TWICE), &files.path("kept"));
    run(&["check", "--keep", kept, source]);
    run(&["explain-checks", kept]).fails_with(&["does not say", "DEADHEAT_EXPLAIN=1"]);
    run(&["explain-checks", "no-such-file"]).fails_with(&["no-such-file"]);
    run(&["explain-checks", "--placement", "most", source]).fails_with(&["off, redundant, full"]);
    let mut command = command(&["check", "--keep", kept, source]);
    let command = command
        .env("DEADHEAT_CACHE", cache())
        .env("DEADHEAT_EXPLAIN", "1");
    ran(command);
    let explained = run(&["explain-checks", kept]);
    assert!(
        explained.stdout.contains("other = shared;"),
        "{}",
        explained.stdout
    );
}
