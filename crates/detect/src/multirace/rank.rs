//! How likely a violation of the locking discipline is to be a race in another run (MultiRace §5, which gives the
//! idea but no measure).
//!
//! The two accesses are ordered in this run. What matters is by what:
//! - by threads created or waited for, barriers or messages: other schedules keep these, so [`Rank::Low`];
//! - else by locks and atomics, and the *hand-overs* count: the releases that the earlier thread made after its
//!   access, up to and including the last one that the later thread has heard of. With one, the order came about by
//!   who took a lock first ([`Rank::High`]); with up to [`SOME`], [`Rank::Medium`]; with more, the two accesses are
//!   far apart and probably ordered in every run ([`Rank::Low`]).
//!
//! A rank is a hint: for barriers, rounds are not told apart, so a thread that is slow to leave one may be taken to
//! be firmly behind what a fast one did before it entered the next.

use crate::clock::VectorClock;
use crate::hb::HbThread;
use deadheat_event::{Prior, Rank, SyncOp};

/// The most hand-overs that are still "some".
pub const SOME: u64 = 4;

/// What is before a thread in every schedule: the times of happens-before, but from forks, joins, barriers and messages
/// only.
#[derive(Clone, Debug, Default)]
pub struct Firm(VectorClock);

/// What a barrier or channel hands on of it.
#[derive(Clone, Debug, Default)]
pub struct FirmSync(VectorClock);

impl Firm {
    /// Learns all that is firmly before `other` now, and what `other` itself did.
    pub fn learn(&mut self, other: &Firm, hb: &HbThread) {
        self.0.join(&other.0);
        self.0.raise(hb.slot(), hb.time());
    }

    /// To be called before the same synchronisation of happens-before, which raises the thread's time.
    pub fn sync(&mut self, hb: &HbThread, op: SyncOp, object: &mut FirmSync) {
        match op {
            SyncOp::Enter(_) | SyncOp::Send(_) => {
                object.0.join(&self.0);
                object.0.raise(hb.slot(), hb.time());
            }
            SyncOp::Leave(_) | SyncOp::Receive(_) => self.0.join(&object.0),
            _ => {}
        }
    }

    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl FirmSync {
    /// Heap bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

/// The rank of a violation between `prior` and what the thread does now.
pub fn rank(hb: &HbThread, firm: &Firm, prior: &Prior) -> Rank {
    if firm.0.get(prior.slot) >= prior.timestamp {
        return Rank::Low;
    }
    // A release publishes the time that it ends. Nothing known: not even one hand-over.
    let hand_overs = (hb.get(prior.slot) + 1).saturating_sub(prior.timestamp);
    match hand_overs {
        0 | 1 => Rank::High,
        2..=SOME => Rank::Medium,
        _ => Rank::Low,
    }
}
