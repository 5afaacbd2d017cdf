//! `pthread_once` and `call_once`: the routine happens before the return of every call.
//! (libstdc++'s `std::call_once` uses `pthread_once`.)

use super::define::interpose;
use super::event;
use crate::sync;
use core::cell::Cell;
use core::ffi::{c_int, c_void};

type Routine = unsafe extern "C-unwind" fn();

thread_local! {
    /// What [`run`] shall do: the control block and the routine. The C functions take no argument for it.
    static PENDING: Cell<Option<(usize, Routine)>> = const { Cell::new(None) };
}

/// Stands in for the program's routine.
unsafe extern "C-unwind" fn run() {
    // Taken at once: the routine may call such a function itself, or leave by an exception.
    if let Some((control, routine)) = PENDING.take() {
        // SAFETY: the program's routine, called once as it asked.
        unsafe { routine() };
        event(|t| sync::send(t, control));
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
