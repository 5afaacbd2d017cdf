//! `deadheat __report`: the reporter that a program starts by itself at its first race.
//!
//! Its stdin is the channel. It outlives the program, prints the last line, and its exit status becomes the program's. Under
//! `cargo deadheat` there is one last line for all programs, and it is not printed here.

use super::listen::{Listener, conclude, outcome};
use super::settings::Settings;
use crate::term::Term;
use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;

/// Set to 1, who has started the program counts what is found, and says so.
pub const COUNTED: &str = "DEADHEAT_COUNTED";

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
    // A terminal sends these to all processes of the program, but what was found is still to be said. The end of the
    // channel ends this process in any case.
    for signal in [SIGINT, SIGQUIT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::default()).context("cannot ignore signals")?;
    }
    let mut answers = UnixStream::from(channel.try_clone()?);
    // Only on a socket somebody waits for answers. A file must not get them.
    let mut answering = answers.peer_addr().is_ok();
    listener.listen(std::fs::File::from(channel), |byte| {
        answering = answering && answers.write_all(&[byte]).is_ok();
    });
    let (report, settings) = listener.finish()?;
    let outcome = match std::env::var_os(COUNTED).is_some_and(|value| value == "1") {
        true => outcome(&report, &settings),
        false => conclude(&report, &settings, term),
    };
    Ok(ExitCode::from(outcome.status.unwrap_or(0)))
}
