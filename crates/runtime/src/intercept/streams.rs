//! Bytes that go from thread to thread through streams on pipes and sockets. The C library's own calls of `read` and
//! `write` do not come by us, and when they happen is its own affair: who puts something into such a stream sends, who gets
//! something out of one receives.
//!
//! Most streams are files. That one is no pipe is remembered, until a descriptor becomes another file's.

use super::define::interpose;
use super::event;
use super::files::{key, received, sends};
use crate::checks;
use crate::spin::Spin;
use crate::thread::Thread;
use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicUsize, Ordering};
use libc::{FILE, wchar_t};

/// Counts whenever a descriptor may have become another file's.
static CHANGES: AtomicUsize = AtomicUsize::new(1);

/// Streams that pass nothing on, by their addresses: what [`mark`] makes of each.
static PLAIN: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

fn place(stream: *mut FILE) -> &'static AtomicUsize {
    let hash = (stream as usize >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    &PLAIN[hash >> 58]
}

/// Address and number of changes: addresses have 47 bits, of which 4 are 0.
fn mark(stream: *mut FILE) -> usize {
    (stream as usize >> 4) | CHANGES.load(Ordering::Relaxed) << 44
}

/// The descriptor of a stream that passes bytes from one to another.
fn passes(t: &Thread, stream: *mut FILE) -> Option<c_int> {
    if t.serial || stream.is_null() || place(stream).load(Ordering::Relaxed) == mark(stream) {
        return None;
    }
    // SAFETY: the caller's stream.
    let descriptor = unsafe { libc::fileno(stream) };
    if key(descriptor).is_none() {
        place(stream).store(mark(stream), Ordering::Relaxed);
        return None;
    }
    Some(descriptor)
}

/// A stream of `open_memstream`, and where it tells the text and its size.
struct InMemory {
    stream: usize,
    text: usize,
    size: usize,
}

static IN_MEMORY: Spin<Vec<InMemory>> = Spin::new(Vec::new());

/// Takes the lock, before a `fork`.
pub fn hold() {
    IN_MEMORY.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    IN_MEMORY.let_go();
}

fn opened(stream: *mut FILE, text: usize, size: usize) {
    if !stream.is_null() {
        event(|_| {
            IN_MEMORY.lock().push(InMemory {
                stream: stream as usize,
                text,
                size,
            });
        });
    }
}

/// A stream tells what it holds; it is the last time if it `closes`.
fn tells(stream: *mut FILE, closes: bool, pc: usize) {
    event(|t| {
        let mut all = IN_MEMORY.lock();
        let Some(at) = all.iter().position(|one| one.stream == stream as usize) else {
            return;
        };
        let places = [all[at].text, all[at].size];
        if closes {
            all.swap_remove(at);
        }
        drop(all);
        for place in places {
            checks::write(t, place, size_of::<usize>(), pc);
        }
    });
}

/// A descriptor may have become another file's.
pub fn changed() {
    CHANGES.fetch_add(1, Ordering::Relaxed);
}

/// Before something is put into a stream, or what is in it is passed on.
pub fn puts_into(stream: *mut FILE) {
    if let Some(descriptor) = event(|t| passes(t, stream)).flatten() {
        sends(descriptor);
    }
}

/// After something was taken out of a stream.
pub fn took_from(stream: *mut FILE) {
    if let Some(descriptor) = event(|t| passes(t, stream)).flatten() {
        received(descriptor, 0);
    }
}

interpose! {
    fn fclose[pc, real](stream: *mut FILE) -> c_int {
        puts_into(stream);
        tells(stream, true, pc);
        // SAFETY: the caller's arguments, here and in all that follow.
        let result = unsafe { real(stream) };
        changed();
        result
    }

    fn fflush[pc, real](stream: *mut FILE) -> c_int {
        puts_into(stream);
        tells(stream, false, pc);
        // SAFETY: as above.
        unsafe { real(stream) }
    }

    fn open_memstream[_, real](text: *mut *mut c_char, size: *mut usize) -> *mut FILE {
        // SAFETY: as above.
        let result = unsafe { real(text, size) };
        opened(result, text as usize, size as usize);
        result
    }

    fn open_wmemstream[_, real](text: *mut *mut wchar_t, size: *mut usize) -> *mut FILE {
        // SAFETY: as above.
        let result = unsafe { real(text, size) };
        opened(result, text as usize, size as usize);
        result
    }

    fn freopen[_, real](path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE {
        puts_into(stream);
        // SAFETY: as above.
        let result = unsafe { real(path, mode, stream) };
        changed();
        result
    }
}
