//! Memory straight from the kernel, in the places and with the habits that the runtime needs.
//!
//! System calls are made directly: `mmap` and its kin are intercepted, and what the runtime maps is not the program's.

use crate::limits;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// Where the runtime's own memory begins: between the shadow and where programs are. So the program's mappings are where
/// they would be without the runtime.
const OWN: usize = (deadheat_abi::shadow::BASE + deadheat_abi::shadow::LEN) as usize;
/// Where it ends.
pub const OWN_END: usize = 0x5400_0000_0000;

static NEXT: AtomicUsize = AtomicUsize::new(OWN);

/// Bytes of address space that the runtime has.
static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// How much address space the runtime has.
pub fn mapped() -> usize {
    MAPPED.load(Ordering::Relaxed)
}

/// Maps zeroed memory among the runtime's own. Null if the kernel has none.
pub fn map(len: usize) -> *mut u8 {
    map_own(len, 0).unwrap_or(std::ptr::null_mut())
}

/// Maps zeroed memory where the kernel puts the program's, for what the program will use.
pub fn map_among_the_programs(len: usize) -> Option<*mut u8> {
    map_at(0, len, 0).ok()
}

fn map_own(len: usize, flags: i32) -> Result<*mut u8, i32> {
    // A page between two mappings keeps an overrun from going unnoticed.
    let at = NEXT.fetch_add(len.next_multiple_of(PAGE) + PAGE, Ordering::Relaxed);
    if at.saturating_add(len) > OWN_END {
        return map_at(0, len, flags);
    }
    map_at(at, len, flags | libc::MAP_FIXED_NOREPLACE).or_else(|_| map_at(0, len, flags))
}

/// Maps zeroed memory that is paid for only where touched, at `at` exactly (0: among its own), or says why not.
pub fn reserve(at: usize, len: usize) -> Result<*mut u8, i32> {
    if at == 0 {
        return map_own(len, libc::MAP_NORESERVE);
    }
    let start = map_at(at, len, libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE)?;
    if start.addr() != at {
        // A kernel that does not know the flag takes the address as a hint.
        return Err(libc::EEXIST);
    }
    Ok(start)
}

fn map_at(at: usize, len: usize, flags: i32) -> Result<*mut u8, i32> {
    // What the runtime takes is not to be missing from what the program may take.
    limits::widen(len);
    // SAFETY: a new private mapping; with MAP_FIXED_NOREPLACE it never takes the place of another.
    let got = unsafe { map_anywhere(at, len, flags) };
    if got == -1 {
        return Err(errno());
    }
    MAPPED.fetch_add(len, Ordering::Relaxed);
    Ok(std::ptr::with_exposed_provenance_mut(got as usize))
}

/// # Safety
/// With `MAP_FIXED` in the flags, what is there is not needed any more.
unsafe fn map_anywhere(at: usize, len: usize, flags: i32) -> i64 {
    // SAFETY: as the caller promises.
    unsafe {
        libc::syscall(
            libc::SYS_mmap,
            at,
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags,
            -1,
            0,
        )
    }
}

/// Maps part of a file, shared: at `at`, in the place of what was reserved there, or among its own if that is 0.
pub fn map_file(at: usize, len: usize, fd: i32, offset: u64) -> Result<*mut u8, i32> {
    let at = match at {
        0 => reserve(0, len)?.expose_provenance(),
        at => at,
    };
    let flags = libc::MAP_SHARED | libc::MAP_FIXED;
    // SAFETY: takes the place of the runtime's own memory, which nobody uses.
    let got = unsafe {
        libc::syscall(
            libc::SYS_mmap,
            at,
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            flags,
            fd,
            offset,
        )
    };
    if got == -1 {
        return Err(errno());
    }
    Ok(std::ptr::with_exposed_provenance_mut(at))
}

/// Gives memory back.
///
/// # Safety
/// Nothing uses the pages any more, and they came from here.
pub unsafe fn unmap(start: *mut u8, len: usize) {
    // SAFETY: as the caller promises.
    unsafe { libc::syscall(libc::SYS_munmap, start, len) };
    MAPPED.fetch_sub(len, Ordering::Relaxed);
}

/// Makes whole pages of a [`reserve`]d range zeros again, and gives their memory back. A process that is confined may not be
/// allowed one way or the other; if neither, nothing is checked from here on.
///
/// # Safety
/// The range is the runtime's own, and nobody needs what is in it.
pub unsafe fn zero(start: usize, len: usize) {
    if len == 0 || advise(start, len, libc::MADV_DONTNEED) {
        return;
    }
    // SAFETY: as the caller promises.
    let got = unsafe { map_anywhere(start, len, libc::MAP_NORESERVE | libc::MAP_FIXED) };
    if got == -1 {
        // What is there would be taken for the history of what comes.
        crate::loss::give_up();
    }
}

/// Tells the kernel how pages will be used (`MADV_…`). Whether it listened.
pub fn advise(start: usize, len: usize, advice: i32) -> bool {
    // SAFETY: called for the runtime's own mappings, whose zeroing is what the caller wants.
    unsafe { libc::syscall(libc::SYS_madvise, start, len, advice) == 0 }
}

/// Calls `f` with the address of each page, from `start` on, that has ever been touched; all of them where the kernel does
/// not tell.
pub fn resident(start: usize, len: usize, mut f: impl FnMut(usize)) {
    const AT_ONCE: usize = 1024;
    let mut touched = [0u8; AT_ONCE];
    for at in (start..start + len).step_by(AT_ONCE * PAGE) {
        let pages = (start + len - at).div_ceil(PAGE).min(AT_ONCE);
        // SAFETY: the kernel writes one byte for each page.
        let known = unsafe { libc::syscall(libc::SYS_mincore, at, pages * PAGE, touched.as_mut_ptr()) == 0 };
        for (n, touched) in touched[..pages].iter().enumerate() {
            if !known || touched & 1 == 1 {
                f(at + n * PAGE);
            }
        }
    }
}

/// The last system call's error.
pub fn errno() -> i32 {
    // SAFETY: libc's own thread-local variable.
    unsafe { *libc::__errno_location() }
}

/// A table as large as it will ever be, whose pages are paid for only where touched. Its elements start as zeros.
#[repr(transparent)]
pub struct Table<T> {
    start: AtomicUsize,
    of: PhantomData<T>,
}

// SAFETY: only hands out addresses; what is done with them is the user's business.
unsafe impl<T> Sync for Table<T> {}

impl<T> Table<T> {
    /// A table that is not there yet.
    #[expect(clippy::new_without_default, reason = "for statics only")]
    pub const fn new() -> Table<T> {
        Table {
            start: AtomicUsize::new(0),
            of: PhantomData,
        }
    }

    /// Maps the table, of `len` elements, ahead of its first use, or says why not.
    pub fn reserve(&self, len: usize) -> Result<(), i32> {
        if self.start().is_none() {
            self.map(len)?;
        }
        Ok(())
    }

    /// The element `index` of a table of `len`; the table is mapped at the first call.
    #[inline]
    pub fn at(&self, index: usize, len: usize) -> *mut T {
        debug_assert!(index < len);
        let mut start = self.start.load(Ordering::Relaxed);
        if start == 0 {
            start = self.make(len);
        }
        std::ptr::with_exposed_provenance_mut::<T>(start).wrapping_add(index)
    }

    /// Where it is, if it is mapped.
    pub fn start(&self) -> Option<usize> {
        Some(self.start.load(Ordering::Relaxed)).filter(|start| *start != 0)
    }

    #[cold]
    fn make(&self, len: usize) -> usize {
        match self.map(len) {
            Ok(start) => start,
            Err(error) => crate::log::die("out of address space", error),
        }
    }

    fn map(&self, len: usize) -> Result<usize, i32> {
        let bytes = (len * size_of::<T>()).next_multiple_of(PAGE);
        let mapped = reserve(0, bytes)?;
        let new = mapped.expose_provenance();
        let first = self
            .start
            .compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire);
        match first {
            Ok(_) => {
                advise(new, bytes, libc::MADV_DONTDUMP);
                Ok(new)
            }
            Err(other) => {
                // SAFETY: nobody has seen this mapping.
                unsafe { unmap(mapped, bytes) };
                Ok(other)
            }
        }
    }
}
