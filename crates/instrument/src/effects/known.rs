//! Functions of libc and libm of which it is known what they do. The runtime neither orders anything by them nor takes them
//! for calls into unknown code.

use super::Effects;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Functions of libm, each with another for `float` that has an `f` at the end. They return, and no other thread hears of it.
const MATHEMATICS: &str = "
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin
    fmod frexp hypot ilogb ldexp llrint llround log log10 log1p log2 logb lrint lround modf nearbyint nextafter pow remainder
    rint round scalbln scalbn sin sincos sinh sqrt tan tanh tgamma trunc";

/// The same of libc: they compute, or look at memory that they are given. (What they read and write is checked, by the
/// runtime.) Memory that is allocated is nobody else's yet.
const OTHERS: &str = "
    bcmp memchr memcmp memcpy memmem memmove mempcpy memrchr memset stpcpy stpncpy strcasecmp strcat strchr strcmp strcpy
    strcspn strlen strncasecmp strncat strncmp strncpy strnlen strpbrk strrchr strspn strstr
    abs atof atoi atol atoll div ffs labs ldiv llabs lldiv strtod strtof strtol strtoll strtoul strtoull
    isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit tolower toupper
    __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location
    aligned_alloc calloc malloc memalign posix_memalign
    pthread_self
    clock_gettime gettimeofday";

static HARMLESS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    MATHEMATICS
        .split_whitespace()
        .chain(OTHERS.split_whitespace())
        .collect()
});

/// What calls of the function of this name may do, unless the program has one of its own.
pub fn effects(name: &str) -> Option<Effects> {
    if HARMLESS.contains(name) || is_for_float(name) {
        return Some(Effects::NONE);
    }
    match name {
        "free" | "realloc" | "_ZdlPv" | "_ZdlPvm" | "_ZdaPv" | "_ZdaPvm" => Some(Effects {
            frees: true,
            ..Effects::NONE
        }),
        // `new` may throw; the others end the program, without any handlers of it.
        "_Znwm" | "_Znam" | "abort" | "_exit" | "_Exit" | "__assert_fail" => Some(Effects {
            may_not_return: true,
            ..Effects::NONE
        }),
        _ => None,
    }
}

fn is_for_float(name: &str) -> bool {
    let double = name.strip_suffix('f');
    double.is_some_and(|double| MATHEMATICS.split_whitespace().any(|name| name == double))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_harmless() {
        for name in ["sin", "sinf", "strlen", "malloc"] {
            assert_eq!(effects(name), Some(Effects::NONE), "{name}");
        }
        for name in ["strlenf", "pthread_mutex_lock", "printf", "mmap", "f", ""] {
            assert_eq!(effects(name), None, "{name}");
        }
        assert!(effects("free").is_some_and(|effects| effects.frees && !effects.releases));
    }
}
