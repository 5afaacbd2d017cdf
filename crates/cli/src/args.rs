//! Every option, defined once: help and error messages come from here.

use crate::term::Color;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use deadheat_detect::select::{DetectorName, FilterName};
use std::path::PathBuf;

/// Finds data races.
///
/// deadheat reads a trace of a concurrent program and reports the pairs of memory accesses that nothing orders.
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
  deadheat analyze run.dht                  report the data races of a recorded run
  deadheat analyze --detector djit run.std  the same with another algorithm, on a RAPID trace
  deadheat trace info run.dht               what is in a trace
  deadheat trace convert run.std -o run.dht convert between formats

Exit status: 66 if a race was reported, 0 if not, 2 for a wrong command line or unreadable input.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Analyze(Analyze),
    /// Look into traces, check, convert and make them
    #[command(subcommand)]
    Trace(Trace),
}

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

    /// What to write: text on stderr, or JSON or SARIF 2.1.0 on stdout
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

    /// Stop at the first race that is reported
    #[arg(long, help_heading = "Report")]
    pub halt_on_race: bool,

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
    #[arg(long)]
    pub stats: bool,

    /// Print nothing on stderr but warnings and the last line
    #[arg(long, short)]
    pub quiet: bool,
}

const ANALYZE_EXAMPLES: &str = "\
Examples:
  deadheat analyze run.dht
  deadheat analyze --format json run.dht > known.json     keep what is known today ...
  deadheat analyze --baseline known.json run2.dht         ... and report only what is new
  deadheat analyze --suppressions tsan.supp run.dht       a suppressions file made for TSan
  deadheat analyze --detector vc --stats -q run.dht       what the algorithm counts

The last line on stderr is `deadheat: no data races` or `deadheat: N data races`; what suppressions and the
baseline left out is counted behind it.";

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
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }
}
