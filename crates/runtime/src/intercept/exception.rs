//! C++ exceptions: the C++ library counts who refers to an exception object, out of our sight, and whoever is the last
//! runs its destructor, which may be instrumented code.
//!
//! Each reference given back happens before the destructor. It is given back at the end of a `catch` and by the
//! destructor of `std::exception_ptr`: those send. What receives is the destructor: `throw` and
//! `std::make_exception_ptr` tell the C++ library which one it is, and get ours.

use super::define::interpose;
use super::event;
use crate::spin::Spin;
use crate::sync;
use core::ffi::c_void;
use rustc_hash::FxHashMap;

// SAFETY of calling one: with the object that it was given for, once.
type Destructor = unsafe extern "C-unwind" fn(*mut c_void);

/// The destructors of exception objects that are alive.
static DESTRUCTORS: Spin<Option<FxHashMap<usize, Destructor>>> = Spin::new(None);

/// The destructor to tell the C++ library in place of the given one. Objects without one need none.
fn stand_in(object: *mut c_void, destructor: Option<Destructor>) -> Option<Destructor> {
    let own = destructor?;
    // libstdc++'s `__cxa_throw` calls `__cxa_init_primary_exception`, which is ours, too.
    if own as usize == destroy as *const () as usize {
        return destructor;
    }
    let known = event(|_| {
        DESTRUCTORS
            .lock()
            .get_or_insert_default()
            .insert(object as usize, own)
    });
    Some(if known.is_some() { destroy } else { own })
}

// SAFETY of calling it: as for the destructor that it stands in for.
unsafe extern "C-unwind" fn destroy(object: *mut c_void) {
    // Not by `event`: it must be found also where the runtime does not listen.
    let own = crate::thread::shut(|| DESTRUCTORS.lock().as_mut()?.remove(&(object as usize)));
    event(|t| {
        sync::receive(t, object as usize);
        sync::forget(t, object as usize);
    });
    if let Some(own) = own {
        // SAFETY: the destructor that the program gave for this object, called once.
        unsafe { own(object) };
    }
}

fn gives_back(object: *mut c_void) {
    if !object.is_null() {
        event(|t| sync::send(t, object as usize));
    }
}

/// The lock of the table, around a `fork`.
pub fn hold() {
    DESTRUCTORS.hold();
}

/// Gives it back.
pub fn let_go() {
    DESTRUCTORS.let_go();
}

/// The innermost exception that the thread has caught, if this `catch` is the last to refer to it.
///
/// # Safety
/// `globals` is what libstdc++'s `__cxa_get_globals` answers.
unsafe fn about_to_end(globals: *const *const u64) -> *mut c_void {
    // In words.
    const COUNT: usize = 5;
    const CLASS: usize = 10;
    const HEADER: usize = 14;
    /// "GNUCC++" and a 0 or, for an exception that refers to another (after `std::rethrow_exception`), a 1.
    const GNU: u64 = 0x474e_5543_432b_2b00;
    // SAFETY: the layout is libstdc++'s ABI; for exceptions of other languages only the class is looked at.
    unsafe {
        let header = *globals;
        if header.is_null() {
            return core::ptr::null_mut();
        }
        let class = *header.add(CLASS);
        if class & !1 != GNU || header.add(COUNT).cast::<i32>().read() != 1 {
            return core::ptr::null_mut();
        }
        match class {
            GNU => header.add(HEADER).cast_mut().cast(),
            _ => *header.cast::<*mut c_void>(),
        }
    }
}

super::define::real! {
    GLOBALS: fn() -> *const *const u64 = c"__cxa_get_globals";
}

interpose! {
    fn __cxa_throw[_, real](object: *mut c_void, kind: *mut c_void, destructor: Option<Destructor>) -> ! {
        let destructor = stand_in(object, destructor);
        // SAFETY: the caller's arguments; the destructor runs the caller's.
        unsafe { real(object, kind, destructor) }
    }

    fn __cxa_init_primary_exception[_, real](
        object: *mut c_void,
        kind: *mut c_void,
        destructor: Option<Destructor>,
    ) -> *mut c_void {
        let destructor = stand_in(object, destructor);
        // SAFETY: as above.
        unsafe { real(object, kind, destructor) }
    }

    fn __cxa_end_catch[_, real]() {
        // SAFETY: the C++ library's own, of this thread.
        gives_back(unsafe { about_to_end(GLOBALS.get()()) });
        // SAFETY: no arguments.
        unsafe { real() };
    }

    fn _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv[_, real](this: *mut *mut c_void) {
        // SAFETY: `std::exception_ptr` is one pointer, to the exception object.
        gives_back(unsafe { *this });
        // SAFETY: the caller's arguments.
        unsafe { real(this) };
    }
}
