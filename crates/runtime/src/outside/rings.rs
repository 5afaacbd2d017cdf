//! Rings of `io_uring`: the kernel does what is put into one, and another thread may see that it is done.
//!
//! What a thread did before it moves the tail of a submission queue, or has the kernel look at it, happens before what another
//! does after it has looked at the tail of a completion queue. What goes in comes out of another ring as well (a message to
//! it), or of a pipe, and the other way round. So all rings are one object, and while there are rings it is where all
//! descriptors meet as well: that orders more than it must, in programs that use rings.
//!
//! A ring is known by its mapping. Not known: rings in memory that the program has brought (`IORING_SETUP_NO_MMAP`), except for
//! what `io_uring_enter` tells; and bytes that have waited in a pipe since before there was any ring.

use super::{ANY, Key, Object, TOUCHING, see_touches, with};
use crate::spin::Spin;
use crate::thread::Thread;
use deadheat_detect::hb;
use deadheat_event::{SyncId, SyncOp};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The parts of rings that are mapped: first and last+1 address.
static MAPPED: Spin<Vec<(usize, usize)>> = Spin::new(Vec::new());
/// All of them are in between.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);
/// Descriptors of rings, as far as their making was seen, for where `/proc` is not.
static MADE: Spin<Vec<i32>> = Spin::new(Vec::new());
/// Whether there was ever a ring.
static RINGS: AtomicBool = AtomicBool::new(false);

/// Which part of a ring is mapped: submission queue, completion queue, entries.
const OFFSETS: [i64; 3] = [0, 0x800_0000, 0x1000_0000];

/// Takes the locks, before a `fork`.
pub fn hold() {
    MAPPED.hold();
    MADE.hold();
}

/// Gives them back, after it.
pub fn let_go() {
    MADE.let_go();
    MAPPED.let_go();
}

/// A ring has been made.
pub fn made(descriptor: i32) {
    RINGS.store(true, Ordering::SeqCst);
    let mut made = MADE.lock();
    if !made.contains(&descriptor) {
        made.push(descriptor);
    }
}

/// Whether a mapping of this descriptor is one of a ring.
pub fn is_ring(descriptor: i32, offset: i64) -> bool {
    if descriptor < 0 || !OFFSETS.contains(&offset) {
        return false;
    }
    let (mut path, mut target) = ([0u8; 32], [0u8; 32]);
    // The last byte stays zero.
    let _ = write!(&mut path[..31], "/proc/self/fd/{descriptor}");
    // SAFETY: a string with a zero at its end, and as much room as is said.
    let len = unsafe { libc::readlink(path.as_ptr().cast(), target.as_mut_ptr().cast(), target.len()) };
    match usize::try_from(len) {
        Ok(len) => target[..len] == *b"anon_inode:[io_uring]",
        Err(_) => MADE.lock().contains(&descriptor),
    }
}

/// A part of a ring is mapped here.
pub fn mapped(start: usize, len: usize) {
    MAPPED.lock().push((start, start + len));
    LOWEST.fetch_min(start, Ordering::SeqCst);
    HIGHEST.fetch_max(start + len, Ordering::SeqCst);
    RINGS.store(true, Ordering::SeqCst);
    ANY.store(true, Ordering::SeqCst);
}

/// Memory is no longer mapped, or something else is mapped there.
pub fn unmapped(start: usize, len: usize) {
    if RINGS.load(Ordering::Relaxed) {
        MAPPED
            .lock()
            .retain(|part| part.0 >= start.saturating_add(len) || part.1 <= start);
    }
}

/// Whether a ring is at this address.
pub fn hold_address(addr: usize) -> bool {
    (LOWEST.load(Ordering::Relaxed)..HIGHEST.load(Ordering::Relaxed)).contains(&addr)
        && MAPPED.lock().iter().any(|part| (part.0..part.1).contains(&addr))
}

fn on(t: &mut Thread, op: SyncOp) {
    with(Key::RINGS, |objects| {
        let object = objects.entry(Key::RINGS).or_insert_with(Object::shared);
        hb::sync(&mut t.hb, op, &mut object.left);
    });
}

/// An atomic access to a ring.
pub fn touch(t: &mut Thread, op: SyncOp) {
    on(t, op);
    // Somebody who has moved a tail may not have said so yet, and the kernel may be done already. Nobody can wait for that in an
    // atomic operation of their own.
    if TOUCHING.load(Ordering::SeqCst) > t.touching.count_ones() {
        t.calls.behind = true;
    }
}

/// Before races are told: what others did not get round to saying when this thread looked at a ring.
pub fn catch_up(t: &mut Thread) {
    if std::mem::take(&mut t.calls.behind) {
        see_touches(t);
        receive(t);
    }
}

/// The thread hands something to the kernel that may come out of a ring.
pub fn send(t: &mut Thread) {
    if RINGS.load(Ordering::Relaxed) && !t.serial {
        t.renew();
        on(t, SyncOp::Send(SyncId(0)));
        t.refresh();
    }
}

/// The thread gets something from the kernel that may have gone into a ring.
pub fn receive(t: &mut Thread) {
    if RINGS.load(Ordering::Relaxed) && !t.serial {
        on(t, SyncOp::Receive(SyncId(0)));
        t.refresh();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_ring_is_where_it_is_mapped() {
        mapped(0x5000_0000_0000, 0x1000);
        mapped(0x5000_0000_4000, 0x1000);
        for (addr, ring) in [(0xfff, true), (0x1000, false), (0x3fff, false), (0x4000, true)] {
            assert_eq!(hold_address(0x5000_0000_0000 + addr), ring, "{addr:x}");
        }
        unmapped(0x5000_0000_0000, 0x2000);
        assert!(!hold_address(0x5000_0000_0000) && hold_address(0x5000_0000_4000));
    }

    #[test]
    fn a_file_is_no_ring() {
        let file = std::fs::File::open("/proc/self/exe").expect("the test itself");
        assert!(!is_ring(file.as_raw_fd(), 0) && !is_ring(-1, 0));
    }
}
