//! Which code is instrumented: the objects that need this library are, the others have nobody's checks in them.
//!
//! A context value names the callers of an *instrumented* function. Where libc or libstdc++ calls into the runtime for it
//! (`operator new` calls `malloc`), its own frames lie in between, and from which line it was called is only on the
//! stack: see `stacks::outside`.

use crate::spin::Spin;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// An object's addresses. `end` is 0 until it is written, and its lowest bit tells whether the object is instrumented.
struct Object {
    start: AtomicUsize,
    end: AtomicUsize,
}

const OBJECTS: usize = 256;

#[expect(clippy::declare_interior_mutable_const, reason = "the first value of each")]
const NONE: Object = Object {
    start: AtomicUsize::new(0),
    end: AtomicUsize::new(0),
};

static KNOWN: [Object; OBJECTS] = [NONE; OBJECTS];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static ADDING: Spin<()> = Spin::new(());

/// Whether the code at `pc` is in an instrumented object. Parts of such an object may still not be: assembly, say.
pub fn instrumented(pc: usize) -> bool {
    let count = COUNT.load(Ordering::Acquire).min(OBJECTS);
    for object in &KNOWN[..count] {
        let end = object.end.load(Ordering::Relaxed);
        if pc < end && pc >= object.start.load(Ordering::Relaxed) {
            return end & 1 != 0;
        }
    }
    look_up(pc)
}

/// Forgets all of them: code may be somewhere else from now on.
pub fn forget() {
    COUNT.store(0, Ordering::Release);
}

/// Takes the lock, before a `fork`.
pub fn hold() {
    ADDING.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    ADDING.let_go();
}

#[cold]
fn look_up(pc: usize) -> bool {
    let mut search = Search { pc, found: None };
    // SAFETY: the callback gets the pointer back while `search` lives. No lock of ours is held: the loader has its own.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut search).cast()) };
    // Code in no object was made by the program while it ran.
    let Some((start, end, instrumented)) = search.found else {
        return false;
    };
    let _adding = ADDING.lock();
    let count = COUNT.load(Ordering::Relaxed);
    if let Some(object) = KNOWN.get(count) {
        object.start.store(start, Ordering::Relaxed);
        object
            .end
            .store(end & !1 | usize::from(instrumented), Ordering::Relaxed);
        COUNT.store(count + 1, Ordering::Release);
    }
    instrumented
}

struct Search {
    pc: usize,
    found: Option<(usize, usize, bool)>,
}

/// # Safety
/// Called by `dl_iterate_phdr` with a [`Search`].
unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _size: usize, search: *mut c_void) -> i32 {
    // SAFETY: the loader's structures, and our own pointer.
    let (info, search, headers) = unsafe {
        let headers = std::slice::from_raw_parts((*info).dlpi_phdr, (*info).dlpi_phnum.into());
        (&*info, &mut *search.cast::<Search>(), headers)
    };
    let at = |vaddr: u64| (info.dlpi_addr + vaddr) as usize;
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let found = loaded
        .map(|header| (at(header.p_vaddr), at(header.p_vaddr + header.p_memsz)))
        .find(|(start, end)| (*start..*end).contains(&search.pc));
    let Some((start, end)) = found else {
        return 0;
    };
    let dynamic = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC);
    // SAFETY: the object's dynamic section, which the loader has relocated.
    let needs = dynamic.is_some_and(|header| unsafe { needs_runtime(at(header.p_vaddr)) });
    search.found = Some((start, end, needs));
    1
}

/// Whether the object with this dynamic section needs the runtime.
///
/// # Safety
/// The dynamic section of a loaded object.
unsafe fn needs_runtime(dynamic: usize) -> bool {
    const DT_NULL: u64 = 0;
    const DT_NEEDED: u64 = 1;
    const DT_STRTAB: u64 = 5;
    let entries = || {
        let mut next = std::ptr::with_exposed_provenance::<[u64; 2]>(dynamic);
        std::iter::from_fn(move || {
            // SAFETY: the section ends with DT_NULL.
            let entry = unsafe { next.read() };
            next = next.wrapping_add(1);
            (entry[0] != DT_NULL).then_some(entry)
        })
    };
    let Some([_, strings]) = entries().find(|entry| entry[0] == DT_STRTAB) else {
        return false;
    };
    entries().filter(|entry| entry[0] == DT_NEEDED).any(|[_, name]| {
        let name = std::ptr::with_exposed_provenance((strings + name) as usize);
        // SAFETY: a string of the object's table.
        let name = unsafe { CStr::from_ptr(name) }.to_bytes();
        name.windows(NAME.len()).any(|window| window == NAME)
    })
}

/// In the file name of this library.
const NAME: &[u8] = b"deadheat_rt";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_does_not_need_the_runtime_is_not_instrumented() {
        assert!(!instrumented(libc::malloc as *const () as usize));
        assert!(!instrumented(needs_runtime as *const () as usize));
        assert!(!instrumented(0), "no code at all");
    }
}
