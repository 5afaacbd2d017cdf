//! Models of functions that read or fill the caller's memory, as instrumented code calls them: a line or two each.
//!
//! [`models!`] is a table. A row is the function's type, and what it reads (`first`, seen before the call) or reads and
//! writes (`then`, seen after it, with the answer at hand):
//!
//! ```ignore
//! models! {
//!     fn uname(name: *mut utsname) -> c_int, then |m, r| if r == 0 { m.fill(name) };
//! }
//! ```
//!
//! What is called is the function as the process has it ([`super::global`] says why). A program may have one of its own
//! with the same name and type, which does who knows what: the model is for the C library's only.
//!
//! **Rule:** a model says no more than the function did in this call. Where that cannot be known it says nothing.

use super::memory_functions::{read, write};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};
use libc::wchar_t;

/// What a call of a modelled function did, told for its caller.
#[derive(Clone, Copy)]
pub struct Model {
    pc: usize,
}

impl Model {
    /// For a call from `pc` of the function at `function`, if that is the C library's.
    pub fn of(function: usize, pc: usize) -> Option<Model> {
        standard(function).then_some(Model { pc })
    }

    /// Where the call is.
    pub fn caller(self) -> usize {
        self.pc
    }

    /// Bytes were read.
    pub fn read<T>(self, from: *const T, len: usize) {
        if !from.is_null() {
            read(from.cast(), len, self.pc);
        }
    }

    /// Bytes were written.
    pub fn write<T>(self, to: *mut T, len: usize) {
        if !to.is_null() {
            write(to.cast(), len, self.pc);
        }
    }

    /// As many bytes were written as the function says, unless it says that it failed.
    pub fn filled<T>(self, to: *mut T, result: isize) {
        self.write(to, result.max(0) as usize);
    }

    /// An object was read, if there is one.
    pub fn look<T>(self, from: *const T) {
        self.read(from, size_of::<T>());
    }

    /// An object was written, if there is one.
    pub fn fill<T>(self, to: *mut T) {
        self.write(to, size_of::<T>());
    }

    /// A string was read, if there is one.
    ///
    /// # Safety
    /// A string or null.
    pub unsafe fn text(self, text: *const c_char) {
        if !text.is_null() {
            // SAFETY: the caller's promise.
            self.read(text, unsafe { libc::strlen(text) } + 1);
        }
    }

    /// A string was written, if there is one.
    ///
    /// # Safety
    /// A string or null.
    pub unsafe fn made(self, text: *mut c_char) {
        if !text.is_null() {
            // SAFETY: the caller's promise.
            self.write(text, unsafe { libc::strlen(text) } + 1);
        }
    }

    /// Wide characters were read.
    pub fn read_wide(self, from: *const wchar_t, count: usize) {
        self.read(from, count * size_of::<wchar_t>());
    }

    /// Wide characters were written.
    pub fn write_wide(self, to: *mut wchar_t, count: usize) {
        self.write(to, count * size_of::<wchar_t>());
    }
}

/// A type as [`deadheat_abi::hooks::REDIRECTED`] has it.
pub trait Letter {
    /// The letter.
    const LETTER: u8;
}

macro_rules! letters {
    ($($letter:literal: $($ty:ty)*;)*) => { $($(
        impl Letter for $ty {
            const LETTER: u8 = $letter;
        }
    )*)* };
}

letters! {
    b'v': ();
    b'd': i32 u32;
    b's': i64 u64 isize usize;
    b'f': f64;
    b'g': f32;
}

impl<T> Letter for *const T {
    const LETTER: u8 = b'p';
}

impl<T> Letter for *mut T {
    const LETTER: u8 = b'p';
}

/// First and last+1 addresses of what is the C library's, or stands in for it.
static STANDARD: [(AtomicUsize, AtomicUsize); 12] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; 12];

/// The same of this library alone.
static OURS: (AtomicUsize, AtomicUsize) = (AtomicUsize::new(0), AtomicUsize::new(0));

/// Whether an address is in this library.
pub fn ours(addr: usize) -> bool {
    (OURS.0.load(Ordering::Relaxed)..OURS.1.load(Ordering::Relaxed)).contains(&addr)
}

fn standard(function: usize) -> bool {
    let mut ranges = STANDARD.iter();
    ranges
        .any(|(start, end)| (start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed)).contains(&function))
}

/// Finds the C library, by the main thread, once; then what the program has of its own.
pub fn init() {
    let mut found = 0usize;
    // SAFETY: the callback gets the pointer back while `found` lives.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut found).cast()) };
    for own in owns() {
        let function = own.function;
        if function != 0 && !standard(function) {
            own.slot.store(function, Ordering::Relaxed);
        }
    }
}

/// Parts of glibc; the kernel's part of it, which `time` and `gettimeofday` are in; and this library.
const NAMES: [&[u8]; 7] = [
    b"libc.so.",
    b"libm.so.",
    b"libpthread.so.",
    b"librt.so.",
    b"libresolv.so.",
    b"ld-linux",
    b"linux-vdso",
];

// SAFETY of calling it: as the loader does it for `dl_iterate_phdr`, with what it was given for `found`.
unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
    // SAFETY: the loader's structure and its own strings and tables, and our own pointer.
    let (info, name, headers, found) = unsafe {
        let info = &*info;
        let name = match info.dlpi_name {
            name if name.is_null() => b"",
            name => CStr::from_ptr(name).to_bytes(),
        };
        let headers = core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        (info, name, headers, &mut *found.cast::<usize>())
    };
    let file = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let segments = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let start = segments
        .clone()
        .map(|header| info.dlpi_addr + header.p_vaddr)
        .min();
    let end = segments
        .map(|header| info.dlpi_addr + header.p_vaddr + header.p_memsz)
        .max();
    let (Some(start), Some(end)) = (start, end) else {
        return 0;
    };
    let (start, end) = (start as usize, end as usize);
    let here = (start..end).contains(&(&raw const STANDARD).addr());
    if here {
        OURS.0.store(start, Ordering::Relaxed);
        OURS.1.store(end, Ordering::Relaxed);
    }
    if (here || NAMES.iter().any(|name| file.starts_with(name)))
        && let Some(range) = STANDARD.get(*found)
    {
        range.0.store(start, Ordering::Relaxed);
        range.1.store(end, Ordering::Relaxed);
        *found += 1;
    }
    0
}

/// A function whose arguments cannot be handed on, so that its stub must know whether the program has its own.
pub struct Own {
    /// As the process has it.
    pub function: usize,
    /// Where the stub looks: 0 if it is the C library's.
    pub slot: &'static AtomicUsize,
}

// The linker's names for the bounds of the section that holds a reference to each slot; nobody else's business.
core::arch::global_asm!(".hidden __start_deadheat_own", ".hidden __stop_deadheat_own");

fn owns() -> impl Iterator<Item = Own> {
    // SAFETY: the linker defines both names, at the bounds of the section.
    unsafe extern "C" {
        #[link_name = "__start_deadheat_own"]
        static FIRST: usize;
        #[link_name = "__stop_deadheat_own"]
        static LAST: usize;
    }
    type Entry = fn() -> Own;
    let first = (&raw const FIRST).cast::<Entry>();
    // SAFETY: the section holds nothing but such functions, one behind the other.
    let count = unsafe { (&raw const LAST).cast::<Entry>().offset_from(first) } as usize;
    // SAFETY: as above.
    (0..count).map(move |at| unsafe { (*first.add(at))() })
}

/// The address of a function as the process has it; 0 if it has none. `$binding` is `.globl` for what this library
/// exports too, else `.weak`: not every process has all of them.
macro_rules! process_has {
    ($binding:literal $name:ident) => {
        core::arch::global_asm!(
            ".section .data.rel.ro.deadheat_model,\"aw\",@progbits",
            ".p2align 3",
            concat!($binding, " ", stringify!($name)),
            concat!(".globl deadheat_model_", stringify!($name)),
            concat!(".hidden deadheat_model_", stringify!($name)),
            concat!("deadheat_model_", stringify!($name), ":"),
            concat!(".quad ", stringify!($name)),
            ".text",
        );
    };
    (ours $name:ident) => {
        $crate::intercept::model::process_has!(".globl" $name);
    };
    ($name:ident) => {
        $crate::intercept::model::process_has!(".weak" $name);
    };
}

/// The function of [`process_has!`], by its type.
macro_rules! the_process {
    ($name:ident: fn($($ty:ty),*) -> $ret:ty) => {{
        // SAFETY: `process_has!` defines the name, as a word of this size.
        unsafe extern "C" {
            #[link_name = concat!("deadheat_model_", stringify!($name))]
            static ADDRESS: usize;
        }
        // SAFETY: filled in by the dynamic linker. The caller calls the function, so there is one; it has this type.
        let address = unsafe { (&raw const ADDRESS).read() };
        // SAFETY: as above.
        let function: unsafe extern "C-unwind" fn($($ty),*) -> $ret = unsafe { core::mem::transmute(address) };
        (address, function)
    }};
}

/// The table: see the module. `ours` is for functions that this library exports as well; `as |f, m|` calls the function in
/// another way than with the caller's arguments; those in brackets are the floating-point numbers among them, which come first.
macro_rules! models {
    ($($(#[$own:ident])? fn $name:ident $([$($number:ident: $nty:ty),+])? ($($arg:ident: $ty:ty),*) -> $ret:ty
        $(, first |$f:ident| $first:expr_2021)?
        $(, as |$real:ident, $known:ident| $call:expr_2021)?
        $(, then |$m:ident, $r:pat_param| $then:expr_2021)?
    ;)*) => { $(
        $crate::intercept::model::process_has!($($own)? $name);
        const _: () = {
            use $crate::intercept::model::{Letter, Model, the_process};
            assert!(
                deadheat_abi::hooks::has_type(stringify!($name), &[
                    <$ret as Letter>::LETTER, $($(<$nty as Letter>::LETTER,)+)? $(<$ty as Letter>::LETTER,)*
                ]),
                concat!("the table of redirected functions has another type for ", stringify!($name)),
            );

            #[allow(unused_unsafe, unused_variables)]
            // SAFETY of calling it: as of the function of the C library, from the stub below.
            unsafe extern "C-unwind" fn body($($($number: $nty,)+)? $($arg: $ty,)* pc: usize) -> $ret {
                let (address, function) = the_process!($name: fn($($($nty,)+)? $($ty),*) -> $ret);
                let model = Model::of(address, pc);
                $(if let Some($f) = model {
                    // SAFETY: the caller's arguments.
                    unsafe { $first };
                })?
                // SAFETY: the caller's arguments.
                let result = unsafe {
                    $crate::intercept::model::call!(function($($($number,)+)? $($arg),*) $(, model, $real, $known, $call)?)
                };
                $(if let Some($m) = model {
                    let $r = result;
                    // SAFETY: the caller's arguments, as the function has left them.
                    unsafe { $then };
                })?
                result
            }

            #[unsafe(export_name = concat!("__deadheat_", stringify!($name)))]
            #[unsafe(naked)]
            // SAFETY of calling it: as of the function of the C library; it hands on where it was called from.
            unsafe extern "C-unwind" fn stub($($($number: $nty,)+)? $($arg: $ty),*) -> $ret {
                $crate::intercept::define::stub!(body $($arg)*)
            }
        };
    )* };
}

/// The call in [`models!`]: plain, or in another way where there is a model.
macro_rules! call {
    ($function:ident($($arg:expr_2021),*)) => {
        $function($($arg),*)
    };
    ($function:ident($($arg:expr_2021),*), $model:ident, $real:ident, $known:ident, $call:expr_2021) => {
        match $model {
            Some($known) => {
                let $real = $function;
                $call
            }
            None => $function($($arg),*),
        }
    };
}

pub(crate) use {call, models, process_has, the_process};
