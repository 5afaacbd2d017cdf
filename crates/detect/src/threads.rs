//! Threads of a trace and the slots they occupy.
//!
//! Clocks are as long as there are slots, so the slot of an ended thread is given to a new one where the detector says
//! that this cannot hide a race: an ended thread that nobody waited for is not ordered before the next one.

use deadheat_event::{Detector, Mode, Object, Slot, SyncId, ThreadId};
use rustc_hash::FxHashMap;

/// Thread ids below this are looked up without hashing.
const NEAR: usize = 1 << 20;
/// The place of nobody: beyond the end of `slots`.
const NOBODY: u32 = u32::MAX;

/// How many ended threads are asked for their slot before a new one is made.
const ASK: usize = 8;

/// All threads, in their slots.
pub struct Threads<T> {
    /// Place in `slots` of each thread id's present thread.
    by_id: FxHashMap<ThreadId, usize>,
    /// The same for small ids, for a quick look at every event; [`NOBODY`] if there is none.
    near: Vec<u32>,
    slots: Vec<Thread<T>>,
    /// Slots whose thread has ended, the latest last.
    ended: Vec<usize>,
    /// Ended threads whose slot has gone to another, until their id does too: somebody may still wait for them.
    departed: FxHashMap<ThreadId, Box<T>>,
}

/// A thread and what the driver keeps for it.
pub struct Thread<T> {
    /// The detector's state.
    pub state: T,
    /// Its present (or last) id in the trace.
    pub id: ThreadId,
    /// Open calls into untraced code, innermost last, with the objects that they reach.
    pub calls: Vec<Box<[Object]>>,
    ended: bool,
    held: Vec<Held>,
    /// The threads that had this slot: the first timestamp of each, ascending.
    history: Vec<(u64, ThreadId)>,
}

struct Held {
    lock: SyncId,
    mode: Mode,
    depth: u32,
}

impl<T> Default for Threads<T> {
    fn default() -> Self {
        Threads {
            by_id: FxHashMap::default(),
            near: Vec::new(),
            slots: Vec::new(),
            ended: Vec::new(),
            departed: FxHashMap::default(),
        }
    }
}

impl<T> Threads<T> {
    /// The place of a thread; one that was never forked starts here.
    #[inline]
    pub fn of<D: Detector<Thread = T>>(&mut self, id: ThreadId, detector: &mut D) -> usize {
        match self.near.get(id.index()) {
            Some(&place) if place != NOBODY => place as usize,
            _ => self.look_up(id, detector),
        }
    }

    /// The state of a thread that has been seen before and whose id is not too large.
    #[inline(always)]
    pub fn near(&mut self, id: ThreadId) -> Option<&mut T> {
        let place = *self.near.get(id.index())?;
        self.slots.get_mut(place as usize).map(|thread| &mut thread.state)
    }

    #[cold]
    fn look_up<D: Detector<Thread = T>>(&mut self, id: ThreadId, detector: &mut D) -> usize {
        match self.by_id.get(&id) {
            Some(place) => *place,
            None => self.start(id, detector),
        }
    }

    /// `id` means the thread at `place` from now on, or none.
    fn set_place(&mut self, id: ThreadId, place: Option<usize>) {
        match place {
            Some(place) => self.by_id.insert(id, place),
            None => self.by_id.remove(&id),
        };
        if id.index() < NEAR {
            if id.index() >= self.near.len() {
                self.near.resize(id.index() + 1, NOBODY);
            }
            self.near[id.index()] = place.map_or(NOBODY, |place| place as u32);
        }
    }

    /// The thread at a place.
    #[inline]
    pub fn get_mut(&mut self, place: usize) -> &mut Thread<T> {
        &mut self.slots[place]
    }

    /// All places.
    pub fn all(&self) -> std::ops::Range<usize> {
        0..self.slots.len()
    }

    /// All states, of ended threads too while their slots are theirs.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().map(|thread| &thread.state)
    }

    /// The id of the thread that had a slot at a time.
    pub fn who(&self, slot: Slot, timestamp: u64) -> ThreadId {
        let Some(thread) = self.slots.get(slot.index()) else {
            return ThreadId::default();
        };
        let after = thread.history.partition_point(|(first, _)| *first <= timestamp);
        thread
            .history
            .get(after.saturating_sub(1))
            .map_or(thread.id, |(_, id)| *id)
    }

    /// `parent` creates `child`.
    pub fn fork<D: Detector<Thread = T>>(&mut self, parent: usize, child: ThreadId, detector: &mut D) {
        let present = self
            .by_id
            .get(&child)
            .copied()
            .filter(|place| !self.slots[*place].ended);
        let place = match present {
            Some(place) => place,
            None => self.start_forked(parent, child, detector),
        };
        if let Ok([parent, child]) = self.slots.get_disjoint_mut([parent, place]) {
            detector.fork(&mut parent.state, &mut child.state);
        }
    }

    /// The place of a thread that is being waited for.
    pub fn ending(&self, child: ThreadId) -> Option<usize> {
        self.by_id.get(&child).copied()
    }

    /// The thread at `place` has waited for `child`.
    pub fn join<D: Detector<Thread = T>>(&mut self, place: usize, child: ThreadId, detector: &mut D) {
        let Some(&child_place) = self.by_id.get(&child) else {
            if let Some(departed) = self.departed.get_mut(&child) {
                detector.join(&mut self.slots[place].state, departed);
            }
            return;
        };
        self.end(child);
        if let Ok([thread, child]) = self.slots.get_disjoint_mut([place, child_place]) {
            detector.join(&mut thread.state, &mut child.state);
        }
    }

    /// A thread does nothing more.
    pub fn end(&mut self, id: ThreadId) {
        if let Some(&place) = self.by_id.get(&id)
            && !self.slots[place].ended
        {
            self.slots[place].ended = true;
            self.ended.push(place);
        }
    }

    fn start<D: Detector<Thread = T>>(&mut self, id: ThreadId, detector: &mut D) -> usize {
        let place = self.slots.len();
        let state = detector.start(Slot(place as u32), None);
        let history = vec![(detector.timestamp(&state), id)];
        self.slots.push(Thread {
            state,
            id,
            calls: Vec::new(),
            ended: false,
            held: Vec::new(),
            history,
        });
        self.departed.remove(&id);
        self.set_place(id, Some(place));
        place
    }

    fn start_forked<D: Detector<Thread = T>>(
        &mut self,
        parent: usize,
        id: ThreadId,
        detector: &mut D,
    ) -> usize {
        let free = (0..self.ended.len()).rev().take(ASK).find(|i| {
            let ended = self.ended[*i];
            ended != parent && detector.can_follow(&self.slots[ended].state, &self.slots[parent].state)
        });
        let Some(free) = free else {
            return self.start(id, detector);
        };
        let place = self.ended.remove(free);
        let thread = &mut self.slots[place];
        let state = detector.start(Slot(place as u32), Some(&thread.state));
        thread.history.push((detector.timestamp(&state), id));
        let predecessor = std::mem::replace(&mut thread.state, state);
        let predecessor_id = std::mem::replace(&mut thread.id, id);
        thread.ended = false;
        thread.held.clear();
        thread.calls.clear();
        if predecessor_id != id && self.by_id.get(&predecessor_id) == Some(&place) {
            self.set_place(predecessor_id, None);
            self.departed.insert(predecessor_id, Box::new(predecessor));
        }
        self.departed.remove(&id);
        self.set_place(id, Some(place));
        place
    }
}

impl<T> Thread<T> {
    /// Takes a lock. Whether this is the outermost time.
    pub fn acquire(&mut self, lock: SyncId, mode: Mode) -> bool {
        match self.held.iter_mut().rev().find(|held| held.lock == lock) {
            Some(held) => {
                held.depth = held.depth.saturating_add(1);
                false
            }
            None => {
                self.held.push(Held { lock, mode, depth: 1 });
                true
            }
        }
    }

    /// Gives a lock back. Its mode, if this is the outermost time; a lock not held counts as exclusive.
    pub fn release(&mut self, lock: SyncId) -> Option<Mode> {
        let Some(place) = self.held.iter().rposition(|held| held.lock == lock) else {
            return Some(Mode::Exclusive);
        };
        self.held[place].depth -= 1;
        (self.held[place].depth == 0).then(|| self.held.remove(place).mode)
    }

    /// The locks held now.
    pub fn locks(&self) -> Vec<SyncId> {
        self.held.iter().map(|held| held.lock).collect()
    }
}
