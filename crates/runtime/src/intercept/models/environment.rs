//! The environment: one list for all threads, which who changes it must not do while others look. It stands for all its
//! strings.

use crate::intercept::model::{Model, models};
use core::ffi::{c_char, c_int};

// SAFETY: the C library's own variable, of this type.
unsafe extern "C" {
    static environ: *const *const c_char;
}

fn change(m: Model) {
    m.fill((&raw const environ).cast_mut());
}

models! {
    fn getenv(name: *const c_char) -> *mut c_char, then |m, _| m.look(&raw const environ);
    fn secure_getenv(name: *const c_char) -> *mut c_char, then |m, _| m.look(&raw const environ);
    fn setenv(name: *const c_char, value: *const c_char, replace: c_int) -> c_int,
        first |m| { m.text(name); m.text(value); if replace != 0 || libc::getenv(name).is_null() { change(m) } };
    fn putenv(setting: *mut c_char) -> c_int, first |m| { m.text(setting); change(m) };
    fn unsetenv(name: *const c_char) -> c_int,
        first |m| { m.text(name); if !libc::getenv(name).is_null() { change(m) } };
    fn clearenv() -> c_int, first |m| change(m);
}
