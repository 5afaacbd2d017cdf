//! Programs of Rust and C: one runtime, and a race across the border is found.

use crate::cargo::cargo_command;
use crate::harness::{Files, Ran, command, ran, root};
use crate::native::cache;
use std::path::PathBuf;
use std::process::Command;

/// `cargo deadheat` in the project.
fn cargo(arguments: &[&str]) -> Ran {
    let mut command = cargo_command(&root().join("tests/fixtures/mixed"), arguments);
    ran(command.env("CARGO_TARGET_DIR", made()))
}

fn made() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_TARGET_TMPDIR"), "/mixed"))
}

#[track_caller]
fn is_quiet(run: &Ran) {
    assert_eq!((run.status, run.stdout.as_str()), (0, "done\n"), "{}", run.stderr);
}

/// One race, with these two lines.
#[track_caller]
fn races(run: &Ran, lines: [&str; 2]) {
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "done\n"),
        "{}",
        run.stderr
    );
    for line in lines {
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
    }
    assert_eq!(run.last_line(), "deadheat: 1 data race");
}

#[test]
fn c_of_a_build_script_is_instrumented() {
    let run = cargo(&["run", "--locked", "--package", "mixed-app"]);
    races(&run, ["src/bump.c:2:", "src/main.rs:26:"]);
    is_quiet(&cargo(&[
        "run",
        "--locked",
        "--package",
        "mixed-app",
        "--",
        "locked",
    ]));
}

/// `cargo deadheat test` of a crate whose C has threads of its own.
fn vendored(arguments: &[&str]) -> Ran {
    let directory = root().join("tests/fixtures/vendored");
    let mut command = cargo_command(&directory, &["test", "--locked"]);
    let made = concat!(env!("CARGO_TARGET_TMPDIR"), "/vendored");
    ran(command.args(arguments).env("CARGO_TARGET_DIR", made))
}

#[test]
fn threads_of_c_that_a_crate_brings_are_checked_with_those_of_rust() {
    let run = vendored(&["--test", "zstd"]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("2 passed"), "{}", run.stdout);
    assert_eq!(run.last_line(), "deadheat: no data races");
    // And what is wrong is found, in C and in Rust.
    let run = vendored(&["--test", "zstd", "--", "--ignored"]);
    assert_eq!(run.status, 66, "{}{}", run.stdout, run.stderr);
    for part in ["tests/zstd.rs:", "/zstd/lib/compress/"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    assert_eq!(run.last_line(), "deadheat: 1 data race");
}

#[test]
fn rust_that_c_calls_is_instrumented() {
    let run = cargo(&["build", "--locked", "--package", "mixed-lib"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let place = made().join("deadheat/x86_64-unknown-linux-gnu/debug");
    let place = place.to_str().unwrap();
    let main = root().join("tests/fixtures/mixed/main.c");
    let files = Files::new();
    let program = files.path("program");
    let (archive, path, rpath) = (
        format!("{place}/libmixed.a"),
        format!("-L{place}"),
        format!("-Wl,-rpath,{place}"),
    );
    for library in [
        &[archive.as_str()][..],
        &[path.as_str(), "-lmixed", rpath.as_str()],
    ] {
        let mut cc = command(&["cc", "-g", "-pthread"]);
        cc.arg(&main)
            .args(library)
            .args(["-o", &program])
            .env("DEADHEAT_CACHE", cache());
        let run = ran(&mut cc);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        let run = |words: &[&str]| ran(Command::new(&program).args(words).env_remove("DEADHEAT_OPTIONS"));
        races(&run(&[]), ["main.c:17:", "src/lib.rs:14:"]);
        is_quiet(&run(&["locked"]));
    }
}
