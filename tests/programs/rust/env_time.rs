//! The environment and the clock from many threads: std has a lock for the one, and the other needs none.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn main() {
    let counts: Vec<usize> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|n| {
                scope.spawn(move || {
                    let (name, mut count) = (format!("DEADHEAT_ENV_TIME_{n}"), 0);
                    for i in 0..30 {
                        // SAFETY: what else runs reads the environment through std only.
                        unsafe { std::env::set_var(&name, i.to_string()) };
                        count += usize::from(std::env::var(&name).unwrap() == i.to_string());
                        count += usize::from(std::env::vars_os().count() > 1);
                        let start = Instant::now();
                        thread::sleep(Duration::from_micros(10));
                        count += usize::from(start.elapsed() >= Duration::from_micros(10));
                        count += usize::from(SystemTime::now().duration_since(UNIX_EPOCH).is_ok());
                        // SAFETY: as above.
                        unsafe { std::env::remove_var(&name) };
                    }
                    count + std::env::args().count() + usize::from(std::env::temp_dir().is_absolute())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    println!("{counts:?}");
}
