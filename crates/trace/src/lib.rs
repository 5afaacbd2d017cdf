//! Traces: reading, writing, checking and making them.
//!
//! | module | holds |
//! |---|---|
//! | [`dht`] | the binary format |
//! | [`text`] | the one-event-a-line format for people and tests |
//! | [`recipe`] | small random well-formed traces that shrink, for property tests |
//!
//! All readers are a [`Source`] and all writers a [`Sink`]. Input is never trusted: whatever the bytes, a reader answers
//! with events, an error or a partial trace, in memory bounded by what is alive at one time. Nothing here knows what a
//! detector is.

pub mod dht;
mod error;
mod intern;
mod lines;
pub mod recipe;
mod source;
pub mod text;

pub use error::{Error, Result};
pub use intern::Interner;
pub use source::{Format, Place, Position, Sink, Source, Truncation, copy, read_all};
pub use text::parse;
