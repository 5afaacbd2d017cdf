//! RDIT, Tables 5.3 and 5.4: workloads are recorded in whole and with functions left out.

use super::Sources;
use crate::bench::markdown::{Table, megabytes, number};
use crate::bench::measure::{Meter, Run};
use crate::bench::results::Outcome;
use crate::bench::workload::{self, Workload};
use crate::native::compilers::Language;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Programs of Table 5.3 with their known races, and sizes of about a window.
const PROGRAMS: [(&str, u64); 10] = [
    ("sharedspot", 100),
    ("philosophers", 60),
    ("monitors", 60),
    ("multiset", 5),
    ("localspot", 100),
    ("elevator", 64),
    ("pipeline", 10),
    ("tsp", 6),
    ("kvstore", 1024),
    ("buffer", 1024),
];

/// All that they synchronise with, but for threads that are created and waited for.
const SYNCHRONISATION: [&str; 3] = ["pthread_mutex_*", "pthread_cond_*", "pthread_barrier_*"];

/// So often they are recorded, in whole and without that: which races a recording tells of depends on its schedule.
const RECORDINGS: usize = 5;

const MODELS: [&str; 4] = ["hb", "cp", "mc", "rdit"];

/// Two places in the source.
type Pair = [(String, u64); 2];

fn workloads(sources: &Sources<'_>, names: impl IntoIterator<Item = &'static str>) -> Result<Vec<Workload>> {
    let (all, _) = workload::find(sources.workloads)?;
    names
        .into_iter()
        .map(|name| {
            let found = all.iter().find(|workload| workload.name == name);
            found
                .cloned()
                .with_context(|| format!("there is no workload `{name}` in {}", sources.workloads.display()))
        })
        .collect()
}

/// This command with other arguments.
fn deadheat() -> Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("cannot find this command's own file")?);
    command
        .stdin(Stdio::null())
        .env_remove(deadheat_abi::options::VARIABLE);
    Ok(command)
}

/// `deadheat record` of a workload, up to the arguments of the program.
fn record(workload: &Workload, trace: &Path, racing: bool, exclude: &[&str]) -> Result<Command> {
    let mut command = deadheat()?;
    command.arg("record").arg("-o").arg(trace);
    let include = workload.path.parent().unwrap_or(Path::new(".")).join("include");
    let race = if racing { "-DRACE" } else { "" };
    if workload.language == Language::C {
        let flags = workload.flags.join(" ");
        command
            .arg("--cflags")
            .arg(format!("-O2 -I{} {race} {flags}", include.display()));
    }
    for glob in exclude {
        command.args(["--exclude", glob]);
    }
    Ok(command)
}

fn run(mut command: Command, name: &str) -> Result<Vec<u8>> {
    let output = command
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    // Races may have been found.
    if !matches!(output.status.code(), Some(0 | 66)) {
        bail!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

/// The races that a model predicts, by place.
fn predict(trace: &Path, model: &str, name: &str) -> Result<BTreeSet<Pair>> {
    let mut command = deadheat()?;
    command
        .args(["predict", "--format", "json", "--timeout", "20", "--model", model])
        .arg(trace);
    let report: serde_json::Value = serde_json::from_slice(&run(command, name)?)?;
    let place = |access: &serde_json::Value| {
        let frame = &access["frames"][0];
        let file = frame["file"].as_str().unwrap_or_default().to_owned();
        (file, frame["line"].as_u64().unwrap_or(0))
    };
    let races = report["races"].as_array().context("a report without races")?;
    Ok(races
        .iter()
        .map(|race| {
            let mut pair = [place(&race["accesses"][0]), place(&race["accesses"][1])];
            pair.sort();
            pair
        })
        .collect())
}

/// Races of four models on traces without synchronisation.
pub fn table_5_3(sources: &Sources<'_>) -> Result<String> {
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    let (full, part) = (scratch.path().join("full.dht"), scratch.path().join("part.dht"));
    let mut table = Table::new(1, ["program", "true", "HB", "CP", "MC", "RDIT"]);
    let mut sums = [[0; 2]; MODELS.len()];
    let mut sum_true = 0;
    let programs = workloads(sources, PROGRAMS.map(|(name, _)| name))?;
    for (workload, (name, size)) in programs.iter().zip(PROGRAMS) {
        let recorded = |trace: &Path, exclude: &[&str]| {
            let mut command = record(workload, trace, true, exclude)?;
            command.arg(&workload.path).args(["--", "2", &size.to_string()]);
            run(command, name)
        };
        let mut truth = BTreeSet::new();
        let mut found = MODELS.map(|_| BTreeSet::new());
        for _ in 0..RECORDINGS {
            recorded(&full, &[])?;
            truth.extend(predict(&full, "mc", name)?);
            recorded(&part, &SYNCHRONISATION)?;
            for (model, races) in MODELS.iter().zip(&mut found) {
                races.extend(predict(&part, model, name)?);
            }
        }
        sum_true += truth.len();
        let mut row = vec![name.to_owned(), truth.len().to_string()];
        for (races, sum) in found.iter().zip(&mut sums) {
            let wrong = races.difference(&truth).count();
            (sum[0], sum[1]) = (sum[0] + races.len(), sum[1] + wrong);
            row.push(cell([races.len(), wrong]));
        }
        table.row(row);
    }
    let mut row = vec!["**total**".to_owned(), sum_true.to_string()];
    row.extend(sums.map(cell));
    table.row(row);
    Ok(format!(
        "{table}\nRaces by pair of lines, in brackets false alarms. True are those that MC finds in {RECORDINGS} \
         recordings with all synchronisation; the others are of as many in which calls of {} are missing.\n",
        SYNCHRONISATION.map(|glob| format!("`{glob}`")).join(", ")
    ))
}

fn cell([races, wrong]: [usize; 2]) -> String {
    format!("{races} ({wrong})")
}

/// The program of Table 5.4, its size, and what is left out of it, one after another.
const MEASURED: (&str, u64) = ("tree", 1500);
const LEFT_OUT: [(&str, &str); 3] = [("a", "pthread_*"), ("b", "rank"), ("c", "insert")];
/// Every run is made so often, and the fastest counts.
const RUNS: usize = 3;

/// Recording with and without BarrierPairs.
pub fn table_5_4(sources: &Sources<'_>) -> Result<String> {
    let (name, size) = MEASURED;
    let workload = workloads(sources, [name])?.remove(0);
    std::fs::create_dir_all(sources.directory)?;
    let meter = Meter::new(sources.directory, 600)?;
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    let head = [
        "left out",
        "log: none MB",
        "each MB",
        "once MB",
        "time: none s",
        "each s",
        "once s",
    ];
    let mut table = Table::new(1, head);
    for left_out in 0..=LEFT_OUT.len() {
        let (names, globs): (Vec<&str>, Vec<&str>) = LEFT_OUT[..left_out].iter().copied().unzip();
        let program = scratch.path().join("program");
        let mut command = record(&workload, &scratch.path().join("run.dht"), false, &globs)?;
        command.arg("--keep").arg(&program).arg(&workload.path);
        command.args(["--", "2", &size.to_string()]);
        run(command, name)?;
        let (mut sizes, mut times) = (Vec::new(), Vec::new());
        for calls in ["none", "each", "once"] {
            let (mut bytes, mut least) = (0, f64::INFINITY);
            for _ in 0..RUNS {
                let spill = meter.file("spill")?;
                let options = format!("record={}:calls={calls}", spill.display());
                let ran = meter.run(&Run {
                    command: vec![program.clone().into(), "2".into(), size.to_string().into()],
                    environment: vec![(deadheat_abi::options::VARIABLE.to_owned(), options)],
                })?;
                if ran.sample.outcome != Outcome::Ok {
                    bail!("{name}: {:?}", ran.sample.outcome);
                }
                least = least.min(ran.sample.user + ran.sample.system);
                // What is on the disk: a log has holes.
                bytes = spill.metadata()?.blocks() * 512;
            }
            sizes.push(megabytes(bytes as f64));
            times.push(number(least));
        }
        let names = if names.is_empty() {
            "nothing".to_owned()
        } else {
            names.join("+")
        };
        table.row([names].into_iter().chain(sizes).chain(times));
    }
    let legend = LEFT_OUT.map(|(name, glob)| format!("({name}) `{glob}`"));
    Ok(format!("{table}\n{}", about(&legend.join(", "), name, size)))
}

fn about(legend: &str, name: &str, size: impl Display) -> String {
    format!(
        "`{name} 2 {size}`. Left out: {legend}. Missing calls are not recorded (none), recorded with all that they reach each time (each), \
         or with the optimisation of its section 4.4.3 (once). Processor time of the recording program, the least of {RUNS} runs.\n"
    )
}
