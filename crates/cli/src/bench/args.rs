//! The options of `deadheat bench`.

use super::papers::{Needs, PAPERS, Paper};
use super::tools::{NATIVE, TOOLS};
use super::workload::matches;
use anyhow::{Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand, value_parser};
use std::path::PathBuf;

/// What is measured: nothing of it makes sense where nothing is. An option that is ignored would promise something.
const MEASURING: [&str; 8] = [
    "filter",
    "tools",
    "runs",
    "threads",
    "quick",
    "small",
    "sizes",
    "no_counters",
];

/// What is done with a measurement.
const RESULTS: [&str; 4] = ["json", "svg", "from", "table"];

/// Measure deadheat beside other race detectors
///
/// Builds the workloads for each tool, runs them, the tools in turn, and prints time and memory as multiples of the native
/// program in the same repetition: medians, and in brackets the quartiles. Tools that are not installed are left out and named.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct Bench {
    /// Something else than to measure.
    #[command(subcommand)]
    pub command: Option<BenchCommand>,

    /// Where the workloads are
    #[arg(long, value_name = "DIR", default_value = "bench/workloads")]
    pub workloads: PathBuf,

    /// Where the programs that are built go
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    pub dir: PathBuf,

    /// Only workloads whose name or suite is one of these, with * and ?
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub filter: Vec<String>,

    /// Only these tools [default: all that are installed, without the variants of deadheat]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help = tools_help())]
    pub tools: Vec<String>,

    /// How often each is run [default: 5]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=1000))]
    pub runs: Option<u64>,

    /// With how many threads, as in 1,2,4,8 [default: 2]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_parser!(u64).range(1..=1024))]
    pub threads: Vec<u64>,

    /// Small sizes, to see that all works
    #[arg(long, conflicts_with = "sizes")]
    pub quick: bool,

    /// The smallest size of a workload's sweep: about a tenth of its time, for tools and variants that take long
    #[arg(long, conflicts_with_all = ["quick", "sizes"])]
    pub small: bool,

    /// All sizes that the workloads name for a sweep
    #[arg(long)]
    pub sizes: bool,

    /// End a run after so many seconds [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = value_parser!(u64).range(1..=86_400))]
    pub timeout: Option<u64>,

    /// Leave out the runs in which deadheat counts accesses and checks
    #[arg(long)]
    pub no_counters: bool,

    /// List the workloads and the tools, and measure nothing
    #[arg(long, conflicts_with_all = ["json", "svg", "from", "table", "quality", "instructions"])]
    #[arg(conflicts_with_all = ["runs", "threads", "quick", "small", "sizes", "no_counters", "timeout"])]
    pub list: bool,

    /// Keep the results in FILE, for `compare` and --from
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub json: Option<PathBuf>,

    /// Write plots to DIR
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    pub svg: Option<PathBuf>,

    /// Show the results of FILE again, and measure nothing
    #[arg(long, value_name = "FILE", help_heading = "Results", conflicts_with_all = MEASURING, conflicts_with_all = ["json", "timeout"])]
    pub from: Option<PathBuf>,

    /// Print this table of a document instead
    #[arg(long, value_name = "NAME", help_heading = "Results", hide_possible_values = true, value_parser = papers(), help = papers_help())]
    pub table: Option<String>,

    /// The traces that a table is made of: one for each workload
    #[arg(long, value_name = "DIR", help_heading = "Results", requires = "table", conflicts_with_all = MEASURING, conflicts_with = "timeout")]
    pub traces: Option<PathBuf>,

    /// Instead of measuring, see which tools find the known races, and which report false ones, at the small sizes
    #[arg(long, help_heading = "Other questions", conflicts_with_all = ["quick", "small", "sizes", "no_counters"], conflicts_with_all = RESULTS)]
    pub quality: bool,

    /// Instead of measuring, count the instructions of the paths of a check and compare them with those expected
    #[arg(long, help_heading = "Other questions", conflicts_with = "quality", conflicts_with_all = MEASURING, conflicts_with_all = RESULTS)]
    pub instructions: bool,

    /// With --instructions: expect from now on what is counted
    #[arg(long, help_heading = "Other questions", requires = "instructions")]
    pub bless: bool,

    /// Where the paths, and what is expected of them, are
    #[arg(
        long,
        value_name = "DIR",
        default_value = "bench/micro",
        requires = "instructions",
        help_heading = "Other questions"
    )]
    pub micro: PathBuf,
}

impl Bench {
    /// How often each is run.
    pub fn runs(&self) -> u64 {
        self.runs.unwrap_or(5)
    }

    /// With how many threads, each number once.
    pub fn threads(&self) -> Vec<u64> {
        let mut all = Vec::new();
        for &threads in &self.threads {
            if !all.contains(&threads) {
                all.push(threads);
            }
        }
        if all.is_empty() {
            all.push(2);
        }
        all
    }

    /// Seconds until a run is ended.
    pub fn timeout(&self) -> u64 {
        self.timeout.unwrap_or(300)
    }

    /// Refuses options that would do nothing for a table.
    pub fn suits(&self, paper: &Paper) -> Result<()> {
        let name = paper.name;
        let is_measured = matches!(paper.needs, Needs::Results(_));
        if !is_measured && let Some(option) = self.of_measurement() {
            bail!("{name} is not made of a measurement, so {option} would do nothing: leave it out");
        }
        if self.traces.is_some() && !paper.needs.takes_traces() {
            bail!("{name} is not made of traces, so --traces would do nothing: leave it out");
        }
        if self.from.is_some() && !paper.needs.takes_results() {
            bail!("nothing in {name} is measured, so --from would do nothing: leave it out");
        }
        if self.svg.is_some() && !paper.needs.has_plots() {
            bail!("{name} has no plot, so --svg would do nothing: leave it out");
        }
        if is_measured && !self.tools.is_empty() && !matches(&self.tools, NATIVE) {
            bail!("{name} is made of multiples of native, which is not among --tools: add it");
        }
        Ok(())
    }

    /// An option that is for measurements only, if there is one.
    fn of_measurement(&self) -> Option<&'static str> {
        let given = [
            ("--filter", !self.filter.is_empty()),
            ("--tools", !self.tools.is_empty()),
            ("--runs", self.runs.is_some()),
            ("--threads", !self.threads.is_empty()),
            ("--quick", self.quick),
            ("--small", self.small),
            ("--sizes", self.sizes),
            ("--timeout", self.timeout.is_some()),
            ("--no-counters", self.no_counters),
            ("--json", self.json.is_some()),
        ];
        given.into_iter().find_map(|(name, given)| given.then_some(name))
    }
}

/// What else.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Name what got slower or bigger from one measurement to another, beyond noise
    ///
    /// Compared are multiples of native. Something has changed if the middle halves of the repetitions have nothing in common
    /// and the medians differ by more than the threshold. A multiple that is no longer there is worse, and so are races that were
    /// not reported before. Exit status: 1 if something got worse; 2 if nothing can be compared.
    Compare {
        /// Results of before
        old: PathBuf,
        /// Results of now
        new: PathBuf,
        /// Percent that are no change
        #[arg(long, value_name = "PERCENT", default_value_t = 3.0, value_parser = percent)]
        threshold: f64,
        /// Tools whose changes count [default: deadheat, its variants and empty]
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        tools: Vec<String>,
    },
}

const EXAMPLES: &str = "\
Examples:
  deadheat bench --quick --runs 1                            see that all works
  deadheat bench --json new.json --svg plots                 the whole measurement
  deadheat bench --filter 'splash,l*' --tools native,deadheat,tsan --threads 1,2,4
  deadheat bench --filter sor --sizes --svg plots            cost against size
  deadheat bench compare old.json new.json                   what got slower?
  deadheat bench --quality --runs 3                          found, missed, false
  deadheat bench --instructions                              instructions of a check
  deadheat bench --table bigfoot-1 --from new.json           a table of a document

Exit status: 0 if all was measured; 1 if a workload could not be built, a result was wrong, a run crashed or was ended,
something got worse (compare) or grew (--instructions); 2 for a wrong command line or input that cannot be read.";

/// No number is beyond a threshold that is none.
fn percent(text: &str) -> std::result::Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|number| number.is_finite() && *number >= 0.0)
        .ok_or_else(|| "it is no number from 0 up".to_owned())
}

fn tools_help() -> String {
    let rows = TOOLS.iter().map(|tool| format!("{}: {}", tool.name, tool.about));
    let rows: Vec<String> = rows.collect();
    format!(
        "Only these tools [default: all that are installed, without the variants of deadheat; with --table, its own]:\n{}",
        rows.join("\n")
    )
}

fn papers_help() -> String {
    let rows: Vec<String> = PAPERS
        .iter()
        .map(|paper| format!("{}: {}", paper.name, paper.about))
        .collect();
    format!("Print this table of a document instead:\n{}", rows.join("\n"))
}

fn papers() -> PossibleValuesParser {
    PossibleValuesParser::new(PAPERS.iter().map(|paper| PossibleValue::new(paper.name)))
}
