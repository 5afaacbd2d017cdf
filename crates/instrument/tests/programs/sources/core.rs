//! Rust without its standard library: references, slices, atomics, moves.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering, fence};

#[repr(C, align(64))]
pub struct Memory(core::cell::UnsafeCell<[u64; 32]>);
// SAFETY: there is one thread.
unsafe impl Sync for Memory {}

#[unsafe(no_mangle)]
pub static mem: Memory = Memory(core::cell::UnsafeCell::new([0; 32]));

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// The precompiled library asks for it.
#[unsafe(no_mangle)]
pub extern "C" fn rust_eh_personality() {}

#[inline(never)]
fn swap(a: &mut u64, b: &mut u64) {
    core::mem::swap(a, b)
}

#[unsafe(no_mangle)]
pub extern "C" fn main() -> i32 {
    let m = mem.0.get().cast::<u64>();
    // SAFETY: all of it lies within `mem`, which nobody else uses.
    unsafe {
        m.add(1).write_volatile(7); // expect: write8 8
        let _ = m.cast::<u8>().add(3).read_volatile(); // expect: read1 3
        let count = &*m.add(4).cast::<AtomicU32>();
        // expect: begin 32
        // expect: end 32 4 update release
        count.fetch_sub(1, Ordering::Release);
        fence(Ordering::Acquire); // expect: fence acquire
        // Reads of both, writes of both.
        // expect: read8 8
        // expect: read8 24
        // expect: write8 8
        // expect: write8 24
        swap(&mut *m.add(1), &mut *m.add(3));
    }
    0
}
