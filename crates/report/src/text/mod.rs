//! The report for people, laid out like ThreadSanitizer's: most readers have seen one.
//!
//! Names come out of traces and programs: control characters in them are replaced, so that they cannot drive the
//! terminal.

mod native;
mod witness;

use crate::words::{self, capital, clean};
use crate::{Access, Finding, Frame, Lock, Report, Sources, Thread};
use anstyle::{AnsiColor, Style};
use std::io::{self, Write};

const RULE: &str = "==================";

/// How to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Colors {
    heading: Style,
    warning: Style,
    access: Style,
    caret: Style,
    quiet: Style,
}

impl Colors {
    /// Plain text.
    pub fn none() -> Colors {
        Colors::default()
    }

    /// For a terminal.
    pub fn ansi() -> Colors {
        Colors {
            heading: AnsiColor::Red.on_default().bold(),
            warning: AnsiColor::Yellow.on_default().bold(),
            access: AnsiColor::Blue.on_default().bold(),
            caret: AnsiColor::Red.on_default().bold(),
            quiet: Style::new().dimmed(),
        }
    }
}

/// Prints all findings. The counts are the command's last line, not part of this.
pub fn write(report: &Report, colors: Colors, sources: &mut Sources, mut out: impl Write) -> io::Result<()> {
    for finding in &report.races {
        write_finding(finding, colors, sources, &mut out)?;
    }
    Ok(())
}

/// Prints one finding, with a line before and behind it.
pub fn write_finding(
    finding: &Finding,
    colors: Colors,
    sources: &mut Sources,
    out: &mut impl Write,
) -> io::Result<()> {
    match finding.event {
        Some(event) => write_traced(finding, event, colors, sources, out),
        None => native::write_finding(finding, colors, sources, out),
    }
}

fn write_traced(
    finding: &Finding,
    event: u64,
    colors: Colors,
    sources: &mut Sources,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{RULE}")?;
    let on = match &finding.location.name {
        Some(name) => format!(" on {}", clean(name)),
        None => String::new(),
    };
    if finding.confirmed {
        let met = finding
            .confirmation
            .as_ref()
            .is_some_and(|confirmation| confirmation.met);
        let predicted = match (finding.predicted, met) {
            (true, true) => "confirmed ",
            (true, false) => "predicted ",
            (false, _) => "",
        };
        let style = colors.heading;
        writeln!(out, "{style}WARNING: deadheat: {predicted}data race{on}{style:#}")?;
    } else {
        let (style, rank) = (colors.warning, finding.rank.as_deref().unwrap_or("unranked"));
        writeln!(
            out,
            "{style}WARNING: deadheat: locking discipline violation{on}{style:#} (rank: {rank})"
        )?;
    }
    // As in TSan: the access at which the race was seen comes first.
    for (place, access) in finding.accesses.iter().rev().enumerate() {
        if place > 0 {
            writeln!(out)?;
        }
        write_access(finding, access, place > 0, colors, sources, out)?;
    }
    if finding.accesses.len() < 2 {
        writeln!(out, "\n  The earlier access is not remembered by this detector.")?;
    }
    if !finding.confirmed {
        writeln!(
            out,
            "\n  No lock is held at every access. Something else may order them: this is not a confirmed race."
        )?;
    }
    write_location(finding, out)?;
    for thread in &finding.threads {
        write_thread(finding, thread, sources, colors, out)?;
    }
    if let Some(witness) = &finding.witness {
        witness::write(witness, colors, out)?;
    }
    if let Some(confirmation) = &finding.confirmation {
        witness::write_confirmation(confirmation, out)?;
    }
    let (quiet, times) = (colors.quiet, if finding.count == 1 { "time" } else { "times" });
    writeln!(
        out,
        "\n{quiet}  {}. Show it again with:\n    {}{quiet:#}",
        match finding.predicted {
            true => format!("Predicted by {} at event {event}", finding.detector),
            false => format!(
                "Seen {} {times} by {}, first at event {event}",
                finding.count, finding.detector
            ),
        },
        clean(&finding.again)
    )?;
    writeln!(out, "{RULE}")
}

fn write_access(
    finding: &Finding,
    access: &Access,
    earlier: bool,
    colors: Colors,
    sources: &mut Sources,
    out: &mut impl Write,
) -> io::Result<()> {
    let op = match (earlier, access.atomic) {
        (false, false) => capital(access.op.as_str()),
        (false, true) => format!("Atomic {}", access.op.as_str()),
        (true, false) => format!("Previous {}", access.op.as_str()),
        (true, true) => format!("Previous atomic {}", access.op.as_str()),
    };
    let what = match (access.size, &finding.location.address) {
        (Some(size), Some(address)) => format!("of size {size} at {address}"),
        _ => format!(
            "of {}",
            clean(finding.location.name.as_deref().unwrap_or("memory"))
        ),
    };
    let held = match access.locks.as_deref() {
        None => String::new(),
        Some([]) => ", no locks held".to_owned(),
        Some(locks) => format!(", holding {}", list(locks)),
    };
    let style = colors.access;
    writeln!(
        out,
        "{style}  {op} {what} by {}{held}:{style:#}",
        access
            .thread
            .map_or_else(|| "an unknown thread".to_owned(), |id| thread_name(finding, id))
    )?;
    if access.frames.is_empty() {
        return writeln!(out, "    #0 <unknown>");
    }
    write_frames(&access.frames, sources, colors, out)
}

fn write_frames(
    frames: &[Frame],
    sources: &mut Sources,
    colors: Colors,
    out: &mut impl Write,
) -> io::Result<()> {
    for (number, frame) in frames.iter().enumerate() {
        writeln!(out, "    #{number} {}", place(frame))?;
        if let (Some(file), Some(line)) = (&frame.file, frame.line)
            && let Some(text) = sources.line(file, line)
        {
            let quiet = colors.quiet;
            writeln!(out, "       {quiet}{line} |{quiet:#} {}", clean(text))?;
        }
    }
    Ok(())
}

fn write_location(finding: &Finding, out: &mut impl Write) -> io::Result<()> {
    match words::location(finding) {
        Some(what) => writeln!(out, "\n  Location is {what}"),
        None => Ok(()),
    }
}

fn write_thread(
    finding: &Finding,
    thread: &Thread,
    sources: &mut Sources,
    colors: Colors,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some(parent) = thread.created_by else {
        return Ok(());
    };
    let at = if thread.created_at.is_empty() { "" } else { " at:" };
    writeln!(
        out,
        "\n  {} created by {}{at}",
        capital(&thread_name(finding, thread.id)),
        thread_name(finding, parent)
    )?;
    write_frames(&thread.created_at, sources, colors, out)
}

fn thread_name(finding: &Finding, id: u32) -> String {
    let known = finding.threads.iter().find(|thread| thread.id == id);
    match known.and_then(|thread| thread.name.as_deref()) {
        Some(name) => format!("thread {}", clean(name)),
        None => format!("thread T{id}"),
    }
}

fn list(locks: &[Lock]) -> String {
    let names: Vec<String> = locks
        .iter()
        .map(|lock| match &lock.name {
            Some(name) => clean(name).into_owned(),
            None => format!("S{}", lock.id),
        })
        .collect();
    let noun = if names.len() == 1 { "lock" } else { "locks" };
    format!("{noun} {}", names.join(", "))
}

/// `function file:line:column`, as much of it as is known.
fn place(frame: &Frame) -> String {
    let mut text = clean(frame.function.as_deref().unwrap_or("<unknown function>")).into_owned();
    if frame.file.is_some() || frame.line.is_some() {
        text.push(' ');
        text.push_str(&clean(frame.file.as_deref().unwrap_or("<unknown file>")));
    }
    for number in [frame.line, frame.column].into_iter().flatten() {
        text.push_str(&format!(":{number}"));
    }
    text
}
