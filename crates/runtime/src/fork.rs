//! The runtime around `fork`.
//!
//! All locks are taken before it and given back on both sides, so that the child finds no lock held by a thread that it
//! does not have. The order is that in which locks are taken inside one another everywhere
//! else. The child has one thread: a serial phase, whose past is forgotten.

use crate::intercept::cancel;
use crate::thread::{self, Thread};
use crate::{
    alloc, amid, channel, code, counts, exit, heard, limits, locks, memory, outside, owners, partly, places,
    races, record, registry, shadow, side, sync,
};

/// Before the real `fork`.
pub fn before() {
    races::hold_stack();
    channel::forks();
    exit::hold();
    sync::hold_all();
    outside::hold();
    channel::hold();
    races::hold();
    registry::hold();
    // Whoever holds it waits for threads that may wait for any of those that follow.
    owners::hold();
    amid::hold();
    cancel::hold();
    memory::hold();
    heard::hold();
    locks::hold();
    places::hold();
    side::hold();
    partly::hold();
    code::hold();
    counts::hold();
    alloc::hold();
    limits::hold();
    record::hold();
}

/// After it, in the parent (also if it failed).
pub fn parent() {
    record::let_go();
    limits::let_go();
    alloc::let_go();
    counts::let_go();
    code::let_go();
    partly::let_go();
    side::let_go();
    places::let_go();
    locks::let_go();
    heard::let_go();
    memory::let_go();
    cancel::let_go();
    amid::let_go();
    owners::let_go();
    registry::let_go();
    races::let_go();
    channel::let_go();
    outside::let_go();
    sync::let_go_all();
    exit::let_go();
    races::let_go_stack();
}

/// After it, in the child.
pub fn child(t: &mut Thread) {
    parent();
    record::child(t);
    // Whoever held a cell in the parent does not exist here, and what the others did lies behind this thread.
    t.sweeps.birth();
    shadow::forget_all();
    outside::child(t);
    owners::forget_all(&t.owner);
    thread::only(t);
    counts::forget();
    races::child();
    channel::child();
}
