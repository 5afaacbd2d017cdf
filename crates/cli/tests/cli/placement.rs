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
    "placement_exit_race",
    "placement_leaves_race",
    "placement_longjmp_race",
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

/// One line for each reason.
const REASONS: &str = "
#include <pthread.h>
#include <stdio.h>
struct point { long x, y; };
struct point *points;
long numbers[1000], buckets[1000], keys[1000], limit;
volatile long end = 1000;
static const long squares[4] = {0, 1, 4, 9};
__attribute__((noinline)) void sweep(void) {
    for (long i = 0; i < 1000; i++)
        numbers[i] = i;
    numbers[0]++;
}
__attribute__((noinline)) void batch(void) {
    for (long i = 0; i < end; i++)
        numbers[i] = -i;
}
__attribute__((noinline)) void fill(void) {
    for (long i = 0; i < 1000; i++)
        buckets[keys[i]] = i;
}
__attribute__((noinline)) void both(struct point *p) {
    p->x = 3, p->y = 4;
}
void *work(void *unused) {
    volatile long local = 1;
    local = 2;
    sweep(), batch(), fill(), both(points);
    printf(\"%ld\\n\", squares[numbers[1] & 3]);
    printf(\"%ld\\n\", limit);
    return unused;
}
int main(int count, char **arguments) {
    limit = count;
    pthread_t thread;
    pthread_create(&thread, 0, work, arguments);
    return pthread_join(thread, 0);
}
";

#[test]
fn each_rule_has_its_words() {
    let files = Files::new();
    let source = &files.file("reasons.c", REASONS);
    let explained = run(&["explain-checks", "--cflags", "-O2", source]);
    assert_eq!(explained.status, 0, "{}", explained.stderr);
    let text = explained.stdout;
    // What is said of the line with this code.
    let said = |code: &str| {
        let lines = text.lines().skip_while(|line| !line.ends_with(code)).skip(1);
        let said: Vec<&str> = lines
            .map(str::trim_start)
            .take_while(|line| line.starts_with("- "))
            .collect();
        said.join("\n")
    };
    for (code, reason) in [
        (
            " numbers[i] = i;",
            "part of a range that is checked outside of the loop, in line ",
        ),
        (
            " numbers[i] = -i;",
            "part of ranges that are checked while the loop runs and behind it",
        ),
        (
            "buckets[keys[i]] = i;",
            "gathered while the loop fills memory, and checked as a range",
        ),
        (
            "p->x = 3, p->y = 4;",
            "part of a check of its neighbours, in line ",
        ),
        (" local = 2;", "no other thread can see the memory"),
        ("squares[numbers[1] & 3]);", "the memory never changes"),
        ("limit);", "only written before there was a second thread"),
    ] {
        assert!(said(code).contains(reason), "{code}: no `{reason}` in:\n{text}");
    }
}

const RUST: &str = "
use std::sync::atomic::{AtomicUsize, Ordering};
static TURN: AtomicUsize = AtomicUsize::new(0);
#[inline(never)]
fn fill(numbers: &mut [u64]) {
    for number in numbers {
        *number += 7;
    }
}
fn main() {
    let mut numbers = vec![0; 1000];
    let worker = std::thread::spawn(move || {
        fill(&mut numbers);
        TURN.store(numbers.len(), Ordering::Release);
    });
    worker.join().unwrap();
}
";

#[test]
fn programs_in_rust_say_it_too() {
    let files = Files::new();
    let source = &files.file("filling.rs", RUST);
    let explained = run(&["explain-checks", "--rustflags", "-Copt-level=2", source]);
    assert_eq!(explained.status, 0, "{}", explained.stderr);
    let text = explained.stdout;
    for part in [
        "filling.rs\n",
        "*number += 7;\n",
        "part of a range that is checked outside of the loop",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
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
