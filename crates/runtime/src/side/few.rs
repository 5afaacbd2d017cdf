//! A few accesses to one granule, each a word as in a cell: what atomics need, and data that a few threads read all the time.
//!
//! It means what a FastTrack location for each byte means that has these accesses on record. One that is ordered behind another
//! takes its place where whoever races with the other races with it, too: a write that of all, a read that of reads, an atomic
//! load that of loads, an atomic store that of loads and stores.

use super::{HALVES, Many, Runs, detect_epoch, only};
use crate::cell::{self, Found, bytes, knows, unordered, word};
use crate::places::Place;
use crate::readers;
use crate::thread::Thread;
use deadheat_abi::shadow::{EPOCH, TERM_SHIFT};
use deadheat_detect::clock::Epoch;
use deadheat_detect::fasttrack::Location;
use deadheat_detect::history::Class;
use deadheat_event::SiteId;

/// So many accesses.
pub const MOST: usize = 6;

/// The accesses: the first word that is 0 is the end.
#[derive(Clone, Copy, Default)]
pub struct Few {
    /// Epochs, places (never of several readers) and bytes.
    pub words: [u64; MOST],
    /// [`Class::index`] of each, two bits, the first lowest.
    pub classes: u16,
}

/// Whether who races with an `old` access races with a `new` one behind it, too.
#[inline(always)]
fn stands_for(new: Class, old: Class) -> bool {
    new == Class::WRITE || new == old || (new, old) == (Class::STORE, Class::LOAD)
}

/// Those classes that an access of a class races with, a bit for each number.
const CONFLICTS: [u8; 4] = {
    const fn bit(class: Class) -> u8 {
        1 << class.index()
    }
    [
        bit(Class::WRITE) | bit(Class::STORE),
        0b1111,
        bit(Class::WRITE),
        bit(Class::WRITE) | bit(Class::READ),
    ]
};

/// [`Few::access`] where the thread's last access of this class, which is not [`Class::WRITE`], was to the same bytes, and it finds
/// nothing. Whether it was so; otherwise nothing was done.
#[inline(always)]
pub fn repeat(
    words: &mut [u64; MOST],
    classes: &mut u16,
    t: &Thread,
    mask: u8,
    class: Class,
    at: Place,
) -> bool {
    let conflicts = CONFLICTS[class.index()];
    let (mut own, mut left) = (MOST, *classes);
    for (n, access) in words.iter().enumerate() {
        if *access == 0 {
            break;
        }
        let of = usize::from(left) % 4;
        left >>= 2;
        if of == class.index() && (*access ^ t.epoch) >> TERM_SHIFT == 0 && bytes(*access) == mask {
            own = n;
        } else if conflicts >> of & 1 == 1 && bytes(*access) & mask != 0 && !knows(t, *access) {
            return false;
        }
    }
    let Some(access) = words.get_mut(own) else {
        return false;
    };
    *access = word(t.epoch, at, mask);
    if !class.atomic && own > 0 {
        to_front(words, classes, own);
    }
    true
}

/// The last read is the first to be named.
#[inline(always)]
fn to_front(words: &mut [u64; MOST], classes: &mut u16, last: usize) {
    words[..=last].rotate_right(1);
    let all = (4 << (2 * last)) - 1;
    let turned = *classes & all;
    *classes = *classes & !all | turned << 2 & all | turned >> (2 * last);
}

impl Few {
    /// What a cell's words say, if it is so few.
    pub fn of(write: u64, read: u64) -> Option<Few> {
        let mut few = Few::default();
        few.add_words(write, read).then_some(few)
    }

    /// The same of two halves.
    pub fn of_halves(halves: [(u64, u64); 2]) -> Option<Few> {
        let mut few = Few::default();
        let fits = halves.iter().all(|(write, read)| few.add_words(*write, *read));
        fits.then_some(few)
    }

    fn add_words(&mut self, write: u64, read: u64) -> bool {
        let written = bytes(write);
        (written == 0 || self.add(write, Class::WRITE))
            && readers::each(read).all(|read| {
                // Behind a write of its own epoch a read says nothing.
                let said = if (write ^ read) & EPOCH == 0 { written } else { 0 };
                let read = only(read, !said);
                read == 0 || self.add(read, Class::READ)
            })
    }

    fn each(&self) -> impl Iterator<Item = (u64, Class)> {
        let mut classes = self.classes;
        self.words
            .into_iter()
            .take_while(|word| *word != 0)
            .map(move |word| {
                let class = Class::ALL[usize::from(classes) % 4];
                classes >>= 2;
                (word, class)
            })
    }

    /// Adds an access. Whether there was room.
    fn add(&mut self, new: u64, class: Class) -> bool {
        for (n, word) in self.words.iter_mut().enumerate() {
            let same_class = usize::from(self.classes >> (2 * n)) % 4 == class.index();
            if *word == 0 {
                self.classes |= (class.index() as u16) << (2 * n);
                *word = new;
                return true;
            }
            // One access to more bytes.
            if same_class && (*word ^ new) & !0xff == 0 {
                *word &= new;
                return true;
            }
        }
        false
    }

    /// Adds a read, for which there is room.
    pub fn add_read(&mut self, read: u64) {
        self.add(read, Class::READ);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.each().count()
    }

    /// Checks an access and remembers it. If there is no room for it that was in vain, and the answer no.
    #[inline(never)]
    pub fn access(&mut self, t: &Thread, mask: u8, class: Class, at: Place, found: &mut Vec<Found>) -> bool {
        // What this thread did to these bytes in this epoch is on record.
        let own = |(word, of): &(u64, Class)| (word ^ t.epoch) & EPOCH == 0 && stands_for(*of, class);
        let said = self
            .each()
            .filter(own)
            .fold(0, |said, (word, _)| said | bytes(word));
        let mask = mask & !said;
        if mask == 0 {
            return true;
        }
        let mut before = Few::default();
        let mut races = false;
        for (word, of) in self.each() {
            let common = bytes(word) & mask;
            let known = common == 0 || knows(t, word);
            races |= !known && class.conflicts(of);
            let kept = if class == Class::WRITE || known && stands_for(class, of) {
                only(word, !mask)
            } else {
                word
            };
            if kept != 0 {
                before.add(kept, of);
            }
        }
        // What is new comes first.
        let mut after = Few::default();
        after.add(word(t.epoch, at, mask), class);
        if !before.each().all(|(word, of)| after.add(word, of)) {
            return false;
        }
        if races {
            self.tell(t, mask, class, found);
        }
        *self = after;
        true
    }

    /// Names what an access races with: for each byte one, a plain write before a plain read, and those before atomics. Reads are
    /// named as they would be in a chain ([`readers`]): the last one first, then by epoch.
    #[cold]
    fn tell(&self, t: &Thread, mask: u8, class: Class, found: &mut Vec<Found>) {
        let mut left = mask;
        for first in [Class::WRITE, Class::READ, Class::LOAD, Class::STORE] {
            let mut all: Vec<(u64, Class)> = self.each().filter(|(_, of)| *of == first).collect();
            if let Some((_, before)) = all.split_first_mut() {
                before.sort_unstable_by_key(|(word, _)| !word);
            }
            for (word, of) in all.into_iter().filter(|(_, of)| class.conflicts(*of)) {
                let racing = unordered(t, word, bytes(word) & left);
                cell::tell(word, racing, of, found);
                left &= !racing;
            }
        }
    }

    /// The words of two halves, if they can say all this.
    pub fn halves(&self) -> Option<[(u64, u64); 2]> {
        let mut halves = [(0, 0); 2];
        for (word, class) in self.each() {
            for (half, (write, read)) in HALVES.iter().zip(&mut halves) {
                let part = only(word, *half);
                let place = if class == Class::WRITE { write } else { read };
                if class.atomic || part != 0 && *place != 0 {
                    return None;
                }
                *place |= part;
            }
        }
        // As a write leaves it.
        for (write, read) in &mut halves {
            if *read == 0 {
                *read = *write;
            }
        }
        Some(halves)
    }

    /// The same as a write and reads by many threads, if that is what it is.
    pub fn many(&self) -> Option<Many> {
        let of = |class: Class| {
            self.each()
                .filter(move |(_, of)| *of == class)
                .map(|(word, _)| word)
        };
        let plain = self.each().all(|(_, class)| !class.atomic);
        let mut writes = of(Class::WRITE);
        let write = writes.next().unwrap_or(0);
        (plain && writes.next().is_none())
            .then(|| Many::of(write, of(Class::READ)))
            .flatten()
    }

    /// The same as runs.
    pub fn runs(&self) -> Runs {
        Runs::new(|byte| {
            let mut all: Vec<(Class, Epoch, SiteId)> = Vec::new();
            for (word, class) in self.each().filter(|(word, _)| bytes(*word) >> byte & 1 == 1) {
                let epoch = detect_epoch(word);
                let new = (class, epoch, SiteId(cell::place(word).at_byte(byte).0));
                let same = |old: &&mut (Class, Epoch, SiteId)| old.0 == class && old.1.slot() == epoch.slot();
                match all.iter_mut().find(same) {
                    Some(old) if old.1.time() < epoch.time() => *old = new,
                    Some(_) => {}
                    None => all.push(new),
                }
            }
            Location::with_all(&all)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Cell, FIRST_SIDE};
    use crate::{side, sync};
    use deadheat_detect::hb::HbThread;
    use deadheat_event::{AccessKind, Mode, Slot};
    use std::sync::atomic::Ordering;

    fn thread(slot: u32) -> Thread {
        Thread::new(slot, HbThread::after(Slot(slot), 0), true)
    }

    #[test]
    fn what_threads_read_again_and_again_has_a_word_for_each() {
        let (mut a, mut b, mut c) = (thread(1), thread(2), thread(3));
        let cell = Cell::default();
        let mut found = Vec::new();
        let locks = [0x6100_0000, 0x6100_0040];
        for _ in 0..100 {
            for (t, lock) in [&mut a, &mut b].into_iter().zip(locks) {
                cell::access::<false>(t, &cell, false, 0xff, Place(1), &mut found);
                sync::release(t, lock, Mode::Exclusive);
            }
        }
        assert!(found.is_empty());
        let state = cell.write.load(Ordering::Relaxed);
        assert!(state >= FIRST_SIDE, "it has a chain still");
        // Who knows of the first reader races with the second one.
        sync::acquire(&mut c, locks[0], Mode::Exclusive);
        cell::access::<true>(&mut c, &cell, false, 0xff, Place(2), &mut found);
        assert_eq!(
            found.iter().map(|found| found.prior.slot).collect::<Vec<_>>(),
            [Slot(2)]
        );
        assert!(
            cell.write.load(Ordering::Relaxed) < FIRST_SIDE,
            "two words say it again"
        );
        for lock in locks {
            sync::forget(&mut c, lock);
        }
    }

    #[test]
    fn a_plain_access_races_with_the_last_atomic_of_each_thread() {
        let (mut a, mut b, mut c) = (thread(1), thread(2), thread(3));
        let cell = Cell::default();
        let mut found = Vec::new();
        let lock = 0x6100_0080;
        for kind in [AccessKind::Write, AccessKind::Read, AccessKind::Write] {
            for t in [&mut a, &mut b] {
                side::atomic(t, &cell, 0x0f, kind, Place(1), &mut found);
                assert!(side::repeat_atomic(t, &cell, 0x0f, kind, Place(1)));
            }
            sync::release(&mut a, lock, Mode::Exclusive);
        }
        assert!(found.is_empty());
        cell::access::<false>(&mut c, &cell, false, 0xf0, Place(2), &mut found);
        assert!(found.is_empty(), "of other bytes");
        sync::acquire(&mut c, lock, Mode::Exclusive);
        cell::access::<false>(&mut c, &cell, false, 0x0f, Place(2), &mut found);
        let who = |found: &[Found]| found.iter().map(|found| found.prior.slot).collect::<Vec<_>>();
        assert_eq!(who(&found), [Slot(2)]);
        assert!(found[0].prior.atomic && found[0].prior.kind == AccessKind::Write);
        found.clear();
        // And an atomic store with a plain read.
        assert!(!side::repeat_atomic(
            &mut a,
            &cell,
            0x0f,
            AccessKind::Write,
            Place(1)
        ));
        side::atomic(&mut a, &cell, 0x0f, AccessKind::Write, Place(1), &mut found);
        assert_eq!(who(&found), [Slot(3)]);
        side::reset(&cell);
        sync::forget(&mut c, lock);
    }

    #[test]
    fn what_conflicts_is_what_the_classes_say() {
        for class in Class::ALL {
            for other in Class::ALL {
                let said = CONFLICTS[class.index()] >> other.index() & 1 == 1;
                assert_eq!(said, class.conflicts(other));
            }
        }
    }
}
