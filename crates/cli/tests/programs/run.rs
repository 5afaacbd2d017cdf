//! Builds and runs programs, natively and under `deadheat check`.

use super::program::{Language, Program};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// A program that takes longer hangs. The first one in Rust waits until all of the standard library is instrumented.
const PATIENCE: Duration = Duration::from_secs(400);

/// In which order the turns of the threads come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Written,
    Reversed,
}

/// What a run left behind.
#[derive(Debug)]
pub struct Ran {
    /// As a shell tells it: 128 and the signal's number for a signal.
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Files of one test.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Result<Place, String> {
        let made = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        made.map(Place)
            .map_err(|error| format!("cannot make a directory: {error}"))
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs `command` to its end.
    pub fn run(&self, command: &mut Command, order: Order) -> Result<Ran, String> {
        let (stdout, stderr) = (self.file("stdout"), self.file("stderr"));
        let create = |path: &Path| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
        command
            .current_dir(super::root())
            .env_remove("INVISIBLE_REVERSED")
            .stdin(Stdio::null())
            .stdout(create(&stdout)?)
            .stderr(create(&stderr)?)
            .process_group(0);
        if order == Order::Reversed {
            command.env("INVISIBLE_REVERSED", "1");
        }
        let status = wait(command)?;
        let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        Ok(Ran {
            status: status
                .code()
                .unwrap_or_else(|| 128 + status.signal().unwrap_or_default()),
            stdout: read(&stdout),
            stderr: read(&stderr),
        })
    }
}

/// Waits for the command's end, or kills it and all it started.
fn wait(command: &mut Command) -> Result<ExitStatus, String> {
    let mut child = command
        .spawn()
        .map_err(|error| format!("{}: {error}", shown(command)))?;
    let (start, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        if start.elapsed() > PATIENCE {
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = child.wait();
            return Err(format!(
                "{} did not end in {} s",
                shown(command),
                PATIENCE.as_secs()
            ));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// A command as a person would type it.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted = |word: &OsStr| match word.to_string_lossy() {
        word if word.contains(' ') => format!("'{word}'"),
        word => word.into_owned(),
    };
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// Flags that `deadheat check` gives by itself, and those of the program.
fn flags(program: &Program) -> Result<Vec<String>, String> {
    let fixed: &[&str] = match program.language {
        Language::C => &["-Wall"],
        Language::Cpp => &["-Wall", "-std=c++20"],
        Language::Rust => &[],
    };
    let more = std::env::var("DEADHEAT_FLAGS").unwrap_or_default();
    let fixed = fixed.iter().map(|&flag| flag.to_owned());
    let library = match &program.library {
        Some(source) => vec![library(&program.source.with_file_name(source))?],
        None => Vec::new(),
    };
    Ok(fixed
        .chain(program.flags.clone())
        .chain(library)
        .chain(more.split_whitespace().map(str::to_owned))
        .collect())
}

/// A shared library that the system's own compiler makes, from an earlier test run if nothing has changed since.
fn library(source: &Path) -> Result<String, String> {
    let mut hash = DefaultHasher::new();
    for path in [source.to_owned(), source.with_extension("h")] {
        let text = fs::read(super::root().join(path)).map_err(|error| error.to_string())?;
        text.hash(&mut hash);
    }
    let directory = natives()?;
    let output = directory.join(format!("lib-{:016x}.so", hash.finish()));
    if !output.exists() {
        let place = Place::new()?;
        let made = place.file("library");
        let mut command = Command::new("cc");
        command
            .args(["-O2", "-shared", "-fPIC", "-pthread"])
            .arg(source)
            .arg("-o")
            .arg(&made);
        // By this name programs look for it, wherever it is made.
        command.arg(format!("-Wl,-soname,{}", output.display()));
        let ran = place.run(&mut command, Order::Written)?;
        if ran.status != 0 {
            return Err(format!("{} failed:\n{}", shown(&command), ran.stderr));
        }
        fs::rename(made, &output).map_err(|error| error.to_string())?;
    }
    Ok(output.display().to_string())
}

/// Where native programs are kept.
fn natives() -> Result<PathBuf, String> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    Ok(directory)
}

/// The native program, from an earlier test run if nothing has changed since.
pub fn native(program: &Program) -> Result<PathBuf, String> {
    let mut command = match program.language {
        Language::C | Language::Cpp => Command::new(&*CLANG),
        Language::Rust => Command::new("rustc"),
    };
    match program.language {
        Language::C => command.arg("-pthread"),
        Language::Cpp => command.args(["--driver-mode=g++", "-pthread"]),
        Language::Rust => command.args(["--edition", "2024"]),
    };
    command.arg(&program.source).args(flags(program)?);
    let mut hash = DefaultHasher::new();
    shown(&command).hash(&mut hash);
    let mut read = Vec::new();
    for directory in ["tests/programs/include", "tests/libraries"] {
        let entries = fs::read_dir(super::root().join(directory)).map_err(|error| error.to_string())?;
        let paths = entries.flatten().map(|entry| entry.path());
        read.extend(paths.filter(|path| {
            !matches!(
                path.extension().and_then(OsStr::to_str),
                Some("c" | "cpp" | "report")
            )
        }));
    }
    read.sort();
    read.push(super::root().join(&program.source));
    for path in read {
        fs::read(&path)
            .map_err(|error| error.to_string())?
            .hash(&mut hash);
    }
    let directory = natives()?;
    let name = program.source.file_stem().unwrap_or_default().to_string_lossy();
    let output = directory.join(format!("{name}-{:016x}", hash.finish()));
    if !output.exists() {
        let place = Place::new()?;
        let made = place.file("program");
        let ran = place.run(command.arg("-o").arg(&made), Order::Written)?;
        if ran.status != 0 {
            return Err(format!("{} failed:\n{}", shown(&command), ran.stderr));
        }
        if !ran.stderr.is_empty() {
            return Err(format!("{} warns:\n{}", shown(&command), ran.stderr));
        }
        fs::rename(made, &output).map_err(|error| error.to_string())?;
    }
    Ok(output)
}

/// `deadheat check` on the source; the program is kept in `keep` for further runs.
pub fn check_source(program: &Program, keep: &Path) -> Result<Command, String> {
    let mut command = check(program);
    let option = match program.language {
        Language::C | Language::Cpp => "--cflags",
        Language::Rust => "--rustflags",
    };
    let flags = flags(program)?;
    if !flags.is_empty() {
        command.arg(option).arg(flags.join(" "));
    }
    command.arg("--keep").arg(keep).arg(&program.source);
    Ok(command)
}

/// `deadheat check` with the options of the program.
fn check(program: &Program) -> Command {
    let mut command = deadheat();
    if let Some(rules) = &program.rules {
        command
            .arg("--external-rules")
            .arg(program.source.with_file_name(rules));
    }
    command
}

/// `deadheat check` on a program that was kept.
pub fn check_program(program: &Program, kept: &Path) -> Command {
    let mut command = check(program);
    command.arg(kept);
    command
}

fn deadheat() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deadheat"));
    command
        .arg("check")
        .env("DEADHEAT_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"))
        .env_remove("DEADHEAT_OPTIONS");
    command
}

/// A clang as `deadheat check` looks for it.
static CLANG: LazyLock<String> = LazyLock::new(|| {
    if let Ok(named) = std::env::var("DEADHEAT_CLANG") {
        return named;
    }
    let runs = |name: &String| Command::new(name).arg("--version").output().is_ok();
    let mut names = (14..=22).rev().map(|version| format!("clang-{version}"));
    names.find(runs).unwrap_or_else(|| "clang".to_owned())
});
