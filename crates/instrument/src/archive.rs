//! Archives (`.a`, `.rlib`): members in and out, in the same order and with the same names, so that a linker which picks
//! members by the symbols they define picks the same ones.

use ar_archive_writer::{ArchiveKind, NewArchiveMember, ObjectReader, write_archive_to_stream};
use object::read::archive::ArchiveFile;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, SymbolKind};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const MAGIC: &[u8] = b"!<arch>\n";
const THIN_MAGIC: &[u8] = b"!<thin>\n";

/// Whether the file `data` is an archive.
pub fn is_archive(data: &[u8]) -> bool {
    data.starts_with(MAGIC) || is_thin(data)
}

/// Whether the file `data` is an archive that only names its members.
pub fn is_thin(data: &[u8]) -> bool {
    data.starts_with(THIN_MAGIC)
}

/// A member of an archive.
#[derive(Debug)]
pub struct Member<'a> {
    /// Its name.
    pub name: String,
    /// Its contents.
    pub data: Data<'a>,
}

/// Contents of a member.
#[derive(Debug)]
pub enum Data<'a> {
    /// Part of the archive.
    Inside(&'a [u8]),
    /// Read from a file that a thin archive names, or made.
    Owned(Vec<u8>),
}

impl AsRef<[u8]> for Data<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Data::Inside(data) => data,
            Data::Owned(data) => data,
        }
    }
}

/// The members of the archive `data`, which was read from `path`.
pub fn members<'a>(data: &'a [u8], path: &Path) -> io::Result<Vec<Member<'a>>> {
    let archive = ArchiveFile::parse(data).map_err(invalid)?;
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member.map_err(invalid)?;
        let contents = if member.is_thin() {
            // Relative to the archive.
            let file = path
                .parent()
                .unwrap_or(Path::new(""))
                .join(OsStr::from_bytes(member.name()));
            let contents = std::fs::read(&file)
                .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?;
            Data::Owned(contents)
        } else {
            Data::Inside(member.data(data).map_err(invalid)?)
        };
        members.push(Member {
            name: String::from_utf8_lossy(member.name()).into_owned(),
            data: contents,
        });
    }
    Ok(members)
}

/// An archive of `members`, with a symbol table.
pub fn write(members: Vec<Member<'_>>) -> io::Result<Vec<u8>> {
    let members: Vec<NewArchiveMember<'_>> = members
        .into_iter()
        .map(|member| NewArchiveMember::new(member.data, &READER, base_name(&member.name)))
        .collect();
    let mut out = io::Cursor::new(Vec::new());
    write_archive_to_stream(&mut out, &members, ArchiveKind::Gnu, false, None)?;
    Ok(out.into_inner())
}

/// Names of members have no directories; those of thin archives do.
fn base_name(name: &str) -> String {
    name.rsplit('/').next().unwrap_or(name).to_owned()
}

fn invalid(error: object::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// How the writer finds the symbols of a member. Members that are no ELF objects have none.
const READER: ObjectReader = ObjectReader {
    get_symbols: symbols,
    is_64_bit_object_file: |_| true,
    is_ec_object_file: |_| false,
    is_any_arm64_coff: |_| false,
    get_xcoff_member_alignment: |_| 2,
};

fn symbols(data: &[u8], found: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<bool> {
    let Ok(file) = ElfFile64::<Endianness>::parse(data) else {
        return Ok(false);
    };
    for symbol in file.symbols() {
        let named = !matches!(symbol.kind(), SymbolKind::File | SymbolKind::Section);
        if named && symbol.is_global() && !symbol.is_undefined() {
            found(symbol.name_bytes().map_err(invalid)?)?;
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    /// Compiles one object for each of `sources` and has `ar` put them together.
    fn archive(directory: &Path, flags: &str, sources: &[(&str, &str)]) -> Vec<u8> {
        // `ar` would add to it.
        let _ = fs::remove_file(directory.join("lib.a"));
        let mut ar = Command::new("ar");
        ar.current_dir(directory).args([flags, "lib.a"]);
        for (name, source) in sources {
            fs::write(directory.join("source.c"), source).unwrap();
            let mut cc = Command::new("cc");
            cc.current_dir(directory).args(["-c", "source.c", "-o", name]);
            assert!(cc.status().unwrap().success());
            ar.arg(name);
        }
        assert!(ar.status().unwrap().success());
        fs::read(directory.join("lib.a")).unwrap()
    }

    /// What binutils sees in an archive.
    fn seen(data: &[u8], tool: &str, flag: &str) -> String {
        let file = tempfile::NamedTempFile::with_suffix(".a").unwrap();
        fs::write(file.path(), data).unwrap();
        let output = Command::new(tool).arg(flag).arg(file.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.replace(file.path().to_str().unwrap(), "")
    }

    const SOURCES: &[(&str, &str)] = &[
        (
            "one.o",
            "int one(void) { return 1; } static int hidden = 2; int *p = &hidden;",
        ),
        (
            "a_name_longer_than_sixteen_bytes.o",
            "extern int one(void); int two(void) { return one() + 1; }",
        ),
        ("weak.o", "__attribute__((weak)) int three = 3; int common[4];"),
    ];

    #[test]
    fn members_symbols_and_order_stay() {
        let directory = tempfile::tempdir().unwrap();
        let data = archive(directory.path(), "rcsD", SOURCES);
        let again = write(members(&data, &directory.path().join("lib.a")).unwrap()).unwrap();
        for (tool, flag) in [("ar", "t"), ("nm", "--print-armap"), ("nm", "-g")] {
            assert_eq!(seen(&data, tool, flag), seen(&again, tool, flag), "{tool} {flag}");
        }
    }

    #[test]
    fn a_thin_archive_becomes_a_whole_one() {
        let directory = tempfile::tempdir().unwrap();
        let thin = archive(directory.path(), "rcsDT", SOURCES);
        assert!(is_thin(&thin));
        let again = write(members(&thin, &directory.path().join("lib.a")).unwrap()).unwrap();
        assert!(is_archive(&again) && !is_thin(&again));
        assert_eq!(
            seen(&again, "ar", "t"),
            "one.o\na_name_longer_than_sixteen_bytes.o\nweak.o\n"
        );
        for symbol in ["one", "two", "three", "common", "p"] {
            let line = format!("{symbol} in ");
            assert!(seen(&again, "nm", "--print-armap").contains(&line), "{symbol}");
        }
    }

    #[test]
    fn damaged_archives_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let data = archive(directory.path(), "rcsD", SOURCES);
        assert!(members(&data[..data.len() - 100], Path::new("lib.a")).is_err());
        let thin = archive(directory.path(), "rcsDT", SOURCES);
        let error = members(&thin, Path::new("nowhere/lib.a")).unwrap_err();
        assert!(error.to_string().contains("nowhere/"), "{error}");
    }
}
