//! Call stacks, interned as a tree: a stack is its innermost frame and the stack of its callers.
//!
//! A function knows its callers by a context value (`abi::tls`). The first time a value is seen the real stack is walked
//! by its unwind tables; from then on the value stands for it.
//!
//! Recursion through several functions can make any number of values. Of such stacks what [`chain`] says is kept, and the first value
//! for which that is kept is the *name* of all others: the runtime puts it into `tls.context` in the place of theirs (`thread/at_hand.rs`), so that
//! what is called from there has values that are known already. Where this does not help (functions that nothing is asked of on the way
//! down), walking is bounded: after [`WHOLE`] values only the innermost [`SHORT`] callers of a new one are kept, after [`ALL`] none.

mod chain;

use crate::intern::{Index, mix};
use crate::loss::{self, Loss};
use crate::vm::Table;
use chain::Chain;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The most frames of a stack.
pub const DEPTH: usize = chain::MOST;
/// Frames of a shortened stack.
const SHORT: usize = 16;
/// How many context values get their whole stack.
const WHOLE: u32 = 50_000;
/// How many get one at all.
const ALL: u32 = 1_000_000;

/// A stack: 0 is empty, or not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stack(pub u32);

const NODES: usize = 1 << 23;

struct Node {
    pc: AtomicU64,
    /// The context value that is the name of the stack, or 0.
    name: AtomicU64,
    callers: AtomicU32,
}

static NODE: Table<Node> = Table::new();
static NODE_COUNT: AtomicU32 = AtomicU32::new(1);
static NODE_INDEX: Index = Index::new();

const CONTEXTS: usize = 1 << 20;

struct Context {
    value: AtomicU64,
    /// The first value with the same callers.
    name: AtomicU64,
    callers: AtomicU32,
}

static CONTEXT: Table<Context> = Table::new();
static CONTEXT_COUNT: AtomicU32 = AtomicU32::new(1);
static CONTEXT_INDEX: Index = Index::new();

const _: () = assert!(ALL < CONTEXTS as u32);

/// Maps the tables ahead of their first use, or says why not.
pub fn reserve() -> Result<(), i32> {
    NODE.reserve(NODES)?;
    CONTEXT.reserve(CONTEXTS)
}

fn node(id: u32) -> &'static Node {
    // SAFETY: ids come from `push`, so they lie within the table; zero bytes are atomics.
    unsafe { &*NODE.at(id as usize, NODES) }
}

fn context(id: u32) -> &'static Context {
    // SAFETY: as above.
    unsafe { &*CONTEXT.at(id as usize, CONTEXTS) }
}

impl Stack {
    /// This stack with one more frame inside. Without room for another it is the stack as it was.
    pub fn push(self, pc: usize) -> Stack {
        let pc = pc as u64;
        let same = |id| {
            let node = node(id);
            node.pc.load(Ordering::Relaxed) == pc && node.callers.load(Ordering::Relaxed) == self.0
        };
        let make = || {
            let id = take(&NODE_COUNT, NODES as u32)?;
            node(id).pc.store(pc, Ordering::Relaxed);
            node(id).callers.store(self.0, Ordering::Relaxed);
            Some(id)
        };
        match NODE_INDEX.find_or_add(mix(mix(0, pc), self.0.into()), same, make) {
            Some(id) => Stack(id),
            None => {
                loss::note(Loss::Stacks);
                self
            }
        }
    }

    /// Its name: `value`, if it has none yet.
    fn name(self, value: u64) -> u64 {
        if self.0 == 0 || value == 0 {
            return value;
        }
        let name = &node(self.0).name;
        match name.compare_exchange(0, value, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => value,
            Err(name) => name,
        }
    }

    /// The frames, innermost first.
    pub fn frames(self) -> impl Iterator<Item = u64> {
        let mut at = self.0;
        std::iter::from_fn(move || {
            if at == 0 {
                return None;
            }
            let node = node(at);
            at = node.callers.load(Ordering::Relaxed);
            Some(node.pc.load(Ordering::Relaxed))
        })
    }
}

/// The next id, if there are fewer than `all`.
pub fn take(count: &AtomicU32, all: u32) -> Option<u32> {
    count
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
            (n < all).then_some(n + 1)
        })
        .ok()
}

/// The callers of a function.
#[derive(Clone, Copy, Debug)]
pub struct Callers {
    /// The stack.
    pub stack: Stack,
    /// The context value that stands for all that have these callers: the one that was asked for, or one from before.
    pub name: u64,
}

/// The callers of the function whose context value is `value`, which is on the stack now at `pc`. `None` if values have
/// run out.
pub fn callers(value: u64, pc: usize) -> Option<Callers> {
    let same = |id| context(id).value.load(Ordering::Relaxed) == value;
    let hash = mix(1, value);
    let id = match CONTEXT_INDEX.find(hash, same) {
        Some(id) => id,
        None => {
            // Walked before any lock is taken: the unwinder may have to wait for the loader's.
            let limit = match CONTEXT_COUNT.load(Ordering::Relaxed) {
                ..WHOLE => DEPTH,
                WHOLE..ALL => {
                    loss::note(Loss::Stacks);
                    SHORT
                }
                _ => return None,
            };
            let (stack, whole) = walk(pc, limit);
            // Of a stack that was cut off, what is kept with one more frame depends on where.
            let name = if whole { stack.name(value) } else { value };
            CONTEXT_INDEX.find_or_add(hash, same, || {
                let id = take(&CONTEXT_COUNT, ALL)?;
                context(id).value.store(value, Ordering::Relaxed);
                context(id).name.store(name, Ordering::Relaxed);
                context(id).callers.store(stack.0, Ordering::Relaxed);
                Some(id)
            })?
        }
    };
    Some(Callers {
        stack: Stack(context(id).callers.load(Ordering::Relaxed)),
        name: context(id).name.load(Ordering::Relaxed),
    })
}

/// Where code that is not instrumented was entered: the return address into instrumented code, and where it stands on
/// the stack.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    slot: usize,
    ip: usize,
}

impl Entry {
    /// Whether the return address is still there. To be asked only by the same thread, with the stack as high as when it
    /// was found: the slot is above that.
    #[inline]
    pub fn still(self) -> bool {
        // SAFETY: on this thread's stack, in the frame of a caller.
        self.slot != 0 && unsafe { std::ptr::with_exposed_provenance::<usize>(self.slot).read() } == self.ip
    }
}

/// The callers of the code at `pc`, which is not instrumented, is on the stack now, and was called, at whatever remove,
/// by the function whose context value is `value`.
pub fn outside(value: u64, pc: usize) -> (Option<Stack>, Entry) {
    let mut search = Search {
        pc,
        found: false,
        len: 0,
        between: [0; BETWEEN],
        entry: None,
    };
    // SAFETY: the callback gets the pointer back while `search` lives.
    unsafe { _Unwind_Backtrace(search_frame, (&raw mut search).cast()) };
    let (callers, entry) = match search.entry {
        Some(entry) => match callers(value, entry.ip) {
            Some(callers) => (callers.stack.push(entry.ip), entry),
            None => return (None, entry),
        },
        None => (Stack::default(), Entry::default()),
    };
    let between = search.between[..search.len.min(BETWEEN)].iter().rev();
    let callers = between.fold(callers, |callers, ip| callers.push(*ip));
    (Some(callers), entry)
}

/// The most frames between an entry and the code that was entered, of which the innermost are kept.
const BETWEEN: usize = 64;
/// How far the entry is looked for.
const FAR: usize = 4 * DEPTH;

struct Search {
    pc: usize,
    found: bool,
    len: usize,
    between: [usize; BETWEEN],
    entry: Option<Entry>,
}

// SAFETY of calling it: only the unwinder does, with a frame and what `outside` passed.
unsafe extern "C" fn search_frame(frame: *mut c_void, search: *mut c_void) -> i32 {
    // SAFETY: `search` is what `outside` passed, `frame` what the unwinder did.
    let (search, ip, cfa) = unsafe {
        let search = &mut *search.cast::<Search>();
        (search, _Unwind_GetIP(frame), _Unwind_GetCFA(frame))
    };
    if !search.found {
        search.found = ip == search.pc;
        return NO_REASON;
    }
    if ip == 0 || search.len == FAR {
        return END_OF_STACK;
    }
    if crate::code::instrumented(ip) {
        // The unwinder's idea of a frame's address is where its callee has put the return address.
        let slot = cfa.wrapping_sub(size_of::<usize>());
        // SAFETY: on this thread's stack.
        let stands = unsafe { std::ptr::with_exposed_provenance::<usize>(slot).read() } == ip;
        let slot = if stands { slot } else { 0 };
        search.entry = Some(Entry { slot, ip });
        return END_OF_STACK;
    }
    if let Some(between) = search.between.get_mut(search.len) {
        *between = ip;
    }
    search.len += 1;
    NO_REASON
}

struct Walk {
    pc: usize,
    found: bool,
    /// Where the function begins that is at `pc`, as long as it is its own caller.
    function: usize,
    chain: Chain,
    whole: bool,
}

// SAFETY: as the unwinder declares them.
unsafe extern "C" {
    fn _Unwind_Backtrace(
        frame: unsafe extern "C" fn(*mut c_void, *mut c_void) -> i32,
        with: *mut c_void,
    ) -> i32;
    fn _Unwind_GetIP(frame: *mut c_void) -> usize;
    fn _Unwind_GetRegionStart(frame: *mut c_void) -> usize;
    fn _Unwind_GetCFA(frame: *mut c_void) -> usize;
}

const NO_REASON: i32 = 0;
const END_OF_STACK: i32 = 5;

// SAFETY of calling it: only the unwinder does, with a frame and what `walk` below passed.
unsafe extern "C" fn frame(frame: *mut c_void, walk: *mut c_void) -> i32 {
    // SAFETY: `walk` is what `walk` below passed, `frame` what the unwinder did.
    let (walk, ip) = unsafe { (&mut *walk.cast::<Walk>(), _Unwind_GetIP(frame)) };
    if !walk.found && ip != walk.pc {
        return NO_REASON;
    }
    // SAFETY: as above.
    let function = unsafe { _Unwind_GetRegionStart(frame) };
    if !walk.found {
        (walk.found, walk.function) = (true, function);
        return NO_REASON;
    }
    // How often a function has called itself is not in its context value.
    if function == walk.function && function != 0 {
        return NO_REASON;
    }
    walk.function = 0;
    if ip == 0 {
        return END_OF_STACK;
    }
    walk.whole = walk.chain.add(function, ip);
    if walk.whole { NO_REASON } else { END_OF_STACK }
}

/// Walks the stack from the frame that is at `pc`, which is left out. Whether it was walked to its end.
fn walk(pc: usize, limit: usize) -> (Stack, bool) {
    let mut walk = Walk {
        pc,
        found: false,
        function: 0,
        chain: Chain::new(limit),
        whole: true,
    };
    // SAFETY: the callback gets the pointer back while `walk` lives.
    unsafe { _Unwind_Backtrace(frame, (&raw mut walk).cast()) };
    let frames = walk.chain.frames();
    let stack = frames.fold(Stack::default(), Stack::push);
    (stack, walk.whole)
}

/// Takes all locks, before a `fork`.
pub fn hold() {
    CONTEXT_INDEX.hold();
    NODE_INDEX.hold();
}

/// Gives them back, after it.
pub fn let_go() {
    NODE_INDEX.let_go();
    CONTEXT_INDEX.let_go();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_has_its_frames_innermost_first_and_equal_ones_are_one() {
        let stack = Stack::default().push(1).push(2).push(3);
        assert_eq!(stack.frames().collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(Stack::default().push(1).push(2).push(3), stack);
        assert_ne!(Stack::default().push(2).push(2).push(3), stack);
    }
}
