//! `pthread_once` and `call_once`: the routine happens before the return of every call, and a routine that leaves by an
//! exception or a cancellation before the next try.
//! (libstdc++'s `std::call_once` uses `pthread_once`.)

use super::define::interpose;
use super::event;
use crate::sync;
use core::cell::Cell;
use core::ffi::{c_int, c_void};

// SAFETY of calling one: it is the routine of a `once`, which the C library would call.
type Routine = unsafe extern "C-unwind" fn();

thread_local! {
    /// What [`run`] shall do: the control block and the routine. The C functions take no argument for it.
    static PENDING: Cell<Option<(usize, Routine)>> = const { Cell::new(None) };
}

/// One try of a routine: what it did is sent to whoever comes next, however it ends.
struct Try(usize);

impl Drop for Try {
    fn drop(&mut self) {
        event(|t| sync::send(t, self.0));
    }
}

/// Stands in for the program's routine.
// SAFETY of calling it: only libc does, as a routine without arguments.
unsafe extern "C-unwind" fn run() {
    // Taken at once: the routine may call such a function itself, or leave by an exception.
    if let Some((control, routine)) = PENDING.take() {
        event(|t| sync::receive(t, control));
        let _try = Try(control);
        // SAFETY: the program's routine, called once as it asked.
        unsafe { routine() };
    }
}

fn done(control: usize) {
    PENDING.set(None);
    event(|t| sync::receive(t, control));
}

interpose! {
    fn pthread_once[_, real](control: *mut c_void, routine: Routine) -> c_int {
        PENDING.set(Some((control as usize, routine)));
        // SAFETY: the caller's control block; `run` finds the routine.
        let result = unsafe { real(control, run) };
        done(control as usize);
        result
    }

    fn call_once[_, real](control: *mut c_void, routine: Routine) {
        PENDING.set(Some((control as usize, routine)));
        // SAFETY: as above.
        unsafe { real(control, run) };
        done(control as usize);
    }
}
