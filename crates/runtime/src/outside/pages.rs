//! The parts of a block that are worth looking at: large blocks may have pages that nobody has ever touched.
//!
//! Such a page is all zeros, and looking at it would be the first touch. The kernel knows (`mincore`), but cannot tell them from
//! pages that it has swapped out; where anything is, all are looked at.

use crate::vm::{PAGE, errno};

/// Smaller ones are looked at as they are.
const LARGE: usize = 128 << 10;
/// How many pages the kernel is asked about at a time.
const AT_ONCE: usize = 512;

/// Calls `look` for each part of `start..end` that may be anything but zeros and is not in one of the ranges `hidden`, until it says
/// no. Whether it never did.
pub fn each(
    start: usize,
    end: usize,
    hidden: &[(usize, usize)],
    mut look: impl FnMut(usize, usize) -> bool,
) -> bool {
    let mut look = |start, end| visible(start, end, hidden, &mut look);
    if end - start < LARGE {
        return look(start, end);
    }
    let mut at = start;
    while at < end {
        let first = at / PAGE * PAGE;
        let next = end.min(first + AT_ONCE * PAGE);
        let pages = (next - first).div_ceil(PAGE);
        let touched = touched(first, pages);
        // Neighbours in one piece.
        let mut page = 0;
        while page < pages {
            let is = touched[page] & 1;
            let same = touched[page..pages].iter().take_while(|other| **other & 1 == is);
            let piece = page;
            page += same.count();
            let (from, to) = (first + piece * PAGE, first + page * PAGE);
            if is == 1 && !look(from.max(at), to.min(next)) {
                return false;
            }
        }
        at = next;
    }
    true
}

/// The same for the parts that can be read.
pub fn visible(
    start: usize,
    end: usize,
    hidden: &[(usize, usize)],
    look: &mut impl FnMut(usize, usize) -> bool,
) -> bool {
    let mut at = start;
    while at < end {
        let covers = |hidden: &&(usize, usize)| hidden.0 <= at && at < hidden.1;
        if let Some(hidden) = hidden.iter().find(covers) {
            at = hidden.1;
            continue;
        }
        let begins = hidden.iter().map(|hidden| hidden.0).filter(|begin| *begin > at);
        let next = begins.min().unwrap_or(end).min(end);
        if !look(at, next) {
            return false;
        }
        at = next;
    }
    true
}

/// Whether there is memory at an address.
pub fn is_mapped(addr: usize) -> bool {
    let mut touched = 0u8;
    let error = errno();
    // SAFETY: the kernel writes a byte for the one page.
    let there = unsafe { libc::syscall(libc::SYS_mincore, addr / PAGE * PAGE, PAGE, &raw mut touched) == 0 };
    // Where the kernel may not be asked there may be.
    let there = there || errno() != libc::ENOMEM;
    // The program's error is its own.
    // SAFETY: libc's own thread-local variable.
    unsafe { *libc::__errno_location() = error };
    there
}

/// A byte for each page: the lowest bit is set if it may have been touched.
fn touched(first: usize, pages: usize) -> [u8; AT_ONCE] {
    let mut touched = [1; AT_ONCE];
    let error = errno();
    // SAFETY: the kernel writes a byte for each page, and there are no more than that.
    let known = unsafe { libc::syscall(libc::SYS_mincore, first, pages * PAGE, touched.as_mut_ptr()) == 0 };
    if !known || touched[..pages].contains(&0) && is_swapping() {
        touched = [1; AT_ONCE];
    }
    // The program's error is its own.
    // SAFETY: libc's own thread-local variable.
    unsafe { *libc::__errno_location() = error };
    touched
}

/// Whether anything on this machine may be swapped out.
fn is_swapping() -> bool {
    // SAFETY: numbers, for which zero is a value.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes what it is made for.
    let known = unsafe { libc::syscall(libc::SYS_sysinfo, &raw mut info) == 0 };
    !known || info.freeswap != info.totalswap
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vm;

    fn pieces(start: usize, end: usize, hidden: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut pieces = Vec::new();
        assert!(each(start, end, hidden, |from, to| {
            pieces.push((from, to));
            true
        }));
        pieces
    }

    #[test]
    fn what_is_hidden_is_left_out_and_the_rest_is_not() {
        assert_eq!(pieces(100, 200, &[]), [(100, 200)]);
        let hidden = [(150, 160), (90, 110), (155, 170), (190, 300), (400, 500)];
        assert_eq!(pieces(100, 200, &hidden), [(110, 150), (170, 190)]);
        assert_eq!(pieces(100, 200, &[(100, 200)]), []);
    }

    #[test]
    fn there_is_memory_where_something_is_mapped() {
        let here = 0u8;
        assert!(is_mapped((&raw const here).addr()) && is_mapped(is_mapped as *const () as usize));
        assert!(!is_mapped(0x1_2345) && !is_mapped(1 << 50));
    }

    #[test]
    fn pages_that_were_never_touched_are_left_out_of_large_blocks() {
        const SIZE: usize = 16 << 20;
        let start = vm::map(SIZE).expose_provenance();
        assert_ne!(start, 0, "there is memory");
        let places = [24, 5 << 20, (5 << 20) + PAGE, SIZE - 8];
        for place in places {
            // SAFETY: in the mapping.
            unsafe { std::ptr::with_exposed_provenance_mut::<usize>(start + place).write(1) };
        }
        let found = pieces(start + 16, start + SIZE - 4, &[]);
        assert!(places.iter().all(|place| {
            let at = start + place;
            found.iter().any(|(from, to)| (*from..*to).contains(&at))
        }));
        // A page may be larger than we think, but not as large as that.
        let all: usize = found.iter().map(|(from, to)| to - from).sum();
        assert!(all < SIZE || is_swapping(), "{all}");
        assert!(!each(start, start + SIZE, &[], |_, _| false));
    }
}
