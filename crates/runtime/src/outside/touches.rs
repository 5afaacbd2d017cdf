//! Atomic accesses of the program's to memory that calls may have reached (RDIT's caveat 3).

use super::{ANY, Key, NOBODY, Object, TOUCHING, WIDE, links, reach, rings, steal, with};
use crate::sync;
use crate::thread::Thread;
use deadheat_detect::hb;
use deadheat_event::SyncOp;
use std::sync::atomic::Ordering;

/// An atomic access follows. Answers whether [`end_touch`] is to be called when all is done: a call may see what was stored
/// before [`touch`] says so.
#[inline]
pub fn begin_touch(addr: usize) -> bool {
    let matters = ANY.load(Ordering::Relaxed)
        && (reach::may_matter(addr) || rings::hold_address(addr) || WIDE.load(Ordering::Relaxed));
    if matters {
        TOUCHING.fetch_add(1, Ordering::SeqCst);
    }
    matters
}

/// It is done.
pub fn end_touch() {
    TOUCHING.fetch_sub(1, Ordering::SeqCst);
}

/// Waits for all that a call may have seen already.
pub fn see_touches(t: &Thread) {
    if TOUCHING.load(Ordering::SeqCst) > 0 {
        sync::pass(t);
    }
    links::see_stored(t);
}

/// An atomic access to memory that a call may have reached: it may learn from that call, and what it writes may tell the
/// next. Answers whether the thread's clock may have changed.
#[inline]
pub fn touch(t: &mut Thread, addr: usize, op: SyncOp) -> bool {
    if !ANY.load(Ordering::Relaxed) {
        return false;
    }
    if rings::hold_address(addr) {
        rings::touch(t, op);
        return true;
    }
    let (wide, matters) = (WIDE.load(Ordering::Relaxed), reach::may_matter(addr));
    if wide {
        touch_wide(t, op);
    }
    if matters {
        touch_object(t, addr, op);
    }
    wide || matters
}

/// It may be in what a wide call has reached.
#[inline(never)]
fn touch_wide(t: &mut Thread, op: SyncOp) {
    let key = match op {
        SyncOp::Load(_) => Key::WIDE,
        _ => Key::ALL,
    };
    with(key, |objects| {
        let object = objects.entry(key).or_insert_with(Object::shared);
        hb::sync(&mut t.hb, op, &mut object.left);
    });
}

#[inline(never)]
fn touch_object(t: &mut Thread, addr: usize, op: SyncOp) {
    let Some(key) = reach::key_of(t, addr) else { return };
    with(key, |objects| {
        if let Some(object) = objects.get_mut(&key) {
            if object.owner != NOBODY && object.owner != t.hb.slot().0 {
                steal(object);
            }
            // What the owner says by an atomic is not among what it publishes, so that its objects are shared from here on.
            if object.owner != NOBODY && !matches!(op, SyncOp::Load(_)) {
                steal(object);
            }
            if object.owner == NOBODY {
                hb::sync(&mut t.hb, op, &mut object.left);
            }
        }
    });
}
