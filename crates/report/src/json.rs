//! The report as JSON, there and back.

use crate::{Error, Report};
use std::io::{self, Write};

/// Writes the report as indented JSON and a newline.
pub fn write(report: &Report, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, report)?;
    writeln!(out)
}

/// Reads what [`write()`] wrote.
pub fn read(text: &str) -> Result<Report, Error> {
    let report: Report = serde_json::from_str(text).map_err(|error| Error {
        line: (error.line() > 0).then_some(error.line()),
        message: format!("not a deadheat report ({error}); make one with --format json"),
    })?;
    if report.tool != "deadheat" {
        return Err(Error {
            line: None,
            message: format!(
                "a report of `{}`, not of deadheat; make one with --format json",
                report.tool
            ),
        });
    }
    Ok(report)
}
