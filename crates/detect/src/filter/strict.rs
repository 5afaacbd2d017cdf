//! `tree-strict`: redundancy across critical sections that loses nothing for happens-before detectors.
//!
//! TREE's concurrency context says which locks are held, not what their hand-overs have ordered, and so drops accesses
//! that a happens-before detector needs (see [`Tree`](super::Tree)). This filter keeps to the one case in which a lock
//! hand-over has told nobody anything: the thread itself takes the lock again, exclusively, before anybody else has
//! taken it. That release is *taken back*: the lock's next owner learns from the next release, which comes after.
//!
//! An access is dropped if the thread made a covering one earlier (as in [`Span`](super::Span), whatever the sites) and
//! has since then passed nothing on but by releases of exclusive locks that it has taken back and still holds. A loop
//! around a critical section is reduced to its first turn for as long as no other thread comes in between.
//!
//! Each release gets a number. The *outstanding* ones are those not taken back, and the newest of them is all that an
//! access must be compared with: what was accessed after it is still known to nobody. Any other outgoing edge (fork,
//! releasing store or fence, send, barrier, shared unlock, call) is outstanding for good.
//!
//! Guarantee: for a happens-before detector, the same racing bytes and elements, and the first race of each seen at the
//! same event, on traces whose locks exclude (others are ill-formed). Let the earlier `i` cover the dropped `j`, and let
//! `k` of another thread race with `j`. Acquires do not matter: if `k` came before `i`, it is not ordered before `i`, so
//! the race was seen at `i`. Else suppose that `i` is ordered before `k`. Then somebody acquired a release of the thread
//! made after `i`. If the release came before `j`, it was of a lock that nobody else took until the thread had it
//! again, and the thread still holds it at `j`; so it was acquired after a later release of that lock, which came after
//! `j`; so `j` is ordered before `k` too. So `i` races with `k`, and the race is seen at `k`, or was before.
//!
//! Deviations: nothing of TREE's trie is left, because two threads are never in the same context for happens-before:
//! what the one releases later orders only its own accesses. Threads remember their latest outstanding releases only.

use super::is_outgoing;
use super::recent::Recent;
use super::resets::Resets;
use crate::layer::forward_checks;
use deadheat_event::{Access, Detector, Fresh, Mode, Order, Slot, Stats, SyncOp};

/// Entries of a thread's table, at most, unless told otherwise.
const LIMIT: usize = 1 << 13;

/// How many outstanding releases of a thread can still be taken back.
const OUTSTANDING: usize = 32;

/// Drops accesses that repeat an earlier one, as far as any other thread can tell.
#[derive(Debug)]
pub struct TreeStrict<D> {
    inner: D,
    resets: Resets,
    limit: usize,
}

/// A thread, what it released and what it accessed.
#[derive(Debug)]
pub struct StrictThread<T> {
    inner: T,
    slot: Slot,
    /// The number of the last release. Goes on where the predecessor in the slot ended. Never 0.
    releases: u64,
    /// The newest release that cannot be taken back.
    floor: u64,
    /// Newer ones that were not taken back so far, ascending.
    outstanding: Vec<u64>,
    recent: Recent,
}

/// A synchronisation object and, for a lock, its last release if nobody has taken it since but the one who released.
#[derive(Debug, Default)]
pub struct StrictSync<S> {
    inner: S,
    released: Option<(Slot, u64)>,
}

impl<T> StrictThread<T> {
    /// The newest release that somebody may know or come to know alone.
    #[inline]
    fn newest(&self) -> u64 {
        self.outstanding.last().copied().unwrap_or(self.floor)
    }

    fn release_for_good(&mut self) {
        self.releases += 1;
        self.floor = self.releases;
        self.outstanding.clear();
    }

    fn release(&mut self) -> (Slot, u64) {
        self.releases += 1;
        if self.outstanding.len() == OUTSTANDING {
            self.floor = self.outstanding.remove(0);
        }
        self.outstanding.push(self.releases);
        (self.slot, self.releases)
    }

    fn take_back(&mut self, (slot, release): (Slot, u64)) -> bool {
        if slot != self.slot {
            return false;
        }
        if let Ok(place) = self.outstanding.binary_search(&release) {
            self.outstanding.remove(place);
        }
        true
    }
}

impl<D> TreeStrict<D> {
    /// Filters what `inner` sees.
    pub fn new(inner: D) -> TreeStrict<D> {
        TreeStrict::with_limit(inner, LIMIT)
    }

    /// The same with a bound on the accesses that are remembered for each thread.
    pub fn with_limit(inner: D, limit: usize) -> TreeStrict<D> {
        TreeStrict {
            inner,
            resets: Resets::default(),
            limit,
        }
    }
}

impl<D: Detector> Detector for TreeStrict<D> {
    type Thread = StrictThread<D::Thread>;
    type Sync = StrictSync<D::Sync>;
    forward_checks!();

    fn start(&mut self, slot: Slot, predecessor: Option<&Self::Thread>) -> Self::Thread {
        let releases = predecessor.map_or(0, |p| p.releases) + 1;
        StrictThread {
            inner: self.inner.start(slot, predecessor.map(|p| &p.inner)),
            slot,
            releases,
            floor: releases,
            outstanding: Vec::new(),
            recent: Recent::new(self.limit),
        }
    }

    fn sync(&mut self, thread: &mut Self::Thread, op: SyncOp, object: &mut Self::Sync) {
        match op {
            SyncOp::Release(_, Mode::Exclusive) => object.released = Some(thread.release()),
            SyncOp::Acquire(_, Mode::Exclusive) => {
                object.released = object.released.filter(|released| thread.take_back(*released));
            }
            _ => {
                object.released = None;
                if is_outgoing(op) {
                    thread.release_for_good();
                }
            }
        }
        self.inner.sync(&mut thread.inner, op, &mut object.inner);
    }

    fn fence(&mut self, thread: &mut Self::Thread, order: Order) {
        if order.releases() {
            thread.release_for_good();
        }
        self.inner.fence(&mut thread.inner, order);
    }

    fn fork(&mut self, parent: &mut Self::Thread, child: &mut Self::Thread) {
        parent.release_for_good();
        self.inner.fork(&mut parent.inner, &mut child.inner);
    }

    fn join(&mut self, thread: &mut Self::Thread, child: &mut Self::Thread) {
        child.release_for_good();
        // It does nothing more, and its state may be kept for long.
        child.recent = Recent::new(self.limit);
        self.inner.join(&mut thread.inner, &mut child.inner);
    }

    #[inline]
    fn admit(&mut self, thread: &mut Self::Thread, access: &Access) -> bool {
        let newest = thread.newest();
        if thread.recent.covers(access, newest, &self.resets) {
            return false;
        }
        thread.recent.put(access, thread.releases, newest, &self.resets);
        self.inner.admit(&mut thread.inner, access)
    }

    fn reset(&mut self, fresh: Fresh) {
        self.resets.note(fresh);
        self.inner.reset(fresh);
    }

    fn thread_stats(&self, thread: &Self::Thread) -> Stats {
        let mut stats = self.inner.thread_stats(&thread.inner);
        stats.bytes += (thread.recent.bytes() + thread.outstanding.capacity() * size_of::<u64>()) as u64;
        stats
    }

    fn sync_bytes(&self, object: &Self::Sync) -> usize {
        self.inner.sync_bytes(&object.inner)
    }

    fn stats(&self) -> Stats {
        let mut stats = self.inner.stats();
        stats.bytes += self.resets.bytes() as u64;
        stats
    }
}
