//! Large modules: all of Rust's precompiled libraries, instrumented and compiled at several levels. LLVM's verifier is
//! asked after the pass, so an error of the pass shows here.

use deadheat_instrument::bitcode;
use deadheat_instrument::module::{Options, compile};
use object::read::archive::ArchiveFile;
use std::fs;
use std::process::Command;

#[test]
fn rusts_libraries_can_be_instrumented() {
    let output = Command::new("rustc")
        .args(["--print", "target-libdir"])
        .output()
        .expect("rustc runs");
    let directory = String::from_utf8(output.stdout).expect("a path");
    let mut modules = 0;
    for file in fs::read_dir(directory.trim()).expect("the toolchain's libraries") {
        let path = file.expect("a file of the toolchain").path();
        if path.extension().is_none_or(|extension| extension != "rlib") {
            continue;
        }
        let data = fs::read(&path).expect("a library");
        let archive = ArchiveFile::parse(&*data).expect("an archive");
        for member in archive.members() {
            let member = member.expect("a member");
            let Some(found) = bitcode::find(member.data(&*data).expect("its data")) else {
                continue;
            };
            let name = format!("{}({})", path.display(), String::from_utf8_lossy(member.name()));
            std::thread::scope(|scope| {
                for opt_level in [0, 3] {
                    let options = Options {
                        opt_level,
                        cpu: "x86-64".into(),
                        pic: true,
                        ..Options::default()
                    };
                    let name = &name;
                    scope.spawn(move || {
                        compile(found.bytes, name, &options).unwrap_or_else(|error| panic!("{error}"))
                    });
                }
            });
            modules += 1;
        }
    }
    assert!(modules > 10, "only {modules} modules");
}
