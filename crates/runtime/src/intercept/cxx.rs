//! What libstdc++ orders by atomics inside its own functions.
//!
//! Most of the C++ library is in headers, and so instrumented with the program. These are not, and what they do shows:
//! - `std::pmr::set_default_resource` and `get_default_resource` exchange and load a pointer.
//! - `std::promise::set_value_at_thread_exit` and its kin: the state becomes ready by a release store when the thread has
//!   destroyed its thread-locals; who waits for it loads it in a header. And libstdc++ holds the state meanwhile: if it is
//!   the last to let go of it, it destroys it behind the decrements of others that it never showed us. So we hold it,
//!   too, a little longer, and let go of it in the open.

use super::define::interpose;
use super::event;
use crate::spin::Spin;
use crate::{checks, sync};
use core::ffi::c_void;
use core::sync::atomic::{AtomicI32, Ordering as Real};
use deadheat_abi::atomics::{Kind, Ordering, What};
use libc::pthread_t;
use rustc_hash::FxHashMap;

/// Where users of the default memory resource meet. No object of the program has this address.
const DEFAULT_RESOURCE: usize = 2;

/// The shared state of a future that becomes ready at the end of a thread.
#[derive(Clone, Copy)]
struct State {
    /// The word that says so.
    status: usize,
    /// The control block of its `shared_ptr`.
    control: Control,
}

/// The control block of a `std::shared_ptr`: a pointer to functions, the number of owners, and that of weak pointers.
#[derive(Clone, Copy)]
struct Control(usize);

impl Control {
    fn owners(&self) -> &AtomicI32 {
        // SAFETY: libstdc++'s ABI; the thread's promise has a weak pointer, so the block is there.
        unsafe { AtomicI32::from_ptr((self.0 + 8) as *mut i32) }
    }

    fn weak(&self) -> &AtomicI32 {
        // SAFETY: as above.
        unsafe { AtomicI32::from_ptr((self.0 + 12) as *mut i32) }
    }

    /// Becomes an owner, if there are any.
    fn own(self) -> bool {
        let one_more = |count| (count != 0).then_some(count + 1);
        self.owners()
            .fetch_update(Real::AcqRel, Real::Acquire, one_more)
            .is_ok()
    }

    /// Lets go. The last owner destroys the object, and the last of all the block.
    ///
    /// # Safety
    /// After [`Control::own`].
    unsafe fn let_go(self, pc: usize) {
        type Method = unsafe extern "C-unwind" fn(usize);
        const DISPOSE: usize = 2;
        const DESTROY: usize = 3;
        // SAFETY: the block's functions by libstdc++'s ABI, called as its own code would.
        let call = |index: usize| unsafe {
            let functions = *(self.0 as *const *const Method);
            (*functions.add(index))(self.0);
        };
        if take_one(self.owners(), pc) {
            call(DISPOSE);
            if take_one(self.weak(), pc) {
                call(DESTROY);
            }
        }
    }
}

/// Takes one from a counter, on the record. Whether it was the last.
fn take_one(counter: &AtomicI32, pc: usize) -> bool {
    let what = What {
        size: 4,
        kind: Kind::Update,
        order: Ordering::AcqRel,
    };
    let mut before = None;
    let at = counter.as_ptr() as usize;
    event(|t| {
        checks::atomic(t, at, what, pc, || {
            before = Some(counter.fetch_sub(1, Real::AcqRel));
        });
    });
    before.unwrap_or_else(|| counter.fetch_sub(1, Real::AcqRel)) == 1
}

/// For each thread the states that become ready at its end.
static AT_THREAD_EXIT: Spin<Option<FxHashMap<pthread_t, Vec<State>>>> = Spin::new(None);

/// The lock of the table, around a `fork`.
pub fn hold() {
    AT_THREAD_EXIT.hold();
}

/// Gives it back.
pub fn let_go() {
    AT_THREAD_EXIT.let_go();
}

/// The calling thread has destroyed its thread-locals: libstdc++ makes its promises ready next.
pub fn before_promises(pc: usize) {
    // SAFETY: no arguments.
    let id = unsafe { libc::pthread_self() };
    event(|t| {
        let mut all = AT_THREAD_EXIT.lock();
        let Some(states) = all.as_mut().and_then(|all| all.get_mut(&id)) else {
            return;
        };
        states.retain(|state| state.control.own());
        let states = states.clone();
        drop(all);
        for state in states {
            let what = What {
                size: 4,
                kind: Kind::Store,
                order: Ordering::Release,
            };
            // A moment before the store itself: who sees the word ready comes later than both.
            checks::atomic(t, state.status, what, pc, || ());
        }
    });
}

/// It has made them ready.
pub fn after_promises(pc: usize) {
    // SAFETY: no arguments.
    let id = unsafe { libc::pthread_self() };
    let states = event(|_| AT_THREAD_EXIT.lock().as_mut().and_then(|all| all.remove(&id)));
    for state in states.flatten().into_iter().flatten() {
        // SAFETY: `before_promises` became an owner.
        unsafe { state.control.let_go(pc) };
    }
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
        let [state, control] = unsafe { this.cast::<[usize; 2]>().add(1).read() };
        if state != 0 && control != 0 {
            // SAFETY: no arguments.
            let id = unsafe { libc::pthread_self() };
            let state = State { status: state + 16, control: Control(control) };
            event(|_| AT_THREAD_EXIT.lock().get_or_insert_default().entry(id).or_default().push(state));
        }
        // SAFETY: the caller's arguments.
        unsafe { real(this) };
    }
}
