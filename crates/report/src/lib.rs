//! From races to what people and tools read.
//!
//! ```text
//! Race ──Collector──▶ Finding ──Suppressions, Baseline──▶ Report ──▶ text, JSON, SARIF
//! ```
//!
//! A [`Collector`] takes races as they are found and keeps one of each pair of program locations. Its [`Finding`]s are
//! plain data with all names resolved; [`text`], [`json`] and [`sarif`] only print them. This crate knows nothing of
//! trace formats, detectors or command lines: whoever finds races, off-line or in a running program, reports them here.
//!
//! What it can miss: two races whose accesses stand at the same pair of program locations are one finding, even if they
//! are on different variables. The finding says how often it was seen.

mod baseline;
mod collect;
mod error;
pub mod json;
mod model;
mod names;
pub mod sarif;
mod source;
mod suppress;
pub mod text;

pub use baseline::Baseline;
pub use collect::{Collector, Labels};
pub use error::Error;
pub use model::{Access, Elements, Finding, Frame, Location, Lock, Operation, Report, Summary, Thread, What};
pub use source::Sources;
pub use suppress::Suppressions;
