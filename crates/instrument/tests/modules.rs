//! Large modules: all of Rust's precompiled libraries, instrumented and compiled at the highest level (every test program in Rust has them at the
//! lowest). LLVM's verifier is asked after the pass, so an error of the pass shows here.

use deadheat_instrument::bitcode;
use deadheat_instrument::module::{Options, compile};
use object::read::archive::ArchiveFile;
use std::fs;
use std::num::NonZero;
use std::process::Command;
use std::sync::Mutex;

#[test]
fn rusts_libraries_can_be_instrumented() {
    let output = Command::new("rustc")
        .args(["--print", "target-libdir"])
        .output()
        .expect("rustc runs");
    let directory = String::from_utf8(output.stdout).expect("a path");
    let mut modules = Vec::new();
    for file in fs::read_dir(directory.trim()).expect("the toolchain's libraries") {
        let path = file.expect("a file of the toolchain").path();
        if path.extension().is_none_or(|extension| extension != "rlib") {
            continue;
        }
        let data = fs::read(&path).expect("a library");
        let archive = ArchiveFile::parse(&*data).expect("an archive");
        for member in archive.members() {
            let member = member.expect("a member");
            if let Some(found) = bitcode::find(member.data(&*data).expect("its data")) {
                let name = format!("{}({})", path.display(), String::from_utf8_lossy(member.name()));
                modules.push((name, found.bytes.to_vec()));
            }
        }
    }
    assert!(modules.len() > 10, "only {} modules", modules.len());
    // The largest first, so that no processor waits for one at the end.
    modules.sort_by_key(|(_, bytes)| std::cmp::Reverse(bytes.len()));
    let jobs = Mutex::new(modules.iter());
    let next = || jobs.lock().expect("nobody panics there").next();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                while let Some((name, bytes)) = next() {
                    let options = Options {
                        opt_level: 3,
                        cpu: "x86-64".into(),
                        pic: true,
                        ..Options::default()
                    };
                    compile(bytes, name, &options).unwrap_or_else(|error| panic!("{error}"));
                }
            });
        }
    });
}
