//! What all threads have heard of: accesses that happen before whatever any of them does from now on, so that nothing can race with them.
//! States need not say them any more. The elements of an array that are done with one after the other each have an epoch of their
//! own; once everybody has heard of those, they are all alike.
//!
//! Each thread says now and then what it knows of the others, in a *row* of times. Times only grow, so an old row says too little and
//! nothing wrong. The least of all rows is the *floor*: it, too, only rises. A new thread knows what its parent does, and has a row
//! from before it starts.
//!
//! A thread that waits for another one to end, as `main` mostly does, says nothing in all that time. It does nothing either, and
//! when it goes on it knows all that the other one does; so it does not count meanwhile.
//!
//! A thread that is torn out of waiting for another, by a handler of a signal or because it is cancelled, does something while it did not count.
//! So threads that wait do count once the program has asked for handlers, or has cancelled a thread: whoever has done that has heard of all that was given up
//! before, and what is torn out comes behind it.
//!
//! **What it can miss.** A thread that no known thread has created (a bare `clone`) is not checked, but those that it creates are, and they may
//! race with what was given up before.

use crate::cell::{self, FIRST_SIDE};
use crate::owners::{self, REGION_SHIFT};
use crate::runs::GRANULES;
use crate::spin::Spin;
use crate::thread::{Thread, ThreadRef};
use crate::{readers, shadow};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// So many slots have times here; of the others nobody is ever known to have heard.
const SLOTS: usize = 64;

/// Threads say what they know where they leave a barrier, and each time that they have learned something so often.
const SELDOM: u32 = if cfg!(test) { 2 } else { 16 };

/// So many regions are worth that threads are waited for.
const WORTH: usize = if cfg!(test) { 1 } else { 4 };

type Times = [AtomicU64; SLOTS];

/// What a thread says of its own slot: nothing that it does races with what it did.
const OWN: u64 = u64::MAX;

/// Threads, and what all of them have heard of.
pub struct Floor {
    living: Spin<Vec<Living>>,
    /// Raised while `living` is held.
    times: Times,
    /// Whether code of the program may run in threads that wait.
    handled: AtomicBool,
}

/// A thread that may still do something.
struct Living {
    thread: u32,
    row: Arc<Times>,
    /// Who it waits for.
    waits: Option<u32>,
}

static ALL: Floor = Floor::new();

/// What a thread says of itself.
pub struct Heard {
    among: &'static Floor,
    /// Changed by the thread only.
    row: Arc<Times>,
    /// How often it has learned something since it said so.
    learned: u32,
    /// The time in which it has raised the floor last.
    raised: u64,
}

impl Floor {
    /// Of no threads.
    pub const fn new() -> Floor {
        Floor {
            living: Spin::new(Vec::new()),
            times: [const { AtomicU64::new(0) }; SLOTS],
            handled: AtomicBool::new(false),
        }
    }

    /// A thread does nothing any more.
    pub fn end(&self, thread: u32) {
        self.living.lock().retain(|living| living.thread != thread);
    }

    /// A thread does nothing until another one has ended; or goes on, and has said what it has learned by that.
    pub fn set_waits(&self, thread: u32, waits: Option<ThreadRef>) {
        let mut all = self.living.lock();
        if let Some(living) = all.iter_mut().find(|living| living.thread == thread) {
            living.waits = waits.map(|child| child.0);
        }
    }

    /// Rises to what the rows of the first so many slots say now.
    fn raise(&self, slots: usize) {
        let all = self.living.lock();
        let handled = self.handled.load(Ordering::Relaxed);
        let alive: FxHashSet<u32> = all.iter().map(|living| living.thread).collect();
        // Who waits for one that has just ended has yet to hear what that one knew.
        let counts = |living: &Living| handled || !living.waits.is_some_and(|waits| alive.contains(&waits));
        let mut least = [OWN; SLOTS];
        for living in all.iter().filter(|living| counts(living)) {
            for (least, said) in least.iter_mut().zip(living.row.iter()).take(slots) {
                *least = (*least).min(said.load(Ordering::Relaxed));
            }
        }
        // It does not fall where threads that waited count again. Where only who has the slot counts, nobody has heard of more.
        for (time, least) in self.times.iter().zip(least).filter(|(_, least)| *least != OWN) {
            time.fetch_max(least, Ordering::Relaxed);
        }
    }

    /// Whether all threads have heard of the access of a word.
    #[inline]
    fn has(&self, word: u64) -> bool {
        let (slot, time) = cell::epoch(word);
        let known = self.times.get(slot.index());
        known.is_some_and(|known| time <= known.load(Ordering::Relaxed))
    }

    /// The two words of a cell without what all threads have heard of.
    #[inline]
    fn left_of(&self, (write, read): (u64, u64)) -> (u64, u64) {
        if write >= FIRST_SIDE {
            return (write, read);
        }
        let left = |word: u64| {
            if readers::each(word).all(|word| self.has(word)) {
                0
            } else {
                word
            }
        };
        (left(write), left(read))
    }
}

impl Default for Floor {
    fn default() -> Self {
        Floor::new()
    }
}

impl Heard {
    /// Of a thread that is not [begun](begin).
    pub fn new() -> Heard {
        Heard::among(&ALL)
    }

    /// The same among some threads.
    pub fn among(among: &'static Floor) -> Heard {
        Heard {
            among,
            row: Arc::new([const { AtomicU64::new(0) }; SLOTS]),
            learned: 0,
            raised: 0,
        }
    }
}

impl Default for Heard {
    fn default() -> Self {
        Heard::new()
    }
}

/// A thread is about to start. Whoever creates it calls this.
pub fn begin(t: &mut Thread) {
    say(t);
    t.heard.among.living.lock().push(Living {
        thread: t.id,
        row: Arc::clone(&t.heard.row),
        waits: None,
    });
}

/// A thread does nothing any more.
pub fn end(thread: u32) {
    ALL.end(thread);
}

/// The thread says what it knows.
pub fn say(t: &mut Thread) {
    let own = t.hb.slot().index();
    for (slot, (said, time)) in t.heard.row.iter().zip(t.hb.times()).enumerate() {
        said.store(if slot == own { OWN } else { *time }, Ordering::Relaxed);
    }
    t.heard.learned = 0;
}

/// The thread has learned something.
#[inline]
pub fn learned(t: &mut Thread) {
    t.heard.learned += 1;
    if t.heard.learned >= SELDOM {
        say(t);
    }
}

/// The thread does nothing until another one has ended: not itself, for which it is told at once that it cannot wait.
pub fn waits(t: &Thread, child: ThreadRef) {
    if child == t.reference() {
        return;
    }
    t.heard.among.set_waits(t.id, Some(child));
}

/// It goes on.
pub fn goes_on(t: &mut Thread) {
    say(t);
    t.heard.among.set_waits(t.id, None);
}

/// From now on the program has code that may run in threads that wait.
pub fn handlers_may_run() {
    ALL.handled.store(true, Ordering::Relaxed);
}

/// The two words of a cell without what all threads have heard of, as far as that is known.
#[inline]
pub fn left(t: &Thread, words: (u64, u64)) -> (u64, u64) {
    t.heard.among.left_of(words)
}

/// The same; once in each of the thread's times, that is found out anew.
#[inline]
pub fn left_now(t: &mut Thread, words: (u64, u64)) -> (u64, u64) {
    let left = left(t, words);
    if left == (0, 0) || t.heard.raised == t.hb.time() {
        return left;
    }
    raised(t, words)
}

/// Gives back the shadow of some regions if all threads have heard of all that it says: as of results that are written one by one,
/// each in an epoch of its own.
#[cold]
#[inline(never)]
pub fn give_back(t: &mut Thread, regions: Range<usize>) {
    let cells = |region: usize| shadow::cells(region << REGION_SHIFT, GRANULES).unwrap_or_default();
    let Some(last) = cells(regions.end - 1).last() else {
        return;
    };
    left_now(t, last.load());
    let t = &*t;
    let is_heard = |region: usize| cells(region).iter().all(|cell| left(t, cell.load()) == (0, 0));
    let heard: Vec<usize> = regions
        .filter(|region| owners::has_cells(*region) && is_heard(*region))
        .collect();
    if heard.len() >= WORTH {
        owners::give_back(&heard, is_heard);
    }
}

#[cold]
fn raised(t: &mut Thread, words: (u64, u64)) -> (u64, u64) {
    t.heard.raised = t.hb.time();
    say(t);
    t.heard.among.raise(t.hb.times().len());
    left(t, words)
}

/// Takes the lock, before a `fork`.
pub fn hold() {
    ALL.living.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    ALL.living.let_go();
}

/// After a `fork`, in the child: `t` is the only thread.
pub fn only(t: &Thread) {
    ALL.living.lock().retain(|living| living.thread == t.id);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Place;
    use crate::sync;
    use deadheat_detect::hb::{self, HbThread};
    use deadheat_event::{Mode, Slot};

    const LOCK: usize = 0x6600_0000;

    fn threads<const N: usize>() -> [Thread; N] {
        let among: &'static Floor = Box::leak(Box::default());
        std::array::from_fn(|n| {
            let slot = n as u32 + 1;
            let mut thread = Thread::new(slot, HbThread::after(Slot(slot), 0), true);
            thread.heard = Heard::among(among);
            begin(&mut thread);
            thread
        })
    }

    fn hand_over(from: &mut Thread, to: &mut Thread) {
        sync::release(from, LOCK, Mode::Exclusive);
        sync::acquire(to, LOCK, Mode::Exclusive);
        sync::forget(to, LOCK);
        say(to);
    }

    fn word(t: &Thread) -> u64 {
        cell::word(t.epoch, Place(1), 0xff)
    }

    #[test]
    fn an_access_is_given_up_when_all_who_may_do_something_have_heard_of_it() {
        let [mut a, mut b, mut c] = threads();
        let words = (word(&a), word(&a));
        assert_eq!(left_now(&mut a, words), words);
        hand_over(&mut a, &mut b);
        assert_eq!(left_now(&mut b, words), words, "c has not");
        hand_over(&mut b, &mut c);
        assert_eq!(left_now(&mut c, words), (0, 0));
        // Not what came behind.
        let words = (words.0, word(&a));
        assert_eq!(left_now(&mut c, words), (0, words.1));
    }

    #[test]
    fn a_new_thread_has_heard_of_what_its_parent_has() {
        let [mut a, mut b] = threads();
        let words = (word(&a), 0);
        let mut hb = HbThread::after(Slot(3), 0);
        hb::fork(&mut b.hb, &mut hb);
        let mut child = Thread::new(3, hb, true);
        child.heard = Heard::among(b.heard.among);
        begin(&mut child);
        hand_over(&mut a, &mut b);
        assert_eq!(left_now(&mut b, words), words, "the child has not");
        b.heard.among.end(3);
        // Looked for anew in another time.
        hand_over(&mut b, &mut a);
        assert_eq!(left_now(&mut b, words), (0, 0));
    }

    #[test]
    fn who_waits_for_a_thread_does_not_count_until_that_has_ended() {
        let [mut a, mut b, main] = threads();
        let words = (word(&a), 0);
        waits(&main, b.reference());
        hand_over(&mut a, &mut b);
        assert_eq!(left_now(&mut b, words), (0, 0));
        b.heard.among.end(b.id);
        let words = (word(&a), 0);
        sync::release(&mut a, LOCK, Mode::Exclusive);
        assert_eq!(left_now(&mut a, words), words, "main has yet to hear of it");
        sync::forget(&mut a, LOCK);
    }

    #[test]
    fn who_waits_counts_if_handlers_may_run() {
        let [mut a, mut b, main] = threads();
        let words = (word(&a), 0);
        waits(&main, b.reference());
        a.heard.among.handled.store(true, Ordering::Relaxed);
        hand_over(&mut a, &mut b);
        assert_eq!(left_now(&mut b, words), words);
    }
}
