//! What was measured, as it is kept in a file.

use super::stat::Spread;
use super::tools::NATIVE;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Changes when files of before can no longer be read.
pub const VERSION: u32 = 1;

/// A measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`VERSION`].
    pub version: u32,
    /// The command line.
    pub command: String,
    /// When, in UTC.
    pub date: String,
    /// Where.
    pub machine: Machine,
    /// With what.
    pub tools: Vec<ToolVersion>,
    /// What could not be used, and why.
    pub skipped: Vec<String>,
    /// What was measured.
    pub points: Vec<Point>,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// Cores that can be used.
    pub cores: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// The kernel's version.
    pub kernel: String,
}

/// A tool, and which one exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolVersion {
    /// Its name.
    pub name: String,
    /// What it says its version is.
    pub version: String,
}

/// A workload with a number of threads and a size, under a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The workload.
    pub workload: String,
    /// Its suite.
    pub suite: String,
    /// Threads.
    pub threads: u64,
    /// Size.
    pub size: u64,
    /// The tool.
    pub tool: String,
    /// Why there are no samples, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// One for each repetition, in order.
    pub samples: Vec<Sample>,
    /// What deadheat counted, in a run of its own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
    /// Why it counted nothing, if it should have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncounted: Option<String>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Wall time.
    pub seconds: f64,
    /// Processor time of the program.
    pub user: f64,
    /// Processor time of the kernel.
    pub system: f64,
    /// The most memory at once.
    pub kilobytes: u64,
    /// Races that the tool reported.
    pub races: u64,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// With the right result.
    Ok,
    /// With a wrong one: what it said.
    Wrong(String),
    /// Without one.
    Crashed(String),
    /// Not in time.
    Late,
}

impl Outcome {
    /// For a cell of a table.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Wrong(_) => "wrong",
            Outcome::Crashed(_) => "crash",
            Outcome::Late => "timeout",
        }
    }

    /// In full.
    pub fn sentence(&self) -> String {
        match self {
            Outcome::Ok => "right".to_owned(),
            Outcome::Wrong(said) => format!("its result is wrong: {said}"),
            Outcome::Crashed(how) => format!("it ended with {how}"),
            Outcome::Late => "it did not end in time".to_owned(),
        }
    }
}

/// What is measured of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Wall time in seconds.
    Time,
    /// Peak memory in bytes.
    Memory,
}

impl Quantity {
    fn of(self, sample: &Sample) -> f64 {
        match self {
            Quantity::Time => sample.seconds,
            Quantity::Memory => sample.kilobytes as f64 * 1024.0,
        }
    }
}

impl Point {
    /// The first run that was not right, or why there is none.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if let Some(why) = &self.failed {
            return Some(("n/a", why.clone()));
        }
        let wrong = self.samples.iter().find(|sample| sample.outcome != Outcome::Ok)?;
        Some((wrong.outcome.word(), wrong.outcome.sentence()))
    }

    /// The spread of what was measured, unless a run was not right.
    pub fn spread(&self, quantity: Quantity) -> Option<Spread> {
        if self.problem().is_some() {
            return None;
        }
        Spread::of(self.samples.iter().map(|sample| quantity.of(sample)))
    }

    /// The most races that the tool reported in a run.
    pub fn races(&self) -> u64 {
        self.samples.iter().map(|sample| sample.races).max().unwrap_or(0)
    }

    /// Whether it is the same but for the tool.
    fn beside(&self, other: &Point) -> bool {
        (&self.workload, self.threads, self.size) == (&other.workload, other.threads, other.size)
    }
}

impl Results {
    /// The native point beside another.
    pub fn native(&self, point: &Point) -> Option<&Point> {
        self.points
            .iter()
            .find(|other| other.tool == NATIVE && other.beside(point))
    }

    /// The point of another tool beside one.
    pub fn beside(&self, point: &Point, tool: &str) -> Option<&Point> {
        self.points
            .iter()
            .find(|other| other.tool == tool && other.beside(point))
    }

    /// What was measured as multiples of native in the same repetition, unless a run of either was not right.
    pub fn ratio(&self, point: &Point, quantity: Quantity) -> Option<Spread> {
        let native = self.native(point)?;
        if native.problem().is_some() || point.problem().is_some() {
            return None;
        }
        let pairs = point.samples.iter().zip(&native.samples);
        Spread::of(pairs.map(|(mine, its)| quantity.of(mine) / quantity.of(its)))
    }

    /// The numbers of threads there are, in order.
    pub fn threads(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.points.iter().map(|point| point.threads).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The names of the tools that were run, in order.
    pub fn tool_names(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for point in &self.points {
            if !all.contains(&point.tool.as_str()) {
                all.push(&point.tool);
            }
        }
        all
    }

    /// The workloads, each with its suite, in order.
    pub fn workloads(&self) -> Vec<(&str, &str)> {
        let mut all: Vec<(&str, &str)> = Vec::new();
        for point in &self.points {
            if !all.iter().any(|(name, _)| *name == point.workload) {
                all.push((&point.workload, &point.suite));
            }
        }
        all
    }

    /// The sizes that a workload was run with, in order.
    pub fn sizes(&self, workload: &str) -> Vec<u64> {
        let of = self.points.iter().filter(|point| point.workload == workload);
        let mut all: Vec<u64> = of.map(|point| point.size).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// A point: of several sizes, the largest.
    pub fn point(&self, workload: &str, threads: u64, tool: &str) -> Option<&Point> {
        let of = self.points.iter();
        of.filter(|point| point.workload == workload && point.threads == threads && point.tool == tool)
            .max_by_key(|point| point.size)
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Results> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let results: Results = serde_json::from_str(&text).with_context(|| {
            format!(
                "{} has no results; `deadheat bench --json FILE` writes them",
                path.display()
            )
        })?;
        if results.version != VERSION {
            bail!(
                "{} has version {} of the results, and this is {VERSION}: measure again",
                path.display(),
                results.version
            );
        }
        Ok(results)
    }

    /// Writes a file.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        std::fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A point with these times in seconds and this memory in megabytes.
    pub fn point(workload: &str, tool: &str, seconds: &[f64], megabytes: u64) -> Point {
        let sample = |&seconds: &f64| Sample {
            seconds,
            user: seconds,
            system: 0.0,
            kilobytes: megabytes << 10,
            races: 0,
            outcome: Outcome::Ok,
        };
        Point {
            workload: workload.to_owned(),
            suite: "splash".to_owned(),
            threads: 2,
            size: 100,
            tool: tool.to_owned(),
            samples: seconds.iter().map(sample).collect(),
            ..Point::default()
        }
    }

    pub fn results(points: Vec<Point>) -> Results {
        Results {
            version: VERSION,
            points,
            ..Results::default()
        }
    }

    #[test]
    fn ratios_are_of_the_same_repetition() {
        // The machine was twice as slow in the second one.
        let all = results(vec![
            point("fft", NATIVE, &[1.0, 2.0, 1.0], 10),
            point("fft", "tsan", &[5.0, 10.0, 5.5], 40),
        ]);
        let ratio = all.ratio(&all.points[1], Quantity::Time).unwrap();
        assert_eq!((ratio.low, ratio.median, ratio.high), (5.0, 5.0, 5.25));
        assert_eq!(all.ratio(&all.points[1], Quantity::Memory).unwrap().median, 4.0);
    }

    #[test]
    fn what_went_wrong_is_never_averaged() {
        let mut all = results(vec![
            point("fft", NATIVE, &[1.0, 1.0], 10),
            point("fft", "tsan", &[5.0, 5.0], 40),
        ]);
        all.points[1].samples[1].outcome = Outcome::Wrong("wrong 3".to_owned());
        assert_eq!(all.ratio(&all.points[1], Quantity::Time), None);
        assert_eq!(all.points[1].spread(Quantity::Time), None);
        assert_eq!(all.points[1].problem().unwrap().0, "wrong");
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let mut all = results(vec![point("fft", NATIVE, &[1.0], 10)]);
        all.points[0].samples[0].outcome = Outcome::Late;
        all.points[0].counters.insert("checks".to_owned(), 3);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.json");
        all.write(&path).unwrap();
        assert_eq!(Results::read(&path).unwrap(), all);
        for (text, part) in [("{}", "deadheat bench --json"), ("[", "no results")] {
            std::fs::write(&path, text).unwrap();
            let error = format!("{:#}", Results::read(&path).unwrap_err());
            assert!(error.contains(part), "{error}");
        }
        all.version = 99;
        all.write(&path).unwrap();
        assert!(
            Results::read(&path)
                .unwrap_err()
                .to_string()
                .contains("measure again")
        );
    }
}
