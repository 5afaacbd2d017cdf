//! Tokens of one line, with columns for errors.

use super::is_bare;
use crate::{Error, Format, Result, source::syntax};
use std::borrow::Cow;

/// A place in a line.
pub(super) struct Cursor<'a> {
    line: &'a str,
    number: u64,
    at: usize,
}

/// A name as written.
pub(super) struct Name<'a> {
    pub(super) text: Cow<'a, str>,
    /// Quoted names are never taken for numbers or keywords.
    pub(super) quoted: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a str, number: u64) -> Cursor<'a> {
        Cursor { line, number, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    pub(super) fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Whether the event is over: at the end of the line, a semicolon or a comment.
    pub(super) fn at_end(&self) -> bool {
        matches!(self.peek(), None | Some(';' | '#'))
    }

    /// Steps over `c` if it is next.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    pub(super) fn expect(&mut self, c: char, what: &str) -> Result<()> {
        if self.eat(c) {
            Ok(())
        } else {
            Err(self.expected(what))
        }
    }

    /// An error that says what was expected here and what stands here instead.
    pub(super) fn expected(&self, what: &str) -> Error {
        let found: String = self
            .rest()
            .chars()
            .take_while(|c| !c.is_whitespace() && *c != ';')
            .take(24)
            .collect();
        let found = match (found.as_str(), self.peek()) {
            ("", None) => "the line ends".to_owned(),
            ("", _) => "there is nothing".to_owned(),
            (found, _) => format!("found `{found}`"),
        };
        self.error(format!("expected {what}, but {found}"))
    }

    pub(super) fn error(&self, message: String) -> Error {
        let column = self.line[..self.at].chars().count() as u64 + 1;
        syntax(Format::Text, self.number, Some(column), message)
    }

    /// The position, to go back to for an error about what was just read.
    pub(super) fn mark(&self) -> usize {
        self.at
    }

    pub(super) fn rewind(&mut self, mark: usize) {
        self.at = mark;
    }

    pub(super) fn error_at(&mut self, mark: usize, message: String) -> Error {
        self.at = mark;
        self.error(message)
    }

    /// A name, bare or in quotes.
    pub(super) fn name(&mut self, what: &str) -> Result<Name<'a>> {
        if self.peek() == Some('"') {
            return self.quoted();
        }
        let rest = self.rest();
        let end = rest.find(|c| !is_bare(c)).unwrap_or(rest.len());
        if end == 0 {
            return Err(self.expected(what));
        }
        self.at += end;
        Ok(Name {
            text: Cow::Borrowed(&rest[..end]),
            quoted: false,
        })
    }

    fn quoted(&mut self) -> Result<Name<'a>> {
        let start = self.mark();
        self.at += 1;
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    return Ok(Name {
                        text: Cow::Owned(text),
                        quoted: true,
                    });
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, c @ ('"' | '\\'))) => text.push(c),
                    _ => {
                        self.at += at;
                        return Err(
                            self.error("expected one of \\\" \\\\ \\n \\r in a quoted name".to_owned())
                        );
                    }
                },
                c => text.push(c),
            }
        }
        Err(self.error_at(start, "this quoted name has no closing quote".to_owned()))
    }

    /// A decimal or hexadecimal number.
    pub(super) fn number(&mut self, what: &str) -> Result<u64> {
        let rest = self.rest();
        let (digits, radix) = match rest.strip_prefix("0x") {
            Some(digits) => (digits, 16),
            None => (rest, 10),
        };
        let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
        if end == 0 {
            return Err(self.expected(what));
        }
        let value = u64::from_str_radix(&digits[..end], radix)
            .map_err(|_| self.error(format!("{what} is too large: it does not fit 64 bits")))?;
        self.at += rest.len() - digits.len() + end;
        Ok(value)
    }

    /// A number that fits 32 bits.
    pub(super) fn number32(&mut self, what: &str) -> Result<u32> {
        let mark = self.mark();
        let value = self.number(what)?;
        u32::try_from(value)
            .map_err(|_| self.error_at(mark, format!("{what} is too large: it does not fit 32 bits")))
    }
}
