//! `deadheat`: the command line. Thin: it parses options, reads traces, runs what the libraries offer and prints.
//! Called by another name it is a linker (`native/shim.rs`).
//!
//! Exit status, the last line on stderr and the JSON report are a contract (see `docs/guide.md`); tests in
//! `tests/` run the binary to keep it.

mod analyze;
mod args;
mod bench;
mod confirm;
mod files;
mod memory;
mod meter;
mod native;
mod offline;
mod predict;
mod progress;
mod saved;
mod term;
mod traces;

use args::{Cli, Command};
use clap::Parser;
use native::{cargo, cc, check, explain, record, reporter, shim};
use std::panic::resume_unwind;
use std::process::ExitCode;
use term::{Color, Term, say};

/// For LLVM, too, which calls the C functions: a tenth of a link's time goes to memory that is taken and given back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Exit status for a wrong command line or input that cannot be read.
const USAGE: u8 = 2;

/// For the thread that does the work: the limit of the first one's may be what is right for a program that is checked.
const STACK: usize = 16 << 20;

fn main() -> ExitCode {
    match std::thread::Builder::new().stack_size(STACK).spawn(run) {
        Ok(work) => work.join().unwrap_or_else(|panic| resume_unwind(panic)),
        // There may be no more threads for who reports that there were none.
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    if let Some(face) = shim::face(std::env::args_os().next().as_ref()) {
        return shim::run(face, std::env::args_os().skip(1).collect());
    }
    if let Some(tool) = shim::tool(std::env::args_os().next().as_ref()) {
        let error = shim::become_tool(tool, std::env::args_os().skip(1));
        return ended(Err(error), Term::new(Color::Auto));
    }
    if let Some((language, arguments)) = shim::compiler(std::env::args_os()) {
        return ended(cc::run(language, arguments), Term::new(Color::Auto));
    }
    let cli = Cli::parse();
    let term = Term::new(cli.color);
    let result = match &cli.command {
        Command::Check(args) => check::run(args, cli.color),
        Command::Record(args) => record::run(args, cli.color),
        Command::Cargo(args) => cargo::run(args, cli.color),
        Command::Bench(args) => bench::run(args, term),
        Command::Report(args) => saved::run(args, term),
        Command::ExplainChecks(args) => explain::run(args),
        Command::Reporter => reporter::run(),
        Command::Analyze(args) => analyze::run(args, term),
        Command::Predict(args) => predict::run(args, term),
        Command::Trace(command) => traces::run(command, term).map(|()| ExitCode::SUCCESS),
        // Taken care of above: their options are clang's.
        Command::Cc(_) | Command::Cxx(_) => Ok(ExitCode::from(USAGE)),
    };
    ended(result, term)
}

fn ended(result: anyhow::Result<ExitCode>, term: Term) -> ExitCode {
    match result {
        Ok(status) => status,
        // Whoever read our output has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let style = term.error();
            say(&format!("deadheat: {style}error{style:#}: {}", explained(&error)));
            ExitCode::from(USAGE)
        }
    }
}

/// The error and its causes. Some errors print their cause themselves: it is not said twice.
fn explained(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(broken)
            || matches!(
                cause.downcast_ref::<deadheat_trace::Error>(),
                Some(deadheat_trace::Error::Io { source, .. }) if broken(source)
            )
    })
}
