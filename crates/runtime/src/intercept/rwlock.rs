//! Read-write locks and spin locks. Readers do not order readers.

use super::define::interpose;
use super::{event, event_at};
use crate::locks::{self, LockKind};
use crate::sync;
use core::ffi::{c_int, c_void};
use deadheat_event::Mode;
use libc::{clockid_t, pthread_rwlock_t, pthread_spinlock_t, timespec};

fn taken(result: c_int, lock: usize, mode: Mode, kind: LockKind, pc: usize) {
    if result == 0 {
        event_at(pc, |t| {
            sync::acquire(t, lock, mode);
            locks::took(t, kind, lock, pc);
        });
    }
}

fn read_locked(result: c_int, lock: *mut pthread_rwlock_t, pc: usize) {
    taken(result, lock as usize, Mode::Shared, LockKind::ReadLock, pc);
}

fn write_locked(result: c_int, lock: *mut pthread_rwlock_t, pc: usize) {
    taken(result, lock as usize, Mode::Exclusive, LockKind::WriteLock, pc);
}

fn given(lock: usize, mode: Mode, pc: usize) {
    event_at(pc, |t| {
        locks::gave(t, lock);
        sync::release(t, lock, mode);
    });
}

fn renewed(result: c_int, lock: usize) {
    if result == 0 {
        event(|t| sync::forget(t, lock));
    }
}

/// How the lock is held now. Its holder asks, so it does not change meanwhile.
///
/// # Safety
/// A valid lock that the caller holds.
unsafe fn held_as(lock: *const pthread_rwlock_t) -> Mode {
    // SAFETY: glibc's layout, part of its ABI: six words before the thread id of the writer, 0 if there is none.
    match unsafe { lock.cast::<u32>().add(6).read_volatile() } {
        0 => Mode::Shared,
        _ => Mode::Exclusive,
    }
}

interpose! {
    fn pthread_rwlock_init[_, real](lock: *mut pthread_rwlock_t, attributes: *const c_void) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock, attributes) };
        renewed(result, lock as usize);
        result
    }

    fn pthread_rwlock_destroy[_, real](lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock) };
        renewed(result, lock as usize);
        result
    }

    fn pthread_rwlock_rdlock[pc, real](lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock) };
        read_locked(result, lock, pc);
        result
    }

    fn pthread_rwlock_tryrdlock[pc, real](lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock) };
        read_locked(result, lock, pc);
        result
    }

    fn pthread_rwlock_timedrdlock[pc, real](lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock, until) };
        read_locked(result, lock, pc);
        result
    }

    fn pthread_rwlock_clockrdlock[pc, real](
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        until: *const timespec,
    ) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock, clock, until) };
        read_locked(result, lock, pc);
        result
    }

    fn pthread_rwlock_wrlock[pc, real](lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock) };
        write_locked(result, lock, pc);
        result
    }

    fn pthread_rwlock_trywrlock[pc, real](lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock) };
        write_locked(result, lock, pc);
        result
    }

    fn pthread_rwlock_timedwrlock[pc, real](lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock, until) };
        write_locked(result, lock, pc);
        result
    }

    fn pthread_rwlock_clockwrlock[pc, real](
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        until: *const timespec,
    ) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock, clock, until) };
        write_locked(result, lock, pc);
        result
    }

    fn pthread_rwlock_unlock[pc, real](lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: the caller's lock.
        let mode = unsafe { held_as(lock) };
        given(lock as usize, mode, pc);
        // SAFETY: the caller's arguments.
        unsafe { real(lock) }
    }

    fn pthread_spin_init[_, real](lock: *mut pthread_spinlock_t, shared: c_int) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock, shared) };
        renewed(result, lock as usize);
        result
    }

    fn pthread_spin_destroy[_, real](lock: *mut pthread_spinlock_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock) };
        renewed(result, lock as usize);
        result
    }

    fn pthread_spin_lock[pc, real](lock: *mut pthread_spinlock_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock) };
        taken(result, lock as usize, Mode::Exclusive, LockKind::Spin, pc);
        result
    }

    fn pthread_spin_trylock[pc, real](lock: *mut pthread_spinlock_t) -> c_int {
        // SAFETY: the caller's arguments.
        let result = unsafe { real(lock) };
        taken(result, lock as usize, Mode::Exclusive, LockKind::Spin, pc);
        result
    }

    fn pthread_spin_unlock[pc, real](lock: *mut pthread_spinlock_t) -> c_int {
        given(lock as usize, Mode::Exclusive, pc);
        // SAFETY: the caller's arguments.
        unsafe { real(lock) }
    }
}
