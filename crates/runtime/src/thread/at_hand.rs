//! Places that a thread has seen lately, so that most are found without the table of all of them (`places.rs`).

use super::{Thread, zeroed_box};
use crate::code;
use crate::locks::LockSet;
use crate::places::{self, At, Place};
use crate::stacks::{self, Entry};
use deadheat_abi::tls::CONTEXT_FACTOR;

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
const HERE: usize = 16;

/// Where instrumented code called something that is no access.
#[derive(Clone, Copy, Default)]
struct Here {
    context: u64,
    /// 0 for none.
    pc: usize,
    place: Place,
}

/// Where a call's place is.
#[inline(always)]
fn here(context: u64, pc: usize) -> usize {
    let hash = (context ^ pc as u64).wrapping_mul(CONTEXT_FACTOR);
    (hash >> (64 - HERE.trailing_zeros())) as usize % HERE
}

/// Where an access's place is, whose pc and locks are `rest`.
#[inline(always)]
fn one(context: u64, rest: u64) -> usize {
    let hash = (context ^ rest).wrapping_mul(CONTEXT_FACTOR);
    (hash >> (64 - CACHED.trailing_zeros())) as usize % CACHED
}

/// Places seen lately by a thread: direct-mapped, so a look-up is a few instructions.
pub struct Places {
    /// Direct-mapped by a hash of all that makes a place.
    pub one: Box<[Cached; CACHED]>,
    outside: Box<[CachedOutside; OUTSIDE]>,
    each: Box<[CachedEach; EACH]>,
    /// The same of calls.
    here: [Here; HERE],
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

    /// The id of a place whose pc and locks are `rest`, if it is at hand.
    #[inline(always)]
    pub fn at_hand(&self, context: u64, rest: u64) -> Option<Place> {
        let cached = &self.one[one(context, rest)];
        (cached.context == context && cached.rest == rest).then_some(cached.place)
    }

    /// Has it at hand from now on.
    fn keep(&mut self, context: u64, rest: u64, place: Place) {
        self.one[one(context, rest)] = Cached { context, rest, place };
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
        let hash = (at.context ^ at.pc as u64 ^ from as u64).wrapping_mul(CONTEXT_FACTOR);
        let cached = &mut self.outside[(hash >> 56) as usize % OUTSIDE];
        let key = (at.context, at.pc, from);
        if cached.key != key || called == 0 && !cached.entry.still() {
            let (stack, entry) = if called == 0 {
                stacks::outside(at.context, at.pc)
            } else {
                let callers = stacks::callers(at.context, called);
                (
                    callers.map(|callers| callers.stack.push(called)),
                    Entry::default(),
                )
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

impl Thread {
    /// The place of an access that is being made now.
    #[inline(always)]
    pub fn place(&mut self, context: u64, pc: usize, free: bool) -> Place {
        // Where the set of locks is not known there is no such place.
        match self.places.at_hand(context, pc as u64 | self.locks) {
            Some(place) if !free => place,
            _ => self.place_anew(context, pc, free),
        }
    }

    #[inline(never)]
    fn place_anew(&mut self, context: u64, pc: usize, free: bool) -> Place {
        let locks = self.held.set();
        if !self.far {
            self.locks = locks.in_place();
        }
        self.find(At {
            context,
            pc,
            locks,
            free,
        })
    }

    #[inline]
    fn find(&mut self, at: At) -> Place {
        let rest = at.pc as u64 | at.locks.in_place() | u64::from(at.free) << 63;
        match self.places.at_hand(at.context, rest) {
            Some(place) => place,
            None => self.find_in_all(at, rest),
        }
    }

    #[inline(never)]
    fn find_in_all(&mut self, at: At, rest: u64) -> Place {
        let mut context = at.context;
        let callers = places::have_callers()
            .then(|| stacks::callers(context, at.pc))
            .flatten();
        if let Some(callers) = callers
            && self.rename(context, callers.name)
        {
            context = callers.name;
            if let Some(place) = self.places.at_hand(context, rest) {
                return place;
            }
        }
        let place = Place::with_callers(at, callers.map(|callers| callers.stack));
        self.places.keep(context, rest, place);
        place
    }

    /// Gives the function that called last the context value that is the name of its callers. Whether it has got one: not if it has it
    /// already, nor if it has not stored its own, so that nobody asks for it again.
    fn rename(&mut self, context: u64, name: u64) -> bool {
        let renamed = context != name && self.context() == context;
        if renamed {
            // SAFETY: the variable of this thread: the context that it has was asked for.
            unsafe { (*self.tls).context = name };
        }
        renamed
    }

    /// The place of something that is no access: in the program's function that called last, or in code that it called
    /// and that is not instrumented.
    #[inline]
    pub fn place_here(&mut self, pc: usize) -> Place {
        let context = self.context();
        let known = self.places.here[here(context, pc)];
        if (known.context, known.pc) == (context, pc) {
            return known.place;
        }
        self.find_here(context, pc)
    }

    #[inline(never)]
    fn find_here(&mut self, context: u64, pc: usize) -> Place {
        let at = At {
            context,
            pc,
            locks: LockSet::NONE,
            free: false,
        };
        if !code::instrumented(pc) {
            return self.places.find_outside(at);
        }
        let place = self.find(at);
        // It may have another one now.
        let context = self.context();
        self.places.here[here(context, pc)] = Here { context, pc, place };
        place
    }
}
