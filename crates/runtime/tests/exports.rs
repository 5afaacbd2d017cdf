//! What the library exports is what the contract names and what it interposes, no more and no less: a name too many would
//! take the place of a function of the program's.

mod common;

use common::library;
use deadheat_abi::hooks;
use std::collections::BTreeSet;
use std::process::Command;

/// Names of the C and C++ libraries that all callers get from the runtime.
const INTERPOSED: &str = "
    pthread_create pthread_join pthread_tryjoin_np pthread_timedjoin_np pthread_clockjoin_np pthread_detach
    pthread_cancel pthread_setcancelstate
    thrd_create thrd_join thrd_detach
    pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock
    pthread_mutex_clocklock pthread_mutex_unlock
    mtx_init mtx_destroy mtx_lock mtx_trylock mtx_timedlock mtx_unlock
    pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait cnd_wait cnd_timedwait
    pthread_rwlock_init pthread_rwlock_destroy pthread_rwlock_rdlock pthread_rwlock_tryrdlock
    pthread_rwlock_timedrdlock pthread_rwlock_clockrdlock pthread_rwlock_wrlock pthread_rwlock_trywrlock
    pthread_rwlock_timedwrlock pthread_rwlock_clockwrlock pthread_rwlock_unlock
    pthread_spin_init pthread_spin_destroy pthread_spin_lock pthread_spin_trylock pthread_spin_unlock
    pthread_barrier_init pthread_barrier_destroy pthread_barrier_wait
    sem_init sem_destroy sem_post sem_wait sem_trywait sem_timedwait sem_clockwait
    pthread_once call_once flockfile ftrylockfile funlockfile
    malloc calloc realloc reallocarray free memalign aligned_alloc posix_memalign valloc pvalloc
    mmap mmap64 munmap mprotect mremap dlclose
    read readv recv recvfrom recvmsg write writev send sendto sendmsg shutdown close
    dup2 dup3 fclose fflush freopen
    accept accept4 connect bind listen eventfd_read eventfd_write timerfd_settime
    mq_send mq_timedsend mq_receive mq_timedreceive
    kill killpg tgkill pthread_kill sigqueue pthread_sigqueue sigwait sigwaitinfo sigtimedwait
    alarm setitimer timer_settime
    epoll_ctl epoll_wait epoll_pwait epoll_pwait2 poll ppoll select pselect
    prctl syscall close_range closefrom sigaltstack
    getrlimit getrlimit64 setrlimit setrlimit64 prlimit prlimit64
    _exit _Exit quick_exit __cxa_atexit __cxa_at_quick_exit
    signal ssignal sysv_signal __sysv_signal sigset sigaction
    __cxa_guard_acquire __cxa_guard_release __cxa_guard_abort
    __cxa_throw __cxa_init_primary_exception __cxa_end_catch
    _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv
    _ZNSt6localeD1Ev _ZNSt6localeD2Ev _ZNSt6localeaSERKS_ _ZNSt6locale5_ImplD1Ev
    _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv
    ompt_start_tool __kmpc_omp_task_alloc
    semop semtimedop semctl msgsnd msgrcv flock fcntl fcntl64 open_memstream open_wmemstream
    _ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE _ZNSt3pmr20get_default_resourceEv
";

#[test]
fn the_library_exports_the_contract_and_what_it_interposes() {
    let output = Command::new("nm")
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(library())
        .output()
        .expect("nm of binutils");
    let text = String::from_utf8(output.stdout).expect("names are ASCII");
    let exported: BTreeSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();

    let redirected: Vec<String> = hooks::redirected()
        .map(|name| format!("{}{name}", hooks::PREFIX))
        .collect();
    let mut expected: BTreeSet<&str> = INTERPOSED.split_whitespace().collect();
    expected.extend(redirected.iter().map(String::as_str));
    expected.extend(
        hooks::READ
            .iter()
            .chain(&hooks::WRITE)
            .chain(&hooks::LOAD)
            .chain(&hooks::STORE)
            .map(|(_, name)| *name),
    );
    expected.extend([
        hooks::READ_RANGE,
        hooks::WRITE_RANGE,
        hooks::READ_STRIDED,
        hooks::WRITE_STRIDED,
        hooks::LOAD16,
        hooks::STORE16,
        hooks::READ_GATHER,
        hooks::WRITE_GATHER,
        hooks::READ_COLUMN,
        hooks::WRITE_COLUMN,
        hooks::READ_COMMIT,
        hooks::WRITE_COMMIT,
        hooks::WRITE_STRETCH,
        hooks::WRITE_STRETCHES,
        hooks::MISSING_BEGIN,
        hooks::MISSING_END,
        hooks::CALLBACK_BEGIN,
        hooks::CALLBACK_END,
        hooks::LANDED,
        hooks::POINTERS_WRITTEN,
        hooks::LINKING,
        hooks::LINK,
        hooks::LINKS,
        hooks::ATOMIC_BEGIN,
        hooks::ATOMIC_END,
        hooks::ATOMIC_LOAD,
        hooks::FENCE,
        hooks::ACCESSES,
        hooks::CALL_BEGIN,
        hooks::CALL_ARGUMENTS,
        hooks::CALL_LOCAL,
        hooks::CALL_END,
        hooks::POINTER_BEGIN,
        hooks::POINTER_END,
        deadheat_abi::tls::NAME,
    ]);
    let missing: Vec<_> = expected.difference(&exported).collect();
    let unexpected: Vec<_> = exported.difference(&expected).collect();
    assert!(
        missing.is_empty() && unexpected.is_empty(),
        "missing {missing:?}, unexpected {unexpected:?}"
    );
}
