//! Races of other schedules than the observed one, each with a schedule that shows it.
//!
//! ```text
//! events ──windows──▶ Graph: what every schedule must keep
//!                       │
//!                 candidates: conflicting pairs, one of each pair of program locations
//!                       │
//!     Query::new drops · keep_order confirms · Query::close refutes · the solver decides
//!                       │
//!                 a schedule ──check: independent──▶ Prediction
//! ```
//!
//! [`Model::Mc`] is maximal causality (Huang, Meredith and Rosu, "Maximal sound predictive race detection with control flow
//! abstraction", PLDI 2014): every schedule that any program could have run that ran the observed one. [`Model::Rdit`]
//! adds BarrierPairs for calls into untraced code. [`Model::Hb`] and [`Model::Cp`] are the races among those of
//! [`Model::Mc`] that happens-before and causally-precedes leave unordered.
//!
//! What it can miss: pairs further apart than a window, pairs for which time ran out (they are counted), and schedules that
//! need other values, branches or rounds of barriers than the observed ones.

mod calls;
mod candidates;
mod causal;
mod cells;
pub mod check;
mod footprint;
mod graph;
mod model;
mod past;
mod predict;
mod query;
mod run;
mod solve;
mod steps;
mod window;

pub use candidates::{Location, Pair};
pub use model::{Model, SolverName};
pub use predict::{Found, Options, Outcome, Prediction, Undecided, Witness, look};
pub use run::{Predictions, Step, Stopped, predict};
pub use window::{Window, Windows};
