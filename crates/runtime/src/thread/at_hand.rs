//! Places that a thread has seen lately, so that most are found without the table of all of them (`places.rs`).

use super::zeroed_box;
use crate::places::{At, Place};
use crate::stacks::{self, Entry};

/// How many places a thread has at hand. A place has the locks held in it, so a table with a lock for each stripe has as many as
/// its code has, times the stripes.
pub const CACHED: usize = 4096;

/// Read in [`crate::quick`], too.
#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
pub struct Cached {
    context: u64,
    /// pc, locks and whether it is a free.
    rest: u64,
    place: Place,
}

/// How many places made of two it has at hand.
const EACH: usize = 512;

#[derive(Clone, Copy, Default)]
struct CachedEach {
    old: Place,
    new: Place,
    mask: u8,
    both: Place,
}

const OUTSIDE: usize = 256;

#[derive(Clone, Copy, Default)]
struct CachedOutside {
    /// Context value, pc, and how high the stack was, or where the program's call was.
    key: (u64, usize, usize),
    entry: Entry,
    place: Place,
}

/// How many places of calls a thread has at hand.
pub const HERE: usize = 16;

/// Where instrumented code called something that is no access.
#[derive(Clone, Copy, Default)]
pub struct Here {
    /// The context value.
    pub context: u64,
    /// 0 for none.
    pub pc: usize,
    /// The id.
    pub place: Place,
}

/// Places seen lately by a thread: direct-mapped, so a look-up is a few instructions.
pub struct Places {
    /// Direct-mapped by a hash of all that makes a place.
    pub one: Box<[Cached; CACHED]>,
    outside: Box<[CachedOutside; OUTSIDE]>,
    each: Box<[CachedEach; EACH]>,
    /// The same of calls.
    pub here: [Here; HERE],
    /// Where the program has called the code that is not instrumented and runs now, if that is known; otherwise 0.
    pub called: usize,
}

impl Places {
    /// None.
    pub fn new() -> Places {
        Places {
            // SAFETY: numbers, here and below.
            one: unsafe { zeroed_box() },
            // SAFETY: as above.
            outside: unsafe { zeroed_box() },
            // SAFETY: as above.
            each: unsafe { zeroed_box() },
            here: [Here::default(); HERE],
            called: 0,
        }
    }

    /// The id of a place.
    #[inline]
    pub fn find(&mut self, at: At) -> Place {
        let rest = at.pc as u64 | at.locks.in_place() | u64::from(at.free) << 63;
        let hash = (at.context ^ rest).wrapping_mul(deadheat_abi::tls::CONTEXT_FACTOR);
        let cached = &mut self.one[(hash >> (64 - CACHED.trailing_zeros())) as usize % CACHED];
        if cached.context != at.context || cached.rest != rest {
            *cached = Cached {
                context: at.context,
                rest,
                place: Place::of(at),
            };
        }
        cached.place
    }

    /// The same if it is at hand, of a place whose pc and locks are `rest`.
    #[inline(always)]
    pub fn at_hand(&self, context: u64, rest: u64) -> Option<Place> {
        let hash = (context ^ rest).wrapping_mul(deadheat_abi::tls::CONTEXT_FACTOR);
        let cached = &self.one[(hash >> (64 - CACHED.trailing_zeros())) as usize % CACHED];
        (cached.context == context && cached.rest == rest).then_some(cached.place)
    }

    /// The id of a place in code that is not instrumented. The stack is walked unless it is known where that was called, or the stack was
    /// as high, and the return address into instrumented code the same, when the place was seen last.
    #[inline(never)]
    pub fn find_outside(&mut self, at: At) -> Place {
        let height: usize;
        // SAFETY: reads a register.
        unsafe { core::arch::asm!("mov {}, rsp", out(reg) height, options(nomem, nostack, preserves_flags)) };
        let called = self.called;
        let from = if called == 0 { height } else { called };
        let hash = (at.context ^ at.pc as u64 ^ from as u64).wrapping_mul(deadheat_abi::tls::CONTEXT_FACTOR);
        let cached = &mut self.outside[(hash >> 56) as usize % OUTSIDE];
        let key = (at.context, at.pc, from);
        if cached.key != key || called == 0 && !cached.entry.still() {
            let (stack, entry) = if called == 0 {
                stacks::outside(at.context, at.pc)
            } else {
                let callers = stacks::callers(at.context, called);
                (callers.map(|callers| callers.push(called)), Entry::default())
            };
            *cached = CachedOutside {
                key,
                entry,
                place: Place::with_callers(at, stack),
            };
        }
        cached.place
    }

    /// [`Place::with`].
    #[inline]
    pub fn with(&mut self, old: Place, new: Place, mask: u8) -> Place {
        let hash = (old.0 ^ new.0.rotate_left(11) ^ u32::from(mask) << 3).wrapping_mul(0x9e37_79b9);
        let cached = &mut self.each[(hash >> (32 - EACH.trailing_zeros())) as usize % EACH];
        if (cached.old, cached.new, cached.mask) != (old, new, mask) {
            *cached = CachedEach {
                old,
                new,
                mask,
                both: old.with(new, mask),
            };
        }
        cached.both
    }
}

impl Default for Places {
    fn default() -> Self {
        Places::new()
    }
}
