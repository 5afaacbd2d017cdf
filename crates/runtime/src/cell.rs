//! The shadow cell of a granule: FastTrack's state in two words, changed lock-free.
//!
//! Layout in `abi::shadow`. A *packed* cell holds one write and one read: an epoch, a place, and the bytes they touched;
//! for each byte it means what a `fasttrack::Location` with that write and that read means. Whatever does not fit (reads
//! that are not ordered, atomics, bytes with different histories) is in a side state ([`crate::side`]), on which
//! FastTrack itself runs.
//!
//! Two words change together by `cmpxchg16b`, so a cell never shows a state that no order of accesses could have made;
//! or one after the other, while only one thread looks at both ([`crate::owners`]).

use crate::partly;
use crate::places::Place;
use crate::readers;
use crate::side;
use crate::terms;
use crate::thread::Thread;
use deadheat_abi::shadow::{EPOCH, PLACE_BITS, PLACE_SHIFT, SIDE, TERM_SHIFT, TIME_BITS, TIME_SHIFT};
use deadheat_detect::history::Class;
use deadheat_event::{AccessKind, Prior, SiteId, Slot};
use std::arch::asm;
use std::sync::atomic::{AtomicU64, Ordering};

/// A cell.
#[repr(C, align(16))]
#[derive(Default)]
pub struct Cell {
    /// The last write, or where the state is.
    pub write: AtomicU64,
    /// The last read.
    pub read: AtomicU64,
}

const _: () = assert!(size_of::<Cell>() as u64 == deadheat_abi::shadow::CELL);

/// The smallest word that is no write but says where the state is.
pub const FIRST_SIDE: u64 = (SIDE as u64) << TERM_SHIFT;

/// A race: with what, on which bytes of the granule.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The granule's bytes.
    pub mask: u8,
    /// The earlier access.
    pub prior: Prior,
}

impl Cell {
    /// Changes both words if they are as expected.
    #[inline(always)]
    pub fn change(&self, old: (u64, u64), new: (u64, u64)) -> bool {
        let (low, high);
        // SAFETY: the cell is 16 bytes and so aligned. rbx cannot be named as an operand, so it is borrowed.
        unsafe {
            asm!(
                "xchg rbx, rsi",
                "lock cmpxchg16b [rdi]",
                "mov rbx, rsi",
                in("rdi") std::ptr::from_ref(self),
                inout("rsi") new.0 => _,
                in("rcx") new.1,
                inout("rax") old.0 => low,
                inout("rdx") old.1 => high,
                options(nostack),
            );
        }
        (low, high) == old
    }

    /// Changes both words of an own cell.
    #[inline(always)]
    pub fn set(&self, new: (u64, u64)) {
        self.write.store(new.0, Ordering::Relaxed);
        self.read.store(new.1, Ordering::Relaxed);
    }

    /// Both words, each at its own moment: [`Cell::change`] says whether they belonged together.
    #[inline(always)]
    pub fn load(&self) -> (u64, u64) {
        let read = self.read.load(Ordering::Acquire);
        (self.write.load(Ordering::Acquire), read)
    }
}

/// The bytes that a word is about.
#[inline(always)]
pub fn bytes(word: u64) -> u8 {
    if word == 0 { 0 } else { !word as u8 }
}

/// Slot and time of a word; time 0 of the zero word.
#[inline(always)]
pub fn epoch(word: u64) -> (Slot, u64) {
    let (slot, base) = terms::of(term(word));
    (slot, base + (word >> TIME_SHIFT & ((1 << TIME_BITS) - 1)))
}

/// The term of a word.
#[inline(always)]
pub fn term(word: u64) -> u32 {
    (word >> TERM_SHIFT) as u32
}

/// The place of a word.
#[inline(always)]
pub fn place(word: u64) -> Place {
    Place((word >> PLACE_SHIFT) as u32 & ((1 << PLACE_BITS) - 1))
}

/// A word of an access to some bytes.
#[inline(always)]
pub fn word(epoch: u64, place: Place, bytes: u8) -> u64 {
    epoch & EPOCH | u64::from(place.0) << PLACE_SHIFT | u64::from(!bytes)
}

/// Whether the access of `word` happens before what `t` does now.
#[inline(always)]
pub fn knows(t: &Thread, word: u64) -> bool {
    let (slot, time) = epoch(word);
    t.hb.get(slot) >= time
}

/// What an access makes of two words.
pub enum Step {
    /// It is on record already.
    Known,
    /// These, and it races on some bytes with the write, on others with the read.
    Words((u64, u64), u8, u8),
    /// Something that two words cannot say.
    Misfit,
}

/// A plain access by `t` to the bytes `mask` where the two words say what was before.
///
/// A write leaves a read of the same epoch behind it: whoever races with that read races with the write as well, and the
/// inline test for the thread's own reads succeeds. So a read in the epoch of a write of the same bytes says nothing.
#[inline(always)]
pub fn step<const WRITE: bool>(t: &mut Thread, words: (u64, u64), mask: u8, at: Place) -> Step {
    step_among::<WRITE>(t, words, mask, at, readers::LONGEST)
}

/// The same where no more than `most` readers are to have one word.
#[inline(always)]
pub fn step_among<const WRITE: bool>(
    t: &mut Thread,
    (write, read): (u64, u64),
    mask: u8,
    at: Place,
    most: usize,
) -> Step {
    if t.far {
        return Step::Misfit;
    }
    let written = bytes(write);
    let own_write = (write ^ t.epoch) & EPOCH == 0;
    let own_read = (read ^ t.epoch) & EPOCH == 0;
    // What this thread did to these bytes in this epoch is on record, a read behind its write too.
    let mut new = mask;
    if own_write {
        new &= !written;
    }
    if !WRITE && own_read {
        new &= !bytes(read);
    }
    if new == 0 {
        return Step::Known;
    }
    if place(read).is_readers() {
        return readers::step::<WRITE>(t, (write, read), new, at, most);
    }
    let mut seen = bytes(read);
    if (write ^ read) & EPOCH == 0 {
        seen &= !written;
    }
    let with_write = unordered(t, write, written & new);
    if WRITE {
        let with_read = unordered(t, read, seen & new) & !with_write;
        let after = match written & !new {
            0 => word(t.epoch, at, new),
            _ if own_write => add(t, write, at, new),
            _ => return Step::Misfit,
        };
        let behind = match seen & !new {
            0 => after,
            _ => read | u64::from(!(seen & !new)),
        };
        return Step::Words((after, behind), with_write, with_read);
    }
    let after = if own_read && read != 0 {
        add(t, read, at, new)
    } else if unordered(t, read, seen & new) != 0 {
        match crate::readers::both(read, word(t.epoch, at, new)) {
            Some(both) => both,
            None => return Step::Misfit,
        }
    } else if seen & !new != 0 {
        return Step::Misfit;
    } else {
        word(t.epoch, at, new)
    };
    Step::Words((write, after), with_write, 0)
}

/// The words after an access that is [`Step::Known`], with its place in the place of the one on record, which was of the same
/// epoch and to the same bytes: either is as good to name. So what was touched singly before is like its neighbours again.
#[inline(always)]
pub fn renamed<const WRITE: bool>(t: &Thread, (write, read): (u64, u64), mask: u8, at: Place) -> (u64, u64) {
    let after = word(t.epoch, at, mask);
    let is_same = |word: u64| (word ^ after) & (EPOCH | 0xff) == 0;
    let after_read = if is_same(read) && !place(read).is_readers() {
        after
    } else {
        read
    };
    match (WRITE, is_same(write)) {
        (true, true) => (after, after_read),
        (false, false) => (write, after_read),
        _ => (write, read),
    }
}

/// Whether two words have a read of all of the granule's bytes by `t` on record, in this epoch. If it is not the last one, the next
/// inline test finds that out by itself.
#[inline(always)]
fn is_read(t: &Thread, (write, mut read): (u64, u64)) -> bool {
    if write >= FIRST_SIDE {
        return side::has_read(t, write);
    }
    let last = read;
    while (read ^ t.epoch) & (EPOCH | 0xff) != 0 {
        if !place(read).is_readers() {
            return false;
        }
        (_, read) = place(read).readers();
    }
    if read != last {
        t.is_behind(last, 0xff);
    }
    true
}

/// Whether accesses to all bytes of some granules by `t` are on record, in this epoch.
#[inline(always)]
pub fn are_known<const WRITE: bool>(t: &Thread, cells: &[Cell]) -> bool {
    // What the inline test looks at, of all at once.
    let differ = cells.iter().fold(0, |differ, cell| {
        let word = if WRITE { &cell.write } else { &cell.read };
        differ | word.load(Ordering::Relaxed) ^ t.epoch
    });
    // Neighbours mostly say the same, and there may be many readers in one word.
    let mut last = None;
    let mut is_read = |cell: &Cell| {
        let words = cell.load();
        last.replace(words) == Some(words) || is_read(t, words)
    };
    differ & (EPOCH | 0xff) == 0 || !WRITE && cells.iter().all(&mut is_read)
}

/// An access to all bytes of an own cell whose accesses on record were all by `t`, if it is one: what [`step`] does then.
#[inline(always)]
fn own_access<const WRITE: bool>(t: &Thread, cell: &Cell, at: Place) -> bool {
    let (write, read) = cell.load();
    let by_others = ((write ^ read) | (write ^ t.epoch)) >> TERM_SHIFT != 0;
    if by_others || place(read).is_readers() {
        return false;
    }
    let new = |word: u64| (word ^ t.epoch) & (EPOCH | 0xff) != 0;
    let after = word(t.epoch, at, 0xff);
    if WRITE && new(write) {
        cell.set((after, after));
    }
    if !WRITE && new(write) && new(read) {
        cell.set((write, after));
    }
    true
}

/// A plain access by `t` to the bytes `mask` (neighbours, at least one) of the cell's granule. Races go to `found`. `own` if
/// nobody else changes the cell ([`crate::owners`]).
#[inline(always)]
pub fn access<const WRITE: bool>(
    t: &mut Thread,
    cell: &Cell,
    own: bool,
    mask: u8,
    at: Place,
    found: &mut Vec<Found>,
) {
    if own && mask == 0xff && own_access::<WRITE>(t, cell, at) {
        return;
    }
    loop {
        let old = cell.load();
        if partly::is(old.0) {
            if side::access_parts(t, cell, old.0, own, mask, kind(WRITE), false, at, found) {
                return;
            }
            continue;
        }
        if old.0 >= FIRST_SIDE {
            if side::access(t, cell, old.0, mask, kind(WRITE), false, at, found) {
                return;
            }
            continue;
        }
        let step = if !WRITE && place(old.1).is_readers() && readers::is_again(t, old.1) {
            Step::Misfit
        } else {
            step_among::<WRITE>(t, old, mask, at, readers::FEW)
        };
        match step {
            Step::Known => return,
            Step::Words(new, with_write, with_read) => {
                if own {
                    cell.set(new);
                }
                if own || cell.change(old, new) {
                    tell_both(t, old, with_write, with_read, found);
                    return;
                }
            }
            Step::Misfit => {
                if WRITE && let Some(done) = partly::begin(t, cell, own, old, mask, at) {
                    if done {
                        return;
                    }
                    continue;
                }
                if side::make(t, cell, old, mask, kind(WRITE), false, at, found) {
                    return;
                }
            }
        }
    }
}

/// Plain accesses to the same bytes of neighbouring granules, as far as they race with nothing and two words say it: how many were
/// done. Neighbours are mostly alike, and what a step makes of one it makes of the next. No more than `most` readers are to have one word.
#[inline]
pub fn sweep<const WRITE: bool>(
    t: &mut Thread,
    cells: &[Cell],
    own: bool,
    mask: u8,
    at: Place,
    most: usize,
) -> usize {
    // No cell has such words.
    let (mut last, mut made) = ((u64::MAX, u64::MAX), (0, 0));
    for (n, cell) in cells.iter().enumerate() {
        let old = cell.load();
        if old != last {
            if old.0 >= FIRST_SIDE {
                return n;
            }
            made = match step_among::<WRITE>(t, old, mask, at, most) {
                Step::Known => old,
                Step::Words(new, 0, 0) => new,
                _ => return n,
            };
            last = old;
        }
        if made == old {
            continue;
        }
        if own {
            cell.set(made);
        } else if !cell.change(old, made) {
            return n;
        }
    }
    cells.len()
}

/// Names what an access races with.
#[inline(always)]
pub fn tell_both(
    t: &Thread,
    (write, read): (u64, u64),
    with_write: u8,
    with_read: u8,
    found: &mut Vec<Found>,
) {
    if with_write | with_read != 0 {
        tell(write, with_write, Class::WRITE, found);
        let mut left = with_read;
        for read in readers::each(read) {
            let racing = unordered(t, read, left & bytes(read));
            tell(read, racing, Class::READ, found);
            left &= !racing;
        }
    }
}

#[inline(always)]
fn kind(write: bool) -> AccessKind {
    if write {
        AccessKind::Write
    } else {
        AccessKind::Read
    }
}

/// Those of `bytes` that the access of `word` races on, all or none.
#[inline(always)]
pub fn unordered(t: &Thread, word: u64, bytes: u8) -> u8 {
    if bytes != 0 && !knows(t, word) { bytes } else { 0 }
}

/// A word of this epoch with more bytes.
#[inline(always)]
pub fn add(t: &mut Thread, old: u64, at: Place, new: u8) -> u64 {
    let all = bytes(old) | new;
    let both = if place(old) == at {
        at
    } else {
        t.places.with(place(old), at, new)
    };
    word(old, both, all)
}

/// Names the access of `word` as the earlier side of a race on `racing`, place by place.
#[cold]
pub fn tell(word: u64, mut racing: u8, class: Class, found: &mut Vec<Found>) {
    let (slot, timestamp) = epoch(word);
    while racing != 0 {
        let at = place(word).at_byte(racing.trailing_zeros());
        let mask = (0..8)
            .filter(|byte| racing >> byte & 1 == 1 && place(word).at_byte(*byte) == at)
            .fold(0u8, |mask, byte| mask | 1 << byte);
        racing &= !mask;
        let prior = Prior {
            slot,
            timestamp,
            kind: class.kind,
            atomic: class.atomic,
            site: SiteId(at.0),
        };
        found.push(Found { mask, prior });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_words_change_together_or_not_at_all() {
        let cell = Cell::default();
        assert!(cell.change((0, 0), (1, 2)));
        assert_eq!(cell.load(), (1, 2));
        assert!(!cell.change((1, 3), (5, 5)));
        assert!(!cell.change((0, 2), (5, 5)));
        assert_eq!(cell.load(), (1, 2));
    }

    #[test]
    fn words_keep_their_parts_apart() {
        let word = word(
            (0x3ffe << TERM_SHIFT) | (0xfffff << TIME_SHIFT),
            Place(0x3f_ffff),
            0x0f,
        );
        assert_eq!((term(word), epoch(word).1), (0x3ffe, 0xfffff));
        assert_eq!(place(word), Place(0x3f_ffff));
        assert_eq!(bytes(word), 0x0f);
        assert!(word < FIRST_SIDE);
    }
}
