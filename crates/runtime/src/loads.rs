//! Atomic loads that tell a thread nothing new: most do, those of threads that wait above all. They take no lock.
//!
//! An atomic's object changes only while its shard is held, and whoever changes it raises the shard's number of changes before
//! giving it back ([`sync::changes`]; odd while the shard is held). A thread remembers, of atomics used lately, at which number it
//! knew all that the object says. If the number is that one before the value is read and still is behind it, no value came in
//! between that carries more: what this thread knows is what the value that it has read carries, no less and no more. Otherwise
//! the load is made with the shard held, and its value is the one that counts. `models/loads.rs` has the protocol step by step.

use crate::checks;
use crate::outside;
use crate::sync;
use crate::thread::Thread;
use deadheat_abi::atomics::What;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence};

/// How many atomics are remembered.
const KNOWN: usize = 64;

/// What a thread knows of atomics that it has used lately.
pub struct Loads([Known; KNOWN]);

/// An atomic of which a thread knew all at some number of changes, or had it put by for its next acquire fence.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Its address, and in the lowest bit whether all is known: put by does for relaxed loads only.
    key: usize,
    changes: u64,
}

impl Loads {
    /// None.
    pub const NONE: Loads = Loads([Known { key: 0, changes: 0 }; KNOWN]);

    #[inline(always)]
    fn place(addr: usize) -> usize {
        (addr >> 2 ^ addr >> 8) % KNOWN
    }

    /// The thread has used the atomic at `addr`, when the number of changes was this.
    #[inline(always)]
    pub fn learn(&mut self, addr: usize, changes: u64, acquired: bool) {
        self.0[Loads::place(addr)] = Known {
            key: addr << 1 | usize::from(acquired),
            changes,
        };
    }

    /// Whether a load tells nothing new as long as the number of changes is this.
    #[inline(always)]
    fn has(&self, addr: usize, changes: u64, acquires: bool) -> bool {
        let known = self.0[Loads::place(addr)];
        let enough = known.key == addr << 1 | 1 || !acquires && known.key == addr << 1;
        enough && known.changes == changes
    }
}

/// An atomic load by the program, at `pc`: of a size of 1, 2, 4 or 8, from where it may be made so.
#[inline(always)]
pub fn load(t: &mut Thread, addr: usize, what: What, context: u64, pc: usize) -> u64 {
    let check = |t: &mut Thread| {
        if !checks::has_loaded(t, addr, what.size) {
            checks::atomic_access(t, addr, what, context, pc);
        }
    };
    load_by(t, addr, what, || read(addr, what.size), check)
}

/// The same where `read` gives the value, and `check` checks the access.
#[inline(always)]
pub fn load_by(
    t: &mut Thread,
    addr: usize,
    what: What,
    read: impl Fn() -> u64,
    check: impl FnOnce(&mut Thread),
) -> u64 {
    let changes = sync::changes(addr);
    let before = changes.load(Ordering::Acquire);
    let acquires = sync::order(what.order).acquires();
    // Odd if somebody has the shard: like no number that was learned.
    if !t.serial && !t.log.on && t.loads.has(addr, before, acquires) {
        let value = read();
        // Loads stay in their order on this machine.
        compiler_fence(Ordering::SeqCst);
        // Who calls code that is not instrumented says so first, and only then may that code store here.
        if changes.load(Ordering::Relaxed) == before && !outside::any() {
            check(t);
            return value;
        }
    }
    load_held(t, addr, what, read, check)
}

/// The same where nobody else changes the object.
#[inline(never)]
fn load_held(
    t: &mut Thread,
    addr: usize,
    what: What,
    read: impl Fn() -> u64,
    check: impl FnOnce(&mut Thread),
) -> u64 {
    sync::begin_atomic(t, addr);
    let value = read();
    sync::end_atomic(t, addr, what, check);
    value
}

/// The load itself. On this machine all are as strong as the strongest.
#[inline(always)]
pub fn read(addr: usize, size: u8) -> u64 {
    let at = std::ptr::with_exposed_provenance_mut::<u8>(addr);
    // SAFETY: the program does this load here, of so many bytes, and addresses of that size are aligned.
    unsafe {
        match size {
            1 => AtomicU8::from_ptr(at).load(Ordering::SeqCst).into(),
            2 => AtomicU16::from_ptr(at.cast()).load(Ordering::SeqCst).into(),
            4 => AtomicU32::from_ptr(at.cast()).load(Ordering::SeqCst).into(),
            _ => AtomicU64::from_ptr(at.cast()).load(Ordering::SeqCst),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_abi::atomics::{Kind, Ordering as Order};
    use deadheat_detect::hb::HbThread;
    use deadheat_event::Slot;

    fn thread(slot: u32) -> Thread {
        Thread::new(slot, HbThread::after(Slot(slot), 0), true)
    }

    fn store(t: &mut Thread, addr: usize, order: Order) {
        let kind = Kind::Store;
        sync::begin_atomic(t, addr);
        sync::end_atomic(t, addr, What { size: 4, kind, order }, |_| ());
    }

    fn load(t: &mut Thread, addr: usize, order: Order) {
        let kind = Kind::Load;
        load_by(t, addr, What { size: 4, kind, order }, || 0, |_| ());
    }

    #[test]
    fn a_load_that_follows_a_release_is_never_taken_for_one_that_tells_nothing() {
        let (mut a, mut b) = (thread(1), thread(2));
        let addr = 0x6200_0000;
        for _ in 0..3 {
            let before = b.hb.epoch();
            load(&mut a, addr, Order::Acquire);
            store(&mut b, addr, Order::Release);
            assert!(!a.hb.knows(before));
            load(&mut a, addr, Order::Acquire);
            assert!(a.hb.knows(before));
            load(&mut a, addr, Order::Acquire);
        }
    }

    #[test]
    fn what_a_relaxed_load_has_put_by_is_news_to_one_that_acquires() {
        let (mut a, mut b) = (thread(1), thread(2));
        let addr = 0x6200_0040;
        let before = b.hb.epoch();
        store(&mut b, addr, Order::Release);
        load(&mut a, addr, Order::Relaxed);
        load(&mut a, addr, Order::Relaxed);
        assert!(!a.hb.knows(before));
        load(&mut a, addr, Order::Acquire);
        assert!(a.hb.knows(before));
    }

    #[test]
    fn the_second_look_sees_what_came_in_between() {
        let (mut a, b) = (thread(1), std::cell::RefCell::new(thread(2)));
        let addr = 0x6200_0080;
        let before = b.borrow().hb.epoch();
        let acquire = What {
            size: 4,
            kind: Kind::Load,
            order: Order::Acquire,
        };
        load(&mut a, addr, Order::Acquire);
        let stored = std::cell::Cell::new(false);
        let read = || {
            if !stored.replace(true) {
                store(&mut b.borrow_mut(), addr, Order::Release);
            }
            7
        };
        assert_eq!(load_by(&mut a, addr, acquire, read, |_| ()), 7);
        assert!(a.hb.knows(before));
    }
}
