//! `span`: what happened once in a span need not be checked again (TREE Definition 3.6.1 and Theorem 3.6.1; the span is
//! `RedCard`'s, found at run time).
//!
//! A span is what a thread does between two of its outgoing happens-before edges. All accesses of a span look the same
//! to every other thread: who is ordered after one of them is ordered after all. So an access is dropped if an earlier
//! one of its span covers it: a read is covered by a read or a write, a write by a write only, and an atomic also by
//! the plain access of its kind.
//!
//! Guarantee: for a happens-before detector, the same racing bytes and elements, and the first race of each seen at the
//! same event. Let `j` be covered by the earlier `i`, and let `k` of another thread race with `j`. If `k` came before
//! `i`, it is not ordered before `i` either (it would be before `j`), so the race was seen at `i`. If it came between
//! the two, `i` is not ordered before it, for the thread passed nothing on; so the race was seen at `k`. If it comes
//! after `j`, then what makes `i` known to it would make `j` known too; so the race is seen at `k`, with `i`. (TREE's
//! proof speaks of equal vector clocks. They may differ by acquires in between, which do not matter.) The earlier access
//! that is named may be another one.
//!
//! Not lossless for lockset detectors with states. Eraser: `A: w x`, `B: r x`, `A: w x` reports at the second write,
//! because a place that only its first thread wrote is not yet shared-modified; that write is in the span of the first.
//!
//! Deviations: the table is direct-mapped and bounded, so an access may pass that could have been dropped. TREE did not
//! build this filter.

use super::is_outgoing;
use super::recent::Recent;
use super::resets::Resets;
use crate::layer::forward_checks;
use deadheat_event::{Access, Detector, Fresh, Order, Slot, Stats, SyncOp};

/// Entries of a thread's table, at most, unless told otherwise.
const LIMIT: usize = 1 << 12;

/// Drops accesses that an earlier one of the same span covers.
#[derive(Debug)]
pub struct Span<D> {
    inner: D,
    resets: Resets,
    limit: usize,
}

/// A thread and the accesses of its span.
#[derive(Debug)]
pub struct SpanThread<T> {
    inner: T,
    /// The number of the present span. Never 0.
    span: u64,
    recent: Recent,
}

impl<D> Span<D> {
    /// Filters what `inner` sees.
    pub fn new(inner: D) -> Span<D> {
        Span::with_limit(inner, LIMIT)
    }

    /// The same with a bound on the accesses that are remembered for each thread.
    pub fn with_limit(inner: D, limit: usize) -> Span<D> {
        Span {
            inner,
            resets: Resets::default(),
            limit,
        }
    }
}

impl<D: Detector> Detector for Span<D> {
    type Thread = SpanThread<D::Thread>;
    type Sync = D::Sync;
    forward_checks!();

    fn start(&mut self, slot: Slot, predecessor: Option<&Self::Thread>) -> Self::Thread {
        SpanThread {
            inner: self.inner.start(slot, predecessor.map(|p| &p.inner)),
            span: 1,
            recent: Recent::new(self.limit),
        }
    }

    fn sync(&mut self, thread: &mut Self::Thread, op: SyncOp, object: &mut Self::Sync) {
        thread.span += u64::from(is_outgoing(op));
        self.inner.sync(&mut thread.inner, op, object);
    }

    fn fence(&mut self, thread: &mut Self::Thread, order: Order) {
        thread.span += u64::from(order.releases());
        self.inner.fence(&mut thread.inner, order);
    }

    fn fork(&mut self, parent: &mut Self::Thread, child: &mut Self::Thread) {
        parent.span += 1;
        self.inner.fork(&mut parent.inner, &mut child.inner);
    }

    fn join(&mut self, thread: &mut Self::Thread, child: &mut Self::Thread) {
        child.span += 1;
        // It does nothing more, and its state may be kept for long.
        child.recent = Recent::new(self.limit);
        self.inner.join(&mut thread.inner, &mut child.inner);
    }

    #[inline]
    fn admit(&mut self, thread: &mut Self::Thread, access: &Access) -> bool {
        if thread.recent.covers(access, thread.span, &self.resets) {
            return false;
        }
        thread.recent.put(access, thread.span, thread.span, &self.resets);
        self.inner.admit(&mut thread.inner, access)
    }

    fn reset(&mut self, fresh: Fresh) {
        self.resets.note(fresh);
        self.inner.reset(fresh);
    }

    fn thread_stats(&self, thread: &Self::Thread) -> Stats {
        let mut stats = self.inner.thread_stats(&thread.inner);
        stats.bytes += thread.recent.bytes() as u64;
        stats
    }

    fn sync_bytes(&self, object: &Self::Sync) -> usize {
        self.inner.sync_bytes(object)
    }

    fn stats(&self) -> Stats {
        let mut stats = self.inner.stats();
        stats.bytes += self.resets.bytes() as u64;
        stats
    }
}
