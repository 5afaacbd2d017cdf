//! All threads there ever were, and the clock slots they have.
//!
//! A slot passes from an ended thread to a new one only where the new one's parent knows all that the ended one did
//! (`hb::can_follow`), so that nothing is hidden: because it has waited for it, or because it comes after a release behind which
//! that thread touched and learned nothing any more, as detached threads mostly end. Where there are more threads than shadow words can
//! name ([`terms`]), all else is as before but slower: what the further ones do is kept in side states. What is kept of an ended thread is its name and where it came from;
//! its clock only until somebody has waited for it.

use crate::loss::{self, Loss};
use crate::spin::{Guard, Spin};
use crate::stacks::Stack;
use crate::terms;
use deadheat_detect::clock::MAX_SLOT;
use deadheat_detect::hb::HbThread;
use deadheat_event::Slot;

/// Slots from here on are in no tables of slots, and no shadow word can name them.
pub const SLOTS: u32 = terms::TERMS;
/// The last time from which on a slot is given to another thread.
const LAST: u64 = 1 << 39;
/// How many ended threads are asked for their slot: of those that ended last, and as many of the others in turn.
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
    /// Where in it the frames of the program's functions end.
    pub frames: usize,
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

/// A slot whose thread has ended.
#[derive(Clone, Copy, Debug)]
struct Left {
    slot: u32,
    /// The thread's last time.
    ended: u64,
    /// Who knows of this time knows all that the thread did.
    known: u64,
}

/// The threads.
pub struct Registry {
    /// By number.
    pub entries: Vec<Entry>,
    /// Who had each slot: first time and thread, ascending.
    history: Vec<Vec<(u64, u32)>>,
    /// Slots whose thread has ended.
    free: Vec<Left>,
    /// Which of them is asked next.
    turn: usize,
    /// Threads started that nobody has joined yet, the first one aside.
    pub outstanding: u32,
    /// Threads without a slot.
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
            turn: 0,
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
            frames: 0,
            tls: 0,
        });
        id
    }

    /// A slot for thread `id`, whose parent knows what `parent` does; the state it starts with, and whether it has a
    /// place in the shadow.
    pub fn place(&mut self, id: u32, parent: Option<&HbThread>) -> (HbThread, bool) {
        if let Some(at) = parent.and_then(|parent| self.free_for(parent)) {
            let Left { slot, ended, .. } = self.free.swap_remove(at);
            self.history[slot as usize].push((ended + 1, id));
            let slot = Slot(slot);
            if terms::latest(slot).is_some_and(|term| ended - term.base >= terms::WORN / 8 * 7) {
                self.next_term(slot, ended);
            }
            return (HbThread::after(slot, ended), true);
        }
        match self.fresh(id) {
            Some(slot) => (HbThread::after(slot, 0), true),
            None => {
                loss::note(Loss::Slots);
                self.blind += 1;
                (HbThread::after(Slot(MAX_SLOT - self.blind % SLOTS), 0), false)
            }
        }
    }

    /// A slot that a child of `parent` may have, by its place in the list.
    fn free_for(&mut self, parent: &HbThread) -> Option<usize> {
        let len = self.free.len();
        let turn = self.turn;
        let others = (0..ASK.min(len)).map(|n| (turn + n) % len);
        self.turn = turn.wrapping_add(ASK);
        let last = (len.saturating_sub(ASK)..len).rev();
        last.chain(others).find(|at| {
            let Left { slot, known, .. } = self.free[*at];
            parent.get(Slot(slot)) >= known
        })
    }

    /// A slot that nobody has had.
    pub fn fresh(&mut self, id: u32) -> Option<Slot> {
        let slot = self.history.len() as u32;
        if slot >= MAX_SLOT - SLOTS {
            return None;
        }
        self.history.push(vec![(1, id)]);
        terms::first(Slot(slot));
        Some(Slot(slot))
    }

    /// Times of words by the thread in `slot` count from `base` on, from now on.
    pub fn next_term(&self, slot: Slot, base: u64) {
        terms::next(slot, base, self.history.len() as u32);
    }

    /// The thread in `slot` has ended at `time`, in which it did nothing that others could miss if it is `clean`.
    pub fn leave(&mut self, slot: Slot, time: u64, clean: bool) {
        if time < LAST {
            self.free.push(Left {
                slot: slot.0,
                ended: time,
                known: time - u64::from(clean),
            });
        }
    }

    /// Who had `slot` at `time`.
    pub fn who(&self, slot: u32, time: u64) -> Option<u32> {
        let history = self.history.get(slot as usize)?;
        let after = history.partition_point(|(first, _)| *first <= time);
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
    use deadheat_event::{SyncId, SyncOp};

    #[test]
    fn a_slot_is_used_again_only_by_a_child_of_who_knows_its_last_thread() {
        let mut registry = Registry::new();
        let (mut main, _) = registry.place(0, None);
        let (mut child, _) = registry.place(1, Some(&main));
        hb::fork(&mut main, &mut child);
        registry.leave(child.slot(), child.time(), false);
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
            registry.leave(child.slot(), child.time(), false);
            hb::join(&mut main, &child);
        }
    }

    #[test]
    fn who_touched_nothing_after_a_release_is_known_by_who_comes_after_the_release() {
        for clean in [true, false] {
            let mut registry = Registry::new();
            let (mut main, _) = registry.place(0, None);
            let (mut child, _) = registry.place(1, Some(&main));
            hb::fork(&mut main, &mut child);
            assert!(child.has_learned(), "of its parent");
            let mut object = hb::HbSync::default();
            hb::sync(&mut child, SyncOp::Send(SyncId(0)), &mut object);
            assert!(!child.has_learned());
            registry.leave(child.slot(), child.time(), clean);
            let (other, _) = registry.place(2, Some(&main));
            assert_ne!(other.slot(), child.slot(), "main does not know of the release");
            hb::sync(&mut main, SyncOp::Receive(SyncId(0)), &mut object);
            let (next, _) = registry.place(3, Some(&main));
            assert_eq!(next.slot() == child.slot(), clean);
            // Its own times are those that nobody can have heard of.
            assert!(!clean || next.time() > child.time());
        }
    }

    #[test]
    fn slots_far_down_the_list_have_their_turn() {
        let mut registry = Registry::new();
        let (mut main, _) = registry.place(0, None);
        let mut first = None;
        for id in 1..1000 {
            let (mut child, _) = registry.place(id, Some(&main));
            hb::fork(&mut main, &mut child);
            registry.leave(child.slot(), child.time(), false);
            first.get_or_insert(child);
        }
        let first = first.expect("the first child");
        hb::join(&mut main, &first);
        let again = (1000..1100).any(|id| registry.place(id, Some(&main)).0.slot() == first.slot());
        assert!(again, "nobody else was joined");
    }

    #[test]
    fn threads_that_no_shadow_word_can_name_have_slots_of_their_own() {
        let mut registry = Registry::new();
        for id in 0..SLOTS {
            assert!(registry.place(id, None).0.slot().0 < SLOTS);
        }
        let (a, seen) = registry.place(SLOTS, None);
        let (b, _) = registry.place(SLOTS + 1, None);
        assert!(seen && a.slot() != b.slot());
        assert!(
            [a.slot(), b.slot()]
                .iter()
                .all(|slot| terms::latest(*slot).is_none())
        );
        assert_eq!(registry.who(b.slot().0, 1), Some(SLOTS + 1));
    }
}
