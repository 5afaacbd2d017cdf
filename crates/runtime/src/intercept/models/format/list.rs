//! A list of arguments as the C ABI has it.

use core::ffi::c_void;

/// `va_list`. A copy is another list, at the same place.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct List {
    general: u32,
    floating: u32,
    stack: *mut u8,
    saved: *mut u8,
}

/// What a stub leaves on its stack.
#[repr(C)]
pub struct Call {
    pub list: List,
    /// Where the call is.
    pub pc: usize,
}

const GENERAL_END: u32 = 48;
const FLOATING_END: u32 = 176;

impl List {
    /// The next argument of a general register: a number or an address.
    ///
    /// # Safety
    /// There is one.
    pub unsafe fn word(&mut self) -> *mut c_void {
        let at = if self.general < GENERAL_END {
            // SAFETY: registers that were saved.
            let at = unsafe { self.saved.add(self.general as usize) };
            self.general += 8;
            at
        } else {
            self.stacked(8)
        };
        // SAFETY: the caller's promise.
        unsafe { at.cast::<*mut c_void>().read() }
    }

    /// Steps over a `double`.
    pub fn skip_double(&mut self) {
        if self.floating < FLOATING_END {
            self.floating += 16;
        } else {
            self.stacked(8);
        }
    }

    /// Steps over a `long double`.
    pub fn skip_long_double(&mut self) {
        self.stack = self.stack.wrapping_add(self.stack.align_offset(16));
        self.stacked(16);
    }

    fn stacked(&mut self, size: usize) -> *mut u8 {
        let at = self.stack;
        self.stack = at.wrapping_add(size);
        at
    }
}

/// Puts all registers that can hold arguments where a list wants them, and hands a [`Call`] on as one more argument.
/// Goes to the program's own function at once if `$own` has one.
macro_rules! stub {
    ($body:ident $own:ident $($arg:ident)*) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "cmp qword ptr [rip + {own}], 0",
            "jne 3f",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "sub rsp, 208",
            "mov [rsp], rdi",
            "mov [rsp + 8], rsi",
            "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx",
            "mov [rsp + 32], r8",
            "mov [rsp + 40], r9",
            // How many of these there are, at most.
            "test al, al",
            "je 2f",
            "movaps [rsp + 48], xmm0",
            "movaps [rsp + 64], xmm1",
            "movaps [rsp + 80], xmm2",
            "movaps [rsp + 96], xmm3",
            "movaps [rsp + 112], xmm4",
            "movaps [rsp + 128], xmm5",
            "movaps [rsp + 144], xmm6",
            "movaps [rsp + 160], xmm7",
            "2:",
            "mov dword ptr [rsp + 176], {fixed}",
            "mov dword ptr [rsp + 180], 48",
            "lea rax, [rbp + 16]",
            "mov [rsp + 184], rax",
            "mov [rsp + 192], rsp",
            "mov rax, [rbp + 8]",
            "mov [rsp + 200], rax",
            concat!("lea ", $crate::intercept::define::register_behind!($($arg)*), ", [rsp + 176]"),
            "call {body}",
            "leave",
            ".cfi_def_cfa rsp, 8",
            ".cfi_restore rbp",
            "ret",
            "3:",
            "jmp qword ptr [rip + {own}]",
            ".cfi_endproc",
            own = sym $own,
            body = sym $body,
            fixed = const 8 * [$(stringify!($arg)),*].len(),
        )
    };
}

pub(super) use stub;

const _: () = assert!(size_of::<Call>() == 32 && core::mem::offset_of!(Call, pc) == 24);
