//! Coverage and profiles: what the user's compiler would have put in before its optimiser.
//!
//! clang leaves marks in the bitcode, and passes of LLVM make counters of them: `!llvm.gcov` for `--coverage`, calls to
//! `llvm.instrprof.*` for `-fprofile-instr-generate`. The counters are no business of the checks (`private.rs`), and are
//! counted up atomically (`llvm.rs`): programs with threads are what we see all day.
//!
//! The compiler has written the notes for gcov beside its object already. Only where it left all of the compiling to us
//! are they ours to write.

use super::ir::Ir;
use crate::llvm::{Context, Module};
use crate::module::{Error, Options};
use llvm_sys::core::*;
use std::ptr::null_mut;

/// Where notes go that nobody needs.
const NOWHERE: &str = "/dev/null";

/// Gets the module ready for the passes that are answered, to be run before all others.
pub fn prepare<'c>(
    context: &'c Context,
    module: &mut Module<'c>,
    options: &Options,
) -> Result<Option<&'static str>, Error> {
    if has_notes(module) {
        if !options.notes {
            write_no_notes(context, module);
        }
        return Ok(Some("insert-gcov-profiling"));
    }
    let (counts, head) = {
        let ir = Ir::new(context, module);
        let counts = ir
            .functions()
            .iter()
            .any(|function| function.name().starts_with("llvm.instrprof."));
        (counts, ir.head())
    };
    if !counts {
        return Ok(None);
    }
    if let Some(path) = &options.profile {
        module.link(context.parse_text(&format!("{head}\n{}", file_name(path)))?)?;
    }
    Ok(Some("instrprof"))
}

/// Whether gcov is to know of the module.
fn has_notes(module: &Module<'_>) -> bool {
    // SAFETY: a live module, and a C string.
    unsafe { LLVMGetNamedMetadataNumOperands(module.raw(), c"llvm.gcov".as_ptr()) > 0 }
}

/// Each node of `!llvm.gcov` names the file for notes, the file for data, and a compilation unit.
fn write_no_notes(context: &Context, module: &mut Module<'_>) {
    // SAFETY: a live module and its own nodes, as many as it says.
    unsafe {
        let name = c"llvm.gcov".as_ptr();
        let mut nodes = vec![null_mut(); LLVMGetNamedMetadataNumOperands(module.raw(), name) as usize];
        LLVMGetNamedMetadataOperands(module.raw(), name, nodes.as_mut_ptr());
        for node in nodes {
            if LLVMGetMDNodeNumOperands(node) == 3 {
                let nowhere = LLVMMDStringInContext2(context.raw(), NOWHERE.as_ptr().cast(), NOWHERE.len());
                LLVMReplaceMDNodeOperandWith(node, 0, nowhere);
            }
        }
    }
}

/// The variable by which a program tells the profile's runtime where to write.
fn file_name(path: &str) -> String {
    let bytes: String = path.bytes().map(|byte| format!("\\{byte:02X}")).collect();
    let length = path.len() + 1;
    format!("@__llvm_profile_filename = weak hidden constant [{length} x i8] c\"{bytes}\\00\"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_can_be_said() {
        assert_eq!(
            file_name("a\"\u{e4}"),
            "@__llvm_profile_filename = weak hidden constant [5 x i8] c\"\\61\\22\\C3\\A4\\00\"\n"
        );
    }
}
