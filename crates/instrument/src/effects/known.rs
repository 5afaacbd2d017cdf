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

/// Of these it is only known that they start no thread and call nothing that the program gave them: input and output, the
/// environment, time, locks before they are used, the end of the program. (`exit` calls what the program asked it to call, but
/// does not come back.)
const ALONE: &str = "
    fclose fdopen feof ferror fflush fgetc fgets fileno fopen fprintf fputc fputs fread fscanf fseek ftell fwrite getc getchar
    getline perror printf putc putchar puts rewind scanf setbuf setvbuf snprintf sprintf sscanf ungetc vfprintf vprintf
    vsnprintf vsprintf
    __fprintf_chk __printf_chk __snprintf_chk __sprintf_chk __vfprintf_chk __vsnprintf_chk __fgets_chk __fread_chk
    __isoc99_fscanf __isoc99_scanf __isoc99_sscanf __isoc23_fscanf __isoc23_scanf __isoc23_sscanf
    __isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull
    __memcpy_chk __memmove_chk __memset_chk __strcpy_chk __strncpy_chk __strcat_chk __strncat_chk
    close getenv getopt getopt_long getpagesize getpid lseek open pread pwrite read sched_getaffinity sysconf write
    drand48 erand48 jrand48 lrand48 mrand48 nrand48 rand rand_r random seed48 srand srand48 srandom
    clock clock_getres ctime ctime_r difftime gmtime gmtime_r localtime localtime_r mktime nanosleep sleep strftime time usleep
    free realloc reallocarray strdup strerror strndup strsignal strtok strtok_r
    exit
    pthread_attr_destroy pthread_attr_init pthread_attr_setdetachstate pthread_attr_setstacksize
    pthread_barrier_init pthread_barrierattr_init pthread_cond_init pthread_condattr_init pthread_mutex_init
    pthread_mutexattr_destroy pthread_mutexattr_init pthread_mutexattr_settype pthread_rwlock_init pthread_rwlockattr_init
    pthread_spin_init sem_init
    pthread_mutex_lock pthread_mutex_unlock";

static STARTS_NONE: LazyLock<HashSet<&str>> = LazyLock::new(|| ALONE.split_whitespace().collect());

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
        _ if STARTS_NONE.contains(name) => Some(Effects {
            spawns: false,
            ..Effects::UNKNOWN
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
        for name in ["strlenf", "pthread_create", "qsort", "mmap", "f", ""] {
            assert_eq!(effects(name), None, "{name}");
        }
        for name in ["printf", "pthread_mutex_lock", "exit"] {
            let known = effects(name).unwrap_or_default();
            assert!(known.releases && known.may_not_return && !known.spawns, "{name}");
        }
        assert!(effects("free").is_some_and(|effects| effects.frees && !effects.releases));
    }
}
