//! A file that many threads read and write at once, through one handle; a writer behind a lock, flushed by whoever is last.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let path = std::env::temp_dir().join(format!("deadheat-file-shared-{}", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
    let shared = Arc::new(file);
    let lines = Arc::new(Mutex::new(BufWriter::new(File::create(path.with_extension("log")).unwrap())));
    let threads: Vec<_> = (0..4_u64)
        .map(|n| {
            let (shared, lines) = (Arc::clone(&shared), Arc::clone(&lines));
            thread::spawn(move || {
                let mut block = [b'a' + n as u8; 64];
                for i in 0..8 {
                    shared.write_all_at(&block, (i * 4 + n) * 64).unwrap();
                    shared.read_exact_at(&mut block, n * 64).unwrap();
                    writeln!(lines.lock().unwrap(), "line of {n}").unwrap();
                }
            })
        })
        .collect();
    drop(lines);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let mut text = String::new();
    (&*shared).seek(SeekFrom::Start(0)).unwrap();
    (&*shared).read_to_string(&mut text).unwrap();
    let log = fs::read_to_string(path.with_extension("log")).unwrap();
    fs::remove_file(&path).unwrap();
    fs::remove_file(path.with_extension("log")).unwrap();
    println!("{} {} {}", text.len(), &text[60..68], log.lines().count());
}
