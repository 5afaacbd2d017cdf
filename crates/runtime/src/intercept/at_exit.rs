//! Handlers that run at the end of the process: their registration happens before them, whichever thread runs them.
//! Destructors of C++ objects with static storage are such handlers.

use super::define::interpose;
use super::event;
use crate::sync;
use core::ffi::{c_int, c_void};

// SAFETY of calling one: with the argument that the program gave with it.
type Handler = unsafe extern "C-unwind" fn(*mut c_void);

/// What is registered in place of the program's handler. Never given back: it is also the address of the edge.
struct Registered {
    handler: Handler,
    argument: *mut c_void,
}

fn register(handler: Handler, argument: *mut c_void) -> Option<*mut c_void> {
    event(|t| {
        let registered = Box::into_raw(Box::new(Registered { handler, argument }));
        sync::send(t, registered as usize);
        registered.cast()
    })
}

// SAFETY of calling it: with what `register` answered, as the C library does.
unsafe extern "C-unwind" fn run(registered: *mut c_void) {
    event(|t| sync::receive(t, registered as usize));
    // SAFETY: made by `register`, never freed; the program's handler with its argument.
    unsafe {
        let registered = &*registered.cast::<Registered>();
        (registered.handler)(registered.argument);
    }
}

interpose! {
    fn __cxa_atexit[_, real](handler: Handler, argument: *mut c_void, module: *mut c_void) -> c_int {
        match register(handler, argument) {
            // SAFETY: as the caller asked, but for the handler, which runs the caller's.
            Some(registered) => unsafe { real(run, registered, module) },
            // SAFETY: the caller's arguments.
            None => unsafe { real(handler, argument, module) },
        }
    }

    fn __cxa_at_quick_exit[_, real](handler: Handler, module: *mut c_void) -> c_int {
        // These take no argument of their own: only the edge of the registration that came last is kept.
        event(|t| sync::send(t, super::exit::QUICK));
        // SAFETY: the caller's arguments.
        unsafe { real(handler, module) }
    }
}
