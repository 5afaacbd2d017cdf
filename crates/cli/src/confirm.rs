//! `deadheat predict --confirm`: runs the recorded program again, with its threads held so that they do what a witness says, until the
//! two accesses meet or the budget is spent.
//!
//! The runtime of a program that was built to be recorded does the holding (`runtime/src/steer.rs`); here is who tells it what to do.

mod plan;
mod walk;

use crate::args::{External, Predict, Selected, Target};
use crate::native::check::{self, Purpose};
use crate::native::compilers::Language;
use crate::native::settings::Settings;
use crate::traces;
use anyhow::{Context, Result, bail};
use clap::Parser;
use deadheat_abi::options;
use deadheat_event::Tables;
use deadheat_instrument::select::Selection;
use deadheat_report::{Confirmation, Finding};
use plan::Manner;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use walk::{Marked, Walk};

/// A run is ended after this long.
const LONGEST: Duration = Duration::from_secs(60);

/// Says of each finding whether its accesses met.
pub fn confirm(findings: &mut [Finding], args: &Predict) -> Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    let mut walk = Walk::new(findings.iter().map(|finding| match &finding.witness {
        Some(witness) => (witness.start, witness.schedule.clone()),
        None => (0, Vec::new()),
    }));
    let mut source = traces::open(&args.trace)?;
    let mut block = Vec::new();
    while source.next_block(&mut block)? {
        walk.take(&block);
    }
    let (marked, children) = walk.finish();
    let program = Program::new(source.tables(), args)?;
    let race = |(finding, marked)| Race {
        finding,
        marked,
        runs: 0,
        time: Duration::ZERO,
        met: None,
    };
    let mut races: Vec<Race<'_>> = findings.iter_mut().zip(marked).map(race).collect();
    let end = Instant::now() + Duration::from_secs(args.confirm_time);
    for round in 0..args.confirm_runs {
        for race in races.iter_mut().filter(|race| race.met.is_none()) {
            if Instant::now() >= end {
                break;
            }
            let Some(marked) = &race.marked else { continue };
            let Some(plan) = plan::plan(marked, &children, source.tables(), manner(round)) else {
                continue;
            };
            let started = Instant::now();
            race.met = program.run(&plan, end)?;
            race.runs += 1;
            race.time += started.elapsed();
        }
    }
    races.into_iter().for_each(Race::conclude);
    Ok(())
}

struct Race<'f> {
    finding: &'f mut Finding,
    marked: Option<Marked>,
    runs: u32,
    time: Duration,
    met: Option<String>,
}

impl Race<'_> {
    fn conclude(self) {
        self.finding.confirmation = Some(Confirmation {
            met: self.met.is_some(),
            runs: self.runs,
            seconds: self.time.as_secs_f64(),
            how: self.met,
        });
    }
}

/// Patient and less so, after the witness and by chance.
fn manner(round: u32) -> Manner {
    let factor = [1, 5, 15][(round as usize / 2).min(2)];
    let loose = (round % 2 == 1).then_some(u64::from(round));
    let stand = if loose.is_some() { 10 } else { 400 };
    Manner {
        hold: Duration::from_millis(200 * factor),
        stand: Duration::from_millis(stand * factor),
        loose,
    }
}

/// The words of a trace that run its program again.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Again {
    #[command(flatten)]
    selected: Selected,

    #[arg(long, value_enum)]
    external: Option<External>,

    #[arg(long)]
    external_rules: Option<PathBuf>,

    #[arg(long)]
    calls: Option<String>,

    #[command(flatten)]
    program: Target,
}

/// The program, built to be recorded.
struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
    /// Where it runs.
    directory: PathBuf,
    /// What calls into other code are recorded as: as when it was recorded, or steps are counted that the trace does not have.
    settings: Settings,
    /// Has the plan, and the program if it was built for this.
    made: tempfile::TempDir,
}

impl Program {
    fn new(tables: &Tables, args: &Predict) -> Result<Program> {
        let mut words = tables.command.values().map(|word| tables.name(*word).to_owned());
        let Some(directory) = words.next() else {
            bail!(
                "{} does not say which program it is of, so no race can be confirmed; `deadheat record` writes traces that do (.dht)",
                args.trace.display()
            );
        };
        let again = match (Again::try_parse_from(words), args.program.first()) {
            (Ok(again), _) => again,
            (Err(_), Some(program)) => Again::try_parse_from([program])?,
            (Err(error), None) => {
                return Err(error).with_context(|| {
                    let trace = args.trace.display();
                    format!("{trace}: how its program was run makes no sense; name it: `-- PROGRAM ARGS`")
                });
            }
        };
        let settings = Settings {
            external: again.external,
            external_rules: again.external_rules,
            calls: again.calls,
            ..Settings::default()
        };
        let mut target = again.program;
        target.keep = None;
        let here = std::env::current_dir().context("cannot tell the current directory")?;
        let mut directory = PathBuf::from(directory);
        if let [program, arguments @ ..] = &args.program[..] {
            target.target = PathBuf::from(program);
            target.arguments = arguments.to_vec();
            directory = here.clone();
        }
        // What was left out is to be left out again, or events are counted that the trace does not have. A program that is built
        // has its selection in it.
        let selection = match Language::of(&target.target) {
            Some(_) => Selection {
                include: again.selected.include,
                exclude: again.selected.exclude,
            },
            None => Selection::default(),
        };
        let made = tempfile::tempdir().context("cannot make a temporary directory")?;
        // Names in the program are relative to where it was built.
        std::env::set_current_dir(&directory).with_context(|| {
            let directory = directory.display();
            format!("the program was recorded in {directory}; name it where it is now: `-- PROGRAM ARGS`")
        })?;
        let path = check::program(&target, made.path(), Purpose::Record(&selection));
        std::env::set_current_dir(&here).context("cannot go back to the current directory")?;
        let path = path.context("cannot run the recorded program again; name it: `-- PROGRAM ARGS`")?;
        Ok(Program {
            path,
            arguments: target.arguments,
            directory,
            settings,
            made,
        })
    }

    /// Runs it by a plan. How the accesses met, if they did.
    fn run(&self, plan: &str, end: Instant) -> Result<Option<String>> {
        let file = self.made.path().join("plan");
        std::fs::write(&file, plan).context("cannot write the plan of a run")?;
        let settings = Settings {
            steer: Some(file.clone()),
            ..self.settings.clone()
        };
        let mut child = Command::new(&self.path)
            .args(&self.arguments)
            .current_dir(&self.directory)
            .env(options::VARIABLE, settings.options()?)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot run {}", self.path.display()))?;
        let end = end.min(Instant::now() + LONGEST);
        let failed = || format!("cannot wait for {}", self.path.display());
        while child.try_wait().with_context(failed)?.is_none() {
            if Instant::now() >= end {
                let _ = child.kill();
                child.wait().with_context(failed)?;
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let text = std::fs::read_to_string(&file).context("cannot read the answer of a run")?;
        Ok(text.lines().find_map(|line| describe(line.strip_prefix("met ")?)))
    }
}

/// What the runtime says of a meeting, in words.
fn describe(line: &str) -> Option<String> {
    let numbers: Vec<u64> = line
        .split(' ')
        .map(|word| word.parse().ok())
        .collect::<Option<_>>()?;
    let side = |side: &[u64]| match *side {
        [thread, addr, len, write] => {
            let access = if write == 1 { "write" } else { "read" };
            let s = if len == 1 { "" } else { "s" };
            // One that the recorded run did not have has no number.
            let who = match u32::try_from(thread) {
                Ok(thread) if thread != u32::MAX => format!("T{thread}"),
                _ => "another thread".to_owned(),
            };
            Some(format!("{who} before its {access} of {len} byte{s} at {addr:#x}"))
        }
        _ => None,
    };
    let (first, second) = numbers.split_at_checked(4)?;
    Some(format!("{}, {}", side(first)?, side(second)?))
}

/// The command that runs a program, as a trace has it.
impl Target {
    /// Its words.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (flag, values) in [("--cflags", &self.cflags), ("--rustflags", &self.rustflags)] {
            words.extend(values.iter().map(|value| format!("{flag}={value}")));
        }
        words.push(target(&self.target));
        words.push("--".to_owned());
        words.extend({ self.arguments.iter() }.map(|word| word.to_string_lossy().into_owned()));
        words
    }
}

fn target(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_trace_are_the_command_again() {
        let words = [
            "--cflags=-O2 -lm",
            "--rustflags=-O",
            "dir/a b.c",
            "--",
            "-x",
            "",
            "4",
        ];
        let again = Again::try_parse_from(words).expect("a command");
        assert_eq!(again.program.words(), words);
        assert_eq!(again.program.arguments.len(), 3);
    }

    #[test]
    fn what_calls_were_recorded_as_is_said_again() {
        let again = Again::try_parse_from([
            "--external=ignore",
            "--external-rules=/r",
            "--calls=each",
            "a.c",
            "--",
        ]);
        let again = again.expect("a command");
        assert_eq!(again.external, Some(External::Ignore));
        assert_eq!(again.external_rules, Some(PathBuf::from("/r")));
        assert_eq!(again.calls.as_deref(), Some("each"));
    }

    #[test]
    fn a_meeting_is_told_in_words() {
        assert_eq!(
            describe("1 4096 4 1 4294967295 4099 1 0").as_deref(),
            Some(
                "T1 before its write of 4 bytes at 0x1000, another thread before its read of 1 byte at 0x1003"
            )
        );
        assert_eq!(describe("1 2 3"), None);
    }
}
