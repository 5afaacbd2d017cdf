//! Reads that are not ordered among themselves, in one read word.
//!
//! The word is that of the reader with the greatest epoch (slot first); its place has the word of the next one behind it, and so
//! on: a chain. So granules that the same threads have read, at the same places, have the same word, whatever the order was in
//! which they came, and the inline test always finds the same of them: it succeeds for the first reader of the chain, and the others
//! have the word at hand when they have met it once ([`Thread::is_behind`]). A reader leaves the chain when another one that comes
//! after it has read the same bytes: who races with the first then races with the second, too.
//!
//! Beyond a [`FEW`] a reader goes in front of those before it, whoever they are: to keep them in order would take as many words as there are readers,
//! each time. Such chains are for arrays that threads go through; where a single granule is read, or a few of an object, a side state is better: the objects
//! of a tree have each been read by other threads, and to walk through chains of their own takes longer than anything else.
//!
//! What this cannot say (more than [`LONGEST`] readers, a write of some of the bytes) goes to a side state. So does what several
//! threads read again and again while they synchronise, a variable more than an array: each of those reads would need a chain of
//! its own, which is not given back, and a side state has a word for each reader.

use crate::cell::{Step, add, bytes, knows, place, unordered, word};
use crate::places::Place;
use crate::thread::{Chained, LONE, SEEN, Thread};
use deadheat_abi::shadow::{EPOCH, TERM_SHIFT};

/// So many readers are kept in order, and so many a granule that is read by itself may have.
pub const FEW: usize = 8;

/// The longest chain.
pub const LONGEST: usize = 64;

/// The readers of a read word, by epoch, greatest first, each as a word of its own.
pub fn each(read: u64) -> impl Iterator<Item = u64> {
    let mut next = read;
    std::iter::from_fn(move || {
        if next == 0 {
            return None;
        }
        let now = next;
        if !place(now).is_readers() {
            next = 0;
            return Some(now);
        }
        let (last, before) = place(now).readers();
        next = before;
        Some(word(now, last, bytes(now)))
    })
}

fn remembered(t: &mut Thread, read: u64) -> &mut Chained {
    let hash = read.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    &mut t.chains[hash as usize % SEEN]
}

/// [`crate::cell::step`] where the read word stands for several readers. `new` are the bytes that this thread's last write
/// and last read of this epoch do not cover, `most` how many readers there may be.
#[inline(never)]
pub fn step<const WRITE: bool>(
    t: &mut Thread,
    (write, read): (u64, u64),
    new: u8,
    at: Place,
    most: usize,
) -> Step {
    if !WRITE {
        let epoch = t.epoch;
        let seen = remembered(t, read);
        if seen.word == read && seen.epoch == epoch && new & !seen.bytes == 0 {
            let bytes = seen.bytes;
            t.is_behind(read, bytes);
            return Step::Known;
        }
    }
    let with_write = unordered(t, write, bytes(write) & new);
    if WRITE {
        return written(t, (write, read), new, at, with_write);
    }
    let own = each(read)
        .filter(|read| (read ^ t.epoch) & EPOCH == 0)
        .fold(0, |own, read| own | bytes(read));
    let new = new & !own;
    if new == 0 {
        *remembered(t, read) = Chained {
            word: read,
            epoch: t.epoch,
            bytes: own,
        };
        t.is_behind(read, own);
        return Step::Known;
    }
    let with_write = with_write & new;
    match joined(t, read, new, at, most) {
        Some(read) => Step::Words((write, read), with_write, 0),
        None => Step::Misfit,
    }
}

fn written(t: &mut Thread, (write, read): (u64, u64), new: u8, at: Place, with_write: u8) -> Step {
    let (mut with_read, mut all) = (0, 0);
    for read in each(read) {
        with_read |= unordered(t, read, bytes(read) & new);
        all |= bytes(read);
    }
    let own_write = (write ^ t.epoch) & EPOCH == 0;
    let after = match bytes(write) & !new {
        _ if all & !new != 0 => return Step::Misfit,
        0 => word(t.epoch, at, new),
        _ if own_write => add(t, write, at, new),
        _ => return Step::Misfit,
    };
    Step::Words((after, after), with_write, with_read & !with_write)
}

/// The chain with a new epoch, if its last reader was this thread, at the same place, and the others stay.
#[inline]
fn renewed(t: &Thread, read: u64, new: u8, at: Place) -> Option<u64> {
    let own = (read ^ t.epoch) >> TERM_SHIFT == 0;
    if !own || !place(read).is_readers() || bytes(read) & !new != 0 {
        return None;
    }
    let (last, before) = place(read).readers();
    let stays = |read: u64| bytes(read) & !new != 0 || !knows(t, read);
    (last == at && each(before).all(stays)).then(|| word(t.epoch, place(read), new))
}

/// Whether a read of a granule with this read word is one that had better have a side state: this thread is in the chain, but not
/// first and not in this epoch, somebody else stays in it, and the thread has not come by this word lately. If it has, it is
/// that of many granules of an array, which can all have one chain.
#[inline(never)]
pub fn is_again(t: &mut Thread, read: u64) -> bool {
    let own = |read: u64| (read ^ t.epoch) >> TERM_SHIFT == 0;
    let (mut before, mut others) = (false, false);
    for read in each(read) {
        if (read ^ t.epoch) & EPOCH == 0 {
            return false;
        }
        before |= own(read);
        others |= !knows(t, read);
    }
    if own(read) || !before || !others {
        return false;
    }
    let hash = read.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let last = std::mem::replace(&mut t.lone[hash as usize % LONE], read);
    last != read
}

/// The chain with one more read, if it has no more than `most` then.
fn joined(t: &mut Thread, read: u64, new: u8, at: Place, most: usize) -> Option<u64> {
    if (read ^ t.epoch) & EPOCH == 0 {
        // The last reader is this thread, in this epoch.
        let (last, before) = place(read).readers();
        let last = if last == at {
            at
        } else {
            t.places.with(last, at, new)
        };
        return Some(word(read, last.behind(before)?, bytes(read) | new));
    }
    if let Some(read) = renewed(t, read, new, at) {
        return Some(read);
    }
    let mut now = word(t.epoch, at, new);
    let mut kept = [0; LONGEST + 1];
    let (mut count, mut all, mut again) = (0, 0, false);
    for read in each(read) {
        all += 1;
        if (read ^ t.epoch) & EPOCH == 0 {
            now = add(t, read, at, new);
            again = true;
            continue;
        }
        if bytes(read) & !new == 0 && knows(t, read) {
            continue;
        }
        if count == most {
            return None;
        }
        kept[count] = read;
        count += 1;
    }
    if count >= FEW && all < most && !again {
        return chain(read, now);
    }
    kept[count] = now;
    let kept = &mut kept[..=count];
    if count < FEW {
        kept.sort_unstable();
    } else {
        // As they came: the last one first.
        kept[..count].reverse();
    }
    kept.iter().try_fold(0, |before, read| chain(before, *read))
}

/// A reader in front of others, if there are any.
fn chain(before: u64, read: u64) -> Option<u64> {
    match before {
        0 => Some(read),
        _ => Some(word(read, place(read).behind(before)?, bytes(read))),
    }
}

/// Two reads that are not ordered, as one word.
#[inline]
pub fn both(one: u64, other: u64) -> Option<u64> {
    chain(one.min(other), one.max(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{self, Cell};
    use deadheat_detect::hb::HbThread;
    use deadheat_event::Slot;

    fn readers(slots: [u32; 3]) -> [Thread; 3] {
        slots.map(|slot| Thread::new(slot, HbThread::after(Slot(slot), 4), true))
    }

    fn read(t: &mut Thread, cell: &Cell, mask: u8) {
        let at = t.place(7, 0x2000, false);
        let mut found = Vec::new();
        cell::access::<false>(t, cell, false, mask, at, &mut found);
        assert!(found.is_empty());
    }

    #[test]
    fn granules_that_the_same_threads_have_read_say_the_same_whatever_the_order() {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let words = orders.map(|order| {
            let (cell, mut threads) = (Cell::default(), readers([1, 2, 3]));
            // Twice: the second time says nothing new.
            for n in order.into_iter().chain(order) {
                read(&mut threads[n], &cell, 0xff);
            }
            cell.load()
        });
        assert_eq!(words, [words[0]; 6]);
        let slots: Vec<Slot> = each(words[0].1).map(|read| cell::epoch(read).0).collect();
        assert_eq!(slots, [3, 2, 1].map(Slot));
    }

    #[test]
    fn a_thread_that_reads_byte_by_byte_is_one_reader() {
        let (cell, mut threads) = (Cell::default(), readers([1, 2, 3]));
        for mask in [0x0f, 0xf0] {
            threads.iter_mut().for_each(|t| read(t, &cell, mask));
        }
        let all: Vec<(Slot, u8)> = each(cell.load().1)
            .map(|read| (cell::epoch(read).0, bytes(read)))
            .collect();
        assert_eq!(all, [3, 2, 1].map(|slot| (Slot(slot), 0xff)));
    }
}
