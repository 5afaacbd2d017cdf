//! Runs the binary.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What a run left behind.
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// The line that scripts read.
    pub fn last_line(&self) -> &str {
        self.stderr.lines().last().unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    /// The run failed as a wrong command line or unreadable input does, and says why.
    #[track_caller]
    pub fn fails_with(&self, parts: &[&str]) {
        assert_eq!(self.status, 2, "{}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "no `{part}` in: {}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }
}

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deadheat"));
    command
        .args(arguments)
        .current_dir(root())
        .env_remove("NO_COLOR")
        .stdin(Stdio::null());
    command
}

/// Runs `deadheat` in the repository.
pub fn deadheat(arguments: &[&str]) -> Ran {
    ran(&mut command(arguments))
}

/// Runs `deadheat` with something on stdin.
pub fn deadheat_reading(arguments: &[&str], input: &[u8]) -> Ran {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the writer ends");
    finished(output)
}

pub fn ran(command: &mut Command) -> Ran {
    finished(command.output().expect("the binary runs"))
}

fn finished(output: std::process::Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Ran {
        status: output.status.code().expect("no signal ended it"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Fails without one of these tools: a test that cannot be made must not look as if it had passed.
#[track_caller]
pub fn needs(tools: &[&str]) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    for tool in tools {
        let found = std::env::split_paths(&path).any(|directory| directory.join(tool).is_file());
        assert!(found, "{tool} is missing; scripts/setup installs it");
    }
}

/// A directory for the files of a test.
pub struct Files(TempDir);

impl Files {
    pub fn new() -> Files {
        Files(tempfile::tempdir().expect("a temporary directory"))
    }

    pub fn path(&self, name: &str) -> String {
        self.0
            .path()
            .join(name)
            .to_str()
            .expect("a UTF-8 path")
            .to_owned()
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, contents).expect("the file can be written");
        path
    }
}

/// Two races on two variables, and one variable that is locked.
pub const TWO_RACES: &str = "\
T1 w x @a.c:1(writer); T2 r x @b.c:2(reader)
T1 w y:4 @a.c:3(writer); T2 w y:4 @b.c:4(other)
T1 acq L; T1 w z @a.c:5(writer); T1 rel L; T2 acq L; T2 w z @b.c:6(other); T2 rel L
";

/// Nothing wrong.
pub const NO_RACE: &str = "T1 acq L; T1 w x; T1 rel L; T2 acq L; T2 w x; T2 rel L\n";
