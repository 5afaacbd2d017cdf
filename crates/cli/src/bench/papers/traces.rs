//! Traces of workloads, and what detectors make of them.

use crate::term::Term;
use crate::traces;
use anyhow::{Context, Result, bail};
use deadheat_detect::select::{self, Choice};
use deadheat_event::{Event, Stats, Tables};
use deadheat_trace::Format;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Every analysis is made so often, and the fastest counts: only disturbances make one longer.
const RUNS: usize = 3;

/// The traces of a directory.
pub struct Traces {
    /// Each with the name of its workload.
    pub files: Vec<(String, PathBuf)>,
}

/// What an analysis found and took.
#[derive(Clone, Debug, Default)]
pub struct Analysed {
    /// What it counted.
    pub stats: Stats,
    /// How long it took, without reading the file.
    pub time: Duration,
    /// Races.
    pub races: u64,
}

impl Analysed {
    /// Reads and writes.
    pub fn accesses(&self) -> u64 {
        self.stats.reads + self.stats.writes
    }

    /// Seconds.
    pub fn seconds(&self) -> f64 {
        self.time.as_secs_f64()
    }
}

impl Traces {
    /// Finds the traces of a directory.
    pub fn open(directory: &Path) -> Result<Traces> {
        let entries = std::fs::read_dir(directory)
            .with_context(|| format!("cannot read the traces in {}", directory.display()))?;
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if let (Some(_), Some(name)) = (Format::of_path(&path), path.file_stem()) {
                files.push((name.to_string_lossy().into_owned(), path));
            }
        }
        if files.is_empty() {
            bail!(
                "there are no traces in {0}; `bench/workloads/record {0}` makes those of the workloads",
                directory.display()
            );
        }
        files.sort();
        Ok(Traces { files })
    }

    /// Says which are cut off: only their end tells, and analyses, of which there are many, do not say so each time.
    pub fn warn(&self, term: Term) -> Result<()> {
        for (_, path) in &self.files {
            let mut source = traces::open(path)?;
            let mut block = Vec::new();
            while source
                .next_block(&mut block)
                .with_context(|| path.display().to_string())?
            {}
            if let Some(truncation) = source.truncation() {
                term.warn(&format!("{}: {truncation}", path.display()));
            }
        }
        Ok(())
    }
}

/// Analyses a file.
pub fn analyse(path: &Path, choice: &Choice) -> Result<Analysed> {
    analyse_changed(path, choice, |_| ())
}

/// Analyses a file whose events `change` may change.
pub fn analyse_changed(path: &Path, choice: &Choice, change: impl Fn(&mut Event)) -> Result<Analysed> {
    let mut best: Option<Analysed> = None;
    for _ in 0..RUNS {
        let mut source = traces::open(path)?;
        let mut analysis = select::analysis(choice)?;
        let mut done = Analysed::default();
        let mut block = Vec::new();
        while source
            .next_block(&mut block)
            .with_context(|| path.display().to_string())?
        {
            block.iter_mut().for_each(&change);
            let started = Instant::now();
            analysis.process(&block, source.tables(), &mut |_| done.races += 1);
            done.time += started.elapsed();
        }
        let started = Instant::now();
        analysis.finish(&mut |_| done.races += 1);
        done.time += started.elapsed();
        done.stats = analysis.stats();
        if best.as_ref().is_none_or(|best| done.time < best.time) {
            best = Some(done);
        }
    }
    best.context("no analysis was made")
}

/// Analyses events that are in memory.
pub fn analyse_events(events: &[Event], tables: &Tables, choice: &Choice) -> Result<Analysed> {
    let mut best: Option<Analysed> = None;
    for _ in 0..RUNS {
        let mut analysis = select::analysis(choice)?;
        let mut races = 0;
        let started = Instant::now();
        analysis.process(events, tables, &mut |_| races += 1);
        analysis.finish(&mut |_| races += 1);
        let time = started.elapsed();
        if best.as_ref().is_none_or(|best| time < best.time) {
            best = Some(Analysed {
                stats: analysis.stats(),
                time,
                races,
            });
        }
    }
    best.context("no analysis was made")
}
