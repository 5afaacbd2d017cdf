//! `dlclose`: memory of a library that is gone may be another's next. The loader maps and unmaps by itself, so nobody else
//! tells. (`dlopen` cannot be replaced: it looks at who calls it. Nothing is lost by that, for what it maps is clean. What the
//! loader's functions order is told at their calls: `outside.rs`.)

use super::define::interpose;
use super::event;
use crate::modules::Modules;
use crate::{code, memory, outside};
use core::ffi::{c_int, c_void};

interpose! {
    fn dlclose[_, real](library: *mut c_void) -> c_int {
        let before = event(|_| Modules::now());
        // SAFETY: the caller's handle.
        let result = unsafe { real(library) };
        if let Some(before) = before {
            event(|t| {
                let now = Modules::now();
                for (start, end) in before.gone(&now) {
                    memory::unmapped(t, start, end - start);
                }
                code::forget();
                outside::forget_libraries();
            });
        }
        result
    }
}
