//! Reads that threads keep to themselves: data that a few threads read again and again, each in many epochs, and nobody writes.
//!
//! Each of those epochs must be on record, so with a word for each reader in one side state ([`super::few`]) the readers pass the lines of
//! cell and state to and fro, all the time. Where that has gone on for long enough, a thread gets a *lease*: a line of memory of its own, in
//! which it says when it has read last. The state says whose leases belong to it, and who writes gathers them in.
//!
//! A cell with leases has an *id* for its read word, like no epoch's and used once in a run. By it a thread finds its lease
//! ([`Leases`]); with the id at hand, its inline test succeeds for the rest of the epoch ([`Thread::is_behind`]).
//!
//! **Why no read is lost.** The word of a lease changes by `swap` alone. Who takes a lease back swaps [`GONE`] for the last read, and
//! holds the cell from before that until it has made its own access. A read that was put into the lease before is what it gets; a thread
//! that puts one in behind it gets `GONE`, which says that the read is on record nowhere, and goes the long way, by the lock of the cell; when it has that,
//! the id is gone, too. That
//! the write on record happens before the reads is seen when a lease is given, and stays so: a thread never forgets.

use crate::cell::{Cell, FIRST_SIDE, bytes, word};
use crate::places::Place;
use crate::thread::Thread;
use deadheat_abi::shadow::{EPOCH, PLACE_BITS, PLACE_SHIFT, TIME_BITS, TIME_SHIFT};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// From so many reads in a row on that repeat one by the same thread, in another epoch. A write in between costs about as much as a few of those.
pub const LONG: u8 = if cfg!(test) { 2 } else { 32 };

/// The highest bit of the time in an id: so it is no epoch of a thread that shadow words have no room for either.
const ID: u64 = FIRST_SIDE | 1 << (TIME_SHIFT + TIME_BITS - 1);

/// Bits of the place in an id that are its own: the highest would mean several readers.
const LOW_BITS: u32 = PLACE_BITS - 1;

/// In the place of a word: the lease was taken back. Words have times, so none is this.
const GONE: u64 = 1;

/// So many leases a thread has at most.
const MOST: usize = 1024;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A new id, about some bytes.
pub fn new_id(bytes: u8) -> u64 {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let low = number & ((1 << LOW_BITS) - 1);
    let high = number >> LOW_BITS & ((1 << (TIME_BITS - 1)) - 1);
    ID | high << TIME_SHIFT | low << PLACE_SHIFT | u64::from(!bytes)
}

/// Whether the read word of a cell is an id.
#[inline(always)]
pub fn is_id(read: u64) -> bool {
    read >= ID
}

/// When a thread has read last. In a line of its own.
#[repr(align(64))]
struct Line(AtomicU64);

/// The leases of a state.
#[derive(Default)]
pub struct Kept(Vec<Arc<Line>>);

impl Kept {
    /// How many.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Takes all of them back: the last reads.
    pub fn take(&mut self) -> impl Iterator<Item = u64> {
        std::mem::take(&mut self.0)
            .into_iter()
            .map(|line| line.0.swap(GONE, Ordering::AcqRel))
    }

    /// A lease for `t` on the bytes `mask` of the cell that has this id, which it reads now, if it has room for one.
    pub fn give(&mut self, t: &mut Thread, id: u64, mask: u8, at: Place) -> bool {
        let place = Leases::place(id, mask);
        let read = word(t.epoch, at, mask);
        // A lease that only the thread knows of is one of the past.
        let used = |lease: &Lease| Arc::strong_count(&lease.line) > 1;
        let all = t.leases.0.get_or_insert_default();
        if all.len() <= place {
            all.resize_with(place + 1, || None);
        }
        if all[place].as_ref().is_some_and(used) {
            return false;
        }
        let line = Arc::new(Line(AtomicU64::new(read)));
        self.0.push(Arc::clone(&line));
        all[place] = Some(Lease { id, line });
        true
    }
}

/// The leases of a thread, each at the place of its id and bytes.
#[derive(Default)]
pub struct Leases(Option<Vec<Option<Lease>>>);

struct Lease {
    id: u64,
    line: Arc<Line>,
}

impl Leases {
    /// None.
    pub const NONE: Leases = Leases(None);

    #[inline(always)]
    fn place(id: u64, mask: u8) -> usize {
        // Neighbouring variables in one granule have places of their own.
        ((id >> PLACE_SHIFT) as usize * 2 + mask.trailing_zeros() as usize / 4) % MOST
    }

    #[inline(always)]
    fn find(&self, id: u64, mask: u8) -> Option<&Line> {
        let lease = self.0.as_ref()?.get(Leases::place(id, mask))?.as_ref()?;
        (lease.id == id).then_some(&*lease.line)
    }

    /// The bytes that a read of this epoch is in a lease for, of those with this id and one that is found by `mask`.
    #[cfg(test)]
    pub fn kept(&self, epoch: u64, id: u64, mask: u8) -> u8 {
        let read = self
            .find(id, mask)
            .map_or(0, |line| line.0.load(Ordering::Relaxed));
        if (read ^ epoch) & EPOCH == 0 {
            bytes(read)
        } else {
            0
        }
    }
}

/// A plain read of a cell on which the thread has a lease, if it has. Whether it was on record in this epoch, or is now. `place` finds where
/// it is, if it is at hand.
#[inline(always)]
pub fn read(t: &mut Thread, cell: &Cell, mask: u8, place: impl FnOnce(&mut Thread) -> Option<Place>) -> bool {
    let id = cell.read.load(Ordering::Relaxed);
    is_id(id) && read_kept(t, id, mask, place)
}

#[inline(always)]
fn read_kept(t: &mut Thread, id: u64, mask: u8, place: impl FnOnce(&mut Thread) -> Option<Place>) -> bool {
    let Some(line) = t.leases.find(id, mask) else {
        return false;
    };
    let last = line.0.load(Ordering::Relaxed);
    if (last ^ t.epoch) & EPOCH == 0 {
        let known = bytes(last) & mask == mask;
        if known {
            t.is_behind(id, bytes(last));
        }
        return known;
    }
    if bytes(last) != mask || !t.fits() {
        return false;
    }
    let Some(at) = place(t) else { return false };
    let read = word(t.epoch, at, mask);
    let line = t.leases.find(id, mask);
    let good = line.is_some_and(|line| line.0.swap(read, Ordering::AcqRel) != GONE);
    if good {
        t.last = t.epoch;
        t.is_behind(id, mask);
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Found;
    use crate::{cell, readers, side, sync};
    use deadheat_detect::hb::HbThread;
    use deadheat_event::{Mode, Slot};
    use std::sync::Barrier;

    #[test]
    fn an_id_is_like_no_word() {
        let id = new_id(0x0f);
        assert!(is_id(id) && !is_id(FIRST_SIDE) && cell::bytes(id) == 0x0f);
        assert_ne!(id, new_id(0x0f));
        assert!(!cell::place(id).is_readers());
        assert_eq!(readers::each(id).count(), 1);
        // Of the last thread that words have room for, at its last time.
        assert!(!is_id(FIRST_SIDE - 1));
    }

    const LOCKS: [usize; 3] = [0x6400_0000, 0x6400_0040, 0x6400_0080];

    fn thread(slot: u32) -> Thread {
        Thread::new(slot, HbThread::after(Slot(slot), 0), true)
    }

    fn read(t: &mut Thread, cell: &Cell, mask: u8) {
        let mut found = Vec::new();
        cell::access::<false>(t, cell, false, mask, Place(1), &mut found);
        assert!(found.is_empty());
    }

    /// Both have leases, and neither knows of the other.
    fn with_leases(a: &mut Thread, b: &mut Thread, locks: [usize; 2], cell: &Cell, mask: u8) {
        for _ in 0..8 {
            for (t, lock) in [&mut *a, &mut *b].into_iter().zip(locks) {
                read(t, cell, mask);
                sync::release(t, lock, Mode::Exclusive);
            }
        }
        let id = cell.read.load(Ordering::Relaxed);
        assert!(is_id(id), "no lease was given");
        for t in [a, b] {
            read(t, cell, mask);
            assert_eq!(t.leases.kept(t.epoch, id, mask), mask);
        }
    }

    #[test]
    fn who_writes_finds_the_last_read_in_a_lease() {
        for (mask, written) in [(0xff, 0xff), (0x0f, 0x0f), (0x0f, 0xff), (0xf0, 0x0f)] {
            let (mut a, mut b, mut c) = (thread(1), thread(2), thread(3));
            let cell = Cell::default();
            with_leases(&mut a, &mut b, [LOCKS[0], LOCKS[1]], &cell, mask);
            for (t, lock) in [(&mut a, LOCKS[0]), (&mut b, LOCKS[1])] {
                sync::release(t, lock, Mode::Exclusive);
                sync::acquire(&mut c, lock, Mode::Exclusive);
            }
            // All that `c` does not know of.
            read(&mut a, &cell, mask);
            let last = a.hb.time();
            let mut found = Vec::new();
            cell::access::<true>(&mut c, &cell, false, written, Place(2), &mut found);
            let racing = found.iter().map(|found| {
                assert_eq!((found.prior.slot, found.prior.timestamp), (Slot(1), last));
                found.mask
            });
            assert_eq!(racing.fold(0, |all, mask| all | mask), mask & written);
            assert!(!is_id(cell.read.load(Ordering::Relaxed)));
            side::reset(&cell);
            LOCKS.into_iter().for_each(|lock| sync::forget(&mut c, lock));
        }
    }

    #[test]
    fn a_read_beside_a_write_is_on_record_before_it_or_behind_it() {
        const ROUNDS: usize = 3000;
        const LOCKS: [usize; 3] = [0x6400_1000, 0x6400_1040, 0x6400_1080];
        let (cell, meet) = (Cell::default(), Barrier::new(2));
        let times = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut a, mut b) = (thread(1), thread(2));
                for _ in 0..ROUNDS {
                    with_leases(&mut a, &mut b, [LOCKS[0], LOCKS[1]], &cell, 0xff);
                    for (t, lock) in [(&mut a, LOCKS[0]), (&mut b, LOCKS[1])] {
                        sync::release(t, lock, Mode::Exclusive);
                    }
                    times.store(a.hb.time(), Ordering::Relaxed);
                    meet.wait();
                    // It may race with the write, which is not what is looked for.
                    cell::access::<false>(&mut a, &cell, false, 0xff, Place(1), &mut Vec::new());
                    meet.wait();
                    meet.wait();
                    sync::acquire(&mut a, LOCKS[2], Mode::Exclusive);
                    sync::acquire(&mut b, LOCKS[2], Mode::Exclusive);
                }
            });
            let (mut c, mut lost) = (thread(3), 0);
            for _ in 0..ROUNDS {
                let mut found = Vec::new();
                meet.wait();
                for lock in [LOCKS[0], LOCKS[1]] {
                    sync::acquire(&mut c, lock, Mode::Exclusive);
                }
                cell::access::<true>(&mut c, &cell, false, 0xff, Place(2), &mut found);
                sync::release(&mut c, LOCKS[2], Mode::Exclusive);
                meet.wait();
                cell::access::<true>(&mut c, &cell, false, 0xff, Place(2), &mut found);
                let last = (Slot(1), times.load(Ordering::Relaxed));
                let is_last = |found: &Found| (found.prior.slot, found.prior.timestamp) == last;
                lost += usize::from(!found.iter().any(is_last));
                sync::release(&mut c, LOCKS[2], Mode::Exclusive);
                meet.wait();
            }
            assert_eq!(lost, 0);
            side::reset(&cell);
            LOCKS.into_iter().for_each(|lock| sync::forget(&mut c, lock));
        });
    }
}
