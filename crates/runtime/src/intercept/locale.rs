//! `std::locale`: the C++ library counts who refers to a locale's contents and to each of its facets, out of our sight,
//! and whoever is the last destroys them. Facets may be the program's own, with destructors that are instrumented code.
//!
//! Each reference given back happens before the destruction. It is given back by the destructor of `std::locale` and by
//! an assignment to it: those send. What receives is the destructor of the contents, which libstdc++ calls for the last.
//! Facets are shared between contents, the standard ones by nearly all of them, so there each destruction comes after all
//! before it.
//!
//! Streams have locales, and most of those are the classic one, which is never destroyed and not counted: it is left out.

use super::define::{interpose, real};
use super::event;
use crate::sync;
use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Where destructions of contents meet, because of the facets. No object of the program has this address.
const FACETS: usize = 3;

/// The contents of the classic locale; 0 until asked.
static CLASSIC: AtomicUsize = AtomicUsize::new(0);

real! {
    ASK_CLASSIC: fn() -> *const usize = c"_ZNSt6locale7classicEv";
}

fn classic() -> usize {
    match CLASSIC.load(Ordering::Relaxed) {
        0 => {
            // SAFETY: no arguments; a locale is one pointer, to its contents.
            let contents = unsafe { *ASK_CLASSIC.get()() };
            CLASSIC.store(contents, Ordering::Relaxed);
            contents
        }
        contents => contents,
    }
}

/// The locale is about to give back its reference.
///
/// # Safety
/// A locale.
unsafe fn gives_back(locale: *const usize) {
    // SAFETY: as it says; one pointer.
    let contents = unsafe { *locale };
    if contents != classic() {
        event(|t| sync::send(t, contents));
    }
}

interpose! {
    fn _ZNSt6localeD1Ev[_, real](this: *mut usize) {
        // SAFETY: the caller's argument.
        unsafe { gives_back(this) };
        // SAFETY: as above.
        unsafe { real(this) };
    }

    fn _ZNSt6localeD2Ev[_, real](this: *mut usize) {
        // SAFETY: the caller's argument.
        unsafe { gives_back(this) };
        // SAFETY: as above.
        unsafe { real(this) };
    }

    fn _ZNSt6localeaSERKS_[_, real](this: *mut usize, other: *const usize) -> *mut c_void {
        // SAFETY: the caller's arguments.
        unsafe { gives_back(this) };
        // SAFETY: as above.
        unsafe { real(this, other) }
    }

    fn _ZNSt6locale5_ImplD1Ev[_, real](this: *mut c_void) {
        event(|t| {
            sync::receive(t, this as usize);
            sync::forget(t, this as usize);
            sync::receive(t, FACETS);
            sync::send(t, FACETS);
        });
        // SAFETY: the caller's argument.
        unsafe { real(this) };
    }
}
