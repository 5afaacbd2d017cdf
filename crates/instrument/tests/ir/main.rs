//! Small modules as text, instrumented, and what is in them then.

mod accesses;
mod atomics;
mod calls;
mod harness;
mod left_out;
mod lines;
mod links;
mod loops;
mod neighbours;
mod outside;
mod redundant;
mod speculated;
mod whole;
