//! Fatal signals: what was found is told before the process dies, and it dies as it would have.
//!
//! Where a signal would kill the process by default, our handler stands in for the default. The program does not see it:
//! [`sigaction`](libc::sigaction) and `signal` answer "default" for it, and when the program asks for the default it gets
//! ours. (Rust's std installs its own handler for stack overflows only where it finds the default.)
//!
//! The handler runs on a stack of its own, whatever there is left of the thread's: it asks for the alternate stack, if
//! the thread has one, only to get started. Then the default is restored, and the signal comes again: a fault by itself,
//! when the instruction is tried again, any other by being sent again. Status and core are the same.

use super::define::real;
use super::late;
use crate::{heard, tls};
use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};
use libc::{sighandler_t, siginfo_t};

const FATAL: [c_int; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
];

real! {
    pub SIGACTION: fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int = c"sigaction";
}

const STACK: usize = 256 << 10;

#[repr(align(64))]
struct Stack(UnsafeCell<[u8; STACK]>);

// SAFETY: used by the one thread that takes `DYING`.
unsafe impl Sync for Stack {}

static DEATHBED: Stack = Stack(UnsafeCell::new([0; STACK]));
static DYING: AtomicBool = AtomicBool::new(false);

/// Our handler as an action.
fn ours() -> libc::sigaction {
    // SAFETY: all zeros is an action: the default, without flags.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    action
}

fn is_ours(action: &libc::sigaction) -> bool {
    action.sa_sigaction == handler as *const () as usize
}

/// Takes the place of the default, where that is what there is.
pub fn init() {
    for signal in FATAL {
        // SAFETY: reads and writes whole actions.
        unsafe {
            let mut present: libc::sigaction = core::mem::zeroed();
            let real = SIGACTION.get();
            if real(signal, core::ptr::null(), &mut present) == 0 && present.sa_sigaction == libc::SIG_DFL {
                real(signal, &ours(), core::ptr::null_mut());
            }
        }
    }
}

extern "C" fn tell(signal: usize) {
    super::exit::killed(signal as c_int);
}

// SAFETY of calling it: only the kernel does, with what `SA_SIGINFO` promises.
unsafe extern "C" fn handler(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    // SAFETY: the thread's own variable.
    let inside = unsafe { (*tls::get()).inside } != 0;
    // A fault inside the runtime may have left its locks held: then the reporter only sees that the process is gone.
    if !inside && !DYING.swap(true, Ordering::Relaxed) {
        let top = DEATHBED.0.get() as usize + STACK;
        // SAFETY: the stack is used by this thread alone, its top is aligned, and what is called returns.
        unsafe {
            core::arch::asm!(
                "mov r12, rsp",
                "mov rsp, rsi",
                "call {tell}",
                "mov rsp, r12",
                tell = sym tell,
                in("rdi") signal as usize,
                in("rsi") top,
                out("r12") _,
                clobber_abi("C"),
            );
        }
    }
    // SAFETY: restores the default, and sends the signal again unless the kernel will: codes above 0 are its own.
    unsafe {
        let default: libc::sigaction = core::mem::zeroed();
        SIGACTION.get()(signal, &default, core::ptr::null_mut());
        if (*info).si_code <= 0 {
            libc::syscall(libc::SYS_tgkill, libc::getpid(), libc::gettid(), signal);
        }
    }
}

/// What the program is told of an action: never ours.
fn shown(action: &mut libc::sigaction) {
    if is_ours(action) {
        // SAFETY: all zeros is the default.
        *action = unsafe { core::mem::zeroed() };
    }
}

/// # Safety
/// As for `sigaction`.
unsafe fn act(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    if !FATAL.contains(&signal) {
        // SAFETY: the caller's arguments.
        return unsafe { late::act(signal, new, old) };
    }
    // The others come where they are caused, which is not where a thread waits.
    // SAFETY: the caller's action, if there is one.
    if signal == libc::SIGABRT && unsafe { new.as_ref() }.is_some_and(late::is_handler) {
        heard::handlers_may_run();
    }
    let stand_in = ours();
    // SAFETY: the caller's action, if there is one.
    let wants_default = unsafe { new.as_ref() }.is_some_and(|new| new.sa_sigaction == libc::SIG_DFL);
    let ours_again = wants_default && !DYING.load(Ordering::Relaxed);
    let new = if ours_again { &raw const stand_in } else { new };
    // SAFETY: the caller's arguments, or an action of ours.
    let result = unsafe { SIGACTION.get()(signal, new, old) };
    if result == 0 {
        // SAFETY: written by the real function, if it is there.
        if let Some(old) = unsafe { old.as_mut() } {
            shown(old);
        }
    }
    result
}

/// What `signal` and its like do: the handler of before, or an error.
///
/// # Safety
/// As for `signal`.
unsafe fn handle(signal: c_int, handler: sighandler_t, flags: c_int, waits: bool) -> sighandler_t {
    // SAFETY: whole actions; all zeros is the default.
    unsafe {
        let (mut new, mut old): (libc::sigaction, libc::sigaction) =
            (core::mem::zeroed(), core::mem::zeroed());
        new.sa_sigaction = handler;
        new.sa_flags = flags;
        if waits {
            libc::sigaddset(&mut new.sa_mask, signal);
        }
        match act(signal, &new, &mut old) {
            0 => old.sa_sigaction,
            _ => libc::SIG_ERR,
        }
    }
}

/// For `sigset`: the signal is to wait.
const SIG_HOLD: sighandler_t = 2;

super::define::replace! {
    fn signal[_](signal: c_int, handler: sighandler_t) -> sighandler_t {
        // SAFETY: the caller's arguments. As glibc has it: calls go on, and the signal itself waits.
        unsafe { handle(signal, handler, libc::SA_RESTART, true) }
    }

    fn ssignal[_](signal: c_int, handler: sighandler_t) -> sighandler_t {
        // SAFETY: as above.
        unsafe { handle(signal, handler, libc::SA_RESTART, true) }
    }

    // What `signal` is by the letter of the standards (`-std=c11`): for one signal only, which does not wait.
    fn __sysv_signal[_](signal: c_int, handler: sighandler_t) -> sighandler_t {
        // SAFETY: as above.
        unsafe { handle(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER, false) }
    }

    fn sysv_signal[_](signal: c_int, handler: sighandler_t) -> sighandler_t {
        // SAFETY: as above.
        unsafe { handle(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER, false) }
    }

    fn sigset[_](signal: c_int, handler: sighandler_t) -> sighandler_t {
        // SAFETY: whole actions and sets of the caller's signal.
        unsafe {
            let (mut set, mut before): (libc::sigset_t, libc::sigset_t) = (core::mem::zeroed(), core::mem::zeroed());
            if libc::sigaddset(&mut set, signal) != 0 {
                return libc::SIG_ERR;
            }
            let mut old: libc::sigaction = core::mem::zeroed();
            let (how, was) = if handler == SIG_HOLD {
                act(signal, core::ptr::null(), &mut old);
                (libc::SIG_BLOCK, old.sa_sigaction)
            } else {
                (libc::SIG_UNBLOCK, handle(signal, handler, 0, false))
            };
            if was == libc::SIG_ERR || libc::pthread_sigmask(how, &set, &mut before) != 0 {
                return libc::SIG_ERR;
            }
            if libc::sigismember(&before, signal) == 1 { SIG_HOLD } else { was }
        }
    }

    fn sigaction[_](signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
        // SAFETY: the caller's arguments.
        unsafe { act(signal, new, old) }
    }
}
