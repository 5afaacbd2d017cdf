//! Memory that the program has mapped itself (`mmap`), as recordings need it: an object for missing calls is a mapping as it was made.
//!
//! What is told here comes from `intercept/map.rs`. Mappings that the C library, the loader or a bare system call makes are not
//! known, nor are segments of System V.

use super::{objects, reach};
use crate::record;
use crate::spin::Spin;
use std::collections::BTreeMap;

/// A mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its first byte.
    pub start: usize,
    /// Its last+1 byte.
    pub end: usize,
    /// What it holds.
    pub kind: Kind,
}

/// What a mapping holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Memory of this process.
    Private,
    /// Memory that may be mapped once more, here or in another process.
    Shared,
    /// A file. It may be shorter than its mapping, and then not all of that can be read.
    File,
}

impl Kind {
    fn of(flags: libc::c_int) -> Kind {
        match (flags & libc::MAP_ANONYMOUS != 0, flags & libc::MAP_SHARED != 0) {
            (true, false) => Kind::Private,
            (true, true) => Kind::Shared,
            (false, _) => Kind::File,
        }
    }
}

/// By their first bytes: the last+1 byte, and what it holds.
static MAPPINGS: Spin<BTreeMap<usize, (usize, Kind)>> = Spin::new(BTreeMap::new());

/// Takes the lock, before a `fork`.
pub fn hold() {
    MAPPINGS.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    MAPPINGS.let_go();
}

/// Memory was mapped.
pub fn mapped(start: usize, len: usize, protection: libc::c_int, flags: libc::c_int) {
    if !record::is_wanted() || len == 0 {
        return;
    }
    // Before anybody finds it.
    if protection & libc::PROT_READ == 0 {
        reach::hide(start, len);
    }
    add(start, len, Kind::of(flags));
}

/// What was taken out is there after all, or elsewhere.
pub fn add(start: usize, len: usize, kind: Kind) {
    let end = start.saturating_add(len).next_multiple_of(crate::vm::PAGE);
    remove(&mut MAPPINGS.lock(), start, end);
    MAPPINGS.lock().insert(start, (end, kind));
    objects::written(start, len);
}

/// Memory is about to be unmapped, moved or mapped anew: not under the eyes of somebody who looks at it. What the first byte was
/// in.
pub fn gone(start: usize, len: usize) -> Option<Kind> {
    if !record::is_wanted() || len == 0 {
        return None;
    }
    let end = start.saturating_add(len).next_multiple_of(crate::vm::PAGE);
    let first = remove(&mut MAPPINGS.lock(), start, end);
    reach::may_disappear();
    reach::show(start, end - start);
    objects::written(start, len);
    first
}

/// Takes a range out of what is mapped.
fn remove(mappings: &mut BTreeMap<usize, (usize, Kind)>, start: usize, end: usize) -> Option<Kind> {
    let before = mappings.range(..start).next_back();
    let mut first = None;
    if let Some((&at, &(until, kind))) = before.filter(|(_, (until, _))| *until > start) {
        mappings.insert(at, (start, kind));
        if until > end {
            mappings.insert(end, (until, kind));
        }
        first = Some(kind);
    }
    while let Some((&at, &(until, kind))) = mappings.range(start..end).next() {
        mappings.remove(&at);
        if until > end {
            mappings.insert(end, (until, kind));
        }
        if at == start {
            first = Some(kind);
        }
    }
    first
}

/// All mappings, by address. They stay as they are for who looks from before he asks.
pub fn all() -> Vec<Mapping> {
    let mapping = |(&start, &(end, kind)): (&usize, &(usize, Kind))| Mapping { start, end, kind };
    MAPPINGS.lock().iter().map(mapping).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_mapping_is_known() {
        let mut mappings =
            BTreeMap::from([(0x1000, (0x5000, Kind::Private)), (0x5000, (0x6000, Kind::File))]);
        assert_eq!(remove(&mut mappings, 0x2000, 0x3000), Some(Kind::Private));
        let left = [
            (0x1000, (0x2000, Kind::Private)),
            (0x3000, (0x5000, Kind::Private)),
            (0x5000, (0x6000, Kind::File)),
        ];
        assert_eq!(mappings, BTreeMap::from(left));
        assert_eq!(remove(&mut mappings, 0x2000, 0x3000), None);
        assert_eq!(remove(&mut mappings, 0x5000, 0x5800), Some(Kind::File));
        assert_eq!(remove(&mut mappings, 0, 0x5800), None, "nothing begins there");
        assert_eq!(mappings, BTreeMap::from([(0x5800, (0x6000, Kind::File))]));
    }
}
