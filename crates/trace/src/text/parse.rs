//! The parser of the text format: a line in, events out.

use super::cursor::{Cursor, Name};
use super::{DECLARATIONS, DEFAULT_SIZE, NAMED_ADDR, NAMED_ID, NAMED_SYNC, ORDERS, SPACING, numbered};
use crate::{Interner, Result};
use deadheat_event::{
    Addr, ArrayId, AtomicOp, Event, Indices, MAX_ACCESS, MAX_RANGE, Mode, Object, Op, Order, Site, SiteId,
    SyncId, Tables, ThreadId,
};
use rustc_hash::FxHashMap;

const OPS: &str = "an operation (r, w, load, store, rmw, fence, acq, acqr, rel, fork, join, begin, end, enter, leave, \
                   send, recv, alloc, free, new, call or ret)";

/// Names that stand for ids of one kind.
struct Names<I> {
    ids: FxHashMap<Box<str>, I>,
    /// How many names got their id without a declaration.
    automatic: u64,
}

impl<I> Default for Names<I> {
    fn default() -> Names<I> {
        Names {
            ids: FxHashMap::default(),
            automatic: 0,
        }
    }
}

impl<I: Copy + PartialEq> Names<I> {
    /// The id of a name, and whether the name is new. New ones are numbered in order of appearance.
    fn id(&mut self, name: &str, make: impl FnOnce(u64) -> Option<I>) -> Option<(I, bool)> {
        if let Some(&id) = self.ids.get(name) {
            return Some((id, false));
        }
        let id = make(self.automatic)?;
        self.automatic += 1;
        self.ids.insert(name.into(), id);
        Some((id, true))
    }

    /// Gives a name an id. `false` if it has another one.
    fn declare(&mut self, name: &str, id: I) -> bool {
        *self.ids.entry(name.into()).or_insert(id) == id
    }
}

/// Turns lines into events, and remembers what the names in them stand for.
#[derive(Default)]
pub struct Parser {
    interner: Interner,
    threads: Names<ThreadId>,
    syncs: Names<SyncId>,
    arrays: Names<ArrayId>,
    variables: Names<Addr>,
}

impl Parser {
    /// A parser that knows no names yet.
    pub fn new() -> Parser {
        Parser::default()
    }

    /// What the ids of the events so far stand for.
    pub fn tables(&self) -> &Tables {
        self.interner.tables()
    }

    /// The finished tables.
    pub fn into_tables(self) -> Tables {
        self.interner.into_tables()
    }

    /// Parses a line, which is the `number`-th, and appends its events.
    pub fn line(&mut self, line: &str, number: u64, out: &mut Vec<Event>) -> Result<()> {
        let mut cursor = Cursor::new(line, number);
        loop {
            cursor.skip_blanks();
            match cursor.peek() {
                None | Some('#') => return Ok(()),
                Some(';') => {}
                Some(_) => out.extend(self.statement(&mut cursor)?),
            }
            cursor.skip_blanks();
            if !cursor.at_end() {
                return Err(cursor.expected("the end of the event (`;`, `#` or a new line)"));
            }
            cursor.eat(';');
        }
    }

    fn statement(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Event>> {
        let first = cursor.name("a thread")?;
        if !first.quoted && DECLARATIONS.contains(&&*first.text) {
            self.declaration(cursor, &first.text)?;
            return Ok(None);
        }
        let thread = self.thread(cursor, &first)?;
        cursor.skip_blanks();
        let mark = cursor.mark();
        let word = cursor.name(OPS)?;
        cursor.skip_blanks();
        let op = match self.op(cursor, &word.text)? {
            Some(op) => op,
            None => {
                let message = format!("expected {OPS}, but found `{}`", word.text);
                return Err(cursor.error_at(mark, message));
            }
        };
        cursor.skip_blanks();
        let site = if cursor.eat('@') {
            self.site(cursor)?
        } else {
            SiteId(0)
        };
        Ok(Some(Event { thread, site, op }))
    }

    fn op(&mut self, cursor: &mut Cursor<'_>, word: &str) -> Result<Option<Op>> {
        let op = match word {
            "r" | "w" => self.access(cursor, word == "w")?,
            "load" => self.atomic(cursor, AtomicOp::Load)?,
            "store" => self.atomic(cursor, AtomicOp::Store)?,
            "rmw" => self.atomic(cursor, AtomicOp::Rmw)?,
            "fence" => Op::Fence {
                order: order(cursor)?,
            },
            "acq" => Op::Acquire {
                lock: self.sync(cursor, "a lock")?,
                mode: Mode::Exclusive,
            },
            "acqr" => Op::Acquire {
                lock: self.sync(cursor, "a lock")?,
                mode: Mode::Shared,
            },
            "rel" => Op::Release {
                lock: self.sync(cursor, "a lock")?,
            },
            "fork" => Op::Fork {
                child: self.child(cursor)?,
            },
            "join" => Op::Join {
                child: self.child(cursor)?,
            },
            "begin" => Op::Begin,
            "end" => Op::End,
            "enter" => Op::BarrierEnter {
                barrier: self.sync(cursor, "a barrier")?,
            },
            "leave" => Op::BarrierLeave {
                barrier: self.sync(cursor, "a barrier")?,
            },
            "send" => Op::Send {
                channel: self.sync(cursor, "a channel")?,
            },
            "recv" => Op::Receive {
                channel: self.sync(cursor, "a channel")?,
            },
            "alloc" | "free" => {
                let (addr, size) = self.bytes(cursor)?;
                if word == "alloc" {
                    Op::Alloc { addr, size }
                } else {
                    Op::Free { addr, size }
                }
            }
            "new" => {
                let name = cursor.name("an array")?;
                let array = self.array(cursor, &name)?;
                cursor.skip_blanks();
                Op::NewArray {
                    array,
                    len: cursor.number("the number of elements")?,
                }
            }
            "call" => self.call(cursor)?,
            "ret" => Op::CallEnd,
            _ => return Ok(None),
        };
        Ok(Some(op))
    }

    /// `x`, `x:4+2`, `0x1000:4` or `a[0..63:2]`, and `=value` behind memory.
    fn access(&mut self, cursor: &mut Cursor<'_>, write: bool) -> Result<Op> {
        if !cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
            let mark = cursor.mark();
            let name = cursor.name("a variable, address or array")?;
            if cursor.eat('[') {
                let array = self.array(cursor, &name)?;
                let indices = indices(cursor)?;
                return Ok(if write {
                    Op::ArrayWrite { array, indices }
                } else {
                    Op::ArrayRead { array, indices }
                });
            }
            cursor.rewind(mark);
        }
        let (addr, size) = self.bytes(cursor)?;
        let value = value(cursor)?;
        Ok(if write {
            Op::Write { addr, size, value }
        } else {
            Op::Read { addr, size, value }
        })
    }

    fn atomic(&mut self, cursor: &mut Cursor<'_>, op: AtomicOp) -> Result<Op> {
        let (addr, size) = self.bytes(cursor)?;
        cursor.skip_blanks();
        let order = order(cursor)?;
        Ok(Op::Atomic {
            addr,
            size,
            op,
            order,
            value: value(cursor)?,
        })
    }

    fn call(&mut self, cursor: &mut Cursor<'_>) -> Result<Op> {
        let function = cursor.name("a function")?;
        let function = self.interner.name(&function.text);
        cursor.skip_blanks();
        let mut objects = Vec::new();
        if cursor.eat('{') {
            cursor.skip_blanks();
            while !cursor.eat('}') {
                let (addr, size) = self.bytes(cursor)?;
                objects.push(Object { addr, size });
                cursor.skip_blanks();
                if cursor.eat(',') {
                    cursor.skip_blanks();
                } else if cursor.peek() != Some('}') {
                    return Err(cursor.expected("`,` or `}` in the set of objects"));
                }
            }
        }
        Ok(Op::CallBegin {
            function,
            objects: self.interner.objects(objects),
        })
    }

    /// A place in memory: a variable or address, `:size` and `+offset`.
    fn bytes(&mut self, cursor: &mut Cursor<'_>) -> Result<(Addr, u32)> {
        let mark = cursor.mark();
        let named = !cursor.peek().is_some_and(|c| c.is_ascii_digit());
        let base = if named {
            let name = cursor.name("a variable or an address")?;
            let make = |n| Some(Addr(NAMED_ADDR + SPACING * n));
            self.variable(cursor, &name.text, make)?
        } else {
            Addr(cursor.number("an address")?)
        };
        let size = if cursor.eat(':') {
            size(cursor)?
        } else {
            DEFAULT_SIZE
        };
        let offset = if cursor.eat('+') {
            cursor.number("an offset in bytes")?
        } else {
            0
        };
        if named && offset.saturating_add(u64::from(size)) > SPACING {
            let message = format!(
                "offset and size go beyond the {SPACING} bytes that a named variable has; write a numeric address"
            );
            return Err(cursor.error_at(mark, message));
        }
        match base.0.checked_add(offset) {
            Some(addr) => Ok((Addr(addr), size)),
            None => Err(cursor.error_at(mark, "address and offset do not fit 64 bits".to_owned())),
        }
    }

    fn variable(
        &mut self,
        cursor: &Cursor<'_>,
        name: &str,
        make: impl FnOnce(u64) -> Option<Addr>,
    ) -> Result<Addr> {
        let Some((addr, new)) = self.variables.id(name, make) else {
            return Err(too_many(cursor));
        };
        if new {
            let name = self.interner.name(name);
            self.interner.tables_mut().variables.insert(addr, name);
        }
        Ok(addr)
    }

    fn thread(&mut self, cursor: &Cursor<'_>, name: &Name<'_>) -> Result<ThreadId> {
        if let Some(number) = raw(name, 'T').and_then(|n| u32::try_from(n).ok()) {
            return Ok(ThreadId(number));
        }
        let Some((id, new)) = self.threads.id(&name.text, |n| named32(n).map(ThreadId)) else {
            return Err(too_many(cursor));
        };
        if new {
            let name = self.interner.name(&name.text);
            self.interner.tables_mut().threads.insert(id, name);
        }
        Ok(id)
    }

    fn child(&mut self, cursor: &mut Cursor<'_>) -> Result<ThreadId> {
        let name = cursor.name("a thread")?;
        self.thread(cursor, &name)
    }

    fn array(&mut self, cursor: &Cursor<'_>, name: &Name<'_>) -> Result<ArrayId> {
        if let Some(number) = raw(name, 'A').and_then(|n| u32::try_from(n).ok()) {
            return Ok(ArrayId(number));
        }
        let Some((id, new)) = self.arrays.id(&name.text, |n| named32(n).map(ArrayId)) else {
            return Err(too_many(cursor));
        };
        if new {
            let name = self.interner.name(&name.text);
            self.interner.tables_mut().arrays.insert(id, name);
        }
        Ok(id)
    }

    fn sync(&mut self, cursor: &mut Cursor<'_>, what: &str) -> Result<SyncId> {
        let name = cursor.name(what)?;
        if let Some(number) = raw(&name, 'S') {
            return Ok(SyncId(number));
        }
        let Some((id, new)) = self.syncs.id(&name.text, |n| Some(SyncId(NAMED_SYNC + n))) else {
            return Err(too_many(cursor));
        };
        if new {
            let name = self.interner.name(&name.text);
            self.interner.tables_mut().syncs.insert(id, name);
        }
        Ok(id)
    }

    /// `file:line:column(function)`, every part optional.
    fn site(&mut self, cursor: &mut Cursor<'_>) -> Result<SiteId> {
        let mut site = Site::default();
        if !cursor.at_end() && !matches!(cursor.peek(), Some(':' | '(')) {
            let file = cursor.name("a file name, `:line` or `(function)`")?;
            site.file = self.interner.name(&file.text);
        }
        if cursor.eat(':') {
            site.line = cursor.number32("a line number")?;
            if cursor.eat(':') {
                site.column = cursor.number32("a column number")?;
            }
        }
        if cursor.eat('(') {
            let function = cursor.name("a function name")?;
            site.function = self.interner.name(&function.text);
            cursor.expect(')', "`)` behind the function name")?;
        }
        Ok(self.interner.site(site))
    }

    /// `thread main = 7` and the like: the number that a name stands for.
    fn declaration(&mut self, cursor: &mut Cursor<'_>, kind: &str) -> Result<()> {
        cursor.skip_blanks();
        let mark = cursor.mark();
        let name = cursor.name("the name to declare")?;
        cursor.skip_blanks();
        cursor.expect('=', "`=` and a number")?;
        cursor.skip_blanks();
        let id = self.interner.name(&name.text);
        let tables = self.interner.tables_mut();
        let fresh = match kind {
            "thread" => {
                let thread = ThreadId(cursor.number32("the number of the thread")?);
                tables.threads.insert(thread, id);
                self.threads.declare(&name.text, thread)
            }
            "array" => {
                let array = ArrayId(cursor.number32("the number of the array")?);
                tables.arrays.insert(array, id);
                self.arrays.declare(&name.text, array)
            }
            "sync" => {
                let sync = SyncId(cursor.number("the number of the lock, barrier or channel")?);
                tables.syncs.insert(sync, id);
                self.syncs.declare(&name.text, sync)
            }
            _ => {
                let addr = Addr(cursor.number("the address of the variable")?);
                tables.variables.insert(addr, id);
                self.variables.declare(&name.text, addr)
            }
        };
        if fresh {
            Ok(())
        } else {
            let message = format!(
                "`{}` already has another number; declare it before its first use",
                name.text
            );
            Err(cursor.error_at(mark, message))
        }
    }
}

fn raw(name: &Name<'_>, prefix: char) -> Option<u64> {
    if name.quoted {
        None
    } else {
        numbered(&name.text, prefix)
    }
}

fn named32(n: u64) -> Option<u32> {
    NAMED_ID.checked_add(u32::try_from(n).ok()?)
}

fn too_many(cursor: &Cursor<'_>) -> crate::Error {
    cursor.error("there are too many names".to_owned())
}

/// `3]`, `0..63]` or `0..63:2]`: the bracket has been opened.
fn indices(cursor: &mut Cursor<'_>) -> Result<Indices> {
    let mark = cursor.mark();
    let first = cursor.number("an index")?;
    let (mut last, mut stride) = (first, 1);
    if cursor.eat('.') {
        cursor.expect('.', "`..` between the first and the last index")?;
        last = cursor.number("the last index")?;
        if cursor.eat(':') {
            stride = cursor.number32("a stride")?;
        }
    }
    cursor.expect(']', "`]` behind the index")?;
    match Indices::new(first, last, stride) {
        Some(indices) => Ok(indices),
        None => Err(cursor.error_at(
            mark,
            format!("a range needs first <= last, a stride of at least 1 and at most {MAX_RANGE} indices"),
        )),
    }
}

fn size(cursor: &mut Cursor<'_>) -> Result<u32> {
    let mark = cursor.mark();
    let size = cursor.number("a size in bytes")?;
    match u32::try_from(size) {
        Ok(fits) if size <= MAX_ACCESS => Ok(fits),
        _ => Err(cursor.error_at(mark, format!("a size is at most {MAX_ACCESS} bytes"))),
    }
}

fn order(cursor: &mut Cursor<'_>) -> Result<Order> {
    const WHAT: &str = "a memory ordering (rlx, acq, rel, acqrel, sc or vol)";
    let mark = cursor.mark();
    let word = cursor.name(WHAT)?;
    match ORDERS.iter().find(|(name, _)| *name == word.text) {
        Some((_, order)) => Ok(*order),
        None => Err(cursor.error_at(mark, format!("expected {WHAT}, but found `{}`", word.text))),
    }
}

fn value(cursor: &mut Cursor<'_>) -> Result<Option<u64>> {
    cursor.skip_blanks();
    if cursor.eat('=') {
        cursor.skip_blanks();
        return cursor.number("a value").map(Some);
    }
    Ok(None)
}
