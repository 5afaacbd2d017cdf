//! The text of a finding that a running program reported: stacks instead of single lines.
//!
//! To fit on a screen, frames that are not the user's are folded, stacks are cut, and the source is shown only where the
//! accesses stand. JSON has everything.

use super::{Colors, RULE};
use crate::model::{Access, Finding, Frame, Lock, Role, Thread, What};
use crate::source::Sources;
use crate::words::{self, capital, clean, place, position, thread, thread_name};
use std::io::{self, Write};

/// Frames of an access that are shown.
const ACCESS_FRAMES: usize = 10;
/// Frames of other stacks that are shown.
const OTHER_FRAMES: usize = 4;
/// Locks of an access that are shown.
const LOCKS: usize = 4;

pub fn write_finding(
    finding: &Finding,
    colors: Colors,
    sources: &mut Sources,
    out: &mut impl Write,
) -> io::Result<()> {
    let style = colors.heading;
    let on = match &finding.location.name {
        Some(name) => format!(" on {}", clean(name)),
        None => String::new(),
    };
    writeln!(out, "{RULE}")?;
    writeln!(out, "{style}WARNING: deadheat: data race{on}{style:#}")?;
    for (place, access) in finding.accesses.iter().rev().enumerate() {
        if place > 0 {
            writeln!(out)?;
        }
        write_access(finding, access, place > 0, colors, sources, out)?;
    }
    write_location(finding, colors, out)?;
    write_threads(finding, colors, out)?;
    if let Some(hint) = &finding.hint {
        let style = colors.warning;
        writeln!(out, "\n  {style}Hint:{style:#} {}", clean(hint))?;
    }
    let quiet = colors.quiet;
    let seen = match finding.count {
        0 | 1 => String::new(),
        times => format!("Seen {times} times. "),
    };
    if !finding.again.is_empty() {
        let again = clean(&finding.again);
        writeln!(out, "\n{quiet}  {seen}Show it again with:\n    {again}{quiet:#}")?;
    } else if !seen.is_empty() {
        writeln!(out, "\n{quiet}  {}{quiet:#}", seen.trim_end())?;
    }
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
    let mut op = String::new();
    for (said, word) in [(earlier, "previous "), (access.atomic, "atomic ")] {
        if said {
            op.push_str(word);
        }
    }
    op.push_str(access.op.as_str());
    let size = access
        .size
        .map(|size| format!(" of size {size}"))
        .unwrap_or_default();
    let at = access.address.as_ref().or(finding.location.address.as_ref());
    let at = at.map(|at| format!(" at {}", clean(at))).unwrap_or_default();
    let locks = access.locks.as_deref();
    let held = match locks {
        Some([]) => ", no locks held".to_owned(),
        _ => String::new(),
    };
    let style = colors.access;
    let (op, who) = (capital(&op), thread(finding, access.thread));
    writeln!(out, "{style}  {op}{size}{at} by {who}{held}:{style:#}")?;
    write_stack(&access.frames, ACCESS_FRAMES, Some(sources), colors, out)?;
    write_also(access, colors, out)?;
    write_locks(locks.unwrap_or_default(), out)
}

/// The other lines that one check stands for.
fn write_also(access: &Access, colors: Colors, out: &mut impl Write) -> io::Result<()> {
    if access.also.is_empty() {
        return Ok(());
    }
    let quiet = colors.quiet;
    let more = if access.also_more {
        " and further lines"
    } else {
        ""
    };
    let lines: Vec<String> = access
        .also
        .iter()
        .map(|frame| position(frame).trim_start().to_owned())
        .collect();
    writeln!(
        out,
        "    {quiet}or, checked together with it, {}{more}{quiet:#}",
        lines.join(", ")
    )
}

fn write_locks(locks: &[Lock], out: &mut impl Write) -> io::Result<()> {
    for lock in locks.iter().take(LOCKS) {
        let what = words::lock(lock);
        let site = lock.taken_at.iter().find(|frame| frame.role.is_user());
        match site.or(lock.taken_at.first()) {
            Some(frame) => writeln!(out, "    holding {what}, taken at {}", place(frame))?,
            None => writeln!(out, "    holding {what}")?,
        }
    }
    match locks.len().saturating_sub(LOCKS) {
        0 => Ok(()),
        more => writeln!(out, "    holding {more} more locks"),
    }
}

/// Prints a stack. With `sources`, the line of the user's innermost frame is shown.
fn write_stack(
    frames: &[Frame],
    most: usize,
    mut sources: Option<&mut Sources>,
    colors: Colors,
    out: &mut impl Write,
) -> io::Result<()> {
    let quiet = colors.quiet;
    if frames.is_empty() {
        return writeln!(out, "    #0 <unknown>");
    }
    let is_user = |frame: &Frame| frame.role.is_user();
    let (first, last) = match (frames.iter().position(is_user), frames.iter().rposition(is_user)) {
        (Some(first), Some(last)) => (first, last),
        // Nothing of the user's: show what there is.
        _ => (0, frames.len() - 1),
    };
    // Where an access is, the library's function says what was done; elsewhere it is only in the way.
    let named = if sources.is_some() { 2 } else { 0 };
    let inner = { frames[..first].iter().enumerate() }.filter(|(_, frame)| frame.role != Role::Runtime);
    for (number, frame) in inner.take(named) {
        let name = clean(frame.function.as_deref().unwrap_or("<unknown function>"));
        writeln!(out, "    {quiet}#{number} {name} (standard library){quiet:#}")?;
    }
    if let Some(folded @ 1..) = first.checked_sub(named) {
        let of = match (named, folded) {
            (1.., _) => "more of it",
            (_, 1) => "frame of the standard library",
            _ => "frames of the standard library",
        };
        writeln!(out, "    {quiet}… {folded} {of}{quiet:#}")?;
    }
    let (mut number, mut shown) = (first, 0);
    while number <= last {
        if shown == most {
            let more = last + 1 - number;
            let frames = if more == 1 { "frame" } else { "frames" };
            return writeln!(out, "    {quiet}… {more} more {frames}{quiet:#}");
        }
        let frame = &frames[number];
        let run = frames[number..=last]
            .iter()
            .take_while(|frame| !is_user(frame))
            .count();
        if run > 2 && first < last && is_user(&frames[first]) {
            writeln!(out, "    {quiet}… {run} frames of the standard library{quiet:#}")?;
            number += run;
            continue;
        }
        let dim = if is_user(frame) {
            Colors::none().quiet
        } else {
            quiet
        };
        writeln!(out, "    {dim}#{number} {}{dim:#}", place(frame))?;
        if let Some(sources) = sources.take() {
            write_source(frame, sources, colors, out)?;
        }
        number += 1;
        shown += 1;
    }
    Ok(())
}

/// The line of a frame, with a caret under its column.
fn write_source(
    frame: &Frame,
    sources: &mut Sources,
    colors: Colors,
    out: &mut impl Write,
) -> io::Result<()> {
    let (Some(file), Some(line)) = (&frame.file, frame.line) else {
        return Ok(());
    };
    let Some((text, before)) = sources.excerpt(file, line) else {
        return Ok(());
    };
    let (quiet, caret) = (colors.quiet, colors.caret);
    writeln!(out, "       {quiet}{line} |{quiet:#} {}", clean(text))?;
    let column = frame.column.and_then(|column| usize::try_from(column).ok());
    if let Some(at) = column.and_then(|column| column.checked_sub(before + 1))
        && at < text.chars().count()
    {
        let margin = " ".repeat(line.to_string().len());
        let space = " ".repeat(at);
        writeln!(out, "       {margin} {quiet}|{quiet:#} {space}{caret}^{caret:#}")?;
    }
    Ok(())
}

fn write_location(finding: &Finding, colors: Colors, out: &mut impl Write) -> io::Result<()> {
    let Some(what) = words::location(finding) else {
        return Ok(());
    };
    let allocated_at = match finding.location.what {
        What::Heap => finding.location.allocated_at.as_slice(),
        _ => &[],
    };
    if allocated_at.is_empty() {
        return writeln!(out, "\n  Location is {what}");
    }
    writeln!(out, "\n  Location is {what}:")?;
    write_stack(allocated_at, OTHER_FRAMES, None, colors, out)
}

fn write_threads(finding: &Finding, colors: Colors, out: &mut impl Write) -> io::Result<()> {
    let accessing = finding.accesses.iter().rev().filter_map(|access| {
        let threads = finding.threads.iter();
        { threads }.find(|thread| Some(thread.id) == access.thread)
    });
    let mut shown: Vec<&Thread> = Vec::new();
    for thread in accessing {
        let Some(parent) = thread.created_by else {
            continue;
        };
        if shown.iter().any(|other| other.id == thread.id) {
            continue;
        }
        let who = capital(&thread_name(finding, thread.id));
        let same =
            |other: &&&Thread| other.created_by == thread.created_by && other.created_at == thread.created_at;
        if let Some(other) = shown.iter().find(same) {
            let other = thread_name(finding, other.id);
            writeln!(out, "\n  {who} created at the same place as {other}")?;
        } else {
            let at = if thread.created_at.is_empty() { "" } else { " at:" };
            writeln!(out, "\n  {who} created by {}{at}", thread_name(finding, parent))?;
            if !thread.created_at.is_empty() {
                write_stack(&thread.created_at, OTHER_FRAMES, None, colors, out)?;
            }
        }
        shown.push(thread);
    }
    Ok(())
}
