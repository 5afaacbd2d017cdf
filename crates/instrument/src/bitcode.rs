//! Where the bitcode is in a file: the file itself, or a section of an object.

use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, elf};

/// LLVM's bitcode begins with this.
const RAW: &[u8] = b"BC\xc0\xde";
/// Or with this, in a wrapper that LLVM's reader takes off.
const WRAPPED: &[u8] = b"\xde\xc0\x17\x0b";

/// The section for bitcode in an object.
const SECTION: &[u8] = b".llvmbc";
/// The same under a name that nobody else knows. Tools with a plugin for LLVM's own name (`ar`, `nm`, `ld`) complain of
/// bitcode that is newer than their plugin.
const HIDDEN: &[u8] = b".dhbc00";

/// A module of LLVM bitcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitcode<'a> {
    /// The module.
    pub bytes: &'a [u8],
    /// How it came to be there.
    pub origin: Origin,
}

/// How bitcode comes to be in a linker's input. It decides how it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The compiler wrote bitcode instead of an object, to be compiled as the link's options say.
    File,
    /// The compiler wrote an object and kept the bitcode in it. The object is made already, so the link's options are
    /// not meant for it; this is the optimisation level it was made with, if it says so.
    Section(Option<u8>),
}

/// The bitcode in the file `data`, if there is any.
pub fn find(data: &[u8]) -> Option<Bitcode<'_>> {
    if data.starts_with(RAW) || data.starts_with(WRAPPED) {
        return Some(Bitcode {
            bytes: data,
            origin: Origin::File,
        });
    }
    let bytes = [SECTION, HIDDEN].iter().find_map(|name| section(data, name))?;
    // The section may be there only as a marker.
    if !(bytes.starts_with(RAW) || bytes.starts_with(WRAPPED)) {
        return None;
    }
    let level = section(data, b".llvmcmd").and_then(level);
    Some(Bitcode {
        bytes,
        origin: Origin::Section(level),
    })
}

/// Where in an object the name of its section for bitcode stands, and what to put there so that only [`find`] knows it.
pub fn name_to_hide(data: &[u8]) -> Option<(u64, &'static [u8])> {
    let header = elf::FileHeader64::<Endianness>::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, data).ok()?;
    let (_, bitcode) = sections.section_by_name(endian, SECTION)?;
    let names = sections
        .section(object::SectionIndex(header.shstrndx(endian, data).ok()? as usize))
        .ok()?;
    let at = names.sh_offset(endian) + u64::from(bitcode.sh_name(endian));
    Some((at, HIDDEN))
}

const _: () = assert!(SECTION.len() == HIDDEN.len());

/// Contents of a section of a relocatable ELF object.
fn section<'a>(data: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let header = elf::FileHeader64::<Endianness>::parse(data).ok()?;
    let endian = header.endian().ok()?;
    if header.e_type(endian) != elf::ET_REL {
        return None;
    }
    let sections = header.sections(endian, data).ok()?;
    let (_, section) = sections.section_by_name(endian, name)?;
    section.data(endian, data).ok()
}

/// The optimisation level among clang's arguments, each of which ends with a zero byte.
fn level(command: &[u8]) -> Option<u8> {
    command
        .split(|byte| *byte == 0)
        .filter_map(|word| word.strip_prefix(b"-O"))
        .next_back()
        .map(|level| match level {
            [digit @ b'0'..=b'3'] => digit - b'0',
            b"" | b"g" => 1,
            _ => 2,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_and_wrapped_bitcode_is_the_whole_file() {
        for magic in [RAW, WRAPPED] {
            let file = [magic, b"rest"].concat();
            let found = find(&file).unwrap();
            assert_eq!((found.bytes, found.origin), (&file[..], Origin::File));
        }
        for other in [&b""[..], b"BC", b"\x7fELF", b"!<arch>\n", b"INPUT(-lfoo)"] {
            assert_eq!(find(other), None);
        }
    }

    #[test]
    fn the_last_level_of_a_command_counts() {
        for (command, expect) in [
            (&b""[..], None),
            (b"-triple\0x86_64\0", None),
            (b"-O2\0", Some(2)),
            (b"-O2\0-O0\0", Some(0)),
            (b"-Os\0", Some(2)),
            (b"-O\0", Some(1)),
        ] {
            assert_eq!(level(command), expect);
        }
    }
}
