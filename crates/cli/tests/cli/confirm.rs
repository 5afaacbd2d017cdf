//! `deadheat predict --confirm`: recorded programs are run again, and what was predicted happens.

use crate::harness::{Files, Ran, command, deadheat, ran};
use crate::native::cache;

/// MultiRace's Figure 8. `take` comes late, so that the lock orders the writes of `y` in every run that is left alone.
const FIGURE_8: &str = r#"
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int x, y;

static void *give(void *unused) {
    y = 1; // line 9
    pthread_mutex_lock(&lock);
    x = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *take(void *unused) {
    usleep(50000);
    pthread_mutex_lock(&lock);
    x = 2;
    pthread_mutex_unlock(&lock);
    y = 2; // line 21
    return unused;
}

int main(int argc, char **argv) {
    pthread_t a, b;
    (void)argv;
    if (argc > 1)
        return 0;
    pthread_create(&a, 0, give, 0);
    pthread_create(&b, 0, take, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// RDIT's Account: two deposits that are not atomic, the second long after the first.
const ACCOUNT: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

long balance, parts[2];

static void deposit(int n, long amount) {
    parts[n] = amount;
    balance += amount; // line 10
}

static void *first(void *unused) {
    deposit(0, 100);
    return unused;
}

static void *second(void *unused) {
    usleep(50000);
    deposit(1, 200);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("%ld of %ld\n", balance, parts[0] + parts[1]);
    return 0;
}
"#;

fn run(arguments: &[&str]) -> Ran {
    let mut command = command(arguments);
    command
        .env("DEADHEAT_CACHE", cache())
        .env_remove("DEADHEAT_OPTIONS")
        .env_remove("DEADHEAT_RECORD");
    ran(&mut command)
}

#[track_caller]
fn recorded(files: &Files, name: &str, source: &str) -> (String, String) {
    let (source, trace) = (files.file(name, source), files.path("run.dht"));
    let ran = run(&["record", "-o", &trace, &source]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    (source, trace)
}

#[test]
fn a_race_that_happens_before_misses_is_confirmed() {
    let files = Files::new();
    let (_, trace) = recorded(&files, "figure8.c", FIGURE_8);
    let analyzed = deadheat(&["analyze", &trace]);
    assert_eq!(analyzed.last_line(), "deadheat: no data races");
    let predicted = deadheat(&["predict", &trace]);
    assert_eq!(predicted.last_line(), "deadheat: 1 data race");
    assert!(
        predicted.stderr.contains("predicted data race on y"),
        "{}",
        predicted.stderr
    );

    let confirmed = run(&["predict", "--confirm", &trace]);
    assert_eq!(
        (confirmed.status, confirmed.last_line()),
        (66, "deadheat: 1 data race, 1 confirmed"),
        "{}",
        confirmed.stderr
    );
    for part in [
        "confirmed data race on y",
        "Confirmed by run",
        " before its write of 4 bytes at 0x",
    ] {
        assert!(
            confirmed.stderr.contains(part),
            "no `{part}` in {}",
            confirmed.stderr
        );
    }
    // The witness says where locks are taken.
    let acquire = { confirmed.stderr.lines() }
        .find(|line| line.contains("acquire"))
        .unwrap_or_default();
    assert!(acquire.contains("figure8.c:18"), "{}", confirmed.stderr);

    let json = run(&["predict", "--confirm", "--format", "json", &trace]).json();
    assert_eq!(json["races"][0]["confirmation"]["met"], true, "{json}");
    assert_eq!(json["summary"]["met"], 1);
    let sarif = run(&["predict", "--confirm", "--format", "sarif", &trace]).json();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["properties"]["confirmation"], "confirmed");
    let message = result["message"]["text"].as_str().unwrap_or_default();
    assert!(message.starts_with("Confirmed data race on y"), "{message}");
}

#[test]
fn account_is_confirmed() {
    let files = Files::new();
    let (_, trace) = recorded(&files, "account.c", ACCOUNT);
    let json = run(&["predict", "--confirm", "--format", "json", &trace]).json();
    let races = json["races"].as_array().expect("races");
    assert!(!races.is_empty());
    for race in races {
        assert_eq!(race["confirmation"]["met"], true, "{race}");
        assert_eq!(race["location"]["name"], "balance");
        assert_eq!(race["accesses"][0]["frames"][0]["line"], 10);
    }
}

/// What is left out is left out again, or places are elsewhere and events are counted that the trace does not have.
#[test]
fn a_recording_that_leaves_functions_out_is_confirmed() {
    let files = Files::new();
    let text = FIGURE_8
        .replace(
            "int x, y;",
            "static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;\nint x, y;\n\
             static void note(int *at) { pthread_mutex_lock(&own); ++*at; pthread_mutex_unlock(&own); }",
        )
        .replace("y = 1;", "int n = 0; note(&n); note(&n); y = 1;")
        .replace("y = 2;", "int n = 0; note(&n); y = 2;");
    let (source, trace) = (files.file("noted.c", &text), files.path("run.dht"));
    let rules = files.file("rules", "objects *\n");
    let arguments = [
        "record",
        "-o",
        &trace,
        "--exclude",
        "note",
        "--external-rules",
        &rules,
        &source,
    ];
    let ran = run(&arguments);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let confirmed = run(&["predict", "--model", "rdit", "--confirm", &trace]);
    assert_eq!(
        (confirmed.status, confirmed.last_line()),
        (66, "deadheat: 1 data race, 1 confirmed"),
        "{}",
        confirmed.stderr
    );
    assert!(
        confirmed.stderr.contains("confirmed data race on y"),
        "{}",
        confirmed.stderr
    );
}

#[test]
fn what_does_not_happen_in_time_remains_a_prediction() {
    let files = Files::new();
    let (source, trace) = recorded(&files, "figure8.c", FIGURE_8);
    // With an argument it creates no thread at all.
    let arguments = [
        "predict",
        "--confirm",
        "--confirm-runs",
        "2",
        &trace,
        "--",
        &source,
        "-",
    ];
    let ran = run(&arguments);
    assert_eq!(
        (ran.status, ran.last_line()),
        (66, "deadheat: 1 data race, 0 confirmed"),
        "{}",
        ran.stderr
    );
    for part in [
        "predicted data race on y",
        "Not confirmed: in 2 runs",
        "remains a prediction",
    ] {
        assert!(ran.stderr.contains(part), "no `{part}` in {}", ran.stderr);
    }
}

#[test]
fn a_trace_without_a_program_cannot_be_confirmed() {
    let files = Files::new();
    let trace = files.file("t.txt", "T1 w x @a.c:1; T2 w x @a.c:2\n");
    run(&["predict", "--confirm", &trace]).fails_with(&["does not say which program", "deadheat record"]);
    run(&["predict", &trace, "--", "./program"]).fails_with(&["--confirm"]);
}
