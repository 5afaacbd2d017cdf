//! Races of a running program: lines of the runtime in, findings out.
//!
//! ```text
//! runtime ──wire lines──▶ Reporter ──▶ Event (a finding to print now, an answer for the runtime)
//!                             └──────▶ Report (at the end)
//! ```
//!
//! `deadheat check` and the reporter process that a program starts by itself both feed a [`Reporter`]. Races are the same
//! finding if their accesses stand at the same two places: function, file, line and column of the frames from the
//! innermost to the first one of the user's own code, in either order. Atomic accesses and plain ones are
//! told apart, and so is `free`; reads and writes are not, so that `x += 1` makes one finding.
//!
//! Nothing in the lines is trusted: bad ones are skipped and counted, and every table has a limit. What is lost to a limit
//! is said in the report's notes.

mod addresses;
mod build;
mod hint;
mod lines;
pub(crate) mod wire;

use crate::model::{Finding, Report, Summary};
use crate::symbols::{Mappings, Places, Symbols};
use crate::{Judge, Verdict};
pub use addresses::Addresses;
use build::Builder;
pub use lines::Lines;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::PathBuf;
pub use wire::Exit;
use wire::Record;

/// Processes that may speak by turns.
const MAX_PROCESSES: usize = 4096;
/// Stacks take no more than this many addresses in all.
const MAX_PCS: usize = 1 << 24;
/// Threads, mappings and races of all processes that are remembered.
const MAX_RECORDS: usize = 1 << 20;
/// Findings that are kept.
const MAX_FINDINGS: usize = 1 << 16;
/// Notes that are kept.
const MAX_NOTES: usize = 100;
/// Counters that are kept.
const MAX_STATS: usize = 1000;
/// Locks of an access that are kept.
const MAX_LOCKS: usize = 256;

/// How to report.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which findings are reported.
    pub judge: Judge,
    /// The command that was run. If empty, the program's own as it tells it.
    pub command: String,
    /// The command that shows a finding again; `{id}` stands for the finding's id. If empty, the program's own.
    pub again: String,
    /// Paths below it are shown relative to it.
    pub directory: PathBuf,
    /// Where separate debug files are.
    pub debug_directories: Vec<PathBuf>,
    /// Keep the counters that the program tells.
    pub stats: bool,
}

impl Options {
    /// The usual: everything is reported, paths are relative to `directory`.
    pub fn new(directory: impl Into<PathBuf>) -> Options {
        Options {
            judge: Judge::default(),
            command: String::new(),
            again: String::new(),
            directory: directory.into(),
            debug_directories: vec![PathBuf::from("/usr/lib/debug")],
            stats: false,
        }
    }
}

/// Where to look for what symbols need.
fn places(options: &Options) -> Places {
    Places {
        base: options.directory.clone(),
        debug: options.debug_directories.clone(),
    }
}

/// What a line led to.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A race is complete.
    Race {
        /// Whether it counts: no suppression and no baseline has it. This is the answer that the runtime waits for.
        counts: bool,
        /// The finding, if it is a new one that counts: to be printed now. How often it is seen is not known yet.
        finding: Option<Box<Finding>>,
    },
    /// Something that the user should know.
    Note(String),
}

impl Event {
    /// The byte to answer on a socket, if any.
    pub fn answer(&self) -> Option<u8> {
        match self {
            Event::Race { counts: true, .. } => Some(b'1'),
            Event::Race { counts: false, .. } => Some(b'0'),
            Event::Note(_) => None,
        }
    }
}

/// Turns lines into findings.
pub struct Reporter {
    options: Options,
    symbols: Symbols,
    /// The process that speaks.
    process: Process,
    /// Those that have spoken before.
    others: FxHashMap<u32, Process>,
    /// Why the program could not be checked.
    unchecked: Option<String>,
    /// The first process.
    first: Option<u32>,
    findings: Vec<Kept>,
    by_id: FxHashMap<String, usize>,
    command: Vec<String>,
    notes: Vec<String>,
    stats: BTreeMap<String, u64>,
    /// Addresses in the stacks of all processes.
    pcs: usize,
    /// Threads, mappings and races of all processes.
    records: usize,
    bad_lines: u64,
    dropped: u64,
    exit: Option<Exit>,
}

struct Kept {
    finding: Finding,
    verdict: Verdict,
    /// How often each race of it was seen; one that was not counted yet was seen once.
    counts: u64,
}

/// What a process has told about itself.
#[derive(Default)]
pub(crate) struct Process {
    pid: u32,
    mappings: Mappings,
    stacks: FxHashMap<u64, Box<[u64]>>,
    threads: FxHashMap<u32, ThreadRecord>,
    /// The finding of each race, by its number.
    races: FxHashMap<u64, usize>,
    /// The race whose parts are being told.
    open: Option<Race>,
}

/// A thread, as told.
pub(crate) struct ThreadRecord {
    pub tid: Option<u32>,
    pub parent: Option<u32>,
    pub stack: Option<u64>,
    pub name: String,
}

/// A race, as told.
pub(crate) struct Race {
    pub number: u64,
    pub addr: u64,
    pub size: u64,
    pub accesses: Vec<(wire::Access, Vec<wire::Lock>)>,
    pub memory: wire::Memory,
}

impl Reporter {
    /// Has heard nothing yet.
    pub fn new(options: Options) -> Reporter {
        let places = places(&options);
        Reporter {
            options,
            symbols: Symbols::new(places),
            process: Process::default(),
            others: FxHashMap::default(),
            unchecked: None,
            first: None,
            findings: Vec::new(),
            by_id: FxHashMap::default(),
            command: Vec::new(),
            notes: Vec::new(),
            stats: BTreeMap::new(),
            pcs: 0,
            records: 0,
            bad_lines: 0,
            dropped: 0,
            exit: None,
        }
    }

    /// Takes the next line, without its newline.
    pub fn line(&mut self, line: &str) -> Option<Event> {
        match wire::parse(line) {
            Ok(record) => self.record(record),
            Err(wire::Malformed) => {
                self.bad_lines += 1;
                None
            }
        }
    }

    /// How many findings count so far.
    pub fn count(&self) -> u64 {
        let reported = |kept: &&Kept| kept.verdict == Verdict::Reported;
        self.findings.iter().filter(reported).count() as u64
    }

    /// How the first process said that it ends.
    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// Why the program could not be checked, if it said so.
    pub fn unchecked(&self) -> Option<&str> {
        self.unchecked.as_deref()
    }

    /// The program was ended by a signal, as whoever waited for it knows. What to say of it, unless it was said.
    pub fn killed(&mut self, signal: u32, name: &str) -> Option<Event> {
        self.exit = Some(Exit::Signal(signal));
        self.note(format!(
            "the program was ended by signal {signal}{name}: this is what was found until then"
        ))
    }

    fn record(&mut self, record: Record) -> Option<Event> {
        match record {
            Record::Hello { version, pid } => {
                self.switch(pid);
                if version != deadheat_abi::wire::VERSION {
                    return self.note(format!(
                        "the program speaks version {version} to its reporter, which knows {}; build it again",
                        deadheat_abi::wire::VERSION
                    ));
                }
            }
            Record::Command(words) => {
                if self.command.is_empty() {
                    self.command = words;
                }
                let pid = self.process.pid;
                self.forget();
                self.process.pid = pid;
            }
            Record::Module(module) => {
                if self.room() {
                    let added = self.symbols.add(&mut self.process.mappings, module);
                    self.records -= usize::from(!added);
                }
            }
            Record::Stack { id, pcs } => self.stack(id, pcs),
            Record::Thread {
                id,
                tid,
                parent,
                stack,
                name,
            } => {
                if self.room() {
                    let thread = ThreadRecord {
                        tid,
                        parent,
                        stack,
                        name,
                    };
                    let known = self.process.threads.insert(id, thread).is_some();
                    self.records -= usize::from(known);
                }
            }
            Record::Race { number, addr, size } => {
                // One that was not ended is of no use.
                self.bad_lines += u64::from(self.process.open.is_some());
                self.process.open = Some(Race {
                    number,
                    addr,
                    size,
                    accesses: Vec::new(),
                    memory: wire::Memory::Unknown,
                });
            }
            Record::Access(access) => match &mut self.process.open {
                Some(race) if race.accesses.len() < 2 => race.accesses.push((access, Vec::new())),
                _ => self.bad_lines += 1,
            },
            Record::Lock(lock) => match self
                .process
                .open
                .as_mut()
                .and_then(|race| race.accesses.last_mut())
            {
                Some((_, locks)) if locks.len() < MAX_LOCKS => locks.push(lock),
                Some(_) => self.dropped += 1,
                None => self.bad_lines += 1,
            },
            Record::Memory(memory) => match &mut self.process.open {
                Some(race) => race.memory = memory,
                None => self.bad_lines += 1,
            },
            Record::End { number } => {
                let race = self.process.open.take_if(|race| race.number == number);
                match race {
                    Some(race) if !race.accesses.is_empty() => return Some(self.race(&race)),
                    _ => self.bad_lines += 1,
                }
            }
            Record::Count { number, times } => {
                if let Some(&place) = self.process.races.get(&number) {
                    let counts = &mut self.findings[place].counts;
                    *counts = counts.saturating_add(times.saturating_sub(1));
                }
            }
            Record::Loss(text) => return self.note(text),
            Record::Unchecked(why) => self.unchecked = Some(why),
            Record::Stat { name, number } => {
                if self.options.stats && (self.stats.len() < MAX_STATS || self.stats.contains_key(&name)) {
                    let sum = self.stats.entry(name).or_default();
                    *sum = sum.saturating_add(number);
                }
            }
            Record::Exit(exit) => {
                if self.first.is_none_or(|first| first == self.process.pid) {
                    self.exit = Some(exit);
                }
            }
            Record::Unknown => {}
        }
        None
    }

    /// Another process speaks, or the same goes on.
    fn switch(&mut self, pid: u32) {
        self.first.get_or_insert(pid);
        if pid == self.process.pid {
            return;
        }
        let next = self.others.remove(&pid).unwrap_or(Process {
            pid,
            ..Process::default()
        });
        let before = std::mem::replace(&mut self.process, next);
        if self.others.len() < MAX_PROCESSES {
            self.others.insert(before.pid, before);
        } else {
            self.account(&before);
            self.dropped += 1;
        }
    }

    /// The process that speaks is another program now.
    fn forget(&mut self) {
        self.bad_lines += u64::from(self.process.open.is_some());
        let before = std::mem::take(&mut self.process);
        self.account(&before);
    }

    /// What a process took is free again.
    fn account(&mut self, gone: &Process) {
        self.pcs -= gone.stacks.values().map(|pcs| pcs.len()).sum::<usize>();
        self.records -= gone.threads.len() + gone.mappings.len() + gone.races.len();
    }

    /// Whether there is room for one more record. If so, it counts.
    fn room(&mut self) -> bool {
        let room = self.records < MAX_RECORDS;
        self.records += usize::from(room);
        self.dropped += u64::from(!room);
        room
    }

    fn stack(&mut self, id: u64, pcs: Vec<u64>) {
        let before = self.process.stacks.get(&id).map_or(0, |pcs| pcs.len());
        let total = self.pcs - before + pcs.len();
        if total <= MAX_PCS {
            self.pcs = total;
            self.process.stacks.insert(id, pcs.into());
        } else {
            self.dropped += 1;
        }
    }

    fn race(&mut self, race: &Race) -> Event {
        let again = match self.options.again.as_str() {
            "" => self.own_command(),
            again => again.to_owned(),
        };
        let builder = Builder {
            process: &self.process,
            symbols: &mut self.symbols,
        };
        let finding = builder.finding(race, &again);
        let next = self.findings.len();
        let place = *self.by_id.entry(finding.id.clone()).or_insert(next);
        if next < MAX_FINDINGS && self.room() {
            let known = self.process.races.insert(race.number, place).is_some();
            self.records -= usize::from(known);
        }
        if let Some(kept) = self.findings.get_mut(place) {
            kept.counts = kept.counts.saturating_add(1);
            return Event::Race {
                counts: kept.verdict == Verdict::Reported,
                finding: None,
            };
        }
        let verdict = self.options.judge.verdict(&finding);
        let counts = verdict == Verdict::Reported;
        if next >= MAX_FINDINGS {
            self.by_id.remove(&finding.id);
            self.dropped += 1;
            return Event::Race {
                counts,
                finding: None,
            };
        }
        self.findings.push(Kept {
            finding: finding.clone(),
            verdict,
            counts: 1,
        });
        Event::Race {
            counts,
            finding: counts.then(|| Box::new(finding)),
        }
    }

    /// What to say of modules in which places were found that have no line.
    fn bare_modules(&self) -> Vec<String> {
        let accesses = || self.findings.iter().flat_map(|kept| &kept.finding.accesses);
        // The compiler leaves single places without a line.
        let has_lines = |module: &str| {
            let mut frames = accesses().flat_map(|access| &access.frames);
            frames.any(|frame| frame.module.as_deref() == Some(module) && frame.file.is_some())
        };
        let mut bare: Vec<&str> = accesses()
            .filter_map(|access| access.frames.first())
            .filter(|frame| frame.file.is_none())
            .filter_map(|frame| frame.module.as_deref())
            .collect();
        bare.sort_unstable();
        bare.dedup();
        bare.retain(|module| !has_lines(module));
        let say = |module: &&str| {
            format!(
                "{module} has no debug information: build it with `-g` and do not strip it, or put a file of debug \
                 information where debuggers find it, to see functions and lines"
            )
        };
        bare.iter().take(MAX_NOTES).map(say).collect()
    }

    fn note(&mut self, text: String) -> Option<Event> {
        if self.notes.len() >= MAX_NOTES || self.notes.contains(&text) {
            return None;
        }
        self.notes.push(text.clone());
        Some(Event::Note(text))
    }

    /// How the program was started, as a shell would take it.
    fn own_command(&self) -> String {
        let words = self.command.iter().map(|word| crate::quote(word));
        words.collect::<Vec<_>>().join(" ")
    }

    /// The lines have ended.
    pub fn finish(mut self) -> Report {
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(self.symbols.notes().iter().take(MAX_NOTES).cloned());
        let ignored = self.options.judge.suppressions.ignored();
        if ignored > 0 {
            notes.push(format!(
                "{ignored} suppressions are for deadlocks, leaked threads and the like, which are not looked for"
            ));
        }
        let killed = self.first.is_some() && self.exit.is_none();
        if killed {
            notes.push("the program ended without a word: killed, or replaced by another program".to_owned());
        }
        notes.extend(self.bare_modules());
        // Nobody ended these.
        let open = self.others.values().chain([&self.process]);
        self.bad_lines += open.filter(|process| process.open.is_some()).count() as u64;
        if self.bad_lines > 0 {
            notes.push(format!(
                "{} lines of the program could not be understood: reports may be missing or incomplete",
                self.bad_lines
            ));
        }
        if self.dropped > 0 {
            notes.push(format!(
                "the program told more than the reporter keeps: {} records were left out",
                self.dropped
            ));
        }
        let mut summary = Summary {
            partial: killed || self.bad_lines > 0 || self.dropped > 0,
            events: self.stats.get("events").copied().unwrap_or_default(),
            notes,
            ..Summary::default()
        };
        let command = match self.options.command.as_str() {
            "" => self.own_command(),
            command => command.to_owned(),
        };
        let mut races = Vec::new();
        for mut kept in self.findings {
            kept.finding.count = kept.counts;
            summary.occurrences = summary.occurrences.saturating_add(kept.counts);
            match kept.verdict {
                Verdict::Reported => races.push(kept.finding),
                Verdict::Suppressed => summary.suppressed += 1,
                Verdict::Known => summary.known += 1,
                Verdict::NotAsked => {}
            }
        }
        summary.races = races.len() as u64;
        summary.stats = self.stats;
        Report {
            tool: "deadheat".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            races,
            summary,
        }
    }
}
