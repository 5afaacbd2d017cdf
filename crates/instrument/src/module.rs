//! One module: bitcode in, object file out.
//!
//! The order matters. The user's coverage is where his compiler would have put it. Then attributes: `sanitize_thread`
//! keeps the optimiser from loads that the source does not have (they would be races that it does not have), and tail
//! calls are off, so that every caller is on the stack. Then the optimiser, at the level of the user's build: what it
//! removes needs no check. Checks last, so that it cannot move an access away from its check.

use crate::llvm::{Context, Machine, Module};
use crate::pass;
use crate::select::Selection;
use std::fmt;

/// How to treat a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// 0 to 3; what the user's build asked for.
    pub opt_level: u8,
    /// LLVM's name of the processor, as `-C target-cpu` or `-march` has it.
    pub cpu: String,
    /// Position-independent code: true but for `-no-pie`.
    pub pic: bool,
    /// Where the program writes its profile, if the user's build said so.
    pub profile: Option<String>,
    /// Whether notes for gcov are ours to write.
    pub notes: bool,
    /// Whether the program is to count its accesses, for measurements.
    pub count: bool,
    /// For a program that is to be recorded, not checked.
    pub record: bool,
    /// What of it.
    pub selection: Selection,
}

/// Why a module could not be instrumented.
#[derive(Debug)]
pub struct Error(pub String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Instruments, optimises and compiles the module in `bitcode`. `name` is for messages.
pub fn compile(bitcode: &[u8], name: &str, options: &Options) -> Result<Vec<u8>, Error> {
    let context = Context::new(name);
    let work = || {
        let mut module = context.parse_bitcode(bitcode)?;
        let machine = instrument(&context, &mut module, options)?;
        let object = machine.emit(&mut module)?;
        context.check()?;
        Ok(object)
    };
    work().map_err(|error| named(name, error))
}

/// An object of assembly, one instruction or directive a line.
pub fn assemble(lines: &[String], name: &str) -> Result<Vec<u8>, Error> {
    let context = Context::new(name);
    let mut text = "target triple = \"x86_64-unknown-linux-gnu\"\n".to_owned();
    for line in lines {
        text += &format!("module asm \"{line}\"\n");
    }
    let work = || {
        let mut module = context.parse_text(&text)?;
        let object = Machine::new(&module, &Options::default())?.emit(&mut module)?;
        context.check()?;
        Ok(object)
    };
    work().map_err(|error| named(name, error))
}

/// The module as text, as it is before code is generated: for debugging and tests. `input` is bitcode or text.
pub fn instrumented_text(input: &[u8], name: &str, options: &Options) -> Result<String, Error> {
    let context = Context::new(name);
    let work = || {
        let mut module = match std::str::from_utf8(input) {
            Ok(text) if !text.starts_with("BC") => context.parse_text(text)?,
            _ => context.parse_bitcode(input)?,
        };
        instrument(&context, &mut module, options)?;
        Ok(module.text())
    };
    work().map_err(|error| named(name, error))
}

/// All but the emission of code.
fn instrument<'c>(
    context: &'c Context,
    module: &mut Module<'c>,
    options: &Options,
) -> Result<Machine, Error> {
    let machine = Machine::new(module, options)?;
    if let Some(passes) = pass::coverage::prepare(context, module, options)? {
        machine.run(module, passes)?;
    }
    pass::prepare(context, module, options);
    machine.run(module, pipeline(options.opt_level))?;
    context.check()?;
    let templates = pass::run(context, module, &machine, options);
    module.link(context.parse_text(&templates)?)?;
    // The inline tests are functions until now; LLVM's inliner puts them where they are called.
    machine.run(module, "always-inline")?;
    pass::finish(context, module);
    module.verify()?;
    context.check()?;
    Ok(machine)
}

/// The passes before the checks. Calls that the user wants at the begin and the end of his functions
/// (`-finstrument-functions`) are put in first, as clang does it.
fn pipeline(opt_level: u8) -> &'static str {
    match opt_level {
        // Cheap passes that put locals into registers.
        0 => "function(ee-instrument),default<O0>,function(sroa,early-cse,simplifycfg)",
        1 => "function(ee-instrument),default<O1>",
        2 => "function(ee-instrument),default<O2>",
        _ => "function(ee-instrument),default<O3>",
    }
}

fn named(name: &str, error: Error) -> Error {
    Error(format!("{name}: {error}"))
}
