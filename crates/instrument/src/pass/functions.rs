//! What else is known of functions: where they come from, and words that were put on them.

use super::ir::{Value, llvm};
use llvm_sys::LLVMAttributeFunctionIndex;
use llvm_sys::core::{
    LLVMCountParams, LLVMGetParam, LLVMGetPreviousInstruction, LLVMGetStringAttributeAtIndex,
    LLVMGetStringAttributeValue,
};
use llvm_sys::debuginfo::{
    LLVMDIFileGetDirectory, LLVMDIFileGetFilename, LLVMDIScopeGetFile, LLVMGetSubprogram,
};
use std::ffi::{c_char, c_uint};

impl<'m> Value<'m> {
    /// The parameters of a function.
    pub fn parameters(self) -> Vec<Value<'m>> {
        assert!(self.is_function());
        let count = llvm!(LLVMCountParams(self.raw()));
        (0..count)
            .map(|index| Value::some(llvm!(LLVMGetParam(self.raw(), index))))
            .collect()
    }

    /// The instruction before this one in its block.
    pub fn previous(self) -> Option<Value<'m>> {
        assert!(self.opcode().is_some());
        Value::new(llvm!(LLVMGetPreviousInstruction(self.raw())))
    }

    /// An attribute of a function that is text.
    pub fn text_attribute(self, name: &str) -> Option<&'m str> {
        assert!(self.is_function());
        let attribute = llvm!(LLVMGetStringAttributeAtIndex(
            self.raw(),
            LLVMAttributeFunctionIndex,
            name.as_ptr().cast(),
            name.len() as c_uint
        ));
        if attribute.is_null() {
            return None;
        }
        let mut len = 0;
        let text = llvm!(LLVMGetStringAttributeValue(attribute, &raw mut len));
        as_text(text, len)
    }

    /// The source of a function, with its directory, if its debug information has it.
    pub fn source_file(self) -> Option<String> {
        assert!(self.is_function());
        let subprogram = llvm!(LLVMGetSubprogram(self.raw()));
        if subprogram.is_null() {
            return None;
        }
        let file = llvm!(LLVMDIScopeGetFile(subprogram));
        if file.is_null() {
            return None;
        }
        let mut len = 0;
        let name = llvm!(LLVMDIFileGetFilename(file, &raw mut len));
        let name = as_text(name, len)?;
        let directory = llvm!(LLVMDIFileGetDirectory(file, &raw mut len));
        Some(match as_text(directory, len) {
            Some(directory) if !name.starts_with('/') && !directory.is_empty() => {
                format!("{directory}/{name}")
            }
            _ => name.to_owned(),
        })
    }
}

/// Text of LLVM's, which lives as long as the module.
fn as_text<'m>(text: *const c_char, len: c_uint) -> Option<&'m str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: so many bytes, as LLVM says.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len as usize) };
    std::str::from_utf8(bytes).ok()
}
