//! The printer of the text format.

use super::{
    DECLARATIONS, DEFAULT_SIZE, NAMED_ADDR, NAMED_ID, NAMED_SYNC, ORDERS, SPACING, is_bare, numbered,
};
use crate::{Result, Sink};
use deadheat_event::{
    Addr, ArrayId, AtomicOp, Event, Indices, Mode, NameId, Op, Order, SiteId, SyncId, Tables, ThreadId,
};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::io::Write;

/// Which name was printed for which id, so that no two ids share one, and what the reader will make of it.
struct Printed<I> {
    /// `false` for an id whose name was already taken by another: it is printed as a number.
    by_id: FxHashMap<I, bool>,
    taken: FxHashMap<Box<str>, I>,
    automatic: u64,
}

impl<I> Default for Printed<I> {
    fn default() -> Printed<I> {
        Printed {
            by_id: FxHashMap::default(),
            taken: FxHashMap::default(),
            automatic: 0,
        }
    }
}

/// What to print for an id.
enum Show {
    Number,
    Name,
    /// The name, which has to be declared first because the reader would number it differently.
    Declare,
}

impl<I: Copy + Eq + std::hash::Hash> Printed<I> {
    fn show(&mut self, id: I, name: &str, automatic: impl FnOnce(u64) -> Option<I>) -> Show {
        if let Some(&by_name) = self.by_id.get(&id) {
            return if by_name { Show::Name } else { Show::Number };
        }
        let by_name = !name.is_empty() && !self.taken.contains_key(name);
        self.by_id.insert(id, by_name);
        if !by_name {
            return Show::Number;
        }
        self.taken.insert(name.into(), id);
        if automatic(self.automatic) == Some(id) {
            self.automatic += 1;
            return Show::Name;
        }
        Show::Declare
    }
}

/// Writes a text trace.
#[derive(Default)]
pub struct Printer<W> {
    output: W,
    /// Declarations that the current event needs in front of it.
    declarations: String,
    line: String,
    threads: Printed<ThreadId>,
    syncs: Printed<SyncId>,
    arrays: Printed<ArrayId>,
    variables: Printed<Addr>,
}

/// Prints a whole trace. For tests and messages.
pub fn print(events: &[Event], tables: &Tables) -> String {
    let mut printer = Printer::new(Vec::new());
    let result = printer.write(events, tables);
    debug_assert!(result.is_ok(), "a vector takes everything");
    String::from_utf8(printer.output).unwrap_or_default()
}

/// Prints one event for a message, without the declarations that its names may need to be read again.
pub fn print_event(event: &Event, tables: &Tables) -> String {
    let mut printer = Printer::new(std::io::sink());
    printer.event(event, tables);
    printer.line
}

impl<W: Write> Printer<W> {
    /// Writes to `output`, which should be buffered.
    pub fn new(output: W) -> Printer<W> {
        Printer {
            output,
            declarations: String::new(),
            line: String::new(),
            threads: Printed::default(),
            syncs: Printed::default(),
            arrays: Printed::default(),
            variables: Printed::default(),
        }
    }

    /// Fills `line` and `declarations`.
    fn event(&mut self, event: &Event, tables: &Tables) {
        self.line.clear();
        self.declarations.clear();
        self.thread(event.thread, tables, true);
        match event.op {
            Op::Read { addr, size, value } => {
                self.line.push_str(" r ");
                self.bytes(addr, size, tables);
                self.value(value);
            }
            Op::Write { addr, size, value } => {
                self.line.push_str(" w ");
                self.bytes(addr, size, tables);
                self.value(value);
            }
            Op::ArrayRead { array, indices } => {
                self.line.push_str(" r ");
                self.array(array, tables);
                self.indices(indices);
            }
            Op::ArrayWrite { array, indices } => {
                self.line.push_str(" w ");
                self.array(array, tables);
                self.indices(indices);
            }
            Op::Acquire { lock, mode } => {
                let word = if mode == Mode::Exclusive {
                    " acq "
                } else {
                    " acqr "
                };
                self.sync(word, lock, tables);
            }
            Op::Release { lock } => self.sync(" rel ", lock, tables),
            Op::Atomic {
                addr,
                size,
                op,
                order,
                value,
            } => {
                self.line.push_str(match op {
                    AtomicOp::Load => " load ",
                    AtomicOp::Store => " store ",
                    AtomicOp::Rmw => " rmw ",
                });
                self.bytes(addr, size, tables);
                self.order(order);
                self.value(value);
            }
            Op::Fence { order } => {
                self.line.push_str(" fence");
                self.order(order);
            }
            Op::Fork { child } => {
                self.line.push_str(" fork ");
                self.thread(child, tables, false);
            }
            Op::Join { child } => {
                self.line.push_str(" join ");
                self.thread(child, tables, false);
            }
            Op::Begin => self.line.push_str(" begin"),
            Op::End => self.line.push_str(" end"),
            Op::BarrierEnter { barrier } => self.sync(" enter ", barrier, tables),
            Op::BarrierLeave { barrier } => self.sync(" leave ", barrier, tables),
            Op::Send { channel } => self.sync(" send ", channel, tables),
            Op::Receive { channel } => self.sync(" recv ", channel, tables),
            Op::Alloc { addr, size } => {
                self.line.push_str(" alloc ");
                self.bytes(addr, size, tables);
            }
            Op::Free { addr, size } => {
                self.line.push_str(" free ");
                self.bytes(addr, size, tables);
            }
            Op::NewArray { array, len } => {
                self.line.push_str(" new ");
                self.array(array, tables);
                let _ = write!(self.line, " {len}");
            }
            Op::CallBegin { function, objects } => {
                self.line.push_str(" call ");
                push_name(&mut self.line, tables.name(function));
                let objects = tables.objects(objects);
                if !objects.is_empty() {
                    self.line.push_str(" {");
                    for (n, object) in objects.iter().enumerate() {
                        self.line.push_str(if n == 0 { "" } else { ", " });
                        self.bytes(object.addr, object.size, tables);
                    }
                    self.line.push('}');
                }
            }
            Op::CallEnd => self.line.push_str(" ret"),
        }
        self.site(event.site, tables);
    }

    fn thread(&mut self, thread: ThreadId, tables: &Tables, first: bool) {
        let name = lookup(tables, tables.threads.get(&thread));
        let automatic = |n| Some(ThreadId(NAMED_ID.checked_add(u32::try_from(n).ok()?)?));
        let show = self.threads.show(thread, name, automatic);
        if let Show::Number = show {
            let _ = write!(self.line, "{thread}");
            return;
        }
        let quote = numbered(name, 'T').is_some() || (first && DECLARATIONS.contains(&name));
        if let Show::Declare = show {
            declare(
                &mut self.declarations,
                "thread",
                name,
                quote,
                u64::from(thread.0),
                false,
            );
        }
        push_quoted_if(&mut self.line, name, quote);
    }

    fn array(&mut self, array: ArrayId, tables: &Tables) {
        let name = lookup(tables, tables.arrays.get(&array));
        let automatic = |n| Some(ArrayId(NAMED_ID.checked_add(u32::try_from(n).ok()?)?));
        let show = self.arrays.show(array, name, automatic);
        if let Show::Number = show {
            let _ = write!(self.line, "{array}");
            return;
        }
        let quote = numbered(name, 'A').is_some() || name.starts_with(|c: char| c.is_ascii_digit());
        if let Show::Declare = show {
            declare(
                &mut self.declarations,
                "array",
                name,
                quote,
                u64::from(array.0),
                false,
            );
        }
        push_quoted_if(&mut self.line, name, quote);
    }

    fn sync(&mut self, word: &str, sync: SyncId, tables: &Tables) {
        self.line.push_str(word);
        let name = lookup(tables, tables.syncs.get(&sync));
        let show = self.syncs.show(sync, name, |n| Some(SyncId(NAMED_SYNC + n)));
        if let Show::Number = show {
            let _ = write!(self.line, "{sync}");
            return;
        }
        let quote = numbered(name, 'S').is_some();
        if let Show::Declare = show {
            declare(&mut self.declarations, "sync", name, quote, sync.0, false);
        }
        push_quoted_if(&mut self.line, name, quote);
    }

    /// A variable and the offset in it where a name is known, else the address.
    fn bytes(&mut self, addr: Addr, size: u32, tables: &Tables) {
        let floor = Addr(addr.0 & !(SPACING - 1));
        let base = [addr, floor]
            .into_iter()
            .find(|base| tables.variables.contains_key(base));
        let named = base
            .filter(|base| addr.0 - base.0 + u64::from(size) <= SPACING)
            .and_then(|base| {
                let name = lookup(tables, tables.variables.get(&base));
                let automatic = |n: u64| SPACING.checked_mul(n)?.checked_add(NAMED_ADDR).map(Addr);
                match self.variables.show(base, name, automatic) {
                    Show::Number => None,
                    show => Some((base, name, show)),
                }
            });
        let offset = if let Some((base, name, show)) = named {
            let quote = name.starts_with(|c: char| c.is_ascii_digit());
            if let Show::Declare = show {
                declare(&mut self.declarations, "var", name, quote, base.0, true);
            }
            push_quoted_if(&mut self.line, name, quote);
            addr.0 - base.0
        } else {
            let _ = write!(self.line, "{addr}");
            0
        };
        if size != DEFAULT_SIZE {
            let _ = write!(self.line, ":{size}");
        }
        if offset != 0 {
            let _ = write!(self.line, "+{offset}");
        }
    }

    fn indices(&mut self, indices: Indices) {
        let (first, last, stride) = (indices.first(), indices.last(), indices.stride());
        let _ = match (first == last, stride) {
            (true, _) => write!(self.line, "[{first}]"),
            (false, 1) => write!(self.line, "[{first}..{last}]"),
            (false, _) => write!(self.line, "[{first}..{last}:{stride}]"),
        };
    }

    fn order(&mut self, order: Order) {
        for (word, of) in ORDERS {
            if of == order {
                self.line.push(' ');
                self.line.push_str(word);
            }
        }
    }

    fn value(&mut self, value: Option<u64>) {
        if let Some(value) = value {
            let _ = write!(self.line, " ={value}");
        }
    }

    fn site(&mut self, id: SiteId, tables: &Tables) {
        let Some(site) = tables.sites.get(id.index()) else {
            if id.0 != 0 {
                let _ = write!(self.line, " @:{}", id.0);
            }
            return;
        };
        if *site == deadheat_event::Site::default() {
            return;
        }
        self.line.push_str(" @");
        if !tables.name(site.file).is_empty() {
            push_name(&mut self.line, tables.name(site.file));
        }
        if site.line != 0 || site.column != 0 {
            let _ = write!(self.line, ":{}", site.line);
        }
        if site.column != 0 {
            let _ = write!(self.line, ":{}", site.column);
        }
        if !tables.name(site.function).is_empty() {
            self.line.push('(');
            push_name(&mut self.line, tables.name(site.function));
            self.line.push(')');
        }
    }
}

impl<W: Write> Sink for Printer<W> {
    fn write(&mut self, events: &[Event], tables: &Tables) -> Result<()> {
        for event in events {
            self.event(event, tables);
            self.line.push('\n');
            self.output.write_all(self.declarations.as_bytes())?;
            self.output.write_all(self.line.as_bytes())?;
        }
        Ok(())
    }

    fn finish(&mut self, _tables: &Tables) -> Result<()> {
        Ok(self.output.flush()?)
    }
}

fn lookup<'t>(tables: &'t Tables, id: Option<&NameId>) -> &'t str {
    id.map_or("", |&id| tables.name(id))
}

fn declare(to: &mut String, kind: &str, name: &str, quote: bool, number: u64, hex: bool) {
    to.push_str(kind);
    to.push(' ');
    push_quoted_if(to, name, quote);
    let _ = if hex {
        writeln!(to, " = {number:#x}")
    } else {
        writeln!(to, " = {number}")
    };
}

fn push_name(to: &mut String, name: &str) {
    push_quoted_if(to, name, false);
}

fn push_quoted_if(to: &mut String, name: &str, quote: bool) {
    if !quote && !name.is_empty() && name.chars().all(is_bare) {
        to.push_str(name);
        return;
    }
    to.push('"');
    for c in name.chars() {
        match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            c => to.push(c),
        }
    }
    to.push('"');
}
