//! Interned names and sets that events refer to by id.

use crate::{Addr, ArrayId, NameId, ObjectSetId, SiteId, SyncId, ThreadId};
use std::collections::HashMap;

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
