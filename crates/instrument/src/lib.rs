//! Instrumentation of LLVM bitcode at link time. The only crate that touches LLVM.
//!
//! [`module::compile`] takes one module of bitcode and gives an object file. Inside, [`llvm`] owns contexts, modules and
//! target machines, and `pass` finds what to check and changes the code.

mod llvm;
pub mod module;
mod pass;
