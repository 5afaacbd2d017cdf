//! Instrumentation of LLVM bitcode at link time. The only crate that touches LLVM.

pub mod module;
