//! `--quality`: which tools find the known races, and which report some where there are none.
//!
//! Every workload is run as it is and with its race. A report that names a marked line has found the race; one of a
//! race-free program, or that names none, is false, if the marks are right.

pub mod reports;

use super::build::{Builder, Version};
use super::measure::{Meter, Run};
use super::progress::Progress;
use super::results::Outcome;
use super::tools::{Reports, Tool};
use super::workload::Workload;
use anyhow::Result;
use reports::Report;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a tool said about a program in some runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Runs.
    pub runs: u64,
    /// Runs in which the known race was found.
    pub found: u64,
    /// The most reports in a run that name no marked line.
    pub others: u64,
    /// Why there is no verdict, or not on all runs: in a word, and in full.
    pub problem: Option<(&'static str, String)>,
}

impl Verdict {
    /// Counts the reports of a run. The known race is at these lines of the file.
    fn add(&mut self, reports: &[Report], file: &str, marked: &[u32]) {
        let found = reports.iter().filter(|report| report.names(file, marked)).count();
        self.runs += 1;
        self.found += u64::from(found > 0);
        self.others = self.others.max((reports.len() - found) as u64);
    }

    /// As a cell.
    fn cell(&self, version: Version) -> String {
        let mut parts = Vec::new();
        match version {
            _ if self.runs == 0 => {}
            Version::Clean if self.others > 0 => parts.push(format!("**{} false**", self.others)),
            // Silence in some runs says nothing of those that went wrong.
            Version::Clean if self.problem.is_none() => parts.push("silent".to_owned()),
            Version::Clean => {}
            Version::Racing => {
                parts.push(match self.found {
                    0 => "**missed**".to_owned(),
                    all if all == self.runs => "found".to_owned(),
                    some => format!("found in {some} of {}", self.runs),
                });
                if self.others > 0 {
                    parts.push(format!("{} elsewhere", self.others));
                }
            }
        }
        parts.extend(self.problem.iter().map(|(word, _)| (*word).to_owned()));
        match parts.is_empty() {
            true => "–".to_owned(),
            false => parts.join(", "),
        }
    }
}

/// All verdicts, by workload, version and tool.
#[derive(Debug, Default)]
pub struct Quality {
    /// The names of the tools.
    pub tools: Vec<&'static str>,
    /// Workload, version, and what each tool said.
    pub rows: Vec<(String, Version, BTreeMap<&'static str, Verdict>)>,
}

/// What is asked.
pub struct Question<'a> {
    /// The workloads.
    pub workloads: &'a [Workload],
    /// The tools; those without reports are left out.
    pub tools: &'a [&'static Tool],
    /// Threads of the programs.
    pub threads: u64,
    /// How often each is run.
    pub runs: u64,
}

/// Runs everything.
pub fn run(
    question: &Question<'_>,
    builder: &Builder,
    meter: &Meter,
    progress: &Progress,
) -> Result<Quality> {
    let tools = question.tools.iter().filter(|tool| tool.reports != Reports::None);
    let tools: Vec<&'static Tool> = tools.copied().collect();
    let mut quality = Quality {
        tools: tools.iter().map(|tool| tool.name).collect(),
        rows: Vec::new(),
    };
    for workload in question.workloads {
        for version in [Version::Clean, Version::Racing] {
            progress.step();
            if version == Version::Racing && workload.marked.is_empty() {
                continue;
            }
            let mut row = BTreeMap::new();
            for &tool in &tools {
                progress.say(&format!("{} with {}", workload.name, tool.name));
                row.insert(
                    tool.name,
                    verdict(question, workload, version, tool, builder, meter)?,
                );
            }
            quality.rows.push((workload.name.clone(), version, row));
        }
    }
    Ok(quality)
}

fn verdict(
    question: &Question<'_>,
    workload: &Workload,
    version: Version,
    tool: &'static Tool,
    builder: &Builder,
    meter: &Meter,
) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    if tool.takes(workload.language).is_err() {
        return Ok(verdict);
    }
    let program = match builder.program(workload, &tool.build, version) {
        Ok(program) => program,
        Err(error) => {
            verdict.problem = Some(("n/a", format!("it cannot be built: {error:#}")));
            return Ok(verdict);
        }
    };
    let file = workload.path.file_name().unwrap_or_default().to_string_lossy();
    // In a race-free program, marked lines are as innocent as others.
    let marked = match version {
        Version::Clean => &[][..],
        Version::Racing => &workload.marked,
    };
    for _ in 0..question.runs {
        let mut run = Run {
            command: tool.run(&program),
            environment: environment(tool),
        };
        run.command.push(question.threads.to_string().into());
        run.command.push(workload.quick.to_string().into());
        let json = meter.file("report.json")?;
        if tool.reports == Reports::Deadheat {
            let options = format!("format=json:output='{}'", json.display());
            run.environment
                .push((deadheat_abi::options::VARIABLE.to_owned(), options));
        }
        let ran = meter.run(&run)?;
        let outcome = ran.sample.outcome;
        let is_judged = match version {
            Version::Clean => outcome == Outcome::Ok,
            // A racing program may get any result.
            Version::Racing => outcome != Outcome::Late,
        };
        if !is_judged {
            verdict.problem = Some((outcome.word(), outcome.sentence()));
            continue;
        }
        let text = match tool.reports {
            Reports::Deadheat => std::fs::read_to_string(&json).unwrap_or_default(),
            _ => ran.stderr,
        };
        verdict.add(&reports::parse(tool.reports, &text), &file, marked);
    }
    Ok(verdict)
}

/// A tool's environment, owned.
pub fn environment(tool: &Tool) -> Vec<(String, String)> {
    let pairs = tool.environment.iter();
    pairs
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

impl Quality {
    /// Whether something stood in the way.
    pub fn has_problems(&self) -> bool {
        let mut verdicts = self.rows.iter().flat_map(|(_, _, row)| row.values());
        verdicts.any(|verdict| verdict.problem.is_some())
    }

    /// The table, and what stood in the way.
    pub fn markdown(&self) -> String {
        let mut text = String::from("| workload | version |");
        let mut rule = String::from("|---|---|");
        for tool in &self.tools {
            let _ = write!(text, " {tool} |");
            rule.push_str("---|");
        }
        let _ = writeln!(text, "\n{rule}");
        for (name, version, row) in &self.rows {
            let word = match version {
                Version::Clean => "race-free",
                Version::Racing => "racing",
            };
            let cells: Vec<String> = self.tools.iter().map(|tool| row[tool].cell(*version)).collect();
            let _ = writeln!(text, "| {name} | {word} | {} |", cells.join(" | "));
        }
        for (version, word) in [(Version::Racing, "found"), (Version::Clean, "with false reports")] {
            let cells: Vec<String> = self.tools.iter().map(|tool| self.total(tool, version)).collect();
            let _ = writeln!(text, "| **{word}** | | {} |", cells.join(" | "));
        }
        for (name, version, row) in &self.rows {
            for (tool, verdict) in row {
                if let Some((_, problem)) = &verdict.problem {
                    let _ = writeln!(text, "\n{name} ({version:?}) with {tool}: {problem}");
                }
            }
        }
        text
    }

    /// Of how many programs something holds: the race was found in every run, or something false was reported.
    fn total(&self, tool: &str, version: Version) -> String {
        let rows = self.rows.iter().filter(|row| row.1 == version);
        let judged: Vec<&Verdict> = rows
            .map(|row| &row.2[tool])
            .filter(|verdict| verdict.runs > 0)
            .collect();
        let holds = judged.iter().filter(|verdict| match version {
            Version::Racing => verdict.found == verdict.runs,
            Version::Clean => verdict.others > 0,
        });
        format!("{} of {}", holds.count(), judged.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(line: u32) -> Report {
        Report {
            lines: vec![("dir/a.c".to_owned(), line)],
        }
    }

    #[test]
    fn reports_are_found_missed_or_false() {
        let judge = |runs: &[&[u32]], marked: &[u32], version| {
            let mut verdict = Verdict::default();
            for lines in runs {
                let reports: Vec<Report> = lines.iter().map(|line| report(*line)).collect();
                verdict.add(&reports, "a.c", marked);
            }
            verdict.cell(version)
        };
        assert_eq!(judge(&[&[3], &[3, 3]], &[3], Version::Racing), "found");
        assert_eq!(judge(&[&[3], &[]], &[3], Version::Racing), "found in 1 of 2");
        assert_eq!(
            judge(&[&[4], &[]], &[3], Version::Racing),
            "**missed**, 1 elsewhere"
        );
        assert_eq!(judge(&[&[3, 4]], &[3], Version::Racing), "found, 1 elsewhere");
        assert_eq!(judge(&[&[]], &[], Version::Clean), "silent");
        assert_eq!(judge(&[&[3]], &[], Version::Clean), "**1 false**");
        assert_eq!(judge(&[], &[], Version::Clean), "–");
    }

    #[test]
    fn what_went_wrong_is_never_silent() {
        let mut verdict = Verdict {
            problem: Some(("wrong", "its result is wrong: wrong 7".to_owned())),
            ..Verdict::default()
        };
        assert_eq!(verdict.cell(Version::Clean), "wrong");
        verdict.runs = 1;
        assert_eq!(verdict.cell(Version::Clean), "wrong");
        verdict.others = 2;
        assert_eq!(verdict.cell(Version::Clean), "**2 false**, wrong");
        assert_eq!(verdict.cell(Version::Racing), "**missed**, 2 elsewhere, wrong");
    }

    #[test]
    fn the_table_adds_up() {
        let verdict = |runs, found, others| Verdict {
            runs,
            found,
            others,
            problem: None,
        };
        let rows = vec![
            (
                "a".to_owned(),
                Version::Clean,
                BTreeMap::from([("x", verdict(2, 0, 1))]),
            ),
            (
                "a".to_owned(),
                Version::Racing,
                BTreeMap::from([("x", verdict(2, 2, 0))]),
            ),
            (
                "b".to_owned(),
                Version::Racing,
                BTreeMap::from([("x", verdict(2, 1, 0))]),
            ),
        ];
        let quality = Quality {
            tools: vec!["x"],
            rows,
        };
        let text = quality.markdown();
        assert!(text.contains("| **found** | | 1 of 2 |"), "{text}");
        assert!(text.contains("| **with false reports** | | 1 of 1 |"), "{text}");
    }
}
