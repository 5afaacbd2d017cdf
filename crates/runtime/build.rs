//! Exports the thread-local variable that instrumented code reads.
//!
//! rustc exports what is `#[no_mangle]`; a thread-local variable written in assembly it does not know. A second version
//! script adds it. (The toolchain's linker, lld, unites version scripts.)

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let Some(out) = env::var_os("OUT_DIR") else { return };
    let script = PathBuf::from(out).join("exports.ver");
    if fs::write(&script, "{ global: __deadheat_tls; };\n").is_ok() {
        println!(
            "cargo:rustc-cdylib-link-arg=-Wl,--version-script={}",
            script.display()
        );
    }
}
