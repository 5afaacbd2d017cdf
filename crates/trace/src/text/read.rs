//! Reads a text trace from a stream.

use super::Parser;
use crate::lines::{Lines, trim_eol};
use crate::source::syntax;
use crate::{Format, Place, Position, Result, Source};
use deadheat_event::{Event, Tables};
use std::io::Read;

/// A text trace to read.
pub struct Reader<R> {
    lines: Lines<R>,
    parser: Parser,
    /// The line of each event of the last block.
    places: Vec<u64>,
}

impl<R: Read> Reader<R> {
    /// Reads from `input`, which is `total` bytes long if that is known.
    pub fn new(input: R, total: Option<u64>) -> Reader<R> {
        Reader {
            lines: Lines::new(input, Format::Text, total),
            parser: Parser::new(),
            places: Vec::new(),
        }
    }
}

impl<R: Read> Source for Reader<R> {
    fn next_block(&mut self, out: &mut Vec<Event>) -> Result<bool> {
        out.clear();
        self.places.clear();
        while out.is_empty() {
            let Some((chunk, first)) = self.lines.next_chunk()? else {
                return Ok(false);
            };
            let mut number = first;
            for line in chunk.split_inclusive(|&byte| byte == b'\n') {
                let text = std::str::from_utf8(trim_eol(line))
                    .map_err(|_| syntax(Format::Text, number, None, "this line is not valid UTF-8"))?;
                self.parser.line(text, number, out)?;
                self.places.resize(out.len(), number);
                number += 1;
            }
            self.lines.advance(number - first);
        }
        Ok(true)
    }

    fn tables(&self) -> &Tables {
        self.parser.tables()
    }

    fn position(&self) -> Position {
        self.lines.position()
    }

    fn locate(&self, index: usize) -> Place {
        Place::Line(self.places.get(index).copied().unwrap_or(0))
    }
}
