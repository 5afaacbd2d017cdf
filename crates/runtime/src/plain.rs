//! A race told by the runtime itself, where there is no reporter to tell it: files and offsets in place of names and lines.

use crate::log;
use crate::stacks::Stack;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

static EXPLAINED: AtomicBool = AtomicBool::new(false);

/// Tells a race at `addr` between two accesses: who, what, where; the present one first.
pub fn tell(addr: usize, accesses: [(Option<u32>, &str, Stack); 2]) {
    log::tell(format_args!("data race at {addr:#x}"));
    for ((thread, does, stack), which) in accesses.into_iter().zip(["", "previous "]) {
        match thread {
            Some(0) => log::tell(format_args!("  {which}{does} by main thread:")),
            Some(id) => log::tell(format_args!("  {which}{does} by thread T{id}:")),
            None => log::tell(format_args!("  {which}{does} by an unknown thread:")),
        }
        for (n, pc) in stack.frames().enumerate() {
            // Return addresses: the call is before them.
            frame(n, pc as usize - 1);
        }
    }
    if !EXPLAINED.swap(true, Ordering::Relaxed) {
        log::tell(format_args!("  `addr2line -fie FILE OFFSET` names these places"));
    }
}

fn frame(n: usize, addr: usize) {
    // SAFETY: `info` is filled in where the call succeeds, with strings of the loader's.
    let found = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let known = libc::dladdr(std::ptr::without_provenance::<c_void>(addr), &mut info) != 0
            && !info.dli_fname.is_null();
        known.then(|| (CStr::from_ptr(info.dli_fname), addr - info.dli_fbase.addr()))
    };
    match found {
        Some((file, offset)) => {
            log::tell(format_args!("    #{n} {}+{offset:#x}", file.to_string_lossy()));
        }
        None => log::tell(format_args!("    #{n} {addr:#x}")),
    }
}
