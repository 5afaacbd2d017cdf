//! The runtime's own memory: size classes over pages from the kernel, never the program's heap.
//!
//! Blocks of a class are handed out from a list; a class has one lock. Blocks above the largest class are mappings of
//! their own. Nothing here calls libc, so it works before `main`, in signal handlers' shadow (a thread inside the runtime
//! is not entered again) and, with the locks taken around it, after `fork`.

use crate::loss;
use crate::spin::Spin;
use crate::vm::{self, PAGE};
use std::alloc::{GlobalAlloc, Layout};
use std::ops::Range;
use std::ptr::null_mut;

/// The allocator.
pub struct Alloc;

#[cfg(not(test))]
#[global_allocator]
static ALLOC: Alloc = Alloc;

/// Sizes go up by quarters of powers of two from 16: 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, …
const CLASSES: usize = 48;
const LARGEST: usize = 1 << 15;
/// How much a class takes from the kernel at once.
const CHUNK: usize = 1 << 18;

struct Class {
    /// Blocks given back: each begins with the address of the next.
    free: usize,
    /// What is left of the last chunk.
    next: usize,
    end: usize,
}

static CLASS: [Spin<Class>; CLASSES] = [const {
    Spin::new(Class {
        free: 0,
        next: 0,
        end: 0,
    })
}; CLASSES];

/// The class of a size, and its block size.
#[inline]
fn class(size: usize) -> (usize, usize) {
    let size = size.max(1);
    if size <= 128 {
        let n = size.div_ceil(16);
        return (n - 1, n * 16);
    }
    // The power of two below, and which quarter above it.
    let power = (size - 1).ilog2();
    let quarter = (size - 1) >> (power - 2) & 3;
    let block = (1 << power) + ((quarter + 1) << (power - 2));
    (8 + (power as usize - 7) * 4 + quarter, block)
}

const _: () = assert!(8 + (14 - 7) * 4 + 3 < CLASSES, "the largest class has a place");

impl Class {
    fn take(&mut self, block: usize) -> *mut u8 {
        if self.free != 0 {
            let taken = std::ptr::with_exposed_provenance_mut::<u8>(self.free);
            // SAFETY: a block in the list begins with the address of the next.
            self.free = unsafe { *taken.cast::<usize>() };
            return taken;
        }
        if self.end - self.next < block {
            let chunk = map(CHUNK);
            if chunk.is_null() {
                return null_mut();
            }
            vm::advise(chunk.addr(), CHUNK, libc::MADV_DONTDUMP);
            self.next = chunk.expose_provenance();
            self.end = self.next + CHUNK;
        }
        let taken = self.next;
        self.next += block;
        std::ptr::with_exposed_provenance_mut(taken)
    }
}

/// Address space put by for when the kernel has none: the program goes on then, so the runtime has to.
static PUT_BY: Spin<Range<usize>> = Spin::new(0..0);
const BYTES_PUT_BY: usize = 256 << 20;

/// Puts memory by. Whether it could be; an error number.
pub fn put_by() -> Result<(), i32> {
    let start = vm::reserve(0, BYTES_PUT_BY)?.expose_provenance();
    *PUT_BY.lock() = start..start + BYTES_PUT_BY;
    Ok(())
}

/// Memory from the kernel, or from what was put by. Half of that is for going on, the rest for coming to an end: what is
/// under way when nothing new is begun any more, and the report.
fn map(len: usize) -> *mut u8 {
    let mapped = vm::map(len);
    if !mapped.is_null() {
        return mapped;
    }
    let mut left = PUT_BY.lock();
    if left.len() < len {
        return null_mut();
    }
    let taken = left.start;
    left.start += len;
    if left.len() < BYTES_PUT_BY / 2 {
        loss::give_up();
    }
    std::ptr::with_exposed_provenance_mut(taken)
}

/// Whether a layout is served by a class: the block sizes are multiples of 16, and, as chunks begin at pages, powers of two of
/// themselves up to a page.
#[inline]
fn small(layout: Layout) -> bool {
    let (size, align) = (layout.size(), layout.align());
    size <= LARGEST && (align <= 16 || size.is_power_of_two() && align <= size.min(PAGE))
}

fn mapped_len(layout: Layout) -> usize {
    layout.size().max(1).next_multiple_of(PAGE)
}

// SAFETY: blocks are disjoint, aligned to 16 (or a page), and live until given back.
unsafe impl GlobalAlloc for Alloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if small(layout) {
            let (class, block) = class(layout.size());
            return CLASS[class].lock().take(block);
        }
        if layout.align() > PAGE {
            return null_mut();
        }
        map(mapped_len(layout))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let start = unsafe { self.alloc(layout) };
        if small(layout) && !start.is_null() {
            // SAFETY: the block is this large. Mappings are zero already.
            unsafe { start.write_bytes(0, layout.size()) };
        }
        start
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if small(layout) {
            let (class, _) = class(layout.size());
            let mut class = CLASS[class].lock();
            // SAFETY: the block is free, and large enough for an address.
            unsafe { *start.cast::<usize>() = class.free };
            class.free = start.expose_provenance();
        } else {
            // SAFETY: mapped by `alloc` with the same length.
            unsafe { vm::unmap(start, mapped_len(layout)) };
        }
    }
}

/// Takes all locks, before a `fork`.
pub fn hold() {
    CLASS.iter().for_each(Spin::hold);
    PUT_BY.hold();
}

/// Gives them back, after it.
pub fn let_go() {
    PUT_BY.let_go();
    CLASS.iter().for_each(Spin::let_go);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_a_class_with_room_and_little_waste() {
        let mut last = (0, 0);
        for size in 1..=LARGEST {
            let (class, block) = class(size);
            assert!(block >= size && block.is_multiple_of(16), "{size}: {block}");
            assert!(block - size < 16 || block - size <= size / 4, "{size}: {block}");
            assert!(class < CLASSES && (class, block) >= last, "{size}: {class}");
            assert!(class == last.0 || class == last.0 + 1 || size == 1);
            last = (class, block);
        }
    }

    #[test]
    fn blocks_are_aligned() {
        for (size, align) in [
            (64, 64),
            (128, 64),
            (128, 128),
            (4096, 4096),
            (8192, 4096),
            (96, 32),
            (40, 8),
        ] {
            let layout = Layout::from_size_align(size, align).expect("a layout");
            // SAFETY: the size is not 0; blocks are given back once.
            unsafe {
                let blocks = [(); 5].map(|()| Alloc.alloc(layout));
                for block in blocks {
                    assert_eq!(block.addr() % align, 0, "{size} bytes");
                    Alloc.dealloc(block, layout);
                }
            }
        }
    }

    #[test]
    fn blocks_do_not_overlap_and_keep_what_is_in_them() {
        let mut blocks = Vec::new();
        for n in 0..4000usize {
            let layout = Layout::from_size_align(1 + n * 37 % 5000, 8).expect("a layout");
            // SAFETY: the size is not 0; each block is written within its size and given back once.
            unsafe {
                let start = Alloc.alloc(layout);
                assert!(!start.is_null() && start.addr().is_multiple_of(16));
                start.write_bytes(n as u8, layout.size());
                blocks.push((start, layout, n as u8));
                if n % 3 == 0 {
                    let (start, layout, _) = blocks.swap_remove(n % blocks.len());
                    Alloc.dealloc(start, layout);
                }
            }
        }
        for (start, layout, byte) in blocks {
            // SAFETY: as above.
            unsafe {
                assert!((0..layout.size()).all(|i| *start.add(i) == byte));
                Alloc.dealloc(start, layout);
            }
        }
    }

    #[test]
    fn large_and_strict_layouts_are_mappings() {
        let layout = Layout::from_size_align(100, 4096).expect("a layout");
        // SAFETY: given back with the same layout.
        unsafe {
            let start = Alloc.alloc_zeroed(layout);
            assert_eq!(start.addr() % 4096, 0);
            assert_eq!(*start, 0);
            Alloc.dealloc(start, layout);
        }
    }
}
