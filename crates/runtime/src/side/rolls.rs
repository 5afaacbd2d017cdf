//! Reads by many threads of granules that they have in common: a tree, say, that all of them walk through between two barriers.
//!
//! Each thread reads a lot of them in one epoch, at one place. So what it has read is one word for all of these granules, which stands
//! in a *roll*, a word for each slot; and a granule has a bit for each slot, whether that thread's word in the roll is about it. All of that
//! fits into the line of a side state, where a table of readers for each granule ([`super::many`]) takes more memory than processors have near, and a read has to
//! wait for it.
//!
//! A granule's reads mean what they mean in a [`super::Many`], and become one when they cannot be said here: a thread reads in a
//! second epoch or at another place than the roll says.
//!
//! **Why a granule's reads stay what they are.** A word of a roll is written once, in the place of 0, and stays until no granule has
//! the roll. A granule's bits change under the lock of its cell, each of them after the word was there.

use super::many::{self, Written};
use super::{Form, Many, More, Runs, Side};
use crate::cell::{self, Found, bytes, unordered, word};
use crate::places::Place;
use crate::spin::Spin;
use crate::thread::Thread;
use crate::vm::Table;
use deadheat_abi::shadow::EPOCH;
use deadheat_detect::history::Class;
use deadheat_event::AccessKind;
use std::sync::atomic::{AtomicU64, Ordering};

/// Slots that rolls have words for.
const SLOTS: usize = 64 * BITS;

/// Words of bits.
pub const BITS: usize = 4;

/// How many rolls there are at most. Beyond them, granules have tables of their own.
const MOST: usize = 4096;

/// Places for rolls that new granules may have, by where they are read.
const PRESENT: usize = 256;

type Roll = [AtomicU64; SLOTS];

static ROLLS: Table<Roll> = Table::new();
static USE: Spin<Use> = Spin::new(Use {
    present: [0; PRESENT],
    granules: Vec::new(),
    free: Vec::new(),
});

/// Which rolls are in use.
struct Use {
    /// One more than the number of a roll; 0 for none.
    present: [u32; PRESENT],
    /// How many granules have each roll, plus one if it is present.
    granules: Vec<u32>,
    free: Vec<u32>,
}

/// Maps the table ahead of its first use, or says why not.
pub fn reserve() -> Result<(), i32> {
    ROLLS.reserve(MOST)
}

/// Takes the lock, before a `fork`.
pub fn hold() {
    USE.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    USE.let_go();
}

/// No granule has a roll any more, after a `fork`.
pub fn forget_all() {
    let mut used = USE.lock();
    used.present = [0; PRESENT];
    used.granules.clear();
    used.free.clear();
}

fn roll(number: u64) -> &'static Roll {
    // SAFETY: within the table; zero bytes are atomics.
    unsafe { &*ROLLS.at(number as usize % MOST, MOST) }
}

fn slot(read: u64) -> usize {
    cell::epoch(read).0.0 as usize
}

/// Whether the roll says this read, or does so from now on.
fn says(roll: &Roll, read: u64) -> bool {
    let Some(word) = roll.get(slot(read)) else {
        return false;
    };
    let now = word.load(Ordering::Relaxed);
    now == read
        || now == 0
            && word
                .compare_exchange(0, read, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
}

impl Use {
    fn less(&mut self, number: u32) {
        let granules = &mut self.granules[number as usize];
        *granules -= 1;
        if *granules == 0 {
            self.free.push(number);
        }
    }

    fn unused(&mut self) -> Option<u32> {
        let number = self.free.pop().or_else(|| {
            let next = self.granules.len();
            (next < MOST).then(|| {
                self.granules.push(0);
                next as u32
            })
        })?;
        roll(number.into())
            .iter()
            .filter(|word| word.load(Ordering::Relaxed) != 0)
            .for_each(|word| word.store(0, Ordering::Relaxed));
        Some(number)
    }
}

/// The reads of a granule.
#[derive(Clone, Copy)]
pub struct Enrolled {
    /// A bit for each slot.
    pub bits: [u64; BITS],
    /// The number of the roll.
    pub roll: u64,
}

impl Enrolled {
    /// Reads of a granule, if there is a roll for them: no two are by one thread. It is to be [left](Enrolled::leave).
    pub fn of<I: Iterator<Item = u64>>(reads: impl Fn() -> I) -> Option<Enrolled> {
        let last = reads().next()?;
        let mut bits = [0; BITS];
        for read in reads() {
            let (word, bit) = (slot(read) / 64, 1 << (slot(read) % 64));
            let word = bits.get_mut(word).filter(|word| **word & bit == 0)?;
            *word |= bit;
        }
        let mut used = USE.lock();
        let at = cell::place(last).0 as usize % PRESENT;
        let all = |number: u32| reads().all(|read| says(roll(number.into()), read));
        let mut number = used.present[at].checked_sub(1);
        if !number.is_some_and(all) {
            let new = used.unused()?;
            all(new);
            used.granules[new as usize] += 1;
            used.present[at] = new + 1;
            if let Some(before) = number.replace(new) {
                used.less(before);
            }
        }
        let number = number?;
        used.granules[number as usize] += 1;
        Some(Enrolled {
            bits,
            roll: number.into(),
        })
    }

    /// The granule has other reads from now on, or none.
    pub fn leave(self) {
        USE.lock().less(self.roll as u32);
    }

    /// The reads, by slot.
    pub fn each(self) -> impl Iterator<Item = u64> + Clone {
        let roll = roll(self.roll);
        let bits = self.bits.into_iter().zip((0..).step_by(64));
        bits.flat_map(move |(mut bits, first)| {
            std::iter::from_fn(move || {
                let next = bits.trailing_zeros() as usize;
                bits &= bits.wrapping_sub(1);
                (next < 64).then(|| roll[first + next].load(Ordering::Relaxed))
            })
        })
    }

    /// A read by `t`: whether it is said now, and whether it was before. `None` if it cannot be.
    #[inline]
    pub fn read(&mut self, t: &Thread, mask: u8, at: Place) -> Option<bool> {
        let slot = slot(t.epoch);
        let (bits, bit) = (self.bits.get_mut(slot / 64)?, 1 << (slot % 64));
        let roll = roll(self.roll);
        if *bits & bit != 0 {
            let own = roll[slot].load(Ordering::Relaxed);
            let known = (own ^ t.epoch) & EPOCH == 0 && mask & !bytes(own) == 0;
            return known.then_some(true);
        }
        if !says(roll, word(t.epoch, at, mask)) {
            return None;
        }
        *bits |= bit;
        Some(false)
    }
}

impl Side<'_> {
    /// Has reads by many threads in a roll, if there is one for them.
    pub(super) fn enroll<I: Iterator<Item = u64>>(&mut self, write: u64, reads: impl Fn() -> I) -> bool {
        let Some(enrolled) = Enrolled::of(|| reads().filter(|read| !many::is_said(write, *read))) else {
            return false;
        };
        self.set_enrolled(write, &enrolled);
        self.kind.form = Form::Enrolled;
        true
    }

    fn set_enrolled(&mut self, write: u64, enrolled: &Enrolled) {
        let [a, b, c, d] = enrolled.bits;
        self.said.words = [write, a, b, c, d, enrolled.roll];
    }

    /// The write, and the reads of a roll, if that is the form.
    pub(super) fn enrolled(&self) -> Option<(u64, Enrolled)> {
        let [write, a, b, c, d, roll] = self.said.words;
        let bits = [a, b, c, d];
        (self.kind.form == Form::Enrolled).then_some((write, Enrolled { bits, roll }))
    }

    /// An access where the reads are in a roll. Whether it was done; otherwise they are in a table now.
    pub(super) fn access_enrolled(
        &mut self,
        t: &mut Thread,
        mask: u8,
        class: Class,
        at: Place,
        found: &mut Vec<Found>,
    ) -> bool {
        let Some((write, mut enrolled)) = self.enrolled() else {
            return false;
        };
        let fits = t.fits() && !class.atomic;
        if fits && class.kind == AccessKind::Write {
            match many::write(t, (write, enrolled.each()), mask, at, found) {
                Written::Known => return true,
                Written::Word(word) => {
                    self.empty();
                    self.fill((word, word));
                    return true;
                }
                Written::Misfit => {}
            }
        } else if fits && (write ^ t.epoch) & EPOCH != 0 {
            match enrolled.read(t, mask, at) {
                Some(true) => return true,
                Some(false) => {
                    cell::tell(
                        write,
                        unordered(t, write, bytes(write) & mask),
                        Class::WRITE,
                        found,
                    );
                    self.set_enrolled(write, &enrolled);
                    return true;
                }
                None => {}
            }
        }
        let many = Many::of(write, enrolled.each());
        self.empty();
        self.set_more(match many {
            Some(many) => More::Many(many),
            // No two of its reads are by one thread.
            None => More::Runs(Runs::of(|_| (write, 0))),
        });
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Cell, FIRST_SIDE};
    use crate::locks::LockSet;
    use crate::places::At;
    use crate::side::{self, line};
    use crate::stress::{Random, times};
    use crate::sync;
    use deadheat_detect::hb::HbThread;
    use deadheat_event::{Mode, Slot};

    fn threads(slots: std::ops::RangeInclusive<u32>) -> Vec<Thread> {
        slots
            .map(|slot| Thread::new(slot, HbThread::after(Slot(slot), 0), true))
            .collect()
    }

    fn access<const WRITE: bool>(t: &mut Thread, cell: &Cell, mask: u8, at: Place) -> Vec<Found> {
        let mut found = Vec::new();
        cell::access::<WRITE>(t, cell, false, mask, at, &mut found);
        found
    }

    /// One that the other tests do not have, of all bytes.
    fn place(pc: usize) -> Place {
        Place::of(At {
            context: 9,
            pc,
            locks: LockSet::NONE,
            free: false,
        })
    }

    fn first(cell: &Cell) -> u64 {
        cell.write.load(Ordering::Relaxed)
    }

    /// The roll of a cell's reads, if they are in one.
    fn roll_of(cell: &Cell) -> Option<u64> {
        let first = first(cell);
        assert!(first >= FIRST_SIDE);
        // SAFETY: nobody else has the cell.
        let side = unsafe { line(first).side() };
        side.enrolled().map(|(_, enrolled)| enrolled.roll)
    }

    #[test]
    fn granules_that_threads_read_in_one_epoch_have_one_roll_until_they_are_written() {
        let cells: [Cell; 5] = Default::default();
        let mut readers = threads(1..=70);
        let mut writer = threads(99..=99).remove(0);
        let lock = 0x6500_0000;
        for _ in 0..3 {
            for (n, t) in readers.iter_mut().enumerate() {
                sync::acquire(t, lock, Mode::Exclusive);
                t.refresh();
                // The last cell has not all of them.
                for cell in &cells[..4 + n % 2] {
                    assert!(access::<false>(t, cell, 0xff, place(7001)).is_empty());
                }
            }
            let roll = roll_of(&cells[0]).expect("they are in a roll");
            assert!(cells.iter().all(|cell| roll_of(cell) == Some(roll)));
            // All but one of the readers come before the writes.
            for t in &mut readers[1..] {
                sync::release(t, lock, Mode::Shared);
            }
            sync::acquire(&mut writer, lock, Mode::Exclusive);
            for (cell, racing) in cells.iter().zip([1, 1, 1, 1, 0]) {
                let found = access::<true>(&mut writer, cell, 0xff, place(2));
                assert_eq!(found.len(), racing);
                assert!(found.iter().all(|found| found.prior.slot == Slot(1)));
                assert!(first(cell) < FIRST_SIDE, "two words say it again");
            }
            // It may be another's by now, but not these cells'.
            let used = USE.lock();
            assert!(
                used.granules[roll as usize] <= 1
                    || used.present[place(7001).0 as usize % PRESENT] as u64 != roll + 1
            );
            drop(used);
            sync::release(&mut writer, lock, Mode::Exclusive);
        }
        sync::forget(&mut writer, lock);
    }

    #[test]
    fn a_read_in_a_second_epoch_or_at_another_place_is_on_record_too() {
        for elsewhere in [false, true] {
            let (cell, mut readers, lock) = (Cell::default(), threads(1..=20), 0x6500_0040);
            for t in &mut readers {
                access::<false>(t, &cell, 0xff, place(7002));
            }
            assert!(roll_of(&cell).is_some());
            let mut writer = threads(99..=99).remove(0);
            for t in &mut readers {
                sync::release(t, lock, Mode::Shared);
            }
            sync::acquire(&mut writer, lock, Mode::Exclusive);
            let at = place(if elsewhere { 7003 } else { 7002 });
            access::<false>(&mut readers[4], &cell, 0xff, at);
            let found = access::<true>(&mut writer, &cell, 0xff, place(2));
            let all: Vec<_> = found.iter().map(|found| found.prior).collect();
            assert_eq!(all.len(), 1);
            assert_eq!((all[0].slot, all[0].site.0), (Slot(5), at.0));
            side::reset(&cell);
            sync::forget(&mut writer, lock);
        }
    }

    #[test]
    fn what_was_read_is_known_in_that_epoch_and_state_alone() {
        let (cell, mut readers, lock) = (Cell::default(), threads(1..=20), 0x6500_0080);
        for t in &mut readers {
            access::<false>(t, &cell, 0x0f, place(7004));
        }
        let before = first(&cell);
        assert!(readers.iter().all(|t| !side::has_read(t, before)), "of all bytes");
        readers
            .iter_mut()
            .for_each(|t| drop(access::<false>(t, &cell, 0xff, place(7004))));
        assert_eq!(first(&cell), before);
        assert!(readers.iter().all(|t| side::has_read(t, before)));
        let stranger = &threads(30..=30)[0];
        assert!(!side::has_read(stranger, before));
        sync::release(&mut readers[0], lock, Mode::Exclusive);
        assert!(!side::has_read(&readers[0], before));
        // The next state with the same number is another one.
        side::reset(&cell);
        let next = before + (1 << side::GENERATION_SHIFT);
        assert!(readers.iter().all(|t| !side::has_read(t, next)));
        sync::forget(&mut readers[0], lock);
    }

    /// Against all pairs of accesses: up to the first race, what is found is what there is.
    #[test]
    fn many_readers_race_with_what_they_are_not_ordered_with() {
        const LOCK: usize = 0x6500_0100;
        let mut random = Random(11);
        let (mut racing, mut enrolled) = (0, 0);
        let places = [place(7010), place(7011)];
        for _ in 0..400 * times() {
            let cells: [Cell; 3] = Default::default();
            let mut all = threads(1..=24);
            let mut done: [Vec<(Slot, u64, u8, bool)>; 3] = Default::default();
            let mut after_write = false;
            for _ in 0..300 {
                let n = random.below(all.len() as u64) as usize;
                let which = random.below(3) as usize;
                let write = random.below(60) == 0;
                let mask = [0xff, 0xff, 0xff, 0xff, 0x0f, 0xf0][random.below(6) as usize];
                // Mostly nobody is left out where all meet.
                let mut meet = |all: &mut [Thread]| {
                    let but = random.below(8 * all.len() as u64) as usize;
                    for t in &mut *all {
                        sync::release(t, LOCK, Mode::Shared);
                    }
                    for (_, t) in all.iter_mut().enumerate().filter(|(n, _)| *n != but) {
                        sync::acquire(t, LOCK, Mode::Exclusive);
                    }
                };
                if write || after_write {
                    meet(&mut all);
                } else if random.below(40) == 0 {
                    sync::release(&mut all[n], LOCK, Mode::Exclusive);
                }
                after_write = write;
                let t = &mut all[n];
                let unordered = |(slot, time, bytes, wrote): &(Slot, u64, u8, bool)| {
                    bytes & mask != 0 && (write || *wrote) && t.hb.get(*slot) < *time
                };
                let races = done[which].iter().any(unordered);
                let at = places[random.below(40) as usize / 39];
                let found = if write {
                    access::<true>(t, &cells[which], mask, at)
                } else {
                    access::<false>(t, &cells[which], mask, at)
                };
                assert_eq!(!found.is_empty(), races);
                for found in &found {
                    let prior = (found.prior.slot, found.prior.timestamp);
                    assert!(done[which].iter().any(|done| (done.0, done.1) == prior));
                }
                done[which].push((t.hb.slot(), t.hb.time(), mask, write));
                let is_side = first(&cells[which]) >= FIRST_SIDE;
                enrolled += usize::from(is_side && roll_of(&cells[which]).is_some());
                if races {
                    racing += 1;
                    break;
                }
            }
            cells.iter().for_each(side::reset);
            sync::forget(&mut all[0], LOCK);
        }
        assert!(
            racing > 50 && enrolled > 1000,
            "{racing} races, {enrolled} in rolls"
        );
    }
}
