//! Filters: layers that spare a detector the accesses that cannot tell it anything new.
//!
//! | layer | drops an access if | lossless for |
//! |---|---|---|
//! | [`Span`] | the thread made a covering one and has released nothing since | happens-before detectors |
//! | [`TreeStrict`] | the same, but a lock released and taken again by the same thread counts as not released | happens-before detectors |
//! | [`Tree`] | one of its site, place and kind was seen in the same concurrency context | see there: pairs of sites, not detectors with states |
//!
//! A filter answers in [`Detector::admit`](deadheat_event::Detector::admit) and passes everything else on. Synchronisation
//! is never dropped, so the accesses that are left stand in the same order as before. What is remembered is bounded, and
//! forgetting only lets an access pass.

mod contexts;
mod recent;
mod resets;
mod span;
mod strict;
mod tree;

pub use contexts::Label;
pub use span::{Span, SpanThread};
pub use strict::{StrictSync, StrictThread, TreeStrict};
pub use tree::{Options, Tree, TreeSync, TreeThread};

use deadheat_event::SyncOp;

/// Whether the thread passes on what it has done so far: what it does next is told apart from that by somebody.
///
/// A relaxed store after a release fence is not among them: it carries what the fence released, not what came after.
fn is_outgoing(op: SyncOp) -> bool {
    match op {
        SyncOp::Release(..)
        | SyncOp::Enter(_)
        | SyncOp::Send(_)
        | SyncOp::Call(..)
        | SyncOp::Touch(false) => true,
        SyncOp::Store(order) | SyncOp::Update(order) => order.releases(),
        SyncOp::Acquire(..)
        | SyncOp::Load(_)
        | SyncOp::Leave(_)
        | SyncOp::Receive(_)
        | SyncOp::Touch(true) => false,
    }
}
