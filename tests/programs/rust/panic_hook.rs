//! A hook that is set and taken away while threads panic; payloads that are owned by whoever joins; panics that go on elsewhere.

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let hits = Arc::new(AtomicUsize::new(0));
    let hook = |seen: &Arc<Mutex<Vec<String>>>, hits: &Arc<AtomicUsize>| {
        let (seen, hits) = (Arc::clone(seen), Arc::clone(hits));
        panic::set_hook(Box::new(move |info| {
            let text = info.payload_as_str().unwrap_or("no text").to_owned();
            seen.lock().unwrap().push(format!("{text} at line {}", info.location().unwrap().line()));
            hits.fetch_add(1, Ordering::Relaxed);
        }));
    };
    hook(&seen, &hits);
    let mut lengths = 0;
    for round in 0..10 {
        let threads: Vec<_> = (0..4)
            .map(|n| {
                thread::spawn(move || match n {
                    0 => panic!("text of {round}"),
                    1 => panic::panic_any(vec![String::from("a payload"); 3]),
                    2 => match panic::catch_unwind(|| -> usize { panic!("goes on") }) {
                        Ok(never) => never,
                        Err(payload) => panic::resume_unwind(payload),
                    },
                    _ => 5_usize,
                })
            })
            .collect();
        // Waits for those that are panicking, and may come before or after them.
        hook(&seen, &hits);
        for thread in threads {
            lengths += match thread.join() {
                Ok(length) => length,
                Err(payload) => match payload.downcast::<Vec<String>>() {
                    Ok(strings) => strings.concat().len(),
                    Err(payload) => payload.downcast_ref::<&str>().map_or(1, |text| text.len()),
                },
            };
        }
    }
    let _ = panic::take_hook();
    println!("{lengths} {} {}", seen.lock().unwrap().len(), hits.load(Ordering::Relaxed));
}
