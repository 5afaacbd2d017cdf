//! Programs under observation: building them with instrumentation, running them, reporting what the runtime says.
//!
//! ```text
//! check, cargo ──▶ compilers ──▶ shim (as their linker) ──▶ instrument::driver
//!       └────────▶ the program, with the runtime in it ──wire lines──▶ listen ──▶ report
//! record ────────▶ the same, built to be recorded ───────spill file──▶ merge ───▶ trace
//! ```

pub mod cargo;
pub mod cc;
pub mod check;
mod collect;
pub mod compilers;
pub mod explain;
pub mod home;
mod listen;
mod merge;
mod objects;
pub mod record;
mod replay;
pub mod reporter;
mod run;
mod rustflags;
pub mod settings;
pub mod shim;

pub use listen::{render, write};
