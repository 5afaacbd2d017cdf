//! `deadheat bench`: the workloads under deadheat and under other race detectors, side by side.
//!
//! ```text
//! workload ──▶ build (tools) ──▶ session: measure, counters ──▶ results ──▶ tables, svg, compare, papers
//!                        └─────▶ quality, instructions
//! ```

pub mod args;
mod build;
mod compare;
mod counters;
mod instructions;
mod machine;
mod markdown;
mod measure;
mod outputs;
mod papers;
mod progress;
mod quality;
mod results;
mod session;
mod stat;
mod svg;
mod tables;
mod tools;
mod workload;

use crate::term::{Term, say};
use anyhow::{Result, bail};
use args::{Bench, BenchCommand};
use build::Builder;
use measure::Meter;
use papers::traces::Traces;
use papers::{Needs, Paper, Sources};
use results::{Results, ToolVersion};
use session::Plan;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;
use tools::{Reports, Tool};
use workload::{Workload, matches};

/// Runs the command.
pub fn run(args: &Bench, term: Term) -> Result<ExitCode> {
    if let Some(BenchCommand::Compare {
        old,
        new,
        threshold,
        tools,
    }) = &args.command
    {
        return compare::run(old, new, *threshold, tools);
    }
    if args.list {
        return list(args, term);
    }
    if args.instructions {
        let builder = Builder::new(&args.dir)?;
        let meter = Meter::new(builder.directory(), args.timeout())?;
        return instructions::run(&args.micro, args.bless, &builder, &meter);
    }
    if args.quality {
        return quality(args, term);
    }
    let paper = args.table.as_deref().map(papers::named).transpose()?;
    if let Some(paper) = paper {
        return table(args, paper, term);
    }
    outputs::check(args)?;
    let (results, written) = results(args, &[], term)?;
    put(head(&results))?;
    put(tables::all(&results))?;
    let status = finish(args, &results);
    written?;
    Ok(status)
}

/// Prints on stdout. Unlike `println!` it does not panic when nobody listens.
fn put(text: impl Display) -> Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{text}")?)
}

/// A table of a document.
fn table(args: &Bench, paper: &Paper, term: Term) -> Result<ExitCode> {
    args.suits(paper)?;
    outputs::check(args)?;
    let traces = args.traces.as_deref().map(Traces::open).transpose()?;
    if let Some(traces) = &traces {
        traces.warn(term)?;
    }
    // Traces may be enough; and what is measured already need not be measured again.
    let results = match (paper.needs, &args.from) {
        (Needs::Results(tools), _) => Some(results(args, tools, term)?),
        (_, Some(_)) => Some(results(args, &[], term)?),
        (Needs::Traces { .. } | Needs::Nothing { .. }, None) => None,
    };
    let (results, written) = results.unzip();
    let sources = Sources {
        results: results.as_ref(),
        traces: traces.as_ref(),
        workloads: &args.workloads,
        directory: &args.dir,
        svg: args.svg.as_deref(),
    };
    let text = (paper.make)(&sources)?;
    put(text)?;
    if let Some(results) = &results
        && !results.skipped.is_empty()
    {
        put(left_out(&results.skipped))?;
    }
    let status = results.map_or(ExitCode::SUCCESS, |results| finish(args, &results));
    written.transpose()?;
    Ok(status)
}

/// The results of a file, or of now, with these tools if none are named, and whether they could be kept: what took hours is shown
/// all the same.
fn results(args: &Bench, usual: &[&str], term: Term) -> Result<(Results, Result<()>)> {
    let results = match &args.from {
        Some(path) => Results::read(path)?,
        None => measured(args, usual, term)?,
    };
    let written = outputs::write(args, &results);
    Ok((results, written))
}

fn measured(args: &Bench, usual: &[&str], term: Term) -> Result<Results> {
    let workloads = chosen(args, term)?;
    let names = match args.tools.is_empty() {
        true => usual.iter().map(|&name| name.to_owned()).collect(),
        false => args.tools.clone(),
    };
    let (tools, versions, skipped) = usable(&names)?;
    let sizes = |workload: &Workload| match workload.sweep.first() {
        _ if args.quick => vec![workload.quick],
        Some(&smallest) if args.small => vec![smallest],
        Some(_) if args.sizes => workload.sweep.clone(),
        _ => vec![workload.size],
    };
    let plan = Plan {
        tools,
        workloads: workloads
            .into_iter()
            .map(|workload| (workload.clone(), sizes(&workload)))
            .collect(),
        threads: args.threads(),
        runs: args.runs(),
        counters: !args.no_counters,
    };
    let builder = Builder::new(&args.dir)?;
    let meter = Meter::new(builder.directory(), args.timeout())?;
    let date = machine::date();
    Ok(Results {
        version: results::VERSION,
        command: command_line(),
        date,
        machine: machine::this(),
        tools: versions,
        skipped,
        points: session::measure(&plan, &builder, &meter)?,
    })
}

/// The command line, as it can be given again.
fn command_line() -> String {
    let words = std::env::args()
        .skip(1)
        .map(|word| deadheat_report::quote(&word).to_string());
    std::iter::once("deadheat".to_owned())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The workloads that were asked for.
fn chosen(args: &Bench, term: Term) -> Result<Vec<Workload>> {
    let (all, wrong) = workload::find(&args.workloads)?;
    for line in wrong {
        term.warn(&line);
    }
    let wanted = |workload: &Workload| {
        args.filter.is_empty()
            || matches(&args.filter, &workload.name)
            || matches(&args.filter, &workload.suite)
    };
    if all.is_empty() {
        bail!(
            "there are no workloads in {}; run this in deadheat's repository, or name a directory with --workloads",
            args.workloads.display()
        );
    }
    for name in &args.filter {
        let is = |text: &str| matches(std::slice::from_ref(name), text);
        if !all
            .iter()
            .any(|workload| is(&workload.name) || is(&workload.suite))
        {
            bail!("no workload and no suite is `{name}`; --list lists them");
        }
    }
    Ok(all.into_iter().filter(wanted).collect())
}

/// The tools that were asked for and are here, their versions, and why others are not.
fn usable(names: &[String]) -> Result<(Vec<&'static Tool>, Vec<ToolVersion>, Vec<String>)> {
    let (mut tools, mut versions, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    for tool in tools::choose(names)? {
        match tool.version() {
            Ok(version) => {
                tools.push(tool);
                versions.push(ToolVersion {
                    name: tool.name.to_owned(),
                    version,
                });
            }
            Err(error) => skipped.push(format!("{error:#}")),
        }
    }
    if tools.is_empty() {
        bail!("none of the tools can be used: {}", skipped.join("; "));
    }
    Ok((tools, versions, skipped))
}

fn list(args: &Bench, term: Term) -> Result<ExitCode> {
    let mut table = markdown::Table::new(
        2,
        ["workload", "suite", "size", "quick", "sweep", "racing version"],
    );
    for workload in chosen(args, term)? {
        let sweep: Vec<String> = workload.sweep.iter().map(ToString::to_string).collect();
        let racing = if workload.marked.is_empty() { "no" } else { "yes" };
        let Workload {
            name,
            suite,
            size,
            quick,
            ..
        } = workload;
        table.row([
            name,
            suite,
            size.to_string(),
            quick.to_string(),
            sweep.join(" "),
            racing.to_owned(),
        ]);
    }
    put(&table)?;
    let (_, versions, skipped) = usable(&args.tools)?;
    for ToolVersion { name, version } in versions {
        put(format_args!("- {name}: {version}"))?;
    }
    for line in skipped {
        put(format_args!("- {line}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn quality(args: &Bench, term: Term) -> Result<ExitCode> {
    let threads = args.threads();
    let [threads] = &threads[..] else {
        bail!("--quality runs everything with one number of threads: give --threads one");
    };
    let workloads = chosen(args, term)?;
    let (tools, _, skipped) = usable(&args.tools)?;
    if tools.iter().all(|tool| tool.reports == Reports::None) {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
        bail!(
            "--quality is about reports, and none of these makes any: {}",
            names.join(", ")
        );
    }
    let builder = Builder::new(&args.dir)?;
    let meter = Meter::new(builder.directory(), args.timeout())?;
    let question = quality::Question {
        workloads: &workloads,
        tools: &tools,
        threads: *threads,
        runs: args.runs(),
    };
    let progress = progress::Progress::new(2 * workloads.len() as u64);
    let quality = quality::run(&question, &builder, &meter, &progress)?;
    drop(progress);
    put(quality.markdown())?;
    if !skipped.is_empty() {
        put(left_out(&skipped))?;
    }
    Ok(ExitCode::from(u8::from(quality.has_problems())))
}

/// Where, when and with what.
fn head(results: &Results) -> String {
    let machine = &results.machine;
    let mut text = format!(
        "`{}`, {} UTC, on {} ({} cores, {} MB, Linux {})\n\n",
        results.command,
        results.date,
        machine.cpu,
        machine.cores,
        machine.memory >> 20,
        machine.kernel
    );
    for ToolVersion { name, version } in &results.tools {
        text.push_str(&format!("- {name}: {version}\n"));
    }
    text + &left_out(&results.skipped)
}

/// The tools that are not here, a line each, with what to install.
fn left_out(skipped: &[String]) -> String {
    skipped
        .iter()
        .map(|line| format!("- left out: {line}\n"))
        .collect()
}

/// Names what went wrong; the exit status says whether something did.
fn finish(args: &Bench, results: &Results) -> ExitCode {
    for line in session::problems(&results.points) {
        say(&format!("deadheat: {line}"));
    }
    if args.from.is_some() {
        return ExitCode::SUCCESS;
    }
    let serious = results.points.iter().any(session::is_serious);
    ExitCode::from(u8::from(serious))
}
