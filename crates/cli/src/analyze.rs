//! `deadheat analyze`: any detector, any layers, on a trace.

use crate::args::{Analyze, Switch};
use crate::files::Output;
use crate::memory::{self, Limit};
use crate::meter::{Meter, Table};
use crate::offline::{self, last_line};
use crate::progress::Progress;
use crate::term::{Term, say};
use crate::traces;
use anyhow::{Context, Result, bail};
use deadheat_detect::select::{self, Choice, DetectorName, FilterName};
use deadheat_detect::{Analysis, MAX_WEIGHT};
use deadheat_event::{Event, Stats, Tables};
use deadheat_report::{Collector, Judge, Labels, Report, Summary, Verdict, quote};
use deadheat_trace::Source;
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &Analyze, term: Term) -> Result<ExitCode> {
    let judge = offline::judge(&args.report)?;
    let mut source = traces::open(&args.trace)?;
    let output = offline::output(&args.report, &args.trace)?;
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
    let (mut report, stats) = match run.report(source.tables(), &meter) {
        Ok(made) => made,
        // What was asked for may be behind what failed.
        Err(error) => return Err(failure.unwrap_or(error)),
    };
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
    if !args.report.stats {
        report.summary.stats.clear();
    }
    // An old report is worth more than one of a failed run that found nothing.
    if failure.is_none() || !report.races.is_empty() || !output.as_ref().is_some_and(Output::is_file) {
        offline::write(&report, &args.report, &args.trace, term, output)?;
    }
    if args.report.stats {
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
        args.report.exit_code
    }))
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
        let mut progress = Progress::new(args.report.quiet);
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

    fn report(&self, tables: &Tables, meter: &Meter) -> Result<(Report, Stats)> {
        let stats = self.analysis.stats();
        let summary = Summary {
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
        let races = self.collector.findings(tables, self.labels());
        let report = offline::assemble(races, self.judge, summary)?;
        Ok((report, stats))
    }
}

fn table(stats: &Stats, meter: &Meter) -> String {
    let mut table = Table::default();
    for (name, value) in stats.fields() {
        table.count(name, value);
    }
    table.time(meter.elapsed(), stats.events);
    format!("deadheat: statistics\n{table}").trim_end().to_owned()
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
