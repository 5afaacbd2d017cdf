//! Files that are missing, cut off, damaged or made to harm: an error that helps, never a panic.

use crate::harness::{Files, TWO_RACES, deadheat, deadheat_reading};

/// Commands that read a trace.
const READERS: [&[&str]; 4] = [
    &["analyze"],
    &["trace", "info"],
    &["trace", "cat"],
    &["trace", "validate"],
];

fn with<'a>(command: &[&'a str], file: &'a str) -> Vec<&'a str> {
    command.iter().copied().chain([file]).collect()
}

/// A binary trace of many blocks.
fn binary(files: &Files) -> (String, Vec<u8>) {
    let text = files.file("long.txt", TWO_RACES.repeat(40_000));
    let path = files.path("long.dht");
    let run = deadheat(&["trace", "convert", &text, "-o", &path]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

#[test]
fn a_missing_file_is_named() {
    for command in READERS {
        deadheat(&with(command, "nowhere/run.dht")).fails_with(&["nowhere/run.dht", "No such file"]);
        deadheat(&with(command, "nowhere/run")).fails_with(&["nowhere/run", ".dht, .std, .rr or .txt"]);
    }
    deadheat(&["analyze", "crates"]).fails_with(&["crates", "directory"]);
}

#[test]
fn an_unknown_format_lists_the_known_ones() {
    let files = Files::new();
    let file = files.file("run.xyz", "what is this\n");
    for command in READERS {
        deadheat(&with(command, &file)).fails_with(&["run.xyz", ".dht", ".std", ".txt"]);
    }
}

#[test]
fn a_wrong_line_is_named_with_file_and_number() {
    let files = Files::new();
    let file = files.file("t.txt", "T1 w x\nT1 wobble x\n");
    for command in READERS {
        deadheat(&with(command, &file)).fails_with(&["t.txt", "line 2", "wobble"]);
    }
    let file = files.file("t.std", "T1|w(x)|1\nT1|w(x)\n");
    for command in READERS {
        deadheat(&with(command, &file)).fails_with(&["t.std", "line 2"]);
    }
    deadheat_reading(&["analyze", "-"], b"T1 wobble x\n").fails_with(&["line 1", "wobble"]);
}

#[test]
fn a_truncated_trace_is_analysed_as_far_as_it_goes_with_a_warning() {
    let files = Files::new();
    let (_, bytes) = binary(&files);
    let cut = files.file("cut.dht", &bytes[..bytes.len() * 2 / 3]);
    let run = deadheat(&["analyze", "--format", "json", &cut]);
    assert_eq!(
        (run.status, run.last_line()),
        (66, "deadheat: 2 data races"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("warning") && run.stderr.contains("truncated"),
        "{}",
        run.stderr
    );
    let report = run.json();
    assert_eq!(report["summary"]["partial"], true);
    assert!(
        report["summary"]["events"]
            .as_u64()
            .is_some_and(|events| events > 0)
    );
    for command in ["info", "cat", "validate"] {
        let run = deadheat(&["trace", command, &cut]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(run.stderr.contains("truncated"), "{}", run.stderr);
    }
}

#[test]
fn no_damage_makes_a_reader_panic() {
    let files = Files::new();
    let (_, bytes) = binary(&files);
    let step = bytes.len() / 23;
    for place in (0..bytes.len()).step_by(step) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x55;
        let file = files.file("damaged.dht", &damaged);
        let run = deadheat(&["analyze", "-q", &file]);
        assert!([0, 2, 66].contains(&run.status), "byte {place}: {}", run.stderr);
        assert!(!run.stderr.contains("panicked"), "byte {place}: {}", run.stderr);
    }
    for length in (0..bytes.len()).step_by(step) {
        let file = files.file("cut.dht", &bytes[..length]);
        let run = deadheat(&["analyze", "-q", &file]);
        assert!([0, 2, 66].contains(&run.status), "{length} bytes: {}", run.stderr);
        assert!(!run.stderr.contains("panicked"), "{length} bytes: {}", run.stderr);
    }
}

#[test]
fn noise_is_no_trace() {
    let files = Files::new();
    let noise: Vec<u8> = (0..100_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    for name in ["noise.dht", "noise.std", "noise.txt"] {
        deadheat(&["analyze", &files.file(name, &noise)]).fails_with(&[name]);
    }
    // RoadRunner's events stand between other output, so lines that are none are passed over.
    let run = deadheat(&["analyze", &files.file("noise.rr", &noise)]);
    assert!(
        run.stderr.contains("warning") && run.stderr.contains("no events"),
        "{}",
        run.stderr
    );
}

#[test]
fn numbers_at_the_edge_of_their_types_are_accepted_or_refused() {
    let files = Files::new();
    for text in [
        "T4294967295 w 0xffffffffffffffff:1\nT0 w 0xffffffffffffffff:1\n",
        "T0 w 0xfffffffffffffff8:8\nT1 w 0xffffffffffffffff:1\n",
        "T0 w 0xffffffffffffffff:8\nT1 w 0x0\n",
        "T0 w A4294967295[18446744073709551615]\nT1 w A4294967295[18446744073709551615]\n",
        "T0 w a[0..18446744073709551615]\n",
        "T0 w 0x10:1073741825\n",
        "T0 fork T0\nT0 join T0\nT0 fork T1\nT1 fork T0\n",
        "T0 rel L\nT0 leave B\nT0 ret\nT0 join T7\n",
    ] {
        let run = deadheat(&["analyze", "-q", &files.file("edge.txt", text)]);
        assert!([0, 2, 66].contains(&run.status), "{text}: {}", run.stderr);
        assert!(!run.stderr.contains("panicked"), "{text}: {}", run.stderr);
    }
}

#[test]
fn output_that_cannot_be_written_is_said_before_the_analysis() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    for output in ["/nowhere/report.json", "/"] {
        let run = deadheat(&["analyze", "--format", "json", "--output", output, &trace]);
        run.fails_with(&["cannot write", output]);
    }
    deadheat(&["trace", "convert", &trace, "-o", "/nowhere/t.dht"]).fails_with(&["cannot write", "/nowhere"]);
    if std::path::Path::new("/dev/full").exists() {
        deadheat(&["analyze", "--output", "/dev/full", &trace]).fails_with(&["/dev/full", "No space"]);
    }
}

#[test]
fn the_input_is_never_overwritten() {
    let files = Files::new();
    let trace = files.file("t.txt", TWO_RACES);
    deadheat(&["analyze", "--output", &trace, &trace]).fails_with(&["is the input"]);
    deadheat(&["trace", "convert", &trace, "-o", &trace]).fails_with(&["is the input"]);
    assert_eq!(std::fs::read_to_string(&trace).unwrap(), TWO_RACES);
}

/// Runs `analyze` on a trace that goes wrong behind races: they are reported, as text and as JSON, and then the error.
#[track_caller]
fn reports_and_fails(files: &Files, options: &[&str], trace: &str, races: &str, error: &[&str]) {
    let analyze = |more: &[&str]| deadheat(&[&["analyze"], options, more, &[trace]].concat());
    let run = analyze(&[]);
    run.fails_with(error);
    let (found, failed) = run
        .stderr
        .split_once(&format!("{races} so far\n"))
        .expect(&run.stderr);
    assert!(
        found.contains("WARNING: deadheat: data race on"),
        "{}",
        run.stderr
    );
    assert!(
        failed.starts_with("deadheat: error: ") && failed.lines().count() == 1,
        "{failed}"
    );
    let run = analyze(&["--format", "json"]);
    run.fails_with(error);
    let report = run.json();
    assert_eq!(report["summary"]["partial"], true);
    assert!(report["summary"]["races"].as_u64().is_some_and(|races| races > 0));
    assert!(
        report["summary"]["events"]
            .as_u64()
            .is_some_and(|events| events > 0)
    );
    let sarif = analyze(&["--format", "sarif"]).json();
    assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], false);
    let path = files.path("partial.json");
    analyze(&["--format", "json", "--output", &path]).fails_with(error);
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .contains("\"partial\": true")
    );
}

#[test]
fn what_was_found_before_a_wrong_line_is_reported() {
    let files = Files::new();
    let text = files.file("t.txt", format!("{TWO_RACES}T1 wobble x\nT3 w x\n"));
    reports_and_fails(
        &files,
        &[],
        &text,
        "deadheat: 2 data races",
        &["t.txt", "line 4", "wobble"],
    );
    let std = files.file("t.std", "T1|w(x)|1\nT2|w(x)|2\nT1|w(x)\nT3|w(x)|3\n");
    reports_and_fails(&files, &[], &std, "deadheat: 1 data race", &["t.std", "line 3"]);
    let roadrunner = files.file(
        "t.rr",
        "@ Wr(1,@01.x)  A.java:1:1\n@ Wr(2,@01.x)  A.java:2:1\n@ Flip(2,@01.x)\n",
    );
    reports_and_fails(
        &files,
        &[],
        &roadrunner,
        "deadheat: 1 data race",
        &["t.rr", "line 3", "Flip"],
    );
}

#[test]
fn what_was_found_before_a_damaged_block_is_reported() {
    let files = Files::new();
    let (_, mut bytes) = binary(&files);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    let damaged = files.file("damaged.dht", &bytes);
    // The index is good, so that this is damage, not an early end.
    assert!(
        !deadheat(&["trace", "info", &damaged])
            .stderr
            .contains("truncated")
    );
    let error = ["damaged.dht", "checksum", "byte"];
    reports_and_fails(&files, &[], &damaged, "deadheat: 2 data races", &error);
}

#[test]
fn sizes_beyond_what_one_event_may_span_are_refused() {
    let files = Files::new();
    for event in [
        "r 0x10:4294967295",
        "w 0x10:4294967295",
        "w 0x10:1073741825",
        "w 0x10:18446744073709551615",
        "load 0x10:1073741825 acq",
        "alloc 0x10:1073741825",
        "free 0x10:1073741825",
        "call f {0x8, 0x10:1073741825}",
        "w a[0..16777216]",
        "r a[0..33554432:2]",
    ] {
        let trace = files.file("t.txt", format!("T0 begin\nT0 {event}\n"));
        deadheat(&["analyze", &trace]).fails_with(&["t.txt", "line 2", "at most"]);
    }
}

#[test]
fn an_analysis_that_needs_too_much_memory_stops_with_what_it_found() {
    let files = Files::new();
    let huge_writes = (0..1000).map(|n| format!("T1 w {}:1073741824\n", n << 30));
    let huge_ranges = (0..1000).map(|n| format!("T1 w A{n}[0..16777215]\n"));
    let many_pages = (0..2_000_000).map(|n| format!("T1 w {}:1\n", n << 9));
    for (name, trace) in [
        ("writes.txt", huge_writes.collect::<String>()),
        ("ranges.txt", huge_ranges.collect()),
        ("pages.txt", many_pages.collect()),
    ] {
        let file = files.file(name, format!("{TWO_RACES}{trace}"));
        for halt in [false, true] {
            // What stops at a race gets past these with a suppression.
            let none = files.file("s.txt", "race:writer");
            if halt {
                let options = [
                    "analyze",
                    "--memory-limit",
                    "64M",
                    "--halt-on-race",
                    "--suppressions",
                    &none,
                ];
                deadheat(&[&options, [file.as_str()].as_slice()].concat()).fails_with(&["more than 64 MiB"]);
            } else {
                let error = [name, "needs more than 64 MiB", "--compress on", "--memory-limit"];
                let options = ["--memory-limit", "64M"];
                reports_and_fails(&files, &options, &file, "deadheat: 2 data races", &error);
            }
        }
    }
    let small = files.file("small.txt", TWO_RACES);
    assert_eq!(deadheat(&["analyze", "--memory-limit", "1G", &small]).status, 66);
    deadheat(&["analyze", "--memory-limit", "much", &small]).fails_with(&["--memory-limit", "8G"]);
}

#[test]
fn a_failed_analysis_that_found_nothing_leaves_the_old_report_alone() {
    let files = Files::new();
    let report = files.file("report.json", "precious");
    let trace = files.file("t.txt", "T1 w x\nT1 wobble\n");
    deadheat(&["analyze", "--output", &report, &trace]).fails_with(&["line 2"]);
    assert_eq!(std::fs::read_to_string(&report).unwrap(), "precious");
}
