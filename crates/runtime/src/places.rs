//! Where an access was: 22-bit ids for (who called, which instruction, which locks were held).
//!
//! An id stands for one such *place*, or, where bytes of one granule were touched in one epoch by several instructions,
//! for a place for each byte. So an ordinary structure filled field by field needs no more than a shadow cell.
//!
//! A second kind of id stands for a place *and* for the reads by other threads that are not ordered with it: read words of
//! cells have them, so data that threads read side by side needs no more than a cell either.
//!
//! Ids are never given back. As they run low, places lose their locks, then their callers: a report is then shorter,
//! but never wrong.

use crate::intern::{Index, Recent, mix};
use crate::locks::LockSet;
use crate::loss::{self, Loss};
use crate::stacks::{self, Stack, take};
use crate::vm::Table;
use deadheat_abi::shadow::PLACE_BITS;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A place, or a place for each byte. 0 is "unknown".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place(pub u32);

/// The first id that stands for several readers.
const READERS: u32 = 1 << (PLACE_BITS - 1);
/// Ids of places, and as many of readers.
const ALL: u32 = READERS;
/// From here on places have no locks.
const NO_LOCKS: u32 = ALL / 2;
/// From here on they have no callers either.
const NO_CALLERS: u32 = ALL / 4 * 3;

/// One entry: a place, or eight of them.
///
/// A place is 0, pc, locks and flags, stack of callers. The last word's highest bit says which it is.
struct Entry([AtomicU64; 4]);

const BYTES: u64 = 1 << 63;

static ENTRY: Table<Entry> = Table::new();
static COUNT: AtomicU32 = AtomicU32::new(1);
static INDEX: Index = Index::new();

/// Maps the tables ahead of their first use, or says why not.
pub fn reserve() -> Result<(), i32> {
    ENTRY.reserve(ALL as usize)?;
    READER.reserve(READERS as usize)?;
    RECENT_READERS.reserve()
}

fn entry(id: u32) -> &'static Entry {
    // SAFETY: within the table; zero bytes are atomics.
    unsafe { &*ENTRY.at((id & (ALL - 1)) as usize, ALL as usize) }
}

impl Entry {
    fn load(&self) -> [u64; 4] {
        [0, 1, 2, 3].map(|i| self.0[i].load(Ordering::Relaxed))
    }
}

/// A place and the word of the reads before it. Read in [`crate::quick`], too.
#[repr(C)]
pub struct Reader {
    place: AtomicU64,
    /// The word.
    pub before: AtomicU64,
}

/// All of them.
pub static READER: Table<Reader> = Table::new();
static READER_COUNT: AtomicU32 = AtomicU32::new(0);
/// Of those made lately. Chains have epochs in them, so most are made for a moment; one that is made twice is the same by either id.
static RECENT_READERS: Recent = Recent::new();

impl Reader {
    fn load(&self) -> (Place, u64) {
        let place = self.place.load(Ordering::Relaxed);
        (Place(place as u32), self.before.load(Ordering::Relaxed))
    }
}

fn reader(id: u32) -> &'static Reader {
    // SAFETY: within the table; zero bytes are atomics.
    unsafe { &*READER.at((id % READERS) as usize, READERS as usize) }
}

/// All that makes two accesses the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Context value of the function.
    pub context: u64,
    /// Return address of the check.
    pub pc: usize,
    /// Locks held.
    pub locks: LockSet,
    /// Whether memory was given back here.
    pub free: bool,
}

/// What is known of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The stack, the access itself included.
    pub stack: Stack,
    /// Locks held.
    pub locks: LockSet,
    /// Whether memory was given back here.
    pub free: bool,
}

fn add(words: [u64; 4]) -> Option<u32> {
    let hash = words.iter().fold(2, |hash, word| mix(hash, *word));
    INDEX.find_or_add(
        hash,
        |id| entry(id).load() == words,
        || {
            let id = take(&COUNT, ALL)?;
            for (slot, word) in entry(id).0.iter().zip(words) {
                slot.store(word, Ordering::Relaxed);
            }
            Some(id)
        },
    )
}

/// Whether new places have callers.
pub fn have_callers() -> bool {
    COUNT.load(Ordering::Relaxed) < NO_CALLERS
}

impl Place {
    /// The place of an access that is being made now: the function at `at.pc` is on the stack.
    pub fn of(at: At) -> Place {
        Place::new(at, || {
            stacks::callers(at.context, at.pc).map(|callers| callers.stack)
        })
    }

    /// The place of something done now by code that is not instrumented.
    pub fn with_callers(at: At, callers: Option<Stack>) -> Place {
        Place::new(at, || callers)
    }

    fn new(at: At, callers: impl FnOnce() -> Option<Stack>) -> Place {
        let used = COUNT.load(Ordering::Relaxed);
        let locks = if used < NO_LOCKS {
            at.locks
        } else {
            loss::note(Loss::Locks);
            LockSet::UNKNOWN
        };
        let callers = if have_callers() { callers() } else { None };
        let callers = callers.unwrap_or_else(|| {
            loss::note(Loss::Stacks);
            Stack::default()
        });
        // Not the context value: those of a recursion may have the same callers, as far as they are kept.
        let words = [
            0,
            at.pc as u64,
            u64::from(locks.0) | u64::from(at.free) << 32,
            callers.0.into(),
        ];
        Place(add(words).unwrap_or(0))
    }

    /// What is known of a place. `None` if it is unknown (or one for each byte, see [`Place::at_byte`]).
    pub fn known(self) -> Option<Known> {
        let [_, pc, locks, callers] = entry(self.0).load();
        if self.0 == 0 || callers & BYTES != 0 {
            return None;
        }
        Some(Known {
            stack: Stack(callers as u32).push(pc as usize),
            locks: LockSet(locks as u16),
            free: locks >> 32 != 0,
        })
    }

    /// The place of one byte.
    #[inline]
    pub fn at_byte(self, byte: u32) -> Place {
        let words = entry(self.0).load();
        if self.0 == 0 || words[3] & BYTES == 0 {
            return self;
        }
        let word = words[byte as usize / 2];
        Place((word >> (32 * (byte % 2))) as u32 & (ALL - 1))
    }

    /// Whether it stands for several readers, see [`Place::readers`].
    #[inline(always)]
    pub fn is_readers(self) -> bool {
        self.0 >= READERS
    }

    /// The place of the last reader, and the word of the reads before it.
    pub fn readers(self) -> (Place, u64) {
        reader(self.0).load()
    }

    /// This place, with the reads of `before` behind it. `None` if ids have run out.
    pub fn behind(self, before: u64) -> Option<Place> {
        RECENT_READERS
            .find_or_add(
                mix(mix(3, self.0.into()), before),
                |id| reader(id).load() == (self, before),
                || {
                    let id = READERS + take(&READER_COUNT, READERS)?;
                    reader(id).place.store(self.0.into(), Ordering::Relaxed);
                    reader(id).before.store(before, Ordering::Relaxed);
                    Some(id)
                },
            )
            .map(Place)
    }

    /// This place, but `other` for the bytes of `mask`.
    pub fn with(self, other: Place, mask: u8) -> Place {
        if self == other {
            return self;
        }
        let places: [Place; 8] = std::array::from_fn(|byte| {
            let place = if mask >> byte & 1 == 1 { other } else { self };
            place.at_byte(byte as u32)
        });
        Place::each(places)
    }

    /// A place for each byte.
    pub fn each(places: [Place; 8]) -> Place {
        if places.iter().all(|place| *place == places[0]) {
            return places[0];
        }
        let mut words =
            [0, 1, 2, 3].map(|i| u64::from(places[2 * i].0) | u64::from(places[2 * i + 1].0) << 32);
        words[3] |= BYTES;
        match add(words) {
            Some(id) => Place(id),
            None => {
                loss::note(Loss::Stacks);
                Place(0)
            }
        }
    }
}

/// How many there are.
pub fn count() -> u32 {
    COUNT.load(Ordering::Relaxed) - 1
}

/// How many chains of readers there are.
pub fn chains() -> u32 {
    READER_COUNT.load(Ordering::Relaxed)
}

/// Takes all locks, before a `fork`.
pub fn hold() {
    INDEX.hold();
    stacks::hold();
}

/// Gives them back, after it.
pub fn let_go() {
    stacks::let_go();
    INDEX.let_go();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_granule_keep_their_places() {
        let at = |pc| {
            Place::of(At {
                context: 5,
                pc,
                locks: LockSet(3),
                free: pc == 2,
            })
        };
        let (a, b, c) = (at(1), at(2), at(3));
        assert_ne!(a, b);
        assert_eq!(a, at(1));
        let two = a.with(b, 0xf0);
        let three = two.with(c, 0x18);
        let each: Vec<Place> = (0..8).map(|byte| three.at_byte(byte)).collect();
        assert_eq!(each, [a, a, a, c, c, b, b, b]);
        assert_eq!(three.with(a, 0xff), a);
        assert_eq!(a.with(three, 0x18), a.with(c, 0x18));
        assert_eq!(a.with(b, 0xf0), two);
        assert!(two.known().is_none());
        let known = b.known().expect("b is a place");
        assert!(known.free && known.locks == LockSet(3));
        assert_eq!(known.stack.frames().next(), Some(2));
    }
}
