//! `deadheat trace`.

use crate::harness::{Files, NO_RACE, TWO_RACES, deadheat, deadheat_reading};

#[test]
fn info_counts_what_is_in_a_trace() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    let info = deadheat(&["trace", "info", "--format", "json", &trace]).json();
    assert_eq!(info["events"], 10);
    assert_eq!(info["threads"], 2);
    assert_eq!(info["syncs"], 1);
    assert_eq!(info["sites"], 6);
    assert_eq!(info["kinds"]["reads"], 1);
    assert_eq!(info["kinds"]["writes"], 5);
    assert_eq!(info["kinds"]["acquires"], 2);
    assert_eq!(info["bytes"], TWO_RACES.len());
    assert_eq!(info["truncated"], false);
    let text = deadheat(&["trace", "info", &trace]);
    assert_eq!((text.status, text.stderr.as_str()), (0, ""));
    assert!(
        text.stdout.contains("events") && text.stdout.contains("writes"),
        "{}",
        text.stdout
    );
}

#[test]
fn what_cat_prints_can_be_analysed() {
    let files = Files::new();
    let cat = deadheat(&["trace", "cat", &files.file("t.txt", TWO_RACES)]);
    assert_eq!(cat.status, 0);
    let run = deadheat_reading(&["analyze", "-"], cat.stdout.as_bytes());
    assert_eq!(run.last_line(), "deadheat: 2 data races");
}

#[test]
fn cat_prints_the_events_that_a_report_names() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    let printed = |arguments: &[&str]| {
        let run = deadheat(&[&["trace", "cat", &trace], arguments].concat());
        let events = run.stdout.lines().filter(|line| line.starts_with('T'));
        events.map(str::to_owned).collect::<Vec<String>>()
    };
    let all = printed(&[]);
    assert_eq!(all.len(), 10);
    assert_eq!(printed(&["--from", "1", "--count", "2"]), all[1..3]);
    assert_eq!(printed(&["--from", "9"]), all[9..]);
    assert_eq!(printed(&["--from", "10"]), all[10..]);
    assert_eq!(printed(&["--count", "0"]), all[..0]);
    assert_eq!(
        printed(&["--from", &u64::MAX.to_string(), "--count", "5"]),
        all[..0]
    );
}

#[test]
fn every_format_gives_the_same_races() {
    let files = Files::new();
    let text = files.file("t.txt", TWO_RACES);
    for name in ["t.dht", "t.std", "t2.txt"] {
        let path = files.path(name);
        let run = deadheat(&["trace", "convert", &text, "-o", &path]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{name}");
        assert_eq!(
            deadheat(&["analyze", &path]).last_line(),
            "deadheat: 2 data races",
            "{name}"
        );
    }
    // Nothing but the numbers of names changes on the way through the binary format.
    let (there, back) = (files.path("t.dht"), files.path("back.txt"));
    deadheat(&["trace", "convert", &there, "-o", &back]);
    let cat = |file: &str| deadheat(&["trace", "cat", file]).stdout;
    assert_eq!(cat(&text), cat(&back));
    assert_eq!(cat(&text), cat(&there));
}

#[test]
fn a_binary_trace_can_come_from_stdin() {
    let files = Files::new();
    let binary = files.path("t.dht");
    deadheat(&["trace", "convert", &files.file("t.txt", TWO_RACES), "-o", &binary]);
    let run = deadheat_reading(&["analyze", "-"], &std::fs::read(&binary).unwrap());
    assert_eq!(run.last_line(), "deadheat: 2 data races", "{}", run.stderr);
    let run = deadheat_reading(&["analyze", "-"], b"T1|w(x)|1\nT2|w(x)|2\n");
    assert_eq!(run.last_line(), "deadheat: 1 data race", "{}", run.stderr);
}

#[test]
fn a_format_that_cannot_be_written_is_refused() {
    let files = Files::new();
    let trace = files.file("t.txt", NO_RACE);
    let convert = |to: &str| deadheat(&["trace", "convert", &trace, "-o", &files.path(to)]);
    convert("t.xyz").fails_with(&["t.xyz", ".dht"]);
    convert("t.rr").fails_with(&["RoadRunner", "only be read"]);
    // RAPID's format has no atomics.
    let atomic = files.file("a.txt", "T1 store x rel\n");
    deadheat(&["trace", "convert", &atomic, "-o", &files.path("a.std")]).fails_with(&["a.std", "event 0"]);
}

#[test]
fn all_trace_commands_have_stats() {
    let files = Files::new();
    let trace = files.file("t.txt", NO_RACE);
    let out = files.path("out.dht");
    for arguments in [
        ["trace", "info", "--stats", &trace].as_slice(),
        ["trace", "cat", "--stats", &trace].as_slice(),
        ["trace", "convert", "--stats", &trace, "-o", &out].as_slice(),
        ["trace", "generate", "--stats", "--events", "1000", "-o", &out].as_slice(),
        ["trace", "validate", "--stats", &trace].as_slice(),
    ] {
        let run = deadheat(arguments);
        assert!(
            run.stderr.contains("events per second"),
            "{arguments:?}: {}",
            run.stderr
        );
    }
}

#[test]
fn a_generated_trace_is_well_formed_and_has_the_races_asked_for() {
    let files = Files::new();
    for (name, pattern) in [
        ("m.dht", "mixed"),
        ("s.txt", "sweep"),
        ("p.dht", "phases"),
        ("l.std", "multiset"),
    ] {
        for races in ["0", "3"] {
            let out = files.path(name);
            let generate = [
                "trace",
                "generate",
                "--pattern",
                pattern,
                "--events",
                "20000",
                "--races",
                races,
                "-o",
                &out,
            ];
            let run = deadheat(&generate);
            assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{pattern}");
            let valid = deadheat(&["trace", "validate", &out]);
            assert_eq!(
                valid.stdout,
                format!("{out}: well-formed, 20,000 events\n"),
                "{}",
                valid.stderr
            );
            let report = deadheat(&["analyze", "--format", "json", &out]).json();
            assert_eq!(report["summary"]["races"] == 0, races == "0", "{pattern}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let files = Files::new();
    let generate = |name: &str, seed: &str| {
        let out = files.path(name);
        deadheat(&[
            "trace", "generate", "--seed", seed, "--events", "5000", "-o", &out,
        ]);
        std::fs::read(out).unwrap()
    };
    assert_eq!(generate("a.dht", "1"), generate("b.dht", "1"));
    assert_ne!(generate("a.dht", "1"), generate("c.dht", "2"));
}

#[test]
fn wrong_generator_options_are_answered_with_the_right_ones() {
    let generate =
        |option: &str, value: &str| deadheat(&["trace", "generate", option, value, "-o", "/nowhere/t.dht"]);
    generate("--pattern", "x").fails_with(&["mixed", "sharedspot", "phases"]);
    generate("--shares", "x=1").fails_with(&["rwlocks"]);
    generate("--threads", "0").fails_with(&["1..=65536"]);
}

#[test]
fn the_first_ill_formed_event_is_named() {
    let files = Files::new();
    for (trace, parts) in [
        ("T1 w x\nT1 rel L\n", ["line 2", "T1 rel L"]),
        ("T1 w x\nT1 w x\nT2 fork T1\n", ["line 3", "T2 fork T1"]),
        ("T1 ret\n", ["line 1", "T1 ret"]),
    ] {
        let file = files.file("t.txt", trace);
        let run = deadheat(&["trace", "validate", &file]);
        run.fails_with(&["ill-formed", "t.txt"]);
        run.fails_with(&parts);
        assert_eq!(run.stdout, "");
    }
}
