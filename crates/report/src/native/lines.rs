//! Lines from a channel, none longer than a limit.

use std::io::{self, BufRead};

/// Longer lines are skipped. The longest of ours is a stack.
const LONGEST: usize = 1 << 20;

/// Reads lines one at a time into one buffer.
#[derive(Debug)]
pub struct Lines<R> {
    from: R,
    buffer: Vec<u8>,
    text: String,
}

impl<R: BufRead> Lines<R> {
    /// Reads from `from`.
    pub fn new(from: R) -> Lines<R> {
        Lines {
            from,
            buffer: Vec::new(),
            text: String::new(),
        }
    }

    /// The next line without its newline, or None at the end. A line that is too long comes back empty, which no reader
    /// takes for a record; bytes that are no UTF-8 are replaced. A last line without a newline was cut off: it comes back
    /// empty, too.
    pub fn next_line(&mut self) -> io::Result<Option<&str>> {
        self.buffer.clear();
        let (mut any, mut too_long) = (false, false);
        let complete = loop {
            let available = match self.from.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                break false;
            }
            any = true;
            let end = available.iter().position(|&byte| byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            too_long |= self.buffer.len() + part.len() > LONGEST;
            if !too_long {
                self.buffer.extend_from_slice(part);
            }
            let used = end.map_or(available.len(), |end| end + 1);
            self.from.consume(used);
            if end.is_some() {
                break true;
            }
        };
        if !any {
            return Ok(None);
        }
        self.text.clear();
        if complete && !too_long {
            self.text.push_str(&String::from_utf8_lossy(&self.buffer));
        }
        Ok(Some(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn lines_are_cut_at_newlines_whatever_the_buffer() {
        let long = "x".repeat(LONGEST + 1);
        let fits = "y".repeat(LONGEST);
        let input = format!("one\n\ntwo\t\n{long}\n{fits}\nlast");
        let input = [input.as_bytes(), b"\xff\n", b"cut"].concat();
        for capacity in [1, 3, 1 << 16] {
            let mut lines = Lines::new(BufReader::with_capacity(capacity, &input[..]));
            for expect in ["one", "", "two\t", "", &fits, "last\u{fffd}", ""] {
                assert!(lines.next_line().unwrap() == Some(expect), "capacity {capacity}");
            }
            assert_eq!(lines.next_line().unwrap(), None);
        }
    }
}
