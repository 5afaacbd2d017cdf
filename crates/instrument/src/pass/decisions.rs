//! Notes what becomes of the check of each access, for [`crate::decisions`]; nothing, unless somebody asks.

use super::accesses::{Access, Extent};
use super::ir::{Ir, Value, llvm};
use super::loops::{Sweep, Work};
use crate::decisions::{Decision, Rule, SECTION};
use llvm_sys::core::*;
use std::collections::HashMap;
use std::ffi::c_char;
use std::fmt::Write;

/// What was noted of a module.
pub struct Decisions {
    /// None if nobody asks.
    lines: Option<String>,
}

impl Decisions {
    /// Nothing yet.
    pub fn new(wanted: bool) -> Self {
        Decisions {
            lines: wanted.then(String::new),
        }
    }

    /// Whether somebody asks.
    pub fn wanted(&self) -> bool {
        self.lines.is_some()
    }

    /// An access of an instruction, what became of its check, and the instruction at which a check stands for it.
    pub fn note<'m>(&mut self, at: Value<'m>, access: &Access<'m>, rule: Rule, by: Option<Value<'m>>) {
        let Some(lines) = &mut self.lines else { return };
        let (Some(line), Some(file)) = (line(at), file(at)) else {
            return;
        };
        let decision = Decision {
            file,
            line,
            // The interface has no column without a line.
            column: llvm!(LLVMGetDebugLocColumn(at.raw())),
            function: function(at).name().to_owned(),
            write: access.write,
            bytes: match access.extent {
                Extent::Bytes(bytes) => Some(bytes),
                _ => None,
            },
            rule,
            by: by.and_then(self::line),
        };
        let _ = writeln!(lines, "{decision}");
    }

    /// Notes what is checked outside of loops, each access once: a loop may be left in several ways, and what goes into a footprint is checked
    /// behind another one.
    pub fn note_sweeps<'m>(&mut self, sweeps: &[Sweep<'m>]) {
        if !self.wanted() {
            return;
        }
        let mut places: HashMap<(Value<'m>, bool, Value<'m>), usize> = HashMap::new();
        let mut notes: Vec<(Value<'m>, Access<'m>, Rule, Option<Value<'m>>)> = Vec::new();
        for sweep in sweeps {
            let (rule, by, counts) = match sweep.work {
                Work::Batch { .. } => (Rule::Batched, None, true),
                Work::Commit { .. } => (Rule::Moved, Some(sweep.before), true),
                _ => (Rule::Moved, Some(sweep.before), false),
            };
            for &(at, access) in &sweep.accesses {
                let place = *places
                    .entry((at, access.write, access.pointer))
                    .or_insert(notes.len());
                match notes.get_mut(place) {
                    None => notes.push((at, access, rule, by)),
                    Some(note) if counts => (note.2, note.3) = (rule, by),
                    Some(_) => {}
                }
            }
        }
        for (at, access, rule, by) in notes {
            self.note(at, &access, rule, by);
        }
    }

    /// Puts what was noted into the module.
    pub fn embed(self, ir: Ir<'_>) {
        let Some(lines) = self.lines.filter(|lines| !lines.is_empty()) else {
            return;
        };
        let mut text = format!(".pushsection {SECTION}, \"\", @progbits\n");
        for line in lines.lines() {
            let _ = writeln!(text, ".ascii \"{}\\n\"", escaped(line));
        }
        text.push_str(".popsection\n");
        llvm!(LLVMAppendModuleInlineAsm(
            ir.raw_module(),
            text.as_ptr().cast(),
            text.len()
        ));
    }
}

/// As a string of the assembler.
fn escaped(line: &str) -> String {
    let mut text = String::new();
    for byte in line.bytes() {
        match byte {
            b'"' | b'\\' => text.extend(['\\', byte as char]),
            b' '..=b'~' => text.push(byte as char),
            _ => {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text
}

/// The function that an instruction is in.
fn function(at: Value<'_>) -> Value<'_> {
    assert!(at.opcode().is_some());
    let block = llvm!(LLVMGetInstructionParent(at.raw()));
    Value::some(llvm!(LLVMGetBasicBlockParent(block)))
}

/// The source line of an instruction.
pub fn line(at: Value<'_>) -> Option<u32> {
    assert!(at.opcode().is_some());
    Some(llvm!(LLVMGetDebugLocLine(at.raw()))).filter(|&line| line != 0)
}

/// The source of an instruction, with its path.
fn file(at: Value<'_>) -> Option<String> {
    // SAFETY of what is handed in: functions of LLVM, called with an instruction and a place for the length.
    let text = |get: unsafe extern "C" fn(_, *mut u32) -> *const c_char| {
        let mut len = 0;
        let start = llvm!(get(at.raw(), &raw mut len));
        if start.is_null() {
            return None;
        }
        let bytes: &[u8] = llvm!(std::slice::from_raw_parts(start.cast(), len as usize));
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    let name = text(LLVMGetDebugLocFilename)?;
    let directory = text(LLVMGetDebugLocDirectory).unwrap_or_default();
    Some(match name.starts_with('/') || directory.is_empty() {
        true => name,
        false => format!("{directory}/{name}"),
    })
}
