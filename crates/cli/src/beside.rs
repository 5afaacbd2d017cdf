//! Commands that are `deadheat` under another name. Cargo installs programs, not links: each of these is a program that hands over.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Becomes the `deadheat` that stands beside this command, or the one that is found by its name, which is called by `name`.
pub fn hand_over(name: &str) -> ExitCode {
    let here = std::env::current_exe().ok();
    let beside = here.map(|path| path.with_file_name("deadheat"));
    let deadheat = beside
        .filter(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from("deadheat"));
    let error = Command::new(&deadheat)
        .arg0(name)
        .args(std::env::args_os().skip(1))
        .exec();
    eprintln!("{name}: cannot run {}: {error}", deadheat.display());
    ExitCode::from(2)
}
