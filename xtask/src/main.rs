//! Developer tasks, run as `cargo xtask TASK`.
//!
//! `test` runs every test; `bless` accepts the present output of the command line as the expected one; `tidy` checks
//! what the compiler does not: the dependency rule, file lengths, module heads, links.

mod deps;
mod tidy;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
Usage: cargo xtask <TASK>

Tasks:
  test   run all tests (further arguments go to `cargo test`)
  bless  take the present output of the command line as the expected one; look at the diff before you commit it
  tidy   check the dependency rule, file lengths, module heads and links";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next();
    let rest: Vec<String> = arguments.collect();
    match (task.as_deref(), rest.as_slice()) {
        (Some("test"), rest) => {
            set_up()?;
            cargo(&["test", "--workspace"], rest, &[])
        }
        (Some("bless"), rest) => {
            let accept = [
                ("INSTA_UPDATE", "always"),
                ("INSTA_FORCE_PASS", "1"),
                ("DEADHEAT_BLESS", "1"),
            ];
            cargo(&["test", "--package", "deadheat"], rest, &accept)
        }
        (Some("tidy"), []) => tidy::run(&root()),
        _ => bail!("{USAGE}"),
    }
}

/// The repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Installs what the tests need besides the Rust toolchain.
fn set_up() -> Result<()> {
    let status = Command::new(root().join("scripts/setup"))
        .status()
        .context("cannot run scripts/setup")?;
    if !status.success() {
        bail!("scripts/setup failed");
    }
    Ok(())
}

fn cargo(arguments: &[&str], rest: &[String], environment: &[(&str, &str)]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(arguments)
        .args(rest)
        .envs(environment.iter().copied())
        .current_dir(root())
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("cargo {} failed", arguments.join(" "));
    }
    Ok(())
}
