//! Race detection algorithms, the layers around them, and the driver that runs them over a trace.
//!
//! Every detector implements [`deadheat_event::Detector`] and knows nothing of files, LLVM or reports. [`Driver`] runs
//! one over a sequence of events; [`reference`](mod@reference) is the slow, obvious answer that all are compared with.

pub mod baseline;
pub mod clock;
pub mod compress;
pub mod djit;
mod driver;
mod elements;
pub mod eraser;
pub mod fasttrack;
pub mod filter;
pub mod goldilocks;
pub mod hb;
pub mod history;
mod keyed;
mod layer;
pub mod lockset;
pub mod multirace;
mod objects;
pub mod once;
pub mod reference;
// Not for unit tests: it would be all combinations once more. `tests/select.rs` tests it.
#[cfg(all(feature = "select", not(test)))]
pub mod select;
pub mod shadow;
mod threads;
pub mod vc;
mod weight;

pub use driver::{Analysis, Driver};
pub use elements::{Elements, check_each};
pub use weight::{MAX_WEIGHT, weight};
