//! Checks of accesses: from an address and a length to cells and races.

use crate::cell::{self, Found};
use crate::owners::REGION_MASK;
use crate::places::Place;
use crate::races::Present;
use crate::thread::Thread;
use crate::{races, record, shadow, side, sync};
use deadheat_abi::atomics::{Kind, What};
use deadheat_event::AccessKind;

/// What an access does, as a report names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Does {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Gives memory back, which counts as a write.
    Free,
}

impl Does {
    /// As the reporter knows it.
    pub fn name(self) -> &'static str {
        match self {
            Does::Read => "read",
            Does::Write => "write",
            Does::Free => "free",
        }
    }
}

/// The granule's bytes from `addr` on, at most `len`: as a mask, and how many.
#[inline(always)]
fn first_bytes(addr: usize, len: usize) -> (u8, usize) {
    let offset = addr % 8;
    let count = len.min(8 - offset);
    ((((1u16 << count) - 1) << offset) as u8, count)
}

/// A plain access within one granule.
#[inline(always)]
pub fn granule<const WRITE: bool>(t: &mut Thread, addr: usize, mask: u8, context: u64, pc: usize) {
    let place = t.place(context, pc, false);
    let mut found = Vec::new();
    t.last = t.epoch;
    let own = t.owner.enter(addr);
    cell::access::<WRITE>(t, shadow::cell(addr), own, mask, place, &mut found);
    t.owner.leave();
    if !found.is_empty() {
        let present = Present {
            addr,
            size: mask.count_ones() as usize,
            does: if WRITE { Does::Write } else { Does::Read },
            atomic: false,
            place,
        };
        races::report(t, addr, present, &found);
    }
}

/// A plain access to any bytes.
#[inline]
pub fn range<const WRITE: bool>(t: &mut Thread, addr: usize, len: usize, place: Place, does: Does) {
    let mut found = Vec::new();
    t.last = t.epoch;
    let (mut at, end) = (addr, addr + len);
    while at < end {
        let mut granule = at;
        let own = t.owner.enter(at);
        // In one section as far as the region goes.
        let stop = end.min((at | REGION_MASK) + 1);
        while at < stop && found.is_empty() {
            granule = at;
            let (mask, count) = first_bytes(at, stop - at);
            cell::access::<WRITE>(t, shadow::cell(at), own, mask, place, &mut found);
            at += count;
        }
        t.owner.leave();
        if !found.is_empty() {
            let present = Present {
                addr,
                size: len,
                does,
                atomic: false,
                place,
            };
            races::report(t, granule, present, &found);
            found.clear();
        }
    }
}

/// Plain accesses to `size` bytes each, `count` of them, `stride` apart.
pub fn strided<const WRITE: bool>(
    t: &mut Thread,
    addr: usize,
    (count, stride, size): (usize, usize, usize),
    place: Place,
    does: Does,
) {
    for n in 0..count {
        range::<WRITE>(t, addr + n * stride, size, place, does);
    }
}

/// A read of `len` bytes by the function that called last, at `pc`.
pub fn read(t: &mut Thread, addr: usize, len: usize, pc: usize) {
    if t.checks() && len > 0 {
        let place = t.place(t.context(), pc, false);
        range::<false>(t, addr, len, place, Does::Read);
    } else {
        record::range(t, record::READ, addr, len, pc);
    }
}

/// A write of `len` bytes by the function that called last, at `pc`.
pub fn write(t: &mut Thread, addr: usize, len: usize, pc: usize) {
    if t.checks() && len > 0 {
        let place = t.place(t.context(), pc, false);
        range::<true>(t, addr, len, place, Does::Write);
    } else {
        record::range(t, record::WRITE, addr, len, pc);
    }
}

/// Memory is given back at `pc`: a write of all of it. Of large blocks only what was ever touched is checked, and marked.
pub fn free(t: &mut Thread, addr: usize, len: usize, pc: usize) {
    if t.checks() && len > 0 {
        let place = t.place(t.context(), pc, true);
        shadow::touched(addr, len, |addr, len| {
            range::<true>(t, addr, len, place, Does::Free);
        });
    } else {
        record::range(t, record::FREE, addr, len, pc);
    }
}

/// An atomic operation that `op` does, called by the function that called last, at `pc`.
pub fn atomic(t: &mut Thread, addr: usize, what: What, pc: usize, op: impl FnOnce()) {
    sync::begin_atomic(t, addr);
    op();
    let context = t.context();
    sync::end_atomic(t, addr, what, |t| atomic_access(t, addr, what, context, pc));
}

/// The access of an atomic operation.
pub fn atomic_access(t: &mut Thread, addr: usize, what: What, context: u64, pc: usize) {
    if !t.checks() {
        return record::atomic(t, addr, what, pc);
    }
    let place = t.place(context, pc, false);
    let (kind, does) = match what.kind {
        Kind::Load => (AccessKind::Read, Does::Read),
        Kind::Store | Kind::Update => (AccessKind::Write, Does::Write),
    };
    let mut found: Vec<Found> = Vec::new();
    t.last = t.epoch;
    let (mut at, mut left) = (addr, usize::from(what.size));
    while left > 0 {
        let (mask, count) = first_bytes(at, left);
        t.owner.enter(at);
        side::atomic(t, shadow::cell(at), mask, kind, place, &mut found);
        t.owner.leave();
        if !found.is_empty() {
            let present = Present {
                addr,
                size: what.size.into(),
                does,
                atomic: true,
                place,
            };
            races::report(t, at, present, &found);
            found.clear();
        }
        at += count;
        left -= count;
    }
}
