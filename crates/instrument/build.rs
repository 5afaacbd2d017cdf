//! Links the LLVM that comes with the Rust toolchain, so that no other LLVM has to be installed.
//!
//! The directory is told to dependants as `DEP_DEADHEAT_LLVM_DIR`: link arguments of one package do not reach the
//! binaries of another, so each package that makes binaries with this crate puts
//! `cargo::rustc-link-arg=-Wl,-rpath,$DEP_DEADHEAT_LLVM_DIR` into its own build script.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

/// What `llvm-sys` was made for: the layout of the C interface, and the bitcode that can be read.
const MAJOR: &str = "22";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DEADHEAT_LLVM");
    println!("cargo::rerun-if-env-changed=RUSTC");
    let library = match find() {
        Ok(library) => library,
        Err(why) => {
            println!(
                "cargo::error={why}. deadheat links the LLVM {MAJOR} of the Rust toolchain; with a toolchain that has \
                 none of its own, set DEADHEAT_LLVM to the path of libLLVM.so.{MAJOR}"
            );
            exit(1);
        }
    };
    let dir = library.parent().expect("a file has a directory").display();
    let name = library.file_name().expect("a file has a name").display();
    println!("cargo::rerun-if-changed={}", library.display());
    println!("cargo::rustc-link-search=native={dir}");
    println!("cargo::rustc-link-lib=dylib:+verbatim={name}");
    println!("cargo::rustc-link-arg=-Wl,-rpath,{dir}");
    println!("cargo::metadata=DIR={dir}");
}

/// The path of the toolchain's `libLLVM.so.22…`.
fn find() -> Result<PathBuf, String> {
    if let Some(path) = env::var_os("DEADHEAT_LLVM") {
        let path = PathBuf::from(path);
        return match path.is_file() {
            true => Ok(path),
            false => Err(format!(
                "DEADHEAT_LLVM is {}, which is not a file",
                path.display()
            )),
        };
    }
    let rustc = env::var_os("RUSTC").ok_or("RUSTC is not set")?;
    let out = Command::new(&rustc)
        .args(["--print", "sysroot"])
        .output()
        .map_err(|e| format!("cannot run {}: {e}", rustc.display()))?;
    let sysroot = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    let dir = Path::new(&sysroot).join("lib");
    let entries = std::fs::read_dir(&dir).map_err(|e| format!("cannot read {}: {e}", dir.display()))?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&format!("libLLVM.so.{MAJOR}."))
        })
        .ok_or_else(|| format!("no libLLVM.so.{MAJOR}.* in {}", dir.display()))
}
