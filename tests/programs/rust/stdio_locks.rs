//! The locks of the standard streams are locks like others: held, they protect what is done meanwhile. They can be taken again.

use std::io::{BufRead, Write};
use std::thread;

static mut LINES: usize = 0;
static mut ERRORS: usize = 0;
static mut READ: usize = 0;

fn main() {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for i in 0..20 {
                    let mut out = std::io::stdout().lock();
                    // SAFETY: under the lock of the stream.
                    unsafe { LINES += 1 };
                    println!("{}", i * 0);
                    writeln!(out, "line").unwrap();
                    out.flush().unwrap();
                    drop(out);
                    let errors = std::io::stderr().lock();
                    // SAFETY: under the lock of the stream.
                    unsafe { ERRORS += 1 };
                    eprint!("");
                    drop(errors);
                    let mut input = std::io::stdin().lock();
                    // SAFETY: under the lock of the stream.
                    unsafe { READ += input.fill_buf().unwrap().len() + 1 };
                }
            });
        }
    });
    // SAFETY: the threads are done.
    println!("{} {} {}", unsafe { LINES }, unsafe { ERRORS }, unsafe { READ });
}
