//! What every thread has at hand: the thread-local variable [`NAME`], defined by the runtime, read by instrumented code.
//!
//! It uses the initial-exec model. Its initial value passes every inline test, so that code which runs before the
//! runtime knows the thread is let alone.
//!
//! **Contexts.** A function knows who called it by a number, its *context value*: at entry, a function that has checks or
//! calls computes `value = (tls.context ^ return address) * CONTEXT_FACTOR` (wrapping), and, if it has calls, stores it to
//! `tls.context`; before it returns it puts back what it found. At a landing pad, and after a call that may return twice,
//! it stores its value again, so unwinding and `longjmp` need no more. Equal values mean equal stacks (but for a chance of
//! one in 2⁶³); the runtime walks the stack when it sees a new one, and only then.
//!
//! **Recursion** would make a value for each way through it. So a function that calls itself sets [`RECURSION`] in
//! `tls.context` for the time of that call, and one that finds the bit set takes the value as it is, without the bit, for
//! its own: stacks are equal but for how often, and from which of its lines, a function has called itself. Where a recursion goes
//! through several functions it is the runtime that keeps values few: inside a hook it may put another value into
//! `tls.context`, one that stands for the same callers (`runtime/src/stacks.rs`). So a hook may change it, and a function that
//! stores its value reads it from there for each check.

/// The symbol.
pub const NAME: &str = "__deadheat_tls";

/// Bits all over. Even, so that [`RECURSION`] is 0 in every value; but for that bit, no context is lost by the multiplication.
pub const CONTEXT_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15 << 1;

/// In the caller's context value: it is the same function.
pub const RECURSION: u64 = 1;

const _: () = assert!(CONTEXT_FACTOR & RECURSION == 0 && CONTEXT_FACTOR >> 1 & 1 == 1);

/// The variable.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct Tls {
    /// The thread's epoch as in a shadow word, place and bytes 0; 0 while its accesses need no check.
    pub epoch: u64,
    /// [`crate::shadow::ADDRESS_MASK`], or 0 while accesses need no check.
    pub mask: u64,
    /// [`crate::shadow::BASE`], or the address of [`crate::shadow::TESTED`] zero cells while accesses need no check.
    pub base: u64,
    /// Context value of the function that calls.
    pub context: u64,
    /// The runtime's own record of the thread, 0 if there is none yet.
    pub thread: u64,
    /// Above 0 inside the runtime: its own calls into libc are not the program's.
    pub inside: u32,
    /// How many signals have come while it was inside, and wait until it is not.
    pub pending: u32,
    /// In programs that are recorded: four times the number of missing calls and callbacks that the thread is in, plus [`LEFT_OUT`] if it is in
    /// code that is not to be recorded, plus [`ELSEWHERE`] if it is in code that is not instrumented.
    pub missing: u64,
    /// Whether there is anything in `shared`.
    pub sharing: u64,
    /// Read words of cells that stand for several readers, of which this thread is one, in this epoch, for all bytes of the last: see
    /// [`crate::shadow`]. Each word has one place here; [`NO_WORD`] where there is none.
    pub shared: [u64; SHARED_WORDS],
}

/// How many words [`Tls::shared`] has room for.
pub const SHARED_WORDS: usize = 16;

/// A read word shifted by this, and masked by [`SHARED_MASK`], is where in [`Tls::shared`] it is, in bytes: the lowest bits of its
/// place.
pub const SHARED_SHIFT: u32 = crate::shadow::PLACE_SHIFT - 3;
/// See [`SHARED_SHIFT`].
pub const SHARED_MASK: u64 = (SHARED_WORDS as u64 - 1) * 8;

/// Like no read word.
pub const NO_WORD: u64 = !0;

/// Offset of [`Tls::epoch`].
pub const EPOCH: u64 = core::mem::offset_of!(Tls, epoch) as u64;
/// Offset of [`Tls::mask`].
pub const MASK: u64 = core::mem::offset_of!(Tls, mask) as u64;
/// Offset of [`Tls::base`].
pub const BASE: u64 = core::mem::offset_of!(Tls, base) as u64;
/// Offset of [`Tls::context`].
pub const CONTEXT: u64 = core::mem::offset_of!(Tls, context) as u64;

/// Offset of [`Tls::shared`].
pub const SHARED: u64 = core::mem::offset_of!(Tls, shared) as u64;

/// Offset of [`Tls::missing`].
pub const MISSING: u64 = core::mem::offset_of!(Tls, missing) as u64;
/// See [`Tls::missing`].
pub const LEFT_OUT: u64 = 1;
/// See [`Tls::missing`].
pub const ELSEWHERE: u64 = 2;

const _: () = assert!(EPOCH == 0 && MASK == 8 && BASE == 16 && CONTEXT == 24);
const _: () = assert!(SHARED == 64, "the rest is one cache line");
