//! Every option, defined once: help and error messages come from here.

use crate::bench::args::Bench;
use crate::memory::Size;
use crate::native::settings::Settings;
use crate::term::Color;
use crate::traces::shares;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use deadheat_detect::select::{DetectorName, FilterName};
use deadheat_instrument::module::Placement;
use deadheat_predict::{Model, Options as PredictOptions, SolverName};
use deadheat_report::quote;
use deadheat_trace::generate::{Config, Pattern, Shares};
use std::ffi::OsString;
use std::path::PathBuf;

/// Finds data races.
///
/// deadheat runs a program, or reads a trace of one, and reports the pairs of memory accesses that nothing orders.
#[derive(Debug, Parser)]
#[command(name = "deadheat", version, max_term_width = 110, after_help = EXAMPLES)]
pub struct Cli {
    /// When to use colour on stderr
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        global = true,
        hide_possible_values = true,
        help = "When to use colour on stderr: auto, always or never (NO_COLOR is respected)"
    )]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  deadheat check demo.rs                    build a program, run it, report its data races
  cargo deadheat test                       the same for the tests of a Rust package
  deadheat record -o run.dht demo.rs        run a program and write down what its threads did
  deadheat analyze run.dht                  report the data races of a recorded run
  deadheat analyze --detector djit run.std  the same with another algorithm, on a RAPID trace
  deadheat predict run.dht                  report the races that other schedules of it would have had
  deadheat trace info run.dht               what is in a trace
  deadheat trace convert run.std -o run.dht convert between formats
  deadheat bench --quick                    measure beside other race detectors

Exit status: 66 if a race was reported; if not, the program's own for check and record, 0 for the others; 2 for a wrong
command line, unreadable input or a failed build.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Check(Box<Check>),
    Record(Box<Record>),
    Analyze(Analyze),
    Predict(Predict),
    /// Look into traces, check, convert and make them
    #[command(subcommand)]
    Trace(Trace),
    Cargo(Box<CargoArgs>),
    /// Compile and link C as clang does, for races to be found: CC="deadheat cc"
    #[command(disable_help_flag = true)]
    Cc(Compiler),
    /// Compile and link C++ as clang does: CXX="deadheat c++"
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(Compiler),
    Report(ReportFile),
    ExplainChecks(ExplainChecks),
    Bench(Box<Bench>),
    /// Report what a running program says on stdin; programs start this by themselves
    #[command(name = "__report", hide = true)]
    Reporter,
}

/// Arguments for clang.
#[derive(Debug, Args)]
pub struct Compiler {
    /// Options and files as for clang
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub arguments: Vec<std::ffi::OsString>,
}

/// Build a program, run it, report its data races
///
/// A source is built with clang or rustc and instrumented when it is linked. The program runs with this command's input,
/// output and arguments; reports go to stderr as races are found.
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct Check {
    #[command(flatten)]
    pub program: Target,

    #[command(flatten)]
    pub build: BuildArgs,

    #[command(flatten)]
    pub report: ReportArgs,
}

/// How to instrument what is built.
#[derive(Debug, Args)]
pub struct BuildArgs {
    /// Which checks to leave out: none (off), those that others stand for (redundant), or also make one of several and
    /// move them out of loops (full) [default: full]
    #[arg(long, value_name = "WHICH", value_parser = placements(), hide_possible_values = true)]
    pub placement: Option<Placement>,
}

impl BuildArgs {
    /// As a shell takes them.
    pub fn as_words(&self) -> Option<String> {
        let placement = self.placement?;
        Some(format!("--placement {}", placement.as_str()))
    }
}

/// The program to run.
#[derive(Debug, Args)]
pub struct Target {
    /// A source (.c, .cc, .cpp, .cxx, .C, .rs), or a program that was built with deadheat
    #[arg(value_name = "SOURCE|PROGRAM")]
    pub target: PathBuf,

    /// Arguments of the program
    #[arg(last = true, value_name = "ARGS")]
    pub arguments: Vec<OsString>,

    /// Flags for clang, as in "-O2 -std=c++20"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub cflags: Vec<String>,

    /// Flags for rustc, as in "-O --edition 2021"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub rustflags: Vec<String>,

    /// Keep the program that is built from a source as FILE, to be checked again
    #[arg(long, value_name = "FILE")]
    pub keep: Option<PathBuf>,
}

/// Show which accesses of a source are checked, and why the others are not
///
/// A source is built as `deadheat check` does it. A program or an object says it of all its sources, if it was built with
/// DEADHEAT_EXPLAIN=1 in the environment.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct ExplainChecks {
    /// A source (.c, .cc, .cpp, .cxx, .C, .rs), or what was built of some
    #[arg(value_name = "SOURCE|PROGRAM")]
    pub file: PathBuf,

    /// Flags for clang, as in "-O2 -std=c++20"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub cflags: Vec<String>,

    /// Flags for rustc, as in "-O --edition 2021"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub rustflags: Vec<String>,

    #[command(flatten)]
    pub build: BuildArgs,

    /// Write a page with the annotated sources to FILE instead; - is stdout
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Also sources of the system and the toolchain
    #[arg(long)]
    pub all: bool,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  deadheat explain-checks --cflags -O2 demo.c
  deadheat explain-checks --html checks.html demo.rs
  DEADHEAT_EXPLAIN=1 deadheat cc -O2 -o server server.c    a program that says it ...
  deadheat explain-checks ./server                         ... of all its sources";

/// Build a program, run it, and write down what its threads did
///
/// The trace has every access to shared memory with its value, in an order that agrees with what was read, and every
/// synchronisation, allocation and call into code that is not instrumented. It begins where the program creates its first thread.
#[derive(Debug, Args)]
#[command(after_help = RECORD_EXAMPLES)]
pub struct Record {
    /// The trace to write: .dht or .txt
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,

    #[command(flatten)]
    pub program: Target,

    #[command(flatten)]
    pub selected: Selected,

    /// What a call into code that is not instrumented (a library) may do to the order of threads [default: order]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub external: Option<External>,

    /// Rules for single functions of such code, and of what is left out: `order|objects|ignore FUNCTION [in LIBRARY] [with VARIABLE,...]`
    #[arg(long, value_name = "FILE")]
    pub external_rules: Option<PathBuf>,
}

/// What of a program is recorded.
#[derive(Debug, Args)]
pub struct Selected {
    /// Record only functions that a glob fits: a name, a path (crate::module::function) or its beginning, or a source file
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,

    /// Leave out functions that a glob fits: calls of them become missing calls
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
}

const RECORD_EXAMPLES: &str = "\
Examples:
  deadheat record -o run.dht demo.rs
  deadheat record -o run.dht --cflags '-O2 -lm' demo.c -- 4 input.txt
  DEADHEAT_RECORD=1 deadheat cc -O2 -o server server.c    a program is built to be recorded ...
  deadheat record -o run.dht ./server -- --port 8080      ... and run
  deadheat record -o run.dht --exclude 'store::*' demo.rs    without what the module `store` does
  deadheat analyze run.dht                                the races of that run

Exit status: the program's own (128 + N if signal N ended it); 2 for a wrong command line or a failed build. The last line
on stderr is `deadheat: N events recorded in FILE` and what to do next. What was recorded before a crash is kept.";

/// Run cargo so that what it builds is checked for data races
///
/// Cargo's own options stand behind its command. Everything is built for this machine into a directory of its own,
/// `deadheat` within cargo's target directory. Build scripts and procedural macros are left as they are; C and C++ that build scripts compile
/// into the program with the crate `cc` or its like is instrumented, where there is clang.
#[derive(Debug, Args)]
#[command(
    hide = true,
    override_usage = "cargo deadheat [OPTIONS] <COMMAND> [CARGO'S OPTIONS]",
    after_help = CARGO_EXAMPLES
)]
pub struct CargoArgs {
    /// A command of cargo (build, run, test, bench, nextest, rustc) and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    pub cargo: Vec<OsString>,

    #[command(flatten)]
    pub build: BuildArgs,

    #[command(flatten)]
    pub report: ReportArgs,
}

const CARGO_EXAMPLES: &str = "\
Examples:
  cargo deadheat test                                  the tests, doctests too
  cargo deadheat test --release --workspace            cargo's flags are passed through
  cargo deadheat run --example server -- --port 8080
  cargo deadheat nextest run                           with cargo-nextest
  cargo deadheat --format sarif --output races.sarif test

Exit status: 66 if a race was reported, else cargo's own; 2 for a wrong command line. The last line on stderr is
`deadheat: no data races` or `deadheat: N data races`, for all programs that cargo ran.";

/// How to report on a running program.
#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
pub struct ReportArgs {
    /// What to write: text on stderr, or JSON, SARIF 2.1.0 or an HTML page on stdout
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,

    /// Write the report to FILE instead; - is stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Do not report what these rules match (ThreadSanitizer's syntax, as in `race:function`)
    #[arg(long, value_name = "FILE")]
    pub suppressions: Option<PathBuf>,

    /// Do not report what this earlier JSON report has
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// End the program at the first race that is reported
    #[arg(long)]
    pub halt_on_race: bool,

    /// Exit with N instead of 66 if a race was reported
    #[arg(long, value_name = "N")]
    pub exit_code: Option<u8>,

    /// What a call into code that is not instrumented (a library) may do to the order of threads: `order` takes all calls
    /// that can reach something in common as ordered, so that nothing it does unseen causes a false report [default: order]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub external: Option<External>,

    /// Rules for single functions of such code: `order|objects|ignore FUNCTION [in LIBRARY]`
    #[arg(long, value_name = "FILE")]
    pub external_rules: Option<PathBuf>,

    /// Keep one shadow state for many elements of an array while they are accessed alike; what is found is the same
    /// [default: on]
    #[arg(long, value_enum, value_name = "SWITCH")]
    pub compress: Option<Switch>,

    /// Print counters on stderr
    #[arg(long)]
    pub stats: bool,
}

/// What calls of code that is not instrumented do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum External {
    /// They are ordered with others that can reach the same objects
    Order,
    /// Nothing
    Ignore,
}

impl ReportArgs {
    /// Those that make a difference to what is found, as a shell takes them.
    pub fn found_with(&self) -> Vec<String> {
        let external = self.external.and_then(|external| external.to_possible_value());
        let external = external.map(|value| format!("--external {}", value.get_name()));
        let rules = self.external_rules.as_ref();
        let rules = rules.map(|file| format!("--external-rules {}", quote(&file.to_string_lossy())));
        external.into_iter().chain(rules).collect()
    }

    /// As settings.
    pub fn settings(&self, color: Color) -> Settings {
        Settings {
            format: self.format,
            output: self.output.clone(),
            color: (color != Color::Auto).then_some(color),
            suppressions: self.suppressions.clone(),
            baseline: self.baseline.clone(),
            exit_code: self.exit_code,
            halt_on_race: self.halt_on_race,
            external: self.external,
            external_rules: self.external_rules.clone(),
            calls: None,
            compress: self.compress.map(|switch| switch == Switch::On),
            stats: self.stats,
            log_dir: None,
            record: None,
            steer: None,
        }
    }
}

const CHECK_EXAMPLES: &str = "\
Examples:
  deadheat check demo.rs
  deadheat check --cflags '-O2 -Iinclude -lm' demo.c -- 4 input.txt
  deadheat check target/deadheat/x86_64-unknown-linux-gnu/debug/server
  deadheat check --format json demo.c > known.json        keep what is known today ...
  deadheat check --baseline known.json demo.c             ... and report only what is new

Exit status: 66 if a race was reported, else the program's own (128 + N if signal N ended it); 2 for a wrong command line
or a failed build. The last line on stderr is `deadheat: no data races` or `deadheat: N data races`.
DEADHEAT_OPTIONS has the same options as `name=value`, separated by colons.";

/// Show a saved report again
///
/// A report is saved with `--format json` or the option log_dir of DEADHEAT_OPTIONS.
#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportFile {
    /// The report: JSON
    pub file: PathBuf,

    /// What to write: text on stderr, or JSON, SARIF 2.1.0 or an HTML page on stdout [default: text, if no file is asked for]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,

    /// Write a page for browsers to FILE; - is stdout
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write SARIF 2.1.0 to FILE; - is stdout
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,

    /// Write the report to FILE instead; - is stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Show only the finding with this id
    #[arg(long, value_name = "ID")]
    pub only: Option<String>,

    /// Exit with N instead of 66 if there is a race in it
    #[arg(long, value_name = "N", default_value_t = 66, hide_default_value = true)]
    pub exit_code: u8,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  deadheat report run.json
  deadheat report run.json --html run.html --sarif run.sarif";

/// Report the data races of a recorded run
///
/// Every detector reads the same traces; `--detector` chooses between algorithms that find exactly the races of the
/// observed run and those that check a locking discipline. Findings with the same pair of program locations are shown
/// once and counted.
#[derive(Debug, Args)]
#[command(after_help = ANALYZE_EXAMPLES)]
pub struct Analyze {
    /// The trace: .dht, .std, .rr or .txt, or - for text on stdin
    pub trace: PathBuf,

    /// The algorithm
    #[arg(long, value_name = "NAME", default_value = DetectorName::default().as_str(), value_parser = detectors())]
    pub detector: DetectorName,

    /// Drop accesses that cannot add a race before they are checked
    #[arg(long, value_name = "NAME", default_value = FilterName::default().as_str(), value_parser = filters())]
    pub filter: FilterName,

    /// Share states between array elements that are accessed alike
    #[arg(long, value_enum, value_name = "SWITCH", default_value_t)]
    pub compress: Switch,

    /// Leave a location alone after its first race
    #[arg(long)]
    pub disable_after_race: bool,

    /// Stop at the first race that is reported
    #[arg(long)]
    pub halt_on_race: bool,

    /// Stop with what was found if more than SIZE is needed, such as 8G [default: 3/4 of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = Size::parse)]
    pub memory_limit: Option<Size>,

    #[command(flatten)]
    pub report: TraceReport,
}

/// How to report on a trace.
#[derive(Debug, Args)]
pub struct TraceReport {
    /// What to write: text on stderr, or JSON, SARIF 2.1.0 or an HTML page on stdout
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value_t,
        help_heading = "Report"
    )]
    pub format: ReportFormat,

    /// Write the report to FILE instead; - is stdout
    #[arg(long, short, value_name = "FILE", help_heading = "Report")]
    pub output: Option<PathBuf>,

    /// Do not report what these rules match (ThreadSanitizer's syntax, as in `race:function`)
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub suppressions: Option<PathBuf>,

    /// Do not report what this earlier JSON report has
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub baseline: Option<PathBuf>,

    /// Report only the finding with this id
    #[arg(long, value_name = "ID", help_heading = "Report")]
    pub only: Option<String>,

    /// Exit with N instead of 66 if a race was reported
    #[arg(
        long,
        value_name = "N",
        default_value_t = 66,
        hide_default_value = true,
        help_heading = "Report"
    )]
    pub exit_code: u8,

    /// Print counters, time and speed on stderr
    #[arg(long, help_heading = "Report")]
    pub stats: bool,

    /// Print nothing on stderr but warnings and the last line
    #[arg(long, short, help_heading = "Report")]
    pub quiet: bool,
}

/// Report races of other schedules than the recorded one
///
/// Looks for schedules of the recorded events that would have brought two accesses side by side. Each race comes with such a
/// schedule, a witness, which a checker has replayed. Pairs further apart than a window are not found.
#[derive(Debug, Args)]
#[command(after_help = PREDICT_EXAMPLES)]
pub struct Predict {
    /// The trace: .dht, .std, .rr or .txt, or - for text on stdin
    pub trace: PathBuf,

    /// What a schedule may change: hb and cp change little, mc all that keeps the values read, rdit the same but for
    /// what calls into untraced code may depend on
    #[arg(long, value_name = "NAME", default_value = Model::default().as_str(), value_parser = models())]
    pub model: Model,

    /// Events looked at together; each half of them also together with its neighbours
    #[arg(long, value_name = "N", default_value_t = PredictOptions::default().window as u64, value_parser = value_parser!(u64).range(2..=1 << 20))]
    pub window: u64,

    /// What decides whether there is a schedule
    #[arg(long, value_name = "NAME", default_value = SolverName::default().as_str(), value_parser = solvers())]
    pub solver: SolverName,

    /// The most seconds for a window, a tenth of them for one pair of accesses; what was not decided is said
    #[arg(long, value_name = "SECONDS", default_value_t = PredictOptions::default().timeout.as_secs(), value_parser = value_parser!(u64).range(1..=1 << 20))]
    pub timeout: u64,

    /// Stop after so many seconds in all, and say what was not looked at [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = value_parser!(u64).range(0..=1 << 20))]
    pub limit: Option<u64>,

    /// Windows looked at side by side [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,

    /// Run the recorded program again, with its threads held so that each race's two accesses meet
    #[arg(long, help_heading = "Confirmation")]
    pub confirm: bool,

    /// The most runs for one race
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u32).range(1..), requires = "confirm", help_heading = "Confirmation")]
    pub confirm_runs: u32,

    /// The most seconds for all of them
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = value_parser!(u64).range(1..=1 << 20), requires = "confirm", help_heading = "Confirmation")]
    pub confirm_time: u64,

    /// The program (or its source) and its arguments, where they are not as the trace says
    #[arg(
        last = true,
        value_name = "PROGRAM",
        requires = "confirm",
        help_heading = "Confirmation"
    )]
    pub program: Vec<OsString>,

    #[command(flatten)]
    pub report: TraceReport,
}

const PREDICT_EXAMPLES: &str = "\
Examples:
  deadheat predict run.dht
  deadheat predict --model mc --window 50000 run.std
  deadheat predict --format json run.dht > races.json     with each witness in full
  deadheat predict --confirm run.dht                      run the program again to see which races happen

The last line on stderr is `deadheat: no data races` or `deadheat: N data races`. Pairs that were not decided are named
in a warning before it.";

const ANALYZE_EXAMPLES: &str = "\
Examples:
  deadheat analyze run.dht
  deadheat analyze --format json run.dht > known.json     keep what is known today ...
  deadheat analyze --baseline known.json run2.dht         ... and report only what is new
  deadheat analyze --suppressions tsan.supp run.dht       a suppressions file made for TSan
  deadheat analyze --detector multirace run.dht           races, and violations of the locking discipline
  deadheat analyze --detector vc --stats -q run.dht       what the algorithm counts

The last line on stderr is `deadheat: no data races` or `deadheat: N data races`; what suppressions and the
baseline left out is counted behind it.";

/// On or off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Do
    On,
    /// Do not
    #[default]
    Off,
}

/// Ways to write the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people
    #[default]
    Text,
    /// For programs, and for --baseline
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
    /// A page for browsers that needs no other file
    Html,
}

/// What to do with a trace.
#[derive(Debug, Subcommand)]
pub enum Trace {
    /// Print what a trace contains: events by kind, threads, locks, size
    Info {
        /// The trace
        file: PathBuf,
        /// Text for people or JSON for programs
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
        format: InfoFormat,
        /// Print time and speed on stderr
        #[arg(long)]
        stats: bool,
    },
    /// Print the events of a trace, one a line
    Cat {
        /// The trace
        file: PathBuf,
        /// Begin with event N, counted from 0 as in reports
        #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
        from: u64,
        /// Print at most N events
        #[arg(long, value_name = "N")]
        count: Option<u64>,
        /// Print time and speed on stderr
        #[arg(long)]
        stats: bool,
    },
    /// Write a trace in another format, chosen by extension: .dht, .std or .txt
    Convert {
        /// The trace to read
        input: PathBuf,
        /// The trace to write
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
        /// Print time and speed on stderr
        #[arg(long)]
        stats: bool,
    },
    Generate(Box<Generate>),
    /// Check that a trace is well-formed, or name the first event that is not
    ///
    /// An ill-formed trace is unreadable input: exit status 2.
    Validate {
        /// The trace
        file: PathBuf,
        /// Print time and speed on stderr
        #[arg(long)]
        stats: bool,
    },
}

/// Make a random well-formed trace
///
/// The same options always give the same trace. All races in it are injected ones: --races 0 is race-free.
#[derive(Debug, Args)]
#[command(after_help = GENERATE_EXAMPLES)]
pub struct Generate {
    /// The trace to write: .dht, .std or .txt
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// What the threads do
    #[arg(long, value_name = "NAME", default_value = "mixed", value_parser = patterns())]
    pub pattern: Pattern,
    /// Where chance starts
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Events
    #[arg(long, value_name = "N", default_value_t = Config::default().events)]
    pub events: u64,
    /// Threads alive at once
    #[arg(long, value_name = "N", default_value_t = Config::default().threads, value_parser = value_parser!(u32).range(1..=65_536))]
    pub threads: u32,
    /// Races to inject, each on a variable of its own
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub races: u64,
    /// Locks
    #[arg(long, value_name = "N", default_value_t = Config::default().locks, value_parser = value_parser!(u32).range(1..=1 << 24))]
    pub locks: u32,
    /// Shared variables; each thread has as many of its own
    #[arg(long, value_name = "N", default_value_t = Config::default().variables, value_parser = value_parser!(u64).range(1..=1 << 32))]
    pub variables: u64,
    /// Arrays
    #[arg(long, value_name = "N", default_value_t = Config::default().arrays, value_parser = value_parser!(u32).range(1..=1 << 20))]
    pub arrays: u32,
    /// Elements of each array
    #[arg(long, value_name = "N", default_value_t = Config::default().array_len, value_parser = value_parser!(u64).range(1..=1 << 32))]
    pub array_len: u64,
    /// One event for each array element instead of ranges
    #[arg(long)]
    pub elements: bool,
    /// The most locks held at once
    #[arg(long, value_name = "N", default_value_t = Config::default().nesting, value_parser = value_parser!(u32).range(1..=64))]
    pub nesting: u32,
    /// Accesses between synchronisations, on average
    #[arg(long, value_name = "N", default_value_t = Config::default().work, value_parser = value_parser!(u32).range(1..=1 << 20))]
    pub work: u32,
    /// How many of 1000 accesses are to parts of a variable
    #[arg(long, value_name = "N", default_value_t = Config::default().subword, value_parser = value_parser!(u32).range(0..=1000))]
    pub subword: u32,
    /// What the mixed pattern does how often, as in locks=300,barriers=5
    #[arg(long, value_name = "NAME=N,...", default_value = "", hide_default_value = true, value_parser = shares)]
    pub shares: Shares,
    /// Never give a thread the number of an ended one
    #[arg(long)]
    pub fresh_ids: bool,
    /// Program locations; 0 gives every event its own
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub sites: u32,
    /// Print time and speed on stderr
    #[arg(long)]
    pub stats: bool,
}

const GENERATE_EXAMPLES: &str = "\
Examples:
  deadheat trace generate --events 1000000 --races 3 -o run.dht
  deadheat trace generate --pattern sweep --array-len 100000 -o sweep.dht";

/// Ways to print `trace info`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum InfoFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

fn detectors() -> impl TypedValueParser<Value = DetectorName> {
    let names = DetectorName::ALL
        .iter()
        .map(|name| PossibleValue::new(name.as_str()).help(name.about()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<DetectorName>())
}

fn filters() -> impl TypedValueParser<Value = FilterName> {
    let names = FilterName::ALL
        .iter()
        .map(|name| PossibleValue::new(name.as_str()).help(name.about()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<FilterName>())
}

fn models() -> impl TypedValueParser<Value = Model> {
    PossibleValuesParser::new(Model::ALL.map(Model::as_str)).try_map(|name| name.parse::<Model>())
}

fn solvers() -> impl TypedValueParser<Value = SolverName> {
    let names = SolverName::ALL.map(SolverName::as_str).map(PossibleValue::new);
    // Known in any case: who asks for it is told what is missing.
    let missing = (!cfg!(feature = "z3")).then(|| PossibleValue::new("z3").hide(true));
    PossibleValuesParser::new(names.into_iter().chain(missing)).try_map(|name| {
        let solver = name.parse::<SolverName>();
        solver.map_err(|error| match name.as_str() {
            "z3" => {
                "this deadheat was built without it; `cargo install --path crates/cli --features z3` builds \
                     one with it, where libz3-dev and libclang are installed"
                    .to_owned()
            }
            _ => error,
        })
    })
}

fn placements() -> impl TypedValueParser<Value = Placement> {
    let parse = |name: String| Placement::parse(&name).ok_or("no such placement");
    PossibleValuesParser::new(Placement::ALL.map(Placement::as_str)).try_map(parse)
}

fn patterns() -> impl TypedValueParser<Value = Pattern> {
    PossibleValuesParser::new(Pattern::ALL.map(Pattern::as_str)).try_map(|name| name.parse::<Pattern>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }
}
