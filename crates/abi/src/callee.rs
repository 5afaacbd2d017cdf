//! Functions that a module calls but does not define: is what they do seen?
//!
//! For each such function, instrumented code has a [`Callee`] named by [`PREFIX`] and the function's name, a weak symbol.
//! A call is surrounded by two tests of its state, and where that is not [`INSIDE`] by the hooks `CALL_BEGIN` and
//! `CALL_END` ([`crate::hooks`]). The module that *defines* the function, if it is instrumented, has a strong symbol of the
//! name, which begins with [`INSIDE`]: the linker then picks that, and calls within one link cost two loads. What is left
//! the runtime looks up at the first call.

use core::ffi::{c_char, c_void};
use core::sync::atomic::AtomicU64;

/// Put before the function's name.
pub const PREFIX: &str = "__deadheat_callee.";

/// Nobody has looked yet.
pub const UNKNOWN: u64 = 0;
/// Instrumented, or known to the runtime in another way: its calls are like any others.
pub const INSIDE: u64 = 1;
/// The runtime is told of each call: [`OUTSIDE`] and numbers above it are the runtime's.
pub const OUTSIDE: u64 = 2;

/// In programs that are recorded: left out by the user, and what it does is not known.
pub const EXCLUDED: u64 = 3;
/// The same, and it is known to work on nothing but its arguments.
pub const EXCLUDED_ARGUMENTS: u64 = 4;

/// A function as a module that calls it knows it.
#[repr(C)]
#[derive(Debug)]
pub struct Callee {
    /// One of the numbers above.
    pub state: AtomicU64,
    /// Its name, with a zero at the end.
    pub name: *const c_char,
    /// Where it is.
    pub function: *const c_void,
}

const _: () = assert!(core::mem::offset_of!(Callee, state) == 0 && size_of::<Callee>() == 24);

/// How many pointers the hooks take at once.
pub const POINTERS: usize = 4;
