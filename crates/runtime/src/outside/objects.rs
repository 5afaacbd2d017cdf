//! What a missing call can reach, as it is recorded: heap blocks, static variables and stacks, from the call's arguments on.
//!
//! Every word of what is reached is looked at, as a conservative garbage collector does. RDIT's optimisation (§4.4.3): what
//! can be reached from an object changes only when a pointer is stored, so a thread looks again only if there was such
//! a store to a page of what it found last time ([`written`]). Stores of recorded code are seen, and so are those of code that the
//! user has left out; those of libraries are not, and as long as one may be at work nothing is remembered. (The paper
//! takes what missing code stores as reached already. It need not be.)

use super::reach::{self, Looking};
use super::variables;
use crate::registry;
use crate::thread::Thread;
use crate::{channel, memory};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// How many objects a call may reach before it counts as reaching all.
const OBJECTS: usize = 4096;
/// How many words are looked at for that.
const WORDS: usize = 1 << 21;
/// How much of what an address in a stack leads to.
const LOCAL: usize = 1024;
/// How many starting points a thread remembers.
const REMEMBERED: usize = 256;

/// An object: first byte and length.
pub type Object = (usize, usize);

/// How often pointers may have been stored to a page, by its number modulo [`PAGES`].
static STORES: [AtomicU32; PAGES] = [const { AtomicU32::new(0) }; PAGES];
const PAGES: usize = 1 << 14;
/// The same for stores anywhere, by who knows whom.
static ANYWHERE: AtomicU32 = AtomicU32::new(0);
/// Threads in code whose stores are not seen.
static UNSEEN: AtomicU32 = AtomicU32::new(0);
/// Whether anything is remembered at all.
static REMEMBERING: AtomicBool = AtomicBool::new(false);

/// What a thread found lately, by what it began with.
#[derive(Default)]
pub struct Found(FxHashMap<Box<[usize]>, Closure>);

struct Closure {
    objects: Option<Vec<Object>>,
    pages: Vec<u16>,
    stores: u64,
}

/// Whether stores must be told.
#[inline(always)]
pub fn is_remembering() -> bool {
    REMEMBERING.load(Ordering::Relaxed)
}

/// Whether a number may be an address.
#[inline(always)]
pub fn is_like_address(word: u64) -> bool {
    (0x1_0000..1 << 47).contains(&word)
}

/// Pointers may have been stored to these bytes, just now.
#[cold]
#[inline(never)]
pub fn written(addr: usize, len: usize) {
    if !is_remembering() || len == 0 {
        return;
    }
    let pages = addr >> 12..=(addr + len - 1) >> 12;
    if pages.clone().count() > PAGES {
        ANYWHERE.fetch_add(1, Ordering::SeqCst);
        return;
    }
    for page in pages {
        STORES[page % PAGES].fetch_add(1, Ordering::SeqCst);
    }
}

/// Code whose stores are not seen begins.
pub fn begin_unseen() {
    UNSEEN.fetch_add(1, Ordering::SeqCst);
}

/// It ends.
pub fn end_unseen() {
    ANYWHERE.fetch_add(1, Ordering::SeqCst);
    UNSEEN.fetch_sub(1, Ordering::SeqCst);
}

/// All objects that a call with these arguments can reach, or `None` if they are too many.
pub fn reached(t: &mut Thread, roots: &[usize]) -> Option<Vec<Object>> {
    // Now, because nobody may wait for the loader while others wait for him.
    variables::look();
    let once = channel::options().calls == Calls::Once;
    let _looking = Looking::begin();
    let mut search = Search::default();
    for &root in roots {
        search.begin_with(t, root);
    }
    search.starts.sort_unstable();
    search.starts.dedup();
    let Search { starts, locals, .. } = &search;
    if !once || UNSEEN.load(Ordering::SeqCst) != 0 {
        let (starts, locals) = (starts.clone(), locals.clone());
        return Search::default()
            .closure(&starts)
            .0
            .map(|objects| joined(objects, &locals));
    }
    REMEMBERING.store(true, Ordering::SeqCst);
    if let Some(closure) = t.log.found.0.get(&starts[..])
        && stores(&closure.pages) == closure.stores
    {
        return closure.objects.clone().map(|objects| joined(objects, locals));
    }
    // Twice, if need be: what is looked at is not known before.
    let mut pages = Vec::new();
    let (objects, before) = loop {
        let before = stores(&pages);
        let (objects, now) = Search::default().closure(starts);
        if std::mem::replace(&mut pages, now.clone()) == now {
            break (objects, before);
        }
    };
    let found = &mut t.log.found.0;
    if found.len() >= REMEMBERED {
        found.clear();
    }
    let closure = Closure {
        objects: objects.clone(),
        pages,
        stores: before,
    };
    found.insert(starts.clone().into(), closure);
    objects.map(|objects| joined(objects, locals))
}

fn joined(mut objects: Vec<Object>, locals: &[Object]) -> Vec<Object> {
    objects.extend(locals);
    objects.sort_unstable();
    objects.dedup();
    objects
}

/// How many stores there were to pages.
fn stores(pages: &[u16]) -> u64 {
    let of = |page: &u16| u64::from(STORES[usize::from(*page)].load(Ordering::SeqCst));
    pages.iter().map(of).sum::<u64>() + u64::from(ANYWHERE.load(Ordering::SeqCst))
}

#[derive(Default)]
struct Search {
    /// Addresses in heap blocks and variables that the search begins with.
    starts: Vec<usize>,
    /// Stacks, and what is none of these.
    locals: Vec<Object>,
}

impl Search {
    /// An argument. Stacks are looked at anew each time: not all stores to them are seen.
    fn begin_with(&mut self, t: &Thread, root: usize) {
        if !is_like_address(root as u64) {
            return;
        }
        if let Some((start, _)) = object_at(root) {
            self.starts.push(start);
            return;
        }
        let Some(((start, end), readable)) = stack_at(t, root) else {
            self.locals.push(MAPPING);
            return;
        };
        self.locals.push((start, end - start));
        if readable {
            self.words(root, (root + LOCAL).min(end), &mut 0);
        }
    }

    /// Objects that words lead to. False if that is too much.
    fn words(&mut self, start: usize, end: usize, words: &mut usize) -> bool {
        if reach::is_hidden(start, end) {
            return true;
        }
        let mut at = start.next_multiple_of(8);
        while at + 8 <= end {
            *words += 1;
            if *words > WORDS {
                return false;
            }
            // SAFETY: in a block that is there and does not go before this is over, in a stack that is there, or in static data.
            let word = unsafe { std::ptr::with_exposed_provenance::<usize>(at).read_volatile() };
            at += 8;
            if is_like_address(word as u64)
                && let Some((start, _)) = object_at(word)
            {
                self.starts.push(start);
            }
        }
        true
    }

    /// All that can be reached from there, if it is not too much, and the pages where that is.
    fn closure(mut self, starts: &[usize]) -> (Option<Vec<Object>>, Vec<u16>) {
        let (mut objects, mut pages): (Vec<Object>, Vec<u16>) = (Vec::new(), Vec::new());
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut words = 0;
        self.starts.extend(starts);
        let mut all = true;
        while let Some(start) = self.starts.pop() {
            if !seen.insert(start) {
                continue;
            }
            let Some((start, len)) = object_at(start) else {
                continue;
            };
            objects.push((start, len));
            pages.extend(
                (start >> 12..=(start + len.max(1) - 1) >> 12)
                    .take(PAGES)
                    .map(|page| (page % PAGES) as u16),
            );
            all = all && objects.len() <= OBJECTS && self.words(start, start + len, &mut words);
            if !all {
                break;
            }
        }
        pages.sort_unstable();
        pages.dedup();
        (all.then_some(objects), pages)
    }
}

/// These bytes and no more.
pub fn exactly(t: &Thread, used: &[Object]) -> Vec<Object> {
    variables::look();
    let mut objects: Vec<Object> = used
        .iter()
        .map(|&(addr, len)| match object_at(addr) {
            // The same bytes may be mapped at several addresses.
            None if stack_at(t, addr).is_none() => MAPPING,
            _ => (addr, len),
        })
        .collect();
    objects.sort_unstable();
    objects.dedup();
    objects
}

/// Memory that the program has mapped itself.
const MAPPING: Object = (super::Key::REST.0 | 1 << 62, 1);

/// The stack that an address is in, and whether it can be looked at.
fn stack_at(t: &Thread, addr: usize) -> Option<((usize, usize), bool)> {
    let within = |stack: &(usize, usize)| (stack.0..stack.1).contains(&addr);
    if within(&t.stack) {
        return Some((t.stack, true));
    }
    let registry = registry::lock();
    let all = registry.entries.iter().enumerate().rev();
    // Those of others may go away while they are looked at, but the first thread's does not.
    all.map(|(id, entry)| (entry.stack, id == 0))
        .find(|(stack, _)| within(stack))
}

/// The heap block or static variable at an address.
fn object_at(addr: usize) -> Option<Object> {
    if memory::may_be_heap(addr)
        && let Some((start, block)) = memory::block_of(addr)
        && !block.freed
    {
        return Some((start, block.size.max(1)));
    }
    variables::at(addr)
}

/// Which missing calls are recorded, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calls {
    /// What they reach is told when it is another.
    #[default]
    Once,
    /// What they reach is found and told each time.
    Each,
    /// None.
    None,
}

impl Calls {
    /// By its name.
    pub fn parse(text: &str) -> Option<Calls> {
        match text {
            "once" => Some(Calls::Once),
            "each" => Some(Calls::Each),
            "none" => Some(Calls::None),
            _ => None,
        }
    }
}
