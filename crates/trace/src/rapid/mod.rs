//! STD: the text format of the RAPID tools, one event a line.
//!
//! ```text
//! T0|fork(T1)|11
//! T1|w(V234.23[0])|-3
//! ```
//!
//! Two bars in every line; operands are text without blanks and bars. Where RAPID's own reader silently repeats the
//! event before a line that it cannot read, this one stops with the number of the line.
//!
//! How it maps to events, so that STD → `.dht` → STD gives the same bytes (line ends become line feeds, numbers lose
//! plus signs and leading zeros):
//! - A thread called `T` and a number below 65536 gets that number, others the numbers from 65536 on. Every thread has its
//!   name in the tables.
//! - A variable gets 8 bytes of its own; its name is in the tables. So is a lock's.
//! - The location number becomes the line of a site without file (negative ones as two's complement; 0 is the unknown
//!   site).
//! - What follows the word `begin` or `end` becomes the function of a site whose file is `SUFFIX_FILE`.

mod read;
mod write;

pub use read::read;
pub use write::Printer;

/// Marks sites whose function is the rest of a `begin…` or `end…`.
const SUFFIX_FILE: &str = ".std";

/// Threads with other names than `T` and a number below this are numbered from here on.
const NAMED_THREAD: u32 = 1 << 16;

/// Where variables start.
const VARIABLES: u64 = 1 << 40;

/// What each variable gets.
const SIZE: u32 = 8;

/// Bytes that no thread and no operand may contain: blanks and bars.
const fn is_separator(byte: u8) -> bool {
    byte == b'|' || byte == b' ' || (byte >= b'\t' && byte <= b'\r')
}
