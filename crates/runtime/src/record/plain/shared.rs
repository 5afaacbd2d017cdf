//! Loads and stores where several threads use a region: the line has times, and perhaps a lock that is taken.

use super::super::CALLS;
use super::super::granule::{Held, Leased};
use super::{access, deliver, leave, may_be_pointers, read_words, words, write_words};
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
) -> u128 {
    let last = t.log.time;
    if let Some(leased) = Leased::look(addr, last, WORDS as u64) {
        // SAFETY: as the caller promises.
        let words = unsafe { read_words::<SIZE, WORDS>(addr) };
        let record = access(Kind::Load, SIZE, addr, pc, words[0]);
        // After the load: what a missing call wrote is not seen before the call.
        if leased.is_valid() && CALLS.0.load(Ordering::Acquire) <= last && t.log.put_next(record, words) {
            let loaded = super::both(words);
            return if leave(tls) { deliver(loaded) } else { loaded };
        }
    }
    let Some(held) = Held::try_lock(addr) else {
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
    let loaded = super::both(words);
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
) -> u128 {
    if !LOCKED {
        Held::wait(addr);
    }
    let held = Held::locked(addr);
    // SAFETY: as the caller promises.
    let words = unsafe { read_words::<SIZE, WORDS>(addr) };
    compiler_fence(Ordering::SeqCst);
    let time = held.time(t.log.time, false);
    let record = access(Kind::Load, SIZE, addr, pc, words[0]);
    let time = t.log.put_words(time, record, words);
    held.unlock(false, time);
    let loaded = super::both(words);
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
    low: u64,
    high: u64,
    pc: usize,
) {
    let Some(held) = Held::try_lock(addr) else {
        // SAFETY: as the caller promises.
        return unsafe { store_held::<SIZE, WORDS, false>(tls, t, addr, low, high, pc) };
    };
    let words = words::<WORDS>(low, high);
    let last = t.log.time;
    let record = access(Kind::Store, SIZE, addr, pc, words[0]);
    if held.time(last, true) != last + 1 || !t.log.put_next(record, words) {
        // SAFETY: as the caller promises.
        return unsafe { store_held::<SIZE, WORDS, true>(tls, t, addr, low, high, pc) };
    }
    // SAFETY: as the caller promises.
    unsafe { write_words::<SIZE, WORDS>(addr, words) };
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
    low: u64,
    high: u64,
    pc: usize,
) {
    if !LOCKED {
        Held::wait(addr);
    }
    let held = Held::locked(addr);
    let words = words::<WORDS>(low, high);
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
