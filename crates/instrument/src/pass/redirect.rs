//! Calls of functions that the runtime checks go to the runtime's functions of the same types.

use super::ir::{Ir, Type, Value};
use deadheat_abi::hooks::{PREFIX, REDIRECTED};
use llvm_sys::LLVMTypeKind;

/// The functions of [`REDIRECTED`] and their types: what they return, then what they take. `p` is a pointer, `s` a size,
/// `d` an int, `b` a truth value, `v` nothing. A function of the same name with other types is another function.
const TYPES: &[(&str, &[&str])] = &[
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
    ("dpps", &["memcmp", "bcmp", "strncmp", "strncasecmp", "wmemcmp"]),
    ("dpp", &["strcmp", "strcasecmp", "wcscmp"]),
    ("sp", &["strlen", "wcslen"]),
    ("sps", &["strnlen"]),
    ("spp", &["strspn", "strcspn"]),
    ("ppd", &["strchr", "strchrnul", "strrchr", "rawmemchr"]),
    ("pp", &["strdup"]),
    ("pps", &["strndup", "realloc"]),
    ("ppss", &["reallocarray"]),
    (
        "vp",
        &[
            "free",
            "_ZdlPv",
            "_ZdaPv",
            "__cxa_guard_release",
            "__cxa_guard_abort",
        ],
    ),
    ("dp", &["__cxa_guard_acquire"]),
    (
        "vps",
        &[
            "bzero",
            "explicit_bzero",
            "_ZdlPvm",
            "_ZdaPvm",
            "_ZdlPvSt11align_val_t",
            "_ZdaPvSt11align_val_t",
        ],
    ),
    ("vpps", &["bcopy"]),
    ("vpss", &["_ZdlPvmSt11align_val_t", "_ZdaPvmSt11align_val_t"]),
    ("vpp", &["_ZdlPvRKSt9nothrow_t", "_ZdaPvRKSt9nothrow_t"]),
    ("sdps", &["read", "write"]),
    ("sdpss", &["pread", "pread64", "pwrite", "pwrite64"]),
    ("spssp", &["fread", "fwrite"]),
    ("vsppd", &["__atomic_load", "__atomic_store"]),
    ("vspppd", &["__atomic_exchange"]),
    ("bspppdd", &["__atomic_compare_exchange"]),
];

/// Redirects a call if its function is one of those; whether it was.
pub fn redirect<'m>(ir: Ir<'m>, call: Value<'m>) -> bool {
    let callee = call.callee();
    if !callee.is_function() || !callee.is_declaration() || !REDIRECTED.contains(&callee.name()) {
        return false;
    }
    let ty = call.called_type();
    let one_of_them = ty == callee.function_type() && fits(ty, callee.name());
    if one_of_them {
        call.set_callee(ir.declare(&format!("{PREFIX}{}", callee.name()), ty));
    }
    one_of_them
}

/// Whether the function of this name has this type.
fn fits(ty: Type<'_>, name: &str) -> bool {
    let Some((returns, parameters, false)) = ty.function() else {
        return false;
    };
    let expected = TYPES.iter().find(|row| row.1.contains(&name)).map(|row| row.0);
    expected.is_some_and(|expected| {
        expected.len() == parameters.len() + 1
            && std::iter::once(returns)
                .chain(parameters)
                .zip(expected.chars())
                .all(|(ty, letter)| match letter {
                    'v' => ty.kind() == LLVMTypeKind::LLVMVoidTypeKind,
                    'p' => ty.is_plain_pointer(),
                    's' => ty.integer_bits() == Some(64),
                    'd' => ty.integer_bits() == Some(32),
                    _ => matches!(ty.integer_bits(), Some(1 | 8)),
                })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_redirected_function_has_a_type_and_no_other_has() {
        let mut typed: Vec<&str> = TYPES.iter().flat_map(|row| row.1).copied().collect();
        let mut names = REDIRECTED.to_vec();
        typed.sort_unstable();
        names.sort_unstable();
        assert_eq!(typed, names);
    }
}
