//! The text format: one event a line, for people and tests, close to the notation of the papers.
//!
//! ```text
//! T1 w x @a.c:12; T1 acq L     # two events and a comment
//! T2 load flag acq =1
//! T2 r a[0..63:2]
//! ```
//!
//! It can say everything that an [`Event`] can, and [`Printer`] output given to [`read()`] gives
//! the same events again: names that the reader would number differently are declared in front of their first use.
//! What may change are the numbers of sites, strings and object sets, which the reader interns anew. The grammar is in
//! `docs/trace-format.md`.

mod cursor;
mod parse;
mod print;
mod read;

pub use parse::Parser;
pub use print::{Printer, print, print_event};
pub use read::read;

use crate::Result;
use deadheat_event::{Event, Tables};

/// Named threads and arrays get the numbers from here on.
const NAMED_ID: u32 = 1 << 24;

/// Named locks, barriers and channels get the numbers from here on.
const NAMED_SYNC: u64 = 1 << 48;

/// Named variables live from this address on, [`SPACING`] bytes apart.
const NAMED_ADDR: u64 = 1 << 44;

/// What a named variable may span.
const SPACING: u64 = 4096;

/// The size of an access that does not say its own.
const DEFAULT_SIZE: u32 = 8;

/// Words that start a declaration, not an event.
const DECLARATIONS: [&str; 4] = ["thread", "sync", "array", "var"];

/// Parses a whole trace. For tests; files are better read with [`read()`].
pub fn parse(text: &str) -> Result<(Vec<Event>, Tables)> {
    let mut parser = Parser::new();
    let mut events = Vec::new();
    for (number, line) in text.lines().enumerate() {
        parser.line(line, number as u64 + 1, &mut events)?;
    }
    Ok((events, parser.into_tables()))
}

/// Whether `name` is `prefix` and a decimal number without leading zeros: then it stands for the id of that number.
fn numbered(name: &str, prefix: char) -> Option<u64> {
    let digits = name.strip_prefix(prefix)?;
    let canonical = digits == "0" || (!digits.starts_with('0') && !digits.is_empty());
    let decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    if canonical && decimal {
        digits.parse().ok()
    } else {
        None
    }
}

/// Whether a character can stand in a name without quotes.
fn is_bare(c: char) -> bool {
    !(c.is_whitespace() || c.is_control() || ";#\"@:+[]{},=()".contains(c))
}

/// The words for memory orderings.
const ORDERS: [(&str, deadheat_event::Order); 6] = {
    use deadheat_event::Order::{AcqRel, Acquire, Relaxed, Release, SeqCst, Volatile};
    [
        ("rlx", Relaxed),
        ("acq", Acquire),
        ("rel", Release),
        ("acqrel", AcqRel),
        ("sc", SeqCst),
        ("vol", Volatile),
    ]
};
