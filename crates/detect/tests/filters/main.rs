//! What the filters drop, and that it was not needed.

#[path = "../common/mod.rs"]
mod common;
mod examples;
mod figures;
mod lossless;
mod probe;
mod sections;
