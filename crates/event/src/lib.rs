//! The vocabulary of deadheat: what a program did ([`Event`]), what an algorithm is ([`Detector`]), and what it
//! answers ([`Race`]).
//!
//! This crate knows nothing of traces, clocks, LLVM or reports, and depends on nothing. Detectors (`detect`), trace
//! formats (`trace`) and the on-line runtime all meet here, so that an algorithm is written once and runs on a file
//! as well as inside a program.

mod detector;
mod event;
mod ids;
mod race;
mod stats;
mod tables;

pub use detector::{Access, Detector, Fresh, Prior, Races, SyncOp};
pub use event::{AccessKind, AtomicOp, Event, Indices, MAX_ACCESS, MAX_RANGE, Mode, Op, Order, Place};
pub use ids::{Addr, ArrayId, NameId, ObjectSetId, SiteId, Slot, SyncId, ThreadId};
pub use race::{Race, RaceKind, Rank, Side};
pub use stats::Stats;
pub use tables::{Code, Object, Site, Tables};
