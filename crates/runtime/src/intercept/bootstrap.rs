//! A little memory for `dlsym`, which may allocate while the real allocator is being looked up. Never given back.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};

const LEN: usize = 64 << 10;

#[repr(align(64))]
struct Arena(UnsafeCell<[u8; LEN]>);

// SAFETY: every byte is handed out at most once.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena(UnsafeCell::new([0; LEN]));
static USED: AtomicUsize = AtomicUsize::new(0);

/// Zeroed memory, aligned to 16 bytes; null if there is no more.
pub fn allocate(size: usize) -> *mut u8 {
    if size > LEN {
        return core::ptr::null_mut();
    }
    let at = USED.fetch_add(size.max(1).next_multiple_of(16), Ordering::Relaxed);
    if at + size > LEN {
        return core::ptr::null_mut();
    }
    ARENA.0.get().cast::<u8>().wrapping_add(at)
}

/// How many bytes there are from `block` to the arena's end, if it is of the arena.
pub fn room(block: usize) -> Option<usize> {
    let start = ARENA.0.get() as usize;
    (start..start + LEN).contains(&block).then(|| start + LEN - block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_apart_aligned_and_known() {
        let (one, two) = (allocate(3) as usize, allocate(40) as usize);
        assert!(one % 16 == 0 && two % 16 == 0 && two >= one + 16);
        assert!(room(one).is_some_and(|room| room >= 3) && room(two).is_some_and(|room| room >= 40));
        assert_eq!(room(&raw const one as usize), None);
        assert!(allocate(LEN + 1).is_null());
    }
}
