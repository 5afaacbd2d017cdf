//! `printf`, `scanf` and their like: strings that are printed are read, and what is scanned is written.
//!
//! A function with any number of arguments is exported as a stub that puts them into a list, and is done by the function
//! that takes the list. Where the program has a function of its own with this name, the stub goes there at once.

mod list;
mod spec;

use super::streams::{stdin, stdout};
use crate::intercept::files::sends;
use crate::intercept::model::{Model, models, process_has, the_process};
use crate::intercept::streams::{puts_into, took_from};
use core::ffi::{c_char, c_int};
use libc::{FILE, size_t};
use list::{Call, List};

type Text = *const c_char;

/// `$fixed` arguments, of which the last is the format, then any others; done by `$by`, which takes one list.
macro_rules! variadic {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) = $by:ident,
        first |$f:ident, $fl:ident| $first:expr_2021, then |$m:ident, $ml:ident, $r:pat_param| $then:expr_2021
    ;)*) => { $(
        process_has!($name);
        const _: () = {
            use $crate::intercept::model::{Letter, Own};
            use core::sync::atomic::AtomicUsize;
            assert!(
                deadheat_abi::hooks::has_type(stringify!($name), &[b'd', $(<$ty as Letter>::LETTER,)* b'.']),
                concat!("the table of redirected functions has another type for ", stringify!($name)),
            );

            static OWN: AtomicUsize = AtomicUsize::new(0);

            #[used]
            #[unsafe(link_section = "deadheat_own")]
            static ENTRY: fn() -> Own = || Own {
                function: the_process!($name: fn() -> ()).0,
                slot: &OWN,
            };

            #[allow(unused_unsafe, unused_variables)]
            // SAFETY of calling it: as of the function of the C library, from the stub below, with the list that it made.
            unsafe extern "C-unwind" fn body($($arg: $ty,)* call: *mut Call) -> c_int {
                let (address, by) = the_process!($by: fn($($ty,)* *mut List) -> c_int);
                // SAFETY: the stub's list.
                let (list, pc) = unsafe { ((*call).list, (*call).pc) };
                let model = Model::of(address, pc);
                if let Some($f) = model {
                    let $fl = list;
                    // SAFETY: the caller's arguments.
                    unsafe { $first };
                }
                // SAFETY: the caller's arguments.
                let result = unsafe { by($($arg,)* &raw mut (*call).list) };
                if let Some($m) = model {
                    let $ml = list;
                    let $r = result;
                    // SAFETY: the caller's arguments, as the function has left them.
                    unsafe { $then };
                }
                result
            }

            #[unsafe(export_name = concat!("__deadheat_", stringify!($name)))]
            #[unsafe(naked)]
            // SAFETY of calling it: as of the function of the C library; it makes a list of its further arguments.
            unsafe extern "C-unwind" fn stub() {
                list::stub!(body OWN $($arg)*)
            }
        };
    )* };
}

/// Text that was printed into the caller's memory, as far as there was room.
fn printed(m: Model, into: *mut c_char, room: size_t, result: c_int) {
    if result >= 0 {
        m.write(into, (result as usize + 1).min(room));
    }
}

/// # Safety
/// As the function left them.
unsafe fn allocated(m: Model, into: *mut *mut c_char, result: c_int) {
    if result >= 0 {
        m.fill(into);
        // SAFETY: the caller's promise.
        m.write(unsafe { *into }, result as usize + 1);
    }
}

variadic! {
    fn printf(form: Text) = vprintf, first |m, list| { puts_into(stdout); spec::print(m, form, list) }, then |m, l, r| ();
    fn fprintf(stream: *mut FILE, form: Text) = vfprintf, first |m, list| { puts_into(stream); spec::print(m, form, list) }, then |m, l, r| ();
    fn dprintf(file: c_int, form: Text) = vdprintf, first |m, list| { sends(file); spec::print(m, form, list) }, then |m, l, r| ();
    fn sprintf(into: *mut c_char, form: Text) = vsprintf,
        first |m, list| spec::print(m, form, list), then |m, l, r| printed(m, into, usize::MAX, r);
    fn snprintf(into: *mut c_char, room: size_t, form: Text) = vsnprintf,
        first |m, list| spec::print(m, form, list), then |m, l, r| printed(m, into, room, r);
    fn asprintf(into: *mut *mut c_char, form: Text) = vasprintf,
        first |m, list| spec::print(m, form, list), then |m, l, r| allocated(m, into, r);
    fn __printf_chk(flag: c_int, form: Text) = __vprintf_chk,
        first |m, list| { puts_into(stdout); spec::print(m, form, list) }, then |m, l, r| ();
    fn __fprintf_chk(stream: *mut FILE, flag: c_int, form: Text) = __vfprintf_chk,
        first |m, list| { puts_into(stream); spec::print(m, form, list) }, then |m, l, r| ();
    fn __sprintf_chk(into: *mut c_char, flag: c_int, size: size_t, form: Text) = __vsprintf_chk,
        first |m, list| spec::print(m, form, list), then |m, l, r| printed(m, into, usize::MAX, r);
    fn __snprintf_chk(into: *mut c_char, room: size_t, flag: c_int, size: size_t, form: Text) = __vsnprintf_chk,
        first |m, list| spec::print(m, form, list), then |m, l, r| printed(m, into, room, r);

    fn scanf(form: Text) = vscanf, first |m, l| m.text(form), then |m, list, r| { took_from(stdin); spec::scan(m, form, list, r) };
    fn fscanf(stream: *mut FILE, form: Text) = vfscanf,
        first |m, l| m.text(form), then |m, list, r| { took_from(stream); spec::scan(m, form, list, r) };
    fn sscanf(text: Text, form: Text) = vsscanf,
        first |m, l| { m.text(text); m.text(form) }, then |m, list, r| spec::scan(m, form, list, r);
    fn __isoc99_scanf(form: Text) = __isoc99_vscanf,
        first |m, l| m.text(form), then |m, list, r| { took_from(stdin); spec::scan(m, form, list, r) };
    fn __isoc99_fscanf(stream: *mut FILE, form: Text) = __isoc99_vfscanf,
        first |m, l| m.text(form), then |m, list, r| { took_from(stream); spec::scan(m, form, list, r) };
    fn __isoc99_sscanf(text: Text, form: Text) = __isoc99_vsscanf,
        first |m, l| { m.text(text); m.text(form) }, then |m, list, r| spec::scan(m, form, list, r);
    fn __isoc23_scanf(form: Text) = __isoc23_vscanf,
        first |m, l| m.text(form), then |m, list, r| { took_from(stdin); spec::scan(m, form, list, r) };
    fn __isoc23_fscanf(stream: *mut FILE, form: Text) = __isoc23_vfscanf,
        first |m, l| m.text(form), then |m, list, r| { took_from(stream); spec::scan(m, form, list, r) };
    fn __isoc23_sscanf(text: Text, form: Text) = __isoc23_vsscanf,
        first |m, l| { m.text(text); m.text(form) }, then |m, list, r| spec::scan(m, form, list, r);
}

// What the stubs call, and is not in the table below.
process_has!(__vprintf_chk);
process_has!(__vfprintf_chk);
process_has!(__vsprintf_chk);
process_has!(__vsnprintf_chk);
process_has!(vscanf);
process_has!(vfscanf);
process_has!(vsscanf);
process_has!(__isoc99_vscanf);
process_has!(__isoc23_vscanf);
process_has!(__isoc23_vfscanf);
process_has!(__isoc23_vsscanf);

models! {
    fn vprintf(form: Text, list: *mut List) -> c_int, first |m| { puts_into(stdout); spec::print(m, form, *list) };
    fn vfprintf(stream: *mut FILE, form: Text, list: *mut List) -> c_int, first |m| { puts_into(stream); spec::print(m, form, *list) };
    fn vdprintf(file: c_int, form: Text, list: *mut List) -> c_int, first |m| { sends(file); spec::print(m, form, *list) };
    fn vsprintf(into: *mut c_char, form: Text, list: *mut List) -> c_int,
        first |m| spec::print(m, form, *list), then |m, r| printed(m, into, usize::MAX, r);
    fn vsnprintf(into: *mut c_char, room: size_t, form: Text, list: *mut List) -> c_int,
        first |m| spec::print(m, form, *list), then |m, r| printed(m, into, room, r);
    fn vasprintf(into: *mut *mut c_char, form: Text, list: *mut List) -> c_int,
        first |m| spec::print(m, form, *list), then |m, r| allocated(m, into, r);
    fn __isoc99_vsscanf(text: Text, form: Text, list: *mut List) -> c_int, as |f, m| {
        let arguments = *list;
        let r = f(text, form, list);
        m.text(text);
        m.text(form);
        spec::scan(m, form, arguments, r);
        r
    };
    fn __isoc99_vfscanf(stream: *mut FILE, form: Text, list: *mut List) -> c_int, as |f, m| {
        let arguments = *list;
        let r = f(stream, form, list);
        took_from(stream);
        m.text(form);
        spec::scan(m, form, arguments, r);
        r
    };
}
