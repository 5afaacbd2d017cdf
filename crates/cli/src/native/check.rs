//! `deadheat check`: builds a source, runs the program, reports.

use super::compilers::{self, Language};
use super::home::Home;
use super::listen::{Listener, conclude};
use super::run::{self, End};
use super::settings::{EXIT_CODE, Settings};
use super::shim::{self, EXCLUDE, INCLUDE};
use crate::args::{Check, Target};
use crate::files;
use crate::offline::command;
use crate::term::{Color, Term};
use anyhow::{Context, Result, bail};
use deadheat_instrument::module::Placement;
use deadheat_instrument::program::{self, Kind};
use deadheat_instrument::select::Selection;
use deadheat_report::quote;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &Check, color: Color) -> Result<ExitCode> {
    let settings = args.report.settings(color).or(Settings::from_environment()?);
    let term = Term::new(settings.color.unwrap_or_default());
    if let Some(output) = &settings.output {
        files::refuse_same(output, &args.program.target)?;
    }
    // First of all: nobody wants to hear after the run that a file cannot be read or written.
    let mut listener = Listener::new(settings.clone(), command(), again(args))?;
    let made = tempfile::tempdir().context("cannot make a temporary directory")?;
    let program = program(&args.program, made.path(), Purpose::Check(args.build.placement))?;
    let end = run::observed(&program, &args.program.arguments, &settings, &mut listener)?;
    drop(made);
    if let Some(why) = listener.unchecked() {
        bail!("the program cannot be checked: {why}");
    }
    if let End::Signal(signal) = end {
        listener.killed(signal, signal_name(signal));
    }
    let silent = listener.silent();
    let (report, settings) = listener.finish()?;
    if silent && report.summary.races == 0 && end == End::Status(settings.exit_code.unwrap_or(EXIT_CODE)) {
        term.warn("the program ended without a word, with the status of one that has found races: what it said is above");
    }
    let outcome = conclude(&report, &settings, term);
    Ok(ExitCode::from(outcome.status.unwrap_or(end.status())))
}

/// What a program is built for.
#[derive(Clone, Copy)]
pub enum Purpose<'a> {
    /// To be checked, with this placement if there is a wish.
    Check(Option<Placement>),
    /// To be checked, and to say what became of each access.
    Explain(Option<Placement>),
    /// To be recorded, as far as the selection goes.
    Record(&'a Selection),
}

/// The program to run: built into `directory` if a source was given.
pub fn program(args: &Target, directory: &Path, purpose: Purpose<'_>) -> Result<PathBuf> {
    match Language::of(&args.target) {
        Some(language) => build(args, language, directory, purpose),
        None if matches!(purpose, Purpose::Check(Some(_)) | Purpose::Explain(Some(_))) => bail!(
            "--placement is for sources; {} is built (with `DEADHEAT_PLACEMENT=…` as `deadheat cc` and `cargo deadheat` take it)",
            args.target.display()
        ),
        None if args.keep.is_some() => bail!("--keep is for sources; {} is built", args.target.display()),
        None if matches!(purpose, Purpose::Record(selection) if !selection.is_all()) => bail!(
            "--include and --exclude are for sources; {} is built: build it with {INCLUDE} and {EXCLUDE} in the environment, globs between semicolons",
            args.target.display()
        ),
        None => instrumented(&args.target, matches!(purpose, Purpose::Record(_))),
    }
}

fn build(args: &Target, language: Language, directory: &Path, purpose: Purpose<'_>) -> Result<PathBuf> {
    // A compiler would say so as well, but in its own words.
    std::fs::metadata(&args.target).with_context(|| format!("cannot read {}", args.target.display()))?;
    let name = args.target.file_stem().unwrap_or_default();
    let output = match &args.keep {
        Some(path) => {
            files::refuse_same(path, &args.target)?;
            std::path::absolute(path).with_context(|| format!("cannot write {}", path.display()))?
        }
        None => directory.join(name),
    };
    let mut command = compilers::command(
        language,
        &args.target,
        &output,
        &args.cflags,
        &args.rustflags,
        &Home::open()?,
        matches!(purpose, Purpose::Record(_)),
    )?;
    match purpose {
        Purpose::Check(placement) | Purpose::Explain(placement) => {
            if let Some(placement) = placement {
                command.env(shim::PLACEMENT, placement.as_str());
            }
        }
        Purpose::Record(selection) if selection.is_all() => {}
        Purpose::Record(selection) => {
            command.env(INCLUDE, selection.include.join("\n"));
            command.env(EXCLUDE, selection.exclude.join("\n"));
        }
    }
    if matches!(purpose, Purpose::Explain(_)) {
        command.env(shim::EXPLAIN, "1");
    }
    compilers::build(command, &args.target)?;
    Ok(output)
}

/// The program at `path`, if it was built for this.
fn instrumented(path: &Path, record: bool) -> Result<PathBuf> {
    let found = find(path).with_context(|| {
        format!(
            "cannot find the program {}; give its path, a program in PATH, or a source",
            path.display()
        )
    })?;
    let kind = program::kind(&found).with_context(|| format!("cannot read {}", found.display()))?;
    let how = if record { RECORD } else { BUILD };
    match kind {
        Kind::Instrumented if record => bail!(
            "{} was built to be checked, not to be recorded; {how}",
            found.display()
        ),
        Kind::Recordable if !record => bail!(
            "{} was built to be recorded (with DEADHEAT_RECORD=1), not to be checked; {how}",
            found.display()
        ),
        Kind::Instrumented | Kind::Recordable => Ok(found),
        Kind::Plain => bail!(
            "{} was not built with deadheat, so there is nothing to see in it; {how}",
            found.display()
        ),
        Kind::Other => bail!(
            "{} is neither a program nor a source that deadheat can build (.c, .cc, .cpp, .cxx, .C, .rs); {how}",
            found.display()
        ),
    }
}

const BUILD: &str =
    "give `deadheat check` the source, or build with `deadheat cc`, `c++` or `cargo deadheat build`";
const RECORD: &str = "give `deadheat record` the source, or build with `DEADHEAT_RECORD=1 deadheat cc`, `c++` or `cargo deadheat build`";

/// As a shell looks for a command: a name with a slash is a path.
fn find(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return std::path::absolute(path).ok();
    }
    if path.components().count() > 1 {
        return None;
    }
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths)
        .map(|directory| directory.join(path))
        .find(|path| path.is_file())
}

/// What a signal is called, to stand behind its number.
pub fn signal_name(signal: u8) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        3 => " (SIGQUIT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        14 => " (SIGALRM)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

/// The command that shows the findings again.
fn again(args: &Check) -> String {
    let mut words = vec!["deadheat check".to_owned()];
    for (flag, values) in [
        ("--cflags", &args.program.cflags),
        ("--rustflags", &args.program.rustflags),
    ] {
        words.extend(values.iter().map(|value| format!("{flag} {}", quote(value))));
    }
    words.extend(args.build.as_words());
    words.extend(args.report.found_with());
    words.push(quote(&args.program.target.to_string_lossy()));
    if !args.program.arguments.is_empty() {
        words.push("--".to_owned());
        let arguments = args.program.arguments.iter();
        words.extend(arguments.map(|word| quote(&word.to_string_lossy())));
    }
    words.join(" ")
}
