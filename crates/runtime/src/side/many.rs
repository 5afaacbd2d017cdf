//! Reads of one granule by any number of threads, and the write before them: a word for each reader, found by its term.
//!
//! It means what a chain of readers means ([`crate::readers`]), without an end to it, and what a read costs does not grow with the number of those before
//! it. Chains are for arrays, whose granules have them in common; this is for what threads read in no order, and not in one epoch each, at one place ([`super::rolls`]).

use super::Runs;
use super::runs::{part, touches};
use crate::cell::{self, Found, add, bytes, term, unordered, word};
use crate::places::Place;
use crate::thread::Thread;
use deadheat_abi::shadow::EPOCH;
use deadheat_detect::fasttrack::Location;
use deadheat_detect::history::Class;

/// The accesses.
pub struct Many {
    /// The last write; 0 if there is none.
    pub write: u64,
    /// Reads that are not said by it, one for each term: at the term's number, modulo the length, which is a power of two, or at the next
    /// place that was free. 0 is none. Slots are used again, so there are no gaps to speak of.
    reads: Box<[u64]>,
}

/// At first there is room for so many.
const LEAST: usize = 16;

/// Where the read of a term is, or would be.
enum At {
    Here(usize),
    Free(usize),
    Full,
}

/// What becomes of it behind a write.
pub enum Written {
    /// It is as it was: the write is on record.
    Known,
    /// This word says all.
    Word(u64),
    /// Nothing was done: it cannot say it.
    Misfit,
}

/// Behind a write of its own epoch a read says nothing.
pub fn is_said(write: u64, read: u64) -> bool {
    (write ^ read) & EPOCH == 0 && bytes(read) & !bytes(write) == 0
}

/// Checks a write behind another one and reads.
pub fn write(
    t: &mut Thread,
    (write, reads): (u64, impl Iterator<Item = u64> + Clone),
    mask: u8,
    at: Place,
    found: &mut Vec<Found>,
) -> Written {
    let own = (write ^ t.epoch) & EPOCH == 0;
    let new = if own { mask & !bytes(write) } else { mask };
    if new == 0 {
        return Written::Known;
    }
    let stays = bytes(write) & !new != 0;
    if stays && !own || reads.clone().any(|read| bytes(read) & !new != 0) {
        return Written::Misfit;
    }
    let racing = unordered(t, write, bytes(write) & new);
    cell::tell(write, racing, Class::WRITE, found);
    let mut left = new & !racing;
    for read in reads {
        let racing = unordered(t, read, left & bytes(read));
        cell::tell(read, racing, Class::READ, found);
        left &= !racing;
    }
    Written::Word(if stays {
        add(t, write, at, new)
    } else {
        word(t.epoch, at, new)
    })
}

impl Many {
    /// A write and reads, if no two of these are by one thread.
    pub fn of(write: u64, reads: impl Iterator<Item = u64>) -> Option<Many> {
        let mut many = Many {
            write,
            reads: vec![0; LEAST].into(),
        };
        for read in reads.filter(|read| !is_said(write, *read)) {
            match many.find(term(read)) {
                At::Here(_) => return None,
                At::Free(at) => many.reads[at] = read,
                At::Full => many.grow(read),
            }
        }
        Some(many)
    }

    #[inline(always)]
    fn find(&self, of: u32) -> At {
        let last = self.reads.len() - 1;
        for n in 0..=last {
            let at = (of as usize + n) & last;
            match self.reads[at] {
                0 => return At::Free(at),
                read if term(read) == of => return At::Here(at),
                _ => {}
            }
        }
        At::Full
    }

    /// Makes room for one more, and takes it in.
    #[cold]
    fn grow(&mut self, new: u64) {
        let room = vec![0; 2 * self.reads.len()].into();
        let before = std::mem::replace(&mut self.reads, room);
        for read in before.into_iter().chain([new]) {
            if let At::Free(at) = self.find(term(read)) {
                self.reads[at] = read;
            }
        }
    }

    /// The reads.
    pub fn each(&self) -> impl Iterator<Item = u64> + Clone {
        self.reads.iter().copied().filter(|read| *read != 0)
    }

    /// Checks a read and remembers it. Whether it could; if not, nothing was done.
    pub fn read(&mut self, t: &mut Thread, mask: u8, at: Place, found: &mut Vec<Found>) -> bool {
        let mut new = mask;
        if (self.write ^ t.epoch) & EPOCH == 0 {
            new &= !bytes(self.write);
        }
        let place = self.find(term(t.epoch));
        let own = match place {
            At::Here(place) => self.reads[place],
            _ => 0,
        };
        let again = own != 0 && (own ^ t.epoch) & EPOCH == 0;
        if again {
            new &= !bytes(own);
        } else if bytes(own) & !new != 0 {
            return false;
        }
        if new == 0 {
            return true;
        }
        let racing = unordered(t, self.write, bytes(self.write) & new);
        cell::tell(self.write, racing, Class::WRITE, found);
        let read = if again {
            add(t, own, at, new)
        } else {
            word(t.epoch, at, new)
        };
        match place {
            At::Here(place) | At::Free(place) => self.reads[place] = read,
            At::Full => self.grow(read),
        }
        true
    }

    /// Checks a write.
    pub fn write(&self, t: &mut Thread, mask: u8, at: Place, found: &mut Vec<Found>) -> Written {
        write(t, (self.write, self.each()), mask, at, found)
    }

    /// The same as runs.
    pub fn runs(&self) -> Runs {
        Runs::new(|byte| {
            let write = Some(self.write).filter(|write| touches(*write, byte));
            let reads = self.each().filter(|read| touches(*read, byte));
            let reads: Vec<_> = reads.map(|read| part(read, byte)).collect();
            Location::with_reads(write.map(|write| part(write, byte)).unwrap_or_default(), &reads)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::cell::{self, Cell, FIRST_SIDE, Found};
    use crate::places::Place;
    use crate::sync;
    use crate::thread::Thread;
    use deadheat_detect::hb::HbThread;
    use deadheat_event::{Mode, Slot};
    use std::sync::atomic::Ordering;

    fn threads(count: u32) -> Vec<Thread> {
        let thread = |slot| Thread::new(slot, HbThread::after(Slot(slot), 0), true);
        (1..=count).map(thread).collect()
    }

    fn read(t: &mut Thread, cell: &Cell, mask: u8) -> Vec<Found> {
        let mut found = Vec::new();
        cell::access::<false>(t, cell, false, mask, Place(1), &mut found);
        found
    }

    fn write(t: &mut Thread, cell: &Cell, mask: u8) -> Vec<Found> {
        let mut found = Vec::new();
        cell::access::<true>(t, cell, false, mask, Place(2), &mut found);
        found
    }

    #[test]
    fn a_write_races_with_the_one_reader_of_many_that_it_does_not_know() {
        for unknown in 0..40 {
            let (cell, mut readers) = (Cell::default(), threads(40));
            let lock = 0x6300_0000;
            for (n, t) in readers.iter_mut().enumerate() {
                assert!(read(t, &cell, 0xff).is_empty());
                if n != unknown {
                    sync::release(t, lock, Mode::Shared);
                }
            }
            assert!(cell.write.load(Ordering::Relaxed) >= FIRST_SIDE);
            let mut writer = Thread::new(50, HbThread::after(Slot(50), 0), true);
            sync::acquire(&mut writer, lock, Mode::Exclusive);
            let found = write(&mut writer, &cell, 0xff);
            let slots: Vec<Slot> = found.iter().map(|found| found.prior.slot).collect();
            assert_eq!(slots, [Slot(unknown as u32 + 1)]);
            assert!(
                cell.write.load(Ordering::Relaxed) < FIRST_SIDE,
                "two words say it again"
            );
            sync::forget(&mut writer, lock);
        }
    }

    #[test]
    fn many_readers_race_with_the_write_before_them_once_each() {
        let (cell, mut readers) = (Cell::default(), threads(30));
        let mut writer = Thread::new(50, HbThread::after(Slot(50), 0), true);
        assert!(write(&mut writer, &cell, 0x0f).is_empty());
        for mask in [0x0f, 0x0f, 0xf0, 0xff] {
            for t in &mut readers {
                let told = read(t, &cell, mask)
                    .iter()
                    .fold(0, |told, found| told | found.mask);
                // The bytes that were written, the first time.
                assert_eq!(told, if mask == 0x0f && t.last == 0 { 0x0f } else { 0 });
                t.last = 1;
            }
        }
        // A write of some of the bytes leaves the reads of the others.
        let found = write(&mut writer, &cell, 0xf0);
        assert_eq!(found.iter().fold(0, |told, found| told | found.mask), 0xf0);
        let mut other = Thread::new(51, HbThread::after(Slot(51), 0), true);
        let found = write(&mut other, &cell, 0xff);
        assert_eq!(found.iter().fold(0, |told, found| told | found.mask), 0xff);
    }
}
