//! Barriers: all that came happens before all that goes on, round by round.
//!
//! A fast thread may come to the next round, or destroy the barrier, before a slow one has gone on from the last. So each
//! round has an object of its own, which those in it keep until the last of them has left. Who comes is counted off into
//! rounds of as many threads as the barrier lets go at a time. That is what the barrier itself does, as long as no more
//! threads than that are in it at once. If there ever are, the order in which they are counted here may differ from the
//! order there: from then on everyone is ordered behind everyone who came before, which hides races but makes none up.

use super::define::interpose;
use super::{event, event_at};
use crate::spin::Spin;
use crate::sync;
use crate::thread::Thread;
use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU32, Ordering};
use libc::pthread_barrier_t;
use rustc_hash::FxHashMap;

/// A round. Its address is where the edges meet.
struct Round {
    left: AtomicU32,
    size: u32,
}

#[derive(Default)]
struct Barrier {
    /// How many have come to the present round, and the round.
    present: Option<(u32, &'static Round)>,
    inside: u32,
    crowded: bool,
}

static BARRIERS: Spin<Option<FxHashMap<usize, Barrier>>> = Spin::new(None);

/// A thread comes.
fn enter(t: &mut Thread, at: usize, size: u32) -> &'static Round {
    let mut barriers = BARRIERS.lock();
    let barrier = barriers.get_or_insert_default().entry(at).or_default();
    barrier.inside += 1;
    barrier.crowded |= barrier.inside > size;
    let (come, round) = barrier.present.take().unwrap_or_else(|| {
        let left = AtomicU32::new(0);
        (0, Box::leak(Box::new(Round { left, size })))
    });
    if come + 1 < size {
        barrier.present = Some((come + 1, round));
    }
    drop(barriers);
    sync::send(t, round as *const Round as usize);
    // In case it gets crowded while we are inside.
    sync::send(t, at);
    round
}

/// It goes on.
fn leave(t: &mut Thread, at: usize, round: &'static Round) {
    let crowded = match BARRIERS
        .lock()
        .as_mut()
        .and_then(|barriers| barriers.get_mut(&at))
    {
        Some(barrier) => {
            barrier.inside = barrier.inside.saturating_sub(1);
            barrier.crowded
        }
        // Destroyed by one that has gone on already.
        None => false,
    };
    let edge = round as *const Round as usize;
    sync::receive(t, edge);
    if crowded {
        sync::receive(t, at);
    }
    if round.left.fetch_add(1, Ordering::AcqRel) + 1 == round.size {
        sync::forget(t, edge);
        // SAFETY: made by `enter`; all that came have left, and it is in no barrier any more.
        drop(unsafe { Box::from_raw((round as *const Round).cast_mut()) });
    }
}

fn forget(result: c_int, barrier: usize) {
    if result == 0 {
        event(|t| {
            if let Some(barriers) = BARRIERS.lock().as_mut() {
                barriers.remove(&barrier);
            }
            sync::forget(t, barrier);
        });
    }
}

/// The lock of the table, around a `fork`.
pub fn hold() {
    BARRIERS.hold();
}

/// Gives it back.
pub fn let_go() {
    BARRIERS.let_go();
}

interpose! {
    fn pthread_barrier_init[_, real](
        barrier: *mut pthread_barrier_t,
        attributes: *const c_void,
        count: c_uint,
    ) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(barrier, attributes, count) };
        forget(result, barrier as usize);
        result
    }

    fn pthread_barrier_destroy[_, real](barrier: *mut pthread_barrier_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(barrier) };
        forget(result, barrier as usize);
        result
    }

    fn pthread_barrier_wait[pc, real](barrier: *mut pthread_barrier_t) -> c_int {
        // SAFETY: glibc's layout, part of its ABI: two words before the number of threads.
        let size = unsafe { barrier.cast::<u32>().add(2).read_volatile() };
        let round = event_at(pc, |t| enter(t, barrier as usize, size));
        // SAFETY: the caller's arguments.
        let result = unsafe { real(barrier) };
        if let Some(round) = round {
            event_at(pc, |t| leave(t, barrier as usize, round));
        }
        result
    }
}
