//! The one way in which a function of libc is replaced.
//!
//! [`interpose!`] exports a function under libc's own name: every caller in the process gets ours, and ours calls the
//! next definition in the search order ([`Real`]). [`redirect!`] exports one under [`deadheat_abi::hooks::PREFIX`]: only
//! instrumented code calls it.
//!
//! What is exported is a stub of two instructions that hands the return address on as one more argument, so that the
//! body knows from where in the program it was called. The stub leaves no frame, and the bodies are `C-unwind`: a C++
//! exception, `pthread_exit` or a cancellation inside the real function passes through a body as if it were not there.
//! **Rule:** a body therefore holds no lock while it is in the real function, and what it owns is dropped on the way out.

use core::ffi::CStr;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The definition of a function of type `F` that comes after ours.
pub struct Real<F> {
    lookup: Lookup,
    of: PhantomData<F>,
}

/// The same without its type.
pub struct Lookup {
    name: &'static CStr,
    /// Where a name has several versions, the one that programs of today ask for.
    version: Option<&'static CStr>,
    /// 0 until looked up.
    address: AtomicUsize,
}

/// How many threads look up a function just now: what `dlsym` allocates then comes from [`super::bootstrap`].
static RESOLVING: AtomicU32 = AtomicU32::new(0);

/// Whether a function is being looked up.
pub fn resolving() -> bool {
    RESOLVING.load(Ordering::Relaxed) != 0
}

impl<F: Copy> Real<F> {
    /// Not looked up yet.
    ///
    /// # Safety
    /// `F` is the type of function that the headers declare under this name.
    pub const unsafe fn new(name: &'static CStr, version: Option<&'static CStr>) -> Real<F> {
        Real {
            lookup: Lookup {
                name,
                version,
                address: AtomicUsize::new(0),
            },
            of: PhantomData,
        }
    }

    /// For [`resolve_all`].
    pub const fn lookup(&self) -> &Lookup {
        &self.lookup
    }

    /// The function. Ends the process if there is none: a program that calls a function which nobody defines does not
    /// load either.
    #[inline]
    pub fn get(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        let address = match self.lookup.address.load(Ordering::Relaxed) {
            0 => self.lookup.resolve_or_die(),
            address => address,
        };
        // SAFETY: a function of this type, by the promise made to `new`.
        unsafe { core::mem::transmute_copy::<usize, F>(&address) }
    }

    /// Whether it has been looked up.
    #[inline]
    pub fn known(&self) -> bool {
        self.lookup.known()
    }
}

impl Lookup {
    fn known(&self) -> bool {
        self.address.load(Ordering::Relaxed) != 0
    }

    #[cold]
    fn resolve_or_die(&self) -> usize {
        match self.resolve() {
            0 => {
                let name = self.name.to_str().unwrap_or_default();
                crate::log::tell(format_args!("no library of this process defines `{name}`"));
                crate::log::exit_now(2)
            }
            address => address,
        }
    }

    /// Whether it is a function of the C++ library, which not every process has.
    fn cxx(&self) -> bool {
        let name = self.name.to_bytes();
        name.starts_with(b"_Z") || name.starts_with(b"__cxa_")
    }

    /// Looks the function up; 0 if nobody defines it.
    fn resolve(&self) -> usize {
        RESOLVING.fetch_add(1, Ordering::Relaxed);
        let mut found = core::ptr::null_mut();
        if let Some(version) = self.version {
            // SAFETY: both are C strings.
            found = unsafe { libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr()) };
        }
        if found.is_null() {
            // SAFETY: a C string.
            found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        }
        // A C++ library that was loaded later, for one module only, does not come after ours in the search order.
        for library in [c"libstdc++.so.6", c"libc++abi.so.1"] {
            if found.is_null() && self.cxx() {
                // SAFETY: C strings. The handle is kept: what uses the function keeps the library anyway.
                unsafe {
                    let handle = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
                    if !handle.is_null() {
                        found = libc::dlsym(handle, self.name.as_ptr());
                    }
                }
            }
        }
        RESOLVING.fetch_sub(1, Ordering::Relaxed);
        self.address.store(found as usize, Ordering::Relaxed);
        found as usize
    }
}

// The linker's names for the bounds of the section that holds a reference to each `Lookup`; nobody else's business.
core::arch::global_asm!(".hidden __start_deadheat_real", ".hidden __stop_deadheat_real");

// SAFETY of the names: only their addresses are taken.
unsafe extern "C" {
    #[link_name = "__start_deadheat_real"]
    static FIRST: usize;
    #[link_name = "__stop_deadheat_real"]
    static LAST: usize;
}

/// Looks up all functions, so that none is looked up later in a signal handler or with a lock of the program held.
pub fn resolve_all() {
    let mut next = (&raw const FIRST).cast::<&Lookup>();
    while next < (&raw const LAST).cast() {
        // SAFETY: the section holds nothing but references to `Lookup`, one behind the other.
        let lookup = unsafe { *next };
        if !lookup.known() {
            lookup.resolve();
        }
        // SAFETY: as above; one behind the last is the end.
        next = unsafe { next.add(1) };
    }
}

/// `static $real: fn type = c"name"`: the next definition of a function, for use in several bodies.
macro_rules! real {
    ($($visible:vis $real:ident: fn($($ty:ty),* $(,)?) $(-> $ret:ty)? = $name:expr_2021 $(, $version:literal)?;)*) => { $(
        // SAFETY of calling it: as of the C library's.
        $visible static $real: $crate::intercept::define::Real<unsafe extern "C-unwind" fn($($ty),*) $(-> $ret)?> =
            // SAFETY: the type that the C library's headers give it.
            unsafe { $crate::intercept::define::Real::new($name, $crate::intercept::define::version!($($version)?)) };

        const _: () = {
            #[used]
            #[unsafe(link_section = "deadheat_real")]
            static ENTRY: &$crate::intercept::define::Lookup = $real.lookup();
        };
    )* };
}

/// Exports `$name` for every caller. In the body, `$pc` is the caller's return address and `$real` the next definition.
macro_rules! interpose {
    ($(
        $(#[$meta:meta])*
        fn $name:ident[$pc:pat, $real:ident $(@ $version:literal)?]($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block
    )*) => { $(
        const _: () = {
            $crate::intercept::define::real! {
                REAL: fn($($ty),*) $(-> $ret)? = $crate::intercept::define::c_name!($name) $(, $version)?;
            }
            $crate::intercept::define::replace! {
                $(#[$meta])*
                fn $name[$pc]($($arg: $ty),*) $(-> $ret)? {
                    let $real = REAL.get();
                    $body
                }
            }
        };
    )* };
}

/// Exports `$name` for every caller. In the body, `$pc` is the caller's return address. Nobody else's definition is used.
macro_rules! replace {
    ($(
        $(#[$meta:meta])*
        fn $name:ident[$pc:pat]($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block
    )*) => { $(
        const _: () = {
            $(#[$meta])*
            #[cfg_attr(test, allow(dead_code))]
            // SAFETY of calling it, and the stub: as of the function that it replaces.
            unsafe extern "C-unwind" fn body($($arg: $ty,)* caller: usize) $(-> $ret)? {
                $crate::steer::pause();
                let $pc = caller;
                $body
            }

            // Not in the crate's own tests, which run on the plain C library. SAFETY as above.
            #[cfg(not(test))]
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name($($arg: $ty),*) $(-> $ret)? {
                $crate::intercept::define::stub!(body $($arg)*)
            }
        };
    )* };
}

/// Exports `__deadheat_$name` for instrumented callers. In the body, `$pc` is the caller's return address.
macro_rules! redirect {
    ($(
        $(#[$meta:meta])*
        fn $name:ident[$pc:pat]($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block
    )*) => { $(
        const _: () = {
            // SAFETY of calling either: as the function of libc that it stands for.
            $(#[$meta])*
            unsafe extern "C-unwind" fn body($($arg: $ty,)* $pc: usize) $(-> $ret)? $body

            // SAFETY of the name: nobody else has this prefix.
            #[unsafe(export_name = concat!("__deadheat_", stringify!($name)))]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn stub($($arg: $ty),*) $(-> $ret)? {
                $crate::intercept::define::stub!(body $($arg)*)
            }
        };
    )* };
}

/// Hands the return address on as one more argument. Behind six it goes onto the stack.
macro_rules! stub {
    ($body:ident $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "push qword ptr [rsp]",
            ".cfi_adjust_cfa_offset 8",
            "call {}",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "ret",
            ".cfi_endproc",
            sym $body,
        )
    };
    ($body:ident $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "sub rsp, 8",
            ".cfi_adjust_cfa_offset 8",
            "push qword ptr [rsp + 8]",
            ".cfi_adjust_cfa_offset 8",
            "push qword ptr [rsp + 24]",
            ".cfi_adjust_cfa_offset 8",
            "call {}",
            "add rsp, 24",
            ".cfi_adjust_cfa_offset -24",
            "ret",
            ".cfi_endproc",
            sym $body,
        )
    };
    ($body:ident $($arg:ident)*) => {
        core::arch::naked_asm!(
            concat!("mov ", $crate::intercept::define::register_behind!($($arg)*), ", [rsp]"),
            "jmp {}",
            sym $body,
        )
    };
}

/// The register of the argument behind the given ones.
macro_rules! register_behind {
    () => {
        "rdi"
    };
    ($a:ident) => {
        "rsi"
    };
    ($a:ident $b:ident) => {
        "rdx"
    };
    ($a:ident $b:ident $c:ident) => {
        "rcx"
    };
    ($a:ident $b:ident $c:ident $d:ident) => {
        "r8"
    };
    ($a:ident $b:ident $c:ident $d:ident $e:ident) => {
        "r9"
    };
}

/// A version as an option of a C string.
macro_rules! version {
    () => {
        None
    };
    ($version:literal) => {
        Some($version)
    };
}

/// A name as a C string.
macro_rules! c_name {
    ($name:ident) => {
        match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => panic!("a name of C"),
        }
    };
}

pub(crate) use {c_name, interpose, real, redirect, register_behind, replace, stub, version};
