//! The loads and stores of a program that was built to be recorded: the runtime makes them.
//!
//! What lies within a granule is one record. What does not (a vector, an access across eight bytes) is recorded in
//! pieces that do, in the order of their addresses: in one step if they are whole granules of a line, otherwise one after another, as
//! a processor may make it as well.

use super::granule::{Held, LINE};
use super::{CALLS, unaligned};
use crate::outside::objects;
use crate::owners::{IN_SECTION, Whose};
use crate::steer;
use crate::thread::Thread;
use crate::tls::{self, Tls};
use deadheat_abi::spill::{Kind, Record};
use std::sync::atomic::{Ordering, compiler_fence};

/// # Safety
/// The bytes can be read.
#[inline(always)]
pub unsafe fn read<const SIZE: usize>(addr: usize) -> u64 {
    let at = std::ptr::with_exposed_provenance::<u8>(addr);
    // SAFETY: as the caller promises. Volatile: it is the program's access, as it was.
    unsafe {
        match SIZE {
            1 => at.read_volatile().into(),
            2 => at.cast::<unaligned::U16>().read_volatile().get().into(),
            4 => at.cast::<unaligned::U32>().read_volatile().get().into(),
            _ => at.cast::<unaligned::U64>().read_volatile().get(),
        }
    }
}

/// # Safety
/// The bytes can be written.
#[inline(always)]
unsafe fn write_to<const SIZE: usize>(addr: usize, value: u64) {
    let at = std::ptr::with_exposed_provenance_mut::<u8>(addr);
    // SAFETY: as the caller promises.
    unsafe {
        match SIZE {
            1 => at.write_volatile(value as u8),
            2 => at
                .cast::<unaligned::U16>()
                .write_volatile(unaligned::U16::new(value as u16)),
            4 => at
                .cast::<unaligned::U32>()
                .write_volatile(unaligned::U32::new(value as u32)),
            _ => at
                .cast::<unaligned::U64>()
                .write_volatile(unaligned::U64::new(value)),
        }
    }
}

/// The thread's record, if what it does now is recorded: then it is inside the runtime, and in a section, from here on.
#[inline(always)]
fn enter() -> Option<(*mut Tls, &'static mut Thread)> {
    let tls = tls::get();
    // SAFETY: the thread's own variable, and its own record, which nobody else has in hand while it is not inside.
    unsafe {
        if (*tls).inside != 0 || (*tls).thread == 0 {
            return None;
        }
        let t = &mut *std::ptr::with_exposed_provenance_mut::<Thread>((*tls).thread as usize);
        if !t.log.on {
            return None;
        }
        compiler_fence(Ordering::SeqCst);
        (&raw mut (*tls).inside).write_volatile(1 | IN_SECTION);
        compiler_fence(Ordering::SeqCst);
        Some((tls, t))
    }
}

/// Outside again.
#[inline(always)]
fn leave(tls: *mut Tls) {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the thread's own variable.
    unsafe {
        (&raw mut (*tls).inside).write_volatile(0);
        if (&raw const (*tls).pending).read_volatile() != 0 {
            crate::thread::deliver();
        }
    }
}

/// Whether there is room for the records of so many pieces, each within a granule, all of them in one line.
#[inline(always)]
fn is_quick<const SIZE: usize, const WORDS: usize>(t: &Thread, addr: usize) -> bool {
    addr % 8 + SIZE <= 8 && addr % LINE + SIZE * WORDS <= LINE && t.log.at < t.log.full
}

/// A plain load of the program.
///
/// # Safety
/// As for the load.
pub unsafe extern "C" fn load<const SIZE: usize>(addr: usize, pc: usize) -> u64 {
    // Here, before anything is held: where it faults, the program may go on somewhere else.
    // SAFETY: the program's own access, here and below.
    let early = unsafe { read::<SIZE>(addr) };
    let Some((tls, t)) = enter() else { return early };
    // SAFETY: as above.
    let [value] = unsafe { load_inside::<SIZE, 1>(t, addr, pc) };
    leave(tls);
    value
}

/// A plain load of 16 bytes.
///
/// # Safety
/// As for the load.
pub unsafe extern "C" fn load16(addr: usize, pc: usize) -> u128 {
    let both = |[low, high]: [u64; 2]| u128::from(low) | u128::from(high) << 64;
    // SAFETY: as in `load`, here and below.
    let early = unsafe { read_words::<8, 2>(addr) };
    let Some((tls, t)) = enter() else {
        return both(early);
    };
    // SAFETY: as above.
    let words = unsafe { load_inside::<8, 2>(t, addr, pc) };
    leave(tls);
    both(words)
}

/// # Safety
/// The bytes can be read.
#[inline(always)]
unsafe fn read_words<const SIZE: usize, const WORDS: usize>(addr: usize) -> [u64; WORDS] {
    // SAFETY: as the caller promises.
    std::array::from_fn(|n| unsafe { read::<SIZE>(addr + SIZE * n) })
}

/// A load by a thread that is in a section, of which it may have come out afterwards.
///
/// # Safety
/// As for the load.
#[inline(always)]
unsafe fn load_inside<const SIZE: usize, const WORDS: usize>(
    t: &mut Thread,
    addr: usize,
    pc: usize,
) -> [u64; WORDS] {
    let whose = is_quick::<SIZE, WORDS>(t, addr)
        .then(|| t.owner.whose(addr))
        .flatten();
    // SAFETY: as above.
    unsafe {
        match whose {
            Some(Whose::Own) => {
                let words = read_words::<SIZE, WORDS>(addr);
                compiler_fence(Ordering::SeqCst);
                let time = t.log.time.max(CALLS.0.load(Ordering::Acquire)) + 1;
                t.log
                    .put_words(time, access(Kind::Load, SIZE, addr, pc, words[0]), words);
                words
            }
            Some(Whose::Shared) => load_shared::<SIZE, WORDS>(t, addr, pc),
            _ => load_apart::<SIZE, WORDS>(t, addr, pc),
        }
    }
}

/// # Safety
/// As for the load.
#[inline(never)]
unsafe fn load_shared<const SIZE: usize, const WORDS: usize>(
    t: &mut Thread,
    addr: usize,
    pc: usize,
) -> [u64; WORDS] {
    let held = Held::lock(addr);
    // SAFETY: as above.
    let words = unsafe { read_words::<SIZE, WORDS>(addr) };
    compiler_fence(Ordering::SeqCst);
    let time = held.time(t.log.time, false);
    let record = access(Kind::Load, SIZE, addr, pc, words[0]);
    let time = t.log.put_words(time, record, words);
    held.unlock(false, time);
    words
}

/// # Safety
/// As for the load.
#[cold]
#[inline(never)]
unsafe fn load_apart<const SIZE: usize, const WORDS: usize>(
    t: &mut Thread,
    addr: usize,
    pc: usize,
) -> [u64; WORDS] {
    // SAFETY: as above.
    std::array::from_fn(|n| unsafe { load_slowly::<SIZE>(t, addr + SIZE * n, pc) })
}

/// # Safety
/// As for the load.
#[cold]
#[inline(never)]
unsafe fn load_slowly<const SIZE: usize>(t: &mut Thread, addr: usize, pc: usize) -> u64 {
    t.owner.leave();
    if addr % 8 + SIZE > 8 {
        let mut value = 0;
        for (offset, size) in pieces(addr, SIZE) {
            // SAFETY: part of the program's own access.
            let piece = unsafe {
                match size {
                    1 => load_slowly::<1>(t, addr + offset, pc),
                    2 => load_slowly::<2>(t, addr + offset, pc),
                    _ => load_slowly::<4>(t, addr + offset, pc),
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
    let held = Held::take(t, addr);
    // SAFETY: as above.
    let value = unsafe { read::<SIZE>(addr) };
    compiler_fence(Ordering::SeqCst);
    let time = held.time(t.log.time, false);
    t.log.put(time, access(Kind::Load, SIZE, addr, pc, value));
    held.raise(t, false, time);
    value
}

/// A plain store of the program.
///
/// # Safety
/// As for the store.
pub unsafe extern "C" fn store<const SIZE: usize>(addr: usize, value: u64, pc: usize) {
    let Some((tls, t)) = enter() else {
        // SAFETY: the program's own access, here and below.
        unsafe { write_to::<SIZE>(addr, value) };
        return may_be_pointer::<SIZE>(addr, value);
    };
    // SAFETY: as above.
    unsafe { store_inside::<SIZE, 1>(t, addr, [value], pc) };
    leave(tls);
}

/// A plain store of 16 bytes.
///
/// # Safety
/// As for the store.
pub unsafe extern "C" fn store16(addr: usize, low: u64, high: u64, pc: usize) {
    let Some((tls, t)) = enter() else {
        // SAFETY: the program's own access, here and below.
        unsafe {
            write_to::<8>(addr, low);
            write_to::<8>(addr + 8, high);
        }
        may_be_pointer::<8>(addr, low);
        return may_be_pointer::<8>(addr + 8, high);
    };
    // SAFETY: as above.
    unsafe { store_inside::<8, 2>(t, addr, [low, high], pc) };
    leave(tls);
}

/// # Safety
/// The bytes can be written.
#[inline(always)]
unsafe fn write_words<const SIZE: usize, const WORDS: usize>(addr: usize, words: [u64; WORDS]) {
    for (n, word) in words.into_iter().enumerate() {
        // SAFETY: as the caller promises.
        unsafe { write_to::<SIZE>(addr + SIZE * n, word) };
    }
    for (n, word) in words.into_iter().enumerate() {
        may_be_pointer::<SIZE>(addr + SIZE * n, word);
    }
}

/// A store by a thread that is in a section, of which it may have come out afterwards.
///
/// # Safety
/// As for the store.
#[inline(always)]
unsafe fn store_inside<const SIZE: usize, const WORDS: usize>(
    t: &mut Thread,
    addr: usize,
    words: [u64; WORDS],
    pc: usize,
) {
    let whose = is_quick::<SIZE, WORDS>(t, addr)
        .then(|| t.owner.whose(addr))
        .flatten();
    // SAFETY: as above.
    unsafe {
        match whose {
            Some(Whose::Own) => {
                let time = t.log.time.max(CALLS.0.load(Ordering::Acquire)) + 1;
                t.log
                    .put_words(time, access(Kind::Store, SIZE, addr, pc, words[0]), words);
                write_words::<SIZE, WORDS>(addr, words);
            }
            Some(Whose::Shared) => store_shared::<SIZE, WORDS>(t, addr, words, pc),
            _ => store_apart::<SIZE, WORDS>(t, addr, words, pc),
        }
    }
}

/// # Safety
/// As for the store.
#[inline(never)]
unsafe fn store_shared<const SIZE: usize, const WORDS: usize>(
    t: &mut Thread,
    addr: usize,
    words: [u64; WORDS],
    pc: usize,
) {
    let held = Held::lock(addr);
    let time = held.time(t.log.time, true);
    let record = access(Kind::Store, SIZE, addr, pc, words[0]);
    let time = t.log.put_words(time, record, words);
    // SAFETY: as above.
    unsafe { write_words::<SIZE, WORDS>(addr, words) };
    held.unlock(true, time);
}

/// # Safety
/// As for the store.
#[cold]
#[inline(never)]
unsafe fn store_apart<const SIZE: usize, const WORDS: usize>(
    t: &mut Thread,
    addr: usize,
    words: [u64; WORDS],
    pc: usize,
) {
    for (n, word) in words.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe { store_slowly::<SIZE>(t, addr + SIZE * n, word, pc) };
    }
}

/// # Safety
/// As for the store.
#[cold]
#[inline(never)]
unsafe fn store_slowly<const SIZE: usize>(t: &mut Thread, addr: usize, value: u64, pc: usize) {
    t.owner.leave();
    if addr % 8 + SIZE > 8 {
        for (offset, size) in pieces(addr, SIZE) {
            let piece = value >> (8 * offset);
            // SAFETY: part of the program's own access.
            unsafe {
                match size {
                    1 => store_slowly::<1>(t, addr + offset, piece, pc),
                    2 => store_slowly::<2>(t, addr + offset, piece, pc),
                    _ => store_slowly::<4>(t, addr + offset, piece, pc),
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
    t.log.put(time, access(Kind::Store, SIZE, addr, pc, value));
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

/// If a pointer was stored, what can be reached is another now.
#[inline(always)]
fn may_be_pointer<const SIZE: usize>(addr: usize, value: u64) {
    if SIZE == 8 && objects::is_like_address(value) && objects::is_remembering() {
        objects::written(addr, SIZE);
    }
}

#[inline(always)]
fn access(kind: Kind, size: usize, addr: usize, pc: usize, value: u64) -> Record {
    Record {
        kind: kind as u8,
        size: size.trailing_zeros() as u8,
        pc: pc as u64,
        addr: addr as u64,
        value: Some(value & (!0 >> (64 - 8 * size as u32))),
    }
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
