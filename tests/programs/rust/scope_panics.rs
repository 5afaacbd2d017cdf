//! A scope whose threads panic waits for all of them, and what they did is there for whoever catches the scope's own panic.

use std::panic::{self, AssertUnwindSafe};
use std::thread;

struct Note<'a>(&'a mut Vec<u32>);

impl Drop for Note<'_> {
    fn drop(&mut self) {
        self.0.push(9);
    }
}

fn main() {
    panic::set_hook(Box::new(|_| ()));
    let mut notes = vec![Vec::new(); 4];
    let mut caught = 0;
    for round in 0..20 {
        let result = panic::catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|scope| {
                let mut handles = Vec::new();
                for (n, note) in notes.iter_mut().enumerate() {
                    handles.push(scope.spawn(move || {
                        let note = Note(note);
                        note.0.push(round);
                        if n % 2 == 0 {
                            panic::panic_any(vec![n; 3]);
                        }
                        note.0.len()
                    }));
                }
                if round % 2 == 0 {
                    // Joined: the panic goes to the handle, not to the scope.
                    for handle in handles {
                        match handle.join() {
                            Ok(length) => caught += length,
                            Err(payload) => caught += payload.downcast::<Vec<usize>>().unwrap().len(),
                        }
                    }
                }
            });
        }));
        caught += usize::from(result.is_err());
    }
    println!("{caught} {:?}", notes.iter().map(Vec::len).collect::<Vec<_>>());
}
