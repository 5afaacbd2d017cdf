//! Interned names and sets that events refer to by id.

use crate::{Addr, ArrayId, NameId, ObjectSetId, SiteId, SyncId, ThreadId};
use std::collections::{BTreeMap, HashMap};

/// A program location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Site {
    /// Function name.
    pub function: NameId,
    /// File name.
    pub file: NameId,
    /// Line, or 0 if unknown.
    pub line: u32,
    /// Column, or 0 if unknown.
    pub column: u32,
}

/// An object that untraced code can reach: named by its first address. Distinct objects do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object {
    /// First byte.
    pub addr: Addr,
    /// Bytes.
    pub size: u32,
}

impl Object {
    /// All memory, arrays and synchronisation: in the set of a call that reaches too much to be told. A byte that no program has stands for it,
    /// so that who does not know better takes it for an object like others.
    pub const EVERYTHING: Object = Object {
        addr: Addr(1 << 63),
        size: 1,
    };
}

/// What the ids of a trace stand for. Ids without an entry are shown as numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Strings by [`NameId`]; entry 0 is the empty string.
    pub strings: Vec<String>,
    /// Program locations by [`SiteId`]; entry 0 is the unknown one.
    pub sites: Vec<Site>,
    /// Sorted object sets by [`ObjectSetId`]; entry 0 is the empty set.
    pub object_sets: Vec<Box<[Object]>>,
    /// Names of threads.
    pub threads: HashMap<ThreadId, NameId>,
    /// Names of locks, barriers and channels.
    pub syncs: HashMap<SyncId, NameId>,
    /// Names of arrays.
    pub arrays: HashMap<ArrayId, NameId>,
    /// Names of variables by their first address.
    pub variables: HashMap<Addr, NameId>,
    /// How to run the recorded program again: the words of a command, by position.
    pub command: BTreeMap<u64, NameId>,
    /// Executables and libraries, by number; 0 is the program itself.
    pub modules: BTreeMap<u64, NameId>,
    /// The sites of program code.
    pub code: HashMap<Code, SiteId>,
}

/// A place in program code: the offset in a module's file to which a call of the runtime returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(u64);

impl Code {
    /// None if it is further than 2⁴⁸ bytes or beyond 2¹⁶ modules.
    pub fn new(module: u64, offset: u64) -> Option<Code> {
        (module < 1 << 16 && offset < 1 << 48).then_some(Code(module << 48 | offset))
    }

    /// As one number.
    pub fn to_number(self) -> u64 {
        self.0
    }

    /// From that number.
    pub fn from_number(number: u64) -> Code {
        Code(number)
    }

    /// The number of the module.
    pub fn module(self) -> u64 {
        self.0 >> 48
    }

    /// The offset in its file.
    pub fn offset(self) -> u64 {
        self.0 & ((1 << 48) - 1)
    }
}

impl Tables {
    /// The string of an id, empty if unknown.
    pub fn name(&self, id: NameId) -> &str {
        self.strings.get(id.index()).map_or("", String::as_str)
    }

    /// The location of a site; the unknown one if there is none.
    pub fn site(&self, id: SiteId) -> Site {
        self.sites.get(id.index()).copied().unwrap_or_default()
    }

    /// The objects of a set; none if unknown.
    pub fn objects(&self, id: ObjectSetId) -> &[Object] {
        self.object_sets.get(id.index()).map_or(&[], |set| set)
    }
}
