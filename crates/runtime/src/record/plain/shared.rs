//! Loads and stores where several threads use a region: the line has times, and perhaps a lock that is taken.

use super::super::CALLS;
use super::super::granule::{Held, LINE, Leased};
use super::{Words, access, deliver, leave, may_be_pointers, read, read_words, write_to, write_words};
use crate::thread::Thread;
use crate::tls::Tls;
use deadheat_abi::spill::Kind;
use std::sync::atomic::{Ordering, compiler_fence};

/// A load, by a thread that is in a section, of words in one line for which there is room.
///
/// # Safety
/// As for the load.
#[inline(never)]
pub unsafe extern "C" fn load<const SIZE: usize, const WORDS: usize>(
    tls: *mut Tls,
    t: &mut Thread,
    addr: usize,
    pc: usize,
) -> Words<WORDS> {
    let last = t.log.time;
    if let Some(leased) = Leased::look(t, addr, WORDS as u64) {
        // SAFETY: as the caller promises.
        let words = unsafe { read_words::<SIZE, WORDS>(addr) };
        let record = access(Kind::Load, SIZE, addr, pc, words[0]);
        // After the load: what a missing call wrote is not seen before the call.
        if leased.is_valid() && CALLS.0.load(Ordering::Acquire) <= last {
            let loaded = Words(words);
            if !t.log.put_next(record, words) {
                return load_leased::<SIZE, WORDS>(tls, t, addr, loaded, pc);
            }
            return if leave(tls) { deliver(loaded) } else { loaded };
        }
    }
    // SAFETY: as the caller promises.
    unsafe { load_locked::<SIZE, WORDS>(tls, t, addr, pc) }
}

/// The same of a line that has to be locked.
///
/// # Safety
/// As for the load.
#[inline(never)]
unsafe extern "C" fn load_locked<const SIZE: usize, const WORDS: usize>(
    tls: *mut Tls,
    t: &mut Thread,
    addr: usize,
    pc: usize,
) -> Words<WORDS> {
    let last = t.log.time;
    let Some(held) = Held::try_lock(t, addr) else {
        // SAFETY: as the caller promises.
        return unsafe { load_held::<SIZE, WORDS, false>(tls, t, addr, pc) };
    };
    // SAFETY: as the caller promises.
    let words = unsafe { read_words::<SIZE, WORDS>(addr) };
    compiler_fence(Ordering::SeqCst);
    let record = access(Kind::Load, SIZE, addr, pc, words[0]);
    if held.time(last, false) != last + 1 || !t.log.put_next(record, words) {
        // SAFETY: as the caller promises.
        return unsafe { load_held::<SIZE, WORDS, true>(tls, t, addr, pc) };
    }
    held.unlock(false, last + WORDS as u64);
    let loaded = Words(words);
    if leave(tls) { deliver(loaded) } else { loaded }
}

/// The same when it is done, at the next time, at whatever place of the program.
#[inline(never)]
extern "C" fn load_leased<const SIZE: usize, const WORDS: usize>(
    tls: *mut Tls,
    t: &mut Thread,
    addr: usize,
    loaded: Words<WORDS>,
    pc: usize,
) -> Words<WORDS> {
    let record = access(Kind::Load, SIZE, addr, pc, loaded.0[0]);
    t.log.put_words(t.log.time + 1, record, loaded.0);
    if leave(tls) { deliver(loaded) } else { loaded }
}

/// The same, whatever comes before it, of a line that is locked, or will be when who has it locked lets go of it.
///
/// # Safety
/// As for the load.
#[inline(never)]
unsafe extern "C" fn load_held<const SIZE: usize, const WORDS: usize, const LOCKED: bool>(
    tls: *mut Tls,
    t: &mut Thread,
    addr: usize,
    pc: usize,
) -> Words<WORDS> {
    if !LOCKED {
        Held::wait(addr);
    }
    let held = Held::locked(t, addr);
    // SAFETY: as the caller promises.
    let words = unsafe { read_words::<SIZE, WORDS>(addr) };
    compiler_fence(Ordering::SeqCst);
    let time = held.time(t.log.time, false);
    let record = access(Kind::Load, SIZE, addr, pc, words[0]);
    let time = t.log.put_words(time, record, words);
    held.unlock(false, time);
    let loaded = Words(words);
    if leave(tls) { deliver(loaded) } else { loaded }
}

/// A store, by a thread that is in a section, of words in one line for which there is room.
///
/// # Safety
/// As for the store.
#[inline(never)]
pub unsafe extern "C" fn store<const SIZE: usize, const WORDS: usize>(
    tls: *mut Tls,
    t: &mut Thread,
    addr: usize,
    words: Words<WORDS>,
    pc: usize,
) {
    let Some(held) = Held::try_lock(t, addr) else {
        // SAFETY: as the caller promises.
        return unsafe { store_held::<SIZE, WORDS, false>(tls, t, addr, words, pc) };
    };
    let last = t.log.time;
    let record = access(Kind::Store, SIZE, addr, pc, words.0[0]);
    if held.time(last, true) != last + 1 || !t.log.put_next(record, words.0) {
        // SAFETY: as the caller promises.
        return unsafe { store_held::<SIZE, WORDS, true>(tls, t, addr, words, pc) };
    }
    // SAFETY: as the caller promises.
    unsafe { write_words::<SIZE, WORDS>(addr, words.0) };
    held.unlock(true, last + WORDS as u64);
    if leave(tls) {
        deliver(());
    }
}

/// The same, whatever comes before it, of a line that is locked, or will be when who has it locked lets go of it.
///
/// # Safety
/// As for the store.
#[inline(never)]
unsafe extern "C" fn store_held<const SIZE: usize, const WORDS: usize, const LOCKED: bool>(
    tls: *mut Tls,
    t: &mut Thread,
    addr: usize,
    words: Words<WORDS>,
    pc: usize,
) {
    if !LOCKED {
        Held::wait(addr);
    }
    let held = Held::locked(t, addr);
    let Words(words) = words;
    let time = held.time(t.log.time, true);
    let record = access(Kind::Store, SIZE, addr, pc, words[0]);
    let time = t.log.put_words(time, record, words);
    // SAFETY: as the caller promises.
    unsafe { write_words::<SIZE, WORDS>(addr, words) };
    may_be_pointers::<SIZE, WORDS>(addr, words);
    held.unlock(true, time);
    if leave(tls) {
        deliver(());
    }
}

/// A load, by a thread that is in a section, of words of two lines for which there is room: one word after the other.
///
/// # Safety
/// As for the load.
#[inline(never)]
pub unsafe extern "C" fn load_across<const SIZE: usize, const WORDS: usize>(
    tls: *mut Tls,
    t: &mut Thread,
    addr: usize,
    pc: usize,
) -> Words<WORDS> {
    // SAFETY: as the caller promises.
    let words = std::array::from_fn(|n| unsafe { load_word::<SIZE>(t, addr + SIZE * n, pc, n > 0) });
    let loaded = Words(words);
    if leave(tls) { deliver(loaded) } else { loaded }
}

/// A word in one granule, which may be `behind` another of the same load, by a thread that is in a section and has room for it.
///
/// # Safety
/// As for the load.
#[inline(always)]
pub unsafe fn load_word<const SIZE: usize>(t: &mut Thread, addr: usize, pc: usize, behind: bool) -> u64 {
    let last = t.log.time;
    if let Some(leased) = Leased::look(t, addr, 1) {
        // SAFETY: as the caller promises.
        let word = unsafe { read::<SIZE>(addr) };
        // As above.
        if leased.is_valid() && CALLS.0.load(Ordering::Acquire) <= last {
            let record = access(Kind::Load, SIZE, addr, pc, word);
            t.log.put_word(last + 1, record, behind);
            return word;
        }
    }
    let held = Held::lock(t, addr);
    // SAFETY: as the caller promises.
    let word = unsafe { read::<SIZE>(addr) };
    compiler_fence(Ordering::SeqCst);
    let time = held.time(last, false);
    t.log
        .put_word(time, access(Kind::Load, SIZE, addr, pc, word), behind);
    held.unlock(false, time);
    word
}

/// A store, by a thread that is in a section, of words of two lines for which there is room: one line after the other.
///
/// # Safety
/// As for the store.
#[inline(never)]
pub unsafe extern "C" fn store_across<const SIZE: usize, const WORDS: usize>(
    tls: *mut Tls,
    t: &mut Thread,
    addr: usize,
    words: Words<WORDS>,
    pc: usize,
) {
    let mut held = Held::lock(t, addr);
    for (n, word) in words.0.into_iter().enumerate() {
        let addr = addr + SIZE * n;
        if n > 0 && addr.is_multiple_of(LINE) {
            held.unlock(true, t.log.time);
            held = Held::lock(t, addr);
        }
        let time = held.time(t.log.time, true);
        t.log
            .put_word(time, access(Kind::Store, SIZE, addr, pc, word), n > 0);
        // SAFETY: as the caller promises.
        unsafe { write_to::<SIZE>(addr, word) };
    }
    held.unlock(true, t.log.time);
    if leave(tls) {
        deliver(());
    }
}
