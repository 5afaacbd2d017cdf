//! Terms: what shadow words say in the place of clock slots.
//!
//! A word has 20 bits for a time, and a thread that gives back locks all the time comes to a million of them within a second. Its slot in the
//! clocks is for good, since every clock of every lock has an entry for each slot there is; but in words it goes by one *term* after
//! another: a number of 14 bits that stands for the slot and for the time from which on the times of its words count.
//!
//! The first term of a slot has its number. Those that follow are taken from the highest number down, and none is given back: where the
//! two meet, threads do without, and what they do from then on is kept in side states (`Thread::far`).

use deadheat_abi::shadow::{SIDE, TERM_BITS, TIME_BITS};
use deadheat_event::Slot;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Terms, and slots that have any, are below.
pub const TERMS: u32 = SIDE;
/// The last time that fits into a shadow word.
pub const LAST_TIME: u64 = (1 << TIME_BITS) - 1;
/// From this time of its term on a thread looks for a new one: no operation takes more times than are left.
pub const WORN: u64 = LAST_TIME - 64;

const ALL: usize = 1 << TERM_BITS;

/// Of each term, the slot (the lower 24 bits, different from its number by them) and its base. Written before the first word with the
/// number is, and never again.
pub static OF: [AtomicU64; ALL] = [const { AtomicU64::new(0) }; ALL];

/// Where the base begins in such an entry.
pub const BASE_SHIFT: u32 = 24;

/// The latest term of each slot, different from the slot by these bits.
static LATEST: [AtomicU32; ALL] = [const { AtomicU32::new(0) }; ALL];

/// Terms from here on are taken, but for the first ones of slots. Changes while the registry is locked.
static LOWEST: AtomicU32 = AtomicU32::new(TERMS);

/// A term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// As in a shadow word.
    pub number: u32,
    /// What is to be added to a time in such a word.
    pub base: u64,
}

/// The slot and the base of the term with this number.
#[inline(always)]
pub fn of(number: u32) -> (Slot, u64) {
    let entry = OF[number as usize % ALL].load(Ordering::Relaxed);
    let slot = entry as u32 & ((1 << BASE_SHIFT) - 1);
    (Slot(slot ^ number), entry >> BASE_SHIFT)
}

/// The term in which the thread in `slot` is, if it has any.
pub fn latest(slot: Slot) -> Option<Term> {
    if slot.0 >= TERMS {
        return None;
    }
    let number = slot.0 ^ LATEST[slot.index()].load(Ordering::Relaxed);
    (number < TERMS).then(|| Term {
        number,
        base: of(number).1,
    })
}

fn set_latest(slot: Slot, number: u32) {
    if let Some(latest) = LATEST.get(slot.index()) {
        latest.store(slot.0 ^ number, Ordering::Relaxed);
    }
}

/// A slot is there that nobody has had. The registry is locked.
pub fn first(slot: Slot) {
    if slot.0 >= LOWEST.load(Ordering::Relaxed) {
        set_latest(slot, SIDE);
    }
}

/// The thread in `slot` goes on in a term whose times count from `base` on, if there is one; there are `slots` so far. The registry is
/// locked.
pub fn next(slot: Slot, base: u64, slots: u32) {
    let number = LOWEST.load(Ordering::Relaxed) - 1;
    if slot.0 >= TERMS || number <= slots {
        return set_latest(slot, SIDE);
    }
    LOWEST.store(number, Ordering::Relaxed);
    let entry = base << BASE_SHIFT | u64::from(slot.0 ^ number);
    OF[number as usize].store(entry, Ordering::Release);
    set_latest(slot, number);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::spin::{Guard, Spin};

    static ALONE: Spin<()> = Spin::new(());

    /// Slots from here on are for tests that take terms.
    pub const FIRST: u32 = TERMS / 2;

    /// The right to take terms, which are free again when it ends: random traces may take any number of them.
    pub struct Alone {
        _guard: Guard<'static, ()>,
    }

    /// Waits for whoever has it.
    pub fn alone() -> Alone {
        Alone { _guard: ALONE.lock() }
    }

    impl Drop for Alone {
        fn drop(&mut self) {
            LOWEST.store(TERMS, Ordering::Relaxed);
            for at in FIRST as usize..ALL {
                OF[at].store(0, Ordering::Relaxed);
                LATEST[at].store(0, Ordering::Relaxed);
            }
        }
    }

    #[test]
    fn a_slot_has_one_term_after_another_and_in_the_end_none() {
        let _alone = alone();
        let slot = Slot(FIRST + 7);
        let first = Term {
            number: slot.0,
            base: 0,
        };
        assert_eq!(latest(slot), Some(first));
        assert_eq!(of(slot.0), (slot, 0));
        next(slot, 999, 10);
        let second = latest(slot).expect("there are some left");
        assert_eq!((second.base, of(second.number)), (999, (slot, 999)));
        assert_eq!(of(first.number), (slot, 0), "words of before say the same");
        // As if there were slots up to the term that would be next.
        next(slot, 2000, second.number - 1);
        assert_eq!(latest(slot), None);
        assert_eq!(of(second.number), (slot, 999));
        first_of_a_slot_there_is_one();
    }

    fn first_of_a_slot_there_is_one() {
        let low = LOWEST.load(Ordering::Relaxed);
        for (slot, any) in [(low - 1, true), (low, false), (TERMS, false), (1 << 20, false)] {
            first(Slot(slot));
            assert_eq!(latest(Slot(slot)).is_some(), any, "slot {slot}");
        }
    }
}
