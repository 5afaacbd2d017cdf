//! Runs programs: their channel, their signals, their end.

use super::listen::Listener;
use super::settings::Settings;
use anyhow::{Context, Result, bail};
use deadheat_abi::options;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Status(u8),
    /// By a signal.
    Signal(u8),
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> End {
        match (status.code(), status.signal()) {
            (Some(code), _) => End::Status(u8::try_from(code).unwrap_or(u8::MAX)),
            (None, signal) => End::Signal(signal.and_then(|signal| u8::try_from(signal).ok()).unwrap_or(0)),
        }
    }
}

impl End {
    /// As a shell tells it.
    pub fn status(self) -> u8 {
        match self {
            End::Status(status) => status,
            End::Signal(signal) => signal.saturating_add(128),
        }
    }
}

/// Runs `program` and has `listener` hear all it says.
pub fn observed(
    program: &Path,
    arguments: &[OsString],
    settings: &Settings,
    listener: &mut Listener,
) -> Result<End> {
    let (ours, theirs) = UnixStream::pair().context("cannot make a channel")?;
    // The child gets it under the same number.
    rustix::io::fcntl_setfd(&theirs, rustix::io::FdFlags::empty()).context("cannot make a channel")?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env(options::VARIABLE, runtime_options(settings, &theirs)?);
    thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut answers = &ours;
            listener.listen(&ours, |byte| {
                let _ = answers.write_all(&[byte]);
            });
        });
        let end = attended_while(&mut command, || drop(theirs));
        // What the program said is still there to be read; a process that it left behind is not waited for.
        let _ = ours.shutdown(Shutdown::Read);
        if reading.join().is_err() {
            bail!(
                "the reporter failed: this is a bug in deadheat, please report it with what is printed above"
            );
        }
        end
    })
}

/// Runs `command` to its end. Signals to us are for it.
pub fn attended(command: &mut Command) -> Result<End> {
    attended_while(command, || ())
}

fn attended_while(command: &mut Command, started: impl FnOnce()) -> Result<End> {
    // Signals are caught before the child is there, so that none is lost in between.
    let mut signals =
        Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2]).context("cannot catch signals")?;
    let name = Path::new(command.get_program()).display().to_string();
    let child = command.spawn();
    started();
    let mut child = child.with_context(|| format!("cannot run {name}"))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let handle = signals.handle();
    let status = thread::scope(|scope| {
        scope.spawn(|| {
            for signal in signals.forever() {
                // A terminal sends these two to the child as well.
                let passed_on = signal != SIGINT && signal != SIGQUIT;
                if let (true, Some(pid), Some(signal)) = (passed_on, pid, Signal::from_named_raw(signal)) {
                    let _ = kill_process(pid, signal);
                }
            }
        });
        let status = child.wait();
        handle.close();
        status
    });
    Ok(End::from(
        status.with_context(|| format!("cannot wait for {name}"))?,
    ))
}

/// `DEADHEAT_OPTIONS` for the program: the user's, ours, and the channel.
fn runtime_options(settings: &Settings, channel: &UnixStream) -> Result<String> {
    // What the reporter does is done here.
    let runtime = Settings {
        halt_on_race: settings.halt_on_race,
        stats: settings.stats,
        compress: settings.compress,
        external: settings.external,
        external_rules: settings.external_rules.clone(),
        calls: settings.calls.clone(),
        record: settings.record.clone(),
        steer: settings.steer.clone(),
        ..Settings::default()
    };
    let mut text = runtime.options()?;
    if !text.is_empty() {
        text.push(':');
    }
    // With the number of the file: a program that was started by the program may find another one behind the descriptor.
    let file = channel
        .as_fd()
        .try_clone_to_owned()
        .and_then(|fd| File::from(fd).metadata())
        .context("cannot make a channel")?;
    text.push_str(&format!("report_fd={}/{}", channel.as_raw_fd(), file.ino()));
    Ok(text)
}
