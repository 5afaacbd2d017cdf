//! Checks of accesses: from an address and a length to cells, or to the summary of a region, and races.

use crate::cell::{self, Found};
use crate::owners::{self, REGION_MASK, Whose};
use crate::places::Place;
use crate::races::Present;
use crate::runs::{GRANULES, LONGEST, Piece, phase};
use crate::thread::Thread;
use crate::{heard, races, readers, record, shadow, short, side, summary, sync};
use deadheat_abi::atomics::{Kind, What};
use deadheat_abi::shadow::EPOCH;
use deadheat_event::AccessKind;
use std::sync::atomic::Ordering;

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

/// From so many granules of a region on, an access is *long*: regions are compressed for it.
const LONG: usize = 32;
/// And if it is one of many, of so many bytes all together.
const LARGE: usize = 2048;
/// Of those, what is so far ahead is fetched while one is looked at.
const AHEAD: usize = 3;
/// An owner that touches so many of its region may find that it has become regular.
const MUCH: usize = GRANULES / 2;

/// An access to fewer granules is not one of an array.
const SHORT: usize = 8;

/// Whether threads may keep reads of the granule at `addr` to themselves.
#[inline(always)]
pub fn is_kept(addr: usize) -> bool {
    side::kept::is_id(shadow::cell(addr).read.load(Ordering::Relaxed))
}

/// A plain read within one granule that the thread keeps to itself ([`side::kept`]), if its place is at hand. Whether it is so.
#[inline(always)]
pub fn read_kept(t: &mut Thread, addr: usize, mask: u8, context: u64, pc: usize) -> bool {
    let place = |t: &mut Thread| t.places.at_hand(context, pc as u64 | t.locks);
    side::kept::read(t, shadow::cell(addr), mask, place)
}

/// Whether these bytes are of an extent that the thread has accessed in this epoch ([`crate::sweeps`]).
#[inline(always)]
pub fn is_within_extent<const WRITE: bool>(t: &Thread, addr: usize, len: usize) -> bool {
    t.sweeps.has_within(t.epoch, addr, len, WRITE)
}

/// A plain access within one granule.
#[inline(always)]
pub fn granule<const WRITE: bool>(t: &mut Thread, addr: usize, mask: u8, context: u64, pc: usize) {
    if is_within_extent::<WRITE>(t, addr & !7, 8) {
        return;
    }
    let place = t.place(context, pc, false);
    if short::access::<WRITE>(t, addr, mask.count_ones() as usize, place) {
        if WRITE && mask != 0xff {
            look_ahead(t, addr);
        }
        return;
    }
    any_granule::<WRITE>(t, addr, mask, place);
}

/// The same in any case.
#[inline(never)]
fn any_granule<const WRITE: bool>(t: &mut Thread, addr: usize, mask: u8, place: Place) {
    let mut found = Vec::new();
    t.last = t.epoch;
    loop {
        match t.owner.enter(addr) {
            Whose::Compressed => {
                if in_summary::<WRITE>(t, addr, mask, place, &mut found) {
                    break;
                }
            }
            whose => {
                let own = whose == Whose::Own;
                cell::access::<WRITE>(t, shadow::cell(addr), own, mask, place, &mut found);
                t.owner.leave();
                if WRITE && mask != 0xff {
                    look_ahead(t, addr);
                }
                break;
            }
        }
    }
    if let Some(regions) = t.owner.left_behind() {
        heard::give_back(t, regions);
    }
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

/// Granules whose cells share a line of the processor's cache.
const IN_LINE: usize = 64 / size_of::<cell::Cell>();

/// Has the processor fetch the next line of the shadow, and of memory, if the thread fills memory from front to back. It does so by itself, but
/// not where a program fills many stretches at once; and locked instructions wait for each line that is not at hand.
#[inline(always)]
fn look_ahead(t: &Thread, addr: usize) {
    if addr / 8 % IN_LINE == IN_LINE - 1 {
        let before = shadow::cell(addr - 8).read.load(Ordering::Relaxed);
        if (before ^ t.epoch) & EPOCH == 0 {
            fetch(std::ptr::from_ref(shadow::cell(addr)).addr() + 64);
            fetch(addr + 64);
        }
    }
}

/// Has the processor fetch a line, to be written. What is not mapped is let alone.
#[inline(always)]
pub fn fetch(addr: usize) {
    // SAFETY: nothing changes but what is at hand.
    unsafe { std::arch::asm!("prefetchw [{}]", in(reg) addr, options(nostack, preserves_flags)) };
}

/// An access to one granule of a compressed region. Whether it was done: if not, the region has cells now.
#[inline(never)]
fn in_summary<const WRITE: bool>(
    t: &mut Thread,
    addr: usize,
    mask: u8,
    place: Place,
    found: &mut Vec<Found>,
) -> bool {
    let granule = (addr & REGION_MASK) / 8;
    let piece = Piece {
        from: granule,
        to: granule + 1,
        period: 1,
        masks: [mask; LONGEST],
    };
    let mut races = Vec::new();
    let done = summary::access::<WRITE>(t, owners::region(addr), &piece, false, place, &mut races);
    found.extend(races.iter().map(|(_, found)| *found));
    done
}

/// Granules that an access touches, by their number in memory, each in the way of its phase.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    first: usize,
    end: usize,
    period: usize,
    /// The bytes of the first granule, and of as many more as the period is long.
    masks: [u8; LONGEST],
    /// First and last+1 granule of the whole access that this is a part of.
    whole: (usize, usize),
    /// It is one of those of a large access.
    large: bool,
}

impl Span {
    /// Some bytes: as the first granule, the last one, and what is between, as far as they are there.
    pub fn range(addr: usize, len: usize) -> [Span; 3] {
        let (first, end) = (addr / 8, (addr + len).div_ceil(8));
        let span = |from: usize, to: usize, mask: u8| Span {
            first: from,
            end: to,
            period: 1,
            masks: [mask; LONGEST],
            whole: (first, end),
            large: false,
        };
        let (head, _) = first_bytes(addr, len);
        let tail = 0xff >> ((8 - (addr + len) % 8) % 8);
        // Whole granules at the ends belong to the middle.
        let from = first + usize::from(head != 0xff);
        let to = (end - usize::from(tail != 0xff)).max(from);
        [
            span(first, from, head),
            span(from, to, 0xff),
            span(to, end.max(to), tail),
        ]
    }

    /// Equal pieces in equal steps, if each granule is touched by one of them at most.
    pub fn strided(addr: usize, (count, stride, size): (usize, usize, usize)) -> Option<Span> {
        let (offset, period) = (addr % 8, stride / 8);
        if !stride.is_multiple_of(8) || period > LONGEST || offset + size > stride {
            return None;
        }
        let mut masks = [0; LONGEST];
        for byte in offset..offset + size {
            masks[byte / 8] |= 1 << (byte % 8);
        }
        let first = addr / 8;
        let end = first + (count - 1) * period + (offset + size).div_ceil(8);
        Some(Span {
            first,
            end,
            period,
            masks,
            whole: (first, end),
            large: false,
        })
    }

    fn mask(&self, granule: usize) -> u8 {
        self.masks[phase(granule - self.first, self.period)]
    }

    /// The part from one granule to another, as a region sees it that begins at granule `region`.
    fn piece(&self, region: usize, from: usize, to: usize) -> Piece {
        let mut masks = self.masks;
        if self.period > 1 {
            masks = [0; LONGEST];
            for granule in from..to.min(from + self.period) {
                masks[phase(granule - region, self.period)] = self.mask(granule);
            }
        }
        Piece {
            from: from - region,
            to: to - region,
            period: self.period,
            masks,
        }
    }

    /// A plain access to it. Races go to `tell`, with the addresses of their granules.
    pub fn access<const WRITE: bool>(
        &self,
        t: &mut Thread,
        place: Place,
        mut tell: impl FnMut(&mut Thread, usize, &[Found]),
    ) {
        let mut at = self.first;
        while at < self.end {
            let region = at / GRANULES * GRANULES;
            // In one section as far as the region goes.
            let stop = self.end.min(region + GRANULES);
            let touched = self.whole.1.min(region + GRANULES) - self.whole.0.max(region);
            let long = self.large || touched >= LONG;
            let whose = t.owner.enter_for(at * 8, long);
            if whose == Whose::Compressed {
                let piece = self.piece(region, at, stop);
                let mut races = Vec::new();
                if summary::access::<WRITE>(t, owners::region(at * 8), &piece, long, place, &mut races) {
                    at = stop;
                    races.sort_by_key(|(granule, _)| *granule);
                    for races in races.chunk_by(|a, b| a.0 == b.0) {
                        let found: Vec<Found> = races.iter().map(|(_, found)| *found).collect();
                        tell(t, (region + races[0].0) * 8, &found);
                    }
                }
                continue;
            }
            let began = at;
            let mut found = Vec::new();
            let own = whose == Whose::Own;
            let mut phase = (at - self.first) % self.period;
            // A few granules are part of an object, as likely as one by itself is.
            let short = self.whole.1 - self.whole.0 < SHORT;
            let most = if short { readers::FEW } else { readers::LONGEST };
            while at < stop && found.is_empty() {
                if self.period == 1
                    && let Some(cells) = shadow::cells(at * 8, stop - at)
                {
                    at += cell::sweep::<WRITE>(t, cells, own, self.masks[0], place, most);
                    if at == stop {
                        break;
                    }
                }
                let mask = self.masks[phase];
                phase = if phase + 1 == self.period { 0 } else { phase + 1 };
                if mask != 0 {
                    cell::access::<WRITE>(t, shadow::cell(at * 8), own, mask, place, &mut found);
                }
                at += 1;
            }
            t.owner.leave();
            if !found.is_empty() {
                tell(t, (at - 1) * 8, &found);
            } else if (self.large || at - began >= MUCH) && own && summary::on() {
                summary::may_compress(t, owners::region(began * 8));
            }
        }
    }
}

/// A plain access to `size` bytes each, `count` of them (at least one), `stride` apart. Races go to `tell`, with the addresses of
/// their granules.
#[inline]
pub fn touch<const WRITE: bool>(
    t: &mut Thread,
    addr: usize,
    (count, stride, size): (usize, usize, usize),
    place: Place,
    mut tell: impl FnMut(&mut Thread, usize, &[Found]),
) {
    t.last = t.epoch;
    let large = size >= SHORT * 8 && count > 1 && count * size >= LARGE;
    let mut range = |t: &mut Thread, addr, len| {
        for mut span in Span::range(addr, len) {
            span.large = large;
            span.access::<WRITE>(t, place, &mut tell);
        }
    };
    if count == 1 || stride <= size {
        return range(t, addr, (count - 1) * stride + size);
    }
    match Span::strided(addr, (count, stride, size)) {
        Some(span) => span.access::<WRITE>(t, place, &mut tell),
        None => (0..count).for_each(|n| {
            if large && n + AHEAD < count {
                summary::fetch(addr + (n + AHEAD) * stride);
            }
            range(t, addr + n * stride, size);
        }),
    }
}

/// A plain access to any bytes.
#[inline]
pub fn range<const WRITE: bool>(t: &mut Thread, addr: usize, len: usize, place: Place, does: Does) {
    if short::access::<WRITE>(t, addr, len, place) {
        return;
    }
    any_range::<WRITE>(t, addr, len, place, does);
}

/// The same in any case.
#[inline(never)]
fn any_range<const WRITE: bool>(t: &mut Thread, addr: usize, len: usize, place: Place, does: Does) {
    touch::<WRITE>(t, addr, (1, 0, len), place, |t, granule, found| {
        let present = Present {
            addr,
            size: len,
            does,
            atomic: false,
            place,
        };
        races::report(t, granule, present, found);
    });
}

/// Plain accesses to `size` bytes each, `count` of them (at least one), `stride` apart.
pub fn strided<const WRITE: bool>(
    t: &mut Thread,
    addr: usize,
    (count, stride, size): (usize, usize, usize),
    place: Place,
) {
    touch::<WRITE>(t, addr, (count, stride, size), place, |t, granule, found| {
        let before = granule.saturating_sub(addr) / stride.max(1);
        let (addr, size) = match size {
            0..=16 => (addr + before * stride, size),
            // Many accesses side by side: of those, only the bytes that race are told.
            _ => {
                let racing = found.iter().fold(0, |bytes: u8, found| bytes | found.mask);
                (
                    granule + racing.trailing_zeros() as usize,
                    racing.count_ones() as usize,
                )
            }
        };
        let present = Present {
            addr,
            size,
            does: if WRITE { Does::Write } else { Does::Read },
            atomic: false,
            place,
        };
        races::report(t, granule, present, found);
    });
}

/// A read of `len` bytes by the function that called last, at `pc`.
pub fn read(t: &mut Thread, addr: usize, len: usize, pc: usize) {
    if t.checks() && len > 0 {
        if is_within_extent::<false>(t, addr, len) {
            return;
        }
        let place = t.place(t.context(), pc, false);
        range::<false>(t, addr, len, place, Does::Read);
    } else {
        record::range(t, record::READ, addr, len, pc);
    }
}

/// A write of `len` bytes by the function that called last, at `pc`.
pub fn write(t: &mut Thread, addr: usize, len: usize, pc: usize) {
    if t.checks() && len > 0 {
        if is_within_extent::<true>(t, addr, len) {
            return;
        }
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
        // The next block there is another one.
        t.sweeps.birth();
        let mut part = |addr, len| range::<true>(t, addr, len, place, Does::Free);
        shadow::touched(addr, len, &mut part);
        shadow::compressed(addr, len, &mut part);
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

/// Whether an atomic load of so many bytes, within a granule, is on record in this epoch.
#[inline(always)]
pub fn has_loaded(t: &Thread, addr: usize, size: u8) -> bool {
    let mask = !(!0u32 << size) << (addr % 8);
    side::has_loaded(t, shadow::cell(addr), mask as u8)
}

/// The access of an atomic operation.
#[inline(always)]
pub fn atomic_access(t: &mut Thread, addr: usize, what: What, context: u64, pc: usize) {
    if !t.checks() {
        return record::end_atomic(t, addr, what, pc);
    }
    if !repeat_atomic(t, addr, what, context, pc) {
        any_atomic(t, addr, what, context, pc);
    }
}

/// The access of an atomic operation where it is within a granule, its place is at hand, and [`side::repeat_atomic`] does it.
/// Whether it was so.
#[inline(always)]
fn repeat_atomic(t: &mut Thread, addr: usize, what: What, context: u64, pc: usize) -> bool {
    let size = u32::from(what.size);
    let Some(place) = t.places.at_hand(context, pc as u64 | t.locks) else {
        return false;
    };
    if addr as u32 % 8 + size > 8 {
        return false;
    }
    let mask = !(!0u32 << size) << (addr % 8);
    let kind = match what.kind {
        Kind::Load => AccessKind::Read,
        Kind::Store | Kind::Update => AccessKind::Write,
    };
    let cell = shadow::cell(addr);
    if t.owner.enter_at_once(cell).is_none() {
        return false;
    }
    t.last = t.epoch;
    let done = side::repeat_atomic(t, cell, mask as u8, kind, place);
    t.owner.leave();
    done
}

#[cold]
#[inline(never)]
fn any_atomic(t: &mut Thread, addr: usize, what: What, context: u64, pc: usize) {
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
        while t.owner.enter(at) == Whose::Compressed {
            summary::expand(t, owners::region(at));
        }
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
