//! Builds the runtime and leaves it where `include_bytes!` finds it, and lets the command find LLVM.
//!
//! The runtime is a shared library with a profile of its own, which a dependency cannot have: cargo is called again, with
//! a target directory of its own, so that the two do not wait for each other.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, exit};

/// What the runtime is made of, as directories beside this one.
const SOURCES: &[&str] = &["runtime", "detect", "event", "abi"];

/// Settings for the outer build that must not reach the inner one: flags, wrappers such as clippy's, where to put things.
const CLEARED: &[&str] = &[
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_TARGET_DIR",
    "CLIPPY_ARGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
];

fn main() {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    println!("cargo::rerun-if-changed=build.rs");
    for source in SOURCES {
        for part in ["src", "Cargo.toml"] {
            println!(
                "cargo::rerun-if-changed={}",
                here.join("..").join(source).join(part).display()
            );
        }
    }
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    println!("cargo::rerun-if-changed=../../Cargo.toml");
    if let Some(directory) = env::var_os("DEP_DEADHEAT_LLVM_DIR") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", directory.display());
    }
    runtime(&here);
}

fn runtime(here: &Path) {
    let out = PathBuf::from(variable("OUT_DIR"));
    let target = variable("TARGET");
    // What is needed was most likely fetched with the rest, and then there is no need to ask the network.
    let mut output = cargo(here, &out, &target, &["--offline"]);
    if !output.status.success() {
        output = cargo(here, &out, &target, &[]);
    }
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        for line in text.lines() {
            println!("cargo::warning={line}");
        }
        println!("cargo::error=the runtime (crate deadheat-runtime) cannot be built, see above");
        exit(1);
    }
    let made = out
        .join("rt")
        .join(&target)
        .join("runtime/libdeadheat_runtime.so");
    let place = out.join("libdeadheat_rt.so");
    // Not through a hard link, which copies of a target directory may share.
    let _ = std::fs::remove_file(&place);
    let copied = std::fs::copy(&made, place);
    if let Err(error) = copied {
        println!("cargo::error={}: {error}", made.display());
        exit(1);
    }
}

fn cargo(here: &Path, out: &Path, target: &str, more: &[&str]) -> Output {
    let mut command = Command::new(variable("CARGO"));
    command
        .args([
            "build",
            "--package",
            "deadheat-runtime",
            "--profile",
            "runtime",
            "--lib",
        ])
        .args(["--target", target])
        .arg("--target-dir")
        .arg(out.join("rt"))
        .args(more)
        .current_dir(here);
    for name in CLEARED {
        command.env_remove(name);
    }
    // What cargo says about this package to its build script is not about the other one.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PKG_", "DEP_"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
            || text.ends_with("_RUSTFLAGS")
        {
            command.env_remove(&name);
        }
    }
    match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("cargo::error=cannot run cargo for the runtime: {error}");
            exit(1);
        }
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| {
        println!("cargo::error={name} is not set or not UTF-8");
        exit(1);
    })
}
