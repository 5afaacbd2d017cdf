//! Reports of running programs: real executables, made-up runs.

mod hostile;
mod judging;
mod program;
mod rendering;
mod session;
mod symbols;
