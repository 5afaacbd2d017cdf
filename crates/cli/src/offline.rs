//! What all commands on traces do alike: judge, assemble and write reports, and say the last line.

use crate::args::{ReportFormat, TraceReport};
use crate::files::{self, Output};
use crate::meter::thousands;
use crate::native::render;
use crate::term::Term;
use anyhow::{Context, Result, bail};
use deadheat_report::text::Colors;
use deadheat_report::{Finding, Judge, Report, Sources, Summary, Verdict, quote};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file that the report is to be written to, opened in time.
pub fn output(args: &TraceReport, trace: &Path) -> Result<Option<Output>> {
    { args.output.as_deref() }
        .map(|path| Output::open(path, trace))
        .transpose()
}

/// Decides which findings are reported.
pub fn judge(args: &TraceReport) -> Result<Judge> {
    Ok(Judge {
        only: args.only.clone(),
        ..files::judge(args.suppressions.as_deref(), args.baseline.as_deref())?
    })
}

/// Ids that are named where another one was asked for.
const NAMED: usize = 20;

/// An error if none of the findings has the id that was asked for: a wrong id must not look like a race that is gone.
pub fn expect_id(id: &str, races: &[Finding]) -> Result<()> {
    if races.iter().any(|finding| finding.id == id) {
        return Ok(());
    }
    let named: Vec<&str> = races
        .iter()
        .take(NAMED)
        .map(|finding| finding.id.as_str())
        .collect();
    match (named.len(), races.len() - named.len()) {
        (0, _) => bail!("no finding has the id {id}; there are no findings at all"),
        (_, 0) => bail!("no finding has the id {id}; there are {}", named.join(", ")),
        (_, more) => bail!(
            "no finding has the id {id}; there are {} and {more} more",
            named.join(", ")
        ),
    }
}

/// Leaves out what is not to be reported, and counts it. An error if the only finding that was asked for is not there.
pub fn assemble(mut races: Vec<Finding>, judge: &Judge, mut summary: Summary) -> Result<Report> {
    if let Some(id) = &judge.only {
        expect_id(id, &races)?;
    }
    races.retain(|finding| {
        match judge.verdict(finding) {
            Verdict::Reported => return true,
            Verdict::Suppressed => summary.suppressed += 1,
            Verdict::Known => summary.known += 1,
            Verdict::NotAsked => {}
        }
        false
    });
    summary.races = races.len() as u64;
    summary.unconfirmed = races.iter().filter(|finding| !finding.confirmed).count() as u64;
    Ok(Report {
        tool: "deadheat".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command(),
        races,
        summary,
    })
}

/// Writes a report where it belongs.
pub fn write(
    report: &Report,
    args: &TraceReport,
    trace: &Path,
    term: Term,
    output: Option<Output>,
) -> Result<()> {
    let colors = if output.is_none() && term.color() {
        Colors::ansi()
    } else {
        Colors::none()
    };
    let mut sources = Sources::new(source_roots(trace));
    let contents = match (&output, args.format) {
        (None, ReportFormat::Text) if args.quiet => Vec::new(),
        _ => render(report, args.format, colors, &mut sources)?,
    };
    match (output, args.format) {
        (Some(output), _) => output.write(&contents),
        (None, ReportFormat::Text) => {
            // A report that nobody reads is no reason to change the exit status.
            let _ = std::io::stderr().lock().write_all(&contents);
            Ok(())
        }
        (None, _) => ignore_broken_pipe(std::io::stdout().lock().write_all(&contents)),
    }
}

fn ignore_broken_pipe(written: std::io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to stdout"),
    }
}

/// Source files are named as the program was built: relative to where the command runs, or to the trace.
fn source_roots(trace: &Path) -> Vec<PathBuf> {
    let beside = trace.parent().map(Path::to_owned);
    [Some(PathBuf::from(".")), beside].into_iter().flatten().collect()
}

/// The last line on stderr is a contract: scripts read it.
pub fn last_line(summary: &Summary, term: Term) -> String {
    let (style, text) = match summary.races {
        0 => (term.good(), "no data races".to_owned()),
        1 => (term.error(), "1 data race".to_owned()),
        n => (term.error(), format!("{n} data races")),
    };
    let mut line = format!("deadheat: {style}{text}{style:#}");
    match (summary.unconfirmed, summary.races) {
        (0, _) => {}
        (n, all) if n == all => line.push_str(", unconfirmed (locking discipline)"),
        (n, _) => line.push_str(&format!(", of them {n} unconfirmed (locking discipline)")),
    }
    if let (Some(met), 1..) = (summary.met, summary.races) {
        line.push_str(&format!(", {} confirmed", thousands(met)));
    }
    let mut left_out = Vec::new();
    if summary.suppressed > 0 {
        left_out.push(format!("{} suppressed", thousands(summary.suppressed)));
    }
    if summary.known > 0 {
        left_out.push(format!("{} in the baseline", thousands(summary.known)));
    }
    if !left_out.is_empty() {
        line.push_str(&format!(" ({})", left_out.join(", ")));
    }
    line
}

/// The command that was run, as a shell would take it.
pub fn command() -> String {
    let arguments = std::env::args_os()
        .skip(1)
        .map(|word| quote(&word.to_string_lossy()));
    std::iter::once("deadheat".to_owned())
        .chain(arguments)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Color;

    #[test]
    fn the_last_line_counts_what_is_shown_and_what_is_not() {
        let line = |races, unconfirmed, suppressed, known| {
            let summary = Summary {
                races,
                unconfirmed,
                suppressed,
                known,
                ..Summary::default()
            };
            last_line(&summary, Term::new(Color::Never))
        };
        for (counts, expect) in [
            ((0, 0, 0, 0), "deadheat: no data races"),
            ((1, 0, 0, 0), "deadheat: 1 data race"),
            ((2, 0, 0, 0), "deadheat: 2 data races"),
            ((0, 0, 3, 0), "deadheat: no data races (3 suppressed)"),
            (
                (2, 1, 1, 4),
                "deadheat: 2 data races, of them 1 unconfirmed (locking discipline) (1 suppressed, 4 in the baseline)",
            ),
            (
                (1, 1, 0, 0),
                "deadheat: 1 data race, unconfirmed (locking discipline)",
            ),
        ] {
            let (races, unconfirmed, suppressed, known) = counts;
            assert_eq!(line(races, unconfirmed, suppressed, known), expect);
        }
    }
}
