//! Stretches of memory that loops fill, checked when they are complete: layout and rules in `abi::stretches`.
//!
//! A thread has a few tables. A loop takes one with its first write that needs a check, and has it until it is left, so what another loop
//! does meanwhile, in a function that is called or in a signal handler, is not mixed up with it. Places that mostly write here and
//! there have no use for one, and are not given one any more.

use crate::thread::Thread;
use crate::{checks, counts};
use deadheat_abi::stretches::{BYTES, SLOTS, slots};
use std::mem::offset_of;
use std::ptr::NonNull;

/// What a loop has in its frame: where its table is.
pub type State = *mut Table;

/// How many tables a thread may have.
const TABLES: usize = 4;

/// Stretches of so many writes are worth while: as much as they have. Others cost 1.
const LONG: u64 = 8;
/// At the negative of this a place has no use for a table. A few stretches that are in each other's way may cost as much before the
/// first others are complete.
const ENOUGH: i32 = 1 << 15;
/// How many places are told apart.
const PLACES: usize = 64;

/// The stretches of one loop.
#[repr(C)]
pub struct Table {
    /// For each slot, where its stretch ends. Instrumented code moves it on.
    ends: [u64; SLOTS as usize],
    /// Where it begins; 0 if there is none.
    starts: [u64; SLOTS as usize],
    /// The slots that have one, so many of these.
    used: [u16; SLOTS as usize],
    count: usize,
    /// Whose it is, and what was there before; null if it is nobody's.
    user: *mut State,
    nothing: State,
    /// Bytes of each write.
    size: u64,
    /// Which of two slots is emptied next.
    turn: usize,
    /// Which place has asked for it.
    place: usize,
}

const _: () = assert!(offset_of!(Table, ends) == 0 && size_of::<[u64; SLOTS as usize]>() as u64 == BYTES);

/// The tables of a thread.
pub struct Stretches {
    tables: [Option<NonNull<Table>>; TABLES],
    /// What they were worth to each place.
    worth: [i32; PLACES],
}

impl Default for Stretches {
    fn default() -> Self {
        Stretches {
            tables: [None; TABLES],
            worth: [0; PLACES],
        }
    }
}

impl Drop for Stretches {
    fn drop(&mut self) {
        for table in self.tables.iter().flatten() {
            // SAFETY: made in `take`, and nobody looks at it any more: the thread is gone.
            drop(unsafe { Box::from_raw(table.as_ptr()) });
        }
    }
}

impl Stretches {
    /// The table of the loop that has this state, if there is one for it.
    ///
    /// # Safety
    /// The state is one of a loop that this thread is in.
    #[inline]
    unsafe fn take(&mut self, state: *mut State, size: usize, pc: usize) -> Option<NonNull<Table>> {
        // SAFETY: as the caller promises; tables are there as long as this is, and only this thread looks at them.
        unsafe {
            let now = *state;
            if let Some(own) = self.tables.iter().flatten().find(|table| table.as_ptr() == now) {
                return Some(*own);
            }
            let place = (pc.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) % PLACES;
            if self.worth[place] <= -ENOUGH {
                return None;
            }
            let is_free = |table: &&mut Option<NonNull<Table>>| {
                // If a signal handler has jumped out of a loop, its state may be where this one is now.
                table.is_none_or(|table| [std::ptr::null_mut(), state].contains(&(*table.as_ptr()).user))
            };
            let found = self.tables.iter_mut().find(is_free)?;
            let table = found
                .get_or_insert_with(|| NonNull::from(Box::leak(Box::<Table>::new_zeroed().assume_init())));
            let taken = &mut *table.as_ptr();
            taken.empty();
            taken.user = state;
            taken.nothing = now;
            taken.size = size as u64;
            taken.place = place;
            *state = table.as_ptr();
            Some(*table)
        }
    }
}

impl Table {
    /// Has no stretches any more.
    fn empty(&mut self) {
        for &slot in &self.used[..self.count] {
            (self.starts[usize::from(slot)], self.ends[usize::from(slot)]) = (0, 0);
        }
        self.count = 0;
    }

    /// Has a stretch checked. It goes on where it ended, with nothing.
    fn check(&mut self, slot: usize, check: &mut impl FnMut(u64, u64)) {
        let (start, end) = (self.starts[slot], self.ends[slot]);
        if start != end {
            self.starts[slot] = end;
            check(start, end);
        }
    }

    /// Has all of them checked, and is nobody's any more.
    fn end(&mut self, mut check: impl FnMut(u64, u64)) {
        for n in 0..self.count {
            self.check(self.used[n].into(), &mut check);
        }
        self.empty();
        self.user = std::ptr::null_mut();
    }

    /// A write that does not go on with a stretch begins one, or has one checked that it is part of.
    fn add(&mut self, addr: u64, mut check: impl FnMut(u64, u64)) {
        let check = &mut check;
        let after = addr + self.size;
        // Pages are full: while they are near.
        let before = slots(addr.wrapping_sub(1));
        if let Some(full) = before.into_iter().find(|slot| self.ends[*slot] == addr) {
            self.check(full, check);
        }
        let slots = slots(addr);
        for slot in slots {
            let (start, end) = (self.starts[slot], self.ends[slot]);
            // From back to front.
            if after == start && start != end {
                self.starts[slot] = addr;
                return;
            }
            // What is written again had better be on record, so that the inline test finds it there.
            if start <= addr && addr < end {
                return self.check(slot, check);
            }
        }
        let is_free = |slot: &usize| self.starts[*slot] == self.ends[*slot];
        let free = slots.into_iter().find(is_free);
        let slot = free.unwrap_or(slots[self.turn]);
        self.turn ^= usize::from(free.is_none());
        self.check(slot, check);
        if self.starts[slot] == 0 {
            self.used[self.count] = slot as u16;
            self.count += 1;
        }
        (self.starts[slot], self.ends[slot]) = (addr, after);
    }
}

/// Checks a stretch of writes of `size` bytes each, and counts for the place what it was worth to wait with them.
fn check(t: &mut Thread, place: usize, size: u64, (start, end): (u64, u64), (context, pc): (u64, usize)) {
    let count = (end - start) / size;
    let worth = &mut t.stretches.worth[place];
    *worth = match count {
        LONG.. => (*worth + count as i32).min(ENOUGH),
        _ => *worth - 1,
    };
    let (start, size) = (start as usize, size as usize);
    let pieces = (count as usize, size, size);
    if counts::on() {
        counts::check(t, true, start, pieces);
    }
    if count == 1 {
        let mask = (((1u16 << size) - 1) as u8) << (start % 8);
        return checks::granule::<true>(t, start, mask, context, pc);
    }
    let place = t.place(context, pc, false);
    checks::strided::<true>(t, start, pieces, place);
}

/// A write of a loop that does not go on with one of its stretches begins one. False if it must be checked by itself.
///
/// # Safety
/// The state is one of a loop that the thread is in, which writes `size` bytes each.
pub unsafe fn add(t: &mut Thread, state: *mut State, addr: usize, size: usize, at: (u64, usize)) -> bool {
    // SAFETY: as the caller promises.
    let Some(table) = (unsafe { t.stretches.take(state, size, at.1) }) else {
        return false;
    };
    // SAFETY: a table of this thread, which is only looked at here and by the loop that has called.
    let table = unsafe { &mut *table.as_ptr() };
    let (place, size) = (table.place, table.size);
    table.add(addr as u64, |start, end| check(t, place, size, (start, end), at));
    if t.stretches.worth[place] <= -ENOUGH {
        table.end(|start, end| check(t, place, size, (start, end), at));
        // SAFETY: as the caller promises.
        unsafe { *state = table.nothing };
    }
    true
}

/// A loop is left that has a table.
///
/// # Safety
/// As of [`add`].
pub unsafe fn end(t: &mut Thread, state: *mut State, at: (u64, usize)) {
    // SAFETY: as the caller promises.
    let now = unsafe { *state };
    let mut tables = t.stretches.tables.iter().flatten();
    if let Some(&table) = tables.find(|table| table.as_ptr() == now) {
        // SAFETY: as in `add`.
        let table = unsafe { &mut *table.as_ptr() };
        let (place, size) = (table.place, table.size);
        table.end(|start, end| check(t, place, size, (start, end), at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A table, with what a loop has written and what was checked.
    struct Tried {
        table: Box<Table>,
        written: HashSet<u64>,
        checked: HashSet<u64>,
        calls: usize,
    }

    impl Tried {
        fn new(size: u64) -> Tried {
            // SAFETY: zero bytes are numbers and null pointers.
            let mut table: Box<Table> = unsafe { Box::new_zeroed().assume_init() };
            table.size = size;
            Tried {
                table,
                written: HashSet::new(),
                checked: HashSet::new(),
                calls: 0,
            }
        }

        /// What instrumented code does.
        fn write(&mut self, addr: u64) {
            self.written.insert(addr);
            let size = self.table.size;
            match slots(addr)
                .into_iter()
                .find(|slot| self.table.ends[*slot] == addr)
            {
                Some(slot) => self.table.ends[slot] += size,
                None => {
                    self.calls += 1;
                    let (checked, written) = (&mut self.checked, &self.written);
                    self.table
                        .add(addr, |start, end| note(start, end, size, checked, written));
                }
            }
        }

        fn end(&mut self) {
            let (checked, written, size) = (&mut self.checked, &self.written, self.table.size);
            self.table
                .end(|start, end| note(start, end, size, checked, written));
            assert_eq!(*checked, *written, "all of it, and nothing else");
            assert!(
                self.table
                    .starts
                    .iter()
                    .chain(&self.table.ends)
                    .all(|word| *word == 0)
            );
        }
    }

    fn note(start: u64, end: u64, size: u64, checked: &mut HashSet<u64>, written: &HashSet<u64>) {
        for addr in (start..end).step_by(size as usize) {
            assert!(written.contains(&addr), "nothing is checked that was not written");
            checked.insert(addr);
        }
    }

    const BASE: u64 = 0x7f12_3456_7000;

    #[test]
    fn buckets_that_are_filled_in_turn_take_a_call_for_a_page_or_two() {
        let mut tried = Tried::new(4);
        let mut next: Vec<u64> = (0..256).map(|bucket| BASE + bucket * 312_500).collect();
        let (mut random, writes) = (1u64, 400_000);
        for _ in 0..writes {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let bucket = &mut next[(random >> 56) as usize];
            tried.write(*bucket);
            *bucket += 4;
        }
        assert!(tried.calls < writes / 50, "{}", tried.calls);
        tried.end();
    }

    #[test]
    fn whatever_is_written_is_checked() {
        let mut random = 1u64;
        let mut below = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % bound
        };
        for size in [1, 2, 4, 8] {
            let mut tried = Tried::new(size);
            for _ in 0..3 {
                // Few pages, of which some share their slots; up, down, and here and there.
                let mut at: Vec<u64> = (0..8)
                    .map(|n| BASE + (n % 4) * (SLOTS << 12) + n * 4096)
                    .collect();
                for _ in 0..20_000 {
                    let which = below(8);
                    let stretch = &mut at[which as usize];
                    *stretch = match which {
                        0..5 => *stretch + size,
                        5 => *stretch - size,
                        _ => BASE + below(5000) * size,
                    };
                    let addr = *stretch;
                    tried.write(addr);
                }
                tried.end();
            }
        }
    }

    #[test]
    fn what_is_written_again_is_checked_at_once() {
        let mut tried = Tried::new(8);
        tried.write(BASE);
        tried.write(BASE + 8);
        assert!(tried.checked.is_empty());
        tried.write(BASE);
        assert_eq!(tried.checked.len(), 2);
        tried.write(BASE + 16);
        assert_eq!(
            (tried.checked.len(), tried.calls),
            (2, 2),
            "it goes on where it was"
        );
        tried.end();
    }
}
