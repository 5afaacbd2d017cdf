//! `RwLock`: many readers, few writers, try variants.

use std::sync::RwLock;
use std::thread;

fn main() {
    let lock = RwLock::new((0_u32, String::new()));
    thread::scope(|scope| {
        for n in 0..6 {
            let lock = &lock;
            scope.spawn(move || {
                for i in 0..100 {
                    if n < 2 {
                        let mut guard = lock.write().unwrap();
                        guard.0 += 1;
                        if i % 10 == 0 {
                            guard.1.push('x');
                        }
                    } else if i % 2 == 0 {
                        let guard = lock.read().unwrap();
                        assert!(guard.1.len() <= guard.0 as usize);
                    } else if let Ok(guard) = lock.try_read() {
                        assert!(guard.1.len() <= guard.0 as usize);
                    }
                }
            });
        }
    });
    let (count, text) = lock.into_inner().unwrap();
    println!("{count} {}", text.len());
}
