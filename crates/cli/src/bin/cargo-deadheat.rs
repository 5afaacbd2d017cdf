//! `cargo deadheat`: cargo looks for a command of this name. It hands over to `deadheat`, which stands beside it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    // Cargo gives the name of its command first.
    if arguments.first().is_some_and(|first| first == "deadheat") {
        arguments.remove(0);
    }
    let here = std::env::current_exe().ok();
    let beside = here.map(|path| path.with_file_name("deadheat"));
    let deadheat = beside
        .filter(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from("deadheat"));
    let error = Command::new(&deadheat).arg("cargo").args(arguments).exec();
    eprintln!("cargo-deadheat: cannot run {}: {error}", deadheat.display());
    ExitCode::from(2)
}
