//! Functions of the runtime that instrumented code calls.
//!
//! The checks of plain accesses use LLVM's `preserve_most` calling convention: they are called from the cold side of an
//! inline test ([`crate::shadow`]) and must not cost the hot side its registers. All others use the C convention.
//! `context` is the calling function's context value ([`crate::tls`]).

/// `fn(addr, context)`: a read of 1, 2, 4, 8 or 16 bytes at an address aligned to its size; `preserve_most`.
pub const READ: [(u32, &str); 5] = [
    (1, "__deadheat_read1"),
    (2, "__deadheat_read2"),
    (4, "__deadheat_read4"),
    (8, "__deadheat_read8"),
    (16, "__deadheat_read16"),
];

/// `fn(addr, context)`: the same for writes; `preserve_most`.
pub const WRITE: [(u32, &str); 5] = [
    (1, "__deadheat_write1"),
    (2, "__deadheat_write2"),
    (4, "__deadheat_write4"),
    (8, "__deadheat_write8"),
    (16, "__deadheat_write16"),
];

/// `fn(addr, len, context)`: a read of any bytes, aligned or not, also none; `preserve_most`.
pub const READ_RANGE: &str = "__deadheat_read_range";

/// `fn(addr, len, context)`: a write of any bytes; `preserve_most`.
pub const WRITE_RANGE: &str = "__deadheat_write_range";

/// `fn(addr)`: an atomic operation on `addr` follows, and nothing else before [`ATOMIC_END`]. Operations on one address
/// exclude each other between the two, so that clocks change in the order in which the values do.
pub const ATOMIC_BEGIN: &str = "__deadheat_atomic_begin";

/// `fn(addr, what: u32, context)`: the operation is done. `what` is [`crate::atomics::What`] packed.
pub const ATOMIC_END: &str = "__deadheat_atomic_end";

/// `fn(order: u32)`: a fence between threads, called after the fence itself; [`crate::atomics::Ordering`] as a number.
pub const FENCE: &str = "__deadheat_fence";

/// `fn(callee, a, b, c, d)`: a call of `callee` ([`crate::callee`]) follows, and these are among its arguments: pointers,
/// or numbers as wide; null where there are fewer.
pub const CALL_BEGIN: &str = "__deadheat_call_begin";

/// `fn(callee, a, b, c, d)`: more arguments of the call that the next [`CALL_BEGIN`] is about.
pub const CALL_ARGUMENTS: &str = "__deadheat_call_arguments";

/// `fn(callee)`: the call has returned.
pub const CALL_END: &str = "__deadheat_call_end";

/// Put before the name of each of [`REDIRECTED`].
pub const PREFIX: &str = "__deadheat_";

/// Functions of libc and libstdc++ whose *calls from instrumented code* go to the runtime's function of the same type
/// and of the name behind [`PREFIX`], which checks what the function reads and writes and then calls it. Calls from
/// code that is not instrumented stay as they are: what that code orders by means we cannot see must not be checked.
/// (Synchronisation and allocation are intercepted for all callers instead, by symbol interposition.)
pub const REDIRECTED: &[&str] = &[
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "memcmp",
    "bcmp",
    "memchr",
    "memrchr",
    "strlen",
    "strnlen",
    "strcpy",
    "strncpy",
    "stpcpy",
    "strcat",
    "strncat",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strchr",
    "strchrnul",
    "strrchr",
    "strstr",
    "strdup",
    "strndup",
    "bcopy",
    "bzero",
    "explicit_bzero",
    "memccpy",
    "memmem",
    "rawmemchr",
    "stpncpy",
    "strcasestr",
    "strspn",
    "strcspn",
    "strpbrk",
    "wcslen",
    "wcscpy",
    "wcscmp",
    "wmemcmp",
    "wmemcpy",
    "wmemmove",
    "wmemset",
    "__memcpy_chk",
    "__memmove_chk",
    "__mempcpy_chk",
    "__memset_chk",
    "__strcpy_chk",
    "__stpcpy_chk",
    "__strncpy_chk",
    "__strcat_chk",
    "__strncat_chk",
    "free",
    "realloc",
    "reallocarray",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "__atomic_load",
    "__atomic_store",
    "__atomic_exchange",
    "__atomic_compare_exchange",
    "__cxa_guard_acquire",
    "__cxa_guard_release",
    "__cxa_guard_abort",
    "read",
    "pread",
    "pread64",
    "fread",
    "write",
    "pwrite",
    "pwrite64",
    "fwrite",
];
