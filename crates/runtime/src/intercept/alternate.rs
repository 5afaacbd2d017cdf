//! Alternate stacks for handlers of signals. A program makes them as small as its handlers allow; the checks in handlers need some
//! more. So the kernel is given a larger stack in place of a small one, and the program is told of its own.

use super::define::interpose;
use super::event;
use crate::thread::Thread;
use crate::{memory, vm};
use core::ffi::c_int;
use libc::stack_t;

/// Stacks smaller than this are replaced by some that are larger by [`ROOM`].
const SMALL: usize = 64 << 10;
const ROOM: usize = 64 << 10;

/// The stack that the program gave, and what the kernel was given in its place.
pub struct Alternate {
    own: stack_t,
    ours: stack_t,
}

impl Alternate {
    /// One for the stack that the program asks for, if it is to be replaced.
    fn of(t: &mut Thread, asked: &stack_t) -> Option<Alternate> {
        let small = asked.ss_flags & libc::SS_DISABLE == 0
            // What the kernel refuses is for the kernel to refuse.
            && (libc::MINSIGSTKSZ..SMALL).contains(&asked.ss_size);
        if !small {
            return None;
        }
        let size = (asked.ss_size + ROOM).next_multiple_of(vm::PAGE);
        let start = vm::map_among_the_programs(size)?;
        memory::mapped(t, start.addr(), size);
        let ours = stack_t {
            ss_sp: start.cast(),
            ss_size: size,
            ss_flags: asked.ss_flags,
        };
        Some(Alternate { own: *asked, ours })
    }

    fn give_back(self, t: &mut Thread) {
        memory::unmapped(t, self.ours.ss_sp as usize, self.ours.ss_size);
        // SAFETY: mapped by `of`; the kernel has been given another.
        unsafe { vm::unmap(self.ours.ss_sp.cast(), self.ours.ss_size) };
    }

    /// What the program is told in place of what the kernel says.
    fn shown(&self, kernels: stack_t) -> stack_t {
        if kernels.ss_sp != self.ours.ss_sp {
            return kernels;
        }
        stack_t {
            ss_flags: kernels.ss_flags,
            ..self.own
        }
    }
}

fn kernel(new: Option<&stack_t>) -> Result<stack_t, i32> {
    let new = new.map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: whole structures. The stacks are the program's, or ours for as long as the kernel has them.
    unsafe {
        let mut old: stack_t = core::mem::zeroed();
        match libc::syscall(libc::SYS_sigaltstack, new, &raw mut old) {
            0 => Ok(old),
            _ => Err(vm::errno()),
        }
    }
}

fn change(t: &mut Thread, new: Option<&stack_t>) -> Result<stack_t, i32> {
    let replaced = new.and_then(|new| Alternate::of(t, new));
    let result = kernel(replaced.as_ref().map_or(new, |replaced| Some(&replaced.ours)));
    let Ok(before) = result else {
        if let Some(replaced) = replaced {
            replaced.give_back(t);
        }
        return result;
    };
    let shown = t.alternate.as_ref().map_or(before, |was| was.shown(before));
    if new.is_some()
        && let Some(was) = core::mem::replace(&mut t.alternate, replaced)
    {
        was.give_back(t);
    }
    Ok(shown)
}

/// The thread ends: the kernel has the program's stack again. Ours stays where it is still in use.
pub fn end(t: &mut Thread) {
    if let Some(was) = t.alternate.take()
        && kernel(Some(&was.own)).is_ok()
    {
        was.give_back(t);
    }
}

interpose! {
    fn sigaltstack[_, real](new: *const stack_t, old: *mut stack_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = event(|t| change(t, unsafe { new.as_ref() }));
        match result {
            // SAFETY: as above.
            None => unsafe { real(new, old) },
            Some(Err(error)) => {
                // SAFETY: the C library's own variable of this thread.
                unsafe { *libc::__errno_location() = error };
                -1
            }
            Some(Ok(before)) => {
                // SAFETY: as above.
                if let Some(old) = unsafe { old.as_mut() } {
                    *old = before;
                }
                0
            }
        }
    }
}
