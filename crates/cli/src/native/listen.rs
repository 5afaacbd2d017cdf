//! Listens to a running program: lines of its runtime in, findings printed as they come, the report at the end.

use super::settings::{EXIT_CODE, Settings};
use crate::args::ReportFormat;
use crate::files::Output;
use crate::offline::last_line;
use crate::term::{Term, say};
use anyhow::{Context, Result};
use deadheat_report::native::{Event, Lines, Options, Reporter};
use deadheat_report::text::Colors;
use deadheat_report::{Report, Sources, html, json, sarif, text};
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;

/// A report in the making.
pub struct Listener {
    reporter: Reporter,
    sources: Sources,
    settings: Settings,
    term: Term,
    output: Option<Output>,
    /// Print findings on stderr as they come.
    live: bool,
    /// Notes that were said.
    said: Vec<String>,
}

/// How the report came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The exit status that the findings call for, if there are any.
    pub status: Option<u8>,
}

impl Listener {
    /// Makes ready. `command` was run, `again` shows a finding again; if empty, the program's own.
    pub fn new(settings: Settings, command: String, again: String) -> Result<Listener> {
        let term = Term::new(settings.color.unwrap_or_default());
        let output = settings.output.as_deref();
        let output = output.map(Output::create).transpose()?;
        let directory = std::env::current_dir().unwrap_or_default();
        let options = Options {
            judge: settings.judge()?,
            command,
            again,
            stats: settings.stats,
            ..Options::new(directory)
        };
        Ok(Listener {
            reporter: Reporter::new(options),
            sources: Sources::new(vec![PathBuf::from(".")]),
            live: output.is_none() && settings.format.unwrap_or_default() == ReportFormat::Text,
            settings,
            term,
            output,
            said: Vec::new(),
        })
    }

    /// Takes all lines from `channel`, and answers there where the runtime waits for it.
    pub fn listen<C: Read>(&mut self, channel: C, mut answer: impl FnMut(u8)) {
        let mut lines = Lines::new(BufReader::new(channel));
        // A channel that breaks has said all it will say.
        while let Ok(Some(line)) = lines.next_line() {
            let Some(event) = self.reporter.line(line) else {
                continue;
            };
            self.show(&event);
            // After the printing: the program may end as soon as it knows.
            if let Some(byte) = event.answer() {
                answer(byte);
            }
        }
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::Race {
                finding: Some(finding),
                ..
            } if self.live => {
                let mut text = Vec::new();
                let colors = self.colors();
                if text::write_finding(finding, colors, &mut self.sources, &mut text).is_ok() {
                    // A report that nobody reads is no reason to change the exit status.
                    let _ = std::io::stderr().lock().write_all(&text);
                }
            }
            Event::Race { .. } => {}
            Event::Note(note) => {
                self.term.warn(note);
                self.said.push(note.clone());
            }
        }
    }

    fn colors(&self) -> Colors {
        if self.live && self.term.color() {
            Colors::ansi()
        } else {
            Colors::none()
        }
    }

    /// Why the program could not be checked, if it said so.
    pub fn unchecked(&self) -> Option<&str> {
        self.reporter.unchecked()
    }

    /// Whether the program has not said how it ends.
    pub fn silent(&self) -> bool {
        self.reporter.exit().is_none()
    }

    /// The program was ended by a signal.
    pub fn killed(&mut self, signal: u8, name: &str) {
        if let Some(event) = self.reporter.killed(signal.into(), name) {
            self.show(&event);
        }
    }

    /// The report, written where it belongs. The last line is the caller's.
    pub fn finish(mut self) -> Result<(Report, Settings)> {
        let colors = self.colors();
        let report = self.reporter.finish();
        if !self.live {
            let contents = render(
                &report,
                self.settings.format.unwrap_or_default(),
                colors,
                &mut self.sources,
            )?;
            if let Err(error) = write(self.output.take(), &contents) {
                // A full disk, say. What was found is not lost for that.
                tell_all(&report, &mut self.sources, self.term);
                return Err(error);
            }
        }
        for note in report
            .summary
            .notes
            .iter()
            .filter(|note| !self.said.contains(note))
        {
            self.term.warn(note);
        }
        if let Some(directory) = &self.settings.log_dir
            && let Err(error) = leave(&report, directory)
        {
            if !self.live {
                tell_all(&report, &mut self.sources, self.term);
            }
            return Err(error);
        }
        if self.settings.stats {
            for (name, value) in &report.summary.stats {
                say(&format!("  {name} {value}"));
            }
        }
        Ok((report, self.settings))
    }
}

/// The whole report as text on stderr.
fn tell_all(report: &Report, sources: &mut Sources, term: Term) {
    let mut contents = Vec::new();
    if text::write(report, Colors::none(), sources, &mut contents).is_ok() {
        let _ = std::io::stderr().lock().write_all(&contents);
    }
    say(&last_line(&report.summary, term));
}

/// The report in a format.
pub fn render(
    report: &Report,
    format: ReportFormat,
    colors: Colors,
    sources: &mut Sources,
) -> Result<Vec<u8>> {
    let mut contents = Vec::new();
    match format {
        ReportFormat::Text => text::write(report, colors, sources, &mut contents)?,
        ReportFormat::Json => json::write(report, &mut contents)?,
        ReportFormat::Sarif => sarif::write(report, &mut contents)?,
        ReportFormat::Html => html::write(report, sources, &mut contents)?,
    }
    Ok(contents)
}

/// Writes to `output`, or to stdout.
pub fn write(output: Option<Output>, contents: &[u8]) -> Result<()> {
    match output {
        Some(output) => output.write(contents),
        None => std::io::stdout()
            .lock()
            .write_all(contents)
            .context("cannot write to stdout"),
    }
}

/// Leaves the report as JSON in a new file of `directory`.
fn leave(report: &Report, directory: &std::path::Path) -> Result<()> {
    let place = || format!("cannot leave a report in {}", directory.display());
    std::fs::create_dir_all(directory).with_context(place)?;
    let mut file = tempfile::Builder::new()
        .prefix("report-")
        .tempfile_in(directory)
        .with_context(place)?;
    json::write(report, &mut file).with_context(place)?;
    // Whoever collects them sees whole files only.
    let (_, path) = file.keep().with_context(place)?;
    std::fs::rename(&path, path.with_extension("json")).with_context(place)
}

/// Says the last line and decides about the exit status.
pub fn conclude(report: &Report, settings: &Settings, term: Term) -> Outcome {
    say(&last_line(&report.summary, term));
    outcome(report, settings)
}

/// The exit status: that of the findings, if there are any.
pub fn outcome(report: &Report, settings: &Settings) -> Outcome {
    let races = report.summary.races > 0;
    Outcome {
        status: races.then(|| settings.exit_code.unwrap_or(EXIT_CODE)),
    }
}
