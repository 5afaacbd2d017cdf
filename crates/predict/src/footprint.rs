//! Which bytes or elements an event touches, and how.

use deadheat_event::{AtomicOp, Op};

/// The space of addresses; arrays have one each.
pub const MEMORY: u64 = 0;

/// What an event does to memory or to an array.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    /// [`MEMORY`], or 1 + the array's number.
    pub space: u64,
    /// The first byte or element.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// The distance between neighbours.
    pub step: u32,
    /// Whether what follows depends on what was there.
    pub reads: bool,
    /// Whether it is changed.
    pub writes: bool,
    /// What kind of event.
    pub kind: Kind,
    /// What was read (by a read) or written (by a write), where recorded.
    pub value: Option<u64>,
}

/// Kinds of footprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An access that can race with all others.
    Plain,
    /// One that cannot race with its like.
    Atomic,
    /// Gives memory back: a plain write that nothing may follow.
    Free,
    /// Memory comes into being: no access, but everything on it is before or behind.
    Birth,
}

impl Kind {
    /// Whether it is an access, which can race.
    pub fn is_access(self) -> bool {
        self != Kind::Birth
    }
}

impl Footprint {
    /// What an event touches, if anything.
    pub fn of(op: &Op) -> Option<Footprint> {
        let bytes = |addr: u64, size: u32, reads, writes, kind, value| {
            let last = addr.saturating_add(u64::from(size).checked_sub(1)?);
            Some(Footprint {
                space: MEMORY,
                first: addr,
                last,
                step: 1,
                reads,
                writes,
                kind,
                value,
            })
        };
        match *op {
            Op::Read { addr, size, value } => bytes(addr.0, size, true, false, Kind::Plain, value),
            Op::Write { addr, size, value } => bytes(addr.0, size, false, true, Kind::Plain, value),
            Op::Atomic {
                addr,
                size,
                op,
                value,
                ..
            } => {
                let (reads, writes) = (op != AtomicOp::Store, op != AtomicOp::Load);
                bytes(addr.0, size, reads, writes, Kind::Atomic, value)
            }
            Op::Alloc { addr, size } => bytes(addr.0, size, false, true, Kind::Birth, None),
            Op::Free { addr, size } => bytes(addr.0, size, false, true, Kind::Free, None),
            Op::ArrayRead { array, indices } | Op::ArrayWrite { array, indices } => {
                let writes = matches!(op, Op::ArrayWrite { .. });
                Some(Footprint {
                    space: 1 + u64::from(array.0),
                    first: indices.first(),
                    last: indices.last(),
                    step: indices.stride(),
                    reads: !writes,
                    writes,
                    kind: Kind::Plain,
                    value: None,
                })
            }
            Op::NewArray { array, .. } => Some(Footprint {
                space: 1 + u64::from(array.0),
                first: 0,
                last: u64::MAX,
                step: 1,
                reads: false,
                writes: true,
                kind: Kind::Birth,
                value: None,
            }),
            _ => None,
        }
    }

    /// The value of `size` bytes from `first` on, if the event read or wrote it and it was recorded.
    pub fn part(&self, first: u64, size: u64) -> Option<u64> {
        let value = self.value?;
        let offset = first.checked_sub(self.first)?;
        if self.last - self.first >= 8 || size > 8 || offset > 8 - size {
            return None;
        }
        Some(cut(value >> (8 * offset), size))
    }
}

/// The lowest `size` bytes, at most 8.
pub fn cut(value: u64, size: u64) -> u64 {
    if size >= 8 {
        value
    } else {
        value & ((1 << (8 * size)) - 1)
    }
}
