//! What is loaded: the files behind the program's addresses, for the reporter.

use crate::channel::Lines;
use std::ffi::{CStr, c_void};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many objects had been loaded when they were last told, plus one.
static TOLD: AtomicU64 = AtomicU64::new(0);

/// The loaded objects at one moment.
#[derive(Default)]
pub struct Modules {
    lines: Lines,
    loaded: u64,
    /// Where they are: first and last+1 address.
    pub segments: Vec<(usize, usize)>,
    /// Bytes of thread-local storage of all of them, about.
    pub tls: usize,
}

impl Modules {
    /// Looks at them. Not with a lock held that a constructor of a library could wait for: the loader has its own.
    pub fn now() -> Modules {
        let mut modules = Modules::default();
        // SAFETY: the callback gets the pointer back while `modules` lives.
        unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut modules).cast()) };
        modules
    }

    /// The lines that tell them.
    pub fn text(&self) -> &[u8] {
        &self.lines.0
    }

    /// Whether an address is in one of them.
    pub fn have(&self, addr: usize) -> bool {
        self.segments
            .iter()
            .any(|(start, end)| (*start..*end).contains(&addr))
    }

    /// Segments that are not there any more.
    pub fn gone<'a>(&'a self, now: &'a Modules) -> impl Iterator<Item = (usize, usize)> + 'a {
        let segments = self.segments.iter().copied();
        segments.filter(|segment| !now.segments.contains(segment))
    }

    /// Adds the lines that tell them, unless nothing was loaded since they were told last.
    pub fn tell(&self, lines: &mut Lines) {
        if TOLD.swap(self.loaded + 1, Ordering::Relaxed) != self.loaded + 1 {
            lines.0.extend_from_slice(&self.lines.0);
        }
    }
}

/// They will be told again: there is another reporter.
pub fn untold() {
    TOLD.store(0, Ordering::Relaxed);
}

// SAFETY of calling it: only the loader does, with its structure and the pointer that was given to it.
unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _size: usize, modules: *mut c_void) -> i32 {
    // SAFETY: the loader's structure, and our own pointer.
    let (info, modules) = unsafe { (&*info, &mut *modules.cast::<Modules>()) };
    modules.loaded = info.dlpi_adds;
    // SAFETY: the loader's own strings and tables.
    let (name, headers) = unsafe {
        let name = if info.dlpi_name.is_null() {
            String::new()
        } else {
            CStr::from_ptr(info.dlpi_name).to_string_lossy().into_owned()
        };
        (
            name,
            std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()),
        )
    };
    let path = match name.as_str() {
        "" => crate::init::program().to_owned(),
        name if name.starts_with("linux-vdso") => return 0,
        _ => name,
    };
    let at = |vaddr: u64| (info.dlpi_addr + vaddr) as usize;
    let id = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_NOTE)
        .find_map(|header| {
            // SAFETY: a loaded segment.
            let note = unsafe {
                std::slice::from_raw_parts(
                    std::ptr::with_exposed_provenance::<u8>(at(header.p_vaddr)),
                    header.p_memsz as usize,
                )
            };
            build_id(note)
        });
    for header in headers {
        match header.p_type {
            libc::PT_LOAD => {
                let (start, end) = (at(header.p_vaddr), at(header.p_vaddr + header.p_memsz));
                modules.segments.push((start, end));
                let lines = &mut modules.lines;
                let _ = write!(lines, "module\t{start:x}\t{end:x}\t{:x}\t", header.p_offset);
                match id {
                    Some(id) => id.iter().for_each(|byte| {
                        let _ = write!(lines, "{byte:02x}");
                    }),
                    None => lines.text("-"),
                }
                lines.0.push(b'\t');
                lines.text(&path);
                lines.0.push(b'\n');
            }
            libc::PT_TLS => {
                let align = (header.p_align as usize).max(1);
                modules.tls += (header.p_memsz as usize).next_multiple_of(align) + align;
            }
            _ => {}
        }
    }
    0
}

/// The build id in a segment of notes.
fn build_id(mut notes: &[u8]) -> Option<&[u8]> {
    const GNU_BUILD_ID: u32 = 3;
    loop {
        let word = |at: usize| Some(u32::from_le_bytes(notes.get(at..at + 4)?.try_into().ok()?));
        let (name, desc, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let start = 12 + name.next_multiple_of(4);
        let id = notes.get(start..start + desc)?;
        if kind == GNU_BUILD_ID && notes.get(12..16) == Some(b"GNU\0") {
            return Some(id);
        }
        notes = notes.get(start + desc.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_itself_is_a_module() {
        let modules = Modules::now();
        assert!(modules.have((&raw const TOLD).addr()));
        assert!(!modules.have((&raw const modules).addr()), "the stack is in none");
        let text = String::from_utf8_lossy(&modules.lines.0).into_owned();
        let exe = std::env::current_exe().expect("there is one");
        assert!(text.contains(&exe.display().to_string()), "{text}");
    }

    #[test]
    fn a_build_id_is_found_behind_other_notes() {
        let mut notes = vec![4, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0];
        notes.extend(b"GNU\0abc\0");
        notes.extend([4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
        notes.extend(b"GNU\0\xbe\xef\0\0");
        assert_eq!(build_id(&notes), Some(&[0xbe, 0xef][..]));
        assert_eq!(build_id(&notes[..20]), None);
    }
}
