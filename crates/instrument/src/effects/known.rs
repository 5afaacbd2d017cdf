//! Functions of libc and libm of which it is known what they do. The runtime neither orders anything by them nor takes them
//! for calls into unknown code.

use super::Effects;

/// They compute, or look at memory that they are given: they return, and no other thread hears of it.
const HARMLESS: &[&str] = &[
    // libm; the same names with `f` at the end are the functions of `float`.
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "hypot",
    "ilogb",
    "ldexp",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "modf",
    "nearbyint",
    "nextafter",
    "pow",
    "remainder",
    "rint",
    "round",
    "scalbln",
    "scalbn",
    "sin",
    "sincos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    // Memory and strings.
    "bcmp",
    "memchr",
    "memcmp",
    "memcpy",
    "memmem",
    "memmove",
    "mempcpy",
    "memrchr",
    "memset",
    "stpcpy",
    "stpncpy",
    "strcasecmp",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "strcspn",
    "strlen",
    "strncasecmp",
    "strncat",
    "strncmp",
    "strncpy",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strspn",
    "strstr",
    // Numbers.
    "abs",
    "atof",
    "atoi",
    "atol",
    "atoll",
    "div",
    "ffs",
    "labs",
    "ldiv",
    "llabs",
    "lldiv",
    "strtod",
    "strtof",
    "strtol",
    "strtoll",
    "strtoul",
    "strtoull",
    // Characters.
    "isalnum",
    "isalpha",
    "isblank",
    "iscntrl",
    "isdigit",
    "isgraph",
    "islower",
    "isprint",
    "ispunct",
    "isspace",
    "isupper",
    "isxdigit",
    "tolower",
    "toupper",
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__errno_location",
    // Allocation. Memory that is handed on from thread to thread is ordered by the runtime when it is freed, not here.
    "calloc",
    "malloc",
    // Time.
    "clock_gettime",
    "gettimeofday",
];

/// What calls of the function of this name may do, unless the program has one of its own.
pub fn effects(name: &str) -> Option<Effects> {
    if HARMLESS.contains(&name) || is_for_float(name) {
        return Some(Effects::NONE);
    }
    match name {
        "free" => Some(Effects {
            frees: true,
            ..Effects::NONE
        }),
        // They end the program or the frame, and do so by calling what was registered.
        "abort" | "_exit" | "_Exit" | "__assert_fail" => Some(Effects {
            may_not_return: true,
            ..Effects::NONE
        }),
        _ => None,
    }
}

fn is_for_float(name: &str) -> bool {
    let Some(double) = name.strip_suffix('f') else {
        return false;
    };
    // The names before those of memory are libm's.
    let libm = HARMLESS.iter().take_while(|&&name| name != "bcmp");
    libm.into_iter().any(|&name| name == double)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_harmless() {
        for name in ["sin", "sinf", "strlen", "malloc"] {
            assert_eq!(effects(name), Some(Effects::NONE), "{name}");
        }
        for name in ["strlenf", "pthread_mutex_lock", "printf", "realloc", "f", ""] {
            assert_eq!(effects(name), None, "{name}");
        }
        assert!(effects("free").is_some_and(|effects| effects.frees && !effects.releases));
    }
}
