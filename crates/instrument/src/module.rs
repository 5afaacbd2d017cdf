//! One module: bitcode in, object file out.
//!
//! The order matters. The user's coverage is where his compiler would have put it. Then attributes: `sanitize_thread`
//! keeps the optimiser from loads that the source does not have (they would be races that it does not have; but for some, see
//! `pass/speculated.rs`), and tail calls are off, so that every caller is on the stack. Then the optimiser, at the level of the user's build: what it
//! removes needs no check. Checks last, so that it cannot move an access away from its check.

use crate::effects::Facts;
use crate::effects::summary::Summary;
use crate::llvm::{Context, Machine, Module};
use crate::pass;
use crate::select::Selection;
use std::fmt;
use std::time::{Duration, Instant};

/// How far checks may be removed and moved from where the accesses are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Placement {
    /// One check for each access of memory that threads may share.
    Off,
    /// No check where another one of the same bytes stands for it.
    Redundant,
    /// Also one check for several accesses, and checks out of loops.
    #[default]
    Full,
}

impl Placement {
    /// All, from none to most.
    pub const ALL: [Placement; 3] = [Placement::Off, Placement::Redundant, Placement::Full];

    /// Its name as an option.
    pub fn as_str(self) -> &'static str {
        match self {
            Placement::Off => "off",
            Placement::Redundant => "redundant",
            Placement::Full => "full",
        }
    }

    /// The one of this name.
    pub fn parse(name: &str) -> Option<Placement> {
        Placement::ALL
            .into_iter()
            .find(|placement| placement.as_str() == name)
    }
}

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
    /// Whether it is to log its accesses and checks, for tests (`pass/log.rs`).
    pub log: bool,
    /// For a program that is to be recorded, not checked.
    pub record: bool,
    /// What of it.
    pub selection: Selection,
    /// Which checks are left out, and which are moved.
    pub placement: Placement,
    /// Whether the object is to say what became of each access (`pass/decisions.rs`).
    pub explain: bool,
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
    compile_knowing(bitcode, name, options, &Facts::default())
}

/// What the functions of a module do, as it is before it is optimised, but for variables that are put into registers.
pub fn summary(bitcode: &[u8], name: &str) -> Result<Summary, Error> {
    let context = Context::new(name);
    let work = || {
        let mut module = context.parse_bitcode(bitcode)?;
        // Compilers put every parameter into a variable first, where it cannot be followed.
        Machine::new(&module, &Options::default())?.run(&mut module, "function(mem2reg)")?;
        Ok(pass::summary(&context, &module))
    };
    work().map_err(|error| named(name, error))
}

/// Compiles a module, with what is known of the functions that it calls.
pub fn compile_knowing(
    bitcode: &[u8],
    name: &str,
    options: &Options,
    facts: &Facts,
) -> Result<Vec<u8>, Error> {
    compile_measured(bitcode, name, options, facts).map(|(object, _)| object)
}

/// What it took to compile a module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Functions that are defined in it.
    pub functions: usize,
    /// Deciding where checks stand, and putting them there.
    pub placing: Duration,
    /// That, and reading, optimising and emitting.
    pub all: Duration,
}

/// Compiles a module and says what that took.
pub fn compile_measured(
    bitcode: &[u8],
    name: &str,
    options: &Options,
    facts: &Facts,
) -> Result<(Vec<u8>, Cost), Error> {
    let begun = Instant::now();
    let context = Context::new(name);
    let work = || {
        let mut module = context.parse_bitcode(bitcode)?;
        let mut cost = Cost::default();
        let machine = instrument(&context, &mut module, options, facts, &mut cost)?;
        let object = machine.emit(&mut module)?;
        context.check()?;
        cost.all = begun.elapsed();
        Ok((object, cost))
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
    instrumented_text_knowing(input, name, options, &Facts::default())
}

/// The same, with what is known of the functions that it calls.
pub fn instrumented_text_knowing(
    input: &[u8],
    name: &str,
    options: &Options,
    facts: &Facts,
) -> Result<String, Error> {
    let context = Context::new(name);
    let work = || {
        let mut module = match std::str::from_utf8(input) {
            Ok(text) if !text.starts_with("BC") => context.parse_text(text)?,
            _ => context.parse_bitcode(input)?,
        };
        instrument(&context, &mut module, options, facts, &mut Cost::default())?;
        Ok(module.text())
    };
    work().map_err(|error| named(name, error))
}

/// All but the emission of code.
fn instrument<'c>(
    context: &'c Context,
    module: &mut Module<'c>,
    options: &Options,
    facts: &Facts,
    cost: &mut Cost,
) -> Result<Machine, Error> {
    let machine = Machine::new(module, options)?;
    if let Some(passes) = pass::coverage::prepare(context, module, options)? {
        machine.run(module, passes)?;
    }
    pass::prepare(context, module, options);
    machine.run(module, pipeline(options.opt_level))?;
    context.check()?;
    cost.functions = pass::defined(context, module);
    let begun = Instant::now();
    let (templates, lines) = pass::run(context, module, &machine, options, facts);
    cost.placing = begun.elapsed();
    module.link(context.parse_text(&templates)?)?;
    // The inline tests are functions until now; LLVM's inliner puts them where they are called.
    machine.run(module, "always-inline")?;
    pass::finish(context, module, &lines);
    module.verify()?;
    context.check()?;
    Ok(machine)
}

/// The passes before the checks. Calls that the user wants at the begin and the end of his functions
/// (`-finstrument-functions`) are put in first, as clang does it.
fn pipeline(opt_level: u8) -> &'static str {
    match opt_level {
        // Cheap passes that put locals into registers.
        0 => "function(ee-instrument),default<O0>,function(sroa,early-cse,simplifycfg,loop-simplify)",
        1 => "function(ee-instrument),default<O1>,function(loop-simplify)",
        2 => "function(ee-instrument),default<O2>,function(loop-simplify)",
        _ => "function(ee-instrument),default<O3>,function(loop-simplify)",
    }
}

fn named(name: &str, error: Error) -> Error {
    Error(format!("{name}: {error}"))
}
