//! RoadRunner's printed events (`rrrun -tool=P`), as import.
//!
//! ```text
//! @ ARd(1,@04[3])  S  D.java:52:1
//! @ VWr(1,@05.flag_I)  V
//! ```
//!
//! RoadRunner prints among the output of the program that it runs, so only lines that start with `@` and have an event
//! of the form `Word(thread…` behind it count. Other lines, and events that order nothing and access nothing (method
//! enter and exit, notify, sleep, thread creation), are skipped. An event that is known but malformed, or a word that
//! RoadRunner does not have, is an error.
//!
//! RoadRunner prints starts, joins and waits twice, before and after they happen. A start counts the first time, a join
//! when it is over: at its second line, or if there is none in front of the thread's next event. A wait gives all
//! levels of the lock back and takes them again in the same way. Class initialisation is a message to all who access
//! the class, an interrupt one to the interrupted thread. Volatile accesses are atomics of order
//! [`Volatile`](deadheat_event::Order::Volatile). `Join(t,-1)` stands for a thread whose number was given away while it
//! was waited for: the number of the line before counts.

use crate::lines::{Grammar, LineReader, trim_eol};
use crate::source::syntax;
use crate::{Format, Interner, Result, Source};
use deadheat_event::{
    Addr, ArrayId, AtomicOp, Event, Indices, Mode, Op, Order, Site, SiteId, SyncId, Tables, ThreadId,
};
use rustc_hash::FxHashMap;
use std::io::Read;

/// Where fields start; each gets 8 bytes of its own.
const FIELDS: u64 = 1 << 40;

/// Reads what RoadRunner printed to `input`, which is `total` bytes long if that is known.
pub fn read<R: Read>(input: R, total: Option<u64>) -> impl Source + use<R> {
    LineReader::new(input, total, RoadRunner::default())
}

/// The first of two lines has been seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pending {
    Start(ThreadId),
    Join(ThreadId),
    /// The lock, and how often it is to be taken again.
    Wait(SyncId, u32),
}

#[derive(Default)]
struct RoadRunner {
    interner: Interner,
    fields: FxHashMap<Box<str>, Addr>,
    arrays: FxHashMap<Box<str>, ArrayId>,
    syncs: FxHashMap<Box<str>, SyncId>,
    held: FxHashMap<(ThreadId, SyncId), u32>,
    pending: FxHashMap<ThreadId, Pending>,
}

impl Grammar for RoadRunner {
    const FORMAT: Format = Format::RoadRunner;

    fn chunk(&mut self, chunk: &[u8], line: u64, out: &mut Vec<Event>, places: &mut Vec<u64>) -> Result<u64> {
        let mut number = line;
        for line in chunk.split_inclusive(|&byte| byte == b'\n') {
            if let Some(text) = line.strip_prefix(b"@") {
                let text = String::from_utf8_lossy(trim_eol(text));
                let parsed = self.line(&text, out);
                places.resize(out.len(), number);
                parsed.map_err(|what| syntax(Format::RoadRunner, number, None, what))?;
            }
            number += 1;
        }
        Ok(number - line)
    }

    fn end(&mut self, out: &mut Vec<Event>) {
        let mut joins: Vec<_> = self.pending.drain().collect();
        joins.sort_unstable_by_key(|(thread, _)| *thread);
        for (thread, pending) in joins {
            if let Pending::Join(child) = pending {
                out.push(Event {
                    thread,
                    site: SiteId(0),
                    op: Op::Join { child },
                });
            }
        }
    }

    fn tables(&self) -> &Tables {
        self.interner.tables()
    }
}

/// An event line cut into its parts: `word(thread,operand)[values]  rest`.
struct Parts<'a> {
    word: &'a str,
    thread: ThreadId,
    operand: &'a str,
    values: Option<&'a str>,
    rest: &'a str,
}

fn parts(text: &str) -> Result<Option<Parts<'_>>, String> {
    let text = text.trim_start();
    let Some((word, behind)) = text.split_once('(') else {
        return Ok(None);
    };
    let number = behind.bytes().take_while(u8::is_ascii_digit).count();
    if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) || number == 0 {
        return Ok(None);
    }
    let mut depth = 1_u32;
    let end = behind.char_indices().find(|&(_, c)| {
        depth = match c {
            '(' => depth + 1,
            ')' => depth - 1,
            _ => depth,
        };
        depth == 0
    });
    let Some((end, _)) = end else {
        return Err(format!("the bracket behind `{word}` is not closed"));
    };
    let thread = behind[..number]
        .parse()
        .map_err(|_| format!("thread {} is out of range", &behind[..number]))?;
    let operand = match &behind[number..end] {
        "" => "",
        operand => operand
            .strip_prefix(',')
            .ok_or_else(|| format!("expected `,` or `)` behind `{word}({thread}`"))?,
    };
    let mut rest = &behind[end + 1..];
    let mut values = None;
    if let Some(inner) = rest.strip_prefix('[') {
        let end = inner
            .find("]  ")
            .or_else(|| inner.rfind(']'))
            .ok_or("the values are not closed by `]`")?;
        values = Some(&inner[..end]);
        rest = &inner[end + 1..];
    }
    Ok(Some(Parts {
        word,
        thread: ThreadId(thread),
        operand,
        values,
        rest,
    }))
}

impl RoadRunner {
    fn line(&mut self, text: &str, out: &mut Vec<Event>) -> Result<(), String> {
        let Some(parts) = parts(text)? else { return Ok(()) };
        let Parts {
            word,
            thread,
            operand,
            ..
        } = parts;
        let mut emit = |op| {
            out.push(Event {
                thread,
                site: SiteId(0),
                op,
            });
        };

        let before = self.pending.remove(&thread);
        match before {
            Some(Pending::Join(child)) => emit(Op::Join { child }),
            Some(Pending::Wait(lock, depth)) => {
                for _ in 0..depth {
                    emit(Op::Acquire {
                        lock,
                        mode: Mode::Exclusive,
                    });
                }
                self.held.insert((thread, lock), depth);
            }
            Some(Pending::Start(_)) | None => {}
        }

        match word {
            "Rd" | "Wr" | "ARd" | "AWr" | "VRd" | "VWr" => {
                let op = self.access(&parts)?;
                let site = self.site(&parts);
                out.push(Event { thread, site, op });
            }
            "Acquire" => {
                let lock = self.sync(operand, "lock")?;
                *self.held.entry((thread, lock)).or_default() += 1;
                emit(Op::Acquire {
                    lock,
                    mode: Mode::Exclusive,
                });
            }
            "Release" => {
                let lock = self.sync(operand, "lock")?;
                let held = self.held.entry((thread, lock)).or_default();
                *held = held.saturating_sub(1);
                if *held == 0 {
                    self.held.remove(&(thread, lock));
                }
                emit(Op::Release { lock });
            }
            "Start" => {
                let child = child(operand)?.ok_or("the started thread has no number")?;
                if before != Some(Pending::Start(child)) {
                    emit(Op::Fork { child });
                    self.pending.insert(thread, Pending::Start(child));
                }
            }
            "Join" => match (child(operand)?, before) {
                (None, Some(Pending::Join(_))) => {}
                (child, Some(Pending::Join(waited))) if child == Some(waited) => {}
                (Some(child), _) => drop(self.pending.insert(thread, Pending::Join(child))),
                (None, _) => {
                    return Err(
                        "the joined thread has no number any more, so nothing can be ordered after it"
                            .to_owned(),
                    );
                }
            },
            "Wait" => {
                let lock = self.sync(operand, "lock")?;
                if !matches!(before, Some(Pending::Wait(waited, _)) if waited == lock) {
                    let depth = self.held.remove(&(thread, lock)).unwrap_or(1);
                    for _ in 0..depth {
                        emit(Op::Release { lock });
                    }
                    self.pending.insert(thread, Pending::Wait(lock, depth));
                }
            }
            "Barrier" => {
                let (barrier, way) = operand
                    .rsplit_once(',')
                    .ok_or("expected a barrier and `Enter` or `Exit`")?;
                let barrier = self.sync(barrier, "barrier")?;
                emit(match way {
                    "Enter" => Op::BarrierEnter { barrier },
                    "Exit" => Op::BarrierLeave { barrier },
                    _ => return Err(format!("expected `Enter` or `Exit`, but found `{way}`")),
                });
            }
            "Interrupt" => {
                let child = child(operand)?.ok_or("the interrupted thread has no number")?;
                emit(Op::Send {
                    channel: self.sync(&child.0.to_string(), "interrupt")?,
                });
            }
            "Interrupted" => emit(Op::Receive {
                channel: self.sync(&thread.0.to_string(), "interrupt")?,
            }),
            "ClassInited" => emit(Op::Send {
                channel: self.sync(operand, "class")?,
            }),
            // RoadRunner's own spelling, and what it would be if that were mended.
            "ClassAccssed" | "ClassAccessed" => emit(Op::Receive {
                channel: self.sync(operand, "class")?,
            }),
            "Enter" | "Exit" | "Notify" | "Sleep" | "NewThread" => {}
            _ => return Err(format!("RoadRunner has no event `{word}`")),
        }
        Ok(())
    }

    fn access(&mut self, parts: &Parts<'_>) -> Result<Op, String> {
        let Parts {
            word,
            operand,
            values,
            ..
        } = *parts;
        if operand.is_empty() {
            return Err(format!("expected a field or array element in `{word}`"));
        }
        let write = word.ends_with("Wr");
        if word.starts_with('A') {
            let element = operand
                .strip_suffix(']')
                .and_then(|element| element.rsplit_once('['));
            let parsed = element.and_then(|(array, index)| Some((array, index.parse().ok()?)));
            let Some((array, index)) = parsed else {
                return Err(format!("expected an array and an index, but found `{operand}`"));
            };
            let (array, indices) = (self.array(array)?, Indices::one(index));
            return Ok(if write {
                Op::ArrayWrite { array, indices }
            } else {
                Op::ArrayRead { array, indices }
            });
        }
        // A write shows the old and the new value.
        let value = values.map(|values| values.rsplit_once(" -> ").map_or(values, |(_, new)| new));
        let value = value
            .and_then(|value| value.trim().parse::<i64>().ok())
            .map(|value| value as u64);
        let (addr, size) = (self.field(operand), 8);
        Ok(match (word.starts_with('V'), write) {
            (false, false) => Op::Read { addr, size, value },
            (false, true) => Op::Write { addr, size, value },
            (true, _) => {
                let op = if write { AtomicOp::Store } else { AtomicOp::Load };
                Op::Atomic {
                    addr,
                    size,
                    op,
                    order: Order::Volatile,
                    value,
                }
            }
        })
    }

    /// `file:line:column` at the end of the line. Volatile accesses have none.
    fn site(&mut self, parts: &Parts<'_>) -> SiteId {
        let place = parts.rest.split_whitespace().next_back().unwrap_or("");
        let mut fields = place.split(':');
        let (file, line) = (
            fields.next().unwrap_or(""),
            fields.next().and_then(|line| line.parse().ok()),
        );
        let Some(line) = line else { return SiteId(0) };
        let column = fields.next().and_then(|column| column.parse().ok()).unwrap_or(0);
        let file = self.interner.name(file);
        self.interner.site(Site {
            file,
            line,
            column,
            ..Site::default()
        })
    }

    fn field(&mut self, name: &str) -> Addr {
        if let Some(&addr) = self.fields.get(name) {
            return addr;
        }
        let addr = Addr(FIELDS + 8 * self.fields.len() as u64);
        self.fields.insert(name.into(), addr);
        let id = self.interner.name(name);
        self.interner.tables_mut().variables.insert(addr, id);
        addr
    }

    fn array(&mut self, name: &str) -> Result<ArrayId, String> {
        if let Some(&array) = self.arrays.get(name) {
            return Ok(array);
        }
        let array = ArrayId(u32::try_from(self.arrays.len()).map_err(|_| "too many arrays")?);
        self.arrays.insert(name.into(), array);
        let id = self.interner.name(name);
        self.interner.tables_mut().arrays.insert(array, id);
        Ok(array)
    }

    /// Locks, barriers, classes and interrupts, each kind with names of its own.
    fn sync(&mut self, name: &str, kind: &str) -> Result<SyncId, String> {
        if name.is_empty() {
            return Err(format!("the {kind} is missing"));
        }
        let key = if kind == "lock" {
            name.to_owned()
        } else {
            format!("{kind}:{name}")
        };
        if let Some(&sync) = self.syncs.get(key.as_str()) {
            return Ok(sync);
        }
        let sync = SyncId(self.syncs.len() as u64);
        let id = self.interner.name(&key);
        self.syncs.insert(key.into(), sync);
        self.interner.tables_mut().syncs.insert(sync, id);
        Ok(sync)
    }
}

/// The number of another thread; `None` for RoadRunner's -1.
fn child(operand: &str) -> Result<Option<ThreadId>, String> {
    match operand.parse::<i64>() {
        Ok(-1) => Ok(None),
        Ok(number) => match u32::try_from(number) {
            Ok(number) => Ok(Some(ThreadId(number))),
            Err(_) => Err(format!("thread {number} is out of range")),
        },
        Err(_) => Err(format!("expected the number of a thread, but found `{operand}`")),
    }
}
