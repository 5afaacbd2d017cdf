//! A witness as a table: one event a line, in the order in which they happen, and a column for each thread.

use super::Escaped;
use crate::words::place;
use crate::{Finding, Step, Witness};
use std::io::{self, Write};

pub fn write(finding: &Finding, witness: &Witness, out: &mut impl Write) -> io::Result<()> {
    let before = match witness.start {
        0 => String::new(),
        start => format!("Events before {start} as observed, then "),
    };
    let events = match witness.schedule.len() {
        count if count == witness.steps.len() => format!("{count} events"),
        count => format!("{} of {count} events", witness.steps.len()),
    };
    // The accesses are the last two.
    let racing = witness.steps.len().saturating_sub(2);
    let threads = columns(&witness.steps);
    write!(
        out,
        "<h3>It happens in this order</h3>\n<p class=\"quiet\">{before}{events}.</p>\n\
         <div class=\"scroll\"><table class=\"witness\">\n<tr><th>event</th>"
    )?;
    for (id, name) in &threads {
        let known = finding.threads.iter().find(|thread| thread.id == *id);
        let name = name.or(known.and_then(|thread| thread.name.as_deref()));
        let name = name.map_or_else(|| format!("T{id}"), str::to_owned);
        write!(out, "<th>{}</th>", Escaped(&name))?;
    }
    out.write_all(b"</tr>\n")?;
    let mut order = witness.schedule.iter();
    for (number, step) in witness.steps.iter().enumerate() {
        let skipped = order.by_ref().take_while(|&&event| event != step.event).count();
        if skipped > 0 {
            let columns = threads.len();
            writeln!(
                out,
                "<tr><td></td><td class=\"quiet\" colspan=\"{columns}\">… {skipped} more</td></tr>"
            )?;
        }
        let class = if number >= racing { " class=\"here\"" } else { "" };
        write!(out, "<tr{class}><td>{}</td>", step.event)?;
        for (id, _) in &threads {
            if *id != step.thread {
                out.write_all(b"<td></td>")?;
                continue;
            }
            let at = step.frame.as_ref().map(place).unwrap_or_default();
            let (does, at) = (Escaped(&step.does), Escaped(&at));
            write!(
                out,
                "<td class=\"does\">{does}<code class=\"at\">{at}</code></td>"
            )?;
        }
        out.write_all(b"</tr>\n")?;
    }
    out.write_all(b"</table></div>\n")
}

/// The threads of the steps, in the order in which they first act, and their names.
fn columns(steps: &[Step]) -> Vec<(u32, Option<&str>)> {
    let mut threads: Vec<(u32, Option<&str>)> = Vec::new();
    for step in steps {
        if !threads.iter().any(|(id, _)| *id == step.thread) {
            threads.push((step.thread, step.name.as_deref()));
        }
    }
    threads
}
