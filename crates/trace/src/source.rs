//! One way to read and one way to write, whatever the format.

use crate::{Error, Result};
use deadheat_event::{Event, Tables};
use std::fmt;
use std::path::Path;

/// The formats that a trace can come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// deadheat's own binary format (`.dht`).
    Dht,
    /// RAPID's text format (`.std`).
    Std,
    /// What RoadRunner's print tool writes (`.rr`). Read only.
    RoadRunner,
    /// The one-event-a-line format for people and tests (`.txt`).
    Text,
}

impl Format {
    /// The format that a file's name promises.
    pub fn of_path(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "dht" => Some(Format::Dht),
            "std" => Some(Format::Std),
            "rr" => Some(Format::RoadRunner),
            "txt" | "trace" => Some(Format::Text),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Dht => "dht",
            Format::Std => "STD",
            Format::RoadRunner => "RoadRunner",
            Format::Text => "text",
        })
    }
}

/// How far a reader has come, for progress bars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Bytes of the file behind it.
    pub done: u64,
    /// Bytes of the file, where they are known.
    pub total: Option<u64>,
}

/// Where in a file an event stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of text, counted from 1.
    Line(u64),
    /// A binary block that starts at this byte of the file.
    Offset(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Offset(offset) => write!(f, "block at byte {offset}"),
        }
    }
}

/// What was found out about a trace that ends before it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Byte of the file up to which everything is good.
    pub offset: u64,
    /// Events in front of it.
    pub events: u64,
    /// What is wrong behind it.
    pub reason: String,
}

impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Truncation {
            offset,
            events,
            reason,
        } = self;
        write!(
            f,
            "the trace is truncated at byte {offset} ({reason}); recovered {events} events"
        )
    }
}

/// A trace to read, block by block.
pub trait Source {
    /// Replaces the contents of `out` with the next events. Returns `false`, with `out` empty, at the end.
    ///
    /// An error comes after all the good events in front of it have been given. After it the source is at its end.
    fn next_block(&mut self, out: &mut Vec<Event>) -> Result<bool>;

    /// What the ids of the events read so far stand for. More may come with later blocks.
    fn tables(&self) -> &Tables;

    /// How far it has come.
    fn position(&self) -> Position;

    /// Where the event with this index in the last block stands.
    fn locate(&self, index: usize) -> Place;

    /// Set after the end if the file stopped early (a crash of the traced program) and only what was whole was read.
    fn truncation(&self) -> Option<&Truncation> {
        None
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn next_block(&mut self, out: &mut Vec<Event>) -> Result<bool> {
        (**self).next_block(out)
    }
    fn tables(&self) -> &Tables {
        (**self).tables()
    }
    fn position(&self) -> Position {
        (**self).position()
    }
    fn locate(&self, index: usize) -> Place {
        (**self).locate(index)
    }
    fn truncation(&self) -> Option<&Truncation> {
        (**self).truncation()
    }
}

/// A trace to write.
pub trait Sink {
    /// Appends events. `tables` explains their ids; it only grows from call to call.
    fn write(&mut self, events: &[Event], tables: &Tables) -> Result<()>;

    /// Writes what is left. Without it the trace counts as truncated.
    fn finish(&mut self, tables: &Tables) -> Result<()>;
}

/// Reads all of a source into memory.
pub fn read_all(source: &mut dyn Source) -> Result<(Vec<Event>, Tables)> {
    let (mut all, mut block) = (Vec::new(), Vec::new());
    while source.next_block(&mut block)? {
        all.append(&mut block);
    }
    Ok((all, source.tables().clone()))
}

/// Copies a trace, and returns the number of its events.
pub fn copy(source: &mut dyn Source, sink: &mut dyn Sink) -> Result<u64> {
    let (mut count, mut block) = (0, Vec::new());
    while source.next_block(&mut block)? {
        count += block.len() as u64;
        sink.write(&block, source.tables())?;
    }
    sink.finish(source.tables())?;
    Ok(count)
}

pub(crate) fn syntax(format: Format, line: u64, column: Option<u64>, message: impl Into<String>) -> Error {
    Error::Syntax {
        format,
        line,
        column,
        message: message.into(),
    }
}
