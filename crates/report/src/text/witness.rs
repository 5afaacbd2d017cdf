//! A witness as a table: one event a line, in the order in which they happen.

use super::{Colors, place};
use crate::model::{Confirmation, Step, Witness};
use crate::words::clean;
use std::io::{self, Write};

/// Columns that a thread's name and an operation are given at most.
const NAME: usize = 16;
const DOES: usize = 40;

pub fn write(witness: &Witness, colors: Colors, out: &mut impl Write) -> io::Result<()> {
    let before = match witness.start {
        0 => String::new(),
        start => format!("events before {start} as observed, then "),
    };
    let events = match witness.schedule.len() {
        count if count == witness.steps.len() => format!("{count} events"),
        count => format!("{} of {count} events", witness.steps.len()),
    };
    writeln!(out, "\n  It happens in this order ({before}{events}):")?;
    let width = |of: &dyn Fn(&Step) -> usize| witness.steps.iter().map(of).max().unwrap_or(0);
    let number = width(&|step| step.event.to_string().len());
    let thread = width(&|step| name(step).chars().count()).min(NAME);
    let does = width(&|step| clean(&step.does).chars().count()).min(DOES);
    let quiet = colors.quiet;
    let mut order = witness.schedule.iter();
    for (place, step) in witness.steps.iter().enumerate() {
        let skipped = order.by_ref().take_while(|&&event| event != step.event).count();
        if skipped > 0 {
            writeln!(out, "    {quiet}{:>number$}  … {skipped} more{quiet:#}", "")?;
        }
        // The two that race.
        let racing = place + 2 >= witness.steps.len();
        let (mark, style) = if racing {
            (">", colors.access)
        } else {
            (" ", Colors::none().access)
        };
        let (who, what, at) = (name(step), clean(&step.does), at(step));
        let line = format!(
            "{mark} {:>number$}  {who:thread$}  {what:does$}  {at}",
            step.event
        );
        writeln!(out, "  {style}{}{style:#}", line.trim_end())?;
    }
    Ok(())
}

/// Whether the accesses met when the program was run again.
pub fn write_confirmation(confirmation: &Confirmation, out: &mut impl Write) -> io::Result<()> {
    let Confirmation {
        runs, seconds, how, ..
    } = confirmation;
    match (confirmation.met, how) {
        (true, how) => writeln!(
            out,
            "\n  Confirmed by run {runs} of the program, whose threads were held to make it happen. Both were about to act at once:\n    {}",
            clean(how.as_deref().unwrap_or_default())
        ),
        (false, _) => writeln!(
            out,
            "\n  Not confirmed: in {runs} run{} of the program ({seconds:.1} s) the accesses did not meet. It remains a prediction.",
            if *runs == 1 { "" } else { "s" }
        ),
    }
}

fn name(step: &Step) -> String {
    match &step.name {
        Some(name) => clean(name).into_owned(),
        None => format!("T{}", step.thread),
    }
}

fn at(step: &Step) -> String {
    step.frame.as_ref().map(place).unwrap_or_default()
}
