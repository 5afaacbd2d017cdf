//! Children fed by one thread and read by another; their ends waited for in a third.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

fn main() {
    let results: Vec<(usize, usize, Option<i32>)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|n| {
                scope.spawn(move || {
                    let mut child = Command::new("/bin/sh")
                        .args(["-c", "cat; echo problem >&2; exit $STATUS"])
                        .env("STATUS", n.to_string())
                        .stdin(Stdio::piped())
                        .stdout(Stdio::piped())
                        .stderr(Stdio::piped())
                        .spawn()
                        .unwrap();
                    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
                    let mut errors = child.stderr.take().unwrap();
                    let fed = thread::spawn(move || (0..50).for_each(|i| writeln!(input, "line {i}").unwrap()));
                    let read = thread::spawn(move || BufReader::new(output).lines().map(|line| line.unwrap().len()).sum());
                    let mut text = String::new();
                    errors.read_to_string(&mut text).unwrap();
                    let waited = thread::spawn(move || child.wait().unwrap().code());
                    fed.join().unwrap();
                    (read.join().unwrap(), text.len(), waited.join().unwrap())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    println!("{results:?}");
}
