//! Waiting for files to become ready: who is woken comes after who wrote, and an event of an `epoll` also after the call
//! that asked for it.
//!
//! The `epoll` is not told by its descriptor, which may be one of several copies, but by the word that was put in and
//! comes out with each event.

use super::define::interpose;
use super::event;
use super::files::{KEYS, key};
use crate::outside::rings;
use crate::spin::Spin;
use crate::sync;
use crate::thread::Thread;
use core::ffi::{c_int, c_void};
use libc::{epoll_event, fd_set, pollfd, timespec, timeval};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The files that were asked for, by the word that comes with their events.
static ASKED: Spin<Asked> = Spin::new(Asked {
    by_word: FxHashMap::with_hasher(FxBuildHasher),
    by_file: FxHashMap::with_hasher(FxBuildHasher),
});

struct Asked {
    /// Descriptors and where their users meet.
    by_word: FxHashMap<u64, Vec<(c_int, usize)>>,
    by_file: FxHashMap<c_int, Vec<u64>>,
}

impl Asked {
    fn add(&mut self, word: u64, descriptor: c_int, key: usize) {
        let files = self.by_word.entry(word).or_default();
        if !files.contains(&(descriptor, key)) {
            files.push((descriptor, key));
            self.by_file.entry(descriptor).or_default().push(word);
        }
    }

    fn remove(&mut self, descriptor: c_int) {
        for word in self.by_file.remove(&descriptor).unwrap_or_default() {
            if let Some(files) = self.by_word.get_mut(&word) {
                files.retain(|file| file.0 != descriptor);
                if files.is_empty() {
                    self.by_word.remove(&word);
                }
            }
        }
    }
}

/// Takes the lock, before a `fork`.
pub fn hold() {
    ASKED.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    ASKED.let_go();
}

/// A descriptor is about to be closed: no `epoll` has it any more.
pub fn closes(descriptor: c_int) {
    event(|_| ASKED.lock().remove(descriptor));
}

/// Where those who ask for events with this word meet those who get them. One of a few thousand places: words are mostly
/// addresses, and a server makes new ones all the time.
fn word_key(word: u64) -> usize {
    KEYS | (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52 << 4) as usize | 8
}

/// Events came out of an `epoll`.
///
/// # Safety
/// There are `count` of them.
unsafe fn came(events: *const epoll_event, count: c_int) {
    if count <= 0 {
        return;
    }
    event(|t| {
        for n in 0..count as usize {
            // SAFETY: the caller's promise. They are packed: copied out.
            let word = unsafe { (&raw const (*events.add(n)).u64).read_unaligned() };
            sync::receive(t, word_key(word));
            let files = ASKED.lock().by_word.get(&word).cloned().unwrap_or_default();
            for (_, key) in files {
                sync::receive(t, key);
            }
        }
        rings::receive(t);
    });
}

/// Descriptors that are ready were written to, or closed.
fn ready(t: &mut Thread, descriptor: c_int) {
    if let Some(key) = key(descriptor) {
        sync::receive(t, key);
        rings::receive(t);
    }
}

/// # Safety
/// There are `count` of them.
unsafe fn polled(files: *const pollfd, count: u64, result: c_int) {
    if result <= 0 {
        return;
    }
    event(|t| {
        for n in 0..count as usize {
            // SAFETY: the caller's promise.
            let file = unsafe { *files.add(n) };
            if file.revents & !libc::POLLNVAL != 0 {
                ready(t, file.fd);
            }
        }
    });
}

/// # Safety
/// Sets of descriptors, or null.
unsafe fn selected(sets: [*const fd_set; 3], count: c_int, result: c_int) {
    if result <= 0 {
        return;
    }
    event(|t| {
        for set in sets {
            for descriptor in 0..count {
                // SAFETY: the caller's promise; the kernel has written as many bits.
                if !set.is_null() && unsafe { libc::FD_ISSET(descriptor, set) } {
                    ready(t, descriptor);
                }
            }
        }
    });
}

interpose! {
    fn epoll_ctl[_, real](epoll: c_int, what: c_int, descriptor: c_int, asked: *mut epoll_event) -> c_int {
        if what == libc::EPOLL_CTL_DEL {
            closes(descriptor);
        } else if !asked.is_null() {
            // SAFETY: the caller's event.
            let word = unsafe { (&raw const (*asked).u64).read_unaligned() };
            event(|t| {
                let key = key(descriptor).unwrap_or(word_key(word));
                ASKED.lock().add(word, descriptor, key);
                sync::send(t, word_key(word));
            });
        }
        // SAFETY: the caller's arguments, here and in all that follow.
        unsafe { real(epoll, what, descriptor, asked) }
    }

    fn epoll_wait[_, real](epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int {
        // SAFETY: as above.
        unsafe {
            let count = real(epoll, events, most, timeout);
            came(events, count);
            count
        }
    }

    fn epoll_pwait[_, real](
        epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int, mask: *const c_void
    ) -> c_int {
        // SAFETY: as above.
        unsafe {
            let count = real(epoll, events, most, timeout, mask);
            came(events, count);
            count
        }
    }

    fn epoll_pwait2[_, real](
        epoll: c_int, events: *mut epoll_event, most: c_int, timeout: *const timespec, mask: *const c_void
    ) -> c_int {
        // SAFETY: as above.
        unsafe {
            let count = real(epoll, events, most, timeout, mask);
            came(events, count);
            count
        }
    }

    fn poll[_, real](files: *mut pollfd, count: u64, timeout: c_int) -> c_int {
        // SAFETY: as above.
        unsafe {
            let result = real(files, count, timeout);
            polled(files, count, result);
            result
        }
    }

    fn ppoll[_, real](files: *mut pollfd, count: u64, timeout: *const timespec, mask: *const c_void) -> c_int {
        // SAFETY: as above.
        unsafe {
            let result = real(files, count, timeout, mask);
            polled(files, count, result);
            result
        }
    }

    fn select[_, real](
        count: c_int, reading: *mut fd_set, writing: *mut fd_set, failing: *mut fd_set, timeout: *mut timeval
    ) -> c_int {
        // SAFETY: as above.
        unsafe {
            let result = real(count, reading, writing, failing, timeout);
            selected([reading, writing, failing], count, result);
            result
        }
    }
}

// Six arguments leave no register for the caller's address, and nobody needs it.
super::define::real! {
    PSELECT: fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *const timespec, *const c_void) -> c_int = c"pselect";
}

// SAFETY of calling it: as for libc's function of that name.
#[cfg(not(test))]
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pselect(
    count: c_int,
    reading: *mut fd_set,
    writing: *mut fd_set,
    failing: *mut fd_set,
    timeout: *const timespec,
    mask: *const c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let result = PSELECT.get()(count, reading, writing, failing, timeout, mask);
        selected([reading, writing, failing], count, result);
        result
    }
}
