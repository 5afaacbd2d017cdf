//! The reader of STD: a scanner over bytes, because these files are large.

use super::{NAMED_THREAD, SIZE, SUFFIX_FILE, VARIABLES, is_separator};
use crate::lines::{Grammar, LineReader};
use crate::source::syntax;
use crate::{Error, Format, Interner, Result, Source};
use deadheat_event::{Addr, Event, Mode, NameId, Op, Site, SiteId, SyncId, Tables, ThreadId};
use rustc_hash::FxHashMap;
use std::io::Read;

/// Reads an STD trace from `input`, which is `total` bytes long if that is known.
pub fn read<R: Read>(input: R, total: Option<u64>) -> impl Source + use<R> {
    LineReader::new(input, total, Scanner::default())
}

/// Names seen so far and what they stand for.
#[derive(Default)]
struct Scanner {
    interner: Interner,
    threads: Names<ThreadId>,
    named_threads: u32,
    variables: Names<Addr>,
    locks: Names<SyncId>,
    sites: FxHashMap<i32, SiteId>,
}

/// What names of one kind stand for. Short names are kept inside the table: following a pointer for each would cost a
/// cache miss more, and most of the time goes into these.
struct Names<I> {
    short: FxHashMap<u128, I>,
    long: FxHashMap<Box<[u8]>, I>,
}

impl<I> Default for Names<I> {
    fn default() -> Names<I> {
        Names {
            short: FxHashMap::default(),
            long: FxHashMap::default(),
        }
    }
}

/// A name of up to 15 bytes and its length as a number.
#[inline]
fn short(name: &[u8]) -> Option<u128> {
    let mut bytes = [0; 16];
    bytes
        .get_mut(..name.len())
        .filter(|_| name.len() < 16)?
        .copy_from_slice(name);
    bytes[15] = name.len() as u8;
    Some(u128::from_le_bytes(bytes))
}

impl<I: Copy> Names<I> {
    #[inline]
    fn get(&self, name: &[u8]) -> Option<I> {
        match short(name) {
            Some(key) => self.short.get(&key).copied(),
            None => self.long.get(name).copied(),
        }
    }

    fn insert(&mut self, name: &[u8], id: I) {
        match short(name) {
            Some(key) => drop(self.short.insert(key, id)),
            None => drop(self.long.insert(name.into(), id)),
        }
    }

    fn len(&self) -> u64 {
        (self.short.len() + self.long.len()) as u64
    }
}

impl Grammar for Scanner {
    const FORMAT: Format = Format::Std;

    fn chunk(
        &mut self,
        chunk: &[u8],
        line: u64,
        out: &mut Vec<Event>,
        _places: &mut Vec<u64>,
    ) -> Result<u64> {
        let mut rest = chunk;
        let mut number = line;
        while !rest.is_empty() {
            let len = match self.line(rest) {
                Ok((event, len)) => {
                    out.push(event);
                    len
                }
                Err(message) => return Err(error(number, message)),
            };
            rest = &rest[len..];
            number += 1;
        }
        Ok(number - line)
    }

    fn tables(&self) -> &Tables {
        self.interner.tables()
    }
}

fn error(line: u64, message: String) -> Error {
    syntax(Format::Std, line, None, message)
}

/// The bytes in front of the first separator or line end, or an error that says what should have been there.
#[inline]
fn word(from: &[u8]) -> usize {
    from.iter()
        .position(|&byte| is_separator(byte))
        .unwrap_or(from.len())
}

impl Scanner {
    /// Reads the first line of `text`. Returns its event and its length with line end.
    #[inline]
    fn line(&mut self, text: &[u8]) -> Result<(Event, usize), String> {
        let thread_end = word(text);
        if thread_end == 0 || text.get(thread_end) != Some(&b'|') {
            return Err(shape(text));
        }
        let op_start = thread_end + 1;
        let op_end = op_start + word(&text[op_start..]);
        if text.get(op_end) != Some(&b'|') {
            return Err(shape(text));
        }
        let (loc, len) = location(&text[op_end + 1..]).ok_or_else(|| shape(text))?;
        let thread = self.thread(&text[..thread_end])?;
        let (op, suffix) = self.op(&text[op_start..op_end])?;
        let site = if suffix == NameId(0) {
            self.site(loc)
        } else {
            self.suffix_site(loc, suffix)
        };
        Ok((Event { thread, site, op }, op_end + 1 + len))
    }

    /// The operation, and the name of what follows a `begin` or `end`.
    #[inline]
    fn op(&mut self, text: &[u8]) -> Result<(Op, NameId), String> {
        let plain = |op| Ok((op, NameId(0)));
        let operand = |word: &[u8]| {
            let inner = text.strip_prefix(word)?.strip_prefix(b"(")?.strip_suffix(b")")?;
            (!inner.is_empty()).then_some(inner)
        };
        match text {
            [b'r', b'(', ..] => {
                if let Some(name) = operand(b"r") {
                    return plain(Op::Read {
                        addr: self.variable(name)?,
                        size: SIZE,
                        value: None,
                    });
                }
            }
            [b'w', b'(', ..] => {
                if let Some(name) = operand(b"w") {
                    return plain(Op::Write {
                        addr: self.variable(name)?,
                        size: SIZE,
                        value: None,
                    });
                }
            }
            [b'a', ..] => {
                if let Some(name) = operand(b"acq") {
                    return plain(Op::Acquire {
                        lock: self.lock(name)?,
                        mode: Mode::Exclusive,
                    });
                }
            }
            [b'r', ..] => {
                if let Some(name) = operand(b"rel") {
                    return plain(Op::Release {
                        lock: self.lock(name)?,
                    });
                }
            }
            [b'f', ..] => {
                if let Some(name) = operand(b"fork") {
                    return plain(Op::Fork {
                        child: self.thread(name)?,
                    });
                }
            }
            [b'j', ..] => {
                if let Some(name) = operand(b"join") {
                    return plain(Op::Join {
                        child: self.thread(name)?,
                    });
                }
            }
            [b'b', b'e', b'g', b'i', b'n', suffix @ ..] => return Ok((Op::Begin, self.name(suffix)?)),
            [b'e', b'n', b'd', suffix @ ..] => return Ok((Op::End, self.name(suffix)?)),
            _ => {}
        }
        Err(format!(
            "expected r(…), w(…), acq(…), rel(…), fork(…), join(…), begin or end, but found `{}`",
            shown(text)
        ))
    }

    fn name(&mut self, name: &[u8]) -> Result<NameId, String> {
        let name = std::str::from_utf8(name).map_err(|_| format!("`{}` is not valid UTF-8", shown(name)))?;
        Ok(self.interner.name(name))
    }

    #[inline]
    fn thread(&mut self, name: &[u8]) -> Result<ThreadId, String> {
        if let Some(thread) = self.threads.get(name) {
            return Ok(thread);
        }
        let id = self.name(name)?;
        let thread = match small_number(name) {
            Some(number) => ThreadId(number),
            None => {
                let thread = NAMED_THREAD
                    .checked_add(self.named_threads)
                    .ok_or("too many threads")?;
                self.named_threads += 1;
                ThreadId(thread)
            }
        };
        self.threads.insert(name, thread);
        self.interner.tables_mut().threads.insert(thread, id);
        Ok(thread)
    }

    #[inline]
    fn variable(&mut self, name: &[u8]) -> Result<Addr, String> {
        if let Some(addr) = self.variables.get(name) {
            return Ok(addr);
        }
        let id = self.name(name)?;
        let addr = Addr(VARIABLES + u64::from(SIZE) * self.variables.len());
        self.variables.insert(name, addr);
        self.interner.tables_mut().variables.insert(addr, id);
        Ok(addr)
    }

    #[inline]
    fn lock(&mut self, name: &[u8]) -> Result<SyncId, String> {
        if let Some(lock) = self.locks.get(name) {
            return Ok(lock);
        }
        let id = self.name(name)?;
        let lock = SyncId(self.locks.len());
        self.locks.insert(name, lock);
        self.interner.tables_mut().syncs.insert(lock, id);
        Ok(lock)
    }

    #[inline]
    fn site(&mut self, loc: i32) -> SiteId {
        let interner = &mut self.interner;
        *self.sites.entry(loc).or_insert_with(|| {
            interner.site(Site {
                line: loc as u32,
                ..Site::default()
            })
        })
    }

    fn suffix_site(&mut self, loc: i32, function: NameId) -> SiteId {
        let file = self.interner.name(SUFFIX_FILE);
        self.interner.site(Site {
            function,
            file,
            line: loc as u32,
            column: 0,
        })
    }
}

/// `n` of a thread called `Tn`, if it is below [`NAMED_THREAD`] and written without leading zeros.
fn small_number(name: &[u8]) -> Option<u32> {
    let digits = name.strip_prefix(b"T")?;
    let canonical = digits == b"0" || !digits.starts_with(b"0");
    let decimal = digits.iter().all(u8::is_ascii_digit) && (1..=5).contains(&digits.len());
    if !canonical || !decimal {
        return None;
    }
    let number = digits
        .iter()
        .fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    (number < NAMED_THREAD).then_some(number)
}

/// A signed 32-bit number up to the line end, and its length with line end.
#[inline]
fn location(text: &[u8]) -> Option<(i32, usize)> {
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let digits = text[sign..]
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len() - sign);
    let end = sign + digits;
    let magnitude = text[sign..end].iter().try_fold(0_i64, |number, digit| {
        let number = number * 10 + i64::from(digit - b'0');
        // Leading zeros are harmless, more than 32 bits are not.
        (number <= 1 << 31).then_some(number)
    })?;
    let value = if text.first() == Some(&b'-') {
        -magnitude
    } else {
        magnitude
    };
    let value = i32::try_from(value).ok().filter(|_| digits > 0)?;
    match text.get(end..)? {
        [] => Some((value, end)),
        [b'\n', ..] => Some((value, end + 1)),
        [b'\r'] => Some((value, end + 1)),
        [b'\r', b'\n', ..] => Some((value, end + 2)),
        _ => None,
    }
}

/// What is wrong with a line whose outline does not fit.
#[cold]
fn shape(text: &[u8]) -> String {
    let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
    let line = text[..end].strip_suffix(b"\r").unwrap_or(&text[..end]);
    let fields: Vec<_> = line.split(|&byte| byte == b'|').collect();
    let blank = |byte: &u8| is_separator(*byte);
    let what = match fields.as_slice() {
        [b""] => "this line is empty".to_owned(),
        [b"", _, _] => "the thread is missing".to_owned(),
        [thread, _, _] if thread.iter().any(blank) => "there is a blank in the thread".to_owned(),
        [_, op, _] if op.iter().any(blank) => "there is a blank in the operation".to_owned(),
        [_, _, loc] => format!("`{}` is not a signed 32-bit location number", shown(loc)),
        _ => format!("there are {} bars", fields.len() - 1),
    };
    format!("expected `thread|operation|location` with exactly two bars, but {what}")
}

/// Some bytes of the file for a message.
fn shown(text: &[u8]) -> String {
    let text = &text[..text.len().min(60)];
    String::from_utf8_lossy(text)
        .chars()
        .filter(|c| !c.is_control())
        .collect()
}
