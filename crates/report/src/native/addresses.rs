//! Names of addresses, for who has a process's modules and no races of it: a recording.

use super::wire::{self, Record};
use super::{Options, places};
use crate::Frame;
use crate::model::Role;
use crate::symbols::{Mappings, Symbols};
use std::ops::Range;
use std::path::PathBuf;

/// The addresses of one process.
pub struct Addresses {
    symbols: Symbols,
    mappings: Mappings,
    ranges: Vec<Range<u64>>,
    /// Where in which file each of them begins.
    files: Vec<(usize, u64)>,
    /// The program first.
    paths: Vec<String>,
}

impl Addresses {
    /// Of a process that has told nothing yet. Paths below `directory` are shown relative to it.
    pub fn new(directory: PathBuf) -> Addresses {
        Addresses {
            symbols: Symbols::new(places(&Options::new(directory))),
            mappings: Mappings::default(),
            ranges: Vec::new(),
            files: Vec::new(),
            paths: Vec::new(),
        }
    }

    /// Takes a line that tells a module; others are let go.
    pub fn line(&mut self, line: &str) {
        if let Ok(Record::Module(module)) = wire::parse(line) {
            self.ranges.push(module.start..module.end);
            let known = self.paths.iter().position(|path| *path == module.path);
            let file = known.unwrap_or_else(|| {
                self.paths.push(module.path.clone());
                self.paths.len() - 1
            });
            self.files.push((file, module.offset));
            self.symbols.add(&mut self.mappings, module);
        }
    }

    /// Where a call returns to: the innermost of the functions inlined there that is the user's own, or the innermost of all.
    pub fn place(&mut self, return_address: u64) -> Frame {
        let mut frames = self.symbols.frames(&self.mappings, return_address);
        let users = frames
            .iter()
            .position(|frame| frame.role == Role::User && frame.line.is_some());
        match frames.is_empty() {
            true => Frame::default(),
            false => frames.swap_remove(users.unwrap_or(0)),
        }
    }

    /// The file that an address is in, the program's own being number 0, and the offset in it.
    pub fn code(&self, address: u64) -> Option<(usize, u64)> {
        let at = { self.ranges.iter() }.position(|range| range.contains(&address))?;
        let (file, offset) = self.files[at];
        Some((file, address - self.ranges[at].start + offset))
    }

    /// The files by number.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The global variable at an address: its name and where it begins.
    pub fn variable(&mut self, address: u64) -> Option<(String, u64)> {
        self.ranges
            .iter()
            .any(|range| range.contains(&address))
            .then_some(())?;
        let variable = self.symbols.variable(&self.mappings, address)?;
        Some((variable.name, variable.start))
    }
}
