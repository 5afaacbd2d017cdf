//! Memory that is limited, gone, or plenty.

use super::{Program, possible, shell};

#[test]
fn a_limit_that_may_be_raised_is_no_obstacle() {
    let program = Program::new("race");
    for limit in ["ulimit -S -v 4000000;", "ulimit -S -d 400000;"] {
        program.alone(limit, "").raced_like(&program.native(limit, ""));
        program
            .checked(limit, "", "")
            .raced_like(&program.native(limit, ""));
    }
}

#[test]
fn a_limit_that_may_not_be_raised_is_named() {
    // Whoever may raise limits must not here.
    let plain = "setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource";
    let unprivileged = shell("test $(id -u) != 0").status == 0;
    if !unprivileged && !possible(plain) {
        return;
    }
    let program = Program::new("race");
    for limit in ["ulimit -v 4000000;", "ulimit -d 400000;"] {
        let line = |run: &str| match unprivileged {
            true => format!("{limit} exec {run}"),
            false => format!("exec {plain} sh -c '{limit} exec \"$0\" \"$@\"' {run}"),
        };
        let alone = shell(&line(&program.ours));
        assert_eq!(
            (alone.status, alone.stdout.as_str()),
            (4, "done\n"),
            "{}",
            alone.stderr
        );
        assert!(alone.stderr.contains("UNCHECKED"), "{}", alone.stderr);
        assert!(alone.stderr.contains("`ulimit -v`"), "{}", alone.stderr);
        let deadheat = env!("CARGO_BIN_EXE_deadheat");
        let checked = shell(&line(&format!("{deadheat} check {}", program.ours)));
        checked.fails_with(&["`ulimit -v`"]);
        assert!(
            checked
                .last_line()
                .starts_with("deadheat: error: the program cannot be checked: "),
            "{}",
            checked.stderr
        );
        assert!(!checked.stderr.contains("no data races"), "{}", checked.stderr);
    }
}

#[test]
fn a_program_that_limits_itself_runs_out_where_it_would_and_goes_on() {
    let program = Program::new("memory");
    for which in ["v", "d"] {
        let native = program.native("", which);
        assert_eq!(native.status, 7);
        for run in [program.alone("", which), program.checked("", "", which)] {
            assert_eq!((run.status, &run.stdout), (66, &native.stdout), "{}", run.stderr);
            run.told_of("raced");
            run.told_of("late");
        }
    }
}

#[test]
fn where_the_kernel_has_no_memory_at_all_the_runtime_goes_on_with_what_it_has_put_by() {
    let program = Program::new("memory");
    let native = program.native("", "m");
    let run = program.checked("", "", "m");
    assert_eq!((run.status, &run.stdout), (66, &native.stdout), "{}", run.stderr);
    run.told_of("raced");
    run.told_of("late");
}

#[test]
fn a_heap_of_ten_gigabytes_costs_what_is_touched() {
    let program = Program::new("heap");
    let dense = 200;
    let megabytes = |run: &super::Ran| run.stdout.trim().parse::<u64>().expect("a number");
    let native = program.native("", &dense.to_string());
    let run = program.checked("", "", &dense.to_string());
    assert_eq!(run.status, 66, "{}", run.stderr);
    run.told_of("raced");
    // Two bytes of shadow for each, whole pages of it where single bytes are touched, and what the runtime is.
    let (without, with) = (megabytes(&native), megabytes(&run));
    assert!(with < 4 * without + 150, "{without} MB natively, {with} MB");
}

#[test]
fn where_madvise_is_not_allowed_memory_that_comes_again_has_no_history() {
    let confine = Program::new("confine");
    let program = Program::of("../../../../../tests/programs/c/map_reuse.c");
    for madvise in ["1 28", "38 28"] {
        let run = program.wrapped(&format!("{} {madvise}", confine.native), "");
        assert_eq!(run.stderr, "", "{madvise}");
        assert_eq!(run.status, 0, "{madvise}");
    }
}
