//! What a missing call can reach, as it is recorded: heap blocks, static variables, stacks and mappings, from the call's arguments on.
//!
//! Every word of what is reached is looked at, as a conservative garbage collector does; of a stack, some behind the address that
//! leads there (`elsewhere.rs`), and nothing of a file. RDIT's optimisation (§4.4.3): what
//! can be reached from an object changes only when a pointer is stored, so a thread looks again only if there was such
//! a store to a page of what it found last time ([`written`]). Stores of recorded code are seen, and so are those of code that the
//! user has left out; those of libraries are not, and as long as one may be at work nothing is remembered. (The paper
//! takes what missing code stores as reached already. It need not be.)

use super::elsewhere::{Elsewhere, Looked, Place};
use super::mappings::{Kind, Mapping};
use super::reach::{self, Looking};
use super::{library, pages, variables};
use crate::thread::Thread;
use crate::{channel, memory, vm};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// How many objects a call may reach before it counts as reaching all.
const OBJECTS: usize = 4096;
/// How many words are looked at for that.
const WORDS: usize = 1 << 21;
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

/// What a call begins with.
#[derive(Clone, Copy, Default)]
pub struct Given<'a> {
    /// Its arguments.
    pub roots: &'a [usize],
    /// The caller's variables that some of them are in: first and last+1 address.
    pub locals: &'a [(usize, usize)],
    /// Static data that it uses besides.
    pub data: &'a [Object],
}

/// All objects that a call can reach, or `None` if they are too many.
pub fn reached(t: &mut Thread, given: Given<'_>) -> Option<Vec<Object>> {
    let Given { roots, locals, data } = given;
    look(roots);
    let once = channel::options().calls == Calls::Once;
    let _looking = Looking::begin();
    let mut search = Search::default();
    for &root in roots {
        search.begin_with(t, root, locals);
    }
    if !search.stacks(t) {
        return None;
    }
    search.starts.extend(data.iter().map(|data| data.0 | DATA));
    search.starts.sort_unstable();
    search.starts.dedup();
    let Search { starts, apart, .. } = &search;
    if !once || UNSEEN.load(Ordering::SeqCst) != 0 {
        return Search::default().closure(t, starts, data).joined(apart);
    }
    REMEMBERING.store(true, Ordering::SeqCst);
    if let Some(closure) = t.log.found.0.get(&starts[..])
        && stores(&closure.pages) == closure.stores
    {
        return closure.objects.clone().map(|objects| joined(objects, apart));
    }
    // Twice, if need be: what is looked at is not known before.
    let mut pages = Vec::new();
    let (reach, before) = loop {
        let before = stores(&pages);
        let reach = Search::default().closure(t, starts, data);
        if !reach.lasts {
            return reach.joined(apart);
        }
        if std::mem::replace(&mut pages, reach.pages.clone()) == reach.pages {
            break (reach, before);
        }
    };
    let found = &mut t.log.found.0;
    if found.len() >= REMEMBERED {
        found.clear();
    }
    let closure = Closure {
        objects: reach.objects.clone(),
        pages,
        stores: before,
    };
    found.insert(starts.clone().into(), closure);
    reach.joined(apart)
}

/// Looks at what is loaded. Before anything else, because nobody may wait for the loader while others wait for him.
fn look(roots: &[usize]) {
    variables::look();
    for &root in roots {
        if is_like_address(root as u64) && object_at(root).is_none() {
            library::look(root);
        }
    }
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

/// Set in the first byte of a mapping where it stands beside those of other objects: a heap block may begin there as well.
const MAPPED: usize = 1 << 63;
/// The same for static data that is looked at as a whole.
const DATA: usize = 1 << 62;

#[derive(Default)]
struct Search {
    /// The first bytes of heap blocks and variables, and with [`MAPPED`] of mappings, that are to be looked at.
    starts: Vec<usize>,
    /// Stacks, and what is none of these.
    apart: Vec<Object>,
    /// Parts of stacks that are to be looked at, and were.
    parts: Vec<(usize, usize)>,
    looked: Looked,
    /// What registers held when threads began whose stacks are looked at.
    left: Vec<usize>,
    in_stack: bool,
    words: usize,
    /// What there is besides, from when it is first asked for.
    elsewhere: Option<Elsewhere>,
}

/// What a search found.
struct Reach {
    /// `None` if it is too much.
    objects: Option<Vec<Object>>,
    /// Where it is.
    pages: Vec<u16>,
    /// Whether it is the same until a pointer is stored to one of these. Not all stores to stacks are seen, nor are those of other processes.
    lasts: bool,
}

impl Reach {
    fn joined(self, apart: &[Object]) -> Option<Vec<Object>> {
        self.objects.map(|objects| joined(objects, apart))
    }
}

impl Search {
    /// An argument.
    fn begin_with(&mut self, t: &Thread, root: usize, locals: &[(usize, usize)]) {
        if !is_like_address(root as u64) {
            return;
        }
        let local = locals.iter().find(|local| (local.0..local.1).contains(&root));
        if self.lead_to(t, root, local.copied()) {
            return;
        }
        // Text, functions and numbers tell nobody anything.
        let constant = library::segment(root).is_some_and(|segment| !segment.writable);
        if !constant && pages::is_mapped(root) {
            self.apart.push(MAPPING);
        }
    }

    /// An address leads to something, in the caller's variable `local` perhaps. Whether it does.
    fn lead_to(&mut self, t: &Thread, addr: usize, local: Option<(usize, usize)>) -> bool {
        if let Some((start, _)) = object_at(addr) {
            self.starts.push(start);
            return true;
        }
        let elsewhere = self.elsewhere.get_or_insert_with(|| Elsewhere::now(t));
        match elsewhere.at(addr) {
            Some(Place::Stack(stack)) => {
                self.apart.push((stack.start, stack.end - stack.start));
                if let Some(part) = local.or_else(|| stack.part(addr)) {
                    self.parts.extend(self.looked.add(part));
                    if let Some((from, to)) = stack.saved() {
                        self.left.extend((from..to).step_by(8).map(|at| word(at & !7)));
                    }
                }
                true
            }
            Some(Place::Mapping(mapping)) => {
                self.starts.push(mapping.start | MAPPED);
                true
            }
            None => false,
        }
    }

    /// Looks at parts of stacks, anew each time: not all stores to them are seen. False if that is too much.
    fn stacks(&mut self, t: &Thread) -> bool {
        while let Some((start, end)) = self.parts.pop() {
            self.left.sort_unstable();
            self.left.dedup();
            self.in_stack = true;
            let all = self.look_at(t, start, end);
            self.in_stack = false;
            if !all {
                return false;
            }
            self.apart.sort_unstable();
            self.apart.dedup();
        }
        true
    }

    /// Objects that the words of a range lead to, where it can be read and anybody has touched it. False if that is too much.
    fn look_at(&mut self, t: &Thread, start: usize, end: usize) -> bool {
        let hidden = reach::hidden();
        pages::visible(start, end, &hidden, &mut |start, end| {
            // Asking for a page takes about as long as looking at a word.
            self.words += (end - start) / vm::PAGE;
            self.words <= WORDS && pages::each(start, end, &[], |start, end| self.words(t, start, end))
        })
    }

    fn words(&mut self, t: &Thread, start: usize, end: usize) -> bool {
        let mut at = start.next_multiple_of(8);
        while at + 8 <= end {
            self.words += 1;
            if self.words > WORDS {
                return false;
            }
            let word = word(at);
            at += 8;
            let left = self.in_stack && self.left.binary_search(&word).is_ok();
            if is_like_address(word as u64) && !left {
                self.lead_to(t, word, None);
            }
        }
        true
    }

    /// All that can be reached from there. `data` is what [`DATA`] stands for.
    fn closure(mut self, t: &Thread, starts: &[usize], data: &[Object]) -> Reach {
        let (mut objects, mut pages): (Vec<Object>, Vec<u16>) = (Vec::new(), Vec::new());
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        self.starts.extend(starts);
        let (mut all, mut lasts) = (true, true);
        while let Some(start) = self.starts.pop() {
            if !seen.insert(start) {
                continue;
            }
            let Some(((start, len), kind)) = self.at_start(t, start, data) else {
                continue;
            };
            // Longer ones than a trace can tell are several.
            let pieces = (0..len).step_by(LONGEST).take(OBJECTS);
            objects.extend(pieces.map(|from| (start + from, LONGEST.min(len - from))));
            pages.extend(
                (start >> 12..=(start + len.max(1) - 1) >> 12)
                    .take(PAGES)
                    .map(|page| (page % PAGES) as u16),
            );
            if kind == Some(Kind::Shared) || kind == Some(Kind::File) {
                objects.push(MAPPING);
                lasts = false;
            }
            let readable = kind != Some(Kind::File);
            all = objects.len() <= OBJECTS
                && (!readable || self.look_at(t, start, start + len))
                && self.stacks(t);
            if !all {
                break;
            }
        }
        pages.sort_unstable();
        pages.dedup();
        lasts = lasts && self.apart.is_empty();
        objects.append(&mut self.apart);
        Reach {
            objects: all.then_some(objects),
            pages,
            lasts,
        }
    }

    /// The object that begins there, and what it holds if it is a mapping.
    fn at_start(&mut self, t: &Thread, start: usize, data: &[Object]) -> Option<(Object, Option<Kind>)> {
        if start & DATA != 0 {
            let whole = data.iter().find(|data| data.0 == start & !DATA);
            return whole.map(|data| (*data, None));
        }
        if start & MAPPED == 0 {
            return object_at(start).map(|object| (object, None));
        }
        let elsewhere = self.elsewhere.get_or_insert_with(|| Elsewhere::now(t));
        let Mapping { start, end, kind } = elsewhere.mapping_at(start & !MAPPED)?;
        Some(((start, end - start), Some(kind)))
    }
}

/// The word at an address in a block, a stack or a mapping that is there and does not go before this is over, or in static data.
fn word(at: usize) -> usize {
    // SAFETY: as the callers see to.
    unsafe { std::ptr::with_exposed_provenance::<usize>(at).read_volatile() }
}

/// These bytes and no more.
pub fn exactly(t: &Thread, used: &[Object]) -> Vec<Object> {
    let roots: Vec<usize> = used.iter().map(|object| object.0).collect();
    look(&roots);
    let mut objects = Vec::with_capacity(used.len());
    let mut elsewhere = None;
    for &(addr, len) in used {
        if object_at(addr).is_some() {
            objects.push((addr, len));
            continue;
        }
        match elsewhere.get_or_insert_with(|| Elsewhere::now(t)).at(addr) {
            // The same bytes may be mapped at several addresses.
            Some(Place::Mapping(mapping)) if mapping.kind != Kind::Private => {
                objects.extend([(addr, len), MAPPING]);
            }
            Some(_) => objects.push((addr, len)),
            None if pages::is_mapped(addr) => objects.extend([(addr, len), MAPPING]),
            None => {}
        }
    }
    objects.sort_unstable();
    objects.dedup();
    objects
}

/// Mapped memory of which nobody knows where it begins and ends, or where else it is mapped.
const MAPPING: Object = (super::Key::REST.0 | 1 << 62, 1);

/// So many bytes an object has at most.
const LONGEST: usize = 1 << 31;

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
