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
    pub witness: Option<serde_json::Value>,
    /// Number of the event at which it was first seen, counted from 0.
    pub event: u64,
    /// How often it was seen.
    pub count: u64,
    /// The command that shows it again.
    pub again: String,
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
}

/// Kinds of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Bytes of which no more is known.
    Memory,
    /// Elements of an array.
    Array,
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
    /// The thread, as [`Thread::id`].
    pub thread: u32,
    /// Read or write.
    pub op: Operation,
    /// Whether it was atomic.
    pub atomic: bool,
    /// Bytes of it that the other access touched too.
    pub size: Option<u64>,
    /// Where, innermost first. Empty if unknown.
    pub frames: Vec<Frame>,
    /// Locks held, where known.
    pub locks: Option<Vec<Lock>>,
}

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Leaves memory as it is.
    Read,
    /// Changes memory.
    Write,
}

impl Operation {
    /// `"read"` or `"write"`.
    pub fn as_str(self) -> &'static str {
        AccessKind::from(self).as_str()
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

impl From<Operation> for AccessKind {
    fn from(operation: Operation) -> AccessKind {
        match operation {
            Operation::Read => AccessKind::Read,
            Operation::Write => AccessKind::Write,
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
}

/// A lock, as the run named it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Its number.
    pub id: u64,
    /// Its name.
    pub name: Option<String>,
}

/// A thread that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its number.
    pub id: u32,
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
