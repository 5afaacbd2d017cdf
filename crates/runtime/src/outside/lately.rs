//! What calls reached lately, so that not every one of them looks at all that it can reach.
//!
//! A call that reaches little looks each time. One that reaches much looks at the 1st, 2nd, 4th, ... time and every 1024th with
//! the same arguments, and whenever something of it has become shared. In between, pointers that the program stores there
//! are followed as they are stored (`links.rs`). Not seen are those that code outside stores, in this call or in others: by
//! them it could reach more, and threads could meet there. So before a race is told, and before a thread forgets such a
//! call or ends, it is looked at once more ([`catch_up`]). What it can miss: a link that code outside has made and that is
//! gone again by then.
//!
//! Arguments that lead into one block are the same, and numbers that lead nowhere count for nothing.

use super::links::{self, Watch};
use super::{From, Key, Reached, claim, lose, not_own, reach, take};
use crate::registry::SLOTS;
use crate::spin::Spin;
use crate::thread::Thread;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Who looks at no more words than this looks each time: it takes about a microsecond.
const FEW: usize = 1024;
/// How often the others do at least.
const SELDOM: u32 = 1024;

/// What a thread's calls have reached, in groups by a hash of their arguments. Empty before the first.
#[derive(Default)]
pub struct Lately {
    entries: Vec<Entry>,
    /// How many calls there were.
    calls: u64,
}

/// How many groups there are, and how many entries in each.
const GROUPS: usize = 8;
const GROUP: usize = 8;

impl Lately {
    /// The place for what has this hash: that of `from`, or else the one whose use is longest ago.
    fn place(&mut self, hash: usize, from: &From) -> usize {
        if self.entries.is_empty() {
            self.entries.resize_with(GROUPS * GROUP, Entry::default);
        }
        self.calls += 1;
        let first = (hash >> (usize::BITS - GROUPS.trailing_zeros())) * GROUP;
        let group = &self.entries[first..first + GROUP];
        let is_it = |entry: &Entry| entry.hash == hash && entry.from == *from;
        let oldest = || (0..GROUP).min_by_key(|at| group[*at].called);
        first + group.iter().position(is_it).or_else(oldest).unwrap_or(0)
    }
}

#[derive(Default)]
struct Entry {
    hash: usize,
    from: From,
    /// Which call was the last.
    called: u64,
    reached: Reached,
    /// How many words were looked at.
    words: usize,
    /// How often it was asked for, and whether it was answered without looking since the last look.
    uses: u32,
    unlooked: bool,
}

/// An answer that was given without looking.
#[derive(Clone)]
struct Unlooked {
    from: From,
    keys: Arc<[Key]>,
}

/// By slot.
static UNLOOKED: [Spin<Vec<Unlooked>>; SLOTS as usize] = [const { Spin::new(Vec::new()) }; SLOTS as usize];
/// Whether there was ever one.
static ANY: AtomicBool = AtomicBool::new(false);

/// Takes all locks, before a `fork`.
pub fn hold() {
    UNLOOKED.iter().for_each(Spin::hold);
}

/// Gives them back, after it.
pub fn let_go() {
    UNLOOKED.iter().for_each(Spin::let_go);
}

/// After a `fork`, in the child: what the others did lies behind it.
pub fn child() {
    UNLOOKED.iter().for_each(|list| list.lock().clear());
}

/// What is reached from there.
pub fn reached(t: &mut Thread, from: &From) -> Reached {
    let from = &reach::same_as(t, from);
    let mut hash = from.library.map_or(1, |key| key.0);
    for root in &from.roots {
        hash = (hash ^ root).wrapping_mul(0x9e37_79b9_7f4a_7c15_usize);
    }
    let at = t.calls.lately.place(hash, from);
    let mut entry = std::mem::take(&mut t.calls.lately.entries[at]);
    if entry.from != *from {
        if entry.unlooked {
            end(t, &entry.from);
        }
        entry = Entry {
            hash,
            from: from.clone(),
            ..Entry::default()
        };
    }
    entry.called = t.calls.lately.calls;
    entry.uses = entry.uses.wrapping_add(1);
    let due = entry.uses.is_power_of_two() || entry.uses.is_multiple_of(SELDOM);
    if due || entry.words <= FEW || entry.reached.is_outdated(t) || entry.reached.is_stale() {
        look(t, from, &mut entry);
        if std::mem::take(&mut entry.unlooked) {
            forget(t.hb.slot().0, from);
        }
    } else {
        if let Some(watch) = &entry.reached.watch {
            links::look_at_stack(t, from, watch);
        }
        if entry.reached.is_more() {
            entry.reached = std::mem::take(&mut entry.reached).with_more(t);
            if std::mem::take(&mut entry.unlooked) {
                forget(t.hb.slot().0, from);
            }
        }
        unlooked(t, from, &mut entry);
    }
    let reached = entry.reached.clone();
    t.calls.lately.entries[at] = entry;
    reached
}

/// Looks at what is there.
fn look(t: &Thread, from: &From, entry: &mut Entry) {
    let watch = entry.reached.watch.as_ref();
    if watch.is_some_and(|watch| !watch.is_stale() && watch.added() == 0) {
        let (keys, words) = reach::from(t, from);
        entry.words = words;
        if keys.as_deref() == entry.reached.keys.as_deref() && !entry.reached.is_outdated(t) {
            return;
        }
    }
    // Calls that are open go by the old one.
    let watch = Watch::new(t.hb.slot().0);
    let (keys, words) = links::look(t, from, &watch);
    entry.words = words;
    entry.reached = Reached {
        watch: keys.is_some().then_some(watch),
        ..claim(t, keys.map(Into::into))
    };
}

/// Remembers that a call did not look.
fn unlooked(t: &Thread, from: &From, entry: &mut Entry) {
    if !entry.unlooked
        && let Some(keys) = &entry.reached.keys
        && let Some(list) = UNLOOKED.get(t.hb.slot().0 as usize)
    {
        entry.unlooked = true;
        ANY.store(true, Ordering::SeqCst);
        list.lock().push(Unlooked {
            from: from.clone(),
            keys: Arc::clone(keys),
        });
    }
}

fn forget(slot: u32, from: &From) {
    if let Some(list) = UNLOOKED.get(slot as usize) {
        list.lock().retain(|unlooked| unlooked.from != *from);
    }
}

/// Looks once more at what the thread is about to forget.
fn end(t: &mut Thread, from: &From) {
    let slot = t.hb.slot().0;
    let Some(list) = UNLOOKED.get(slot as usize) else {
        return;
    };
    let forgotten: Vec<_> = list
        .lock()
        .extract_if(.., |unlooked| unlooked.from == *from)
        .collect();
    for unlooked in forgotten {
        look_again(t, slot, &unlooked);
    }
}

/// The thread ends.
pub fn end_thread(t: &mut Thread) {
    for entry in std::mem::take(&mut t.calls.lately).entries {
        if entry.unlooked {
            end(t, &entry.from);
        }
    }
}

/// Looks once more at what calls of all threads reach. Answers whether threads could meet in what is new.
pub fn catch_up(t: &mut Thread) -> bool {
    let mut met = false;
    if ANY.load(Ordering::SeqCst) {
        for (slot, list) in (0..).zip(&UNLOOKED) {
            let unlooked = list.lock().clone();
            for unlooked in &unlooked {
                met |= look_again(t, slot, unlooked);
            }
        }
    }
    met
}

/// Looks once more at what a thread's call reaches, and orders it as if it had reached that before. Answers whether it
/// meets others in what is new.
fn look_again(t: &mut Thread, slot: u32, unlooked: &Unlooked) -> bool {
    let Some(now) = reach::from(t, &unlooked.from).0 else {
        lose(slot);
        return true;
    };
    let new = now.into_iter().filter(|key| !unlooked.keys.contains(key));
    let shared = not_own(t, slot, new);
    links::leave_at(slot, &shared);
    let met = !shared.is_empty();
    if met {
        // It looks again, too.
        lose(slot);
    }
    if met && slot == t.hb.slot().0 {
        let reached = Reached {
            shared: shared.into(),
            keys: Some(Arc::clone(&unlooked.keys)),
            ..Reached::default()
        };
        take(t, &reached);
    }
    met
}
