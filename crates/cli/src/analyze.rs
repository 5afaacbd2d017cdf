//! `deadheat analyze`: any detector, any layers, on a trace.

use crate::args::{Analyze, ReportFormat, Switch};
use crate::files::{self, Output};
use crate::memory::{self, Limit};
use crate::meter::{Meter, Table, thousands};
use crate::progress::Progress;
use crate::term::{Term, say};
use crate::traces;
use anyhow::{Context, Result, bail};
use deadheat_detect::select::{self, Choice, DetectorName, FilterName};
use deadheat_detect::{Analysis, MAX_WEIGHT};
use deadheat_event::{Event, Stats, Tables};
use deadheat_report::text::Colors;
use deadheat_report::{
    Baseline, Collector, Judge, Labels, Report, Sources, Summary, Suppressions, Verdict, json, quote, sarif,
    text,
};
use deadheat_trace::Source;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &Analyze, term: Term) -> Result<ExitCode> {
    let judge = judge(args)?;
    let mut source = traces::open(&args.trace)?;
    let output = args
        .output
        .as_deref()
        .map(|path| Output::open(path, &args.trace))
        .transpose()?;
    let choice = Choice {
        detector: args.detector,
        filter: args.filter,
        compress: args.compress == Switch::On,
        disable_after_race: args.disable_after_race,
    };
    if let Some(caveat) = choice.caveat() {
        term.warn(&caveat);
    }
    let meter = Meter::start();
    let mut run = Run::new(args, &choice, &judge)?;
    let failure = run.all(&mut *source, args).err();
    let (mut report, stats) = run.report(source.tables(), &meter);
    if let Some(truncation) = source.truncation() {
        report.summary.partial = true;
        term.warn(&format!("{}: {truncation}", args.trace.display()));
    }
    if stats.events == 0 {
        if let Some(error) = failure {
            return Err(error);
        }
        term.warn(&format!("{}: there are no events in it", args.trace.display()));
    }
    if !args.stats {
        report.summary.stats.clear();
    }
    // An old report is worth more than one of a failed run that found nothing.
    if failure.is_none() || !report.races.is_empty() || !output.as_ref().is_some_and(Output::is_file) {
        write(&report, args, term, output)?;
    }
    if args.stats {
        say(&table(&stats, &meter));
    }
    let last_line = last_line(&report.summary, term);
    if let Some(error) = failure {
        say(&format!("{last_line} so far"));
        return Err(error);
    }
    say(&last_line);
    Ok(ExitCode::from(if report.races.is_empty() {
        0
    } else {
        args.exit_code
    }))
}

/// Decides which findings are reported.
fn judge(args: &Analyze) -> Result<Judge> {
    let mut judge = Judge {
        only: args.only.clone(),
        ..Judge::default()
    };
    if let Some(path) = &args.suppressions {
        judge.suppressions = Suppressions::parse(&files::read_text(path, "suppressions")?)
            .with_context(|| path.display().to_string())?;
    }
    if let Some(path) = &args.baseline {
        judge.baseline = Baseline::parse(&files::read_text(path, "baseline")?)
            .with_context(|| path.display().to_string())?;
    }
    Ok(judge)
}

/// An analysis under way.
struct Run<'a> {
    analysis: Box<dyn Analysis>,
    collector: Collector,
    judge: &'a Judge,
    detector: String,
    again: String,
    limit: Limit,
    /// Events since memory was looked at last, and the weight of those before.
    unseen: usize,
    seen_weight: u64,
    halted: bool,
    failed: bool,
}

impl<'a> Run<'a> {
    fn new(args: &Analyze, choice: &Choice, judge: &'a Judge) -> Result<Run<'a>> {
        Ok(Run {
            analysis: select::analysis(choice)?,
            collector: Collector::new(),
            judge,
            detector: choice.to_string(),
            again: again(args),
            limit: Limit::new(args.memory_limit),
            unseen: 0,
            seen_weight: 0,
            halted: false,
            failed: false,
        })
    }

    fn labels(&self) -> Labels<'_> {
        Labels {
            detector: &self.detector,
            again: &self.again,
        }
    }

    /// Analyses the whole trace, or what is in front of an error.
    fn all(&mut self, source: &mut dyn Source, args: &Analyze) -> Result<()> {
        let mut progress = Progress::new(args.quiet);
        let (mut block, mut events) = (Vec::new(), 0);
        let mut outcome = Ok(());
        while !self.halted && outcome.is_ok() {
            match source.next_block(&mut block) {
                Ok(true) => outcome = self.block(&block, source.tables(), args.halt_on_race),
                Ok(false) => break,
                Err(error) => outcome = Err(error.into()),
            }
            events += block.len() as u64;
            progress.update(source.position(), events);
        }
        if !self.halted {
            self.analysis.finish(&mut |race| {
                self.collector.add(race);
            });
        }
        self.failed = outcome.is_err();
        outcome.with_context(|| args.trace.display().to_string())
    }

    fn block(&mut self, block: &[Event], tables: &Tables, halt_on_race: bool) -> Result<()> {
        if halt_on_race {
            return self.block_until_race(block, tables);
        }
        for mut slice in block.chunks(memory::SLICE) {
            self.collector.observe(slice);
            while !slice.is_empty() {
                let Run {
                    analysis, collector, ..
                } = self;
                let taken = analysis.advance(slice, tables, &mut |race| {
                    collector.add(race);
                });
                slice = &slice[taken..];
                self.look_at_memory(taken)?;
            }
        }
        Ok(())
    }

    /// One event at a time, so that nothing behind the race is looked at.
    fn block_until_race(&mut self, block: &[Event], tables: &Tables) -> Result<()> {
        for slice in memory::slices(block) {
            for event in slice {
                let event = std::slice::from_ref(event);
                let seen = self.collector.len();
                self.collector.observe(event);
                let Run {
                    analysis, collector, ..
                } = self;
                analysis.process(event, tables, &mut |race| {
                    collector.add(race);
                });
                if self.reported_since(seen, tables) {
                    self.halted = true;
                    return Ok(());
                }
            }
            self.check_memory()?;
        }
        Ok(())
    }

    /// Checks memory if enough has happened since the last time, as blocks may be small: to ask the kernel takes longer than
    /// to analyse a hundred events.
    fn look_at_memory(&mut self, taken: usize) -> Result<()> {
        self.unseen += taken;
        let weight = self.analysis.weight();
        if self.unseen < memory::SLICE && weight - self.seen_weight < MAX_WEIGHT / 2 {
            return Ok(());
        }
        (self.unseen, self.seen_weight) = (0, weight);
        self.check_memory()
    }

    fn check_memory(&self) -> Result<()> {
        match self.limit.exceeded() {
            Some(limit) => bail!(
                "the analysis needs more than {limit}; use --compress on, --memory-limit, or a shorter trace"
            ),
            None => Ok(()),
        }
    }
}

impl Run<'_> {
    fn reported_since(&self, seen: usize, tables: &Tables) -> bool {
        self.collector.len() > seen
            && self
                .collector
                .since(seen, tables, self.labels())
                .any(|finding| self.judge.verdict(&finding) == Verdict::Reported)
    }

    fn report(&self, tables: &Tables, meter: &Meter) -> (Report, Stats) {
        let stats = self.analysis.stats();
        let mut summary = Summary {
            occurrences: self.collector.occurrences(),
            events: stats.events,
            partial: self.halted || self.failed,
            seconds: Some(meter.elapsed().as_secs_f64()),
            stats: stats
                .fields()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            ..Summary::default()
        };
        let mut races = self.collector.findings(tables, self.labels());
        races.retain(|finding| {
            match self.judge.verdict(finding) {
                Verdict::Reported => return true,
                Verdict::Suppressed => summary.suppressed += 1,
                Verdict::Known => summary.known += 1,
                Verdict::NotAsked => {}
            }
            false
        });
        summary.races = races.len() as u64;
        summary.unconfirmed = races.iter().filter(|finding| !finding.confirmed).count() as u64;
        let report = Report {
            tool: "deadheat".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: command(),
            races,
            summary,
        };
        (report, stats)
    }
}

fn write(report: &Report, args: &Analyze, term: Term, output: Option<Output>) -> Result<()> {
    let mut contents = Vec::new();
    match args.format {
        ReportFormat::Json => json::write(report, &mut contents)?,
        ReportFormat::Sarif => sarif::write(report, &mut contents)?,
        ReportFormat::Text => {
            let to_terminal = output.is_none() && term.color();
            let colors = if to_terminal {
                Colors::ansi()
            } else {
                Colors::none()
            };
            let mut sources = Sources::new(source_roots(&args.trace));
            if output.is_some() || !args.quiet {
                text::write(report, colors, &mut sources, &mut contents)?;
            }
        }
    }
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

fn table(stats: &Stats, meter: &Meter) -> String {
    let mut table = Table::default();
    for (name, value) in stats.fields() {
        table.count(name, value);
    }
    table.time(meter.elapsed(), stats.events);
    format!("deadheat: statistics\n{table}").trim_end().to_owned()
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
fn command() -> String {
    let arguments = std::env::args_os()
        .skip(1)
        .map(|word| quote(&word.to_string_lossy()));
    std::iter::once("deadheat".to_owned())
        .chain(arguments)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The command that shows one finding again, with `{id}` for its id.
fn again(args: &Analyze) -> String {
    let mut words = vec!["deadheat analyze".to_owned()];
    if args.detector != DetectorName::default() {
        words.push(format!("--detector {}", args.detector));
    }
    if args.filter != FilterName::default() {
        words.push(format!("--filter {}", args.filter));
    }
    if args.compress == Switch::On {
        words.push("--compress on".to_owned());
    }
    if args.disable_after_race {
        words.push("--disable-after-race".to_owned());
    }
    words.push("--only {id}".to_owned());
    words.push(quote(&args.trace.to_string_lossy()));
    words.join(" ")
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
