//! Loads and stores of which anything may be true: not in one granule or line, no room for the record, a region that has to be taken
//! first, a run that is steered, a place or a time that is not the expected one.

use super::super::granule::Held;
use super::{Thread, Tls, Words, access, deliver, is_quick, leave, may_be_pointer, may_be_pointers, shared};
use super::{read, read_words, write_to, write_words};
use crate::owners::Whose;
use crate::record::CALLS;
use crate::steer;
use deadheat_abi::spill::Kind;
use std::sync::atomic::{Ordering, compiler_fence};

/// A load, by a thread that is in a section.
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
    if !is_quick::<SIZE, WORDS>(t, addr) || t.owner.whose(addr) != Some(Whose::Own) {
        // SAFETY: as the caller promises.
        let words: [u64; WORDS] =
            std::array::from_fn(|n| unsafe { load_slowly::<SIZE>(t, addr + SIZE * n, pc, n > 0) });
        let loaded = Words(words);
        return if leave(tls) { deliver(loaded) } else { loaded };
    }
    // SAFETY: as the caller promises.
    let words = unsafe { read_words::<SIZE, WORDS>(addr) };
    compiler_fence(Ordering::SeqCst);
    let time = t.log.time.max(CALLS.0.load(Ordering::Acquire)) + 1;
    t.log
        .put_words(time, access(Kind::Load, SIZE, addr, pc, words[0]), words);
    let loaded = Words(words);
    if leave(tls) { deliver(loaded) } else { loaded }
}

/// One word, which may be `behind` another of the same load.
///
/// # Safety
/// As for the load.
#[cold]
#[inline(never)]
unsafe fn load_slowly<const SIZE: usize>(t: &mut Thread, addr: usize, pc: usize, behind: bool) -> u64 {
    t.owner.leave();
    if addr % 8 + SIZE > 8 {
        let mut value = 0;
        for (offset, size) in pieces(addr, SIZE) {
            // SAFETY: part of the program's own access.
            let piece = unsafe {
                match size {
                    1 => load_slowly::<1>(t, addr + offset, pc, false),
                    2 => load_slowly::<2>(t, addr + offset, pc, false),
                    _ => load_slowly::<4>(t, addr + offset, pc, false),
                }
            };
            value |= piece << (8 * offset);
        }
        return value;
    }
    if t.log.steered.is_some() {
        steer::access(t, addr, SIZE, false, pc);
        // SAFETY: the program's own access.
        let value = unsafe { read::<SIZE>(addr) };
        steer::done(t, Kind::Load as u8, pc);
        return value;
    }
    if !t.log.room(t.id) {
        // SAFETY: as above.
        return unsafe { read::<SIZE>(addr) };
    }
    let whose = t.owner.enter(addr);
    // SAFETY: as above.
    let value = unsafe {
        if whose == Whose::Own {
            let value = read::<SIZE>(addr);
            compiler_fence(Ordering::SeqCst);
            let time = t.log.time.max(CALLS.0.load(Ordering::Acquire)) + 1;
            t.log
                .put_word(time, access(Kind::Load, SIZE, addr, pc, value), behind);
            value
        } else {
            shared::load_word::<SIZE>(t, addr, pc, behind)
        }
    };
    t.owner.leave();
    value
}

/// A store, by a thread that is in a section.
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
    let Words(words) = words;
    if !is_quick::<SIZE, WORDS>(t, addr) || t.owner.whose(addr) != Some(Whose::Own) {
        for (n, word) in words.into_iter().enumerate() {
            // SAFETY: as the caller promises.
            unsafe { store_slowly::<SIZE>(t, addr + SIZE * n, word, pc, n > 0) };
        }
    } else {
        let time = t.log.time.max(CALLS.0.load(Ordering::Acquire)) + 1;
        t.log
            .put_words(time, access(Kind::Store, SIZE, addr, pc, words[0]), words);
        // SAFETY: as the caller promises.
        unsafe { write_words::<SIZE, WORDS>(addr, words) };
        may_be_pointers::<SIZE, WORDS>(addr, words);
    }
    if leave(tls) {
        deliver(());
    }
}

/// One word, which may be `behind` another of the same store.
///
/// # Safety
/// As for the store.
#[cold]
#[inline(never)]
unsafe fn store_slowly<const SIZE: usize>(t: &mut Thread, addr: usize, value: u64, pc: usize, behind: bool) {
    t.owner.leave();
    if addr % 8 + SIZE > 8 {
        for (offset, size) in pieces(addr, SIZE) {
            let piece = value >> (8 * offset);
            // SAFETY: part of the program's own access.
            unsafe {
                match size {
                    1 => store_slowly::<1>(t, addr + offset, piece, pc, false),
                    2 => store_slowly::<2>(t, addr + offset, piece, pc, false),
                    _ => store_slowly::<4>(t, addr + offset, piece, pc, false),
                }
            }
        }
        // No piece is a whole pointer.
        return may_be_pointer::<SIZE>(addr, value);
    }
    if t.log.steered.is_some() {
        steer::access(t, addr, SIZE, true, pc);
        // SAFETY: the program's own access.
        unsafe { write_to::<SIZE>(addr, value) };
        return steer::done(t, Kind::Store as u8, pc);
    }
    if !t.log.room(t.id) {
        // SAFETY: as above.
        return unsafe { write_to::<SIZE>(addr, value) };
    }
    let held = Held::take(t, addr);
    let time = held.time(t.log.time, true);
    t.log
        .put_word(time, access(Kind::Store, SIZE, addr, pc, value), behind);
    // SAFETY: as above.
    unsafe { write_to::<SIZE>(addr, value) };
    held.raise(t, true, time);
    may_be_pointer::<SIZE>(addr, value);
}

/// The aligned pieces of `size` bytes that do not lie within a granule: how far in, and how long.
fn pieces(addr: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut offset = 0;
    std::iter::from_fn(move || {
        let (at, left) = (addr + offset, size - offset);
        let len = (1 << at.trailing_zeros().min(2)).min(left.checked_ilog2().map_or(0, |log| 1 << log));
        let piece = (offset, len);
        offset += len;
        (len > 0).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_and_all_there_is() {
        for size in [2, 4, 8] {
            for addr in 64..72 {
                let mut at = addr;
                for (offset, len) in pieces(addr, size) {
                    assert_eq!((addr + offset, at % len), (at, 0), "{size} bytes at {addr}");
                    at += len;
                }
                assert_eq!(at, addr + size, "{size} bytes at {addr}");
            }
        }
    }
}
