//! Fills [`Tables`], giving equal things equal ids.

use deadheat_event::{NameId, Object, ObjectSetId, Site, SiteId, Tables};
use rustc_hash::FxHashMap;

/// [`Tables`] under construction. Entry 0 of strings, sites and object sets is the empty one from the start.
#[derive(Clone, Debug)]
pub struct Interner {
    tables: Tables,
    strings: FxHashMap<Box<str>, NameId>,
    sites: FxHashMap<Site, SiteId>,
    sets: FxHashMap<Box<[Object]>, ObjectSetId>,
}

impl Default for Interner {
    fn default() -> Interner {
        let tables = Tables {
            strings: vec![String::new()],
            sites: vec![Site::default()],
            object_sets: vec![Box::default()],
            ..Tables::default()
        };
        Interner {
            tables,
            strings: FxHashMap::from_iter([("".into(), NameId(0))]),
            sites: FxHashMap::from_iter([(Site::default(), SiteId(0))]),
            sets: FxHashMap::from_iter([(Box::default(), ObjectSetId(0))]),
        }
    }
}

/// The next free id, or 0 ("unknown") in the absurd case that all 2³² are taken.
fn next_id(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(0)
}

impl Interner {
    /// Empty tables.
    pub fn new() -> Interner {
        Interner::default()
    }

    /// The id of a string.
    pub fn name(&mut self, name: &str) -> NameId {
        if let Some(&id) = self.strings.get(name) {
            return id;
        }
        let id = NameId(next_id(self.tables.strings.len()));
        self.tables.strings.push(name.to_owned());
        self.strings.insert(name.into(), id);
        id
    }

    /// The id of a program location.
    pub fn site(&mut self, site: Site) -> SiteId {
        let next = SiteId(next_id(self.tables.sites.len()));
        let sites = &mut self.tables.sites;
        *self.sites.entry(site).or_insert_with(|| {
            sites.push(site);
            next
        })
    }

    /// The id of a set of objects, in any order and with repetitions.
    pub fn objects(&mut self, mut objects: Vec<Object>) -> ObjectSetId {
        objects.sort_unstable();
        objects.dedup();
        let set = objects.into_boxed_slice();
        if let Some(&id) = self.sets.get(&set) {
            return id;
        }
        let id = ObjectSetId(next_id(self.tables.object_sets.len()));
        self.tables.object_sets.push(set.clone());
        self.sets.insert(set, id);
        id
    }

    /// What has been interned so far.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The tables, to name threads, locks, arrays and variables. Strings, sites and sets must only be added through
    /// the interner.
    pub fn tables_mut(&mut self) -> &mut Tables {
        &mut self.tables
    }

    /// The finished tables.
    pub fn into_tables(self) -> Tables {
        self.tables
    }
}
