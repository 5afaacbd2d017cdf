//! `deadheat predict`: races of other schedules than the recorded one.

use crate::args::Predict;
use crate::confirm;
use crate::files::Output;
use crate::meter::{Meter, Table, thousands};
use crate::offline::{self, last_line};
use crate::progress::Progress;
use crate::term::{Term, say};
use crate::traces;
use anyhow::{Context, Result};
use deadheat_predict::{Model, Options, Outcome, Predictions, SolverName, Step, predict};
use deadheat_report::{Collector, Finding, Labels, Schedule, Summary, quote};
use deadheat_trace::Position;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs the command.
pub fn run(args: &Predict, term: Term) -> Result<ExitCode> {
    let judge = offline::judge(&args.report)?;
    let mut source = traces::open(&args.trace)?;
    let output = offline::output(&args.report, &args.trace)?;
    let options = options(args);
    let meter = Meter::start();
    let mut progress = Progress::new(args.report.quiet);
    let (mut collector, mut events) = (Collector::new(), 0);
    let (mut read, mut finished) = (Position::default(), 0);
    let (predictions, stopped) = predict(&mut *source, &options, &mut |step| {
        match step {
            Step::Read(block, source) => {
                collector.observe(block);
                events += block.len() as u64;
                read = source.position();
            }
            Step::Finished(count) => finished = count,
        }
        progress.update(come_to(read, finished, events), finished);
    });
    drop(progress);
    let outcome = predictions.outcome;
    let mut summary = summary(&predictions, args, &meter);
    for prediction in predictions.races {
        let witness = prediction.witness;
        let schedule = Schedule {
            start: witness.start,
            order: witness.schedule().collect(),
            shown: witness.steps,
        };
        collector.add_predicted(prediction.race, schedule);
    }
    summary.occurrences = collector.occurrences();
    if let Some(truncation) = source.truncation() {
        summary.partial = true;
        term.warn(&format!("{}: {truncation}", args.trace.display()));
    }
    summary.partial |= stopped.is_some();
    if events == 0 && stopped.is_none() {
        term.warn(&format!("{}: there are no events in it", args.trace.display()));
    }
    let labels = Labels {
        detector: args.model.as_str(),
        again: &again(args),
    };
    let report = offline::assemble(collector.findings(source.tables(), labels), &judge, summary);
    let (mut report, stopped) = match (report, stopped) {
        (Ok(report), stopped) => (report, stopped),
        // What was asked for may be behind what failed.
        (Err(_), Some(stopped)) => return Err(stopped).with_context(|| args.trace.display().to_string()),
        (Err(error), None) => return Err(error),
    };
    if args.confirm && stopped.is_none() {
        confirm::confirm(&mut report.races, args)?;
        report.summary.met = Some({ report.races.iter() }.filter(|race| has_met(race)).count() as u64);
    }
    // An old report is worth more than one of a failed run that found nothing.
    if stopped.is_none() || !report.races.is_empty() || !output.as_ref().is_some_and(Output::is_file) {
        offline::write(&report, &args.report, &args.trace, term, output)?;
    }
    for note in &report.summary.notes {
        term.warn(note);
    }
    if args.report.stats {
        say(&table(&outcome, report.summary.events, &meter));
    }
    let last_line = last_line(&report.summary, term);
    if let Some(stopped) = stopped {
        if events > 0 {
            say(&format!("{last_line} so far"));
        }
        return Err(stopped).with_context(|| args.trace.display().to_string());
    }
    say(&last_line);
    Ok(ExitCode::from(if report.races.is_empty() {
        0
    } else {
        args.report.exit_code
    }))
}

/// Where a reader would be that has read no more than the `finished` of all `events` read.
fn come_to(read: Position, finished: u64, events: u64) -> Position {
    let done = u128::from(read.done) * u128::from(finished) / u128::from(events.max(1));
    Position {
        done: u64::try_from(done).unwrap_or(read.done).min(read.done),
        ..read
    }
}

fn has_met(finding: &Finding) -> bool {
    { finding.confirmation.as_ref() }.is_some_and(|confirmation| confirmation.met)
}

fn options(args: &Predict) -> Options {
    let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Options {
        model: args.model,
        window: usize::try_from(args.window).unwrap_or(usize::MAX),
        solver: args.solver,
        timeout: Duration::from_secs(args.timeout),
        pair: None,
        end: args
            .limit
            .map(|limit| Instant::now() + Duration::from_secs(limit)),
        jobs: args.jobs.map_or_else(processors, usize::from),
    }
}

fn summary(predictions: &Predictions, args: &Predict, meter: &Meter) -> Summary {
    let stats = counters(&predictions.outcome).map(|(name, value)| (name.to_owned(), value));
    Summary {
        events: predictions.events,
        seconds: Some(meter.elapsed().as_secs_f64()),
        stats: if args.report.stats {
            stats.collect()
        } else {
            BTreeMap::new()
        },
        notes: notes(&predictions.outcome, predictions.rejection.as_deref()),
        ..Summary::default()
    }
}

/// What was not decided, and what went wrong.
fn notes(outcome: &Outcome, rejection: Option<&str>) -> Vec<String> {
    let undecided = &outcome.undecided;
    let mut notes = Vec::new();
    let mut note = |count: u64, one: &str, many: &str, rest: &str| {
        let what = if count == 1 { one } else { many };
        if count > 0 {
            notes.push(format!("{} {what} {rest}", thousands(count)));
        }
    };
    note(
        undecided.pairs,
        "pair of accesses was",
        "pairs of accesses were",
        "not decided in time: a longer --timeout or --limit or a smaller --window may decide them",
    );
    note(
        undecided.windows,
        "window was",
        "windows were",
        "not finished in time: a longer --timeout or --limit or a smaller --window may show more races",
    );
    note(
        undecided.tangled,
        "window was",
        "windows were",
        "not looked at, because memory is accessed in too many different pieces: a smaller --window may help",
    );
    note(
        outcome.rejected,
        "schedule was",
        "schedules were",
        &format!(
            "rejected by the checker and not reported ({}): this is a bug in deadheat, please report it with the trace",
            rejection.unwrap_or("no reason given")
        ),
    );
    notes
}

fn counters(outcome: &Outcome) -> impl Iterator<Item = (&'static str, u64)> {
    [
        ("windows", outcome.windows),
        ("pairs", outcome.pairs),
        ("pairs_in_observed_order", outcome.quick),
        ("pairs_refuted", outcome.refuted),
        ("pairs_solved", outcome.solved),
        ("pairs_undecided", outcome.undecided.pairs),
        (
            "milliseconds_solving",
            u64::try_from(outcome.solving.as_millis()).unwrap_or(u64::MAX),
        ),
        ("windows_unfinished", outcome.undecided.windows),
        ("windows_tangled", outcome.undecided.tangled),
        ("witnesses_rejected", outcome.rejected),
    ]
    .into_iter()
}

fn table(outcome: &Outcome, events: u64, meter: &Meter) -> String {
    let mut table = Table::default();
    table.count("events", events);
    for (name, value) in counters(outcome) {
        table.count(name, value);
    }
    table.time(meter.elapsed(), events);
    format!("deadheat: statistics\n{table}").trim_end().to_owned()
}

/// The command that shows one finding again, with `{id}` for its id.
fn again(args: &Predict) -> String {
    let mut words = vec!["deadheat predict".to_owned()];
    if args.model != Model::default() {
        words.push(format!("--model {}", args.model));
    }
    if args.window != Options::default().window as u64 {
        words.push(format!("--window {}", args.window));
    }
    if args.solver != SolverName::default() {
        words.push(format!("--solver {}", args.solver));
    }
    words.push("--only {id}".to_owned());
    words.push(quote(&args.trace.to_string_lossy()));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_predict::Undecided;

    #[test]
    fn what_was_not_decided_or_not_accepted_is_noted() {
        let outcome = Outcome {
            undecided: Undecided {
                pairs: 2,
                ..Undecided::default()
            },
            rejected: 1,
            ..Outcome::default()
        };
        let expect = [
            "2 pairs of accesses were not decided in time: a longer --timeout or --limit or a smaller --window may decide them",
            "1 schedule was rejected by the checker and not reported (event 3 reads another value than it did): \
             this is a bug in deadheat, please report it with the trace",
        ];
        assert_eq!(
            notes(&outcome, Some("event 3 reads another value than it did")),
            expect
        );
        assert!(notes(&Outcome::default(), None).is_empty());
    }

    #[test]
    fn progress_is_what_windows_have_finished() {
        let read = Position {
            done: 1000,
            total: Some(4000),
        };
        let done = |finished, events| come_to(read, finished, events).done;
        assert_eq!(
            [done(0, 0), done(0, 100), done(25, 100), done(100, 100)],
            [0, 0, 250, 1000]
        );
    }
}
