//! Reads text formats in large chunks and cuts them into lines. Bounded: a line that is absurdly long is an error.

use crate::{Error, Format, Place, Position, Result, Source, source::syntax};
use deadheat_event::{Event, Tables};
use std::io::Read;

/// How much is read at a time.
const CHUNK: usize = 256 << 10;

/// The longest line that is accepted.
pub(crate) const MAX_LINE: usize = 16 << 20;

/// A file as a sequence of chunks of whole lines.
pub(crate) struct Lines<R> {
    input: R,
    format: Format,
    buffer: Vec<u8>,
    /// What of `buffer` has been given out.
    taken: usize,
    /// What of `buffer` has been read.
    filled: usize,
    at_end: bool,
    /// The first line of the chunk given out next.
    line: u64,
    done: u64,
    total: Option<u64>,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(input: R, format: Format, total: Option<u64>) -> Lines<R> {
        Lines {
            input,
            format,
            buffer: Vec::new(),
            taken: 0,
            filled: 0,
            at_end: false,
            line: 1,
            done: 0,
            total,
        }
    }

    pub(crate) fn position(&self) -> Position {
        Position {
            done: self.done,
            total: self.total,
        }
    }

    /// The next chunk, which ends with a newline unless it is the last, and the number of its first line.
    pub(crate) fn next_chunk(&mut self) -> Result<Option<(&[u8], u64)>> {
        let rest = self.filled - self.taken;
        self.buffer.copy_within(self.taken..self.filled, 0);
        (self.taken, self.filled) = (0, rest);
        // What was left over had no newline in it.
        let mut searched = rest;
        loop {
            if let Some(at) = self.buffer[searched..self.filled]
                .iter()
                .rposition(|&byte| byte == b'\n')
            {
                self.taken = searched + at + 1;
                break;
            }
            searched = self.filled;
            if self.at_end {
                self.taken = self.filled;
                break;
            }
            if self.filled > MAX_LINE {
                let (line, message) = (self.line, format!("this line is longer than {MAX_LINE} bytes"));
                return Err(syntax(self.format, line, None, message));
            }
            if self.buffer.len() < self.filled + CHUNK {
                self.buffer.resize(self.filled + CHUNK, 0);
            }
            match self.input.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.at_end = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::from(error)),
            }
        }
        if self.taken == 0 {
            return Ok(None);
        }
        let first = self.line;
        self.done += self.taken as u64;
        Ok(Some((&self.buffer[..self.taken], first)))
    }

    /// To be called with the number of lines in the chunk just handled.
    pub(crate) fn advance(&mut self, lines: u64) {
        self.line += lines;
    }
}

/// A line without its line feed and carriage return.
pub(crate) fn trim_eol(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// What the grammar of a line-based format makes of chunks of whole lines.
pub(crate) trait Grammar {
    const FORMAT: Format;

    /// Appends the events of a chunk whose first line has the number `line`, and returns how many lines it has. If
    /// lines and events do not go one for one, it also appends the line of each event to `places`. If a line is wrong,
    /// the events in front of it are good.
    fn chunk(&mut self, chunk: &[u8], line: u64, out: &mut Vec<Event>, places: &mut Vec<u64>) -> Result<u64>;

    /// Appends events that only the end of the file makes sure of.
    fn end(&mut self, out: &mut Vec<Event>) {
        let _ = out;
    }

    fn tables(&self) -> &Tables;
}

/// A [`Source`] over a line-based format.
pub(crate) struct LineReader<R, G> {
    lines: Lines<R>,
    grammar: G,
    /// The first line of the last block, and the line of each event where that is not enough.
    first: u64,
    places: Vec<u64>,
    /// What is wrong behind the events given out last.
    failed: Option<Error>,
    ended: bool,
}

impl<R: Read, G: Grammar> LineReader<R, G> {
    pub(crate) fn new(input: R, total: Option<u64>, grammar: G) -> LineReader<R, G> {
        let lines = Lines::new(input, G::FORMAT, total);
        LineReader {
            lines,
            grammar,
            first: 1,
            places: Vec::new(),
            failed: None,
            ended: false,
        }
    }

    fn fill(&mut self, out: &mut Vec<Event>) -> Result<()> {
        while out.is_empty() && !self.ended {
            self.places.clear();
            let Some((chunk, first)) = self.lines.next_chunk()? else {
                self.ended = true;
                self.grammar.end(out);
                self.places.resize(out.len(), self.first);
                return Ok(());
            };
            self.first = first;
            let lines = self.grammar.chunk(chunk, first, out, &mut self.places)?;
            self.lines.advance(lines);
        }
        Ok(())
    }
}

impl<R: Read, G: Grammar> Source for LineReader<R, G> {
    fn next_block(&mut self, out: &mut Vec<Event>) -> Result<bool> {
        out.clear();
        if let Err(error) = self.fill(out) {
            self.ended = true;
            self.failed = Some(error);
        }
        match self.failed.take_if(|_| out.is_empty()) {
            Some(error) => Err(error),
            None => Ok(!out.is_empty()),
        }
    }

    fn tables(&self) -> &Tables {
        self.grammar.tables()
    }

    fn position(&self) -> Position {
        self.lines.position()
    }

    fn locate(&self, index: usize) -> Place {
        Place::Line(
            self.places
                .get(index)
                .copied()
                .unwrap_or(self.first + index as u64),
        )
    }
}
