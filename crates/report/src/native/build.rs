//! A race as told to a finding: addresses to names, ids to what they stand for.

use super::{Process, Race, hint, wire};
use crate::collect::fnv;
use crate::model::{Access, Block, Finding, Frame, Location, Lock, Operation, Role, Thread, What};
use crate::symbols::{Symbols, mark_start};

/// The detector of the runtime.
const DETECTOR: &str = "fasttrack";
/// Threads that made the racing ones are named up to this depth.
const MAX_ANCESTORS: usize = 8;

pub struct Builder<'a> {
    pub process: &'a Process,
    pub symbols: &'a mut Symbols,
}

impl Builder<'_> {
    /// Makes the finding. `{id}` in `again` becomes its id.
    pub fn finding(mut self, race: &Race, again: &str) -> Finding {
        let location = self.location(race);
        // The present access is told first; in a finding the earlier one is.
        let accesses: Vec<Access> = race
            .accesses
            .iter()
            .rev()
            .map(|(access, locks)| self.access(access, locks))
            .collect();
        let kind: Vec<&str> = accesses.iter().map(|access| access.op.as_str()).collect();
        let id = identity(&accesses, &location);
        let mut finding = Finding {
            kind: kind.join("-"),
            confirmed: true,
            rank: None,
            predicted: false,
            threads: self.threads(&accesses, &location),
            location,
            accesses,
            detector: DETECTOR.to_owned(),
            witness: None,
            confirmation: None,
            event: None,
            count: 1,
            again: again.replace("{id}", &id),
            hint: None,
            id,
        };
        finding.hint = hint::hint(&finding);
        finding
    }

    fn stack(&mut self, id: Option<u64>) -> Vec<Frame> {
        let Some(pcs) = id.and_then(|id| self.process.stacks.get(&id)) else {
            return Vec::new();
        };
        let mut frames = Vec::new();
        for pc in pcs {
            frames.extend(self.symbols.frames(&self.process.mappings, *pc));
            if frames.len() > wire::MAX_FRAMES {
                break;
            }
        }
        mark_start(&mut frames);
        frames
    }

    /// Other lines that an access with these frames may be at: each once, and none of its own; and whether there are more. Named are
    /// lines of the user's: within a function of the standard library they are all the same to its caller.
    fn also(&mut self, id: Option<u64>, own: &[Frame]) -> (Vec<Frame>, bool) {
        let pcs = id.and_then(|id| self.process.stacks.get(&id));
        let (Some(check), Some(innermost)) = (pcs.and_then(|pcs| pcs.first()), own.first()) else {
            return (Vec::new(), false);
        };
        let is_users = |frame: &&Frame| frame.role == Role::User;
        let line = |frame: &Frame| (frame.file.clone(), frame.line);
        let users = own.iter().find(is_users);
        let mut known: Vec<_> = [innermost].into_iter().chain(users).map(line).collect();
        let mut also = Vec::new();
        let place = (
            innermost.line.unwrap_or_default(),
            innermost.column.unwrap_or_default(),
        );
        let (marks, more) = self.symbols.marks(&self.process.mappings, *check, place);
        for mark in marks {
            let frames = self.symbols.frames(&self.process.mappings, mark);
            if let Some(frame) = frames.iter().find(is_users)
                && !known.contains(&line(frame))
            {
                known.push(line(frame));
                also.push(frame.clone());
            }
        }
        (also, more)
    }

    fn access(&mut self, access: &wire::Access, locks: &[wire::Lock]) -> Access {
        let frames = self.stack(access.stack);
        let (also, also_more) = self.also(access.stack, &frames);
        Access {
            thread: access.thread,
            op: access.op,
            atomic: access.atomic,
            address: Some(hex(access.addr)),
            size: Some(access.size),
            also,
            also_more,
            frames,
            locks: Some(locks.iter().map(|lock| self.lock(lock)).collect()),
        }
    }

    fn lock(&mut self, lock: &wire::Lock) -> Lock {
        Lock {
            id: lock.addr,
            name: self.variable_name(lock.addr),
            kind: Some(lock.kind.clone()),
            address: (lock.addr != 0).then(|| hex(lock.addr)),
            taken_at: self.stack(lock.stack),
        }
    }

    /// `name` or `name+offset`, if a global is there.
    fn variable_name(&mut self, address: u64) -> Option<String> {
        let variable = self.symbols.variable(&self.process.mappings, address)?;
        Some(named(&variable.name, address - variable.start))
    }

    fn location(&mut self, race: &Race) -> Location {
        let mut location = Location {
            address: Some(hex(race.addr)),
            size: Some(race.size),
            what: What::Memory,
            name: None,
            elements: None,
            allocated_at: Vec::new(),
            block: None,
            thread: None,
            declared_at: None,
        };
        match race.memory {
            wire::Memory::Heap {
                start,
                size,
                thread,
                stack,
                freed,
            } => {
                location.what = What::Heap;
                location.thread = thread;
                location.allocated_at = self.stack(stack);
                location.block = Some(Block {
                    address: hex(start),
                    size,
                    offset: race.addr.saturating_sub(start),
                    freed,
                });
            }
            wire::Memory::Stack { thread } => {
                location.what = What::Stack;
                location.thread = Some(thread);
            }
            wire::Memory::Tls { thread } => {
                location.what = What::Tls;
                location.thread = Some(thread);
            }
            wire::Memory::Map { start, size } => {
                location.what = What::Map;
                location.block = Some(Block {
                    address: hex(start),
                    size,
                    offset: race.addr.saturating_sub(start),
                    freed: false,
                });
            }
            wire::Memory::Global | wire::Memory::Unknown => self.global(race, &mut location),
        }
        location
    }

    fn global(&mut self, race: &Race, location: &mut Location) {
        if race.memory == wire::Memory::Global {
            location.what = What::Global;
        }
        if let Some(variable) = self.symbols.variable(&self.process.mappings, race.addr) {
            location.what = What::Global;
            location.declared_at = variable.declared_at;
            location.name = Some(named(&variable.name, race.addr - variable.start));
            location.block = Some(Block {
                address: hex(variable.start),
                size: variable.size,
                offset: race.addr - variable.start,
                freed: false,
            });
        }
    }

    /// The threads of the accesses, the one of the memory, and those that made them.
    fn threads(&mut self, accesses: &[Access], location: &Location) -> Vec<Thread> {
        let first = accesses.iter().rev().filter_map(|access| access.thread);
        let mut wanted: Vec<u32> = first.chain(location.thread).collect();
        let mut threads: Vec<Thread> = Vec::new();
        let mut at = 0;
        while let Some(&id) = wanted.get(at) {
            at += 1;
            if threads.iter().any(|thread| thread.id == id) {
                continue;
            }
            let record = self.process.threads.get(&id);
            let parent = record.and_then(|record| record.parent);
            let stack = record.and_then(|record| record.stack);
            let tid = record.and_then(|record| record.tid);
            // A thread that was given no name has its maker's.
            let inherited = { self.process.threads.get(&0) }.map(|main| main.name.as_str());
            let name = record.map(|record| record.name.as_str());
            let name = name.filter(|name| !name.is_empty() && (id == 0 || Some(*name) != inherited));
            let name = name.map(str::to_owned);
            if at <= MAX_ANCESTORS {
                wanted.extend(parent);
            }
            threads.push(Thread {
                id,
                tid,
                name,
                created_by: parent,
                created_at: self.stack(stack),
            });
        }
        threads
    }
}

/// The frames that say where an access is: from the innermost to the first one of the user's own code.
pub fn site(frames: &[Frame]) -> &[Frame] {
    match frames.iter().position(|frame| frame.role.is_user()) {
        Some(user) => &frames[..=user],
        None => frames,
    }
}

/// The same in every run: no addresses of the process, unless nothing else is known.
fn identity(accesses: &[Access], location: &Location) -> String {
    let mut sides: Vec<String> = accesses.iter().map(side).collect();
    sides.sort_unstable();
    if accesses.len() < 2 || accesses.iter().any(|access| access.frames.is_empty()) {
        let place = location.name.as_ref().or(location.address.as_ref());
        sides.push(place.cloned().unwrap_or_default());
    }
    format!("{:016x}", fnv(&sides.join("\n\n")))
}

fn side(access: &Access) -> String {
    // Reads and writes alike: `x += 1` is one place, whichever half of it came to be seen.
    let mut text = format!("{} {}", access.op == Operation::Free, access.atomic);
    for frame in site(&access.frames) {
        let number = |number: Option<u32>| number.map(|n| n.to_string()).unwrap_or_default();
        let mut words = vec![
            frame.function.clone().unwrap_or_default(),
            frame.file.clone().unwrap_or_default(),
            number(frame.line),
            number(frame.column),
        ];
        if frame.line.is_none() {
            // Without lines the address in the file is the place.
            let module = frame.module.as_deref().unwrap_or_default();
            words.push(module.rsplit('/').next().unwrap_or_default().to_owned());
            words.extend(frame.offset.clone());
        }
        for word in words {
            text.push('\n');
            text.push_str(&word);
        }
    }
    text
}

fn named(name: &str, offset: u64) -> String {
    match offset {
        0 => name.to_owned(),
        offset => format!("{name}+{offset}"),
    }
}

fn hex(number: u64) -> String {
    format!("{number:#x}")
}
