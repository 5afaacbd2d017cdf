//! Threads: many, few, on little stack, with many locks.

use super::Program;

/// How many times as much as usual is to be done.
fn times() -> u64 {
    let times = std::env::var("DEADHEAT_CASES");
    times.ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// Threads one after another.
const SHORT: u64 = 100_000;
/// More than there are slots in shadow words: fewer, because each takes longer where none can be used again.
const UNHEARD: u64 = 20_000;

fn short_threads(how: &str, count: u64, races: &[&str]) {
    let program = Program::new("threads");
    let arguments = format!("{how} {}", count * times());
    let native = program.native("", &arguments);
    let run = program.checked("", "", &arguments);
    assert_eq!((run.status, &run.stdout), (66, &native.stdout), "{}", run.stderr);
    for race in races {
        run.told_of(race);
    }
    let heads = run.stderr.matches("WARNING: deadheat").count();
    assert_eq!(heads, races.len(), "{}", run.stderr);
    assert!(!run.stderr.contains("no longer checked"), "{}", run.stderr);
}

#[test]
fn short_threads_that_are_waited_for() {
    short_threads("j", SHORT, &["raced"]);
}

#[test]
fn short_threads_that_say_that_they_are_done() {
    short_threads("s", SHORT, &["raced"]);
}

#[test]
fn short_threads_that_nobody_hears_of() {
    short_threads("d", UNHEARD, &["early", "raced"]);
}

#[test]
fn two_thousand_threads_at_once() {
    let program = Program::new("alive");
    program
        .checked("", "", "2000")
        .raced_like(&program.native("", "2000"));
}

#[test]
fn threads_run_out() {
    let program = Program::new("starved");
    program.checked("", "", "").raced_like(&program.native("", ""));
    // No process for a reporter either: the runtime tells what it can.
    let run = program.alone("", "");
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "went on\n"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("deadheat: data race at 0x"), "{}", run.stderr);
    assert!(run.stderr.contains("ours+0x"), "{}", run.stderr);
    assert!(run.stderr.contains("addr2line"), "{}", run.stderr);
    assert_eq!(run.last_line(), "deadheat: 1 data race");
}

#[test]
fn small_and_alternate_stacks() {
    let program = Program::new("small");
    for how in ["s", "o"] {
        program.alone("", how).raced_like(&program.native("", how));
    }
    let run = program.alone("", "a");
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "done\n"),
        "{}",
        run.stderr
    );
    run.told_of("handled");
}

#[test]
fn deep_recursion() {
    let program = Program::new("deep");
    program.checked("", "", "n").raced_like(&program.native("", "n"));
    for how in ["m", "t"] {
        let native = program.native("", how);
        assert_eq!((native.status, native.stdout.as_str()), (128 + 11, "back\n"));
        let alone = program.alone("", how);
        assert_eq!(
            (alone.status, &alone.stdout),
            (native.status, &native.stdout),
            "{}",
            alone.stderr
        );
        let run = program.checked("", "", how);
        run.raced_like(&native);
        assert!(run.stderr.contains("SIGSEGV"), "{}", run.stderr);
    }
}

#[test]
fn many_locks_at_once_and_locks_that_go_while_held() {
    let program = Program::new("locks");
    program.checked("", "", "").raced_like(&program.native("", ""));
}

/// All at once, for seconds, or for as many times as long.
#[test]
fn under_load_nothing_is_made_up_and_nothing_is_lost() {
    let program = Program::new("load");
    let seconds = 2 * times();
    let run = program.checked("", "", &seconds.to_string());
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (0, "all right\n"),
        "{}",
        run.stderr
    );
    assert_eq!(run.stderr, "deadheat: no data races\n");
    let run = program.checked("", "", &format!("{seconds} races"));
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "all right\n"),
        "{}",
        run.stderr
    );
    for n in 0..16 {
        run.told_of(&format!("raced_{n}"));
    }
    assert_eq!(run.last_line(), "deadheat: 16 data races");
}
