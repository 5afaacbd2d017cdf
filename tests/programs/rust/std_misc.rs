//! Parts of std with statics of their own: the environment, printing, formatting, time, files, child processes.

use std::io::Write;
use std::process::Command;
use std::thread;

fn main() {
    let lengths: Vec<usize> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|n| {
                scope.spawn(move || {
                    let mut sum = 0;
                    for i in 0..20 {
                        sum += std::env::var("PATH").is_ok() as usize;
                        sum += format!("{:>10.3}", f64::from(i) / 3.0).len();
                        std::io::stderr().lock().flush().unwrap();
                        sum += usize::from(std::time::Instant::now().elapsed().as_secs() == 0);
                        sum += usize::from(std::env::current_dir().is_ok());
                    }
                    let output = Command::new("/bin/sh").args(["-c", "echo out"]).output().unwrap();
                    sum + output.stdout.len() + n
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    println!("{lengths:?}");
}
