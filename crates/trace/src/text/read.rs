//! Reads a text trace from a stream.

use super::Parser;
use crate::lines::{Grammar, LineReader, trim_eol};
use crate::source::syntax;
use crate::{Format, Result, Source};
use deadheat_event::{Event, Tables};
use std::io::Read;

/// Reads a text trace from `input`, which is `total` bytes long if that is known.
pub fn read<R: Read>(input: R, total: Option<u64>) -> impl Source + use<R> {
    LineReader::new(input, total, Parser::new())
}

impl Grammar for Parser {
    const FORMAT: Format = Format::Text;

    fn chunk(&mut self, chunk: &[u8], line: u64, out: &mut Vec<Event>, places: &mut Vec<u64>) -> Result<u64> {
        let mut number = line;
        for line in chunk.split_inclusive(|&byte| byte == b'\n') {
            let text = std::str::from_utf8(trim_eol(line))
                .map_err(|_| syntax(Format::Text, number, None, "this line is not valid UTF-8"))?;
            let parsed = self.line(text, number, out);
            places.resize(out.len(), number);
            parsed?;
            number += 1;
        }
        Ok(number - line)
    }

    fn tables(&self) -> &Tables {
        Parser::tables(self)
    }
}
