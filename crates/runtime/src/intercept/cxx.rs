//! What libstdc++ orders by atomics inside its own functions.
//!
//! Most of the C++ library is in headers, and so instrumented with the program. These are not, and what they do shows:
//! - `std::pmr::set_default_resource` and `get_default_resource` exchange and load a pointer.
//! - `std::promise::set_value_at_thread_exit` and its kin: the state becomes ready by a release store when the thread has
//!   destroyed its thread-locals; who waits for it loads it in a header.

use super::define::interpose;
use super::event;
use crate::spin::Spin;
use crate::{checks, sync};
use core::ffi::c_void;
use deadheat_abi::atomics::{Kind, Ordering, What};
use libc::pthread_t;
use rustc_hash::FxHashMap;

/// Where users of the default memory resource meet. No object of the program has this address.
const DEFAULT_RESOURCE: usize = 2;

/// For each thread the words that it makes ready at its end.
static AT_THREAD_EXIT: Spin<Option<FxHashMap<pthread_t, Vec<usize>>>> = Spin::new(None);

/// The lock of the table, around a `fork`.
pub fn hold() {
    AT_THREAD_EXIT.hold();
}

/// Gives it back.
pub fn let_go() {
    AT_THREAD_EXIT.let_go();
}

/// The calling thread has destroyed its thread-locals: libstdc++ makes its promises ready next.
pub fn thread_locals_destroyed(pc: usize) {
    // SAFETY: no arguments.
    let id = unsafe { libc::pthread_self() };
    event(|t| {
        let words = AT_THREAD_EXIT.lock().as_mut().and_then(|all| all.remove(&id));
        for word in words.into_iter().flatten() {
            let what = What {
                size: 4,
                kind: Kind::Store,
                order: Ordering::Release,
            };
            // A moment before the store itself: who sees the word ready comes later than both.
            checks::atomic(t, word, what, pc, || ());
        }
    });
}

interpose! {
    fn _ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE[_, real](new: *mut c_void) -> *mut c_void {
        event(|t| sync::send(t, DEFAULT_RESOURCE));
        // SAFETY: the caller's arguments.
        let old = unsafe { real(new) };
        event(|t| sync::receive(t, DEFAULT_RESOURCE));
        old
    }

    fn _ZNSt3pmr20get_default_resourceEv[_, real]() -> *mut c_void {
        // SAFETY: no arguments.
        let resource = unsafe { real() };
        event(|t| sync::receive(t, DEFAULT_RESOURCE));
        resource
    }

    fn _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv[_, real](this: *mut c_void) {
        // libstdc++'s ABI: a list node of two words and a weak pointer to the state, whose third word is its status.
        // SAFETY: as it says.
        let state = unsafe { this.cast::<usize>().add(2).read() };
        if state != 0 {
            // SAFETY: no arguments.
            let id = unsafe { libc::pthread_self() };
            event(|_| {
                let mut all = AT_THREAD_EXIT.lock();
                all.get_or_insert_default().entry(id).or_default().push(state + 16);
            });
        }
        // SAFETY: the caller's arguments.
        unsafe { real(this) };
    }
}
