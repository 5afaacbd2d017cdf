//! Initialisation that panics, and is tried again by another thread; locks that were poisoned, cleared and used again.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{LazyLock, Mutex, Once, OnceLock, RwLock};
use std::thread;

static ONCE: Once = Once::new();
static mut MADE: Vec<u32> = Vec::new();
static NAMES: OnceLock<Vec<String>> = OnceLock::new();
static BROKEN: LazyLock<Vec<u32>> = LazyLock::new(|| panic!("never made"));

fn made() -> &'static mut Vec<u32> {
    // SAFETY: only called by whoever initialises, or behind that.
    unsafe { &mut *&raw mut MADE }
}

fn main() {
    panic::set_hook(Box::new(|_| ()));
    let (mutex, lock) = (Mutex::new(0), RwLock::new(String::new()));
    let sums: Vec<usize> = thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|n| {
                let (mutex, lock) = (&mutex, &lock);
                scope.spawn(move || {
                    while !ONCE.is_completed() {
                        let _ = panic::catch_unwind(|| {
                            ONCE.call_once_force(|state| {
                                made().push(u32::from(state.is_poisoned()));
                                assert!(made().len() > 3, "not yet");
                            });
                        });
                    }
                    let tried = panic::catch_unwind(|| NAMES.get_or_init(|| panic!("no names"))).is_err();
                    let names = NAMES.get_or_init(|| (0..5).map(|i| format!("name {i}")).collect());
                    let broken = panic::catch_unwind(|| BROKEN.len()).is_err();
                    let _ = panic::catch_unwind(AssertUnwindSafe(|| {
                        let mut guard = mutex.lock().unwrap_or_else(|poisoned| {
                            mutex.clear_poison();
                            poisoned.into_inner()
                        });
                        *guard += 1;
                        panic!("with the lock held");
                    }));
                    let _ = panic::catch_unwind(AssertUnwindSafe(|| {
                        let mut guard = lock.write().unwrap_or_else(|poisoned| poisoned.into_inner());
                        guard.push((b'a' + n) as char);
                        panic!("with the lock held");
                    }));
                    let _ = tried;
                    made().len() + names[4].len() + usize::from(broken)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let text = lock.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    println!("{sums:?} {} {} {}", mutex.is_poisoned(), mutex.into_inner().unwrap_or_else(|p| p.into_inner()), text.len());
}
