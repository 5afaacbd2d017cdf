//! Where global variables are declared, by DWARF.
//!
//! There is no index of variables by address, so all entries are gone through once for a file in which a race on a global
//! was found. That takes time: where there is too much debug information, or it is split off into other files, a variable
//! has its name (from the symbol table) and no place.

use addr2line::gimli::{self, AttributeValue, DwarfSections, EndianSlice, RunTimeEndian, SectionId};
use object::{Object, ObjectSection};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// More than this is not gone through: it would take seconds.
const MOST: u64 = 64 << 20;

/// File and line of variables, by address.
pub type Declared = FxHashMap<u64, (String, u32)>;

type Reader<'a> = EndianSlice<'a, RunTimeEndian>;
type Entry<'a> = gimli::DebuggingInformationEntry<Reader<'a>>;

/// Goes through a file. What cannot be read is left out.
pub fn read(path: &Path) -> Declared {
    let mut found = Declared::default();
    let _ = super::image::with_object(path, |object| {
        let endian = if object.is_little_endian() {
            RunTimeEndian::Little
        } else {
            RunTimeEndian::Big
        };
        let load = |id: SectionId| -> Result<Vec<u8>, object::Error> {
            let needed = matches!(
                id,
                SectionId::DebugAbbrev
                    | SectionId::DebugAddr
                    | SectionId::DebugInfo
                    | SectionId::DebugLine
                    | SectionId::DebugLineStr
                    | SectionId::DebugStr
                    | SectionId::DebugStrOffsets
            );
            match object.section_by_name(id.name()).filter(|_| needed) {
                Some(section) => Ok(section.uncompressed_data()?.into_owned()),
                None => Ok(Vec::new()),
            }
        };
        let size = object
            .section_by_name(".debug_info")
            .map(|section| section.size());
        if size.is_some_and(|size| size <= MOST)
            && let Ok(sections) = DwarfSections::load(load)
        {
            let dwarf = sections.borrow(|section| EndianSlice::new(section, endian));
            let _ = units(&dwarf, &mut found);
        }
    });
    found
}

fn units<'a>(dwarf: &gimli::Dwarf<Reader<'a>>, found: &mut Declared) -> gimli::Result<()> {
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        // One bad unit does not spoil the others.
        if let Ok(unit) = dwarf.unit(header) {
            let _ = variables(gimli::UnitRef::new(dwarf, &unit), found);
        }
    }
    Ok(())
}

fn variables(unit: gimli::UnitRef<'_, Reader<'_>>, found: &mut Declared) -> gimli::Result<()> {
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() != gimli::DW_TAG_variable {
            continue;
        }
        let Some(address) = address(unit, entry) else {
            continue;
        };
        // The definition of a class's or namespace's variable refers to its declaration.
        let place = match entry.attr_value(gimli::DW_AT_specification) {
            Some(AttributeValue::UnitRef(offset)) => {
                place(unit, entry).or_else(|| place(unit, &unit.entry(offset).ok()?))
            }
            _ => place(unit, entry),
        };
        if let Some(place) = place {
            found.insert(address, place);
        }
    }
    Ok(())
}

/// The address of a variable that has one and the same all the time.
fn address(unit: gimli::UnitRef<'_, Reader<'_>>, entry: &Entry<'_>) -> Option<u64> {
    let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location)? else {
        return None;
    };
    let mut operations = expression.operations(unit.encoding());
    let address = match operations.next().ok()?? {
        gimli::Operation::Address { address } => address,
        gimli::Operation::AddressIndex { index } => unit.address(index).ok()?,
        _ => return None,
    };
    // Anything behind it, as for thread-local variables, would change its meaning.
    operations.next().ok()?.is_none().then_some(address)
}

fn place(unit: gimli::UnitRef<'_, Reader<'_>>, entry: &Entry<'_>) -> Option<(String, u32)> {
    let line = entry.attr_value(gimli::DW_AT_decl_line)?.udata_value()?;
    let AttributeValue::FileIndex(index) = entry.attr_value(gimli::DW_AT_decl_file)? else {
        return None;
    };
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(index)?;
    let text = |value| Some(unit.attr_string(value).ok()?.to_string_lossy().into_owned());
    let mut path = PathBuf::new();
    if let Some(directory) = &unit.comp_dir {
        path.push(directory.to_string_lossy().as_ref());
    }
    if file.directory_index() != 0
        && let Some(directory) = file.directory(header)
    {
        path.push(text(directory)?);
    }
    path.push(text(file.path_name())?);
    Some((path.to_string_lossy().into_owned(), u32::try_from(line).ok()?))
}
