//! The reporter process, and saved reports: made-up lines of a program on stdin.

use crate::harness::{Files, Ran, command, deadheat};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

/// Two races of a program without names.
const RUN: &str = "\
deadheat\t1\t77
command\t./server\t--port 80
thread\t0\t77\t-\t-\tserver
thread\t1\t78\t0\t-\tworker
stack\t1\t1001
stack\t2\t2001
race\t1\t7f00\t4
access\t1\twrite\tplain\t7f00\t4\t1
access\t0\tread\tplain\t7f00\t4\t2
memory\theap\t7ef0\t20\t0\t-
end\t1
race\t2\t7f08\t4
access\t1\twrite\tplain\t7f08\t4\t1
access\t0\twrite\tatomic\t7f08\t4\t2
memory\tunknown
end\t2
count\t1\t3
count\t2\t1
exit\t0
";

fn reporter(options: &str) -> Command {
    let mut command = command(&["__report"]);
    command.env("DEADHEAT_OPTIONS", options);
    command
}

/// Has the reporter read `input` from a socket. What it answered, too.
fn report(options: &str, input: &str) -> (Ran, String) {
    let (mut ours, theirs) = UnixStream::pair().expect("a channel");
    let child = reporter(options)
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    ours.write_all(input.as_bytes()).expect("it listens");
    ours.shutdown(Shutdown::Write).expect("an end");
    let mut answers = String::new();
    let output = child.wait_with_output().expect("the binary ends");
    ours.read_to_string(&mut answers).expect("answers");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    let ran = Ran {
        status: output.status.code().expect("no signal ended it"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    };
    (ran, answers)
}

#[test]
fn races_are_printed_and_answered_and_counted() {
    let (run, answers) = report("", RUN);
    assert_eq!((run.status, answers.as_str()), (66, "11"), "{}", run.stderr);
    assert_eq!(run.last_line(), "deadheat: 2 data races");
    assert_eq!(run.stdout, "");
    for part in [
        "Write of size 4 at 0x7f00 by thread T1 'worker', no locks held:",
        "Previous read of size 4 at 0x7f00 by main thread",
        "at offset 16 in a heap block of 32 bytes at 0x7ef0, allocated by main thread",
        "Hint: One access is atomic",
        "./server '--port 80'",
    ] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
}

#[test]
fn a_run_without_races_ends_well() {
    let (run, answers) = report("", "deadheat\t1\t77\nexit\t0\n");
    assert_eq!((run.status, answers.as_str()), (0, ""));
    assert_eq!(run.stderr, "deadheat: no data races\n");
}

#[test]
fn options_come_from_the_environment() {
    let files = Files::new();
    let rules = files.file("rules", "race:^worker$\nrace:0x1000\n");
    let (logs, output) = (files.path("logs"), files.path("out.json"));
    let (run, _) = report("exit_code=3:color=always", RUN);
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("\u{1b}["));
    let (run, _) = report("format=json", RUN);
    assert_eq!(run.json()["summary"]["occurrences"], 4);
    assert_eq!(run.json()["races"][0]["count"], 3);
    assert_eq!(run.stderr, "deadheat: 2 data races\n");
    let (run, _) = report(&format!("log_dir='{logs}':suppressions={rules}"), RUN);
    assert_eq!(run.status, 66);
    let left: Vec<_> = std::fs::read_dir(&logs).unwrap().collect();
    assert_eq!(left.len(), 1);
    let (run, _) = report(&format!("format=json:output='{output}'"), RUN);
    assert_eq!(run.stdout, "");
    let known = std::fs::read_to_string(&output).unwrap();
    assert!(known.contains("\"tool\": \"deadheat\""));
    let (run, answers) = report(&format!("baseline='{output}'"), RUN);
    assert_eq!((run.status, answers.as_str()), (0, "00"));
    assert_eq!(run.last_line(), "deadheat: no data races (2 in the baseline)");
}

#[test]
fn a_program_that_was_killed_is_said_to_be() {
    let cut = RUN.find("race\t2").unwrap();
    let (run, _) = report("", &RUN[..cut + 20]);
    assert_eq!(run.status, 66);
    assert_eq!(run.last_line(), "deadheat: 1 data race");
    assert!(run.stderr.contains("ended without a word"), "{}", run.stderr);
}

#[test]
fn a_file_of_lines_is_read_and_stays_as_it_is() {
    let files = Files::new();
    let lines = files.file("lines", RUN);
    let file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&lines)
        .unwrap();
    let output = reporter("").stdin(file).output().unwrap();
    assert_eq!(output.status.code(), Some(66));
    assert_eq!(std::fs::read_to_string(&lines).unwrap(), RUN);
}

#[test]
fn a_saved_report_is_shown_again() {
    let files = Files::new();
    let (run, _) = report("format=json", RUN);
    let saved = files.file("run.json", &run.stdout);
    let text = deadheat(&["report", &saved]);
    assert_eq!((text.status, text.last_line()), (66, "deadheat: 2 data races"));
    assert!(text.stderr.contains("Seen 3 times."), "{}", text.stderr);
    let again = deadheat(&["report", &saved, "--format", "json", "--exit-code", "0"]);
    assert_eq!((again.status, again.json()), (0, run.json()));
    let sarif = deadheat(&["report", &saved, "--format", "sarif"]);
    assert_eq!(
        sarif.json()["runs"][0]["results"].as_array().map(Vec::len),
        Some(2)
    );
    let id = run.json()["races"][1]["id"].as_str().unwrap().to_owned();
    let one = deadheat(&["report", &saved, "--only", &id]);
    assert_eq!(one.last_line(), "deadheat: 1 data race");
    let trace = files.file("t.txt", "T1 w x; T2 w x");
    let traced = deadheat(&["analyze", "--format", "json", &trace]);
    let traced = files.file("trace.json", traced.stdout);
    assert_eq!(
        deadheat(&["report", &traced]).last_line(),
        "deadheat: 1 data race"
    );
    deadheat(&["report", &trace]).fails_with(&["t.txt", "not a deadheat report"]);
    deadheat(&["report", "--output", &saved, &saved]).fails_with(&["is the input"]);
}
