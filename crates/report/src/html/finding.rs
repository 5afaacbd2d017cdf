//! One finding: the two accesses side by side, then what they touched, who did it, and how to see it again.

use super::{Escaped, Tag, anchor, witness};
use crate::words::{self, capital, function, position, thread, thread_name};
use crate::{Access, Confirmation, Finding, Frame, Lock, Role, Sources, Thread};
use std::io::{self, Write};

/// Lines of source shown before and behind that of an access.
const AROUND: u32 = 2;

pub fn write(
    number: usize,
    finding: &Finding,
    sources: &mut Sources,
    out: &mut impl Write,
) -> io::Result<()> {
    let name = anchor(number, finding);
    write!(out, "<article id=\"{name}\">\n<header>{}<h2>", Tag(finding))?;
    match &finding.location.name {
        Some(variable) => write!(out, "<code>{}</code>", Escaped(variable))?,
        None => write!(out, "memory without a name")?,
    }
    write!(out, "</h2><span class=\"quiet\">{}", Escaped(&finding.kind))?;
    if let Some(rank) = &finding.rank {
        write!(out, ", rank {}", Escaped(rank))?;
    }
    writeln!(
        out,
        "</span><a class=\"id\" href=\"#{name}\"><code>{}</code></a></header>\n<div class=\"pair\">",
        Escaped(&finding.id)
    )?;
    // As in the text: the access at which the race was seen comes first.
    for (place, access) in finding.accesses.iter().rev().enumerate() {
        write_access(finding, access, place > 0, sources, out)?;
    }
    out.write_all(b"</div>\n")?;
    if finding.accesses.len() < 2 {
        out.write_all(b"<p>The earlier access is not remembered by this detector.</p>\n")?;
    }
    if !finding.confirmed {
        out.write_all(
            b"<p>No lock is held at every access. Something else may order them: this is not a confirmed race.</p>\n",
        )?;
    }
    write_memory(finding, out)?;
    write_threads(finding, out)?;
    if let Some(witness) = &finding.witness {
        witness::write(finding, witness, out)?;
    }
    if let Some(confirmation) = &finding.confirmation {
        write_confirmation(confirmation, out)?;
    }
    if let Some(hint) = &finding.hint {
        writeln!(out, "<p class=\"hint\"><b>Hint:</b> {}</p>", Escaped(hint))?;
    }
    write_again(finding, out)?;
    out.write_all(b"</article>\n")
}

fn write_access(
    finding: &Finding,
    access: &Access,
    earlier: bool,
    sources: &mut Sources,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut what = String::new();
    for (said, word) in [(earlier, "previous "), (access.atomic, "atomic ")] {
        what.push_str(if said { word } else { "" });
    }
    what.push_str(access.op.as_str());
    if let Some(size) = access.size {
        what.push_str(&format!(" of size {size}"));
    }
    let at = access.address.as_ref().or(finding.location.address.as_ref());
    if let Some(at) = at {
        what.push_str(&format!(" at {at}"));
    }
    writeln!(
        out,
        "<section class=\"access\"><h3>{}</h3>\n<p>by {}{}</p>",
        Escaped(&capital(&what)),
        Escaped(&thread(finding, access.thread)),
        match access.locks.as_deref() {
            Some([]) => ", no locks held",
            Some(_) => "",
            None => "<span class=\"quiet\">, locks not known</span>",
        }
    )?;
    let user = access.frames.iter().find(|frame| frame.role.is_user());
    if let Some(frame) = user.or(access.frames.first()) {
        write_source(frame, sources, out)?;
    }
    write_stack(&access.frames, out)?;
    if !access.also.is_empty() {
        let places: Vec<String> = access.also.iter().map(position).collect();
        let places = Escaped(&places.join(",")).to_string();
        let more = if access.also_more {
            " and further lines"
        } else {
            ""
        };
        writeln!(
            out,
            "<p class=\"quiet\">or, checked together with it,{places}{more}</p>"
        )?;
    }
    write_locks(access.locks.as_deref().unwrap_or_default(), out)?;
    out.write_all(b"</section>\n")
}

/// The line of an access and those around it.
fn write_source(frame: &Frame, sources: &mut Sources, out: &mut impl Write) -> io::Result<()> {
    let (Some(file), Some(line)) = (&frame.file, frame.line) else {
        return Ok(());
    };
    let lines = sources.around(file, line, AROUND);
    if lines.is_empty() {
        return Ok(());
    }
    out.write_all(b"<div class=\"scroll\"><table class=\"code\">\n")?;
    for (number, text) in lines {
        if number == line {
            let (before, marked, behind) = split(text, frame.column);
            write!(out, "<tr class=\"here\"><td>{number}</td><td>{}", Escaped(before))?;
            if !marked.is_empty() {
                write!(out, "<mark>{}</mark>", Escaped(marked))?;
            }
            writeln!(out, "{}</td></tr>", Escaped(behind))?;
        } else {
            writeln!(out, "<tr><td>{number}</td><td>{}</td></tr>", Escaped(text))?;
        }
    }
    out.write_all(b"</table></div>\n")
}

/// What is in front of a column, the word that begins there, and the rest. Columns count bytes in what compilers say; one
/// that is within a character marks nothing.
fn split(text: &str, column: Option<u32>) -> (&str, &str, &str) {
    let start = column.and_then(|column| usize::try_from(column).ok()?.checked_sub(1));
    let Some((before, rest)) = start.and_then(|start| text.split_at_checked(start)) else {
        return (text, "", "");
    };
    let word = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    let first = rest.chars().next().map_or(0, char::len_utf8);
    let (marked, behind) = rest.split_at(word.max(first));
    (before, marked, behind)
}

/// A stack, with what is not the user's folded unless there is nothing else.
fn write_stack(frames: &[Frame], out: &mut impl Write) -> io::Result<()> {
    if frames.is_empty() {
        return out.write_all(b"<p class=\"quiet\">Where is not known.</p>\n");
    }
    let users = frames.iter().any(|frame| frame.role.is_user());
    let mut number = 0;
    for run in frames.chunk_by(|one, next| one.role.is_user() == next.role.is_user()) {
        if users && !run[0].role.is_user() {
            write_folded(run, number, out)?;
        } else {
            write_frames(run, number, out)?;
        }
        number += run.len();
    }
    Ok(())
}

fn write_folded(frames: &[Frame], number: usize, out: &mut impl Write) -> io::Result<()> {
    let plural = if frames.len() == 1 { "" } else { "s" };
    write!(
        out,
        "<details><summary>… {} frame{plural} of the standard library",
        frames.len()
    )?;
    // The innermost says what was done.
    if let Some(frame) = frames.iter().find(|frame| frame.role != Role::Runtime) {
        write!(out, ": <code>{}</code>", Escaped(&function(frame)))?;
    }
    out.write_all(b"</summary>\n")?;
    write_frames(frames, number, out)?;
    out.write_all(b"</details>\n")
}

fn write_frames(frames: &[Frame], first: usize, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"<ol class=\"stack\">\n")?;
    for (number, frame) in (first..).zip(frames) {
        writeln!(
            out,
            "<li><span>#{number}</span><code>{}<span class=\"at\">{}</span></code></li>",
            Escaped(&function(frame)),
            Escaped(&position(frame))
        )?;
    }
    out.write_all(b"</ol>\n")
}

/// A stack behind a line that says what happened there.
fn write_folding(what: &str, frames: &[Frame], out: &mut impl Write) -> io::Result<()> {
    let user = frames.iter().find(|frame| frame.role.is_user());
    let Some(frame) = user.or(frames.first()) else {
        return writeln!(out, "<p>{}</p>", Escaped(what));
    };
    writeln!(
        out,
        "<p>{} at <code>{}<span class=\"at\">{}</span></code></p>",
        Escaped(what),
        Escaped(&function(frame)),
        Escaped(&position(frame))
    )?;
    if frames.len() > 1 {
        writeln!(out, "<details><summary>all {} frames</summary>", frames.len())?;
        write_stack(frames, out)?;
        out.write_all(b"</details>\n")?;
    }
    Ok(())
}

fn write_locks(locks: &[Lock], out: &mut impl Write) -> io::Result<()> {
    if locks.is_empty() {
        return Ok(());
    }
    out.write_all(b"<ul class=\"locks\">\n")?;
    for lock in locks {
        let named = Lock {
            // A trace knows locks by number.
            name: lock
                .name
                .clone()
                .or_else(|| lock.address.clone())
                .or(Some(format!("S{}", lock.id))),
            ..lock.clone()
        };
        let taken = if lock.taken_at.is_empty() { "" } else { ", taken" };
        out.write_all(b"<li>")?;
        write_folding(
            &format!("holding {}{taken}", words::lock(&named)),
            &lock.taken_at,
            out,
        )?;
        out.write_all(b"</li>\n")?;
    }
    out.write_all(b"</ul>\n")
}

fn write_memory(finding: &Finding, out: &mut impl Write) -> io::Result<()> {
    let Some(what) = words::location(finding) else {
        return Ok(());
    };
    out.write_all(b"<h3>Memory</h3>\n")?;
    write_folding(
        &format!("Location is {what}"),
        &finding.location.allocated_at,
        out,
    )
}

fn write_threads(finding: &Finding, out: &mut impl Write) -> io::Result<()> {
    let known = |thread: &&Thread| thread.created_by.is_some();
    if !finding.threads.iter().any(|thread| known(&thread)) {
        return Ok(());
    }
    out.write_all(b"<h3>Threads</h3>\n")?;
    for made in finding.threads.iter().filter(known) {
        let created = format!(
            "{} created by {}",
            capital(&thread_name(finding, made.id)),
            thread(finding, made.created_by)
        );
        write_folding(&created, &made.created_at, out)?;
    }
    Ok(())
}

fn write_confirmation(confirmation: &Confirmation, out: &mut impl Write) -> io::Result<()> {
    let Confirmation {
        runs, seconds, how, ..
    } = confirmation;
    match confirmation.met {
        true => writeln!(
            out,
            "<p><b>Confirmed</b> by run {runs} of the program, whose threads were held to make it happen. Both were about \
             to act at once: <code>{}</code></p>",
            Escaped(how.as_deref().unwrap_or_default())
        ),
        false => writeln!(
            out,
            "<p><b>Not confirmed</b>: in {runs} run{} of the program ({seconds:.1} s) the accesses did not meet. It remains \
             a prediction.</p>",
            if *runs == 1 { "" } else { "s" }
        ),
    }
}

fn write_again(finding: &Finding, out: &mut impl Write) -> io::Result<()> {
    let times = if finding.count == 1 { "time" } else { "times" };
    let (by, count) = (&finding.detector, finding.count);
    let seen = match (finding.event, finding.predicted) {
        (Some(event), true) => format!("Predicted by {by} at event {event}."),
        (Some(event), false) => format!("Seen {count} {times} by {by}, first at event {event}."),
        (None, _) => format!("Seen {count} {times}."),
    };
    write!(
        out,
        "<h3>Show it again</h3>\n<p class=\"quiet\">{}</p>\n",
        Escaped(&seen)
    )?;
    if !finding.again.is_empty() {
        writeln!(out, "<pre class=\"again\">{}</pre>", Escaped(&finding.again))?;
    }
    Ok(())
}
