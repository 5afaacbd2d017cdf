//! Pointers that the program stores into what calls reach: what such a pointer leads to they reach, too, from then on.
//!
//! RDIT §4.4.3 has what can be reached kept up to date by the stores of pointers that are seen. Instrumented code tells of them
//! ([`stored`]) once there was a call that reached anything ([`LINKING`](deadheat_abi::hooks::LINKING)). Each object has its **watchers**: what
//! calls with certain arguments were found to reach ([`Watch`], one for each entry of `lately.rs`), the open ones among them. A
//! pointer that is stored into the object is followed at once, for it may be gone soon; what it leads to is added to
//! what they reach, and gets the same watchers. That holds until they look anew.
//!
//! The order of things: who looks says first that it watches, and then looks until there is nothing new. Who stores a pointer does that
//! first, with a barrier behind it, and then asks who watches. So one of the two sees the other. Code outside can rely on a plain
//! store only after the storing thread has done something more, which comes after the hook. An atomic one it can rely on at once:
//! who ends a call waits for those that are under way ([`see_touches`](super::see_touches)).
//!
//! What it does not see: stores of code that is not instrumented. What such a call links is found when somebody looks.

use super::{From, Inside, Key, PUBLISHED, SHARDS, not_own, reach, with};
use crate::memory;
use crate::owners;
use crate::spin::{Spin, Wait};
use crate::thread::Thread;
use deadheat_detect::hb;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};
use std::sync::{Arc, Weak};

/// What calls of a thread with certain arguments reach, as others add to it.
pub struct Watch {
    slot: u32,
    /// How many such calls have begun and not ended.
    open: AtomicU32,
    /// Whether a block of it is another one now.
    stale: AtomicBool,
    more: Spin<More>,
}

#[derive(Default)]
struct More {
    keys: Vec<Key>,
    /// It is too much to know.
    all: bool,
}

impl Watch {
    /// Of the thread in a slot.
    pub fn new(slot: u32) -> Arc<Watch> {
        Arc::new(Watch {
            slot,
            open: AtomicU32::new(0),
            stale: AtomicBool::new(false),
            more: Spin::new(More::default()),
        })
    }

    /// How much was added.
    pub fn added(&self) -> usize {
        let more = self.more.lock();
        more.keys.len() + usize::from(more.all)
    }

    /// Whether a block of what was found is another one now.
    pub fn is_stale(&self) -> bool {
        self.stale.load(Ordering::SeqCst)
    }

    /// All that is reached: `keys`, and what was added.
    pub(super) fn all(&self, keys: Option<Arc<[Key]>>) -> Option<Arc<[Key]>> {
        let more = self.more.lock();
        if more.all {
            return None;
        }
        let keys = keys?;
        if more.keys.is_empty() {
            return Some(keys);
        }
        let mut all = keys.to_vec();
        all.extend(&more.keys);
        all.sort_unstable();
        all.dedup();
        Some(all.into())
    }
}

/// An open call that goes by a watch, for as long as it lives.
pub struct Open(Arc<Watch>);

impl Open {
    /// From now on.
    pub fn new(watch: &Arc<Watch>) -> Open {
        watch.open.fetch_add(1, Ordering::SeqCst);
        Open(Arc::clone(watch))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Who watches an object, or some bytes of it.
struct Watcher {
    watch: Weak<Watch>,
    start: usize,
    end: usize,
    /// Whether all that the object leads to is watched as well.
    done: bool,
}

type Watchers = FxHashMap<Key, Vec<Watcher>>;

static WATCHERS: [Spin<Option<Watchers>>; SHARDS] = [const { Spin::new(None) }; SHARDS];

fn watchers<R>(key: Key, f: impl FnOnce(&mut Watchers) -> R) -> R {
    f(WATCHERS[super::shard(key)].lock().get_or_insert_default())
}

/// Takes all locks, before a `fork`.
pub fn hold() {
    WATCHERS.iter().for_each(Spin::hold);
}

/// Gives them back, after it.
pub fn let_go() {
    WATCHERS.iter().for_each(Spin::let_go);
}

/// After a `fork`, in the child: nobody watches anything.
pub fn child(t: &Thread) {
    LATER.store(t.calls.stored.len() as u32, Ordering::SeqCst);
    // What others held is theirs: their locks may be taken for ever.
    for shard in &WATCHERS {
        std::mem::forget(shard.lock().take());
    }
}

/// Whether it does.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Whether stores are to be told.
#[inline]
pub fn are_told() -> bool {
    BEGUN.load(Ordering::Relaxed)
}

/// Has instrumented code tell of stores. The variable may be one of the program's: who is not position-independent has a copy.
fn begin_linking() {
    if BEGUN.load(Ordering::Acquire) {
        return;
    }
    let at: usize;
    // SAFETY: only takes an address.
    unsafe {
        std::arch::asm!(
            "mov {at}, qword ptr [rip + __deadheat_linking@GOTPCREL]",
            at = out(reg) at,
            options(nostack, preserves_flags, pure, readonly)
        );
    }
    // SAFETY: that of the variable, of which all have the same.
    unsafe { &*std::ptr::with_exposed_provenance::<AtomicU8>(at) }.store(1, Ordering::SeqCst);
    // Whoever did not see it has stored what it stored.
    owners::barrier_everywhere();
    BEGUN.store(true, Ordering::Release);
}

#[unsafe(no_mangle)]
static __deadheat_linking: AtomicU8 = AtomicU8::new(0);

/// What is reached from there, watched from now on: as [`reach::from`].
pub(super) fn look(t: &Thread, from: &From, watch: &Arc<Watch>) -> (Option<Vec<Key>>, usize) {
    begin_linking();
    watch_parts(t, from, watch);
    let mut most = 0;
    loop {
        let (keys, words) = reach::from(t, from);
        most = most.max(words);
        let blocks = keys.iter().flatten().filter(|key| key.is_block());
        let new = blocks
            .filter(|key| add(watch, **key, (0, usize::MAX), true))
            .count();
        if new == 0 {
            return (keys, most);
        }
    }
}

/// Watches the parts of stacks and static data that a call looks at.
fn watch_parts(t: &Thread, from: &From, watch: &Arc<Watch>) -> Vec<(Key, usize, usize)> {
    let parts = reach::parts(t, from);
    for (key, start, end) in &parts {
        add(watch, *key, (*start, *end), true);
    }
    parts
}

/// A call that does not look looks at what it is given of the stack in any case: not all stores to stacks are seen.
pub(super) fn look_at_stack(t: &mut Thread, from: &From, watch: &Arc<Watch>) {
    let own = Key::stack(t.stack.1);
    for (key, start, end) in watch_parts(t, from, watch) {
        if key == own {
            for (_, value) in heap_words(start, end) {
                leads_to(t, std::slice::from_ref(watch), value);
            }
        }
    }
}

/// Makes a watch one of the watchers of an object. Whether it was none, or does not know yet what that leads to.
fn add(watch: &Arc<Watch>, key: Key, (start, end): (usize, usize), done: bool) -> bool {
    watchers(key, |all| {
        let list = all.entry(key).or_default();
        let is_it = |other: &&mut Watcher| {
            std::ptr::eq(other.watch.as_ptr(), Arc::as_ptr(watch)) && (other.start, other.end) == (start, end)
        };
        if let Some(known) = list.iter_mut().find(is_it) {
            known.done |= done;
            return false;
        }
        list.retain(|other| other.watch.strong_count() > 0);
        list.push(Watcher {
            watch: Arc::downgrade(watch),
            start,
            end,
            done,
        });
        true
    })
}

/// Whether a watch knows all that an object leads to.
fn is_done(watch: &Arc<Watch>, key: Key) -> bool {
    let is_it = |other: &Watcher| other.done && std::ptr::eq(other.watch.as_ptr(), Arc::as_ptr(watch));
    watchers(key, |all| {
        all.get(&key).is_some_and(|list| list.iter().any(is_it))
    })
}

/// A block is another one now: who watched the old one does not watch it, and looks anew.
pub(super) fn forget(key: Key) {
    let list = watchers(key, |all| all.remove(&key));
    for watch in list
        .iter()
        .flatten()
        .filter_map(|watcher| watcher.watch.upgrade())
    {
        watch.stale.store(true, Ordering::SeqCst);
    }
}

/// Those who watch an address.
fn watching(key: Key, addr: usize) -> Vec<Arc<Watch>> {
    watchers(key, |all| {
        let list = all.get(&key).map(Vec::as_slice).unwrap_or_default();
        let there = list
            .iter()
            .filter(|watcher| (watcher.start..watcher.end).contains(&addr));
        there.filter_map(|watcher| watcher.watch.upgrade()).collect()
    })
}

/// Whether a store there may matter. It has been made.
#[inline]
pub fn may_matter(addr: usize, len: usize) -> bool {
    // Either we see who watches, or they see what was stored.
    fence(Ordering::SeqCst);
    let mut pages = addr >> 12..=(addr + len.max(1) - 1) >> 12;
    pages.any(|page| reach::may_touch(page << 12))
}

/// What an atomic operation has stored: its thread holds a lock of the operation, and follows it when that is over.
static LATER: AtomicU32 = AtomicU32::new(0);

/// Words that were stored, or may have been.
#[derive(Clone, Copy)]
pub enum Stored {
    /// This one, there.
    Word(usize, usize),
    /// All of so many bytes.
    Range(usize, usize),
}

/// Something was stored.
pub fn stored(t: &mut Thread, what: Stored) {
    if t.atomics > 0 {
        LATER.fetch_add(1, Ordering::SeqCst);
        t.calls.stored.push(what);
        return;
    }
    match what {
        Stored::Word(addr, value) => {
            if let Some((key, ..)) = reach::place(t, addr) {
                leads_to(t, &watching(key, addr), value);
            }
        }
        Stored::Range(addr, len) => range(t, addr, len),
    }
}

/// Follows what was stored by atomic operations that are over.
#[cold]
#[inline(never)]
pub fn follow(t: &mut Thread) {
    while let Some(what) = t.calls.stored.pop() {
        stored(t, what);
        LATER.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits for what others have stored by atomic operations and not followed yet. Nobody waits for ever: they may be stopped, or wait
/// for us.
pub(super) fn see_stored(t: &Thread) {
    let own = t.calls.stored.len() as u32;
    let mut wait = Wait::default();
    while LATER.load(Ordering::SeqCst) > own && wait.once() <= 1 << 12 {}
}

fn range(t: &mut Thread, addr: usize, len: usize) {
    let Some((key, start, end)) = reach::place(t, addr) else {
        return;
    };
    let end = end.min(addr.saturating_add(len));
    // Mostly nobody watches it.
    if watchers(key, |all| !all.contains_key(&key)) {
        return;
    }
    for (at, value) in heap_words(addr.max(start), end) {
        leads_to(t, &watching(key, at), value);
    }
}

/// Words that may lead to the heap, and where they are: in a block, stack or segment that can be read.
fn heap_words(start: usize, end: usize) -> Vec<(usize, usize)> {
    let _looking = reach::Looking::begin();
    let hidden = reach::is_hidden(start, end);
    let mut found = Vec::new();
    let mut at = start.next_multiple_of(8);
    while at + 8 <= end && !hidden {
        // SAFETY: the callers know that something is there.
        let value = unsafe { std::ptr::with_exposed_provenance::<usize>(at).read_volatile() };
        if memory::may_be_heap(value) {
            found.push((at, value));
        }
        at += 8;
    }
    found
}

/// Who watches a place where this was stored reaches what it leads to.
fn leads_to(t: &mut Thread, watches: &[Arc<Watch>], value: usize) {
    let Some(to) = reach::block_key(value) else { return };
    let news: Vec<_> = watches.iter().filter(|watch| !is_done(watch, to)).collect();
    if news.is_empty() {
        return;
    }
    let from = From {
        roots: vec![value],
        ..From::default()
    };
    let keys = loop {
        let Some(keys) = reach::from(t, &from).0 else {
            news.iter().for_each(|watch| watch.more.lock().all = true);
            return;
        };
        let adds = |watch: &&Arc<Watch>, key: &&Key| add(watch, **key, (0, usize::MAX), false);
        let new = keys
            .iter()
            .map(|key| news.iter().filter(|watch| adds(watch, &key)).count());
        if new.sum::<usize>() == 0 {
            break keys;
        }
    };
    for watch in news {
        let unknown: Vec<_> = keys.iter().copied().filter(|key| !is_done(watch, *key)).collect();
        watch.more.lock().keys.extend(&unknown);
        // Who begins only now sees what was added.
        if watch.open.load(Ordering::SeqCst) > 0 {
            let shared = not_own(t, watch.slot, unknown.iter().copied());
            leave_at(watch.slot, &shared);
        }
        for key in unknown {
            add(watch, key, (0, usize::MAX), true);
        }
    }
}

/// Leaves at objects what the thread in a slot did before its calls, as if they had reached them all the time.
pub(super) fn leave_at(slot: u32, shared: &[Key]) {
    let inside = Inside::of(slot);
    for &key in shared {
        with(key, |objects| {
            if let (Some(object), Some(published)) =
                (objects.get_mut(&key), &*PUBLISHED[slot as usize].lock())
            {
                hb::leave(&mut object.left, published);
                // If it is in that call, it goes on.
                if inside.still() && !object.open.contains(&inside) {
                    object.open.push(inside);
                }
            }
        });
    }
}
