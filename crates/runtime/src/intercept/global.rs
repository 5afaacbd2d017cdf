//! Functions as the *process* has them: the program's own definition if there is one, else a library's.
//!
//! A program may bring its own allocator, its own `operator new` and `delete`, or a C++ library linked in. A redirected function
//! must then call that one, not the one that comes after ours. The dynamic linker fills in these addresses by its usual
//! rules; and because our library refers to the names, a linker exports the program's definitions of them.

use core::arch::global_asm;
use core::mem::transmute_copy;

macro_rules! global {
    ($($binding:literal $(#[$meta:meta])* $name:ident: fn($($ty:ty),*) $(-> $ret:ty)? = $symbol:literal;)*) => {
        global_asm!(
            ".section .data.rel.ro.deadheat_global,\"aw\",@progbits",
            ".p2align 3",
            $(
                concat!($binding, $symbol),
                concat!(".globl deadheat_global_", $symbol),
                concat!(".hidden deadheat_global_", $symbol),
                concat!("deadheat_global_", $symbol, ":"),
                concat!(".quad ", $symbol),
            )*
            ".text",
        );
        $(
            $(#[$meta])*
            // SAFETY of calling it: as the function of that name.
            pub fn $name() -> Option<unsafe extern "C-unwind" fn($($ty),*) $(-> $ret)?> {
                // SAFETY: a word that the assembly above defines.
                unsafe extern "C" {
                    #[link_name = concat!("deadheat_global_", $symbol)]
                    static ADDRESS: usize;
                }
                // SAFETY: filled in by the dynamic linker: 0 (which is `None`) or a function of this type.
                unsafe { transmute_copy(&(&raw const ADDRESS).read()) }
            }
        )*
    };
}

use core::ffi::{c_int, c_void};

global! {
    ".globl "
    /// `malloc`.
    malloc: fn(usize) -> *mut c_void = "malloc";
    ".globl "
    /// `realloc`.
    realloc: fn(*mut c_void, usize) -> *mut c_void = "realloc";
    ".globl "
    /// `free`.
    free: fn(*mut c_void) = "free";
    ".weak "
    /// `operator new(size_t)`.
    new: fn(usize) -> *mut c_void = "_Znwm";
    ".weak "
    /// `operator delete(void*)`.
    delete: fn(*mut c_void) = "_ZdlPv";
    ".weak "
    /// `operator delete[](void*)`.
    delete_array: fn(*mut c_void) = "_ZdaPv";
    ".weak "
    /// `operator delete(void*, size_t)`.
    delete_sized: fn(*mut c_void, usize) = "_ZdlPvm";
    ".weak "
    /// `operator delete[](void*, size_t)`.
    delete_array_sized: fn(*mut c_void, usize) = "_ZdaPvm";
    ".weak "
    /// `operator delete(void*, align_val_t)`.
    delete_aligned: fn(*mut c_void, usize) = "_ZdlPvSt11align_val_t";
    ".weak "
    /// `operator delete[](void*, align_val_t)`.
    delete_array_aligned: fn(*mut c_void, usize) = "_ZdaPvSt11align_val_t";
    ".weak "
    /// `operator delete(void*, size_t, align_val_t)`.
    delete_sized_aligned: fn(*mut c_void, usize, usize) = "_ZdlPvmSt11align_val_t";
    ".weak "
    /// `operator delete[](void*, size_t, align_val_t)`.
    delete_array_sized_aligned: fn(*mut c_void, usize, usize) = "_ZdaPvmSt11align_val_t";
    ".weak "
    /// `operator delete(void*, nothrow_t const&)`.
    delete_nothrow: fn(*mut c_void, *const c_void) = "_ZdlPvRKSt9nothrow_t";
    ".weak "
    /// `operator delete[](void*, nothrow_t const&)`.
    delete_array_nothrow: fn(*mut c_void, *const c_void) = "_ZdaPvRKSt9nothrow_t";
    ".weak "
    /// libatomic's load of any size.
    atomic_load: fn(usize, *const c_void, *mut c_void, c_int) = "__atomic_load";
    ".weak "
    /// libatomic's store of any size.
    atomic_store: fn(usize, *mut c_void, *const c_void, c_int) = "__atomic_store";
    ".weak "
    /// libatomic's exchange of any size.
    atomic_exchange: fn(usize, *mut c_void, *const c_void, *mut c_void, c_int) = "__atomic_exchange";
    ".weak "
    /// libatomic's compare-exchange of any size.
    atomic_compare_exchange: fn(usize, *mut c_void, *mut c_void, *const c_void, c_int, c_int) -> bool = "__atomic_compare_exchange";
}
