//! Spin locks: short, never in the program's sight, and safe to reset in the child of a `fork`.
//!
//! The runtime cannot use the locks of libc (they are intercepted) nor block in a futex that the program's own tools
//! would see. Every lock is held for a few hundred instructions at most; who waits longer lets others run.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// A value behind a spin lock.
#[derive(Default)]
pub struct Spin<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is touched only by the holder.
unsafe impl<T: Send> Sync for Spin<T> {}

/// The right to touch the value.
pub struct Guard<'a, T> {
    lock: &'a Spin<T>,
}

impl<T> Spin<T> {
    /// A free lock.
    pub const fn new(value: T) -> Spin<T> {
        Spin {
            held: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the lock and takes it.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        self.hold();
        Guard { lock: self }
    }

    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        (!self.held.swap(true, Ordering::Acquire)).then(|| Guard { lock: self })
    }

    /// Takes the lock without a guard: for `fork`, which gives it back in another place.
    #[inline]
    pub fn hold(&self) {
        let mut wait = Wait::default();
        while self.held.swap(true, Ordering::Acquire) {
            while self.held.load(Ordering::Relaxed) {
                wait.once();
            }
        }
    }

    /// Gives back a lock taken by [`Spin::hold`].
    #[inline]
    pub fn let_go(&self) {
        self.held.store(false, Ordering::Release);
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, and the guard is borrowed for as long.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.let_go();
    }
}

/// Lets others run for so many nanoseconds, and leaves `errno` as it was.
pub fn nap(nanoseconds: i64) {
    let nap = libc::timespec {
        tv_sec: 0,
        tv_nsec: nanoseconds,
    };
    // SAFETY: the thread's own variable.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above, and reads the structure.
    unsafe {
        let before = *errno;
        libc::syscall(libc::SYS_nanosleep, &raw const nap, 0);
        *errno = before;
    }
}

/// Waiting: first on the spot, then by letting others run.
#[derive(Default)]
pub struct Wait {
    times: u32,
}

impl Wait {
    /// One step. How many there were.
    #[inline]
    pub fn once(&mut self) -> u32 {
        self.times = self.times.saturating_add(1);
        if self.times.is_multiple_of(128) {
            // SAFETY: a system call without arguments.
            unsafe { libc::syscall(libc::SYS_sched_yield) };
        } else {
            std::hint::spin_loop();
        }
        self.times
    }
}
