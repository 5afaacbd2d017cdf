//! Races of a running program: lines of the runtime in, findings out.
//!
//! ```text
//! runtime ──wire lines──▶ Reporter ──▶ Event (a finding to print now, an answer for the runtime)
//!                             └──────▶ Report (at the end)
//! ```
//!
//! `deadheat check` and the reporter process that a program starts by itself both feed a [`Reporter`]. Races are the same
//! finding if their accesses stand at the same two places: function, file, line and column of the frames from the
//! innermost to the first one of the user's own code, in either order, with the same kinds of access.
//!
//! Nothing in the lines is trusted: bad ones are skipped and counted, and every table has a limit. What is lost to a limit
//! is said in the report's notes.

mod build;
mod hint;
mod lines;
pub(crate) mod wire;

use crate::model::{Finding, Report, Summary};
use crate::symbols::{Places, Symbols};
use crate::{Judge, Verdict};
use build::Builder;
pub use lines::Lines;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::PathBuf;
pub use wire::Exit;
use wire::Record;

/// Stacks take no more than this many addresses in all.
const MAX_PCS: usize = 1 << 24;
/// Threads that are remembered.
const MAX_THREADS: usize = 1 << 20;
/// Findings that are kept.
const MAX_FINDINGS: usize = 1 << 16;
/// Races whose counts are kept.
const MAX_RACES: usize = 1 << 20;
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
    tables: Tables,
    /// The race whose parts are being told.
    open: Option<Race>,
    findings: Vec<Kept>,
    by_id: FxHashMap<String, usize>,
    /// The finding of each race of the present process, by its number.
    races: FxHashMap<u64, usize>,
    command: Option<Vec<String>>,
    process_ended: bool,
    notes: Vec<String>,
    stats: BTreeMap<String, u64>,
    bad_lines: u64,
    dropped: u64,
    exit: Option<Exit>,
    started: bool,
}

struct Kept {
    finding: Finding,
    verdict: Verdict,
    /// How often each race of it was seen; one that was not counted yet was seen once.
    counts: u64,
}

/// What the process has told about itself.
pub(crate) struct Tables {
    pub symbols: Symbols,
    pub stacks: FxHashMap<u64, Box<[u64]>>,
    pub threads: FxHashMap<u32, ThreadRecord>,
    pcs: usize,
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
        let places = Places {
            base: options.directory.clone(),
            debug: options.debug_directories.clone(),
        };
        Reporter {
            options,
            tables: Tables {
                symbols: Symbols::new(places),
                stacks: FxHashMap::default(),
                threads: FxHashMap::default(),
                pcs: 0,
            },
            open: None,
            findings: Vec::new(),
            by_id: FxHashMap::default(),
            races: FxHashMap::default(),
            command: None,
            process_ended: true,
            notes: Vec::new(),
            stats: BTreeMap::new(),
            bad_lines: 0,
            dropped: 0,
            exit: None,
            started: false,
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

    /// How the program said that it ends.
    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    fn record(&mut self, record: Record) -> Option<Event> {
        match record {
            Record::Hello { version } => {
                self.begin_process();
                if version != deadheat_abi::wire::VERSION {
                    return self.note(format!(
                        "the program speaks version {version} to its reporter, which knows {}; build it again",
                        deadheat_abi::wire::VERSION
                    ));
                }
            }
            Record::Command(words) => {
                self.command.get_or_insert(words);
            }
            Record::Module(module) => {
                let kept = self.tables.symbols.add(module);
                self.dropped += u64::from(!kept);
            }
            Record::Stack { id, pcs } => self.stack(id, pcs),
            Record::Thread {
                id,
                tid,
                parent,
                stack,
                name,
            } => {
                let known = self.tables.threads.contains_key(&id);
                if known || self.tables.threads.len() < MAX_THREADS {
                    let thread = ThreadRecord {
                        tid,
                        parent,
                        stack,
                        name,
                    };
                    self.tables.threads.insert(id, thread);
                } else {
                    self.dropped += 1;
                }
            }
            Record::Race { number, addr, size } => {
                // One that was not ended is of no use.
                self.bad_lines += u64::from(self.open.is_some());
                self.open = Some(Race {
                    number,
                    addr,
                    size,
                    accesses: Vec::new(),
                    memory: wire::Memory::Unknown,
                });
            }
            Record::Access(access) => match &mut self.open {
                Some(race) if race.accesses.len() < 2 => race.accesses.push((access, Vec::new())),
                _ => self.bad_lines += 1,
            },
            Record::Lock(lock) => match self.open.as_mut().and_then(|race| race.accesses.last_mut()) {
                Some((_, locks)) if locks.len() < MAX_LOCKS => locks.push(lock),
                Some(_) => self.dropped += 1,
                None => self.bad_lines += 1,
            },
            Record::Memory(memory) => match &mut self.open {
                Some(race) => race.memory = memory,
                None => self.bad_lines += 1,
            },
            Record::End { number } => {
                let race = self.open.take_if(|race| race.number == number);
                match race {
                    Some(race) if !race.accesses.is_empty() => return Some(self.race(&race)),
                    _ => self.bad_lines += 1,
                }
            }
            Record::Count { number, times } => {
                if let Some(&place) = self.races.get(&number) {
                    let counts = &mut self.findings[place].counts;
                    *counts = counts.saturating_add(times.saturating_sub(1));
                }
            }
            Record::Loss(text) => return self.note(text),
            Record::Stat { name, number } => {
                if self.options.stats && (self.stats.len() < MAX_STATS || self.stats.contains_key(&name)) {
                    let sum = self.stats.entry(name).or_default();
                    *sum = sum.saturating_add(number);
                }
            }
            Record::Exit(exit) => {
                self.exit = Some(exit);
                self.process_ended = true;
            }
            Record::Unknown => {}
        }
        None
    }

    fn begin_process(&mut self) {
        if self.started && !self.process_ended {
            // A process that replaced itself by `execve` tells of no end.
            self.process_ended = true;
        }
        self.started = true;
        self.process_ended = false;
        self.open = None;
        self.races.clear();
        self.tables.symbols.clear();
        self.tables.stacks.clear();
        self.tables.threads.clear();
        self.tables.pcs = 0;
    }

    fn stack(&mut self, id: u64, pcs: Vec<u64>) {
        let before = self.tables.stacks.get(&id).map_or(0, |pcs| pcs.len());
        let total = self.tables.pcs - before + pcs.len();
        if total <= MAX_PCS {
            self.tables.pcs = total;
            self.tables.stacks.insert(id, pcs.into());
        } else {
            self.dropped += 1;
        }
    }

    fn race(&mut self, race: &Race) -> Event {
        let again = match self.options.again.as_str() {
            "" => self.own_command(),
            again => again.to_owned(),
        };
        let finding = Builder::new(&mut self.tables).finding(race, &again);
        let next = self.findings.len();
        let place = *self.by_id.entry(finding.id.clone()).or_insert(next);
        if self.races.len() < MAX_RACES {
            self.races.insert(race.number, place);
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
            self.races.remove(&race.number);
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

    fn note(&mut self, text: String) -> Option<Event> {
        if self.notes.len() >= MAX_NOTES || self.notes.contains(&text) {
            return None;
        }
        self.notes.push(text.clone());
        Some(Event::Note(text))
    }

    /// How the program was started, as a shell would take it.
    fn own_command(&self) -> String {
        let words = self.command.iter().flatten().map(|word| crate::quote(word));
        words.collect::<Vec<_>>().join(" ")
    }

    /// The lines have ended.
    pub fn finish(mut self) -> Report {
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(self.tables.symbols.notes().iter().take(MAX_NOTES).cloned());
        let killed = self.started && !self.process_ended;
        if killed {
            notes.push("the program was killed before it could say all it had found".to_owned());
        }
        if self.open.is_some() {
            self.bad_lines += 1;
        }
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
