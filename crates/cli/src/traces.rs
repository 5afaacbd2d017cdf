//! `deadheat trace`: look into traces, check, convert and make them.

mod generate;
mod info;

pub use generate::shares;

use crate::args::Trace;
use crate::files;
use crate::meter::{Meter, Table, thousands};
use crate::progress::Progress;
use crate::term::{Term, say};
use anyhow::{Context, Result, bail};
use deadheat_event::Event;
use deadheat_trace::{Format, Sink, Source, Validator, Violation, rapid, recognise, roadrunner, text};
use std::io::{self, BufWriter, Cursor, Read, Write};
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
        Trace::Generate(args) => generate::run(args, term),
        Trace::Validate { file, stats } => validate(file, *stats, term),
    }
}

/// How much of stdin is looked at to tell its format, as for files.
const PEEK: u64 = 4096;

/// Opens a trace; content and name tell its format. `-` is stdin, which counts as text unless it is unmistakably not.
pub fn open(path: &Path) -> Result<Box<dyn Source>> {
    if !files::is_standard(path) {
        return deadheat_trace::open(path).map_err(|error| explain(error, path));
    }
    let mut start = Vec::new();
    io::stdin()
        .take(PEEK)
        .read_to_end(&mut start)
        .context("cannot read stdin")?;
    let format = recognise(&start).unwrap_or(Format::Text);
    let mut input = Cursor::new(start).chain(io::stdin());
    Ok(match format {
        Format::Dht => {
            // The binary format is read from its end, so all of it has to be there.
            let mut bytes = Vec::new();
            input.read_to_end(&mut bytes).context("cannot read stdin")?;
            deadheat_trace::open_as(Cursor::new(bytes), format, None)?
        }
        Format::Std => Box::new(rapid::read(input, None)),
        Format::RoadRunner => Box::new(roadrunner::read(input, None)),
        Format::Text => Box::new(text::read(input, None)),
    })
}

/// Names the file and the next step where the error itself does not.
fn explain(error: deadheat_trace::Error, path: &Path) -> anyhow::Error {
    use deadheat_trace::Error;
    let what = match &error {
        Error::Io { source, .. }
            if source.kind() == io::ErrorKind::NotFound && path.extension().is_none() =>
        {
            "cannot open the trace (traces end in .dht, .std, .rr or .txt)".to_owned()
        }
        Error::Io { .. } | Error::UnknownFormat { .. } => "cannot open the trace".to_owned(),
        _ => format!("cannot open the trace {}", path.display()),
    };
    anyhow::Error::from(error).context(what)
}

/// Reads a whole trace with a progress bar and the warning if it was cut off. `each` gets every block and says whether to
/// go on. Returns the number of events read.
fn each_block(
    source: &mut dyn Source,
    path: &Path,
    term: Term,
    mut each: impl FnMut(&[Event], &dyn Source) -> Result<bool>,
) -> Result<u64> {
    let mut progress = Progress::new(false);
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
    let mut sink = deadheat_trace::create(output).context("cannot write the trace")?;
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

fn validate(file: &Path, stats: bool, term: Term) -> Result<()> {
    let meter = Meter::start();
    let mut source = open(file)?;
    let mut validator = Validator::new();
    let events = each_block(&mut *source, file, term, |block, source| {
        for (index, event) in block.iter().enumerate() {
            let number = validator.events();
            if let Err(message) = validator.check(event, source.tables()) {
                let violation = Violation {
                    event: number,
                    place: source.locate(index),
                    shown: text::print_event(event, source.tables()),
                    message,
                };
                bail!("{}: ill-formed: {violation}", file.display());
            }
        }
        Ok(true)
    })?;
    writeln!(
        io::stdout().lock(),
        "{}: well-formed, {} events",
        file.display(),
        thousands(events)
    )?;
    print_stats(stats, &meter, events);
    Ok(())
}
