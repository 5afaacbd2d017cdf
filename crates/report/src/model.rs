//! The report as plain data. Its JSON form is a contract: fields are added, never renamed or removed.

use deadheat_event::{AccessKind, Rank};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that one run of a command found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Always `deadheat`.
    pub tool: String,
    /// Its version.
    pub version: String,
    /// The command that made this report.
    pub command: String,
    /// The findings, confirmed races first.
    pub races: Vec<Finding>,
    /// Counts.
    pub summary: Summary,
}

/// Counts of a [`Report`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Findings in the report.
    pub races: u64,
    /// Of them, violations of the locking discipline that are not known to be races.
    #[serde(default)]
    pub unconfirmed: u64,
    /// Of them, predicted races whose accesses met when the program was run again. None if that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<u64>,
    /// Findings left out because a suppression matched.
    pub suppressed: u64,
    /// Findings left out because the baseline has them.
    #[serde(default)]
    pub known: u64,
    /// How often any of the findings, left out or not, was seen.
    #[serde(default)]
    pub occurrences: u64,
    /// Events analysed.
    pub events: u64,
    /// Whether not everything was analysed: the trace was cut off or damaged, memory ran short, or the analysis was
    /// told to halt.
    #[serde(default)]
    pub partial: bool,
    /// Wall-clock seconds, where measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Counters of the analysis, where asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stats: BTreeMap<String, u64>,
    /// What may have hidden a race or made a report poorer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One race, or one violation of the locking discipline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Names this pair of program locations in every run of the same program.
    pub id: String,
    /// `write-write`, `read-write` or `write-read`, the earlier access first; only one word where the earlier access is
    /// not known.
    pub kind: String,
    /// Whether happens-before leaves the accesses unordered. If not, only a locking discipline was broken.
    pub confirmed: bool,
    /// How likely an unconfirmed finding is to be a race: `unranked`, `low`, `medium` or `high`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<String>,
    /// Whether this is a race of another schedule than the observed one.
    pub predicted: bool,
    /// What both accesses touched.
    pub location: Location,
    /// The accesses, the earlier one first. One of them may be unknown.
    pub accesses: Vec<Access>,
    /// The threads of the accesses, and those that made them.
    #[serde(default)]
    pub threads: Vec<Thread>,
    /// The detector that found it.
    pub detector: String,
    /// The reordering that shows a predicted race.
    #[serde(default)]
    pub witness: Option<Witness>,
    /// What became of running the program again, steered toward the witness. None if that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// Number of the event of the trace at which it was first seen, counted from 0. None if a running program reported it.
    #[serde(default)]
    pub event: Option<u64>,
    /// How often it was seen.
    pub count: u64,
    /// The command that shows it again.
    pub again: String,
    /// What is likely wrong, where it is obvious.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A schedule that ends with two accesses side by side. Events are those of the trace, by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// Everything in front of this event happens as observed.
    pub start: u64,
    /// Then these happen, in this order. The last two are the accesses.
    pub schedule: Vec<u64>,
    /// Those of them that say why the order is possible: what people read.
    #[serde(default)]
    pub steps: Vec<Step>,
}

/// How steered runs of the program came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// Whether the accesses met: both threads stood in front of them at once, on bytes in common.
    pub met: bool,
    /// How often the program was run.
    pub runs: u32,
    /// How long that took.
    pub seconds: f64,
    /// How they met, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
}

/// One event of a [`Witness`], in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its number.
    pub event: u64,
    /// The thread, by number.
    pub thread: u32,
    /// The thread's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it does, as in `write x`.
    pub does: String,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
}

/// A piece of memory or of an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// First byte, as hexadecimal text: JSON's numbers end at 2⁵³.
    pub address: Option<String>,
    /// Bytes that both accesses touched; unknown for array elements.
    pub size: Option<u64>,
    /// What kind of memory.
    pub what: What,
    /// The variable or array, with offset or index.
    pub name: Option<String>,
    /// The elements, for an array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<Elements>,
    /// Where it was allocated.
    #[serde(default)]
    pub allocated_at: Vec<Frame>,
    /// The heap block, mapping or variable that these bytes are part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<Block>,
    /// The thread that allocated it, or whose stack or thread-local memory it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
    /// Where a global is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<Frame>,
}

/// A heap block, mapping or variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// First byte, as hexadecimal text.
    pub address: String,
    /// Bytes.
    pub size: u64,
    /// Where in it the location begins.
    #[serde(default)]
    pub offset: u64,
    /// Whether it was freed when the race was seen.
    #[serde(default, skip_serializing_if = "is_false")]
    pub freed: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Kinds of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Bytes of which no more is known.
    Memory,
    /// Elements of an array.
    Array,
    /// A block from `malloc`, `new` and the like.
    Heap,
    /// A global or static variable.
    Global,
    /// A thread's stack.
    Stack,
    /// Thread-local variables.
    Tls,
    /// Memory from `mmap`.
    Map,
}

/// The elements `first, first + stride, …, last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elements {
    /// The smallest index.
    pub first: u64,
    /// The largest.
    pub last: u64,
    /// The distance between neighbours.
    pub stride: u32,
}

/// One of the accesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// The thread, as [`Thread::id`], where known.
    pub thread: Option<u32>,
    /// Read, write or free.
    pub op: Operation,
    /// Whether it was atomic.
    pub atomic: bool,
    /// First byte, as hexadecimal text, where it may differ from the location's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Bytes of it; in a trace, those that the other access touched too.
    pub size: Option<u64>,
    /// Where, innermost first. Empty if unknown.
    pub frames: Vec<Frame>,
    /// Other places that the innermost one may be: one check was made for accesses at all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Frame>,
    /// Whether there are more of them than are listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub also_more: bool,
    /// Locks held, where known.
    pub locks: Option<Vec<Lock>>,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Leaves memory as it is.
    Read,
    /// Changes memory.
    Write,
    /// Gives memory back.
    Free,
}

impl Operation {
    /// `"read"`, `"write"` or `"free"`.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Free => "free",
        }
    }
}

impl From<AccessKind> for Operation {
    fn from(kind: AccessKind) -> Operation {
        match kind {
            AccessKind::Read => Operation::Read,
            AccessKind::Write => Operation::Write,
        }
    }
}

/// A program location.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The function.
    pub function: Option<String>,
    /// The file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// The column.
    pub column: Option<u32>,
    /// Whether its code was put into that of the next frame.
    #[serde(default, skip_serializing_if = "is_false")]
    pub inlined: bool,
    /// The executable or library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The address in the module as its own symbol table counts, as hexadecimal text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// How far behind the function's start, where the line is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function_offset: Option<u64>,
    /// Whose code it is.
    #[serde(default, skip_serializing_if = "Role::is_user")]
    pub role: Role,
}

/// Whose code a frame is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user's, or that of a library the user chose.
    #[default]
    User,
    /// The language's own library.
    Std,
    /// What starts threads and the program.
    Start,
    /// Our runtime.
    Runtime,
}

impl Role {
    /// Whether it is the user's code.
    pub fn is_user(&self) -> bool {
        *self == Role::User
    }
}

/// A lock, as the run named it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Its number.
    pub id: u64,
    /// Its name.
    pub name: Option<String>,
    /// `mutex`, `rwlock-read`, `rwlock-write`, `spin` and so on, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Where it is, as hexadecimal text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where it was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_at: Vec<Frame>,
}

/// A thread that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its number.
    pub id: u32,
    /// Its number in the operating system, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tid: Option<u32>,
    /// Its name.
    pub name: Option<String>,
    /// The thread that made it, where known.
    pub created_by: Option<u32>,
    /// Where it was made.
    #[serde(default)]
    pub created_at: Vec<Frame>,
}

/// The word for a rank.
pub(crate) fn rank_word(rank: Rank) -> &'static str {
    match rank {
        Rank::Unranked => "unranked",
        Rank::Low => "low",
        Rank::Medium => "medium",
        Rank::High => "high",
    }
}
