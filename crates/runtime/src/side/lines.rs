//! The lines of memory that side states are, and their locks: they lie in one table, and those that are free are in a pool.

use super::{INDEX_BITS, Kind, Said, Side};
use crate::pool::Pool;
use crate::thread::Thread;
use crate::vm::Table;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU16, Ordering};

/// The line of memory that a side state is: its parts, and their lock. Zero bytes are one.
#[repr(C, align(64))]
pub struct Line {
    /// These two, with `more` of the state, are touched only by who holds the line.
    said: UnsafeCell<Said>,
    kind: UnsafeCell<Kind>,
    /// [`TURN`] while somebody holds it.
    held: AtomicU16,
}

// SAFETY: `said` and `kind` are touched only by who holds the line, or is the only one to know of it.
unsafe impl Sync for Line {}

const _: () = assert!(size_of::<Line>() == 64);

/// What `held` is while a line is held: another number in each process that a `fork` makes, since the child does not have the threads that
/// held lines in its parent.
static TURN: AtomicU16 = AtomicU16::new(1);

/// How many there may be.
pub const SIDES: usize = 1 << 30;

/// All of them. Looked at in [`crate::quick`], too.
pub static SIDE: Table<Line> = Table::new();
/// How long one is.
pub const SIZE: usize = size_of::<Line>();
static POOL: Pool = Pool::new();

/// Maps the table ahead of its first use, or says why not.
pub fn reserve() -> Result<(), i32> {
    SIDE.reserve(SIDES)
}

/// The index in a cell's first word.
pub fn index(first: u64) -> u64 {
    first & ((1 << INDEX_BITS) - 1)
}

/// The line of the state that a cell's first word names.
pub fn line(first: u64) -> &'static Line {
    // SAFETY: within the table, which is mapped for good; zero bytes are a line.
    unsafe { &*SIDE.at(index(first) as usize % SIDES, SIDES) }
}

impl Line {
    /// Its state.
    ///
    /// # Safety
    /// The line is held, or only the caller knows of it, and nobody else in this thread has the state.
    #[inline(always)]
    pub unsafe fn side(&self) -> Side<'_> {
        // SAFETY: as the caller promises.
        unsafe {
            Side {
                said: &mut *self.said.get(),
                kind: &mut *self.kind.get(),
            }
        }
    }

    /// Takes the lock, if nobody has it.
    #[inline(always)]
    pub fn take(&self) -> bool {
        let (now, turn) = (self.held.load(Ordering::Relaxed), TURN.load(Ordering::Relaxed));
        now != turn
            && self
                .held
                .compare_exchange(now, turn, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }
}

/// The lock of a line, and of the cell that leads to it.
pub struct Held(pub &'static Line);

impl Drop for Held {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.held.store(0, Ordering::Release);
    }
}

impl Held {
    /// Its state.
    #[inline(always)]
    pub fn side(&mut self) -> Side<'_> {
        // SAFETY: it is held, and `self` borrowed for as long.
        unsafe { self.0.side() }
    }
}

/// Takes the lock of the free states, before a `fork`.
pub fn hold() {
    POOL.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    POOL.let_go();
}

/// No thread holds anything, in the child of a `fork`; 0 is nobody.
pub fn forget_all() {
    let turn = TURN.load(Ordering::Relaxed);
    TURN.store(turn.checked_add(1).unwrap_or(1), Ordering::Relaxed);
}

/// How many side states were ever in use at once, about.
pub fn count() -> u64 {
    POOL.count()
}

/// A state and its index. The caller is the only one to know of it.
pub fn take(t: &mut Thread) -> (u64, Side<'static>) {
    let index = POOL.take(&mut t.sides);
    // SAFETY: the state was never used (zero bytes, which are its default) or was left by `give`; in both cases nobody
    // else has its index, but for who finds out at once that the state is another one.
    let side = unsafe { line(index).side() };
    side.kind.generation += 1;
    (index, side)
}

/// Gives a state back to be used again. No cell leads to it any more.
pub fn give(t: &mut Thread, index: u64, mut side: Side<'_>) {
    side.empty();
    if !side.is_worn() {
        POOL.give(&mut t.sides, index);
    }
}

/// A thread ends: what it has put by is for the others.
pub fn give_all(t: &mut Thread) {
    POOL.give_all(&mut t.sides);
}

/// Gives the state that a cell's first word has named to whoever wants one.
pub fn give_to_all(first: u64) {
    POOL.give_to_all(index(first));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_held_a_state_in_the_parent_of_a_fork_does_not_in_the_child() {
        let turn = TURN.load(Ordering::Relaxed);
        for (held, free) in [(0, true), (turn - 1, true), (turn, false), (turn + 1, true)] {
            let line = Line {
                said: UnsafeCell::default(),
                kind: UnsafeCell::default(),
                held: AtomicU16::new(held),
            };
            assert_eq!(line.take(), free, "{held}");
        }
    }
}
