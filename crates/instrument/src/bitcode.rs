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
    /// What clang was told, if it says so: words that end with a zero byte each.
    command: &'a [u8],
}

/// How bitcode comes to be in a linker's input. It decides how it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The compiler wrote bitcode instead of an object, to be compiled as the link's options say.
    File,
    /// The compiler wrote an object and kept the bitcode in it. The object is made already, so the link's options are
    /// not meant for it.
    Section,
    /// The same, by our own compiler.
    Hidden,
}

impl<'a> Bitcode<'a> {
    /// The optimisation level that the object was made with, if it says so: clang tells its command, and without a level that is 0.
    pub fn level(&self) -> Option<u8> {
        let mut levels = self.words().filter_map(|word| word.strip_prefix(b"-O"));
        match levels.next_back() {
            Some([digit @ b'0'..=b'3']) => Some(digit - b'0'),
            Some(b"" | b"g") => Some(1),
            Some(_) => Some(2),
            None => (self.words().next() == Some(b"-cc1")).then_some(0),
        }
    }

    /// Where the program is to write its profile, if the user said so.
    pub fn profile(&self) -> Option<String> {
        let path = self
            .words()
            .filter_map(|word| word.strip_prefix(b"-fprofile-instrument-path="))
            .next_back()?;
        String::from_utf8(path.to_vec()).ok()
    }

    fn words(&self) -> impl DoubleEndedIterator<Item = &'a [u8]> {
        self.command.split(|byte| *byte == 0)
    }

    /// The modules, one behind the other: `ld -r` puts together sections of the same name.
    pub fn modules(&self) -> Vec<&'a [u8]> {
        split(self.bytes).unwrap_or_else(|| vec![self.bytes])
    }
}

/// The bitcode in the file `data`, if there is any.
pub fn find(data: &[u8]) -> Option<Bitcode<'_>> {
    let is_bitcode = |bytes: &[u8]| bytes.starts_with(RAW) || bytes.starts_with(WRAPPED);
    if is_bitcode(data) {
        return Some(Bitcode {
            bytes: data,
            origin: Origin::File,
            command: b"",
        });
    }
    let (bytes, origin) = [(SECTION, Origin::Section), (HIDDEN, Origin::Hidden)]
        .iter()
        .find_map(|(name, origin)| Some((section(data, name)?, *origin)))?;
    // The section may be there only as a marker.
    is_bitcode(bytes).then(|| Bitcode {
        bytes,
        origin,
        command: section(data, b".llvmcmd").unwrap_or_default(),
    })
}

/// Takes modules apart that stand one behind the other. A module is a sequence of blocks behind a magic number. A block
/// begins with its number, of which the lowest two bits are 01, and its length, each in four bytes.
fn split(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    const MAGIC: usize = RAW.len();
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let mut modules = Vec::new();
    let (mut start, mut at) = (0, MAGIC);
    while at < bytes.len() {
        if bytes[at..].starts_with(RAW) {
            modules.push(&bytes[start..at]);
            (start, at) = (at, at + MAGIC);
        } else if word(at)? & 3 == 1 {
            at = at.checked_add(8 + 4 * word(at + 4)? as usize)?;
        } else {
            return None;
        }
    }
    modules.push(bytes.get(start..at)?);
    Some(modules)
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
            (b"-cc1\0-triple\0x86_64\0", Some(0)),
            (b"-cc1\0-O2\0", Some(2)),
            (b"-O2\0", Some(2)),
            (b"-O2\0-O0\0", Some(0)),
            (b"-Os\0", Some(2)),
            (b"-O\0", Some(1)),
        ] {
            let bitcode = Bitcode {
                bytes: RAW,
                origin: Origin::Section,
                command,
            };
            assert_eq!(bitcode.level(), expect);
        }
    }

    #[test]
    fn modules_that_stand_together_are_taken_apart() {
        // Blocks 13 and 8 of one word and of none, as LLVM's writer has them.
        let module = |last: u8| {
            let words = [
                [0x35, 0x14, 0, 0],
                [1, 0, 0, 0],
                [last; 4],
                [0x21, 0x0c, 0, 0],
                [0; 4],
            ];
            [RAW, words.as_flattened()].concat()
        };
        let (one, two) = (module(1), module(2));
        assert_eq!(split(&one), Some(vec![&one[..]]));
        let both = [&one[..], &two[..]].concat();
        assert_eq!(split(&both), Some(vec![&one[..], &two[..]]));
        for damaged in [
            &both[..both.len() - 1],
            &both[..both.len() - 4],
            &both[4..],
            &b"BC\xc0\xde\x00\x00\x00\x00"[..],
        ] {
            assert_eq!(split(damaged), None);
        }
    }
}
