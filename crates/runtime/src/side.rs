//! States that do not fit into a cell: `detect`'s FastTrack locations, one for each run of bytes with one history.
//!
//! A cell with a side state has, in its first word, where the state is; in its second, the last reader's epoch and bytes,
//! so that this reader's inline test still succeeds:
//!
//! ```text
//!  63      50 49         37 36   35           0
//! ┌──────────┬─────────────┬──────┬────────────┐
//! │   SIDE   │ generation  │ held │   index    │
//! └──────────┴─────────────┴──────┴────────────┘
//! ```
//!
//! `held` is the lock of the cell and its side state. Without it the words of such a cell do not change. The generation
//! changes whenever an index is used again, so a word that is still the same means a state that is still there.

use crate::cell::{self, Cell, FIRST_SIDE, Found, bytes, word};
use crate::places::Place;
use crate::registry::{LAST_TIME, SLOTS};
use crate::shadow;
use crate::spin::{Spin, Wait};
use crate::thread::{SEEN, Seen, Thread};
use crate::vm::Table;
use deadheat_abi::shadow::{EPOCH, SLOT_SHIFT, TIME_SHIFT};
use deadheat_detect::clock::Epoch;
use deadheat_detect::fasttrack::Location;
use deadheat_event::{Access, AccessKind, Addr, Detector, Place as Bytes, SiteId};
use std::sync::atomic::{AtomicU64, Ordering};

const INDEX_BITS: u32 = 36;
const HELD: u64 = 1 << INDEX_BITS;
const GENERATION_SHIFT: u32 = INDEX_BITS + 1;
const GENERATIONS: u64 = 1 << (SLOT_SHIFT - GENERATION_SHIFT);

/// A side state. Touched only by who holds its cell.
#[derive(Default)]
struct Side {
    generation: u32,
    /// At which bytes a run begins; bit 0 is set.
    starts: u8,
    /// One for each run.
    runs: Vec<Location>,
}

const SIDES: usize = 1 << 30;

static SIDE: Table<Side> = Table::new();
static COUNT: AtomicU64 = AtomicU64::new(1);
/// States to be used again, spread over several lists by thread.
static FREE: [Spin<Vec<u32>>; 16] = [const { Spin::new(Vec::new()) }; 16];

fn state(index: u64) -> *mut Side {
    SIDE.at(index as usize % SIDES, SIDES)
}

/// Takes the locks of the free lists, before a `fork`.
pub fn hold() {
    FREE.iter().for_each(Spin::hold);
}

/// Gives them back, after it.
pub fn let_go() {
    FREE.iter().for_each(Spin::let_go);
}

/// How many side states were ever in use at once, about.
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed) - 1
}

/// A state and its index. The caller is the only one to know of it.
fn take(list: usize) -> (u64, &'static mut Side) {
    let index = match FREE[list % FREE.len()].lock().pop() {
        Some(index) => index.into(),
        None => COUNT.fetch_add(1, Ordering::Relaxed),
    };
    // SAFETY: within the table. The state was never used (zero bytes: a generation of 0, no starts and, below, a vector
    // that is written before it is read) or was left by `give`; in both cases nobody else has its index.
    unsafe {
        let side = state(index);
        if (*side).starts == 0 {
            (&raw mut (*side).runs).write(Vec::new());
        }
        (*side).generation += 1;
        (index, &mut *side)
    }
}

/// Gives a state back to be used again.
fn give(list: usize, index: u64, side: &mut Side) {
    side.runs.clear();
    FREE[list % FREE.len()].lock().push(index as u32);
}

fn free_list(t: &Thread) -> usize {
    t.id as usize
}

/// The epoch of a word, as `detect` has it.
fn detect_epoch(word: u64) -> Epoch {
    let (slot, time) = cell::epoch(word);
    if time == 0 {
        Epoch::NEVER
    } else {
        Epoch::new(slot, time)
    }
}

impl Side {
    /// What a packed cell says, run by run.
    fn fill(&mut self, (write, read): (u64, u64)) {
        let part = |word: u64, byte: u32| {
            if bytes(word) >> byte & 1 == 0 {
                return (Epoch::NEVER, SiteId(0));
            }
            (detect_epoch(word), SiteId(cell::place(word).at_byte(byte).0))
        };
        self.starts = 0;
        let mut last = None;
        for byte in 0..8 {
            let now = (part(write, byte), part(read, byte));
            if last != Some(now) {
                self.starts |= 1 << byte;
                self.runs.push(Location::new(now.0, now.1));
                last = Some(now);
            }
        }
    }

    /// Makes a run begin at `byte`.
    fn split(&mut self, byte: u32) {
        if byte < 8 && self.starts >> byte & 1 == 0 {
            let run = self.run_of(byte);
            let copy = self.runs[run].clone();
            self.runs.insert(run + 1, copy);
            self.starts |= 1 << byte;
        }
    }

    /// The run that `byte` is in.
    fn run_of(&self, byte: u32) -> usize {
        (self.starts & (2u8 << byte).wrapping_sub(1)).count_ones() as usize - 1
    }

    /// Unites neighbouring runs that are equal, from the one before `first` on.
    fn unite(&mut self) {
        let mut run = self.runs.len();
        for byte in (1..8).rev() {
            if self.starts >> byte & 1 == 1 {
                run -= 1;
                if self.runs[run] == self.runs[run - 1] {
                    self.runs.remove(run);
                    self.starts &= !(1 << byte);
                }
            }
        }
    }

    /// Checks an access and remembers it.
    fn access(
        &mut self,
        t: &mut Thread,
        mask: u8,
        kind: AccessKind,
        atomic: bool,
        at: Place,
        found: &mut Vec<Found>,
    ) {
        let (first, end) = (mask.trailing_zeros(), 8 - mask.leading_zeros());
        self.split(first);
        self.split(end);
        let access = Access {
            place: Bytes::Memory {
                addr: Addr(0),
                size: 0,
            },
            kind,
            atomic,
            site: SiteId(at.0),
        };
        let mut run = self.run_of(first);
        let mut byte = first;
        while byte < end {
            let next = (byte + 1..8)
                .find(|next| self.starts >> next & 1 == 1)
                .unwrap_or(8);
            let Thread { detector, hb, .. } = t;
            if let Some((_, Some(prior))) = detector.access(hb, &mut self.runs[run], &access) {
                let mask = ((1u16 << next) - (1u16 << byte)) as u8;
                found.push(Found { mask, prior });
            }
            (run, byte) = (run + 1, next);
        }
        if self.runs.len() > 1 {
            self.unite();
        }
    }

    /// The state as two words, if it fits.
    fn pack(&self) -> Option<(u64, u64)> {
        let (mut write, mut read) = (Half::default(), Half::default());
        let mut run = usize::MAX;
        for byte in 0..8 {
            run = run.wrapping_add(usize::from(self.starts >> byte & 1));
            let (w, r) = self.runs.get(run)?.simple()?;
            write.add(byte, w)?;
            read.add(byte, r)?;
        }
        Some((write.word()?, read.word()?))
    }
}

/// One word of a packed cell being put together.
#[derive(Default)]
struct Half {
    epoch: Epoch,
    bytes: u8,
    places: [Place; 8],
}

impl Half {
    fn add(&mut self, byte: usize, (epoch, site): (Epoch, SiteId)) -> Option<()> {
        if epoch == Epoch::NEVER {
            return Some(());
        }
        if self.bytes != 0 && self.epoch != epoch {
            return None;
        }
        self.epoch = epoch;
        self.bytes |= 1 << byte;
        self.places[byte] = Place(site.0);
        Some(())
    }

    fn word(mut self) -> Option<u64> {
        if self.bytes == 0 {
            return Some(0);
        }
        let (slot, time) = (self.epoch.slot().0, self.epoch.time());
        if slot >= SLOTS || time > LAST_TIME {
            return None;
        }
        // Bytes that were not touched may name any place: the one that makes the fewest.
        let some = self.places[self.bytes.trailing_zeros() as usize];
        for (byte, place) in self.places.iter_mut().enumerate() {
            if self.bytes >> byte & 1 == 0 {
                *place = some;
            }
        }
        let epoch = u64::from(slot) << SLOT_SHIFT | time << TIME_SHIFT;
        Some(word(epoch, Place::each(self.places), self.bytes))
    }
}

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
fn seen(t: &Thread, cell: &Cell, held_not: u64, mask: u8, kind: AccessKind, atomic: bool) -> bool {
    let (addr, at) = seen_place(cell);
    let seen = &t.recent[at];
    let mut covered = seen.bytes[class(kind, atomic)];
    if !atomic {
        // Behind the thread's own write a read finds nothing new either.
        covered |= seen.bytes[class(AccessKind::Write, false)];
    }
    seen.cell == addr && seen.word == held_not && seen.epoch == t.epoch && mask & !covered == 0
}

fn see(t: &mut Thread, cell: &Cell, word: u64, mask: u8, kind: AccessKind, atomic: bool) {
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
}

/// Takes the lock of a cell with a side state. `None` if it has none any more.
fn hold_cell(cell: &Cell) -> Option<u64> {
    let mut wait = Wait::default();
    loop {
        let now = cell.write.load(Ordering::Relaxed);
        if now < FIRST_SIDE {
            return None;
        }
        let free = now & HELD == 0;
        if free
            && cell
                .write
                .compare_exchange_weak(now, now | HELD, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
        {
            return Some(now);
        }
        wait.once();
    }
}

/// The second word: what this thread's inline test for reads may take as done.
fn filter(t: &Thread, old: u64, mask: u8, kind: AccessKind, atomic: bool) -> u64 {
    match (kind, atomic) {
        _ if t.blind => old,
        (_, true) => old,
        _ if (old ^ t.epoch) & EPOCH == 0 && old != 0 => word(t.epoch, Place(0), bytes(old) | mask),
        _ => word(t.epoch, Place(0), mask),
    }
}

/// An access to a cell whose first word was `first`, with a side state. Whether it was done: not if the cell has none any
/// more.
#[allow(clippy::too_many_arguments, reason = "the parts of one access")]
#[inline(never)]
pub fn access(
    t: &mut Thread,
    cell: &Cell,
    first: u64,
    mask: u8,
    kind: AccessKind,
    atomic: bool,
    at: Place,
    found: &mut Vec<Found>,
) -> bool {
    if seen(t, cell, first & !HELD, mask, kind, atomic) {
        return true;
    }
    let Some(held) = hold_cell(cell) else { return false };
    let index = held & (HELD - 1);
    // SAFETY: the cell is held, and names this state.
    let side = unsafe { &mut *state(index) };
    side.access(t, mask, kind, atomic, at, found);
    let packed = if kind == AccessKind::Write && !atomic {
        side.pack()
    } else {
        None
    };
    match packed {
        Some((write, read)) => {
            shadow::side_gone(cell);
            give(free_list(t), index, side);
            cell.read.store(read, Ordering::Relaxed);
            cell.write.store(write, Ordering::Release);
        }
        None => {
            let filter = filter(t, cell.read.load(Ordering::Relaxed), mask, kind, atomic);
            cell.read.store(filter, Ordering::Relaxed);
            cell.write.store(held, Ordering::Release);
            see(t, cell, held, mask, kind, atomic);
        }
    }
    true
}

/// An access to a packed cell that says `old`, whose outcome does not fit into it. Whether it was done: not if the cell
/// has changed meanwhile.
#[allow(clippy::too_many_arguments, reason = "the parts of one access")]
#[inline(never)]
pub fn make(
    t: &mut Thread,
    cell: &Cell,
    old: (u64, u64),
    mask: u8,
    kind: AccessKind,
    atomic: bool,
    at: Place,
    found: &mut Vec<Found>,
) -> bool {
    let (index, side) = take(free_list(t));
    side.fill(old);
    let before = found.len();
    side.access(t, mask, kind, atomic, at, found);
    let generation = u64::from(side.generation) % GENERATIONS;
    let first = FIRST_SIDE | generation << GENERATION_SHIFT | index;
    if cell.change(old, (first, filter(t, 0, mask, kind, atomic))) {
        shadow::side_made(cell);
        see(t, cell, first, mask, kind, atomic);
        return true;
    }
    found.truncate(before);
    give(free_list(t), index, side);
    false
}

/// An atomic access to `mask`.
pub fn atomic(t: &mut Thread, cell: &Cell, mask: u8, kind: AccessKind, at: Place, found: &mut Vec<Found>) {
    loop {
        let old = cell.load();
        let done = if old.0 >= FIRST_SIDE {
            access(t, cell, old.0, mask, kind, true, at, found)
        } else {
            make(t, cell, old, mask, kind, true, at, found)
        };
        if done {
            return;
        }
    }
}

/// Forgets all that the cell says. Plain stores do: who touches memory while it comes into being races with that.
#[inline]
pub fn reset(cell: &Cell) {
    let (write, read) = cell.load();
    if write >= FIRST_SIDE && reset_side(cell) {
        return;
    }
    if write | read != 0 {
        cell.write.store(0, Ordering::Relaxed);
        cell.read.store(0, Ordering::Relaxed);
    }
}

#[cold]
fn reset_side(cell: &Cell) -> bool {
    let Some(held) = hold_cell(cell) else { return false };
    let index = held & (HELD - 1);
    shadow::side_gone(cell);
    // SAFETY: the cell is held, and names this state.
    give(index as usize, index, unsafe { &mut *state(index) });
    cell.read.store(0, Ordering::Relaxed);
    cell.write.store(0, Ordering::Release);
    true
}
