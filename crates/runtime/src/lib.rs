//! The library that runs inside instrumented programs: shadow memory, threads, interceptors, reports.
//!
//! Ground rules:
//! - A thread that is inside the runtime (`tls.inside`) is let through everywhere else: what the runtime calls in libc is
//!   not the program's, and a signal handler that interrupts it is not checked.
//! - The runtime's memory comes from the kernel, never from the program's heap ([`alloc`]).
//! - Locks are spin locks, held for a moment, and all taken around a `fork` ([`fork`]).
//! - Nothing is written but through [`channel`] and, where there is no reporter to tell it, [`log`].

pub mod alloc;
pub mod amid;
pub mod ample;
pub mod cell;
pub mod channel;
pub mod checks;
pub mod code;
pub mod confined;
pub mod counts;
#[cfg(test)]
mod exact;
pub mod exit;
pub mod fork;
pub mod heard;
pub mod hooks;
pub mod init;
pub mod intercept;
pub mod intern;
pub mod layout;
pub mod limits;
pub mod loads;
pub mod locks;
pub mod log;
pub mod loss;
pub mod memory;
#[cfg(test)]
mod models;
pub mod modules;
pub mod openmp;
pub mod options;
pub mod outside;
pub mod owners;
pub mod palette;
pub mod partly;
pub mod places;
pub mod plain;
pub mod pool;
pub mod quick;
pub mod races;
pub mod readers;
pub mod record;
pub mod registry;
pub mod reporter;
pub mod rules;
pub mod runs;
pub mod shadow;
pub mod short;
mod side;
pub mod spin;
pub mod stacks;
pub mod steer;
#[cfg(test)]
mod stress;
pub mod stretches;
pub mod summary;
mod sweeps;
pub mod sync;
pub mod terms;
pub mod this;
pub mod thread;
pub mod tls;
pub mod vm;
