//! Condition variables: waiting gives the mutex and takes it again. Signalling orders nothing by itself; the mutex does.

use super::define::{interpose, real};
use super::mutex::{locked, unlocks, will_unlock};
use core::ffi::{c_int, c_void};
use libc::{clockid_t, pthread_cond_t, pthread_mutex_t, timespec};

/// glibc's `struct _pthread_cleanup_buffer`.
#[repr(C)]
pub struct Cleanup {
    routine: Option<extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
    cancel_type: c_int,
    previous: *mut Cleanup,
}

/// What a thread that is cancelled in a wait needs: glibc takes the mutex again before the program's handlers run.
pub struct Waiting {
    mutex: usize,
    pc: usize,
    /// Whether the mutex was this thread's to give.
    owned: bool,
    cleanup: Cleanup,
}

real! {
    PUSH: fn(*mut Cleanup, extern "C" fn(*mut c_void), *mut c_void) = c"_pthread_cleanup_push";
    POP: fn(*mut Cleanup, c_int) = c"_pthread_cleanup_pop";
}

extern "C" fn cancelled(waiting: *mut c_void) {
    // SAFETY: `before` registered it, and the frame that holds it is not left yet.
    let waiting = unsafe { &*waiting.cast::<Waiting>() };
    after_cancellation_or_return(waiting);
}

fn after_cancellation_or_return(waiting: &Waiting) {
    if waiting.owned {
        locked(0, waiting.mutex, waiting.pc);
    }
}

impl Waiting {
    /// Not begun.
    ///
    /// # Safety
    /// A valid mutex.
    pub unsafe fn new(mutex: *const c_void, pc: usize) -> Waiting {
        Waiting {
            mutex: mutex as usize,
            pc,
            // SAFETY: the caller's promise.
            owned: unsafe { will_unlock(mutex) },
            cleanup: Cleanup {
                routine: None,
                argument: core::ptr::null_mut(),
                cancel_type: 0,
                previous: core::ptr::null_mut(),
            },
        }
    }

    /// To be called right before the real wait.
    ///
    /// # Safety
    /// [`Waiting::end`] follows in the same frame, unless the thread is cancelled in between.
    pub unsafe fn begin(&mut self) {
        if self.owned {
            unlocks(self.mutex, self.pc);
        }
        let this = (&raw mut *self).cast();
        // SAFETY: the buffer lives in the frame that waits.
        unsafe { PUSH.get()(&mut self.cleanup, cancelled, this) };
    }

    /// To be called when the wait is over, whatever it answered: the mutex is taken again.
    ///
    /// # Safety
    /// After [`Waiting::begin`].
    pub unsafe fn end(&mut self) {
        // SAFETY: the buffer pushed last.
        unsafe { POP.get()(&mut self.cleanup, 0) };
        after_cancellation_or_return(self);
    }
}

interpose! {
    fn pthread_cond_wait[pc, real @ c"GLIBC_2.3.2"](cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: the caller's arguments; begin and end enclose the wait.
        unsafe {
            let mut waiting = Waiting::new(mutex.cast(), pc);
            waiting.begin();
            let result = real(cond, mutex);
            waiting.end();
            result
        }
    }

    fn pthread_cond_timedwait[pc, real @ c"GLIBC_2.3.2"](
        cond: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        until: *const timespec,
    ) -> c_int {
        // SAFETY: as above.
        unsafe {
            let mut waiting = Waiting::new(mutex.cast(), pc);
            waiting.begin();
            let result = real(cond, mutex, until);
            waiting.end();
            result
        }
    }

    fn pthread_cond_clockwait[pc, real](
        cond: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        until: *const timespec,
    ) -> c_int {
        // SAFETY: as above.
        unsafe {
            let mut waiting = Waiting::new(mutex.cast(), pc);
            waiting.begin();
            let result = real(cond, mutex, clock, until);
            waiting.end();
            result
        }
    }
}
