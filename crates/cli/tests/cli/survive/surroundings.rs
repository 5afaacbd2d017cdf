//! Where programs run: address spaces, filters of system calls, no `/proc`, no files, no disk, no symbols.

use super::{Program, possible, shell};

#[test]
fn any_layout_of_the_address_space_will_do() {
    let program = Program::new("race");
    let native = program.native("", "");
    for wrapper in ["setarch -R", "setarch -L", "setarch -L -R"] {
        if possible(wrapper) {
            program.wrapped(wrapper, "").raced_like(&native);
        }
    }
    for limit in ["ulimit -s unlimited;", "ulimit -s 100;"] {
        program.alone(limit, "").raced_like(&native);
        program.checked(limit, "", "").raced_like(&native);
    }
}

#[test]
fn a_stack_without_a_limit_has_none_for_the_program_either() {
    let program = Program::new("limits");
    let native = program.native("ulimit -s unlimited;", "");
    let run = program.alone("ulimit -s unlimited;", "");
    assert_eq!((run.status, &run.stdout), (0, &native.stdout), "{}", run.stderr);
}

/// Numbers of system calls.
const MINCORE: &str = "27";
const MADVISE: &str = "28";
const PTRACE_AND_THE_LIKE: &str = "101,310,311";
const PERSONALITY: &str = "135";
const MEMBARRIER: &str = "324";
const CLONE3: &str = "435";
const CLOSE_RANGE: &str = "436";

#[test]
fn filters_of_system_calls_are_no_obstacle() {
    let confine = Program::new("confine");
    let program = Program::new("race");
    let native = program.native("", "");
    for (action, calls) in [
        ("1", MEMBARRIER),
        ("38", MEMBARRIER),
        ("kill", MEMBARRIER),
        ("1", PERSONALITY),
        ("kill", PERSONALITY),
        ("kill", PTRACE_AND_THE_LIKE),
        ("38", CLONE3),
        ("1", MINCORE),
        ("1", MADVISE),
        ("1", CLOSE_RANGE),
        ("kill", "101,135,310,311,324"),
    ] {
        let run = program.wrapped(&format!("{} {action} {calls}", confine.native), "");
        eprintln!("{action} {calls}");
        run.raced_like(&native);
    }
    // Even where it would have to be started again, and may not.
    let run = shell(&format!(
        "ulimit -s unlimited; exec {} kill {PERSONALITY} {}",
        confine.native, program.ours
    ));
    if run.status == 66 {
        // There was room, by chance: the more the kernel randomises, the likelier.
        return run.raced_like(&native);
    }
    assert_eq!((run.status, &run.stdout), (4, &native.stdout), "{}", run.stderr);
    assert!(run.stderr.contains("UNCHECKED"), "{}", run.stderr);
}

/// Sets how much the kernel randomises, and sets it back.
struct Randomness(String);

impl Randomness {
    const FILE: &str = "/proc/sys/vm/mmap_rnd_bits";

    fn set(bits: &str) -> Option<Randomness> {
        let before = std::fs::read_to_string(Randomness::FILE).ok()?;
        std::fs::write(Randomness::FILE, bits).ok()?;
        Some(Randomness(before))
    }
}

impl Drop for Randomness {
    fn drop(&mut self) {
        let _ = std::fs::write(Randomness::FILE, &self.0);
    }
}

#[test]
fn however_much_the_kernel_randomises_there_is_room() {
    let program = Program::new("race");
    let native = program.native("", "");
    let Some(_randomness) = Randomness::set("32") else {
        eprintln!("{} cannot be set here: not tested", Randomness::FILE);
        return;
    };
    for _ in 0..20 {
        program.alone("", "").raced_like(&native);
    }
}

#[test]
fn without_proc_all_is_as_with_it() {
    let without = "unshare -m sh -c 'umount -l /proc && exec \"$0\" \"$@\"'";
    if !possible(without) {
        return;
    }
    let program = Program::new("race");
    let native = program.native("", "");
    let run = program.wrapped(without, "");
    run.raced_like(&native);
    assert!(
        run.stderr.contains("race.h:"),
        "places have lines: {}",
        run.stderr
    );
    // It must be started again here.
    let endless = "unshare -m sh -c 'umount -l /proc && ulimit -s unlimited && exec \"$0\" \"$@\"'";
    program.wrapped(endless, "").raced_like(&native);
}

#[test]
fn stripped_programs_are_told_by_offsets_and_how_to_get_more() {
    let program = Program::new("race");
    let native = program.native("", "");
    for strip in ["strip -g", "strip"] {
        assert_eq!(shell(&format!("{strip} {}", program.ours)).status, 0);
        let run = program.alone("", "");
        assert_eq!((run.status, &run.stdout), (66, &native.stdout), "{}", run.stderr);
        assert!(
            run.stderr.contains("(ours+0x") || run.stderr.contains("/ours+0x"),
            "{}",
            run.stderr
        );
        assert!(
            run.stderr.contains("no debug information: build it with `-g`"),
            "{}",
            run.stderr
        );
        assert_eq!(run.last_line(), "deadheat: 1 data race");
    }
}

#[test]
fn a_full_disk_does_not_swallow_the_report() {
    let program = Program::new("race");
    for (before, options) in [
        ("", "--output /dev/full"),
        ("", "--format json --output /dev/full"),
        ("exec >/dev/full;", "--format sarif"),
    ] {
        let run = program.checked(before, options, "");
        run.fails_with(&["No space left"]);
        run.told_of("raced");
        assert!(run.last_line().starts_with("deadheat: error: "), "{}", run.stderr);
    }
    let run = program.alone("export DEADHEAT_OPTIONS=output=/dev/full;", "");
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "done\n"),
        "{}",
        run.stderr
    );
    run.told_of("raced");
    // Nowhere to say anything: the status does.
    for nowhere in ["exec 2>/dev/full;", "exec 2>&-;"] {
        let run = program.checked(nowhere, "", "");
        assert_eq!((run.status, run.stdout.as_str()), (66, "done\n"));
        let run = program.alone(nowhere, "");
        assert_eq!((run.status, run.stdout.as_str()), (66, "done\n"));
    }
}

#[test]
fn programs_that_close_what_is_open_are_heard() {
    let program = Program::new("files");
    for how in ["c", "r", "f", "d", "2"] {
        let native = program.native("", how);
        let run = program.checked("", "", how);
        eprintln!("{how}");
        run.raced_like(&native);
        let run = program.alone("", how);
        // Without stderr nobody hears it, but for the status.
        assert_eq!((run.status, &run.stdout), (66, &native.stdout), "{}", run.stderr);
        if how != "2" {
            run.told_of("raced");
        }
    }
    // By means that nobody sees: there is a reporter yet.
    for run in [program.alone("", "s"), program.checked("", "", "s")] {
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (66, "done\n"),
            "{}",
            run.stderr
        );
        run.told_of("raced");
    }
}

#[test]
fn programs_that_have_all_descriptors_are_heard() {
    let program = Program::new("files");
    for how in ["u", "h"] {
        let run = program.checked("", "", how);
        run.raced_like(&program.native("", how));
    }
    let run = program.alone("", "u");
    run.raced_like(&program.native("", "u"));
    // Whoever may raise a hard limit has a reporter; else the runtime tells what it can.
    let run = program.alone("", "h");
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "still none\n"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("data race"), "{}", run.stderr);
}
