//! Instrumentation of LLVM bitcode at link time. The only crate that touches LLVM.
//!
//! `driver` stands in for the linker: it finds the bitcode among the linker's inputs (`bitcode`, `archive`), has each
//! module compiled (`module`) unless the result is already there (`cache`), and calls the real linker.

pub mod archive;
pub mod bitcode;
pub mod cache;
pub mod driver;
pub mod module;
pub mod program;
