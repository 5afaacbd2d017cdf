//! `deadheat record`: builds a source to be recorded, runs the program, and makes a trace of what its threads left.

use super::check::{self, Purpose, signal_name};
use super::listen::Listener;
use super::merge;
use super::run::{self, End};
use super::settings::Settings;
use crate::args::Record;
use crate::files;
use crate::offline::command;
use crate::term::{Color, Term, say};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use deadheat_instrument::select::Selection;
use deadheat_report::quote;
use deadheat_trace::Format;
use std::path::Path;
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &Record, color: Color) -> Result<ExitCode> {
    let flags = Settings {
        color: (color != Color::Auto).then_some(color),
        external: args.external,
        external_rules: args.external_rules.clone(),
        ..Settings::default()
    };
    let asked = flags.or(Settings::from_environment()?);
    let term = Term::new(asked.color.unwrap_or_default());
    files::refuse_same(&args.output, &args.program.target)?;
    // First of all: nobody wants to hear after the run that the trace cannot be written.
    if !matches!(Format::of_path(&args.output), Some(Format::Dht | Format::Text)) {
        bail!(
            "{} must end in .dht or .txt, which says in which format the trace is written (others cannot say all that a program does)",
            args.output.display()
        );
    }
    let directory = args.output.parent().filter(|path| !path.as_os_str().is_empty());
    let spill = tempfile::Builder::new()
        .prefix(".deadheat-")
        .suffix(".spill")
        .tempfile_in(directory.unwrap_or(Path::new(".")))
        .with_context(|| format!("cannot write {}", args.output.display()))?;
    let again = again(args, &asked)?;
    let settings = Settings {
        external: asked.external,
        external_rules: asked.external_rules,
        calls: asked.calls,
        color: asked.color,
        record: Some(spill.path().to_owned()),
        ..Settings::default()
    };
    let mut listener = Listener::new(settings.clone(), command(), String::new())?;
    let selection = Selection {
        include: args.selected.include.clone(),
        exclude: args.selected.exclude.clone(),
    };
    let made = tempfile::tempdir().context("cannot make a temporary directory")?;
    let program = check::program(&args.program, made.path(), Purpose::Record(&selection))?;
    let end = run::observed(&program, &args.program.arguments, &settings, &mut listener)?;
    if let Some(why) = listener.unchecked() {
        bail!("the program cannot be recorded: {why}");
    }
    if let End::Signal(signal) = end {
        term.warn(&format!(
            "the program was killed by signal {signal}{}; the trace ends there",
            signal_name(signal)
        ));
    }
    let mut sink = deadheat_trace::create(&args.output)?;
    // Symbols are read from the program, which may have been built for this.
    let merged = merge::merge(spill.path(), &again, sink.as_mut())?;
    drop(made);
    if merged.stopped {
        term.warn("recording ended before the program did: there was no room for more; the trace ends there");
    }
    let (count, file) = (merged.events, quote(&args.output.to_string_lossy()));
    let s = if count == 1 { "" } else { "s" };
    let next = match count {
        0 => "the program created no thread".to_owned(),
        _ => format!("next: deadheat analyze {file}"),
    };
    say(&format!("deadheat: {count} event{s} recorded in {file}; {next}"));
    Ok(ExitCode::from(end.status()))
}

/// How to run the program again: a directory, then what this command was told but for the output.
fn again(args: &Record, asked: &Settings) -> Result<Vec<String>> {
    let directory = std::env::current_dir().context("cannot tell the current directory")?;
    let mut words = vec![directory.to_string_lossy().into_owned()];
    let globs = |name: &str, globs: &[String]| -> Vec<String> {
        globs.iter().map(|glob| format!("--{name}={glob}")).collect()
    };
    words.extend(globs("include", &args.selected.include));
    words.extend(globs("exclude", &args.selected.exclude));
    if let Some(external) = asked.external.and_then(|external| external.to_possible_value()) {
        words.push(format!("--external={}", external.get_name()));
    }
    if let Some(rules) = &asked.external_rules {
        // The program is run again from elsewhere.
        let rules = std::path::absolute(rules)?;
        words.push(format!("--external-rules={}", rules.to_string_lossy()));
    }
    words.extend(asked.calls.iter().map(|calls| format!("--calls={calls}")));
    words.extend(args.program.words());
    Ok(words)
}
