//! Functions of the C and C++ libraries that the runtime must see: what orders threads, what makes and ends them, what
//! gives and takes memory, what ends the process.
//!
//! | module | functions |
//! |---|---|
//! | [`mod@define`] | the one way to replace a function |
//! | `threads`, `c11` | create, join, detach, names; the same of `<threads.h>` |
//! | `mutex`, `rwlock`, `cond`, `barrier`, `semaphore`, `once`, `stdio` | locks and the like |
//! | `files`, `streams`, `poll` | bytes through pipes, sockets and the like; waiting for them |
//! | `processes` | semaphores and messages of System V, locks on files |
//! | `notify` | signals from thread to thread |
//! | `guard`, `exception`, `locale`, `cxx` | what libstdc++ does out of our sight: static locals, exceptions, locales, futures |
//! | `alloc`, `bootstrap`, `map`, `dynamic` | memory |
//! | `memory_functions`, `strings`, `wide`, `delete`, `libatomic` | called by instrumented code only: their accesses are checked |
//! | `model`, `models` | the same, as tables: functions that read or fill the caller's memory |
//! | `global` | functions as the process has them, which may be the program's own |
//! | `exit`, `at_exit`, `signals`, `fork` | ends and copies of the process |
//! | `confine`, `limits` | `seccomp`, limits of memory |
//! | `late`, `alternate` | signals that come while the runtime is at work; stacks for handlers |
//!
//! What an interceptor may order is what the standard orders, no more: an edge too many hides races.
//! [`event`] is how all of them enter the runtime. Before initialisation, inside the runtime itself and in threads that
//! it does not know it does nothing, and the real function is all that happens.

pub mod define;

mod alloc;
mod alternate;
mod at_exit;
mod barrier;
mod bootstrap;
mod c11;
pub mod cancel;
mod cond;
mod confine;
mod cxx;
mod delete;
mod dynamic;
mod exception;
mod exit;
mod files;
mod fork;
mod global;
mod guard;
mod late;
mod libatomic;
mod limits;
mod locale;
mod map;
mod memory_functions;
mod model;
mod models;
mod mutex;
mod new;
mod notify;
mod once;
mod poll;
mod processes;
mod rwlock;
mod semaphore;
mod signals;
mod stdio;
mod streams;
mod strings;
mod threads;
mod wide;

use crate::thread::{self, Thread};
use crate::{record, tls};
use deadheat_abi::tls::ELSEWHERE;
use std::cell::Cell;

/// To be called once, when the core is ready, by the main thread.
pub fn init() {
    define::resolve_all();
    model::init();
    threads::init();
    fork::init();
    exit::init();
    signals::init();
}

pub use alternate::{Alternate, end as end_alternate};

/// Has the signals of this thread come that were put off.
pub fn deliver_signals() {
    late::deliver();
}

/// Tells the runtime of something the current thread does. The program's `errno` is left as it is.
#[inline]
pub fn event<R>(tell: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    // SAFETY: the C library's own variable of this thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    // Apart from the rest, which becomes part of this.
    let elsewhere = is_elsewhere().then(|| thread::with(|t| record::begin_elsewhere(t)));
    let result = thread::with(tell);
    if let Some(time) = elsewhere.flatten() {
        thread::with(|t| record::end_elsewhere(t, time));
    }
    // SAFETY: as above.
    unsafe { *errno = before };
    result
}

/// Whether the thread is in code that is not instrumented, and what it does is recorded.
#[inline(always)]
fn is_elsewhere() -> bool {
    // SAFETY: the thread's own variable.
    unsafe { (*tls::get()).missing & ELSEWHERE != 0 }
}

thread_local! {
    /// Where the program called the function that is modelled just now, or was lately.
    static CALLED: Cell<usize> = const { Cell::new(0) };
}

/// A modelled function was called at `pc`. It may call another of ours.
pub fn calls(pc: usize) {
    CALLED.set(pc);
}

/// Apart, so that nobody else looks for the variable.
#[cold]
#[inline(never)]
fn called() -> usize {
    CALLED.get()
}

/// The same of something that the function does that was called at `pc`: where it synchronises is on record.
pub fn event_at<R>(pc: usize, tell: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    event(|t| {
        t.log.caller = if model::ours(pc) { called() } else { pc };
        let result = tell(t);
        t.log.caller = 0;
        result
    })
}
