//! `fork`: no lock of the runtime may be held by another thread at that moment, because the child has a copy of the lock
//! but not of the thread.

use super::{barrier, cxx, exception, exit, late, poll, streams, threads};
use crate::thread;
use core::cell::Cell;

thread_local! {
    /// Whether [`before`] took the locks: not for a `fork` of the runtime's own.
    static HELD: Cell<bool> = const { Cell::new(false) };
}

extern "C" fn before() {
    let listens = thread::with(|_| ()).is_some();
    HELD.set(listens);
    if listens {
        // With all locks held, no signal may come.
        thread::close();
        threads::hold();
        barrier::hold();
        cxx::hold();
        exception::hold();
        poll::hold();
        streams::hold();
        late::hold();
        crate::fork::before();
    }
}

extern "C" fn parent() {
    if HELD.replace(false) {
        crate::fork::parent();
        let_go();
        thread::open();
    }
}

extern "C" fn child() {
    if HELD.replace(false) {
        let_go();
        late::forget_all();
        thread::reopen(crate::fork::child);
        thread::with(|_| threads::forget_all());
        exit::child();
    }
}

fn let_go() {
    late::let_go();
    streams::let_go();
    poll::let_go();
    exception::let_go();
    cxx::let_go();
    barrier::let_go();
    threads::let_go();
}

/// Registers the handlers, before any of the program's: so ours are the last before a `fork` and the first after it.
pub fn init() {
    // SAFETY: the handlers live as long as the process.
    unsafe { libc::pthread_atfork(Some(before), Some(parent), Some(child)) };
}
