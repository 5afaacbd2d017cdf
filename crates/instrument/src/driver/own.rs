//! Functions of the program's own that have the name of one that the runtime checks (`getline`, say). Calls from instrumented
//! code ask for the runtime's function, which knows the program's only if that is exported, and nobody asks for a member of
//! an archive that defines it. So for each there is a function in the program that takes such calls and goes on to the
//! program's: it is instrumented itself.

use crate::archive;
use crate::module;
use deadheat_abi::hooks::{PREFIX, REDIRECTED};
use memmap2::Mmap;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::LazyLock;

static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    REDIRECTED
        .iter()
        .flat_map(|(_, names)| names.iter().copied())
        .collect()
});

/// What inputs of a link have to do with such functions.
#[derive(Default)]
pub struct Own {
    defined: BTreeSet<String>,
    called: BTreeSet<String>,
}

impl Own {
    /// Looks at an object or an archive.
    pub fn look_at(&mut self, data: &Mmap, path: &Path) {
        if archive::is_archive(data) {
            for member in archive::members(data, path).into_iter().flatten() {
                self.look_at_object(member.data.as_ref());
            }
        } else {
            self.look_at_object(data);
        }
    }

    fn look_at_object(&mut self, data: &[u8]) {
        // Anything else is for the linker.
        let Ok(file) = ElfFile64::<Endianness>::parse(data) else {
            return;
        };
        for symbol in file.symbols().filter(|symbol| symbol.is_global()) {
            let Ok(name) = symbol.name() else { continue };
            if symbol.is_undefined() {
                let called = name.strip_prefix(PREFIX).filter(|name| NAMES.contains(name));
                self.called.extend(called.map(str::to_owned));
            } else if NAMES.contains(name) {
                self.defined.insert(name.to_owned());
            }
        }
    }

    /// Assembly of the functions that take such calls, if there are any.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for name in self.defined.intersection(&self.called) {
            let taken = format!("{PREFIX}{name}");
            lines.extend([
                format!(".globl {taken}"),
                format!(".hidden {taken}"),
                format!(".type {taken}, @function"),
                format!("{taken}: jmp {name}@PLT"),
            ]);
        }
        lines
    }
}

/// The object that is made of such lines.
pub fn object(mut lines: Vec<String>) -> Result<Vec<u8>, module::Error> {
    lines.push(".section .note.GNU-stack, \\22\\22, @progbits".to_owned());
    module::assemble(&lines, "functions of the program's own")
}
