//! The loads and stores of a program that was built to be recorded: the runtime makes them.
//!
//! What lies within a granule is one record. What does not (a vector, an access across eight bytes) is recorded in
//! pieces that do, in the order of their addresses: in one step if they are whole granules of a line, or of a region of the thread's own, otherwise
//! one after another, as a processor may make it as well.
//!
//! A hook does what is commonest by itself: memory of the thread's own, and the record that is expected. All else is left to a function that
//! is called last and does all of it ([`shared`], [`slow`]), so that the hook keeps nothing across calls and has nothing to save.

mod shared;
mod slow;

use super::granule::LINE;
use super::{CALLS, unaligned};
use crate::outside::objects;
use crate::owners::{IN_SECTION, REGION_MASK, Whose};
use crate::thread::Thread;
use crate::tls::{self, Tls};
use deadheat_abi::spill::{Kind, Record};
use std::sync::atomic::{Ordering, compiler_fence};

/// Words side by side, as the conventions of C have them: one or two in registers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Words<const WORDS: usize>([u64; WORDS]);

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

/// # Safety
/// The bytes can be read.
#[inline(always)]
unsafe fn read_words<const SIZE: usize, const WORDS: usize>(addr: usize) -> [u64; WORDS] {
    // SAFETY: as the caller promises.
    std::array::from_fn(|n| unsafe { read::<SIZE>(addr + SIZE * n) })
}

/// # Safety
/// The bytes can be written.
#[inline(always)]
unsafe fn write_words<const SIZE: usize, const WORDS: usize>(addr: usize, words: [u64; WORDS]) {
    for (n, word) in words.into_iter().enumerate() {
        // SAFETY: as the caller promises.
        unsafe { write_to::<SIZE>(addr + SIZE * n, word) };
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

/// Outside again. Whether there are signals to be delivered.
#[inline(always)]
fn leave(tls: *mut Tls) -> bool {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the thread's own variable.
    unsafe {
        (&raw mut (*tls).inside).write_volatile(0);
        (&raw const (*tls).pending).read_volatile() != 0
    }
}

/// Whether there is room for the records of so many pieces, each within a granule, all of them in one region.
#[inline(always)]
fn is_quick<const SIZE: usize, const WORDS: usize>(t: &Thread, addr: usize) -> bool {
    // A granule is in one region.
    let in_region = WORDS == 1 || (addr & REGION_MASK) + SIZE * WORDS <= REGION_MASK + 1;
    addr % 8 + SIZE <= 8 && in_region && t.log.at < t.log.full
}

/// Whether so many pieces are all in one line.
#[inline(always)]
fn is_in_line<const SIZE: usize, const WORDS: usize>(addr: usize) -> bool {
    addr % LINE + SIZE * WORDS <= LINE
}

/// A plain load of the program, of some words.
///
/// # Safety
/// As for the load.
pub unsafe extern "C" fn load<const SIZE: usize, const WORDS: usize>(addr: usize, pc: usize) -> Words<WORDS> {
    // Here, before anything is held: where it faults, the program may go on somewhere else.
    // SAFETY: the program's own access, here and below.
    let early = unsafe { read_words::<SIZE, WORDS>(addr) };
    let Some((tls, t)) = enter() else {
        return Words(early);
    };
    // SAFETY: as above.
    unsafe {
        if !is_quick::<SIZE, WORDS>(t, addr) {
            return slow::load::<SIZE, WORDS>(tls, t, addr, pc);
        }
        match t.owner.whose(addr) {
            Some(Whose::Own) => {}
            Some(Whose::Shared) if is_in_line::<SIZE, WORDS>(addr) => {
                return shared::load::<SIZE, WORDS>(tls, t, addr, pc);
            }
            Some(Whose::Shared) => return shared::load_across::<SIZE, WORDS>(tls, t, addr, pc),
            _ => return slow::load::<SIZE, WORDS>(tls, t, addr, pc),
        }
        let words = read_words::<SIZE, WORDS>(addr);
        compiler_fence(Ordering::SeqCst);
        let record = access(Kind::Load, SIZE, addr, pc, words[0]);
        if CALLS.0.load(Ordering::Acquire) > t.log.time || !t.log.put_next(record, words) {
            return slow::load::<SIZE, WORDS>(tls, t, addr, pc);
        }
        let loaded = Words(words);
        if leave(tls) { deliver(loaded) } else { loaded }
    }
}

/// A plain store of the program, of some words.
///
/// # Safety
/// As for the store.
#[inline(always)]
unsafe fn store_words<const SIZE: usize, const WORDS: usize>(addr: usize, words: [u64; WORDS], pc: usize) {
    let Some((tls, t)) = enter() else {
        // SAFETY: the program's own access, here and below.
        unsafe { write_words::<SIZE, WORDS>(addr, words) };
        return may_be_pointers::<SIZE, WORDS>(addr, words);
    };
    // SAFETY: as above.
    unsafe {
        let links = objects::is_remembering() && SIZE == 8 && words.into_iter().any(objects::is_like_address);
        if links || !is_quick::<SIZE, WORDS>(t, addr) {
            return slow::store::<SIZE, WORDS>(tls, t, addr, Words(words), pc);
        }
        match t.owner.whose(addr) {
            Some(Whose::Own) => {}
            Some(Whose::Shared) if is_in_line::<SIZE, WORDS>(addr) => {
                return shared::store::<SIZE, WORDS>(tls, t, addr, Words(words), pc);
            }
            Some(Whose::Shared) => {
                return shared::store_across::<SIZE, WORDS>(tls, t, addr, Words(words), pc);
            }
            _ => return slow::store::<SIZE, WORDS>(tls, t, addr, Words(words), pc),
        }
        let record = access(Kind::Store, SIZE, addr, pc, words[0]);
        if CALLS.0.load(Ordering::Acquire) > t.log.time || !t.log.put_next(record, words) {
            return slow::store::<SIZE, WORDS>(tls, t, addr, Words(words), pc);
        }
        write_words::<SIZE, WORDS>(addr, words);
        if leave(tls) {
            deliver(());
        }
    }
}

/// A plain store of a word.
///
/// # Safety
/// As for the store.
pub unsafe extern "C" fn store<const SIZE: usize>(addr: usize, value: u64, pc: usize) {
    // SAFETY: as the caller promises.
    unsafe { store_words::<SIZE, 1>(addr, [value], pc) };
}

/// A plain store of 16 bytes.
///
/// # Safety
/// As for the store.
pub unsafe extern "C" fn store16(addr: usize, low: u64, high: u64, pc: usize) {
    // SAFETY: as the caller promises.
    unsafe { store_words::<8, 2>(addr, [low, high], pc) };
}

/// Has signals come that were put off, and hands on what was loaded.
#[cold]
#[inline(never)]
extern "C" fn deliver<T>(loaded: T) -> T {
    crate::thread::deliver();
    loaded
}

/// If a pointer was stored, what can be reached is another now.
#[inline(always)]
fn may_be_pointer<const SIZE: usize>(addr: usize, value: u64) {
    if SIZE == 8 && objects::is_like_address(value) && objects::is_remembering() {
        objects::written(addr, SIZE);
    }
}

/// The same for words side by side.
#[inline(always)]
fn may_be_pointers<const SIZE: usize, const WORDS: usize>(addr: usize, words: [u64; WORDS]) {
    for (n, word) in words.into_iter().enumerate() {
        may_be_pointer::<SIZE>(addr + SIZE * n, word);
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
