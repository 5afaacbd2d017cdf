//! Looks at linked programs: is our runtime in one?

use object::elf;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, StringTable};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The runtime's file name begins with this.
pub const RUNTIME: &str = "libdeadheat_rt";

/// What a file is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program or library that was linked with the runtime, to be checked.
    Instrumented,
    /// One to be recorded.
    Recordable,
    /// One that was not.
    Plain,
    /// Not an ELF file for this machine.
    Other,
}

/// Looks at the file at `path`.
pub fn kind(path: &Path) -> io::Result<Kind> {
    let file = std::fs::File::open(path)?;
    // SAFETY: The map is private and only read. Whoever truncates a program while it is being started gets a signal
    // here instead of in the program.
    let data = unsafe { memmap2::Mmap::map(&file) }?;
    Ok(kind_of(&data))
}

fn kind_of(data: &[u8]) -> Kind {
    let Ok(header) = elf::FileHeader64::<Endianness>::parse(data) else {
        return Kind::Other;
    };
    if needed(header, data).is_some_and(|names| names.into_iter().any(is_runtime)) {
        match has_note(header, data) {
            true => Kind::Recordable,
            false => Kind::Instrumented,
        }
    } else {
        Kind::Plain
    }
}

/// The owner of the note in programs that are to be recorded.
const OWNER: &str = "deadheat";
const RECORDABLE: u32 = 1;

/// Assembly of that note.
pub fn note() -> [String; 4] {
    [
        ".section .note.deadheat, \\22a\\22, @note".to_owned(),
        ".p2align 2".to_owned(),
        format!(".long {}, 0, {RECORDABLE}", OWNER.len() + 4),
        // The name ends with a zero, and its length is a multiple of four.
        format!(".ascii \\22{OWNER}\\22, \\22\\\\0\\\\0\\\\0\\\\0\\22"),
    ]
}

fn has_note(header: &elf::FileHeader64<Endianness>, data: &[u8]) -> bool {
    let Ok(endian) = header.endian() else { return false };
    let segments = header.program_headers(endian, data).unwrap_or_default();
    segments.iter().any(|segment| {
        let Ok(Some(mut notes)) = segment.notes(endian, data) else {
            return false;
        };
        std::iter::from_fn(|| notes.next().ok().flatten())
            .any(|note| note.name() == OWNER.as_bytes() && note.n_type(endian) == RECORDABLE)
    })
}

fn is_runtime(name: &[u8]) -> bool {
    let path = Path::new(std::ffi::OsStr::from_bytes(name));
    path.file_name()
        .is_some_and(|name| name.as_bytes().starts_with(RUNTIME.as_bytes()))
}

/// The libraries that the file asks for.
fn needed<'a>(header: &elf::FileHeader64<Endianness>, data: &'a [u8]) -> Option<Vec<&'a [u8]>> {
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, data).ok()?;
    let dynamic = segments
        .iter()
        .find_map(|segment| segment.dynamic(endian, data).ok().flatten())?;
    let value = |tag: i64| {
        dynamic
            .iter()
            .find(|entry| entry.d_tag(endian) == tag)
            .map(|entry| entry.d_val(endian))
    };
    let (start, size) = (value(elf::DT_STRTAB)?, value(elf::DT_STRSZ)?);
    // DT_STRTAB is an address; the segment that holds it says where it is in the file.
    let strings = segments
        .iter()
        .filter(|segment| segment.p_type(endian) == elf::PT_LOAD)
        .find_map(|segment| segment.data_range(endian, data, start, size).ok().flatten())?;
    let strings = StringTable::new(strings, 0, strings.len() as u64);
    Some(
        dynamic
            .iter()
            .take_while(|entry| entry.d_tag(endian) != elf::DT_NULL)
            .filter(|entry| entry.d_tag(endian) == elf::DT_NEEDED)
            .filter_map(|entry| entry.string(endian, strings).ok())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_runtime_are_known_with_and_without_a_path() {
        for (name, expect) in [
            ("/a/b/libdeadheat_rt.so", true),
            ("libdeadheat_rt-1.so", true),
            ("libc.so.6", false),
            ("/libdeadheat_rt/libc.so.6", false),
        ] {
            assert_eq!(is_runtime(name.as_bytes()), expect, "{name}");
        }
    }

    #[test]
    fn this_program_is_not_instrumented_and_text_is_no_program() {
        let here = std::env::current_exe().unwrap();
        assert_eq!(kind(&here).unwrap(), Kind::Plain);
        assert_eq!(kind_of(b"#!/bin/sh\n"), Kind::Other);
        assert_eq!(kind_of(b""), Kind::Other);
    }
}
