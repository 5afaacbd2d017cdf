//! Traces: reading, writing, checking and making them.
//!
//! | module | holds |
//! |---|---|
//! | [`dht`] | the binary format |
//! | [`rapid`] | RAPID's text format |
//! | [`roadrunner`] | what RoadRunner prints, to read |
//! | [`text`] | the one-event-a-line format for people and tests |
//! | [`validate`](mod@validate) | is a trace well-formed? |
//! | [`generate`] | random traces of any length, by seed |
//! | [`recipe`] | small random well-formed traces that shrink, for property tests |
//!
//! All readers are a [`Source`] and all writers a [`Sink`]; [`open`] and [`create`] choose by format. Input is never
//! trusted: whatever the bytes, a reader answers with events, an error or a partial trace, in memory bounded by what is
//! alive at one time. Nothing here knows what a detector is.

pub mod dht;
mod error;
pub mod generate;
mod intern;
mod lines;
mod open;
pub mod rapid;
pub mod recipe;
pub mod roadrunner;
mod source;

pub mod text;
pub mod validate;

pub use error::{Error, Result};
pub use intern::Interner;
pub use open::{create, create_as, open, open_as, recognise};
pub use source::{Format, Place, Position, Sink, Source, Truncation, copy, read_all};
pub use text::parse;
pub use validate::{Validator, Violation, validate};
