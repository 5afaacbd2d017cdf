//! Programs print the same and end the same with the runtime in them. They are not instrumented: this is about the
//! interposed functions alone.

mod common;

use common::library;
use std::path::Path;
use std::process::{Command, Output};

fn run(program: &Path, with_runtime: bool) -> Output {
    let mut command = Command::new(program);
    if with_runtime {
        command.env("LD_PRELOAD", library());
    }
    command.output().expect("the program starts")
}

fn same_with_and_without(source: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(source.file_stem().expect("a file name"));
    let built = Command::new("cc")
        .args(["-g", "-O1", "-pthread", "-w", "-o"])
        .args([&program, &source])
        .status()
        .expect("a C compiler");
    assert!(built.success());
    let (plain, with) = (run(&program, false), run(&program, true));
    assert_eq!(
        String::from_utf8_lossy(&plain.stdout),
        String::from_utf8_lossy(&with.stdout)
    );
    assert_eq!(
        String::from_utf8_lossy(&plain.stderr),
        String::from_utf8_lossy(&with.stderr)
    );
    assert_eq!(plain.status, with.status);
    assert!(!plain.stdout.is_empty(), "a program that shows something");
}

macro_rules! programs {
    ($directory:literal: $($name:ident)*) => { $(
        #[test]
        fn $name() {
            same_with_and_without(concat!($directory, stringify!($name), ".c"));
        }
    )* };
}

programs! {
    "tests/c/":
    allocates
    ends
    errors
    forks
}

programs! {
    "../../tests/programs/c/":
    barrier_crowd
    cancel_wait
    signal_default
    stream_lock
}
