//! `deadheat report`: a saved report in another form.

use crate::args::{ReportFile, ReportFormat};
use crate::files::{self, Output};
use crate::native::{render, write};
use crate::offline::{self, last_line};
use crate::term::{Term, say};
use anyhow::{Context, Result};
use deadheat_report::text::Colors;
use deadheat_report::{Report, Sources, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &ReportFile, term: Term) -> Result<ExitCode> {
    let open = |path: Option<&Path>| path.map(|path| Output::open(path, &args.file)).transpose();
    let output = open(args.output.as_deref())?;
    let named = [
        (ReportFormat::Html, open(args.html.as_deref())?),
        (ReportFormat::Sarif, open(args.sarif.as_deref())?),
    ];
    let text = files::read_text(&args.file, "report")?;
    let mut report = json::read(&text).with_context(|| args.file.display().to_string())?;
    if let Some(id) = &args.only {
        keep(&mut report, id)?;
    }
    let mut sources = Sources::new(vec![PathBuf::from(".")]);
    let mut files_only = args.format.is_none() && output.is_none();
    files_only &= named.iter().any(|(_, file)| file.is_some());
    for (format, file) in named {
        if let Some(file) = file {
            file.write(&render(&report, format, Colors::none(), &mut sources)?)?;
        }
    }
    let format = args.format.unwrap_or_default();
    let live = output.is_none() && format == ReportFormat::Text;
    let colors = if live && term.color() {
        Colors::ansi()
    } else {
        Colors::none()
    };
    if !files_only {
        let contents = render(&report, format, colors, &mut sources)?;
        if live {
            // A report that nobody reads is no reason to change the exit status.
            let _ = std::io::stderr().lock().write_all(&contents);
        } else {
            write(output, &contents)?;
        }
    }
    for note in &report.summary.notes {
        term.warn(note);
    }
    say(&last_line(&report.summary, term));
    let status = if report.races.is_empty() {
        0
    } else {
        args.exit_code
    };
    Ok(ExitCode::from(status))
}

/// Leaves out all findings but one.
fn keep(report: &mut Report, id: &str) -> Result<()> {
    offline::expect_id(id, &report.races)?;
    report.races.retain(|race| race.id == id);
    report.summary.races = report.races.len() as u64;
    report.summary.unconfirmed = report.races.iter().filter(|race| !race.confirmed).count() as u64;
    Ok(())
}
