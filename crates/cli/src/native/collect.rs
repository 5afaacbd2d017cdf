//! One report of many: programs that cargo ran each left theirs.

use anyhow::{Context, Result};
use deadheat_report::{Finding, Report, Summary};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Unites the reports in `directory`. `command` made them.
pub fn reports(directory: &Path, command: &str) -> Result<Report> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .context("cannot read the reports of the programs")?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let mut reports = Vec::new();
    for file in files {
        let text = std::fs::read(&file).with_context(|| file.display().to_string())?;
        let report: Report = serde_json::from_slice(&text).with_context(|| file.display().to_string())?;
        reports.push(report);
    }
    Ok(united(reports, command))
}

fn united(reports: Vec<Report>, command: &str) -> Report {
    let mut races: BTreeMap<String, Finding> = BTreeMap::new();
    let mut summary = Summary::default();
    for report in reports {
        let part = report.summary;
        summary.occurrences = summary.occurrences.saturating_add(part.occurrences);
        summary.events = summary.events.saturating_add(part.events);
        // Two programs may have left out the same.
        summary.suppressed = summary.suppressed.max(part.suppressed);
        summary.known = summary.known.max(part.known);
        summary.partial |= part.partial;
        for note in part.notes {
            if !summary.notes.contains(&note) {
                summary.notes.push(note);
            }
        }
        for (name, value) in part.stats {
            let sum = summary.stats.entry(name).or_default();
            *sum = sum.saturating_add(value);
        }
        for finding in report.races {
            match races.get_mut(&finding.id) {
                Some(same) => same.count = same.count.saturating_add(finding.count),
                None => drop(races.insert(finding.id.clone(), finding)),
            }
        }
    }
    summary.races = races.len() as u64;
    Report {
        tool: "deadheat".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.to_owned(),
        races: races.into_values().collect(),
        summary,
    }
}
