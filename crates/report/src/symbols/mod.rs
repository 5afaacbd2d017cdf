//! Addresses of a process to functions, lines and variables.
//!
//! Lines and inlined calls come from DWARF (4 and 5, compressed, split, or in a separate file), by `addr2line`; only the
//! units that an address needs are read, and every answer is remembered. Without DWARF the symbol table gives function
//! and offset; without that, module and offset remain. A file that is gone, or whose build id is not the one of the
//! mapping, is not used at all: a wrong line is worse than none.
//!
//! What it can miss: thread-local variables are not named, for an address does not say which one it is.

mod declared;
mod demangle;
mod image;
mod roles;

use crate::model::Frame;
use crate::native::wire::Module;
use addr2line::Loader;
use deadheat_abi::also;
use declared::Declared;
use demangle::demangle;
use image::{Image, SymbolTable, containing};
pub use roles::mark_start;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::path::{Component, Path, PathBuf};

/// More files than this a program does not map.
const MAX_FILES: usize = 1 << 16;
/// Answers that are remembered.
const MAX_CACHED: usize = 1 << 18;
/// More calls at one address than this are not inlined into each other.
const MAX_INLINED: usize = 256;

/// Where to look for things.
#[derive(Clone, Debug)]
pub struct Places {
    /// Paths below it are shown relative to it.
    pub base: PathBuf,
    /// Where distributions keep separate debug files.
    pub debug: Vec<PathBuf>,
}

/// What was read of the files that processes have mapped.
pub struct Symbols {
    places: Places,
    files: Vec<ModuleFile>,
    by_name: FxHashMap<(String, Option<String>), usize>,
    frames: FxHashMap<(usize, u64), Vec<Frame>>,
    notes: Vec<String>,
}

/// The mappings of a process, in the order in which they were told.
#[derive(Debug, Default)]
pub struct Mappings(Vec<Mapping>);

#[derive(Debug, PartialEq, Eq)]
struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    file: usize,
}

/// A file that is mapped.
struct ModuleFile {
    path: String,
    build_id: Option<String>,
    /// Opened at the first address that is looked up in it.
    opened: OnceCell<Option<Opened>>,
}

struct Opened {
    image: Image,
    debug: PathBuf,
    dwarf: Option<Loader>,
    table: OnceCell<SymbolTable>,
    declared: OnceCell<Declared>,
}

/// A global variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name, demangled.
    pub name: String,
    /// Where it begins, as an address of the process.
    pub start: u64,
    /// Its bytes.
    pub size: u64,
    /// Where it is declared.
    pub declared_at: Option<Frame>,
}

impl Symbols {
    /// Knows no mapping yet.
    pub fn new(places: Places) -> Symbols {
        Symbols {
            places,
            files: Vec::new(),
            by_name: FxHashMap::default(),
            frames: FxHashMap::default(),
            notes: Vec::new(),
        }
    }

    /// Learns of a mapping. Where mappings overlap, the last one told counts. Whether it is new.
    pub fn add(&mut self, mappings: &mut Mappings, module: Module) -> bool {
        let next = self.files.len();
        let key = (module.path, module.build_id);
        let file = self.by_name.get(&key).copied().unwrap_or(next);
        let mapping = Mapping {
            start: module.start,
            end: module.end,
            offset: module.offset,
            file,
        };
        if mappings.at(mapping.start) == Some(&mapping) || file >= MAX_FILES {
            return false;
        }
        if file == next {
            self.files.push(ModuleFile {
                path: key.0.clone(),
                build_id: key.1.clone(),
                opened: OnceCell::new(),
            });
            self.by_name.insert(key, next);
        }
        mappings.0.push(mapping);
        true
    }

    /// The functions that a return address is in, innermost first: more than one where calls were inlined.
    pub fn frames(&mut self, mappings: &Mappings, return_address: u64) -> Vec<Frame> {
        // The call is in front of the address it returns to.
        let pc = return_address.wrapping_sub(1);
        let Some((file, place)) = self.locate(mappings, pc) else {
            return vec![Frame {
                offset: Some(format!("{pc:#x}")),
                ..Frame::default()
            }];
        };
        let key = (file, place.address());
        if let Some(frames) = self.frames.get(&key) {
            return frames.clone();
        }
        let frames = self.resolve(file, place);
        if self.frames.len() >= MAX_CACHED {
            self.frames.clear();
        }
        self.frames.insert(key, frames.clone());
        frames
    }

    fn resolve(&self, file: usize, place: Place) -> Vec<Frame> {
        let module = self.shorten(&self.files[file].path);
        let bare = Frame {
            module: Some(module),
            offset: Some(format!("{:#x}", place.address())),
            ..Frame::default()
        };
        let (Place::Address(address), Some(opened)) = (place, self.opened(file)) else {
            return finished(vec![bare]);
        };
        let mut frames = opened.inlined(address, &bare);
        for frame in &mut frames {
            frame.file = frame.file.take().map(|name| self.shorten(&name));
        }
        if let Some(outermost) = frames.last_mut() {
            outermost.inlined = false;
        }
        match frames.last_mut() {
            Some(outermost) if outermost.function.is_some() => {}
            _ => {
                let symbol = containing(&opened.table().functions, address);
                let mut frame = frames.pop().unwrap_or(bare);
                if let Some(symbol) = symbol {
                    frame.function = Some(demangle(&symbol.name));
                    if frame.line.is_none() {
                        frame.function_offset = Some(address - symbol.address);
                    }
                }
                frames.push(frame);
            }
        }
        finished(frames)
    }

    /// Addresses behind which the lines of further accesses are that a check of an access at a place stands for, by the address it
    /// returns to; and whether there are more than that.
    pub fn marks(
        &mut self,
        mappings: &Mappings,
        return_address: u64,
        place: also::Place,
    ) -> (Vec<u64>, bool) {
        let Some((file, Place::Address(address))) = self.locate(mappings, return_address) else {
            return (Vec::new(), false);
        };
        let most = (also::MOST + 1) * (also::GAP + also::LEN);
        let code = self
            .opened(file)
            .and_then(|opened| opened.image.bytes(address, most));
        let code = code.unwrap_or_default();
        // As the addresses that calls return to: behind the instruction.
        let behind = |at: usize| return_address + (at + also::LEN) as u64;
        let (more, marks): (Vec<_>, Vec<_>) = also::marks(&code, place).partition(|mark| mark.1);
        (
            marks.iter().map(|mark| behind(mark.0)).collect(),
            !more.is_empty(),
        )
    }

    /// The global variable that an address is in.
    pub fn variable(&mut self, mappings: &Mappings, address: u64) -> Option<Variable> {
        let (file, Place::Address(inside)) = self.locate(mappings, address)? else {
            return None;
        };
        let opened = self.opened(file)?;
        let symbol = containing(&opened.table().variables, inside)?;
        let declared = opened.declared.get_or_init(|| declared::read(&opened.debug));
        let declared_at = declared.get(&symbol.address).map(|(file, line)| Frame {
            file: Some(self.shorten(file)),
            line: Some(*line),
            ..Frame::default()
        });
        Some(Variable {
            name: demangle(&symbol.name),
            start: address - (inside - symbol.address),
            size: symbol.size,
            declared_at,
        })
    }

    /// What could not be used, once each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The file of an address, and the address in it as the file's own tables count.
    fn locate(&mut self, mappings: &Mappings, address: u64) -> Option<(usize, Place)> {
        let direct = mappings
            .at(address)
            .map(|mapping| (mapping.file, address - mapping.start + mapping.offset));
        // Zero-filled variables lie behind what is mapped of the file.
        let below = || {
            let before = mappings.0.iter().filter(|mapping| mapping.start <= address);
            before.max_by_key(|mapping| mapping.start)
        };
        let file = direct.map(|(file, _)| file).or_else(|| below().map(|m| m.file))?;
        self.open(file);
        let Some(opened) = self.opened(file) else {
            return direct.map(|(file, offset)| (file, Place::Offset(offset)));
        };
        let image = &opened.image;
        let exact = direct.and_then(|(_, offset)| image.address_at(offset));
        let inside = exact.or_else(|| {
            let inside = address.wrapping_sub(mappings.bias(file, image)?);
            image.has_address(inside).then_some(inside)
        });
        match (inside, direct) {
            (Some(inside), _) => Some((file, Place::Address(inside))),
            (None, Some((file, offset))) => Some((file, Place::Offset(offset))),
            (None, None) => None,
        }
    }

    fn opened(&self, file: usize) -> Option<&Opened> {
        self.files[file].opened.get()?.as_ref()
    }

    fn open(&mut self, file: usize) {
        let ModuleFile {
            path,
            build_id,
            opened,
        } = &self.files[file];
        if opened.get().is_some() {
            return;
        }
        let result = Opened::new(path, build_id.as_deref(), &self.places.debug);
        let shown = self.shorten(path);
        let result = result.map_err(|why| {
            self.notes
                .push(format!("{shown}: {why}; its addresses are shown without names"));
        });
        let _ = self.files[file].opened.set(result.ok());
    }

    /// Relative to where the user is, if below.
    fn shorten(&self, path: &str) -> String {
        let path = Path::new(path);
        let short = path.strip_prefix(&self.places.base).unwrap_or(path);
        if short.as_os_str().is_empty() {
            return path.to_string_lossy().into_owned();
        }
        // `a/./b` is `a/b`.
        let parts = short.components().filter(|part| *part != Component::CurDir);
        parts.collect::<PathBuf>().to_string_lossy().into_owned()
    }
}

impl Mappings {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn at(&self, address: u64) -> Option<&Mapping> {
        { self.0.iter() }.rfind(|mapping| (mapping.start..mapping.end).contains(&address))
    }

    /// By how much the file's addresses were moved: what most of its mappings agree on.
    fn bias(&self, file: usize, image: &Image) -> Option<u64> {
        let mut votes: FxHashMap<u64, usize> = FxHashMap::default();
        for mapping in self.0.iter().filter(|mapping| mapping.file == file) {
            for bias in image.biases(mapping.start, mapping.offset) {
                *votes.entry(bias).or_default() += 1;
            }
        }
        { votes.into_iter() }
            .max_by_key(|(bias, count)| (*count, std::cmp::Reverse(*bias)))
            .map(|(bias, _)| bias)
    }
}

/// An address in a file, or the file offset where the file cannot be read.
#[derive(Clone, Copy)]
enum Place {
    Address(u64),
    Offset(u64),
}

impl Place {
    fn address(self) -> u64 {
        match self {
            Place::Address(address) | Place::Offset(address) => address,
        }
    }
}

impl Opened {
    fn new(path: &str, build_id: Option<&str>, directories: &[PathBuf]) -> Result<Opened, String> {
        // The kernel says so of a file that was removed while mapped; another may have its name by now.
        let name = path.strip_suffix(" (deleted)").unwrap_or(path);
        let image = match Image::open(Path::new(name)) {
            Ok(image) => image,
            Err(why) => return Err(format!("cannot be read ({why})")),
        };
        let same = match build_id {
            Some(id) => image.build_id.as_deref() == Some(id),
            None => name == path,
        };
        if !same {
            return Err("has changed since the program was started".to_owned());
        }
        let debug = image.debug_file(directories);
        Ok(Opened {
            dwarf: Loader::new(&debug).ok(),
            debug,
            image,
            table: OnceCell::new(),
            declared: OnceCell::new(),
        })
    }

    /// Functions at an address by DWARF, innermost first, all but the outermost inlined.
    fn inlined(&self, address: u64, bare: &Frame) -> Vec<Frame> {
        let Some(Ok(mut found)) = self.dwarf.as_ref().map(|dwarf| dwarf.find_frames(address)) else {
            return Vec::new();
        };
        let mut frames = Vec::new();
        while frames.len() < MAX_INLINED
            && let Ok(Some(frame)) = found.next()
        {
            let name = frame.function.as_ref();
            let name = name.and_then(|name| Some(demangle(&name.raw_name().ok()?)));
            let location = frame.location.as_ref();
            let known = |number: &u32| *number != 0;
            frames.push(Frame {
                function: name,
                file: location.and_then(|location| location.file).map(str::to_owned),
                line: location.and_then(|location| location.line).filter(known),
                column: location.and_then(|location| location.column).filter(known),
                inlined: true,
                ..bare.clone()
            });
        }
        frames
    }

    fn table(&self) -> &SymbolTable {
        self.table.get_or_init(|| {
            let table = SymbolTable::read(&self.debug);
            if self.debug != self.image.path && table.functions.is_empty() && table.variables.is_empty() {
                return SymbolTable::read(&self.image.path);
            }
            table
        })
    }
}

fn finished(mut frames: Vec<Frame>) -> Vec<Frame> {
    for frame in &mut frames {
        frame.role = roles::role(frame);
    }
    frames
}
