//! Memory that is neither a heap block nor static data, for who looks at what a missing call reaches: stacks and mappings.

use super::mappings::{self, Mapping};
use super::{pages, reach};
use crate::registry::{self, State};
use crate::thread::Thread;

/// How much is looked at, in bytes, behind an address in a stack: nobody knows which variable is there.
const LOCAL: usize = 64 << 10;
/// The same where thread-local variables are.
const VARIABLE: usize = 1024;

/// All stacks and mappings at some moment. They stay as they are for who looks from before that moment.
pub struct Elsewhere {
    /// By address.
    stacks: Vec<Stack>,
    /// By address.
    mappings: Vec<Mapping>,
}

/// The stack of a thread that has not ended.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// Its first byte.
    pub start: usize,
    /// Its last+1 byte.
    pub end: usize,
    /// Where the frames of the program's functions end, and its thread-local variables. What is between them and behind is the C
    /// library's, with pointers to its own state, which all threads have in common.
    frames: usize,
    tls: usize,
    /// The first byte that can certainly be read.
    from: usize,
}

impl Stack {
    fn new((start, end): (usize, usize), frames: usize, tls: usize, from: usize) -> Stack {
        Stack {
            start,
            end,
            frames,
            tls,
            from,
        }
    }

    /// Where the C library keeps the registers that the thread began with. The program's first functions save the same ones, and
    /// what is in them is left of who created the thread: it is nothing that they use.
    pub fn saved(&self) -> Option<(usize, usize)> {
        let (start, end) = (self.frames + 32, (self.frames + VARIABLE).min(self.tls));
        ((self.start..self.end).contains(&self.tls) && start < end).then_some((start, end))
    }

    /// What is looked at behind an address.
    pub fn part(&self, addr: usize) -> Option<(usize, usize)> {
        let end = match addr < self.frames {
            true => addr.saturating_add(LOCAL).min(self.frames),
            false => addr.saturating_add(VARIABLE).min(self.tls),
        };
        (addr < end && (addr >= self.from || pages::is_mapped(addr))).then_some((addr, end))
    }
}

/// Where an address is.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// In a stack.
    Stack(Stack),
    /// In a mapping.
    Mapping(Mapping),
}

impl Elsewhere {
    /// As it is now.
    pub fn now(t: &Thread) -> Elsewhere {
        let registry = registry::lock();
        let entries = registry.entries.iter().enumerate();
        let mut stacks: Vec<Stack> = entries
            .filter(|(id, entry)| *id == 0 || matches!(entry.state, State::Alive(_)))
            .filter(|(_, entry)| entry.stack.0 < entry.stack.1)
            .map(|(id, entry)| {
                let here = reach::stack_pointer();
                // The first thread's grows, and nobody but itself knows how far it is.
                let from = match id == t.id as usize && (t.stack.0..t.stack.1).contains(&here) {
                    true => here,
                    false if id == 0 => entry.stack.1,
                    false => entry.stack.0,
                };
                Stack::new(entry.stack, entry.frames, entry.tls, from)
            })
            .collect();
        drop(registry);
        stacks.sort_unstable_by_key(|stack| stack.start);
        Elsewhere {
            stacks,
            mappings: mappings::all(),
        }
    }

    /// What an address is in. A stack may be in a mapping.
    pub fn at(&self, addr: usize) -> Option<Place> {
        let next = self.stacks.partition_point(|stack| stack.start <= addr);
        if let Some(stack) = self.stacks[..next].last().filter(|stack| addr < stack.end) {
            return Some(Place::Stack(*stack));
        }
        self.mapping_at(addr).map(Place::Mapping)
    }

    /// The mapping that an address is in.
    pub fn mapping_at(&self, addr: usize) -> Option<Mapping> {
        let next = self.mappings.partition_point(|mapping| mapping.start <= addr);
        let mapping = self.mappings[..next].last();
        mapping.filter(|mapping| addr < mapping.end).copied()
    }
}

/// Parts of stacks that were looked at: first and last+1 address.
#[derive(Default)]
pub struct Looked(Vec<(usize, usize)>);

impl Looked {
    /// What of a part was not looked at yet. It is, from now on.
    pub fn add(&mut self, (mut start, mut end): (usize, usize)) -> Option<(usize, usize)> {
        for &(from, to) in &self.0 {
            if (from..to).contains(&start) {
                start = to;
            }
            if from < end && end <= to {
                end = from;
            }
        }
        if start >= end {
            return None;
        }
        // Pointers often lead from below to what was looked at last.
        match self.0.iter_mut().find(|part| part.0 == end) {
            Some(part) => part.0 = start,
            None => self.0.push((start, end)),
        }
        Some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_stack_is_looked_at_once() {
        let mut looked = Looked::default();
        assert_eq!(looked.add((100, 200)), Some((100, 200)));
        assert_eq!(looked.add((120, 200)), None);
        assert_eq!(looked.add((60, 160)), Some((60, 100)));
        assert_eq!(looked.add((150, 250)), Some((200, 250)));
        assert_eq!(looked.0, [(60, 200), (200, 250)]);
    }

    #[test]
    fn the_state_of_the_c_library_is_no_part_of_what_is_looked_at() {
        let stack = Stack::new((0x10000, 0x90000), 0x70000, 0x80000, 0x20000);
        assert_eq!(stack.part(0x30000), Some((0x30000, 0x40000)));
        assert_eq!(stack.part(0x6fff0), Some((0x6fff0, 0x70000)));
        assert_eq!(stack.part(0x78000), Some((0x78000, 0x78400)), "thread-local");
        assert_eq!(stack.part(0x80010), None);
        assert_eq!(stack.part(0x18000), None, "nothing is mapped there");
    }
}
