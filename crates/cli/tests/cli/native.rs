//! `deadheat check` on sources and programs: what is built, what is reported, how it ends.

use crate::harness::{Files, Ran, command, ran};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Results of instrumenting are kept between tests and between runs: std takes a while.
pub fn cache() -> &'static str {
    concat!(env!("CARGO_TARGET_TMPDIR"), "/cache")
}

fn check_command(arguments: &[&str]) -> Command {
    let mut all = vec!["check"];
    all.extend(arguments);
    let mut command = command(&all);
    command
        .env("DEADHEAT_CACHE", cache())
        .env_remove("DEADHEAT_OPTIONS");
    command
}

fn check(arguments: &[&str]) -> Ran {
    ran(&mut check_command(arguments))
}

/// Two threads meet at a barrier and write behind it, where nothing orders them, however they are scheduled.
const RACE_C: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int shared;
static pthread_barrier_t barrier;

static void *work(void *unused) {
    (void)unused;
    pthread_barrier_wait(&barrier);
    shared++;
    return 0;
}

int main(int argc, char **argv) {
    pthread_t a, b;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    for (int i = 1; i < argc; i++)
        puts(argv[i]);
    return argc > 1 ? atoi(argv[1]) : 0;
}
"#;

/// The same with a lock.
fn locked_c() -> String {
    RACE_C
        .replace(
            "int shared;",
            "int shared;\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;",
        )
        .replace(
            "shared++;",
            "pthread_mutex_lock(&lock); shared++; pthread_mutex_unlock(&lock);",
        )
}

const RACE_CPP: &str = r#"
#include <barrier>
#include <thread>
#include <vector>

int main() {
    std::vector<int> data(4);
    std::barrier start(2);
    auto work = [&] { start.arrive_and_wait(); data[1]++; };
    std::thread a(work), b(work);
    a.join();
    b.join();
    return data[1] == 99;
}
"#;

const RACE_RS: &str = r#"
use std::sync::Barrier;

static mut SHARED: u32 = 0;

fn main() {
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                barrier.wait();
                unsafe { SHARED += 1 } // SAFETY: none. It is the race that is to be found.
            });
        }
    });
    println!("done");
}
"#;

fn locked_rs() -> String {
    RACE_RS
        .replace(
            "static mut SHARED: u32 = 0;",
            "static SHARED: std::sync::Mutex<u32> = std::sync::Mutex::new(0);",
        )
        // What has no SAFETY goes.
        .replace("unsafe { SHARED += 1 }", "*SHARED.lock().unwrap() += 1;")
}

#[test]
fn a_race_in_c_is_reported_with_its_line() {
    let files = Files::new();
    let source = files.file("race.c", RACE_C);
    let run = check(&[&source]);
    assert_eq!(run.status, 66, "{}", run.stderr);
    assert!(run.stderr.contains("race.c:12:"), "{}", run.stderr);
    assert!(run.stderr.contains("data race on shared"), "{}", run.stderr);
    assert!(run.last_line().starts_with("deadheat: "), "{}", run.stderr);
    assert!(run.last_line().contains("data race"), "{}", run.stderr);
}

#[test]
fn one_place_without_a_line_is_not_a_program_without_debug_information() {
    let files = Files::new();
    let nowhere =
        "__attribute__((nodebug, noinline)) static void add(void) { shared++; }\n\nstatic void *work";
    let text = RACE_C
        .replace("    shared++;", "    add();")
        .replacen("static void *work", nowhere, 1);
    let run = check(&[&files.file("race.c", text)]);
    assert_eq!(run.status, 66, "{}", run.stderr);
    assert!(run.stderr.contains("race.c:"), "{}", run.stderr);
    assert!(!run.stderr.contains("no debug information"), "{}", run.stderr);
}

#[test]
fn without_a_race_output_and_status_are_the_programs_own() {
    let files = Files::new();
    let source = files.file("locked.c", locked_c());
    let run = check(&[&source, "--", "7", "a b"]);
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (7, "7\na b\n"),
        "{}",
        run.stderr
    );
    assert_eq!(run.stderr, "deadheat: no data races\n");
}

#[test]
fn cpp_is_built_with_the_flags_given() {
    let files = Files::new();
    let source = files.file("race.cc", RACE_CPP);
    for flags in ["-std=c++20", "-std=c++20 -O2"] {
        let run = check(&["--cflags", flags, &source]);
        assert_eq!(run.status, 66, "{}", run.stderr);
        assert!(run.stderr.contains("race.cc:9:"), "{}", run.stderr);
    }
    check(&["--cflags", "-std=c++11", &source]).fails_with(&["race.cc", "cannot be built"]);
}

#[test]
fn rust_is_built_and_its_standard_library_causes_no_alarm() {
    let files = Files::new();
    let run = check(&[&files.file("race.rs", RACE_RS)]);
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "done\n"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("race.rs:12:"), "{}", run.stderr);
    let locked = files.file("locked.rs", locked_rs());
    for flags in ["", "-O", "--edition 2021 -Cdebug-assertions=off"] {
        let run = check(&["--rustflags", flags, &locked]);
        assert_eq!(run.stderr, "deadheat: no data races\n", "{flags}");
        assert_eq!((run.status, run.stdout.as_str()), (0, "done\n"));
    }
}

#[test]
fn json_has_both_accesses_and_serves_as_baseline() {
    let files = Files::new();
    let source = files.file("race.c", RACE_C);
    let run = check(&["--format", "json", &source]);
    assert_eq!(run.status, 66);
    let report = run.json();
    assert!(report["summary"]["races"].as_u64().unwrap() >= 1);
    for access in report["races"][0]["accesses"].as_array().unwrap() {
        assert_eq!(access["frames"][0]["function"], "work");
        assert_eq!(access["frames"][0]["line"], 12);
    }
    assert!(!run.stderr.contains("WARNING"), "{}", run.stderr);
    let known = files.file("known.json", &run.stdout);
    let again = check(&["--baseline", &known, &source]);
    // A second run may see the pair in other kinds (a read first, then a write), so only what is known is not counted.
    assert!(again.stderr.contains("in the baseline"), "{}", again.stderr);
}

#[test]
fn suppressions_and_exit_code_and_output_file() {
    let files = Files::new();
    let source = files.file("race.c", RACE_C);
    let rules = files.file("rules", "race:work\n");
    let run = check(&["--suppressions", &rules, &source]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.last_line().starts_with("deadheat: no data races ("),
        "{}",
        run.stderr
    );
    assert!(run.last_line().contains("suppressed"), "{}", run.stderr);

    let output = files.path("report.txt");
    let run = check(&["--exit-code", "5", "--output", &output, &source]);
    assert_eq!(run.status, 5);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    let report = std::fs::read_to_string(&output).unwrap();
    assert!(report.contains("race.c:12:"), "{report}");
}

#[test]
fn options_come_from_the_environment_too_and_wrong_ones_are_named() {
    let files = Files::new();
    let source = files.file("race.c", RACE_C);
    let run = ran(check_command(&[&source]).env("DEADHEAT_OPTIONS", "exit_code=9"));
    assert_eq!(run.status, 9, "{}", run.stderr);
    let run = ran(check_command(&["--exit-code", "8", &source]).env("DEADHEAT_OPTIONS", "exit_code=9"));
    assert_eq!(run.status, 8, "{}", run.stderr);
    let run = ran(check_command(&[&source]).env("DEADHEAT_OPTIONS", "exit_kode=9"));
    run.fails_with(&["exit_kode", "exit_code"]);
}

#[test]
fn a_program_ended_by_a_signal_is_told_as_a_shell_does() {
    let files = Files::new();
    let source = files.file("abort.c", "#include <stdlib.h>\nint main(void) { abort(); }\n");
    let run = check(&[&source]);
    assert_eq!(run.status, 128 + 6, "{}", run.stderr);
    assert!(run.stderr.contains("SIGABRT"), "{}", run.stderr);
    assert_eq!(run.last_line(), "deadheat: no data races");
}

#[test]
fn signals_are_passed_on() {
    let files = Files::new();
    let source = files.file(
        "wait.c",
        "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n\
         static void end(int signal) { _exit(signal + 20); }\n\
         int main(void) { signal(SIGTERM, end); puts(\"ready\"); fflush(stdout); for (;;) pause(); }\n",
    );
    let mut child = check_command(&[&source])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let killed = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(15 + 20));
}

#[test]
fn the_program_ends_at_the_first_race_if_that_is_asked_for() {
    let files = Files::new();
    let source = files.file("race.c", RACE_C);
    let run = check(&["--halt-on-race", &source, "--", "0"]);
    assert_eq!((run.status, run.stdout.as_str()), (66, ""), "{}", run.stderr);
    assert_eq!(run.last_line(), "deadheat: 1 data race");
    // What does not count does not end it.
    let rules = files.file("rules", "race:work\n");
    let run = check(&["--halt-on-race", "--suppressions", &rules, &source, "--", "0"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "0\n"), "{}", run.stderr);
}

#[test]
fn libraries_among_the_flags_stand_behind_the_source() {
    let files = Files::new();
    let part = files.file("part.c", "int part(void) { return 5; }\n");
    let object = files.path("part.o");
    let made = Command::new("cc").args(["-c", &part, "-o", &object]).status();
    assert!(made.unwrap().success());
    let made = Command::new("ar")
        .args(["rcs", &files.path("libpart.a"), &object])
        .status();
    assert!(made.unwrap().success());
    let source = files.file("main.c", "int part(void);\nint main(void) { return part(); }\n");
    let run = check(&["--cflags", &format!("-L{} -lpart", files.path("")), &source]);
    assert_eq!(run.status, 5, "{}", run.stderr);
}

#[test]
fn what_cannot_be_built_is_an_error() {
    let files = Files::new();
    let broken = files.file("broken.c", "int main(void) { return }\n");
    check(&[&broken]).fails_with(&["broken.c", "clang", "failed"]);
    let broken = files.file("broken.rs", "fn main() {");
    check(&[&broken]).fails_with(&["broken.rs", "rustc failed"]);
    check(&[&files.path("nothing.c")]).fails_with(&["nothing.c", "cannot read"]);
    let fine = files.file("fine.c", "int main(void) { return 0; }\n");
    check(&["--cflags", "-static", &fine]).fails_with(&["static programs cannot be checked"]);
    let fine = files.file("fine.rs", "fn main() {}\n");
    check(&["--rustflags", "-Ctarget-feature=+crt-static", &fine]).fails_with(&["static programs"]);
}

#[test]
fn a_missing_clang_is_named_with_the_package_that_has_it() {
    let files = Files::new();
    let fine = files.file("fine.c", "int main(void) { return 0; }\n");
    let run = ran(check_command(&[&fine]).env("DEADHEAT_CLANG", "/nowhere/clang"));
    run.fails_with(&["/nowhere/clang", "clang-22", "apt-get install"]);
    let run = ran(check_command(&[&fine]).env("PATH", files.path("")));
    run.fails_with(&["clang-22", "apt-get install"]);
}

#[test]
fn programs_that_were_not_built_for_it_are_refused() {
    check(&["/bin/true"]).fails_with(&["was not built with deadheat", "cargo deadheat build"]);
    check(&["no-such-program"]).fails_with(&["no-such-program"]);
    let files = Files::new();
    let script = files.file("script.sh", "#!/bin/sh\n");
    check(&[&script]).fails_with(&["neither a program nor a source"]);
}

/// Builds `source` as `deadheat check` would, to the program at `output`.
fn build(files: &Files, source: &str, output: &str) {
    // The command leaves its faces beside the runtime.
    assert_eq!(
        check(&[&files.file("empty.c", "int main(void) { return 0; }\n")]).status,
        0
    );
    let homes = Path::new(cache()).join("runtime");
    let newest = std::fs::read_dir(homes)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("deadheat-ld"))
        .filter(|link| {
            std::fs::read_link(link).is_ok_and(|target| target == Path::new(env!("CARGO_BIN_EXE_deadheat")))
        })
        .max_by_key(|link| std::fs::symlink_metadata(link).unwrap().modified().unwrap())
        .unwrap();
    let built = Command::new("clang-22")
        .args([
            "-g",
            "-O1",
            "-flto",
            "-Xclang",
            "-disable-llvm-passes",
            "-pthread",
            "-o",
            output,
            source,
        ])
        .arg(format!("--ld-path={}", newest.display()))
        .env("DEADHEAT_CACHE", cache())
        .status()
        .unwrap();
    assert!(built.success());
}

#[test]
fn a_program_built_before_is_checked_and_reports_by_itself() {
    let files = Files::new();
    let source = files.file("race.c", RACE_C);
    let program = files.path("race");
    build(&files, &source, &program);
    let run = check(&[&program, "--", "0", "x"]);
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "0\nx\n"),
        "{}",
        run.stderr
    );
    // Alone, it starts a reporter of its own, and ends with its status.
    let alone = ran(Command::new(&program).env_remove("DEADHEAT_OPTIONS"));
    assert_eq!(alone.status, 66, "{}", alone.stderr);
    assert!(alone.stderr.contains("race.c:12:"), "{}", alone.stderr);
    assert!(alone.last_line().contains("data race"), "{}", alone.stderr);
    let alone = ran(Command::new(&program).env("DEADHEAT_OPTIONS", "exit_code=4"));
    assert_eq!(alone.status, 4, "{}", alone.stderr);
}

#[test]
fn a_cache_that_cannot_be_used_costs_time_only() {
    let files = Files::new();
    let source = files.file("locked.c", locked_c());
    let file = files.file("no-directory", "");
    let run = ran(check_command(&[&source]).env("DEADHEAT_CACHE", &file));
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(
        run.stderr.matches("results cannot be kept").count(),
        1,
        "{}",
        run.stderr
    );
}
