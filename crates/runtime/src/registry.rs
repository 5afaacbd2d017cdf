//! All threads there ever were, and the clock slots they have.
//!
//! A slot passes from an ended thread to a new one only where the new one's parent knows all that the ended one did
//! (`hb::can_follow`), so that nothing is hidden. What is kept of an ended thread is its name and where it came from;
//! its clock only until somebody has waited for it.

use crate::loss::{self, Loss};
use crate::spin::{Guard, Spin};
use crate::stacks::Stack;
use deadheat_abi::shadow::{SIDE, TIME_BITS};
use deadheat_detect::hb::HbThread;
use deadheat_event::Slot;

/// Slots from here on have no place in a shadow word.
pub const SLOTS: u32 = SIDE;
/// The last time that fits into a shadow word.
pub const LAST_TIME: u64 = (1 << TIME_BITS) - 1;
/// From this time on a thread looks for a new slot: no operation takes more times than are left.
pub const WORN: u64 = LAST_TIME - 64;
/// How many ended threads are asked for their slot.
const ASK: usize = 64;

/// No thread.
pub const NOBODY: u32 = u32::MAX;

/// A thread by its number, in the order of their creation. 0 is the main thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadRef(pub u32);

/// What is kept of every thread.
pub struct Entry {
    /// Who created it, or [`NOBODY`].
    pub parent: u32,
    /// Where.
    pub created: Stack,
    /// The kernel's number, 0 before it has begun.
    pub tid: i32,
    /// Its name as it ended.
    pub name: [u8; 16],
    /// How far it is.
    pub state: State,
    /// Whether nobody will wait for it.
    pub detached: bool,
    /// Where its stack is (or was).
    pub stack: (usize, usize),
    /// Where its thread-local variables end, 0 if not known.
    pub tls: usize,
}

/// How far a thread is.
pub enum State {
    /// It runs (then this is its record), or is about to (0).
    Alive(usize),
    /// It has ended; its clock waits for who joins it.
    Ended(Box<HbThread>),
    /// It was joined, or it has ended and nobody will.
    Gone,
}

/// The threads.
pub struct Registry {
    /// By number.
    pub entries: Vec<Entry>,
    /// Who had each slot: first time and thread, ascending.
    history: Vec<Vec<(u32, u32)>>,
    /// Slots whose thread has ended, and its last time.
    free: Vec<(u32, u64)>,
    /// Threads started that nobody has joined yet, the first one aside.
    pub outstanding: u32,
    /// Slots for threads that have no place in the shadow.
    blind: u32,
}

static REGISTRY: Spin<Registry> = Spin::new(Registry::new());

/// The registry, for as long as the guard lives.
pub fn lock() -> Guard<'static, Registry> {
    REGISTRY.lock()
}

/// Takes its lock, before a `fork`.
pub fn hold() {
    REGISTRY.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    REGISTRY.let_go();
}

impl Registry {
    /// No threads.
    pub const fn new() -> Registry {
        Registry {
            entries: Vec::new(),
            history: Vec::new(),
            free: Vec::new(),
            outstanding: 0,
            blind: 0,
        }
    }

    /// Makes the entry of a new thread.
    pub fn add(&mut self, parent: u32, created: Stack) -> u32 {
        let id = self.entries.len() as u32;
        self.entries.push(Entry {
            parent,
            created,
            tid: 0,
            name: [0; 16],
            state: State::Alive(0),
            detached: false,
            stack: (0, 0),
            tls: 0,
        });
        id
    }

    /// A slot for thread `id`, whose parent knows what `parent` does; the state it starts with, and whether it has a
    /// place in the shadow.
    pub fn place(&mut self, id: u32, parent: Option<&HbThread>) -> (HbThread, bool) {
        let free = parent.and_then(|parent| {
            let asked = self.free.len().saturating_sub(ASK)..self.free.len();
            asked.rev().find(|at| {
                let (slot, ended) = self.free[*at];
                parent.get(Slot(slot)) >= ended
            })
        });
        if let Some(at) = free {
            let (slot, ended) = self.free.remove(at);
            self.history[slot as usize].push((ended as u32 + 1, id));
            return (HbThread::after(Slot(slot), ended), true);
        }
        match self.fresh(id) {
            Some(slot) => (HbThread::after(slot, 0), true),
            None => {
                loss::note(Loss::Slots);
                self.blind += 1;
                (HbThread::after(Slot(SLOTS + self.blind), 0), false)
            }
        }
    }

    /// A slot that nobody has had.
    pub fn fresh(&mut self, id: u32) -> Option<Slot> {
        let slot = self.history.len() as u32;
        if slot >= SLOTS {
            return None;
        }
        self.history.push(vec![(1, id)]);
        Some(Slot(slot))
    }

    /// The thread in `slot` has ended at `time`. Slots with few times left stay empty.
    pub fn leave(&mut self, slot: Slot, time: u64) {
        if slot.0 < SLOTS && time < WORN / 8 * 7 {
            self.free.push((slot.0, time));
        }
    }

    /// Who had `slot` at `time`.
    pub fn who(&self, slot: u32, time: u64) -> Option<u32> {
        let history = self.history.get(slot as usize)?;
        let after = history.partition_point(|(first, _)| u64::from(*first) <= time);
        history.get(after.saturating_sub(1)).map(|(_, id)| *id)
    }
}

impl Default for Registry {
    fn default() -> Self {
        Registry::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_detect::hb;

    #[test]
    fn a_slot_is_used_again_only_by_a_child_of_who_knows_its_last_thread() {
        let mut registry = Registry::new();
        let (mut main, _) = registry.place(0, None);
        let (mut child, _) = registry.place(1, Some(&main));
        hb::fork(&mut main, &mut child);
        registry.leave(child.slot(), child.time());
        let (other, _) = registry.place(2, Some(&main));
        assert_ne!(other.slot(), child.slot(), "nobody has joined it");
        hb::join(&mut main, &child);
        let (next, _) = registry.place(3, Some(&main));
        assert_eq!(next.slot(), child.slot());
        assert!(next.time() > child.time());
        assert_eq!(registry.who(child.slot().0, child.time()), Some(1));
        assert_eq!(registry.who(next.slot().0, next.time()), Some(3));
    }

    #[test]
    fn ten_thousand_threads_joined_one_after_another_share_a_slot() {
        let mut registry = Registry::new();
        let (mut main, _) = registry.place(0, None);
        for id in 1..10_000 {
            let (mut child, _) = registry.place(id, Some(&main));
            hb::fork(&mut main, &mut child);
            assert!(child.slot().0 <= 1);
            registry.leave(child.slot(), child.time());
            hb::join(&mut main, &child);
        }
    }

    #[test]
    fn a_thread_without_a_slot_still_has_a_clock() {
        let mut registry = Registry::new();
        for id in 0..SLOTS {
            assert!(registry.place(id, None).1);
        }
        let (a, seen) = registry.place(SLOTS, None);
        let (b, _) = registry.place(SLOTS + 1, None);
        assert!(!seen && a.slot() != b.slot() && a.slot().0 >= SLOTS);
    }
}
