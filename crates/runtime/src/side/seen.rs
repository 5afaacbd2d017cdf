//! What a thread knows to be in side states, so that it need not look there again: its own accesses of this epoch.

use super::{GENERATION_SHIFT, GENERATIONS, SIDES};
use crate::cell::Cell;
use crate::partly;
use crate::thread::{READS, SEEN, Seen, Thread};
use deadheat_abi::shadow::{EPOCH, TIME_SHIFT};
use deadheat_event::AccessKind;

/// Which of the bits in [`Seen::bytes`] belong to a class of accesses.
fn class(kind: AccessKind, atomic: bool) -> usize {
    usize::from(kind == AccessKind::Write) + 2 * usize::from(atomic)
}

fn seen_place(cell: &Cell) -> (usize, usize) {
    let addr = std::ptr::from_ref(cell).addr();
    (addr, (addr >> 4 ^ addr >> 12) % SEEN)
}

/// Whether this thread's access of this class to these bytes, in this epoch, is in this very state already. Then doing
/// it again finds nothing new: whoever has touched the bytes since, unordered with this access, was told so.
#[inline]
pub fn seen(t: &Thread, cell: &Cell, first: u64, mask: u8, kind: AccessKind, atomic: bool) -> bool {
    let (addr, at) = seen_place(cell);
    let seen = &t.recent[at];
    let mut covered = seen.bytes[class(kind, atomic)];
    // Behind the thread's own write a read finds nothing new either, nor behind its store a load.
    covered |= seen.bytes[class(AccessKind::Write, atomic)];
    seen.cell == addr && seen.word == first && seen.epoch == t.epoch && mask & !covered == 0
}

/// What [`Thread::reads`] has for a state, which the cell's first word names, and an epoch: generation and high bits of the index, which have
/// room below the epoch. The low bits of the index are where it is.
#[inline(always)]
fn read_key(epoch: u64, first: u64) -> (usize, u64) {
    let index = first & (SIDES as u64 - 1);
    let generation = first >> GENERATION_SHIFT & (GENERATIONS - 1);
    let at = index as usize % READS;
    (
        at,
        epoch & EPOCH | generation << KEY_BITS | index >> READS.trailing_zeros(),
    )
}

/// Bits of an index in such a key.
pub const KEY_BITS: u32 = SIDES.trailing_zeros() - READS.trailing_zeros();

const _: () = assert!(GENERATIONS.trailing_zeros() + KEY_BITS <= TIME_SHIFT);

/// Whether a plain read by this thread of all bytes, in this epoch, is in the side state that a cell's first word names: [`seen`] of more
/// states. For threads without a place in the shadow it never is.
#[inline(always)]
pub fn has_read(t: &Thread, first: u64) -> bool {
    let (at, key) = read_key(t.epoch, first);
    t.reads[at] == key && !partly::is(first)
}

/// An access is in the state that a cell's first word names.
#[inline]
pub fn see(t: &mut Thread, cell: &Cell, word: u64, mask: u8, kind: AccessKind, atomic: bool) {
    let (addr, at) = seen_place(cell);
    let epoch = t.epoch;
    let seen = &mut t.recent[at];
    if (seen.cell, seen.word, seen.epoch) != (addr, word, epoch) {
        *seen = Seen {
            cell: addr,
            word,
            epoch,
            bytes: [0; 4],
        };
    }
    seen.bytes[class(kind, atomic)] |= mask;
    // The cells that stand for all others where tests are to fail (`tls::ODD`) name one of generation 0, which is not to be found.
    let named = word >> GENERATION_SHIFT & (GENERATIONS - 1) != 0;
    if seen.bytes[class(AccessKind::Read, false)] == 0xff && named && t.fits() && !t.blind {
        let (at, key) = read_key(epoch, word);
        t.reads[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Place;
    use crate::side;
    use deadheat_detect::hb::HbThread;
    use deadheat_event::Slot;
    use std::collections::HashSet;
    use std::sync::atomic::Ordering;

    /// What a thread knows of a state it would know of the next with its name, in the same epoch.
    #[test]
    fn no_two_states_ever_have_one_name() {
        let (mut t, cell) = (Thread::new(1, HbThread::after(Slot(1), 0), true), Cell::default());
        let mut names = HashSet::new();
        // A thread takes 32 states at once.
        for _ in 0..64 * GENERATIONS {
            side::atomic(&mut t, &cell, 0xff, AccessKind::Write, Place(1), &mut Vec::new());
            assert!(names.insert(cell.write.load(Ordering::Relaxed)));
            side::reset(&cell);
        }
    }
}
