//! What instrumented code, the runtime and the reporter agree on: names, layouts, numbers.
//!
//! `instrument` makes code that calls these names and reads these offsets, `runtime` defines them, and `report` reads
//! the lines of [`wire`]. Nothing is written down twice: a change here changes all of them, and the version in
//! [`VERSION`] keeps objects of another version out of the cache and out of the link.

#![no_std]

extern crate alloc;

pub mod also;
pub mod atomics;
pub mod callee;
pub mod footprint;
pub mod hooks;
pub mod options;
pub mod shadow;
pub mod spill;
pub mod steer;
pub mod stretches;
pub mod tls;
pub mod wire;

/// Raised with every change of what is defined here. Part of the cache key and of the runtime's file name.
pub const VERSION: u32 = 8;
