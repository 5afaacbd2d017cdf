//! Ids to names.

use crate::model::{Elements, Frame, Location, Lock, What};
use deadheat_event::{Addr, NameId, Place, SiteId, SyncId, Tables, ThreadId};

/// The text format gives every named variable this many bytes to itself, so an address in them can be named.
const VARIABLE: u64 = 4096;

/// The string behind an id, unless it is empty.
fn known(tables: &Tables, id: Option<&NameId>) -> Option<String> {
    let name = tables.name(*id?);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The frame of a site. None if nothing is known about it.
pub fn frame(site: SiteId, tables: &Tables) -> Option<Frame> {
    let site = tables.site(site);
    let frame = Frame {
        function: known(tables, Some(&site.function)),
        file: known(tables, Some(&site.file)),
        line: (site.line != 0).then_some(site.line),
        column: (site.column != 0).then_some(site.column),
        ..Frame::default()
    };
    (frame != Frame::default()).then_some(frame)
}

/// A thread's name.
pub fn thread(id: ThreadId, tables: &Tables) -> Option<String> {
    known(tables, tables.threads.get(&id))
}

/// A lock with its name.
pub fn lock(id: SyncId, tables: &Tables) -> Lock {
    Lock {
        id: id.0,
        name: known(tables, tables.syncs.get(&id)),
        kind: None,
        address: None,
        taken_at: Vec::new(),
    }
}

fn variable(addr: Addr, tables: &Tables) -> Option<String> {
    if let Some(name) = known(tables, tables.variables.get(&addr)) {
        return Some(name);
    }
    let base = Addr(addr.0 & !(VARIABLE - 1));
    let name = known(tables, tables.variables.get(&base))?;
    Some(format!("{name}+{}", addr.0 - base.0))
}

/// What a race was on.
pub fn location(place: Place, tables: &Tables) -> Location {
    match place {
        Place::Memory { addr, size } => Location {
            address: Some(addr.to_string()),
            size: Some(u64::from(size)),
            what: What::Memory,
            name: variable(addr, tables),
            elements: None,
            allocated_at: Vec::new(),
            block: None,
            thread: None,
            declared_at: None,
        },
        Place::Array { array, indices } => {
            let name = known(tables, tables.arrays.get(&array)).unwrap_or_else(|| array.to_string());
            let (first, last, stride) = (indices.first(), indices.last(), indices.stride());
            let name = match (first == last, stride) {
                (true, _) => format!("{name}[{first}]"),
                (false, 1) => format!("{name}[{first}..{last}]"),
                (false, _) => format!("{name}[{first}..{last}:{stride}]"),
            };
            Location {
                address: None,
                size: None,
                what: What::Array,
                name: Some(name),
                elements: Some(Elements { first, last, stride }),
                allocated_at: Vec::new(),
                block: None,
                thread: None,
                declared_at: None,
            }
        }
    }
}
