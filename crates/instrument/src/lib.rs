//! Instrumentation of LLVM bitcode at link time. The only crate that touches LLVM.
//!
//! [`driver`] stands in for the linker: it finds the bitcode among the linker's inputs ([`bitcode`], [`archive`]), has each
//! module compiled unless the result is already there ([`cache`]), and calls the real linker.
//!
//! [`module::compile`] takes one module of bitcode and gives an object file. Inside, `llvm` owns contexts, modules and
//! target machines, `effects` knows what the functions of the whole link do to other threads, and `pass` finds what to
//! check and changes the code.

pub mod archive;
pub mod bitcode;
pub mod cache;
pub mod decisions;
pub mod driver;
pub mod effects;
mod llvm;
pub mod module;
mod pass;
pub mod program;
pub mod select;
