//! What calls of a function may do that ends the span in which a check may stand for an access (the kill sets of BigFoot §4),
//! for the whole program.
//!
//! Each module is summed up once, by what its functions do themselves and whom they call ([`summary`], kept in the cache).
//! When all modules of a link are known, [`resolve`] follows the calls, and each module is instrumented with the [`Facts`]
//! of the functions that it calls. Those facts are part of the key under which the result is kept.
//!
//! Taken as unknown, which is everything at once: functions outside of the link but for a few of libc ([`known`]), calls
//! through pointers (a pointer may come from a library) unless all functions that they may mean can be seen, and functions that
//! the linker or the loader may replace by others ([`resolve`]). Signal handlers are not thought of: one that runs between an access and the check that stands for it, and
//! synchronises, may hide a race.

pub mod known;
pub mod resolve;
mod sharing;
pub mod summary;

use std::collections::{BTreeMap, BTreeSet};

/// What may happen while a function runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effects {
    /// It may learn of what other threads did.
    pub acquires: bool,
    /// It may tell other threads what this one did.
    pub releases: bool,
    /// It may not come back where it was called: the program ends, the stack is unwound, `longjmp`.
    pub may_not_return: bool,
    /// It may run forever.
    pub may_not_end: bool,
    /// Memory may be freed, unmapped or mapped anew.
    pub frees: bool,
    /// It does what a loop may do forever: input and output, volatile and atomic accesses.
    pub observable: bool,
    /// There may be more threads afterwards, or it may come back a second time.
    pub spawns: bool,
}

impl Effects {
    /// Nothing of it.
    pub const NONE: Effects = Effects::from_bits(0);
    /// All of it: whatever is not known.
    pub const UNKNOWN: Effects = Effects::from_bits(ALL);

    /// As a number.
    pub const fn bits(self) -> u8 {
        self.acquires as u8
            | (self.releases as u8) << 1
            | (self.may_not_return as u8) << 2
            | (self.may_not_end as u8) << 3
            | (self.frees as u8) << 4
            | (self.observable as u8) << 5
            | (self.spawns as u8) << 6
    }

    /// From that number.
    pub const fn from_bits(bits: u8) -> Effects {
        Effects {
            acquires: bits & 1 != 0,
            releases: bits & 2 != 0,
            may_not_return: bits & 4 != 0,
            may_not_end: bits & 8 != 0,
            frees: bits & 16 != 0,
            observable: bits & 32 != 0,
            spawns: bits & 64 != 0,
        }
    }

    /// What either may do.
    pub const fn or(self, other: Effects) -> Effects {
        Effects::from_bits(self.bits() | other.bits())
    }

    /// What both may do.
    pub const fn and(self, other: Effects) -> Effects {
        Effects::from_bits(self.bits() & other.bits())
    }

    /// Whether a check before it does not stand for accesses behind it.
    pub fn ends_checks(self) -> bool {
        self.releases || self.frees
    }

    /// Whether a check behind it does not stand for accesses before it.
    pub fn ends_accesses(self) -> bool {
        self.acquires || self.frees || self.may_not_return || self.may_not_end
    }
}

const ALL: u8 = 127;

/// What is known of functions by their names, seen from one module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    functions: BTreeMap<String, Effects>,
    /// Which of its first 64 parameters a function keeps no copy of, as bits.
    forgets: BTreeMap<String, u64>,
    /// Whether the program has one thread when `main` begins, and `main` is called only then.
    pub starts_alone: bool,
    /// Which of the first 64 parameters of a function of the module always point to memory that no other thread sees, as bits.
    private: BTreeMap<String, u64>,
    /// Functions of the module that are called only while the program has one thread.
    alone: BTreeSet<String>,
    /// Variables that are written only then.
    published: BTreeSet<String>,
    /// Those of them that alone lead to blocks of the heap, if these are written only then as well.
    blocks: BTreeSet<String>,
}

impl Facts {
    /// What calls of the function of this name may do, if it is one of the link.
    pub fn get(&self, name: &str) -> Option<Effects> {
        self.functions.get(name).copied()
    }

    /// Whether no copy of the address that a function of the link is given as this parameter stays or is seen by others.
    pub fn forgets(&self, name: &str, parameter: u32) -> bool {
        let bits = self.forgets.get(name).copied().unwrap_or_default();
        parameter < u64::BITS && bits >> parameter & 1 != 0
    }

    /// Notes which parameters a function keeps no copy of.
    pub fn note_forgets(&mut self, name: &str, bits: u64) {
        if bits != 0 {
            self.forgets.insert(name.to_owned(), bits);
        }
    }

    /// Whether the memory that a function is given as this parameter is private to the calling thread, whoever calls.
    pub fn is_private(&self, name: &str, parameter: u32) -> bool {
        let bits = self.private.get(name).copied().unwrap_or_default();
        parameter < u64::BITS && bits >> parameter & 1 != 0
    }

    /// Notes which parameters of a function are.
    pub fn note_private(&mut self, name: &str, bits: u64) {
        if bits != 0 {
            self.private.insert(name.to_owned(), bits);
        }
    }

    /// Whether a function is called only while the program has one thread.
    pub fn is_alone(&self, name: &str) -> bool {
        self.alone.contains(name)
    }

    /// Notes that a function is.
    pub fn note_alone(&mut self, name: &str) {
        self.alone.insert(name.to_owned());
    }

    /// Whether a variable is written only while the program has one thread.
    pub fn is_published(&self, name: &str) -> bool {
        self.published.contains(name)
    }

    /// Notes that a variable is.
    pub fn note_published(&mut self, name: &str) {
        self.published.insert(name.to_owned());
    }

    /// Whether blocks of the heap that a variable leads to are, too, and nobody else leads there.
    pub fn are_blocks_published(&self, name: &str) -> bool {
        self.blocks.contains(name)
    }

    /// Notes that they are.
    pub fn note_blocks(&mut self, name: &str) {
        self.blocks.insert(name.to_owned());
    }

    /// Bytes that stand for all of it.
    pub fn digest(&self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.starts_alone)];
        for table in [&self.forgets, &self.private] {
            for (name, bits) in table {
                bytes.extend(name.bytes());
                bytes.push(0);
                bytes.extend(bits.to_le_bytes());
            }
            bytes.push(0);
        }
        for names in [&self.alone, &self.published, &self.blocks] {
            for name in names {
                bytes.extend(name.bytes());
                bytes.push(0);
            }
            bytes.push(0);
        }
        for (name, effects) in &self.functions {
            bytes.extend(name.bytes());
            bytes.extend([0, effects.bits()]);
        }
        bytes
    }
}

impl FromIterator<(String, Effects)> for Facts {
    fn from_iter<T: IntoIterator<Item = (String, Effects)>>(rows: T) -> Self {
        Facts {
            functions: rows.into_iter().collect(),
            ..Facts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_for_effects() {
        for bits in 0..=ALL {
            assert_eq!(Effects::from_bits(bits).bits(), bits);
        }
    }
}
