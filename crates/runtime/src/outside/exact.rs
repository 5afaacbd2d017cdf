//! Functions of libc that are known to use nothing but what their arguments point to, to the byte: locks and the like. Of the
//! others, which may tell other threads something by way of libc's own state and the kernel, and which do not.
//!
//! A lock often lies in an array or a block beside what it guards. If a missing call of it reached all of the block, as a call of
//! unknown code may, every access to what it guards would be ordered with every lock beside it, and hardly a race was left.

use super::library;
use std::ffi::CStr;

const MUTEX: usize = size_of::<libc::pthread_mutex_t>();
const COND: usize = size_of::<libc::pthread_cond_t>();
const RWLOCK: usize = size_of::<libc::pthread_rwlock_t>();
const BARRIER: usize = size_of::<libc::pthread_barrier_t>();
const SPIN: usize = size_of::<libc::pthread_spinlock_t>();
const SEMAPHORE: usize = size_of::<libc::sem_t>();
const TIME: usize = size_of::<libc::timespec>();
/// Attributes of any of them are no longer.
const ATTRIBUTES: usize = size_of::<libc::pthread_rwlockattr_t>();

/// How many bytes each pointer among a function's arguments leads to. (Robust mutexes have pointers to others that the same thread
/// holds, which tell other threads nothing.)
fn bytes(name: &str) -> Option<&'static [usize]> {
    Some(match name {
        "pthread_mutex_init" => &[MUTEX, ATTRIBUTES],
        "pthread_mutex_timedlock" | "pthread_mutex_clocklock" | "mtx_timedlock" => &[MUTEX, TIME],
        "pthread_mutex_lock"
        | "pthread_mutex_trylock"
        | "pthread_mutex_unlock"
        | "pthread_mutex_consistent"
        | "pthread_mutex_destroy"
        | "mtx_init"
        | "mtx_lock"
        | "mtx_trylock"
        | "mtx_unlock"
        | "mtx_destroy" => &[MUTEX],
        "pthread_cond_init" => &[COND, ATTRIBUTES],
        "pthread_cond_wait" | "cnd_wait" => &[COND, MUTEX],
        "pthread_cond_timedwait" | "pthread_cond_clockwait" | "cnd_timedwait" => &[COND, MUTEX, TIME],
        "pthread_cond_signal"
        | "pthread_cond_broadcast"
        | "pthread_cond_destroy"
        | "cnd_init"
        | "cnd_signal"
        | "cnd_broadcast"
        | "cnd_destroy" => &[COND],
        "pthread_rwlock_init" => &[RWLOCK, ATTRIBUTES],
        "pthread_rwlock_timedrdlock"
        | "pthread_rwlock_timedwrlock"
        | "pthread_rwlock_clockrdlock"
        | "pthread_rwlock_clockwrlock" => &[RWLOCK, TIME],
        "pthread_rwlock_rdlock"
        | "pthread_rwlock_tryrdlock"
        | "pthread_rwlock_wrlock"
        | "pthread_rwlock_trywrlock"
        | "pthread_rwlock_unlock"
        | "pthread_rwlock_destroy" => &[RWLOCK],
        "pthread_barrier_init" => &[BARRIER, ATTRIBUTES],
        "pthread_barrier_wait" | "pthread_barrier_destroy" => &[BARRIER],
        "pthread_spin_init"
        | "pthread_spin_lock"
        | "pthread_spin_trylock"
        | "pthread_spin_unlock"
        | "pthread_spin_destroy" => &[SPIN],
        "sem_timedwait" | "sem_clockwait" => &[SEMAPHORE, TIME],
        "sem_init" | "sem_wait" | "sem_trywait" | "sem_post" | "sem_destroy" => &[SEMAPHORE],
        _ => return None,
    })
}

/// The bytes that a call with these pointers among its arguments uses, if it is of such a function, and not of one of that name
/// that somebody else has made. No pointer but the last is ever null.
pub fn used(function: usize, name: &CStr, pointers: &[usize]) -> Option<Vec<(usize, usize)>> {
    let bytes = bytes(name.to_str().ok()?)?;
    (pointers.len() <= bytes.len() && library::is_libc(function))
        .then(|| pointers.iter().copied().zip(bytes.iter().copied()).collect())
}

/// How names begin of functions of libc that work on what they are given and on nothing else that another thread could see.
const PLAIN: &[&str] = &[
    "mem",
    "str",
    "wcs",
    "wmem",
    "isw",
    "tow",
    "ato",
    "pthread_attr_",
    "pthread_mutexattr_",
    "pthread_condattr_",
    "pthread_rwlockattr_",
    "pthread_barrierattr_",
];

/// Others of that kind. (Memory that comes into being, and threads that begin and end, are recorded in any case.)
const PLAIN_NAMES: &str = " abs labs llabs div bcmp bcopy bzero index rindex ffs qsort bsearch snprintf vsnprintf sscanf \
    malloc calloc realloc reallocarray free aligned_alloc posix_memalign valloc \
    clock_gettime gettimeofday time gmtime_r localtime_r getpid gettid sched_yield sched_getcpu usleep nanosleep clock_nanosleep sleep \
    isalpha isdigit isalnum isspace isupper islower isprint ispunct isxdigit tolower toupper \
    sysconf getpagesize rand_r __errno_location pthread_create pthread_join pthread_detach pthread_self pthread_equal \
    pthread_getspecific pthread_setspecific thrd_create thrd_join thrd_yield thrd_sleep ";

fn is_plain(name: &str) -> bool {
    PLAIN.iter().any(|begin| name.starts_with(begin)) || PLAIN_NAMES.split(' ').any(|plain| plain == name)
}

/// Whether a function is one of libc's that may tell other threads something that its arguments do not lead to: by a pipe, a socket, a
/// signal, a stream, a message queue.
pub fn talks(function: usize, name: &CStr) -> bool {
    let name = name.to_str().unwrap_or_default();
    library::is_libc(function) && bytes(name).is_none() && !is_plain(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_carries_is_told_and_what_is_computed_is_not() {
        let libc = libc::pthread_mutex_lock as *const () as usize;
        for name in [
            c"read",
            c"write",
            c"poll",
            c"kill",
            c"sigwait",
            c"mq_send",
            c"eventfd_write",
            c"fflush",
        ] {
            assert!(talks(libc, name), "{name:?}");
        }
        for name in [
            c"memcpy",
            c"strlen",
            c"pthread_mutex_lock",
            c"sched_yield",
            c"free",
            c"pthread_self",
        ] {
            assert!(!talks(libc, name), "{name:?}");
        }
        assert!(!talks(bytes as *const () as usize, c"read"), "the program's own");
    }

    #[test]
    fn only_what_libc_has_is_known() {
        let lock = libc::pthread_mutex_lock as *const () as usize;
        assert_eq!(used(lock, c"pthread_mutex_lock", &[64]), Some(vec![(64, 40)]));
        assert_eq!(
            used(lock, c"pthread_cond_wait", &[64, 128]),
            Some(vec![(64, 48), (128, 40)])
        );
        assert_eq!(used(lock, c"pthread_mutex_lock", &[64, 128]), None);
        assert_eq!(used(lock, c"pthread_once", &[64]), None);
        let own = bytes as *const () as usize;
        assert_eq!(used(own, c"pthread_mutex_lock", &[64]), None, "the program's own");
    }
}
