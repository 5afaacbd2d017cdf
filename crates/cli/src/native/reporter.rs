//! `deadheat __report`: the reporter that a program starts by itself at its first race.
//!
//! Its stdin is the channel. It outlives the program, prints the last line, and its exit status becomes the program's.

use super::listen::{Listener, conclude};
use super::settings::Settings;
use crate::term::Term;
use anyhow::{Context, Result};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

/// Runs the command.
pub fn run() -> Result<ExitCode> {
    let settings = Settings::from_environment()?;
    let term = Term::new(settings.color.unwrap_or_default());
    let stdin = std::io::stdin();
    let channel = stdin
        .as_fd()
        .try_clone_to_owned()
        .context("cannot read what the program says")?;
    let mut listener = Listener::new(settings, String::new(), String::new())?;
    // If it is no socket, the program does not wait for answers, and writing to it fails.
    let mut answers = UnixStream::from(channel.try_clone()?);
    let mut answering = true;
    listener.listen(std::fs::File::from(channel), |byte| {
        answering = answering && answers.write_all(&[byte]).is_ok();
    });
    let (report, settings) = listener.finish()?;
    let outcome = conclude(&report, &settings, term);
    Ok(ExitCode::from(outcome.status.unwrap_or(0)))
}
