//! Table blocks: strings, sites, object sets and names, in the order of their ids.

use super::MAX_RAW;
use super::block::Kind;
use super::varint::{get, get32, put, unzigzag, zigzag};
use deadheat_event::{
    Addr, ArrayId, Code, MAX_ACCESS, NameId, Object, Site, SiteId, SyncId, Tables, ThreadId,
};
use rustc_hash::FxHashSet;

/// Where a table block is cut.
const TARGET: usize = 1 << 20;

/// Strings are cut to this many bytes.
const MAX_STRING: usize = 1 << 20;

/// The most memory that the tables of one trace may take, as far as it can be told from their sizes.
const MAX_MEMORY: u64 = 2 << 30;

/// What of some [`Tables`] is in the file already.
#[derive(Default)]
pub(super) struct Written {
    strings: usize,
    sites: usize,
    object_sets: usize,
    names: [FxHashSet<u64>; 7],
    /// The number of names from which on it pays to look for new ones.
    names_due: usize,
}

/// A table block, not yet packed.
pub(super) struct TableBlock {
    pub(super) kind: Kind,
    pub(super) count: u32,
    pub(super) raw: Vec<u8>,
}

impl Written {
    /// Hands `write` blocks with all that is new. Names wait until there are twice as many as before, or for `all`: they
    /// are not needed to decode events, and looking for the new ones takes a pass over all.
    pub(super) fn update<E>(
        &mut self,
        tables: &Tables,
        all: bool,
        mut write: impl FnMut(TableBlock) -> Result<(), E>,
    ) -> Result<(), E> {
        while self.strings < tables.strings.len() {
            let (block, next) = entries(Kind::Strings, &tables.strings, self.strings, |raw, string, _| {
                let string = clipped(string).as_bytes();
                put(raw, string.len() as u64);
                raw.extend_from_slice(string);
            });
            write(block)?;
            self.strings = next;
        }
        while self.sites < tables.sites.len() {
            let (block, next) = entries(Kind::Sites, &tables.sites, self.sites, |raw, site, last| {
                let last = last.copied().unwrap_or_default();
                let change = |now: u32, then: u32| zigzag(i64::from(now) - i64::from(then));
                put(raw, change(site.function.0, last.function.0));
                put(raw, change(site.file.0, last.file.0));
                put(raw, change(site.line, last.line));
                put(raw, change(site.column, last.column));
            });
            write(block)?;
            self.sites = next;
        }
        while self.object_sets < tables.object_sets.len() {
            let (block, next) = entries(
                Kind::ObjectSets,
                &tables.object_sets,
                self.object_sets,
                |raw, set, _| {
                    put(raw, set.len() as u64);
                    let mut last = 0;
                    for object in set {
                        put(raw, zigzag(object.addr.0.wrapping_sub(last) as i64));
                        put(raw, u64::from(object.size));
                        last = object.addr.0;
                    }
                },
            );
            write(block)?;
            self.object_sets = next;
        }
        let names = tables.threads.len() + tables.syncs.len() + tables.arrays.len() + tables.variables.len();
        let names = names + tables.command.len() + tables.modules.len() + tables.code.len();
        if names >= self.names_due || all {
            self.names_due = (2 * names).max(64);
            self.names(tables, write)?;
        }
        Ok(())
    }

    fn names<E>(
        &mut self,
        tables: &Tables,
        mut write: impl FnMut(TableBlock) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut fresh: Vec<(u8, u64, u32)> = Vec::new();
        let all = (tables
            .threads
            .iter()
            .map(|(id, &name)| (0, u64::from(id.0), name.0)))
        .chain(tables.syncs.iter().map(|(id, &name)| (1, id.0, name.0)))
        .chain({ tables.arrays.iter() }.map(|(id, &name)| (2, u64::from(id.0), name.0)))
        .chain(tables.variables.iter().map(|(id, &name)| (3, id.0, name.0)))
        .chain(tables.command.iter().map(|(&at, &name)| (4, at, name.0)))
        .chain(tables.modules.iter().map(|(&at, &name)| (5, at, name.0)))
        .chain(
            tables
                .code
                .iter()
                .map(|(code, site)| (6, code.to_number(), site.0)),
        );
        for (kind, id, name) in all {
            if self.names[usize::from(kind)].insert(id) {
                fresh.push((kind, id, name));
            }
        }
        // The maps have no order of their own; a file should not depend on their whims.
        fresh.sort_unstable();
        let mut next = 0;
        while next < fresh.len() {
            let (block, end) = entries(Kind::Names, &fresh, next, |raw, &(kind, id, name), last| {
                let last = last.filter(|last| last.0 == kind).map_or(0, |last| last.1);
                raw.push(kind);
                put(raw, id.wrapping_sub(last));
                put(raw, u64::from(name));
            });
            write(block)?;
            next = end;
        }
        Ok(())
    }
}

/// A string without what is beyond [`MAX_STRING`].
fn clipped(string: &str) -> &str {
    let mut end = string.len().min(MAX_STRING);
    while !string.is_char_boundary(end) {
        end -= 1;
    }
    &string[..end]
}

/// Encodes entries from `start` on until the block is full. `encode` also gets the entry before in the same block.
fn entries<T>(
    kind: Kind,
    table: &[T],
    start: usize,
    encode: impl Fn(&mut Vec<u8>, &T, Option<&T>),
) -> (TableBlock, usize) {
    let mut raw = Vec::new();
    if kind != Kind::Names {
        put(&mut raw, start as u64);
    }
    let mut next = start;
    while next < table.len() && raw.len() < TARGET {
        encode(
            &mut raw,
            &table[next],
            if next > start { table.get(next - 1) } else { None },
        );
        next += 1;
    }
    // At most one entry for each byte, and blocks are small.
    (
        TableBlock {
            kind,
            count: (next - start) as u32,
            raw,
        },
        next,
    )
}

/// Adds table blocks to [`Tables`] within a limit of memory.
#[derive(Default)]
pub(super) struct Collector {
    pub(super) tables: Tables,
    memory: u64,
}

impl Collector {
    /// Reads the raw payload of a table block. `Err` says what is wrong.
    pub(super) fn add(&mut self, kind: Kind, count: u32, raw: &[u8]) -> Result<(), String> {
        let each = match kind {
            Kind::Strings => size_of::<String>(),
            Kind::Sites => size_of::<Site>(),
            Kind::ObjectSets => size_of::<Box<[Object]>>(),
            _ => 2 * size_of::<(u64, NameId)>(),
        };
        // Object sets grow from two bytes to sixteen for each object, strings not at all.
        self.memory += u64::from(count) * each as u64 + 8 * raw.len() as u64;
        if self.memory > MAX_MEMORY {
            return Err(format!(
                "tables that take more than {} MiB of memory",
                MAX_MEMORY >> 20
            ));
        }
        let done = match kind {
            Kind::Strings => self.strings(count, raw),
            Kind::Sites => self.sites(count, raw),
            Kind::ObjectSets => self.object_sets(count, raw),
            _ => self.names(count, raw),
        };
        match done {
            Some(end) if end == raw.len() => Ok(()),
            _ => Err(format!("a table of {kind:?} that makes no sense")),
        }
    }

    fn strings(&mut self, count: u32, raw: &[u8]) -> Option<usize> {
        let at = &mut 0;
        if get(raw, at)? != self.tables.strings.len() as u64 {
            return None;
        }
        for _ in 0..count {
            let len = usize::try_from(get(raw, at)?).ok()?;
            let bytes = raw.get(*at..at.checked_add(len)?)?;
            *at += len;
            self.tables
                .strings
                .push(String::from_utf8_lossy(bytes).into_owned());
        }
        Some(*at)
    }

    fn sites(&mut self, count: u32, raw: &[u8]) -> Option<usize> {
        let at = &mut 0;
        if get(raw, at)? != self.tables.sites.len() as u64 {
            return None;
        }
        let mut last = Site::default();
        let change = |then: u32, at: &mut usize| {
            let change = unzigzag(get(raw, at)?);
            i64::from(then)
                .checked_add(change)
                .and_then(|now| u32::try_from(now).ok())
        };
        for _ in 0..count {
            last = Site {
                function: NameId(change(last.function.0, at)?),
                file: NameId(change(last.file.0, at)?),
                line: change(last.line, at)?,
                column: change(last.column, at)?,
            };
            self.tables.sites.push(last);
        }
        Some(*at)
    }

    fn object_sets(&mut self, count: u32, raw: &[u8]) -> Option<usize> {
        let at = &mut 0;
        if get(raw, at)? != self.tables.object_sets.len() as u64 {
            return None;
        }
        for _ in 0..count {
            let mut set = Vec::new();
            let mut last = 0_u64;
            for _ in 0..get(raw, at)? {
                last = last.wrapping_add(unzigzag(get(raw, at)?) as u64);
                set.push(Object {
                    addr: Addr(last),
                    size: get32(raw, at).filter(|&size| u64::from(size) <= MAX_ACCESS)?,
                });
            }
            self.tables.object_sets.push(set.into_boxed_slice());
        }
        Some(*at)
    }

    fn names(&mut self, count: u32, raw: &[u8]) -> Option<usize> {
        let at = &mut 0;
        let (mut last_kind, mut last) = (u8::MAX, 0_u64);
        for _ in 0..count {
            let kind = *raw.get(*at)?;
            *at += 1;
            last = get(raw, at)?.wrapping_add(if kind == last_kind { last } else { 0 });
            last_kind = kind;
            let name = NameId(get32(raw, at)?);
            match kind {
                0 => drop(
                    self.tables
                        .threads
                        .insert(ThreadId(u32::try_from(last).ok()?), name),
                ),
                1 => drop(self.tables.syncs.insert(SyncId(last), name)),
                2 => drop(
                    self.tables
                        .arrays
                        .insert(ArrayId(u32::try_from(last).ok()?), name),
                ),
                3 => drop(self.tables.variables.insert(Addr(last), name)),
                4 => drop(self.tables.command.insert(last, name)),
                5 => drop(self.tables.modules.insert(last, name)),
                6 => drop({ &mut self.tables.code }.insert(Code::from_number(last), SiteId(name.0))),
                _ => return None,
            }
        }
        Some(*at)
    }
}

const _: () = assert!(TARGET + MAX_STRING + 16 < MAX_RAW as usize);
