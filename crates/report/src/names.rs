//! Ids to names.

use crate::model::{Elements, Frame, Location, Lock, Step, What};
use deadheat_event::{Addr, AtomicOp, Event, Mode, NameId, Op, Place, SiteId, SyncId, Tables, ThreadId};

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

/// One event of a schedule, in words.
pub fn step(number: u64, event: &Event, tables: &Tables) -> Step {
    Step {
        event: number,
        thread: event.thread.0,
        name: thread(event.thread, tables),
        does: does(event, tables),
        frame: frame(event.site, tables),
    }
}

fn does(event: &Event, tables: &Tables) -> String {
    let bytes = |verb: &str, addr: Addr, value: Option<u64>| {
        let name = variable(addr, tables).unwrap_or_else(|| addr.to_string());
        let value = value.map(|value| format!(" = {value}")).unwrap_or_default();
        format!("{verb} {name}{value}")
    };
    let elements = |verb: &str, array, indices| {
        let place = location(Place::Array { array, indices }, tables);
        format!("{verb} {}", place.name.unwrap_or_default())
    };
    let on = |verb: &str, id: SyncId| {
        let name = known(tables, tables.syncs.get(&id)).unwrap_or_else(|| id.to_string());
        format!("{verb} {name}")
    };
    let child = |verb: &str, id: ThreadId| {
        let name = thread(id, tables).unwrap_or_else(|| id.to_string());
        format!("{verb} {name}")
    };
    match event.op {
        Op::Read { addr, value, .. } => bytes("read", addr, value),
        Op::Write { addr, value, .. } => bytes("write", addr, value),
        Op::ArrayRead { array, indices } => elements("read", array, indices),
        Op::ArrayWrite { array, indices } => elements("write", array, indices),
        Op::Atomic { addr, op, value, .. } => match op {
            AtomicOp::Load => bytes("atomic load of", addr, value),
            AtomicOp::Store => bytes("atomic store to", addr, value),
            AtomicOp::Rmw => bytes("atomic update of", addr, value),
        },
        Op::Acquire { lock, mode } => match mode {
            Mode::Exclusive => on("acquire", lock),
            Mode::Shared => on("acquire as a reader", lock),
        },
        Op::Release { lock } => on("release", lock),
        Op::Fence { .. } => "fence".to_owned(),
        Op::Fork { child: id } => child("fork", id),
        Op::Join { child: id } => child("join", id),
        Op::Begin => "begin".to_owned(),
        Op::End => "end".to_owned(),
        Op::BarrierEnter { barrier } => on("enter barrier", barrier),
        Op::BarrierLeave { barrier } => on("leave barrier", barrier),
        Op::Send { channel } => on("send to", channel),
        Op::Receive { channel } => on("receive from", channel),
        Op::Alloc { addr, .. } => bytes("allocate", addr, None),
        Op::Free { addr, .. } => bytes("free", addr, None),
        Op::NewArray { array, .. } => {
            let name = known(tables, tables.arrays.get(&array)).unwrap_or_else(|| array.to_string());
            format!("new {name}")
        }
        Op::CallBegin { function, .. } => match tables.name(function) {
            "" => "call".to_owned(),
            name => format!("call {name}"),
        },
        Op::CallEnd => "return from call".to_owned(),
    }
}
