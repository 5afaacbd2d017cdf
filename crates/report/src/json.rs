//! The report as JSON.

use crate::Report;
use std::io::{self, Write};

/// Writes the report as indented JSON and a newline.
pub fn write(report: &Report, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, report)?;
    writeln!(out)
}
