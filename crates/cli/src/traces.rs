//! `deadheat trace`: look into traces, check, convert and make them.

mod info;

use crate::args::Trace;
use crate::files;
use crate::meter::{Meter, Table};
use crate::progress::Progress;
use crate::term::{Term, say};
use anyhow::{Context, Result, bail};
use deadheat_event::{Event, Tables};
use deadheat_trace::{Format, Sink, Source, text};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Runs a command.
pub fn run(command: &Trace, term: Term) -> Result<()> {
    match command {
        Trace::Info { file, format, stats } => info::run(file, *format, *stats, term),
        Trace::Cat {
            file,
            from,
            count,
            stats,
        } => cat(file, *from, *count, *stats, term),
        Trace::Convert { input, output, stats } => convert(input, output, *stats, term),
    }
}

/// Opens a trace by its extension or content; `-` is a text trace on stdin.
pub fn open(path: &Path) -> Result<Box<dyn Source>> {
    if files::is_standard(path) {
        return Ok(Box::new(text::Reader::new(io::stdin(), None)));
    }
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(Box::new(text::Reader::new(file, None)))
}

/// Reads a whole trace with a progress bar and the warning if it was cut off. `each` gets every block and says whether to
/// go on. Returns the number of events read.
fn each_block(
    source: &mut dyn Source,
    path: &Path,
    term: Term,
    mut each: impl FnMut(&[Event], &dyn Source) -> Result<bool>,
) -> Result<u64> {
    let progress = Progress::new(false);
    let (mut block, mut events) = (Vec::new(), 0);
    while source
        .next_block(&mut block)
        .with_context(|| path.display().to_string())?
    {
        events += block.len() as u64;
        if !each(&block, source)? {
            return Ok(events);
        }
        progress.update(source.position(), events);
    }
    drop(progress);
    if let Some(truncation) = source.truncation() {
        term.warn(&format!("{}: {truncation}", path.display()));
    }
    Ok(events)
}

fn print_stats(wanted: bool, meter: &Meter, events: u64) {
    if wanted {
        let mut table = Table::default();
        table.count("events", events);
        table.time(meter.elapsed(), events);
        say(format!("deadheat: statistics\n{table}").trim_end());
    }
}

fn cat(file: &Path, from: u64, count: Option<u64>, stats: bool, term: Term) -> Result<()> {
    let meter = Meter::start();
    let mut source = open(file)?;
    let mut printer = text::Printer::new(BufWriter::new(io::stdout().lock()));
    let end = count.map_or(u64::MAX, |count| from.saturating_add(count));
    let mut number: u64 = 0;
    let events = each_block(&mut *source, file, term, |block, source| {
        let within = |n: u64| {
            usize::try_from(n.saturating_sub(number))
                .unwrap_or(usize::MAX)
                .min(block.len())
        };
        let wanted = within(from)..within(end);
        number += block.len() as u64;
        if !wanted.is_empty() {
            printer.write(&block[wanted], source.tables())?;
        }
        Ok(number < end)
    })?;
    printer.finish(source.tables())?;
    print_stats(stats, &meter, events);
    Ok(())
}

fn convert(input: &Path, output: &Path, stats: bool, term: Term) -> Result<()> {
    let meter = Meter::start();
    let mut source = open(input)?;
    files::refuse_same(output, input)?;
    let mut sink = create(output)?;
    let events = each_block(&mut *source, input, term, |block, source| {
        sink.write(block, source.tables())
            .with_context(|| output.display().to_string())?;
        Ok(true)
    })?;
    sink.finish(source.tables())
        .with_context(|| output.display().to_string())?;
    print_stats(stats, &meter, events);
    Ok(())
}

fn create(path: &Path) -> Result<Box<dyn Sink>> {
    let file = File::create(path).with_context(|| path.display().to_string())?;
    match Format::of_path(path) {
        Some(Format::Text) => Ok(Box::new(text::Printer::new(BufWriter::new(file)))),
        _ => bail!("no"),
    }
}
