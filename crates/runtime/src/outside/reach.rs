//! What a call can reach: from its arguments, through the blocks they lead to.
//!
//! Blocks are looked at as a whole, but for pages that nobody has ever touched (`pages.rs`). Where that is too much, the call counts as
//! reaching all. Of static data, the variable is looked at that an argument leads to (`variables.rs`); of the stack, the local
//! variable of the caller, and other local variables that it has pointers to. Which variable an address in the stack
//! belongs to that the caller was given itself nobody knows: then [`LOCAL`] bytes are looked at. What it can miss: pointers
//! further behind, and pointers in mappings and in stacks of others, whose memory may go away at any time; what an argument
//! leads to by way of blocks counts only if it is a block.

use super::{ANY, From, Key, first_wide, library, pages, variables};
use crate::spin::{Spin, Wait};
use crate::thread::Thread;
use crate::{memory, registry, sync, vm};
use deadheat_detect::hb::HbSync;
use rustc_hash::FxHashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};

/// How many objects a call may reach before it counts as reaching all.
const OBJECTS: usize = 2048;
/// How many words are looked at for that.
const WORDS: usize = 1 << 23;
/// A block is found in about the time in which so many words are looked at that lead nowhere.
const FINDING: usize = 64;
/// How much is looked at, in bytes, behind an argument that leads into a stack, if nobody has told which variable is there.
const LOCAL: usize = 64 << 10;
/// The same in static data, at least.
const STATIC: usize = 1024;
/// How many local variables are looked at that pointers in others lead to.
const LOCALS: usize = 64;

/// How many threads look at blocks now.
static LOOKING: AtomicUsize = AtomicUsize::new(0);

/// A bit for each page, by its number modulo [`PAGES`]: set if an object that a call has reached may be there.
static REACHED: [AtomicU64; PAGES / 64] = [const { AtomicU64::new(0) }; PAGES / 64];
const PAGES: usize = 1 << 18;

/// Whether a call has reached [`Key::REST`].
static REST: AtomicBool = AtomicBool::new(false);

/// Memory that cannot be read, in the middle of blocks perhaps: guards of stacks that the program has made.
static HIDDEN: Spin<Vec<(usize, usize)>> = Spin::new(Vec::new());

/// Takes the lock, before a `fork`.
pub fn hold() {
    HIDDEN.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    HIDDEN.let_go();
}

/// Memory is about to become unreadable.
pub fn hide(start: usize, len: usize) {
    HIDDEN.lock().push((start, start.saturating_add(len)));
    may_disappear();
}

/// Memory has become readable.
pub fn show(start: usize, len: usize) {
    let end = start.saturating_add(len);
    let mut all = HIDDEN.lock();
    let touched = |hidden: &(usize, usize)| hidden.0 < end && hidden.1 > start;
    if all.iter().any(touched) {
        let left = |&(from, to): &(usize, usize)| [(from, to.min(start)), (from.max(end), to)];
        let mut now: Vec<_> = all.iter().flat_map(left).filter(|(from, to)| from < to).collect();
        now.sort_unstable();
        now.dedup();
        *all = now;
    }
}

/// What cannot be read. It stays all there is for who looks from before he asks.
pub fn hidden() -> Vec<(usize, usize)> {
    HIDDEN.lock().clone()
}

/// Whether some of it cannot be read.
pub fn is_hidden(start: usize, end: usize) -> bool {
    HIDDEN
        .lock()
        .iter()
        .any(|hidden| hidden.0 < end && hidden.1 > start)
}

/// A block was given back, and its memory may disappear: not under the eyes of somebody who looks at it.
pub fn may_disappear() {
    if !ANY.load(Ordering::Relaxed) {
        return;
    }
    // Either we see that somebody looks, or they see that the block was given back.
    fence(Ordering::SeqCst);
    let mut wait = Wait::default();
    while LOOKING.load(Ordering::SeqCst) != 0 {
        wait.once();
    }
}

/// Remembers where an object is that a call reaches.
fn note(start: usize, end: usize) {
    let (mut page, end) = (start >> 12, ((end - 1) >> 12) + 1);
    // More come round again.
    let end = end.min(page + PAGES);
    while page < end {
        // As many as have their bits in one word.
        let next = end.min((page | 63) + 1);
        let bits = (!0 >> (64 - (next - page))) << (page % 64);
        let word = &REACHED[page % PAGES / 64];
        if word.load(Ordering::Relaxed) & bits != bits {
            word.fetch_or(bits, Ordering::Relaxed);
        }
        page = next;
    }
}

/// After a `fork`, in the child: whoever looked at something is not there.
pub fn child() {
    LOOKING.store(0, Ordering::SeqCst);
}

/// Whether an object that a call has reached may be at this address.
pub fn may_touch(addr: usize) -> bool {
    let page = addr >> 12;
    REACHED[page % PAGES / 64].load(Ordering::Relaxed) >> (page % 64) & 1 != 0
}

/// Whether [`touch`](super::touch) need look at an atomic at this address.
pub fn may_matter(addr: usize) -> bool {
    may_touch(addr) || REST.load(Ordering::Relaxed) && !memory::may_be_heap(addr)
}

/// What atomics carry in an object that a call has reached for the first time, from before.
pub fn carried(t: &Thread, key: Key) -> HbSync {
    let mut carried = HbSync::default();
    if key == Key::REST {
        for addr in sync::carriers(t) {
            if key_of(t, addr) == Some(key) {
                sync::carried_in(t, addr, addr + 1, &mut carried);
            }
        }
    } else if let Some((start, end)) = range(t, key) {
        sync::carried_in(t, start, end, &mut carried);
    }
    carried
}

/// Where an object is.
fn range(t: &Thread, key: Key) -> Option<(usize, usize)> {
    if key.is_block() {
        let (start, block) = memory::block_of(key.0)?;
        return Some((start, start + block.size));
    }
    let addr = key.0 & !0xf;
    if key == Key::data(addr) {
        return library::segment(addr | 0xf).map(|data| (data.start, data.end));
    }
    if key != Key::stack(addr) {
        return None;
    }
    if key == Key::stack(t.stack.1) {
        return Some(t.stack);
    }
    let registry = registry::lock();
    let entry = registry
        .entries
        .iter()
        .rev()
        .find(|entry| key == Key::stack(entry.stack.1));
    entry.map(|entry| entry.stack)
}

/// The object that an address is in, if it can be written.
pub fn key_of(t: &Thread, addr: usize) -> Option<Key> {
    find(t, addr).map(|found| found.key)
}

/// The heap block that an address leads to.
pub fn block_key(addr: usize) -> Option<Key> {
    if !memory::may_be_heap(addr) {
        return None;
    }
    let (start, block) = memory::block_of(addr)?;
    (!block.freed).then(|| Key::block(start))
}

/// The object that an address is in, and where that begins and ends, if calls can reach it.
pub fn place(t: &Thread, addr: usize) -> Option<(Key, usize, usize)> {
    if memory::may_be_heap(addr)
        && let Some((start, block)) = memory::block_of(addr)
    {
        return Some((Key::block(start), start, start + block.size));
    }
    let (start, top) = t.stack;
    if (start..top).contains(&addr) {
        return Some((Key::stack(top), start, top));
    }
    if let Some(data) = library::segment(addr) {
        return data
            .writable
            .then(|| (Key::data(data.start), data.start, data.end));
    }
    let registry = registry::lock();
    let mut entries = registry.entries.iter().rev();
    let stack = entries
        .find(|entry| (entry.stack.0..entry.stack.1).contains(&addr))?
        .stack;
    // What a thread has not used of it may not be readable.
    Some((Key::stack(stack.1), addr, addr))
}

/// The parts of stacks and static data that a call looks at. Local variables that pointers in local variables lead to are among them.
pub fn parts(t: &Thread, from: &From) -> Vec<(Key, usize, usize)> {
    let mut parts: Vec<(Key, usize, usize)> = Vec::new();
    let add = |parts: &mut Vec<(Key, usize, usize)>, root: usize| {
        let Some(seen) = find(t, root).filter(|seen| !seen.key.is_block()) else {
            return;
        };
        let seen = seen.whole(from);
        let part = (seen.key, seen.start, seen.end);
        let known = |other: &(Key, usize, usize)| other.0 == part.0 && other.1 <= part.1 && part.2 <= other.2;
        if seen.end > seen.start && !parts.iter().any(known) {
            parts.push(part);
        }
    };
    for &root in &from.roots {
        add(&mut parts, root);
    }
    let (own, mut at) = (Key::stack(t.stack.1), 0);
    while let Some(&(key, start, end)) = parts.get(at) {
        at += 1;
        if key != own || !from.locals.contains(&(start, end)) {
            continue;
        }
        let mut word = start.next_multiple_of(8);
        while word + 8 <= end && parts.len() < LOCALS {
            // SAFETY: in the own stack, above where it ends.
            let value = unsafe { std::ptr::with_exposed_provenance::<usize>(word).read_volatile() };
            if (stack_pointer()..t.stack.1).contains(&value) && !(start..end).contains(&value) {
                add(&mut parts, value);
            }
            word += 8;
        }
    }
    parts
}

/// An object, and what part of it is to be looked at.
struct Seen {
    key: Key,
    start: usize,
    end: usize,
}

impl Seen {
    /// With all of the variable that it is in, and nothing but that if it is a local one. Where there are no symbols, all data of
    /// the module is one variable.
    fn whole(self, from: &From) -> Seen {
        let addr = self.start;
        if let Some(&(start, end)) = from
            .locals
            .iter()
            .find(|local| (local.0..local.1).contains(&addr))
            && self.key.0 & 0xf == Key::stack(0).0
        {
            return Seen { start, end, ..self };
        }
        if self.key.is_block() || self.end == addr || self.key.0 & 0xf != Key::data(0).0 {
            return self;
        }
        match variables::at(addr) {
            Some((start, len)) => Seen {
                start: start.min(addr),
                end: self.end.max(start + len),
                ..self
            },
            None => self,
        }
    }
}

/// The object at an address.
fn find(t: &Thread, addr: usize) -> Option<Seen> {
    if !is_address(addr) {
        return None;
    }
    if let Some(block) = block_at(addr) {
        return Some(block);
    }
    let (_, top) = t.stack;
    if (stack_pointer()..top).contains(&addr) {
        note(stack_pointer(), top);
        return Some(Seen {
            key: Key::stack(top),
            start: addr,
            end: (addr + LOCAL).min(top),
        });
    }
    if let Some(data) = library::segment(addr) {
        if !data.writable {
            return None;
        }
        note(data.start, data.end);
        return Some(Seen {
            key: Key::data(data.start),
            start: addr,
            end: (addr + STATIC).min(data.end),
        });
    }
    let registry = registry::lock();
    let mut entries = registry.entries.iter().rev();
    let stack = entries.find(|entry| (entry.stack.0..entry.stack.1).contains(&addr));
    let key = match stack.map(|entry| entry.stack) {
        Some((start, end)) => {
            note(start, end);
            Key::stack(end)
        }
        None => {
            REST.store(true, Ordering::SeqCst);
            Key::REST
        }
    };
    // Memory of other threads, and mappings, may go away while it is looked at.
    Some(Seen {
        key,
        start: addr,
        end: addr,
    })
}

/// Nothing is below, and the kernel's addresses are above.
fn is_address(word: usize) -> bool {
    (LOWEST..1 << 47).contains(&word)
}

const LOWEST: usize = 0x1_0000;

/// The lowest byte of the own stack that is in use, about.
pub fn stack_pointer() -> usize {
    let here = 0u8;
    (&raw const here).addr()
}

/// Says that somebody looks, for as long as it lives.
pub struct Looking;

impl Looking {
    /// From now on.
    pub fn begin() -> Looking {
        ANY.store(true, Ordering::SeqCst);
        LOOKING.fetch_add(1, Ordering::SeqCst);
        Looking
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// All objects that a call reaches, or `None` if they are too many; and how many words were looked at, where finding a block
/// counts as [`FINDING`].
pub fn from(t: &Thread, from: &From) -> (Option<Vec<Key>>, usize) {
    // Now, because nobody may wait for the loader while others wait for him.
    for &root in &from.roots {
        let own = (stack_pointer()..t.stack.1).contains(&root);
        if is_address(root) && !own && memory::block_of(root).is_none() {
            library::look(root);
            if library::segment(root).is_some_and(|data| data.writable) {
                // Symbols are read now, if they must be.
                variables::look();
                variables::at(root);
            }
        }
    }
    let mut words = 0;
    let reached = {
        let _looking = Looking::begin();
        search(t, from, &mut words)
    };
    if reached.is_none() {
        first_wide(t);
    }
    (reached, words)
}

/// Objects, each once. Mostly they are few.
#[derive(Default)]
struct Keys {
    all: Vec<Key>,
    /// All of them if they are many.
    set: FxHashSet<Key>,
}

impl Keys {
    const FEW: usize = 16;

    /// Whether it is new.
    fn insert(&mut self, key: Key) -> bool {
        if self.all.len() <= Keys::FEW {
            if self.all.contains(&key) {
                return false;
            }
            if self.all.len() == Keys::FEW {
                self.set.extend(self.all.iter().copied().chain([key]));
            }
        } else if !self.set.insert(key) {
            return false;
        }
        self.all.push(key);
        true
    }
}

fn search(t: &Thread, from: &From, words: &mut usize) -> Option<Vec<Key>> {
    let mut keys = Keys::default();
    let mut parts: Vec<Seen> = Vec::new();
    for &root in &from.roots {
        if let Some(seen) = find(t, root)
            && keys.insert(seen.key)
            && seen.key.is_block()
        {
            parts.push(seen);
        }
    }
    // Several places of a stack may be given, and each leads elsewhere.
    for (key, start, end) in self::parts(t, from) {
        parts.push(Seen { key, start, end });
    }
    let hidden = hidden();
    // Where the last pointer led to: the next may lead there, too.
    let mut last = 0..0;
    while let Some(Seen { start, end, .. }) = parts.pop() {
        // Asking for a page takes about as long as looking at a word.
        *words += (end - start) / vm::PAGE;
        let all = pages::each(start, end, &hidden, |start, end| {
            let mut at = start.next_multiple_of(8);
            while at + 8 <= end {
                *words += 1;
                // SAFETY: in a block that is there and does not go before this is over, in the own stack, or in static data.
                let word = unsafe { std::ptr::with_exposed_provenance::<usize>(at).read_volatile() };
                at += 8;
                if !memory::may_be_heap(word) || last.contains(&word) {
                    continue;
                }
                *words += FINDING;
                let Some(seen) = block_at(word) else { continue };
                last = seen.start..seen.end;
                if keys.insert(seen.key) {
                    parts.push(seen);
                }
                if keys.all.len() > OBJECTS || *words > WORDS {
                    return false;
                }
            }
            *words <= WORDS
        });
        if !all {
            return None;
        }
    }
    if let Some(library) = from.library {
        keys.insert(library);
    }
    Some(keys.all)
}

/// The block that an address is in.
fn block_at(addr: usize) -> Option<Seen> {
    if !memory::may_be_heap(addr) {
        return None;
    }
    let (start, block) = memory::block_of(addr)?;
    if block.freed {
        return None;
    }
    note(start, start + block.size.max(1));
    Some(Seen {
        key: Key::block(start),
        start,
        end: start + block.size,
    })
}

/// Arguments that lead to the same objects, if there are simpler ones: many calls have them in common.
pub fn same_as(t: &Thread, from: &From) -> From {
    let mut roots = Vec::with_capacity(from.roots.len());
    for &root in &from.roots {
        let root = match same_root(t, root) {
            Some(root) if !roots.contains(&root) => root,
            _ => continue,
        };
        roots.push(root);
    }
    From {
        roots,
        locals: from.locals.clone(),
        library: from.library,
    }
}

fn same_root(t: &Thread, root: usize) -> Option<usize> {
    /// Hardly anything is mapped below: mostly these are sizes and the like.
    const LOW: usize = 1 << 32;
    if !is_address(root) {
        return None;
    }
    if memory::may_be_heap(root)
        && let Some((start, block)) = memory::block_of(root)
        && !block.freed
    {
        return Some(start);
    }
    if root < LOW {
        library::look(root);
        if key_of(t, root) == Some(Key::REST) && key_of(t, LOWEST) == Some(Key::REST) {
            return Some(LOWEST);
        }
    }
    Some(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_detect::hb::HbThread;
    use deadheat_event::Slot;

    #[test]
    fn arguments_that_lead_to_the_same_are_the_same() {
        let mut t = Thread::new(180, HbThread::after(Slot(180), 0), true);
        crate::shadow::reserve_once();
        let block = 0x7d20_0000_0000;
        memory::allocated(&mut t, block, 1 << 20, 0);
        let same = |roots: &[usize]| {
            let from = From {
                roots: roots.to_vec(),
                ..From::default()
            };
            same_as(&t, &from).roots
        };
        assert_eq!(same(&[block + 5000, 3, block]), [block]);
        assert_eq!(same(&[70_000, 80_000, block + 1]), [LOWEST, block]);
        let here = (&raw const block).addr();
        assert_eq!(same(&[here, 1 << 50]), [here]);
    }

    #[test]
    fn what_is_readable_again_leaves_the_rest_hidden() {
        let first = 0x7abd_0000_0000;
        hide(first, 0x4000);
        show(first + 0x1000, 0x1000);
        assert!(is_hidden(first, first + 1) && is_hidden(first + 0x2000, first + 0x2001));
        assert!(!is_hidden(first + 0x1000, first + 0x2000));
        show(first - 0x1000, 0x8000);
        assert!(!is_hidden(first, first + 0x4000));
    }

    #[test]
    fn pages_between_those_that_are_known_are_noted_too() {
        let first = 0x7abc_0000_0000;
        note(first + 100, first + 200);
        note(first + 200 * 4096, first + 200 * 4096 + 8);
        assert!(!may_touch(first + 100 * 4096));
        note(first + 300, first + 200 * 4096 + 16);
        assert!((0..=200).all(|page| may_touch(first + page * 4096)));
        assert!(!may_touch(first + 201 * 4096) && !may_touch(first - 1));
    }
}
