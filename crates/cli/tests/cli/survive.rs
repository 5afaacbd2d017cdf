//! Programs in want of memory, threads, files or privileges, and such that end in the middle of things: they behave as they would
//! without the runtime, and what was found is told. The programs are in `survive/`.

use crate::harness::{Files, Ran, command};
use crate::native::cache;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

mod ends;
mod memory;
mod surroundings;
mod threads;

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cli/survive")
        .join(name)
}

/// A program of this directory, instrumented and not.
struct Program {
    files: Files,
    ours: String,
    native: String,
}

impl Program {
    fn new(name: &str) -> Program {
        Program::of(&format!("{name}.c"))
    }

    fn of(path: &str) -> Program {
        let files = Files::new();
        let (ours, native) = (files.path("ours"), files.path("native"));
        let source = source(path);
        let flags = ["-g", "-O1", "-Wall", "-pthread", "-o"];
        let built = command(&["cc"])
            .args(flags)
            .args([Path::new(&ours), &source])
            .env("DEADHEAT_CACHE", cache())
            .status();
        assert!(built.expect("deadheat cc runs").success());
        let built = Command::new("cc")
            .args(flags)
            .args([Path::new(&native), &source])
            .status();
        assert!(built.expect("cc runs").success());
        Program { files, ours, native }
    }

    /// By itself, as the command of a wrapper.
    fn wrapped(&self, wrapper: &str, arguments: &str) -> Ran {
        shell(&format!("exec {wrapper} {} {arguments}", self.ours))
    }

    /// By itself, behind a line of shell (such as `ulimit …;`) and with arguments.
    fn alone(&self, before: &str, arguments: &str) -> Ran {
        shell(&format!("{before} exec {} {arguments}", self.ours))
    }

    /// Under `deadheat check`, behind a line of shell.
    fn checked(&self, before: &str, options: &str, arguments: &str) -> Ran {
        let deadheat = env!("CARGO_BIN_EXE_deadheat");
        shell(&format!(
            "{before} exec {deadheat} check {options} {} -- {arguments}",
            self.ours
        ))
    }

    /// Without the runtime.
    fn native(&self, before: &str, arguments: &str) -> Ran {
        shell(&format!("{before} exec {} {arguments}", self.native))
    }
}

/// What a line of shell leaves behind; a signal is told as a shell does.
fn shell(line: &str) -> Ran {
    let output = Command::new("sh")
        .args(["-c", line])
        .env("DEADHEAT_CACHE", cache())
        .env_remove("DEADHEAT_OPTIONS")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let signal = || 128 + output.status.signal().unwrap_or_default();
    Ran {
        status: output.status.code().unwrap_or_else(signal),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Whether a command that not every machine allows works here. Says so if not.
fn possible(line: &str) -> bool {
    let possible = shell(&format!("{line} true")).status == 0;
    if !possible {
        eprintln!("`{line}` is not possible here: not tested");
    }
    possible
}

impl Ran {
    /// It went as it does without the runtime, but for the race, which is reported with its line.
    #[track_caller]
    fn raced_like(&self, native: &Ran) {
        assert_eq!(
            (self.status, &self.stdout),
            (66, &native.stdout),
            "{}",
            self.stderr
        );
        self.told_of("raced");
        assert_eq!(self.last_line(), "deadheat: 1 data race", "{}", self.stderr);
    }

    /// A race on `variable` was reported, once.
    #[track_caller]
    fn told_of(&self, variable: &str) {
        let head = format!("WARNING: deadheat: data race on {variable}\n");
        assert_eq!(self.stderr.matches(&head).count(), 1, "{}", self.stderr);
    }
}
