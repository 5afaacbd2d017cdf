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

/// `fn(addr, count, stride, size, context)`: `count` reads of `size` bytes each, at `addr`, `addr + stride` and so on;
/// `stride` is signed and may be smaller than `size`, `count` may be 0; `preserve_most`.
pub const READ_STRIDED: &str = "__deadheat_read_strided";

/// `fn(addr, count, stride, size, context)`: the same for writes; `preserve_most`.
pub const WRITE_STRIDED: &str = "__deadheat_write_strided";

/// `fn(footprint, addr, len, context)`: reads of some bytes, maybe none, are to be checked with what the footprint holds
/// ([`crate::footprint`]); `preserve_most`.
pub const READ_GATHER: &str = "__deadheat_read_gather";

/// `fn(footprint, addr, len, context)`: the same for writes; `preserve_most`.
pub const WRITE_GATHER: &str = "__deadheat_write_gather";

/// `fn(footprint, addr, places, stride, context)`: the same for reads of places in equal distances, as [`READ_STRIDED`];
/// `places` is how many they are, times [`COLUMN`], and how many bytes each has; `preserve_most`.
pub const READ_COLUMN: &str = "__deadheat_read_column";

/// `fn(footprint, addr, places, stride, context)`: the same for writes; `preserve_most`.
pub const WRITE_COLUMN: &str = "__deadheat_write_column";

/// Less than so many bytes a place of a column has.
pub const COLUMN: u64 = 1 << 12;

/// `fn(footprint, context)`: checks the reads that the footprint holds, and empties it; `preserve_most`.
pub const READ_COMMIT: &str = "__deadheat_read_commit";

/// `fn(footprint, context)`: the same for writes; `preserve_most`.
pub const WRITE_COMMIT: &str = "__deadheat_write_commit";

/// `fn(state, addr, size, context)`: a write of 1, 2, 4 or 8 bytes, aligned to as many, that does not go on with a stretch of the
/// loop that it is in ([`crate::stretches`]); `preserve_most`.
pub const WRITE_STRETCH: &str = "__deadheat_write_stretch";

/// `fn(state, context)`: the loop is left, and its stretches are checked; `preserve_most`.
pub const WRITE_STRETCHES: &str = "__deadheat_write_stretches";

/// `fn(addr) -> u64`: does a load of 1, 2, 4 or 8 bytes, in programs that are built to be recorded.
pub const LOAD: [(u32, &str); 4] = [
    (1, "__deadheat_load1"),
    (2, "__deadheat_load2"),
    (4, "__deadheat_load4"),
    (8, "__deadheat_load8"),
];

/// `fn(addr, value: u64)`: does a store, likewise.
pub const STORE: [(u32, &str); 4] = [
    (1, "__deadheat_store1"),
    (2, "__deadheat_store2"),
    (4, "__deadheat_store4"),
    (8, "__deadheat_store8"),
];

/// `fn(addr) -> (u64, u64)`: does a load of 16 bytes, likewise.
pub const LOAD16: &str = "__deadheat_load16";

/// `fn(addr, low: u64, high: u64)`: does a store of 16 bytes, likewise.
pub const STORE16: &str = "__deadheat_store16";

/// `fn(addr)`: an atomic operation on `addr` follows, and nothing else before [`ATOMIC_END`]. Operations on one address
/// exclude each other between the two, so that clocks change in the order in which the values do.
pub const ATOMIC_BEGIN: &str = "__deadheat_atomic_begin";

/// `fn(addr, what: u32, context)`: the operation is done. `what` is [`crate::atomics::What`] packed.
pub const ATOMIC_END: &str = "__deadheat_atomic_end";

/// `fn(addr, what: u32, context) -> u64`: makes an atomic load of 1, 2, 4 or 8 bytes, aligned to as many, in the place of all three.
pub const ATOMIC_LOAD: &str = "__deadheat_atomic_load";

/// `fn(order: u32)`: a fence between threads, called after the fence itself; [`crate::atomics::Ordering`] as a number.
pub const FENCE: &str = "__deadheat_fence";

/// `fn(count: u64)`: so many plain accesses follow in this block, checked or not. Only in code that is instrumented to be
/// counted.
pub const ACCESSES: &str = "__deadheat_accesses";

/// `fn(callee, a, b, c, d)`: a call of `callee` ([`crate::callee`]) follows, and these are among its arguments: pointers,
/// or numbers as wide; null where there are fewer.
pub const CALL_BEGIN: &str = "__deadheat_call_begin";

/// `fn(callee, a, b, c, d)`: more arguments of the call that the next [`CALL_BEGIN`] is about.
pub const CALL_ARGUMENTS: &str = "__deadheat_call_arguments";

/// `fn(callee, start, len)`: one of the arguments of that call leads into this local variable of its caller.
pub const CALL_LOCAL: &str = "__deadheat_call_local";

/// `fn(callee)`: the call has returned.
pub const CALL_END: &str = "__deadheat_call_end";

/// `fn(function, a, b, c, d)`: the same as [`CALL_BEGIN`] for a call through a pointer that leads out of the module.
pub const POINTER_BEGIN: &str = "__deadheat_pointer_begin";

/// `fn(function)`: that call has returned.
pub const POINTER_END: &str = "__deadheat_pointer_end";

/// `fn(callee, a, b, c, d)`: code that is not to be recorded begins, `callee` and its arguments as in [`CALL_BEGIN`]. Called by the
/// function that is left out itself, or around a call of it.
pub const MISSING_BEGIN: &str = "__deadheat_missing_begin";

/// `fn(callee)`: it ends.
pub const MISSING_END: &str = "__deadheat_missing_end";

/// `fn()`: a function that is recorded was called by code that is not.
pub const CALLBACK_BEGIN: &str = "__deadheat_callback_begin";

/// `fn()`: it returns.
pub const CALLBACK_END: &str = "__deadheat_callback_end";

/// `fn()`: the stack was unwound or jumped over up to this function.
pub const LANDED: &str = "__deadheat_landed";

/// `fn(addr)`: code that is not recorded has written what may be pointers there, up to 64 bytes.
pub const POINTERS_WRITTEN: &str = "__deadheat_pointers_written";

/// A byte: 0 as long as nobody need be told of stores of pointers.
pub const LINKING: &str = "__deadheat_linking";

/// `fn(addr, value)`: this was stored there, and may be a pointer; `preserve_most`.
pub const LINK: &str = "__deadheat_link";

/// `fn(addr, len)`: words that may be pointers were stored there, or all else was there before; `preserve_most`.
pub const LINKS: &str = "__deadheat_links";

/// Put before the name of each of [`REDIRECTED`].
pub const PREFIX: &str = "__deadheat_";

/// Functions of libc and libstdc++ whose *calls from instrumented code* go to the runtime's function of the same type
/// and of the name behind [`PREFIX`], which checks what the function reads and writes and then calls it. Calls from
/// code that is not instrumented stay as they are: what that code orders by means we cannot see must not be checked.
/// (Synchronisation and allocation are intercepted for all callers instead, by symbol interposition.)
///
/// Each row is a type and the functions that have it: what they return, then what they take. `p` is a pointer, `s` 64 bits
/// (a size, say), `d` 32 (an int), `b` a truth value, `f` a double, `g` a float, `v` nothing; a `.` at the end says that
/// more arguments may follow. A function of the same name with other types is another function.
pub const REDIRECTED: &[(&str, &[&str])] = &[
    (
        "ppp",
        &[
            "strcpy",
            "stpcpy",
            "strcat",
            "strstr",
            "strcasestr",
            "strpbrk",
            "wcscpy",
            "realpath",
            "strsep",
            "localtime_r",
            "gmtime_r",
            "ctime_r",
            "asctime_r",
            "wcscat",
        ],
    ),
    (
        "ppps",
        &[
            "memcpy",
            "memmove",
            "mempcpy",
            "strncpy",
            "stpncpy",
            "strncat",
            "wmemcpy",
            "wmemmove",
            "__strcpy_chk",
            "__stpcpy_chk",
            "__strcat_chk",
            "wcsncpy",
        ],
    ),
    (
        "pppss",
        &[
            "__memcpy_chk",
            "__memmove_chk",
            "__mempcpy_chk",
            "__strncpy_chk",
            "__strncat_chk",
        ],
    ),
    ("ppds", &["memset", "memchr", "memrchr", "wmemset"]),
    ("ppdss", &["__memset_chk"]),
    ("pppds", &["memccpy"]),
    ("ppsps", &["memmem"]),
    (
        "dpps",
        &["memcmp", "bcmp", "strncmp", "strncasecmp", "wmemcmp", "mbtowc"],
    ),
    (
        "dpp",
        &[
            "strcmp",
            "strcasecmp",
            "wcscmp",
            "vprintf",
            "inet_aton",
            "stat",
            "stat64",
            "lstat",
            "lstat64",
            "statvfs",
            "statvfs64",
            "statfs",
            "statfs64",
            "fputs",
            "fgetpos",
            "fsetpos",
            "fputs_unlocked",
            "strcoll",
            "pthread_attr_getdetachstate",
            "pthread_attr_getguardsize",
            "pthread_attr_getstacksize",
            "pthread_attr_getschedparam",
            "pthread_attr_getschedpolicy",
            "pthread_attr_getinheritsched",
            "pthread_attr_getscope",
            "pthread_key_create",
            "sem_getvalue",
            "sigaltstack",
            "sigwait",
            "sigwaitinfo",
            "gettimeofday",
            "nanosleep",
            "timer_gettime",
        ],
    ),
    (
        "sp",
        &[
            "strlen", "wcslen", "atol", "atoll", "time", "times", "mktime", "timegm",
        ],
    ),
    ("sps", &["strnlen"]),
    ("spp", &["strspn", "strcspn"]),
    (
        "ppd",
        &["strchr", "strchrnul", "strrchr", "rawmemchr", "wcschr", "wcsrchr"],
    ),
    (
        "pp",
        &[
            "strdup",
            "getenv",
            "secure_getenv",
            "mkdtemp",
            "readdir",
            "readdir64",
            "localtime",
            "gmtime",
            "ctime",
            "asctime",
            "wcsdup",
        ],
    ),
    ("ps", &["_Znwm"]),
    ("pps", &["strndup", "realloc", "getcwd"]),
    ("ppss", &["reallocarray"]),
    (
        "vp",
        &[
            "free",
            "_ZdlPv",
            "_ZdaPv",
            "__cxa_guard_release",
            "__cxa_guard_abort",
            "freeaddrinfo",
        ],
    ),
    (
        "dp",
        &[
            "__cxa_guard_acquire",
            "putenv",
            "unsetenv",
            "mkstemp",
            "mkstemp64",
            "pipe",
            "puts",
            "uname",
            "sysinfo",
            "wait",
            "atoi",
            "pthread_attr_init",
            "sigemptyset",
            "sigfillset",
            "sigpending",
            "sigsuspend",
            "fgetc",
            "getc",
            "getc_unlocked",
            "__uflow",
        ],
    ),
    (
        "vps",
        &[
            "bzero",
            "explicit_bzero",
            "_ZdlPvm",
            "_ZdaPvm",
            "_ZdlPvSt11align_val_t",
            "_ZdaPvSt11align_val_t",
            "arc4random_buf",
        ],
    ),
    ("vpps", &["bcopy", "swab"]),
    ("vpss", &["_ZdlPvmSt11align_val_t", "_ZdaPvmSt11align_val_t"]),
    ("vpp", &["_ZdlPvRKSt9nothrow_t", "_ZdaPvRKSt9nothrow_t"]),
    ("sdps", &["read", "write"]),
    ("sdpss", &["pread", "pread64", "pwrite", "pwrite64"]),
    ("spssp", &["fread", "fwrite", "fread_unlocked", "fwrite_unlocked"]),
    ("vsppd", &["__atomic_load", "__atomic_store"]),
    ("vspppd", &["__atomic_exchange"]),
    ("bspppdd", &["__atomic_compare_exchange"]),
    ("d", &["clearenv", "getchar"]),
    ("ddddp", &["epoll_ctl", "socketpair"]),
    ("ddddpd", &["setsockopt"]),
    ("ddddpp", &["getsockopt"]),
    ("dddp", &["tcsetattr"]),
    ("dddpd", &["waitid"]),
    ("dddpp", &["clock_nanosleep", "timerfd_settime"]),
    (
        "ddp",
        &[
            "eventfd_read",
            "mq_getattr",
            "fstat",
            "fstat64",
            "fstatvfs",
            "fstatvfs64",
            "fstatfs",
            "fstatfs64",
            "getrusage",
            "getrlimit",
            "getrlimit64",
            "setrlimit",
            "getgroups",
            "tcgetattr",
            "sched_getparam",
            "clock_getcpuclockid",
            "clock_gettime",
            "clock_getres",
            "getitimer",
            "timerfd_gettime",
            "clock_settime",
            "fputc",
            "putc",
            "putc_unlocked",
        ],
    ),
    ("ddp.", &["dprintf", "__printf_chk"]),
    ("ddpd", &["bind", "connect", "waitpid"]),
    ("ddpdd", &["epoll_wait"]),
    ("ddpddp", &["epoll_pwait", "statx"]),
    ("ddpdp", &["wait4"]),
    (
        "ddpp",
        &[
            "vdprintf",
            "mq_setattr",
            "inet_pton",
            "accept",
            "getsockname",
            "getpeername",
            "sigprocmask",
            "pthread_sigmask",
            "sigaction",
            "setitimer",
            "timer_create",
        ],
    ),
    ("ddppd", &["accept4", "fstatat", "fstatat64"]),
    ("ddpppp", &["select"]),
    ("ddppppp", &["pselect"]),
    ("ddppsp", &["getpwuid_r", "getgrgid_r"]),
    ("ddps", &["ttyname_r", "__xpg_strerror_r"]),
    ("ddpsd", &["mq_send"]),
    ("ddpsdp", &["mq_timedsend"]),
    ("ddsp", &["sched_getaffinity"]),
    ("dp.", &["printf", "scanf", "__isoc99_scanf", "__isoc23_scanf"]),
    (
        "dpd",
        &[
            "mkostemp",
            "pipe2",
            "getloadavg",
            "sigaddset",
            "sigdelset",
            "sigismember",
            "timespec_get",
            "wctomb",
            "__overflow",
        ],
    ),
    ("dpdp.", &["__fprintf_chk"]),
    ("dpdpdpdd", &["getnameinfo"]),
    ("dpdpp", &["glob", "glob64", "timer_settime"]),
    ("dpdsp.", &["__sprintf_chk"]),
    (
        "dpp.",
        &[
            "fprintf",
            "sprintf",
            "asprintf",
            "fscanf",
            "sscanf",
            "__isoc99_fscanf",
            "__isoc99_sscanf",
            "__isoc23_fscanf",
            "__isoc23_sscanf",
        ],
    ),
    ("dppd", &["setenv", "regcomp", "wordexp"]),
    (
        "dppp",
        &[
            "vfprintf",
            "vsprintf",
            "vasprintf",
            "__isoc99_vsscanf",
            "__isoc99_vfscanf",
            "readdir_r",
            "pthread_attr_getstack",
            "sigtimedwait",
        ],
    ),
    ("dpppp", &["getaddrinfo", "scandir", "scandir64"]),
    ("dpppppp", &["posix_spawn", "posix_spawnp"]),
    ("dpppsp", &["getpwnam_r", "getgrnam_r"]),
    ("dpppspp", &["gethostbyname_r"]),
    ("dppspd", &["regexec"]),
    (
        "dps",
        &["gethostname", "getdomainname", "getlogin_r", "getentropy"],
    ),
    ("dpsd", &["poll"]),
    ("dpsdsp.", &["__snprintf_chk"]),
    ("dpsp.", &["snprintf"]),
    ("dpspp", &["vsnprintf", "ppoll"]),
    (
        "dsp",
        &[
            "pthread_join",
            "pthread_tryjoin_np",
            "thrd_join",
            "pthread_setname_np",
            "pthread_getattr_np",
            "pthread_getcpuclockid",
        ],
    ),
    ("dspp", &["pthread_getschedparam", "pthread_timedjoin_np"]),
    ("dsps", &["pthread_getname_np"]),
    ("dssp", &["pthread_getaffinity_np"]),
    ("fffp", &["remquo"]),
    ("ffp", &["frexp", "modf", "lgamma_r"]),
    ("fp", &["atof"]),
    ("fpp", &["strtod"]),
    ("gggp", &["remquof"]),
    ("ggp", &["frexpf", "modff", "lgammaf_r"]),
    ("gpp", &["strtof"]),
    ("pdp", &["if_indextoname"]),
    ("pdppd", &["inet_ntop"]),
    ("pdps", &["strerror_r"]),
    ("ppdp", &["fgets", "fgetws", "fgets_unlocked"]),
    ("pppp", &["tsearch", "tfind", "tdelete", "strtok_r", "__strtok_r"]),
    ("ppppsp", &["lfind", "lsearch"]),
    ("sdpd", &["readv", "writev", "sendmsg", "recvmsg"]),
    ("sdpds", &["preadv", "preadv64", "pwritev", "pwritev64"]),
    ("sdpps", &["readlinkat", "regerror"]),
    ("sdpsd", &["send", "recv"]),
    ("sdpsdpd", &["sendto"]),
    ("sdpsdpp", &["recvfrom"]),
    ("sdpsp", &["mq_receive"]),
    ("sdpspp", &["mq_timedreceive"]),
    ("spdp", &["wcrtomb"]),
    (
        "sppd",
        &[
            "strtol",
            "strtoll",
            "strtoul",
            "strtoull",
            "strtoimax",
            "strtoumax",
            "__isoc23_strtol",
            "__isoc23_strtoll",
            "__isoc23_strtoul",
            "__isoc23_strtoull",
            "wcstol",
        ],
    ),
    ("sppdp", &["getdelim", "__getdelim"]),
    ("sppp", &["getline"]),
    ("sppppp", &["iconv"]),
    ("spps", &["readlink", "strxfrm", "mbstowcs", "wcstombs"]),
    ("sppsp", &["mbrtowc"]),
    ("spsd", &["getrandom"]),
    ("spspp", &["strftime"]),
    ("vfpp", &["sincos"]),
    ("vgpp", &["sincosf"]),
    ("vpssp", &["qsort"]),
    ("vpsspp", &["qsort_r"]),
    ("dspdp", &["pthread_clockjoin_np"]),
    ("dd", &["putchar"]),
];

/// All [`REDIRECTED`] functions.
pub fn redirected() -> impl Iterator<Item = &'static str> {
    REDIRECTED.iter().flat_map(|row| row.1).copied()
}

/// Whether `name` is one of the [`REDIRECTED`] functions, and of this type: for the runtime to compare itself with at
/// compile time.
pub const fn has_type(name: &str, letters: &[u8]) -> bool {
    let mut row = 0;
    while row < REDIRECTED.len() {
        let (ty, names) = REDIRECTED[row];
        let mut at = 0;
        while at < names.len() {
            if same(names[at].as_bytes(), name.as_bytes()) {
                return same(ty.as_bytes(), letters);
            }
            at += 1;
        }
        row += 1;
    }
    false
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_function_has_one_type() {
        let mut names: Vec<&str> = redirected().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(has_type("memcpy", b"ppps") && !has_type("memcpy", b"pppss") && !has_type("memcp", b"ppps"));
    }
}
