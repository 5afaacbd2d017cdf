//! Releases by handlers of signals in the midst of code whose accesses are checked later than they are made.
//!
//! A loop that is checked where it is left makes all of its accesses in one epoch, since nothing in it releases. A handler that
//! interrupts it may: then the check is made in the epoch behind the release, also of what the loop did before. Who has heard of the
//! release is ordered behind that, and would be told to race with it. So it is remembered who has heard of such a release, and
//! when: a race of these with the epochs behind it is none.
//!
//! Misses, of what the thread does between the release and the next one that is not a handler's, the races with who has heard of
//! the first: of accesses that it checks where it makes them, too.

use crate::cell::Found;
use crate::spin::Spin;
use crate::thread::Thread;
use deadheat_event::Slot;
use std::sync::atomic::{AtomicBool, Ordering};

/// So many handlers are remembered.
const MOST: usize = 64;

/// And no more releases of each.
const RELEASES: u64 = 16;

/// A handler that has interrupted a thread.
struct Handler {
    slot: Slot,
    /// The time of its thread that it has interrupted.
    first: u64,
    /// Whether it has not come to its end.
    runs: bool,
    /// The time in which its thread goes on; while it runs, the latest that it may be. (It may never return.)
    last: u64,
    /// Who has heard of a release by it, and from which time of theirs on they had.
    heard: Vec<(Slot, u64)>,
}

static HANDLERS: Spin<Vec<Handler>> = Spin::new(Vec::new());
/// Whether there are any.
static ANY: AtomicBool = AtomicBool::new(false);

/// Takes the lock, before a `fork`.
pub fn hold() {
    HANDLERS.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    HANDLERS.let_go();
}

/// A handler begins in the midst of what the thread does.
pub fn begin(t: &mut Thread) {
    if t.serial {
        return;
    }
    let mut handlers = HANDLERS.lock();
    if handlers.len() == MOST {
        handlers.remove(0);
    }
    handlers.push(Handler {
        slot: t.hb.slot(),
        first: t.hb.time(),
        runs: true,
        last: t.hb.time() + RELEASES,
        heard: Vec::new(),
    });
    ANY.store(true, Ordering::SeqCst);
}

/// It is over.
pub fn end(t: &mut Thread) {
    if !ANY.load(Ordering::Relaxed) {
        return;
    }
    let mut handlers = HANDLERS.lock();
    let (slot, now) = (t.hb.slot(), t.hb.time());
    let runs = |handler: &Handler| handler.slot == slot && handler.runs;
    if let Some(at) = handlers.iter().rposition(runs) {
        if handlers[at].first == now {
            handlers.remove(at);
        } else {
            handlers[at].runs = false;
            handlers[at].last = handlers[at].last.min(now);
        }
    }
    ANY.store(!handlers.is_empty(), Ordering::SeqCst);
}

/// The thread may have learned something.
#[inline(always)]
pub fn learned(t: &mut Thread) {
    if ANY.load(Ordering::SeqCst) {
        hear(t);
    }
}

#[cold]
#[inline(never)]
fn hear(t: &mut Thread) {
    let (slot, next) = (t.hb.slot(), t.hb.time() + 1);
    let mut hears = false;
    for handler in HANDLERS.lock().iter_mut() {
        let is_behind = handler.slot != slot && t.hb.get(handler.slot) >= handler.first;
        if is_behind && handler.heard.iter().all(|(heard, _)| *heard != slot) {
            handler.heard.push((slot, next));
            hears = true;
        }
    }
    if hears {
        t.hb.part();
    }
}

/// Whether one of the two comes behind a release in the midst of code that the other may be of.
pub fn orders(t: &Thread, found: &Found) -> bool {
    let (other, then) = (found.prior.slot, found.prior.timestamp);
    ANY.load(Ordering::Relaxed)
        && HANDLERS.lock().iter().any(|handler| {
            let is_behind = |slot, time| handler.slot == slot && handler.first < time && time <= handler.last;
            let has_heard = |slot, time| {
                let mut heard = handler.heard.iter();
                heard.any(|(heard, since)| *heard == slot && *since <= time)
            };
            is_behind(t.hb.slot(), t.hb.time()) && has_heard(other, then)
                || is_behind(other, then) && has_heard(t.hb.slot(), t.hb.time())
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync;
    use deadheat_detect::hb::HbThread;
    use deadheat_event::{AccessKind, Prior, SiteId};

    /// An access by the thread now.
    fn by(t: &Thread) -> Found {
        Found {
            mask: 1,
            prior: Prior {
                slot: t.hb.slot(),
                timestamp: t.hb.time(),
                kind: AccessKind::Write,
                atomic: false,
                site: SiteId(0),
            },
        }
    }

    #[test]
    fn who_has_heard_of_a_release_amid_code_is_ordered_with_what_is_checked_behind_it() {
        let thread = |slot| Thread::new(slot, HbThread::after(Slot(slot), 0), true);
        let [mut a, mut b, mut c] = [170, 171, 172].map(thread);
        let addr = 0x6400_0000;
        let early = by(&b);
        begin(&mut a);
        sync::send(&mut a, addr);
        sync::receive(&mut b, addr);
        end(&mut a);
        assert!(!orders(&a, &early));
        assert!(orders(&a, &by(&b)), "the check comes first");
        assert!(orders(&b, &by(&a)), "it comes last");
        sync::send(&mut b, addr + 64);
        assert!(!orders(&a, &by(&c)) && !orders(&c, &by(&a)));
        sync::receive(&mut c, addr + 64);
        assert!(orders(&a, &by(&c)), "it has heard of it from another");
        // The interrupted thread's own release is the end of it.
        sync::send(&mut a, addr + 128);
        assert!(!orders(&a, &by(&c)));
        sync::receive(&mut c, addr + 128);
        assert!(!orders(&c, &by(&a)));
    }

    #[test]
    fn a_handler_that_releases_nothing_leaves_no_trace() {
        let mut a = Thread::new(173, HbThread::after(Slot(173), 0), true);
        begin(&mut a);
        end(&mut a);
        let mut handlers = HANDLERS.lock();
        assert!(handlers.iter_mut().all(|handler| handler.slot != Slot(173)));
    }
}
