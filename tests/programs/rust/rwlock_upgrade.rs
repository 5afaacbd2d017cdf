//! From reading to writing and back: looked at again after the change of locks; a write lock that is turned into a read lock.

use std::collections::HashMap;
use std::sync::{RwLock, RwLockWriteGuard};
use std::thread;

static CACHE: RwLock<Option<HashMap<u32, String>>> = RwLock::new(None);

fn lookup(key: u32) -> usize {
    if let Some(found) = CACHE.read().unwrap().as_ref().and_then(|map| map.get(&key)) {
        return found.len();
    }
    let mut guard = CACHE.write().unwrap();
    guard.get_or_insert_default().entry(key).or_insert_with(|| format!("value of {key}"));
    let guard = RwLockWriteGuard::downgrade(guard);
    guard.as_ref().map_or(0, |map| map[&key].len())
}

fn main() {
    let sums: Vec<usize> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|n| {
                scope.spawn(move || {
                    let mut sum = 0;
                    for i in 0..100 {
                        sum += lookup(i % 10);
                        if i % 25 == n {
                            if let Ok(mut guard) = CACHE.try_write() {
                                *guard = None;
                            }
                        }
                    }
                    sum
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    println!("{sums:?}");
}
