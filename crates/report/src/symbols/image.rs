//! An ELF file on disk, apart from its DWARF: where its segments go, its build id, its symbols, its separate debug file.
//!
//! Only what is needed is read. A file may be anything by now: what cannot be read is an error, never a panic.

use object::read::ReadCache;
use object::{Object, ObjectSegment, ObjectSymbol, ObjectSymbolTable, SymbolKind};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

const PAGE: u64 = 4096;

/// What is known of a file without looking at its symbols.
#[derive(Debug)]
pub struct Image {
    pub path: PathBuf,
    pub build_id: Option<String>,
    segments: Vec<Segment>,
    has_dwarf: bool,
    debug_link: Option<(PathBuf, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    file_size: u64,
    address: u64,
    memory_size: u64,
}

/// A function or a variable.
#[derive(Debug, PartialEq, Eq)]
pub struct Symbol {
    pub address: u64,
    pub size: u64,
    pub name: String,
}

/// The symbols of a file, by address.
#[derive(Debug, Default)]
pub struct SymbolTable {
    pub functions: Vec<Symbol>,
    pub variables: Vec<Symbol>,
}

impl Image {
    /// Reads the headers.
    pub fn open(path: &Path) -> Result<Image, String> {
        with_object(path, |object| Image {
            path: path.to_owned(),
            build_id: build_id(object),
            segments: object
                .segments()
                .map(|segment| {
                    let (offset, file_size) = segment.file_range();
                    Segment {
                        offset,
                        file_size,
                        address: segment.address(),
                        memory_size: segment.size(),
                    }
                })
                .collect(),
            has_dwarf: has_dwarf(object),
            debug_link: object
                .gnu_debuglink()
                .ok()
                .flatten()
                .map(|(name, crc)| (PathBuf::from(String::from_utf8_lossy(name).into_owned()), crc)),
        })
    }

    /// The address that the file itself gives to the byte at a file offset.
    pub fn address_at(&self, offset: u64) -> Option<u64> {
        let inside = |segment: &&Segment| {
            offset
                .checked_sub(segment.offset)
                .is_some_and(|at| at < segment.file_size)
        };
        let segment = self.segments.iter().find(inside)?;
        Some(segment.address.wrapping_add(offset - segment.offset))
    }

    /// Whether an address is in memory that belongs to the file, zero-filled parts included.
    pub fn has_address(&self, address: u64) -> bool {
        self.segments.iter().any(|segment| {
            address
                .checked_sub(segment.address)
                .is_some_and(|at| at < segment.memory_size)
        })
    }

    /// The bytes of the file from an address on, at most so many.
    pub fn bytes(&self, address: u64, most: usize) -> Option<Vec<u8>> {
        let segment = self.segments.iter().find(|segment| {
            address
                .checked_sub(segment.address)
                .is_some_and(|at| at < segment.file_size)
        })?;
        let at = address - segment.address;
        let most = (most as u64).min(segment.file_size - at);
        let mut file = File::open(&self.path).ok()?;
        file.seek(SeekFrom::Start(segment.offset.checked_add(at)?)).ok()?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Where the file was loaded, if the byte at `offset` came to `start`: one answer for each segment that the page can
    /// belong to, for linkers let two segments share a page.
    pub fn biases(&self, start: u64, offset: u64) -> impl Iterator<Item = u64> {
        self.segments
            .iter()
            .filter(move |segment| {
                (segment.offset & !(PAGE - 1)) <= offset
                    && offset < segment.offset.saturating_add(segment.file_size.max(1))
            })
            .map(move |segment| {
                start
                    .wrapping_sub(segment.address)
                    .wrapping_sub(offset.wrapping_sub(segment.offset))
            })
    }

    /// The file with the DWARF: this one, or the separate one by build id or debug link.
    pub fn debug_file(&self, directories: &[PathBuf]) -> PathBuf {
        if self.has_dwarf {
            return self.path.clone();
        }
        self.by_build_id(directories)
            .or_else(|| self.by_link(directories))
            .unwrap_or_else(|| self.path.clone())
    }

    fn by_build_id(&self, directories: &[PathBuf]) -> Option<PathBuf> {
        let id = self.build_id.as_deref().filter(|id| id.len() > 2)?;
        let name = format!(".build-id/{}/{}.debug", &id[..2], &id[2..]);
        let candidates = directories.iter().map(|directory| directory.join(&name));
        { candidates }.find(|path| Image::open(path).is_ok_and(|found| self.belongs(&found)))
    }

    fn by_link(&self, directories: &[PathBuf]) -> Option<PathBuf> {
        let (name, crc) = self.debug_link.as_ref()?;
        // A link is a file name. Anything else would lead to other places.
        let name = name.file_name()?;
        let here = self.path.parent()?;
        let absolute = fs::canonicalize(here).unwrap_or_else(|_| here.to_owned());
        let below = absolute.strip_prefix("/").unwrap_or(&absolute);
        let near = [here.join(name), here.join(".debug").join(name)];
        let far = directories
            .iter()
            .map(|directory| directory.join(below).join(name));
        near.into_iter()
            .chain(far)
            .filter(|path| *path != self.path)
            .find(|path| {
                let Ok(found) = Image::open(path) else {
                    return false;
                };
                match (&self.build_id, &found.build_id) {
                    (Some(_), Some(_)) => self.belongs(&found),
                    _ => checksum(path) == Some(*crc),
                }
            })
    }

    fn belongs(&self, debug: &Image) -> bool {
        debug.has_dwarf && debug.build_id == self.build_id
    }
}

impl SymbolTable {
    /// Reads the symbols of a file, or of its dynamic table if it is stripped.
    pub fn read(path: &Path) -> SymbolTable {
        with_object(path, |object| {
            let mut table = SymbolTable::default();
            if let Some(symbols) = object.symbol_table() {
                table.extend(symbols.symbols());
            }
            if table.functions.is_empty() && table.variables.is_empty() {
                table.extend(object.dynamic_symbols());
            }
            for symbols in [&mut table.functions, &mut table.variables] {
                // Of several names for one thing, the first in the table counts; larger ones hold smaller ones.
                symbols.sort_by_key(|symbol| (symbol.address, std::cmp::Reverse(symbol.size)));
                symbols.dedup_by_key(|symbol| symbol.address);
            }
            table
        })
        .unwrap_or_default()
    }

    fn extend<'data>(&mut self, symbols: impl Iterator<Item = impl ObjectSymbol<'data>>) {
        for symbol in symbols {
            let list = match symbol.kind() {
                SymbolKind::Text => &mut self.functions,
                SymbolKind::Data => &mut self.variables,
                _ => continue,
            };
            if let Ok(name) = symbol.name()
                && symbol.is_definition()
                && !name.is_empty()
            {
                list.push(Symbol {
                    address: symbol.address(),
                    size: symbol.size(),
                    name: name.to_owned(),
                });
            }
        }
    }
}

/// The symbol that an address is in. One without a size reaches to the next.
pub fn containing(symbols: &[Symbol], address: u64) -> Option<&Symbol> {
    let after = symbols.partition_point(|symbol| symbol.address <= address);
    let symbol = symbols[..after].last()?;
    (symbol.size == 0 || address - symbol.address < symbol.size).then_some(symbol)
}

pub type Elf<'a> = object::File<'a, &'a ReadCache<File>>;

/// Opens a file and reads something of it.
pub fn with_object<T>(path: &Path, read: impl FnOnce(&Elf<'_>) -> T) -> Result<T, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    // A path out of a program may be a pipe or a device, which would never end.
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err("not a regular file".to_owned());
    }
    let cache = ReadCache::new(file);
    let object = object::File::parse(&cache).map_err(|error| error.to_string())?;
    Ok(read(&object))
}

fn has_dwarf(object: &Elf<'_>) -> bool {
    [".debug_info", ".zdebug_info"]
        .iter()
        .any(|name| object.section_by_name(name).is_some())
}

fn build_id(object: &Elf<'_>) -> Option<String> {
    let id = object.build_id().ok()??;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn checksum(path: &Path) -> Option<u32> {
    let mut file = File::open(path).ok()?;
    let (mut hasher, mut buffer) = (crc32fast::Hasher::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hasher.finalize()),
            read => hasher.update(&buffer[..read]),
        }
    }
}
