//! Objects that were not left as the compiler wrote them: put together with `ld -r`, or changed by `objcopy`.

use super::{Config, Face};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, SymbolKind};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::Command;

/// One object of several, as `ld -r` makes it.
pub fn join(objects: &[Vec<u8>], config: &Config, face: Face, directory: &Path) -> io::Result<Vec<u8>> {
    let directory = tempfile::tempdir_in(directory)?;
    let output = directory.path().join("joined.o");
    let mut command = Command::new(&config.program);
    if face == Face::Compiler {
        command.arg("-nostdlib");
    }
    command.arg("-r").arg("-o").arg(&output);
    for (number, object) in objects.iter().enumerate() {
        let file = directory.path().join(format!("{number}.o"));
        std::fs::write(&file, object)?;
        command.arg(file);
    }
    if !command.status()?.success() {
        return Err(io::Error::other("its parts cannot be put together again"));
    }
    std::fs::read(output)
}

/// Whether two objects define the same symbols for others. Weak ones do not count: the optimiser drops some.
pub fn define_the_same(one: &[u8], other: &[u8]) -> bool {
    match (definitions(one), definitions(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

fn definitions(data: &[u8]) -> Option<BTreeSet<Vec<u8>>> {
    let file = ElfFile64::<Endianness>::parse(data).ok()?;
    let mut names = BTreeSet::new();
    for symbol in file.symbols() {
        let named = !matches!(symbol.kind(), SymbolKind::File | SymbolKind::Section);
        let name = symbol.name_bytes().ok()?;
        // What the pass adds is in one of them only.
        let ours = name.starts_with(deadheat_abi::callee::PREFIX.as_bytes());
        if named && !ours && symbol.is_global() && !symbol.is_weak() && !symbol.is_undefined() {
            names.insert(name.to_owned());
        }
    }
    Some(names)
}
