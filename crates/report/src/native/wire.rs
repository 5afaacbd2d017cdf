//! Lines of [`deadheat_abi::wire`] to records.
//!
//! The lines come out of a program that may have overwritten its own memory: nothing in them is trusted. A line that
//! makes no sense is refused as a whole, a word that is not known is [`Record::Unknown`], and no list is longer than its
//! limit.

use crate::model::Operation;

/// Frames of a stack that are kept: what is further out is left out.
pub const MAX_FRAMES: usize = 1024;
/// Words of a command that are kept.
const MAX_WORDS: usize = 1024;
/// Bytes of a name that are kept.
const NAME: usize = 256;
/// Bytes of a path, a word of a command or a message that are kept.
const TEXT: usize = 4096;

/// A line that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// What a line says. Fields are named as in `deadheat_abi::wire`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Hello {
        version: u32,
        pid: u32,
    },
    Command(Vec<String>),
    Module(Module),
    Stack {
        id: u64,
        pcs: Vec<u64>,
    },
    Thread {
        id: u32,
        tid: Option<u32>,
        parent: Option<u32>,
        stack: Option<u64>,
        name: String,
    },
    Race {
        number: u64,
        addr: u64,
        size: u64,
    },
    Access(Access),
    Lock(Lock),
    Memory(Memory),
    End {
        number: u64,
    },
    Count {
        number: u64,
        times: u64,
    },
    Loss(String),
    /// The program cannot be checked, and why.
    Unchecked(String),
    Stat {
        name: String,
        number: u64,
    },
    Exit(Exit),
    Unknown,
}

/// A mapping of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    pub start: u64,
    pub end: u64,
    pub offset: u64,
    /// As hexadecimal text.
    pub build_id: Option<String>,
    pub path: String,
}

/// One of a race's accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Not known if the thread ended long ago.
    pub thread: Option<u32>,
    pub op: Operation,
    pub atomic: bool,
    pub addr: u64,
    pub size: u64,
    pub stack: Option<u64>,
}

/// A lock held at an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    pub kind: String,
    pub addr: u64,
    pub stack: Option<u64>,
}

/// What the memory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    Heap {
        start: u64,
        size: u64,
        thread: Option<u32>,
        stack: Option<u64>,
        freed: bool,
    },
    Stack {
        thread: u32,
    },
    Tls {
        thread: u32,
    },
    Map {
        start: u64,
        size: u64,
    },
    Global,
    Unknown,
}

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Status(i32),
    /// By a signal.
    Signal(u32),
}

/// Reads a line, without its newline.
pub fn parse(line: &str) -> Result<Record, Malformed> {
    let mut fields = Fields(line.split('\t'));
    Ok(match fields.word()? {
        "deadheat" => Record::Hello {
            version: fields.decimal()?,
            pid: fields.decimal()?,
        },
        "command" => Record::Command(fields.0.take(MAX_WORDS).map(|word| text(word, TEXT)).collect()),
        "module" => Record::Module(fields.module()?),
        "stack" => Record::Stack {
            id: fields.hex()?,
            pcs: fields
                .0
                .take(MAX_FRAMES)
                .filter(|pc| !pc.is_empty())
                .map(hex)
                .collect::<Result<_, _>>()?,
        },
        "thread" => Record::Thread {
            id: fields.decimal()?,
            tid: fields.optional(decimal)?,
            parent: fields.optional(decimal)?,
            stack: fields.optional(hex)?,
            name: text(fields.0.next().unwrap_or_default(), NAME),
        },
        "race" => Record::Race {
            number: fields.hex()?,
            addr: fields.hex()?,
            size: fields.hex()?,
        },
        "access" => Record::Access(fields.access()?),
        "lock" => Record::Lock(Lock {
            kind: text(fields.word()?, NAME),
            addr: fields.hex()?,
            stack: fields.optional(hex)?,
        }),
        "memory" => Record::Memory(fields.memory()?),
        "end" => Record::End {
            number: fields.hex()?,
        },
        "count" => Record::Count {
            number: fields.hex()?,
            times: fields.decimal()?,
        },
        "loss" => Record::Loss(text(fields.word()?, TEXT)),
        "unchecked" => Record::Unchecked(text(fields.word()?, TEXT)),
        "stat" => Record::Stat {
            name: text(fields.word()?, NAME),
            number: fields.decimal()?,
        },
        "exit" => Record::Exit(fields.exit()?),
        _ => Record::Unknown,
    })
}

struct Fields<'a>(std::str::Split<'a, char>);

impl<'a> Fields<'a> {
    fn word(&mut self) -> Result<&'a str, Malformed> {
        self.0.next().filter(|word| !word.is_empty()).ok_or(Malformed)
    }

    fn hex(&mut self) -> Result<u64, Malformed> {
        hex(self.word()?)
    }

    fn decimal<T: std::str::FromStr>(&mut self) -> Result<T, Malformed> {
        decimal(self.word()?)
    }

    /// A field that may be `-`, or missing at the end of a line.
    fn optional<T>(
        &mut self,
        read: impl FnOnce(&'a str) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        match self.0.next() {
            None | Some("-") => Ok(None),
            Some(word) => read(word).map(Some),
        }
    }

    fn module(&mut self) -> Result<Module, Malformed> {
        let module = Module {
            start: self.hex()?,
            end: self.hex()?,
            offset: self.hex()?,
            build_id: self.optional(|word| Ok(text(word, NAME).to_ascii_lowercase()))?,
            path: text(self.word()?, TEXT),
        };
        if module.start < module.end {
            Ok(module)
        } else {
            Err(Malformed)
        }
    }

    fn access(&mut self) -> Result<Access, Malformed> {
        Ok(Access {
            thread: self.optional(decimal)?,
            op: match self.word()? {
                "read" => Operation::Read,
                "write" => Operation::Write,
                "free" => Operation::Free,
                _ => return Err(Malformed),
            },
            atomic: match self.word()? {
                "plain" => false,
                "atomic" => true,
                _ => return Err(Malformed),
            },
            addr: self.hex()?,
            size: self.hex()?,
            stack: self.optional(hex)?,
        })
    }

    fn memory(&mut self) -> Result<Memory, Malformed> {
        Ok(match self.word()? {
            what @ ("heap" | "freed") => Memory::Heap {
                start: self.hex()?,
                size: self.hex()?,
                thread: self.optional(decimal)?,
                stack: self.optional(hex)?,
                freed: what == "freed",
            },
            "stack" => Memory::Stack {
                thread: self.decimal()?,
            },
            "tls" => Memory::Tls {
                thread: self.decimal()?,
            },
            "map" => Memory::Map {
                start: self.hex()?,
                size: self.hex()?,
            },
            "global" => Memory::Global,
            _ => Memory::Unknown,
        })
    }

    fn exit(&mut self) -> Result<Exit, Malformed> {
        let first = self.word()?;
        let (word, rest) = first.split_once(' ').unwrap_or((first, ""));
        if word != "signal" {
            return Ok(Exit::Status(decimal(first)?));
        }
        let number = if rest.is_empty() { self.word()? } else { rest };
        Ok(Exit::Signal(decimal(number)?))
    }
}

fn hex(word: &str) -> Result<u64, Malformed> {
    // `from_str_radix` takes a sign, which the wire never has.
    if word.starts_with('+') {
        return Err(Malformed);
    }
    u64::from_str_radix(word, 16).map_err(|_| Malformed)
}

fn decimal<T: std::str::FromStr>(word: &str) -> Result<T, Malformed> {
    word.parse().map_err(|_| Malformed)
}

/// A text field, cut where it is too long.
fn text(word: &str, longest: usize) -> String {
    let mut text = unescape(word);
    if text.len() > longest {
        let end = (0..=longest).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or_default());
    }
    text
}

/// Undoes `wire::escape`. A `%` that no two digits follow stands for itself.
fn unescape(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let code = (byte == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(code.unwrap_or(byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_record_is_read() {
        for (line, expect) in [
            ("deadheat\t1\t77", Record::Hello { version: 1, pid: 77 }),
            (
                "command\ta\tb%09c",
                Record::Command(vec!["a".into(), "b\tc".into()]),
            ),
            (
                "module\t1000\t2000\t30\tAbcd\t/x/y z",
                Record::Module(Module {
                    start: 0x1000,
                    end: 0x2000,
                    offset: 0x30,
                    build_id: Some("abcd".into()),
                    path: "/x/y z".into(),
                }),
            ),
            (
                "stack\tff\t10\ta",
                Record::Stack {
                    id: 255,
                    pcs: vec![16, 10],
                },
            ),
            (
                "thread\t10\t4711\t-\t-\tnet%2510",
                Record::Thread {
                    id: 10,
                    tid: Some(4711),
                    parent: None,
                    stack: None,
                    name: "net%10".into(),
                },
            ),
            (
                "thread\t1\t5\t0\tc\t",
                Record::Thread {
                    id: 1,
                    tid: Some(5),
                    parent: Some(0),
                    stack: Some(12),
                    name: String::new(),
                },
            ),
            (
                "race\ta\t7f00\t10",
                Record::Race {
                    number: 10,
                    addr: 0x7f00,
                    size: 16,
                },
            ),
            (
                "access\t10\tfree\tatomic\tff\t8\t-\tlater",
                Record::Access(Access {
                    thread: Some(10),
                    op: Operation::Free,
                    atomic: true,
                    addr: 255,
                    size: 8,
                    stack: None,
                }),
            ),
            (
                "lock\trwlock-read\t20\t3",
                Record::Lock(Lock {
                    kind: "rwlock-read".into(),
                    addr: 32,
                    stack: Some(3),
                }),
            ),
            (
                "memory\tfreed\t10\t20\t10\t-",
                Record::Memory(Memory::Heap {
                    start: 16,
                    size: 32,
                    thread: Some(10),
                    stack: None,
                    freed: true,
                }),
            ),
            ("memory\tstack\t11", Record::Memory(Memory::Stack { thread: 11 })),
            ("memory\tglobal", Record::Memory(Memory::Global)),
            ("memory\tnew thing", Record::Memory(Memory::Unknown)),
            ("end\ta", Record::End { number: 10 }),
            (
                "count\ta\t100",
                Record::Count {
                    number: 10,
                    times: 100,
                },
            ),
            ("loss\tno room", Record::Loss("no room".into())),
            ("unchecked\tno room", Record::Unchecked("no room".into())),
            (
                "stat\treads\t10",
                Record::Stat {
                    name: "reads".into(),
                    number: 10,
                },
            ),
            ("exit\t10", Record::Exit(Exit::Status(10))),
            ("exit\tsignal 11", Record::Exit(Exit::Signal(11))),
            ("exit\tsignal\t11", Record::Exit(Exit::Signal(11))),
            ("weather\tfine", Record::Unknown),
        ] {
            assert_eq!(parse(line), Ok(expect), "{line}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in [
            "",
            "\t",
            "stack",
            "stack\tx",
            "stack\t1\t+2",
            "stack\t1\t12345678123456781",
            "race\t1\t2",
            "thread\tff\t1\t-\t-\tx",
            "access\t1\tpeek\tplain\t0\t1\t-",
            "access\t1\tread\tfancy\t0\t1\t-",
            "module\t2000\t1000\t0\t-\t/x",
            "module\t1000\t2000\t0\t-\t",
            "memory\theap\t1",
            "exit\tsignal",
            "exit\tx",
        ] {
            assert_eq!(parse(line), Err(Malformed), "{line}");
        }
    }

    #[test]
    fn a_deep_stack_is_cut() {
        let line = format!("stack\t1{}", "\tff".repeat(5000));
        let Ok(Record::Stack { pcs, .. }) = parse(&line) else {
            panic!("a stack");
        };
        assert_eq!(pcs.len(), MAX_FRAMES);
    }

    proptest! {
        #[test]
        fn escaped_text_comes_back(text in "(?s)[%\t\na-f0-9é]{0,20}") {
            let mut escaped = String::new();
            deadheat_abi::wire::escape(&text, &mut escaped).unwrap();
            prop_assert!(!escaped.contains(['\t', '\n']));
            prop_assert_eq!(unescape(&escaped), text);
        }

        #[test]
        fn no_line_makes_the_parser_panic(
            word in "deadheat|module|stack|thread|race|access|lock|memory|count|exit|stat|loss|unchecked|\\PC{0,5}",
            rest in "(\t(heap|read|plain|signal|-|[0-9a-f]{1,17}|%[0-9a-z]{0,2}|\\PC{0,4})){0,8}",
        ) {
            let _ = parse(&format!("{word}{rest}"));
        }
    }
}
