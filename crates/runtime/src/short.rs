//! Accesses to a few granules: what is left of the general way ([`crate::checks`]) where one region has their cells, two words in each
//! of them say all that was before, and nothing races. Commonest by far are accesses to parts of an object, the first of their epoch, so
//! nothing here is made ready for what is not needed.

use crate::cell::{self, Cell, FIRST_SIDE, Step};
use crate::partly;
use crate::places::Place;
use crate::readers;
use crate::shadow;
use crate::thread::Thread;
use deadheat_abi::shadow::{EPOCH, TERM_SHIFT};
use std::sync::atomic::Ordering;

/// No more granules than that.
const MOST: usize = 8;

/// A plain access to `len` bytes, at least one. Whether it was done; otherwise it is yet to be made in the general way, of which some of
/// it may have been: that is on record.
#[inline(always)]
pub fn access<const WRITE: bool>(t: &mut Thread, addr: usize, len: usize, place: Place) -> bool {
    let before = addr % 8;
    if len > 8 * MOST - before {
        return false;
    }
    let count = (before + len).div_ceil(8);
    let Some(cells) = shadow::cells(addr, count) else {
        return false;
    };
    if cells[0].write.load(Ordering::Relaxed) >= FIRST_SIDE {
        return false;
    }
    let Some(own) = t.owner.enter_at_once(&cells[0]) else {
        return false;
    };
    t.last = t.epoch;
    let done = granules::<WRITE>(
        t,
        cells,
        own,
        (0xff << before, 0xff >> (8 * count - before - len)),
        place,
    );
    t.owner.leave();
    done
}

/// The same of granules, of the first and the last of which only some bytes are touched.
#[inline(always)]
pub(crate) fn granules<const WRITE: bool>(
    t: &mut Thread,
    cells: &[Cell],
    own_region: bool,
    (first, last): (u8, u8),
    at: Place,
) -> bool {
    // Neighbours are mostly alike. No cell has such words.
    let (mut words, mut bytes, mut made) = ((u64::MAX, u64::MAX), 0, (0, 0));
    for (n, cell) in cells.iter().enumerate() {
        let mask = if n == 0 { first } else { 0xff } & if n + 1 == cells.len() { last } else { 0xff };
        let old = cell.load();
        if (old, mask) != (words, bytes) {
            // Which of several readers is to have a state of its own is asked elsewhere.
            let several = !WRITE && cells.len() == 1 && cell::place(old.1).is_readers();
            if old.0 >= FIRST_SIDE || several {
                return false;
            }
            made = match own::<WRITE>(t, old, mask, at) {
                Some(new) => new,
                None => match cell::step_among::<WRITE>(t, old, mask, at, readers::FEW) {
                    Step::Known => old,
                    Step::Words(new, 0, 0) => new,
                    Step::Misfit if WRITE && cells.len() == 1 => {
                        return partly::begin(t, cell, own_region, old, mask, at) == Some(true);
                    }
                    _ => return false,
                },
            };
            (words, bytes) = (old, mask);
        }
        if made == old {
            continue;
        }
        if own_region {
            cell.set(made);
        } else if !cell.change(old, made) {
            return false;
        }
    }
    true
}

/// What [`cell::step`] makes of words of the thread's own, of earlier epochs and of no other bytes, if they are that: then nothing is to be
/// looked up.
#[inline(always)]
fn own<const WRITE: bool>(t: &Thread, (write, read): (u64, u64), mask: u8, at: Place) -> Option<(u64, u64)> {
    let by_others = ((write ^ read) | (write ^ t.epoch)) >> TERM_SHIFT != 0;
    let is_now = |word: u64| (word ^ t.epoch) & EPOCH == 0;
    let more = !(write & read) as u8 & !mask != 0;
    if by_others || is_now(write) || is_now(read) || more || cell::place(read).is_readers() {
        return None;
    }
    let after = cell::word(t.epoch, at, mask);
    Some((if WRITE { after } else { write }, after))
}
