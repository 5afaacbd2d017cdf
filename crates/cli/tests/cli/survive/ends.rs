//! Ends in the middle of things: what was found before is told, and the program ends as it would.

use super::Program;
use crate::native::cache;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

#[test]
fn a_program_ends_as_it_would_and_what_was_found_is_told() {
    let program = Program::new("ends");
    for how in ["a", "e", "k", "m", "s"] {
        let native = program.native("", how);
        eprintln!("{how}");
        program.checked("", "", how).raced_like(&native);
        let alone = program.alone("", how);
        // Who is killed cannot choose a status.
        let status = if native.status > 128 { native.status } else { 66 };
        if how != "m" {
            assert_eq!(
                (alone.status, &alone.stdout),
                (status, &native.stdout),
                "{}",
                alone.stderr
            );
        }
        // The reporter of a program that was killed outright may be a moment late.
        if how != "k" {
            alone.told_of("raced");
        }
    }
}

#[test]
fn a_child_of_fork_speaks_for_itself_unless_its_parent_is_watched() {
    let program = Program::new("ends");
    let native = program.native("", "f");
    let alone = program.alone("", "f");
    alone.raced_like(&native);
    assert!(!alone.stderr.contains("without a word"), "{}", alone.stderr);
    let stats = program.alone("DEADHEAT_OPTIONS=stats=1", "f");
    assert_eq!(stats.status, 66, "{}", stats.stderr);
    // Who watches both says it once, and of the end of the parent.
    let run = program.checked("", "", "f");
    run.raced_like(&native);
    assert!(!run.stderr.contains("without a word"), "{}", run.stderr);
}

#[test]
fn who_was_killed_is_said_to_be_with_what_was_found_until_then() {
    let program = Program::new("ends");
    let run = program.checked("", "", "k");
    let killed =
        "deadheat: warning: the program was ended by signal 9 (SIGKILL): this is what was found until then\n";
    assert_eq!(run.stderr.matches(killed).count(), 1, "{}", run.stderr);
    assert!(!run.stderr.contains("without a word"), "{}", run.stderr);
    let file = program.files.path("report.json");
    program.checked("", &format!("--format json --output {file}"), "k");
    let report = std::fs::read_to_string(&file).expect("a report");
    assert!(report.contains("(SIGKILL): this is what was found"), "{report}");
}

#[test]
fn handlers_may_allocate() {
    let program = Program::new("ends");
    let run = program.checked("", "", "h");
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "raced\nticked\n"),
        "{}",
        run.stderr
    );
    run.told_of("raced");
}

#[test]
fn a_reporter_that_is_killed_takes_nothing_with_it() {
    let program = Program::new("ends");
    let script = program.reporter_that_leaves_its_number();
    let mut child = Command::new(&program.ours)
        .arg("r")
        .env("DEADHEAT_OPTIONS", format!("reporter='{}'", script.0))
        .env("DEADHEAT_CACHE", cache())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("it says that it has raced");
    assert_eq!(line, "raced\n");
    let number = loop {
        match std::fs::read_to_string(&script.1) {
            Ok(number) if number.ends_with('\n') => break number,
            _ => std::thread::yield_now(),
        }
    };
    let killed = Command::new("kill").args(["-KILL", number.trim()]).status();
    assert!(killed.expect("kill").success());
    child
        .stdin
        .take()
        .expect("piped")
        .write_all(b"x")
        .expect("it reads");
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("output");
    assert_eq!(rest, "went on\n");
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(66), "{stderr}");
}

impl Program {
    /// A script that is a reporter, and the file where it leaves the number of its process.
    fn reporter_that_leaves_its_number(&self) -> (String, String) {
        let number = self.files.path("number");
        let deadheat = env!("CARGO_BIN_EXE_deadheat");
        let script = self.files.file(
            "reporter",
            format!("#!/bin/sh\necho $$ > {number}\nexec {deadheat} \"$@\"\n"),
        );
        assert!(
            Command::new("chmod")
                .args(["+x", &script])
                .status()
                .expect("chmod")
                .success()
        );
        (script, number)
    }
}
