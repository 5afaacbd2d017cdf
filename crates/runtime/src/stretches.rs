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

    /// Checks a stretch. It goes on where it ended, with nothing.
    fn check(&mut self, t: &mut Thread, slot: usize, (context, pc): (u64, usize)) {
        let (start, end) = (self.starts[slot], self.ends[slot]);
        if start == end {
            return;
        }
        self.starts[slot] = end;
        let (size, count) = (self.size as usize, (end - start) / self.size);
        let worth = &mut t.stretches.worth[self.place];
        *worth = match count {
            LONG.. => (*worth + count as i32).min(ENOUGH),
            _ => *worth - 1,
        };
        let (start, pieces) = (start as usize, (count as usize, size, size));
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

    /// Checks all of them, and is nobody's any more.
    fn end(&mut self, t: &mut Thread, at: (u64, usize)) {
        for n in 0..self.count {
            self.check(t, self.used[n].into(), at);
        }
        self.empty();
        self.user = std::ptr::null_mut();
    }
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
    let (addr, size) = (addr as u64, size as u64);
    // A page is full: while it is near.
    if let Some(full) = slots(addr.wrapping_sub(1))
        .into_iter()
        .find(|slot| table.ends[*slot] == addr)
    {
        table.check(t, full, at);
    }
    let slots = slots(addr);
    for slot in slots {
        let (start, end) = (table.starts[slot], table.ends[slot]);
        // From back to front.
        if addr + size == start && start != end {
            table.starts[slot] = addr;
            return true;
        }
        // What is written again had better be on record, so that the inline test finds it there.
        if start <= addr && addr < end {
            table.check(t, slot, at);
            return true;
        }
    }
    let is_free = |slot: &usize| table.starts[*slot] == table.ends[*slot];
    table.turn ^= 1;
    let slot = { slots.into_iter() }.find(is_free).unwrap_or(slots[table.turn]);
    table.check(t, slot, at);
    if t.stretches.worth[table.place] <= -ENOUGH {
        table.end(t, at);
        // SAFETY: as the caller promises.
        unsafe { *state = table.nothing };
        return false;
    }
    if table.starts[slot] == 0 {
        table.used[table.count] = slot as u16;
        table.count += 1;
    }
    (table.starts[slot], table.ends[slot]) = (addr, addr + size);
    true
}

/// A loop is left that has a table.
///
/// # Safety
/// As of [`add`].
pub unsafe fn end(t: &mut Thread, state: *mut State, at: (u64, usize)) {
    // SAFETY: as the caller promises.
    let now = unsafe { *state };
    if let Some(table) = t
        .stretches
        .tables
        .iter()
        .flatten()
        .find(|table| table.as_ptr() == now)
    {
        // SAFETY: as in `add`.
        unsafe { &mut *table.as_ptr() }.end(t, at);
    }
}
