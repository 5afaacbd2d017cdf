//! The shadow: where it is, and how memory comes into being again.
//!
//! Layout in `abi::shadow`. The whole range is reserved at the start and paid for where touched. Beside it, a mark for
//! each page of shadow says whether cells of it had side states since the memory came into being, so that large ranges can be given back
//! to the kernel without looking at each cell. It is set once: a count would be a locked instruction for each side state, in a
//! line that threads share. Another one says that the page itself was given back since.

use crate::cell::Cell;
use crate::owners::{self, REGION_MASK};
use crate::vm::{self, PAGE, Table};
use crate::{record, side, summary};
use deadheat_abi::shadow::{ADDRESS_MASK, BASE, CELL, GRANULE, LEN};
use std::sync::atomic::{AtomicU8, Ordering};

/// From this many bytes of memory on, whole pages of shadow are given back instead of cleared.
const LARGE: usize = 16 * PAGE;

/// For each page of shadow, [`SIDE`] and [`GIVEN_BACK`].
static MARKS: Table<AtomicU8> = Table::new();
/// There may be side states.
const SIDE: u8 = 1;
/// It was given back to the kernel, though the memory has been accessed since it came into being.
const GIVEN_BACK: u8 = 2;

const SHADOW_PAGES: usize = LEN as usize / PAGE;

/// Reserves the shadow, or says why the kernel would not have it.
pub fn reserve() -> Result<(), i32> {
    let start = vm::reserve(BASE as usize, LEN as usize)?.expose_provenance();
    vm::advise(start, LEN as usize, libc::MADV_DONTDUMP);
    // A huge page of shadow is 1 MiB of memory of which often little is used.
    vm::advise(start, LEN as usize, libc::MADV_NOHUGEPAGE);
    MARKS.reserve(SHADOW_PAGES)
}

/// Has the kernel map the shadow of some memory, to be written. It need not.
pub fn populate(addr: usize, len: usize) {
    let start = std::ptr::from_ref(cell(addr)).addr();
    let len = (2 * len).min((BASE + LEN) as usize - start);
    vm::advise(start, len, libc::MADV_POPULATE_WRITE);
}

/// The cell of an address.
#[inline(always)]
pub fn cell(addr: usize) -> &'static Cell {
    let at = BASE + ((addr as u64 & ADDRESS_MASK) << 1);
    // SAFETY: within the shadow, which is reserved before any thread is checked; zero bytes are a cell.
    unsafe { &*std::ptr::with_exposed_provenance(at as usize) }
}

fn marks(page: usize) -> &'static AtomicU8 {
    // SAFETY: within the table; zero bytes are an atomic.
    unsafe { &*MARKS.at(page, SHADOW_PAGES) }
}

/// The page of the shadow where a cell is, if it is there: cells of unit tests may be anywhere.
#[inline(always)]
fn page_of(cell: &Cell) -> Option<usize> {
    let at = std::ptr::from_ref(cell).addr().wrapping_sub(BASE as usize);
    (at < LEN as usize).then_some(at / PAGE)
}

#[inline(always)]
fn mark(page: usize, mark: u8) {
    let marks = marks(page);
    if marks.load(Ordering::Relaxed) & mark == 0 {
        marks.fetch_or(mark, Ordering::Relaxed);
    }
}

/// Gives the cells of a region back to the kernel: nothing can race with what they say. The memory still counts as
/// [`touched`].
pub fn give_back(cells: &[Cell]) {
    let pages = cells
        .chunks(PAGE / CELL as usize)
        .filter_map(|cells| page_of(&cells[0]));
    pages.for_each(|page| mark(page, GIVEN_BACK));
    vm::advise(cells.as_ptr().addr(), size_of_val(cells), libc::MADV_DONTNEED);
}

/// A side state was made for `cell`.
#[inline(always)]
pub fn side_made(cell: &Cell) {
    if let Some(page) = page_of(cell) {
        mark(page, SIDE);
    }
}

/// The cells of so many granules from that of `addr` on, if they are in one region.
#[inline(always)]
pub fn cells(addr: usize, count: usize) -> Option<&'static [Cell]> {
    let fits = (addr & REGION_MASK) / GRANULE as usize + count <= (REGION_MASK + 1) / GRANULE as usize;
    // SAFETY: the cells of a region lie side by side.
    fits.then(|| unsafe { std::slice::from_raw_parts(cell(addr), count) })
}

/// Forgets everything, side states too, which are not used again.
pub fn forget_all() {
    // SAFETY: the shadow, and what belongs to it.
    unsafe {
        vm::zero(BASE as usize, LEN as usize);
        if let Some(start) = MARKS.start() {
            vm::zero(start, SHADOW_PAGES * size_of::<AtomicU8>());
        }
    }
    summary::forget_all();
    side::forget_all();
}

/// Memory comes into being: what was known of it is forgotten. Granules that it only touches are cleared whole, so it is
/// for memory that shares none with other: blocks, stacks, mappings.
pub fn reset(addr: usize, len: usize) {
    // What is recorded must come behind what was recorded of the same addresses before.
    if len == 0 || record::is_wanted() {
        return;
    }
    let granule = GRANULE as usize;
    let (mut at, end) = (addr / granule * granule, (addr + len).next_multiple_of(granule));
    if end - at >= LARGE {
        let per_page = PAGE * granule / CELL as usize;
        let first = at.next_multiple_of(per_page);
        let last = end / per_page * per_page;
        clear(at, first);
        reset_pages(first, last);
        at = last;
    }
    clear(at, end);
}

fn clear(from: usize, to: usize) {
    let mut at = from;
    while at < to {
        let stop = to.min((at | REGION_MASK) + 1);
        if !forget_summary(at, stop) {
            (at..stop)
                .step_by(GRANULE as usize)
                .for_each(|addr| side::reset(cell(addr)));
        }
        at = stop;
    }
}

/// Forgets what is known of memory within one region, if that is compressed. Whether it is.
fn forget_summary(from: usize, to: usize) -> bool {
    let first = from & !REGION_MASK;
    let granule = |addr: usize| (addr - first) / GRANULE as usize;
    summary::on() && summary::reset(owners::region(from), granule(from), granule(to))
}

/// Gives back the shadow of whole pages, from one address of the program to another.
fn reset_pages(from: usize, to: usize) {
    let per_page = PAGE * GRANULE as usize / CELL as usize;
    compressed(from, to - from, |addr, len| {
        forget_summary(addr, addr + len);
    });
    for addr in (from..to).step_by(per_page) {
        let start = std::ptr::from_ref(cell(addr)).addr();
        let marks = marks((start - BASE as usize) / PAGE);
        let marked = marks.load(Ordering::Relaxed);
        if marked & SIDE != 0 {
            clear(addr, addr + per_page);
        }
        if marked != 0 {
            marks.store(0, Ordering::Relaxed);
        }
    }
    // Masked addresses may wrap around within a mapping that is larger than what a mask tells apart: then in two pieces.
    let (start, len) = (std::ptr::from_ref(cell(from)).addr(), (to - from) * 2);
    let room = (BASE + LEN) as usize - start;
    // SAFETY: the shadow of memory that has no history any more.
    unsafe {
        vm::zero(start, len.min(room));
        vm::zero(BASE as usize, len.saturating_sub(room));
    }
}

/// Calls `f` for each piece of `addr..addr + len` that is in a compressed region.
pub fn compressed(addr: usize, len: usize, mut f: impl FnMut(usize, usize)) {
    if summary::on() && len > 0 {
        owners::compressed(addr, len, |first| {
            let from = first.max(addr);
            f(from, (addr + len).min(first + REGION_MASK + 1) - from);
        });
    }
}

/// Calls `f` for each piece of `addr..addr + len` whose shadow cells have ever been touched, for some twice. Small ranges are one piece.
pub fn touched(addr: usize, len: usize, mut f: impl FnMut(usize, usize)) {
    if len < LARGE {
        return f(addr, len);
    }
    let per_page = PAGE * GRANULE as usize / CELL as usize;
    for first in (addr & !(per_page - 1)..addr + len).step_by(per_page) {
        let page = page_of(cell(first)).map_or(0, |page| marks(page).load(Ordering::Relaxed));
        if page & GIVEN_BACK != 0 {
            let from = first.max(addr);
            f(from, (first + per_page).min(addr + len) - from);
        }
    }
    let granule = GRANULE as usize;
    let (mut at, end) = (addr / granule * granule, addr + len);
    while at < end {
        // Masked addresses may wrap around: then in two pieces.
        let start = std::ptr::from_ref(cell(at)).addr();
        let len = (2 * (end - at)).min((BASE + LEN) as usize - start);
        vm::resident(start / PAGE * PAGE, len + start % PAGE, |page| {
            let of = |shadow: usize| at + (shadow - start) / 2;
            let (from, to) = (of(page.max(start)).max(addr), of((page + PAGE).min(start + len)));
            f(from, to - from);
        });
        at += len / 2;
    }
}

/// Reserves the shadow for unit tests, which share one process.
#[cfg(test)]
pub fn reserve_once() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| reserve().expect("the shadow's place is free"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cleared_exactly_large_or_small() {
        reserve_once();
        let base = 0x7e00_1234_0000;
        for (addr, len) in [(base, 64), (base + 8, 5 * LARGE + 24), (base + 40, LARGE)] {
            let (before, after) = (addr - 8, (addr + len).next_multiple_of(8));
            for granule in (before..=after).step_by(8) {
                cell(granule).write.store(1, Ordering::Relaxed);
            }
            reset(addr, len);
            for granule in (before..=after).step_by(8) {
                let outside = granule == before || granule == after;
                assert_eq!(cell(granule).write.load(Ordering::Relaxed), u64::from(outside));
            }
        }
    }

    #[test]
    fn untouched_pieces_of_large_ranges_are_left_out() {
        reserve_once();
        let base = 0x7d00_0000_0000;
        cell(base + 40 * PAGE).write.store(1, Ordering::Relaxed);
        let mut pieces = Vec::new();
        touched(base + 8, 100 * PAGE, |addr, len| pieces.push((addr, len)));
        assert_eq!(pieces, [(base + 40 * PAGE, PAGE / 2)]);
        pieces.clear();
        touched(base + 8, 24, |addr, len| pieces.push((addr, len)));
        assert_eq!(pieces, [(base + 8, 24)]);
    }
}
