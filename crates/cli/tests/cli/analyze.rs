//! `deadheat analyze`: exit status, last line, options.

use crate::harness::{Files, NO_RACE, TWO_RACES, command, deadheat, deadheat_reading, ran};
use std::process::Stdio;

#[test]
fn a_race_gives_66_and_is_counted_on_the_last_line() {
    let files = Files::new();
    let run = deadheat(&["analyze", &files.file("t.txt", TWO_RACES)]);
    assert_eq!(run.status, 66);
    assert_eq!(run.last_line(), "deadheat: 2 data races");
    assert_eq!(run.stdout, "");
    let one = deadheat(&["analyze", &files.file("one.txt", "T1 w x; T2 w x")]);
    assert_eq!(one.last_line(), "deadheat: 1 data race");
}

#[test]
fn no_race_gives_0_and_only_the_last_line() {
    let files = Files::new();
    let run = deadheat(&["analyze", &files.file("t.txt", NO_RACE)]);
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (0, "deadheat: no data races\n")
    );
}

#[test]
fn a_trace_without_events_is_no_proof_of_anything() {
    let files = Files::new();
    for trace in ["", "# nothing\n"] {
        let run = deadheat(&["analyze", &files.file("t.txt", trace)]);
        assert_eq!((run.status, run.last_line()), (0, "deadheat: no data races"));
        assert!(
            run.stderr.contains("warning") && run.stderr.contains("no events"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn the_exit_status_of_a_race_can_be_chosen() {
    let files = Files::new();
    let (races, none) = (files.file("r.txt", TWO_RACES), files.file("n.txt", NO_RACE));
    assert_eq!(deadheat(&["analyze", "--exit-code", "3", &races]).status, 3);
    assert_eq!(deadheat(&["analyze", "--exit-code", "0", &races]).status, 0);
    assert_eq!(deadheat(&["analyze", "--exit-code", "3", &none]).status, 0);
    deadheat(&["analyze", "--exit-code", "256", &races]).fails_with(&["--exit-code", "0..=255"]);
}

/// What the design promises for each name. `count` and `empty` look for nothing and say so.
const EXACT: [&str; 5] = ["fasttrack", "vc", "djit", "goldilocks", "goldilocks-eager"];
const DISCIPLINE: [&str; 3] = ["eraser", "lockset", "multirace"];
const BASELINES: [&str; 2] = ["count", "empty"];

#[test]
fn exact_detectors_report_the_same_races() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    for detector in EXACT {
        for filter in ["none", "span", "tree-strict"] {
            for compress in ["off", "on"] {
                let layers = ["--filter", filter, "--compress", compress, &trace];
                let run = deadheat(&[&["analyze", "--detector", detector], layers.as_slice()].concat());
                assert_eq!(
                    run.last_line(),
                    "deadheat: 2 data races",
                    "{detector} {filter} {compress}"
                );
                assert!(!run.stderr.contains("warning"), "{}", run.stderr);
            }
        }
    }
}

/// Handed over by a message: no race, but no lock either.
const HANDED_OVER: &str =
    "T1 w x @a.c:1(give); T1 send c; T2 recv c; T2 w x @b.c:2(take); T1 recv d; T2 w x @b.c:3(take)\n";

#[test]
fn a_violation_of_the_discipline_counts_but_is_not_called_confirmed() {
    let files = Files::new();
    let trace = files.file("t.txt", HANDED_OVER);
    for detector in DISCIPLINE {
        let run = deadheat(&["analyze", "--detector", detector, &trace]);
        assert_eq!(
            (run.status, run.last_line()),
            (66, "deadheat: 1 data race, unconfirmed (locking discipline)"),
            "{detector}"
        );
        assert!(
            run.stderr.contains("locking discipline violation on x"),
            "{}",
            run.stderr
        );
        assert!(!run.stderr.contains("data race on"), "{}", run.stderr);
        let report = deadheat(&["analyze", "--detector", detector, "--format", "json", &trace]).json();
        assert_eq!(report["races"][0]["confirmed"], false);
        assert!(report["races"][0]["rank"].is_string());
        assert_eq!(report["summary"]["unconfirmed"], 1);
        let sarif = deadheat(&["analyze", "--detector", detector, "--format", "sarif", &trace]).json();
        assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "locking-discipline");
    }
    assert_eq!(deadheat(&["analyze", &trace]).status, 0);
}

#[test]
fn multirace_confirms_what_happens_before_confirms() {
    let files = Files::new();
    let trace = files.file("t.txt", format!("{TWO_RACES}{HANDED_OVER}"));
    let report = deadheat(&["analyze", "--detector", "multirace", "--format", "json", &trace]).json();
    let confirmed: Vec<bool> = report["races"]
        .as_array()
        .unwrap()
        .iter()
        .map(|race| race["confirmed"] == true)
        .collect();
    assert!(
        confirmed.iter().filter(|confirmed| **confirmed).count() >= 2,
        "{report}"
    );
    assert!(
        confirmed.is_sorted_by(|a, b| a >= b),
        "confirmed ones come first: {report}"
    );
}

#[test]
fn layers_that_can_change_what_a_detector_finds_are_warned_about() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    for detector in DISCIPLINE {
        let run = deadheat(&["analyze", "--detector", detector, "--compress", "on", &trace]);
        assert!(run.stderr.contains("warning: --compress on"), "{}", run.stderr);
    }
    for detector in DISCIPLINE {
        let run = deadheat(&["analyze", "--detector", detector, "--filter", "span", &trace]);
        assert!(run.stderr.contains("warning: --filter span"), "{}", run.stderr);
    }
}

#[test]
fn detectors_that_check_nothing_say_so() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    for detector in BASELINES {
        let run = deadheat(&["analyze", "--detector", detector, &trace]);
        assert_eq!((run.status, run.last_line()), (0, "deadheat: no data races"));
        assert!(run.stderr.contains("warning: --detector"), "{}", run.stderr);
    }
}

#[test]
fn a_filter_that_can_lose_races_says_so() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    let run = deadheat(&["analyze", "--filter", "tree", &trace]);
    assert!(run.stderr.contains("warning: --filter tree"), "{}", run.stderr);
}

#[test]
fn disable_after_race_reports_a_location_once() {
    let files = Files::new();
    let trace = files.file(
        "t.txt",
        "T1 w x @a.c:1; T2 w x @b.c:2; T1 w x @a.c:3; T2 r x @b.c:4\n",
    );
    for detector in EXACT {
        let run = deadheat(&["analyze", "--detector", detector, "--disable-after-race", &trace]);
        assert_eq!(run.last_line(), "deadheat: 1 data race", "{detector}");
    }
    // FastTrack goes on with the last write and finds it racing again and again.
    assert_eq!(
        deadheat(&["analyze", &trace]).last_line(),
        "deadheat: 3 data races"
    );
    deadheat(&["analyze", "--disable-after-race", "--filter", "span", &trace]).fails_with(&["--filter span"]);
}

#[test]
fn a_wrong_value_is_answered_with_the_right_ones() {
    let names: Vec<&str> = EXACT.into_iter().chain(DISCIPLINE).chain(BASELINES).collect();
    deadheat(&["analyze", "--detector", "fastrack", "x"]).fails_with(&names);
    deadheat(&["analyze", "--filter", "x", "x"]).fails_with(&["none", "span", "tree", "tree-strict"]);
    deadheat(&["analyze", "--format", "x", "x"]).fails_with(&["text", "json", "sarif"]);
    deadheat(&["analyze", "--color", "x", "x"]).fails_with(&["auto", "always", "never"]);
    deadheat(&["analyse", "x"]).fails_with(&["analyze"]);
    deadheat(&["analyze"]).fails_with(&["<TRACE>"]);
}

#[test]
fn halt_on_race_stops_at_the_first_reported_race() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    let run = deadheat(&["analyze", "--halt-on-race", "--format", "json", &trace]);
    assert_eq!(run.last_line(), "deadheat: 1 data race");
    let report = run.json();
    assert_eq!(report["summary"]["events"], 2);
    assert_eq!(report["summary"]["partial"], true);
    // What is suppressed is not reported, so it does not stop anything either.
    let suppressions = files.file("s.txt", "race:reader");
    let run = deadheat(&[
        "analyze",
        "--halt-on-race",
        "--suppressions",
        &suppressions,
        &trace,
    ]);
    assert_eq!(run.last_line(), "deadheat: 1 data race (1 suppressed)");
}

#[test]
fn suppressions_hide_and_count() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    for (rules, last_line, status) in [
        ("race:reader", "deadheat: 1 data race (1 suppressed)", 66),
        ("race:^writer$", "deadheat: no data races (2 suppressed)", 0),
        ("# by file\nrace:b.c", "deadheat: no data races (2 suppressed)", 0),
        ("race_top:^y$", "deadheat: 1 data race (1 suppressed)", 66),
        ("mutex:x\nthread:y", "deadheat: 2 data races", 66),
    ] {
        let rules_file = files.file("s.txt", rules);
        let run = deadheat(&["analyze", "--suppressions", &rules_file, &trace]);
        assert_eq!((run.last_line(), run.status), (last_line, status), "{rules}");
    }
}

#[test]
fn a_wrong_suppression_is_named_by_file_and_line() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    let rules = files.file("s.txt", "race:a\nraces:b\n");
    deadheat(&["analyze", "--suppressions", &rules, &trace]).fails_with(&["s.txt", "line 2", "race_top"]);
    deadheat(&["analyze", "--suppressions", "/nowhere", &trace]).fails_with(&["suppressions", "/nowhere"]);
}

#[test]
fn a_report_is_a_baseline_for_the_next_run() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    let known = files.path("known.json");
    let first = deadheat(&["analyze", "--format", "json", "--output", &known, &trace]);
    assert_eq!((first.status, first.stdout.as_str()), (66, ""));
    let again = deadheat(&["analyze", "--baseline", &known, &trace]);
    assert_eq!(
        (again.status, again.last_line()),
        (0, "deadheat: no data races (2 in the baseline)")
    );
    // A new race is reported, the old ones in another order are not.
    let mut lines: Vec<&str> = TWO_RACES.lines().rev().collect();
    lines.push("T3 w new @c.c:9(third); T1 r new @a.c:9(writer)");
    let more = files.file("more.txt", lines.join("\n"));
    let new = deadheat(&["analyze", "--baseline", &known, &more]);
    assert_eq!(
        (new.status, new.last_line()),
        (66, "deadheat: 1 data race (2 in the baseline)")
    );
    // The same file can be read and replaced.
    let updated = deadheat(&[
        "analyze",
        "--baseline",
        &known,
        "--format",
        "json",
        "--output",
        &known,
        &more,
    ]);
    assert_eq!(updated.last_line(), "deadheat: 1 data race (2 in the baseline)");
    let text = std::fs::read_to_string(&known).unwrap();
    assert!(text.contains("third") && !text.contains("reader"), "{text}");
}

#[test]
fn what_is_no_report_is_no_baseline() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    for contents in ["", "{}", "[1]", "{\"tool\":", TWO_RACES] {
        let baseline = files.file("b.json", contents);
        deadheat(&["analyze", "--baseline", &baseline, &trace]).fails_with(&["b.json", "--format json"]);
    }
}

#[test]
fn every_finding_prints_a_command_that_shows_it_alone() {
    let files = Files::new();
    let trace = files.file("t r.txt", TWO_RACES);
    let run = deadheat(&[
        "analyze",
        "--detector",
        "djit",
        "--filter",
        "span",
        "--compress",
        "on",
        &trace,
    ]);
    let commands: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| line.contains("--only"))
        .collect();
    assert_eq!(commands.len(), 2, "{}", run.stderr);
    for again in commands {
        let shell = format!("PATH=\"$(dirname \"$0\"):$PATH\"; {again}");
        let mut sh = std::process::Command::new("sh");
        let alone = ran(sh.args(["-c", &shell, env!("CARGO_BIN_EXE_deadheat")]));
        assert_eq!(
            (alone.status, alone.last_line()),
            (66, "deadheat: 1 data race"),
            "{again}"
        );
    }
}

#[test]
fn quiet_leaves_the_last_line() {
    let files = Files::new();
    let run = deadheat(&["analyze", "-q", &files.file("t.txt", TWO_RACES)]);
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (66, "deadheat: 2 data races\n")
    );
}

#[test]
fn stats_are_printed_before_the_last_line_and_are_in_the_json() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    let run = deadheat(&["analyze", "--stats", "-q", &trace]);
    for word in [
        "statistics",
        "events  ",
        "race checks",
        "seconds",
        "events per second",
    ] {
        assert!(run.stderr.contains(word), "no {word} in {}", run.stderr);
    }
    assert_eq!(run.last_line(), "deadheat: 2 data races");
    let report = deadheat(&["analyze", "--stats", "--format", "json", &trace]).json();
    assert_eq!(report["summary"]["stats"]["writes"], 5);
    assert_eq!(report["summary"]["stats"]["reads"], 1);
    assert!(report["summary"]["seconds"].as_f64().is_some());
}

#[test]
fn a_trace_can_come_from_stdin() {
    let run = deadheat_reading(&["analyze", "-"], TWO_RACES.as_bytes());
    assert_eq!((run.status, run.last_line()), (66, "deadheat: 2 data races"));
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    let colored = |arguments: &[&str]| deadheat(arguments).stderr.contains('\u{1b}');
    assert!(!colored(&["analyze", &trace]));
    assert!(!colored(&["analyze", "--color", "never", &trace]));
    assert!(colored(&["analyze", "--color", "always", &trace]));
    // An explicit wish beats the environment.
    let run = ran(command(&["--color", "always", "analyze", &trace]).env("NO_COLOR", "1"));
    assert!(run.stderr.contains('\u{1b}'));
    // A file is no terminal.
    let out = files.path("report.txt");
    deadheat(&["analyze", "--color", "always", "--output", &out, &trace]);
    assert!(!std::fs::read_to_string(&out).unwrap().contains('\u{1b}'));
}

#[test]
fn no_progress_bar_without_a_terminal() {
    let files = Files::new();
    let trace = files.file("t.txt", NO_RACE.repeat(20_000));
    assert_eq!(deadheat(&["analyze", &trace]).stderr, "deadheat: no data races\n");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    for (arguments, status) in [
        (["analyze", "--format", "json", &trace].as_slice(), 66),
        (["analyze", "--format", "sarif", &trace].as_slice(), 66),
        (["trace", "cat", &trace].as_slice(), 0),
        (["trace", "info", &trace].as_slice(), 0),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut child = command(arguments);
        let output = child
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {stderr}");
        assert!(
            !stderr.contains("error") && !stderr.contains("panicked"),
            "{stderr}"
        );
    }
}

#[test]
fn help_and_version_name_the_contract() {
    let help = deadheat(&["--help"]);
    assert_eq!(help.status, 0);
    for word in ["analyze", "trace", "Examples:", "66"] {
        assert!(help.stdout.contains(word), "{}", help.stdout);
    }
    let analyze = deadheat(&["analyze", "--help"]).stdout;
    for word in [
        "--detector",
        "--baseline",
        "--suppressions",
        "--halt-on-race",
        "vector clocks",
    ] {
        assert!(analyze.contains(word), "{analyze}");
    }
    let version = format!("deadheat {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(deadheat(&["--version"]).stdout, version);
}
