//! Handlers of the program's for signals that come from outside: one that comes while its thread is inside the runtime
//! waits until it is not. Run at once, it would find the runtime closed, and what it does would go unseen: an order too
//! few, so an alarm too many.
//!
//! The kernel is given [`relay`] for a handler; the program is told of its own. A signal that has to wait is put by with
//! all that the kernel says of it, and sent to the thread again when it leaves the runtime.
//!
//! A handler that has not interrupted a system call is in the midst of what its thread does ([`crate::amid`]).

use super::signals::SIGACTION;
use crate::spin::Spin;
use crate::thread::{self, shut};
use crate::{amid, heard, tls};
use core::cell::{Cell, UnsafeCell};
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicI32, Ordering};
use libc::{sigaction, siginfo_t, ucontext_t};

const SIGNALS: usize = 65;

/// The program's own handlers, by signal.
static HANDLERS: Spin<[Option<sigaction>; SIGNALS]> = Spin::new([None; SIGNALS]);

/// Takes the lock, before a `fork`.
pub fn hold() {
    HANDLERS.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    HANDLERS.let_go();
}

/// Whether it calls code of the program.
pub fn is_handler(action: &sigaction) -> bool {
    action.sa_sigaction != libc::SIG_DFL && action.sa_sigaction != libc::SIG_IGN
}

fn is_relayed(action: &sigaction) -> bool {
    action.sa_sigaction == relay as *const () as usize
}

/// # Safety
/// As for `sigaction`.
pub unsafe fn act(signal: c_int, new: *const sigaction, old: *mut sigaction) -> c_int {
    let slot = usize::try_from(signal).ok().filter(|slot| *slot < SIGNALS);
    let Some(slot) = slot else {
        // SAFETY: the caller's arguments: an error, which is for the real function to tell.
        return unsafe { SIGACTION.get()(signal, new, old) };
    };
    // SAFETY: the caller's action, if there is one.
    let new = unsafe { new.as_ref() };
    if new.is_some_and(is_handler) {
        heard::handlers_may_run();
    }
    let relayed = new.map(|new| {
        let mut relayed = *new;
        if is_handler(new) {
            relayed.sa_sigaction = relay as *const () as usize;
            relayed.sa_flags = new.sa_flags & !libc::SA_RESETHAND | libc::SA_SIGINFO;
        }
        relayed
    });
    let mut before = MaybeUninit::<sigaction>::zeroed();
    // Both change together: a signal that comes in between waits, and another thread's waits for the lock.
    let (result, own) = shut(|| {
        let mut handlers = HANDLERS.lock();
        let own = handlers[slot];
        if let Some(new) = new.filter(|new| is_handler(new)) {
            handlers[slot] = Some(*new);
        }
        let relayed = relayed.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        // SAFETY: whole actions.
        let result = unsafe { SIGACTION.get()(signal, relayed, before.as_mut_ptr()) };
        if result != 0 {
            handlers[slot] = own;
        }
        (result, own)
    });
    // SAFETY: the caller's, if it is there; all zeros is an action.
    if let (0, Some(old)) = (result, unsafe { old.as_mut() }) {
        // SAFETY: as above.
        *old = unsafe { before.assume_init() };
        if let Some(own) = own.filter(|_| is_relayed(old)) {
            *old = own;
        }
    }
    result
}

/// Stands in for the program's handlers.
///
/// SAFETY of calling it: by the kernel, as a handler with three arguments.
unsafe extern "C" fn relay(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the thread's own variable.
    let inside = unsafe { (*tls::get()).inside } != 0;
    // SAFETY: the kernel's words about the signal.
    if inside && unsafe { put_by(signal, info) } {
        return;
    }
    let own = shut(|| {
        let mut handlers = HANDLERS.lock();
        let own = handlers[signal as usize % SIGNALS];
        if let Some(own) = own.filter(|own| own.sa_flags & libc::SA_RESETHAND != 0) {
            handlers[signal as usize % SIGNALS] = None;
            let default = sigaction {
                sa_sigaction: libc::SIG_DFL,
                ..own
            };
            // SAFETY: a whole action.
            unsafe { SIGACTION.get()(signal, &default, core::ptr::null_mut()) };
        }
        own
    });
    let Some(own) = own else { return };
    super::notify::came(signal);
    // SAFETY: what the kernel gave.
    let _amid = (AGAIN.get() || !unsafe { at_system_call(context.cast()) }).then(Amid::begin);
    // SAFETY: the program's handler, with what the kernel gave and by the type that its flags say.
    unsafe {
        if own.sa_flags & libc::SA_SIGINFO != 0 {
            let handler: unsafe extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void) =
                core::mem::transmute(own.sa_sigaction);
            handler(signal, info, context);
        } else {
            // SAFETY: as above; without SA_SIGINFO it takes the signal alone.
            let handler: unsafe extern "C-unwind" fn(c_int) = core::mem::transmute(own.sa_sigaction);
            handler(signal);
        }
    }
}

/// Whether what was interrupted is a system call, which is over or will be made again.
///
/// # Safety
/// What the kernel gave to a handler.
unsafe fn at_system_call(context: *const ucontext_t) -> bool {
    const SYSCALL: [u8; 2] = [0x0f, 0x05];
    const PAGE: usize = 12;
    // SAFETY: what the kernel gave.
    let next = unsafe { (*context).uc_mcontext.gregs[libc::REG_RIP as usize] } as usize;
    [next, next.wrapping_sub(2)].into_iter().any(|at| {
        let is_there = at >> PAGE == next >> PAGE && (at + 1) >> PAGE == next >> PAGE;
        // SAFETY: in the page that is executed.
        is_there && unsafe { core::ptr::with_exposed_provenance::<[u8; 2]>(at).read() } == SYSCALL
    })
}

/// A handler is running, which may be left by an exception.
struct Amid;

impl Amid {
    fn begin() -> Amid {
        thread::with(amid::begin);
        Amid
    }
}

impl Drop for Amid {
    fn drop(&mut self) {
        thread::with(amid::end);
    }
}

thread_local! {
    /// Whether a signal is being sent again that had to wait.
    static AGAIN: Cell<bool> = const { Cell::new(false) };
}

/// A signal that waits.
struct Waiting {
    /// The thread it is for; 0 if there is none, -1 while it is being put by.
    thread: AtomicI32,
    signal: AtomicI32,
    info: UnsafeCell<MaybeUninit<siginfo_t>>,
}

// SAFETY: the info is touched by the thread that has taken the place, then by the one that it is for, which is the same.
unsafe impl Sync for Waiting {}

static WAITING: [Waiting; 64] = [const {
    Waiting {
        thread: AtomicI32::new(0),
        signal: AtomicI32::new(0),
        info: UnsafeCell::new(MaybeUninit::uninit()),
    }
}; 64];

/// Puts a signal by for this thread. False if there is no room: then it is handled now.
///
/// # Safety
/// What the kernel gave.
unsafe fn put_by(signal: c_int, info: *const siginfo_t) -> bool {
    let free = WAITING.iter().find(|waiting| {
        let taken = waiting
            .thread
            .compare_exchange(0, -1, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok()
    });
    let Some(waiting) = free else { return false };
    // SAFETY: the place is ours; the info is the kernel's; the variable is the thread's own.
    unsafe {
        (*waiting.info.get()).write(*info);
        waiting.signal.store(signal, Ordering::Relaxed);
        waiting.thread.store(libc::gettid(), Ordering::Release);
        let pending = &raw mut (*tls::get()).pending;
        pending.write_volatile(pending.read_volatile() + 1);
    }
    true
}

/// In the child of a `fork`: what waits is the parent's.
pub fn forget_all() {
    for waiting in &WAITING {
        waiting.thread.store(0, Ordering::Relaxed);
    }
    // SAFETY: the thread's own variable.
    unsafe { (&raw mut (*tls::get()).pending).write_volatile(0) };
}

/// Sends the signals that wait for this thread again.
pub fn deliver() {
    // SAFETY: asks for a number.
    let (process, thread) = (std::process::id(), unsafe { libc::gettid() });
    // SAFETY: the thread's own variable. What is put by from here on is counted anew.
    unsafe { (&raw mut (*tls::get()).pending).write_volatile(0) };
    for waiting in &WAITING {
        if waiting.thread.load(Ordering::Acquire) != thread {
            continue;
        }
        // SAFETY: it is for this thread, so nobody else touches it.
        unsafe {
            let info = (*waiting.info.get()).assume_init();
            let signal = waiting.signal.load(Ordering::Relaxed);
            waiting.thread.store(0, Ordering::Release);
            AGAIN.set(true);
            libc::syscall(
                libc::SYS_rt_tgsigqueueinfo,
                process,
                thread,
                signal,
                &raw const info,
            );
            AGAIN.set(false);
        }
    }
}
