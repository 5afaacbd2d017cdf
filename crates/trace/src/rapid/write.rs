//! The writer of STD. What STD cannot say is an error that names the first such event: leaving events out would change
//! which accesses race.

use super::{SUFFIX_FILE, is_separator};
use crate::{Error, Format, Result, Sink, text::print_event};
use deadheat_event::{Addr, ArrayId, Event, Mode, NameId, Op, SiteId, SyncId, Tables, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::hash::Hash;
use std::io::Write;

/// What operands of one kind are called. No two share a name.
struct Names<K> {
    by_id: FxHashMap<K, Box<str>>,
    taken: FxHashSet<Box<str>>,
}

impl<K> Default for Names<K> {
    fn default() -> Names<K> {
        Names {
            by_id: FxHashMap::default(),
            taken: FxHashSet::default(),
        }
    }
}

impl<K: Copy + Eq + Hash> Names<K> {
    /// The name of `id`: the one in the tables, or else `fallback`, made unique if another one has it already.
    fn get(&mut self, id: K, name: Option<&str>, fallback: impl FnOnce() -> String) -> &str {
        let taken = &mut self.taken;
        self.by_id.entry(id).or_insert_with(|| {
            let name = match name {
                Some(name) if !name.is_empty() => name.replace(|c: char| c == '|' || c.is_whitespace(), "_"),
                _ => fallback(),
            };
            let mut unique = name.clone();
            let mut n = 2;
            while !taken.insert(unique.as_str().into()) {
                unique = format!("{name}#{n}");
                n += 1;
            }
            unique.into()
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Variable {
    Memory(Addr),
    Element(ArrayId, u64),
}

/// Writes an STD trace. Recorded values and sizes are left out; sites with a file or function become their number.
#[derive(Default)]
pub struct Printer<W> {
    output: W,
    line: Vec<u8>,
    event: u64,
    threads: Names<ThreadId>,
    locks: Names<SyncId>,
    variables: Names<Variable>,
    /// First byte and size of all memory that was accessed: STD has no variables that overlap.
    extents: BTreeMap<u64, u32>,
}

impl<W: Write> Printer<W> {
    /// Writes to `output`, which should be buffered.
    pub fn new(output: W) -> Printer<W> {
        Printer {
            output,
            line: Vec::new(),
            event: 0,
            threads: Names::default(),
            locks: Names::default(),
            variables: Names::default(),
            extents: BTreeMap::new(),
        }
    }

    /// The underlying file.
    pub fn into_inner(self) -> W {
        self.output
    }

    fn print(&mut self, event: &Event, tables: &Tables) -> Result<(), String> {
        let line = &mut self.line;
        line.clear();
        line.extend_from_slice(thread(&mut self.threads, event.thread, tables).as_bytes());
        let (word, operand): (&str, &str) = match event.op {
            Op::Read { addr, size, .. } | Op::Write { addr, size, .. } => {
                check_extent(&mut self.extents, addr, size)?;
                let name = tables.variables.get(&addr).map(|&name| tables.name(name));
                let name = self
                    .variables
                    .get(Variable::Memory(addr), name, || addr.to_string());
                (
                    if matches!(event.op, Op::Read { .. }) {
                        "r"
                    } else {
                        "w"
                    },
                    name,
                )
            }
            Op::ArrayRead { array, indices } | Op::ArrayWrite { array, indices } => {
                if !indices.is_one() {
                    return Err("STD has no array ranges".to_owned());
                }
                let index = indices.first();
                let name = tables
                    .arrays
                    .get(&array)
                    .map(|&name| tables.name(name))
                    .filter(|name| !name.is_empty());
                let element =
                    name.map_or_else(|| format!("{array}[{index}]"), |name| format!("{name}[{index}]"));
                let name = self
                    .variables
                    .get(Variable::Element(array, index), Some(&element), String::new);
                (
                    if matches!(event.op, Op::ArrayRead { .. }) {
                        "r"
                    } else {
                        "w"
                    },
                    name,
                )
            }
            Op::Acquire {
                lock: id,
                mode: Mode::Exclusive,
            } => ("acq", lock(&mut self.locks, id, tables)),
            Op::Release { lock: id } => ("rel", lock(&mut self.locks, id, tables)),
            Op::Fork { child } => ("fork", thread(&mut self.threads, child, tables)),
            Op::Join { child } => ("join", thread(&mut self.threads, child, tables)),
            Op::Begin => ("begin", ""),
            Op::End => ("end", ""),
            Op::Acquire {
                mode: Mode::Shared, ..
            } => return Err("STD has no read locks".to_owned()),
            Op::Atomic { .. } | Op::Fence { .. } => return Err("STD has no atomics and fences".to_owned()),
            Op::BarrierEnter { .. } | Op::BarrierLeave { .. } => return Err("STD has no barriers".to_owned()),
            Op::Send { .. } | Op::Receive { .. } => return Err("STD has no messages".to_owned()),
            Op::Alloc { .. } | Op::Free { .. } | Op::NewArray { .. } => {
                return Err("STD has no allocations".to_owned());
            }
            Op::CallBegin { .. } | Op::CallEnd => {
                return Err("STD has no calls into untraced code".to_owned());
            }
        };
        line.push(b'|');
        line.extend_from_slice(word.as_bytes());
        if operand.is_empty() {
            line.extend_from_slice(suffix(event.site, tables).as_bytes());
        } else {
            line.push(b'(');
            line.extend_from_slice(operand.as_bytes());
            line.push(b')');
        }
        line.push(b'|');
        push_location(line, event.site, tables);
        line.push(b'\n');
        Ok(())
    }
}

impl<W: Write> Sink for Printer<W> {
    fn write(&mut self, events: &[Event], tables: &Tables) -> Result<()> {
        for event in events {
            if let Err(why) = self.print(event, tables) {
                let shown = print_event(event, tables);
                let message = format!("`{shown}`: {why}; write .dht or .txt, which can say everything");
                return Err(Error::Inexpressible {
                    format: Format::Std,
                    event: self.event,
                    message,
                });
            }
            self.output.write_all(&self.line)?;
            self.event += 1;
        }
        Ok(())
    }

    fn finish(&mut self, _tables: &Tables) -> Result<()> {
        Ok(self.output.flush()?)
    }
}

fn thread<'n>(names: &'n mut Names<ThreadId>, thread: ThreadId, tables: &Tables) -> &'n str {
    let name = tables.threads.get(&thread).map(|&name| tables.name(name));
    names.get(thread, name, || thread.to_string())
}

fn lock<'n>(names: &'n mut Names<SyncId>, lock: SyncId, tables: &Tables) -> &'n str {
    let name = tables.syncs.get(&lock).map(|&name| tables.name(name));
    names.get(lock, name, || lock.to_string())
}

/// All accesses to some bytes must be to the same bytes: otherwise names would hide that they overlap.
fn check_extent(extents: &mut BTreeMap<u64, u32>, addr: Addr, size: u32) -> Result<(), String> {
    if extents.get(&addr.0) == Some(&size) {
        return Ok(());
    }
    let end = addr.0.saturating_add(u64::from(size));
    match extents.range(..end).next_back() {
        Some((&other, &len)) if other.saturating_add(u64::from(len)) > addr.0 => Err(format!(
            "it overlaps {len} bytes at {} but is not the same, and STD has no parts",
            Addr(other)
        )),
        _ => {
            extents.insert(addr.0, size);
            Ok(())
        }
    }
}

/// What followed `begin` or `end` in the STD file that the event came from.
fn suffix(site: SiteId, tables: &Tables) -> &str {
    let site = tables.site(site);
    let name = tables.name(site.function);
    let ours = tables.name(site.file) == SUFFIX_FILE && !name.bytes().any(is_separator);
    if ours { name } else { "" }
}

fn push_location(line: &mut Vec<u8>, id: SiteId, tables: &Tables) {
    let site = tables.site(id);
    let bare = site.function == NameId(0) && site.file == NameId(0) && site.column == 0;
    let known = id.index() < tables.sites.len();
    let number = if known && (bare || tables.name(site.file) == SUFFIX_FILE) {
        site.line
    } else {
        id.0
    };
    // Writing to a vector cannot fail.
    let _ = write!(line, "{}", number as i32);
}
