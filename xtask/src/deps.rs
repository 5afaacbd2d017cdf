//! The dependency rule: crates point one way, and take in from outside only what is listed here.
//!
//! ```text
//! event ◀── detect, trace, report ◀── cli
//! event, trace ◀── predict        ◀── cli
//! abi   ◀── instrument, report    ◀── cli
//! abi, event, detect ◀── runtime
//! ```

use anyhow::{Context, Result};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A crate, the crates of this workspace that it may use, and those from outside. Tests may use more (`DEV`).
struct Rule {
    name: &'static str,
    own: &'static [&'static str],
    outside: &'static [&'static str],
}

const RULES: &[Rule] = &[
    Rule {
        name: "deadheat-abi",
        own: &[],
        outside: &[],
    },
    Rule {
        name: "deadheat-instrument",
        own: &["deadheat-abi"],
        outside: &[
            "ar_archive_writer",
            "blake3",
            "cpp_demangle",
            "llvm-sys",
            "memmap2",
            "object",
            "rayon",
            "rustc-demangle",
            "tempfile",
        ],
    },
    Rule {
        name: "deadheat-runtime",
        own: &["deadheat-abi", "deadheat-detect", "deadheat-event"],
        outside: &["libc", "rustc-hash"],
    },
    Rule {
        name: "deadheat-event",
        own: &[],
        outside: &[],
    },
    Rule {
        name: "deadheat-detect",
        own: &["deadheat-event"],
        outside: &["hashbrown", "rustc-hash", "thin-vec"],
    },
    Rule {
        name: "deadheat-trace",
        own: &["deadheat-event"],
        outside: &["crc32fast", "memmap2", "proptest", "rustc-hash", "zstd"],
    },
    Rule {
        name: "deadheat-predict",
        own: &["deadheat-event", "deadheat-trace"],
        outside: &["batsat", "rustc-hash", "z3"],
    },
    Rule {
        name: "deadheat-report",
        own: &["deadheat-abi", "deadheat-event"],
        outside: &[
            "addr2line",
            "anstyle",
            "cpp_demangle",
            "crc32fast",
            "gimli",
            "memmap2",
            "object",
            "rustc-demangle",
            "rustc-hash",
            "serde",
            "serde_json",
        ],
    },
    Rule {
        name: "deadheat",
        own: &[
            "deadheat-event",
            "deadheat-detect",
            "deadheat-trace",
            "deadheat-predict",
            "deadheat-report",
            "deadheat-abi",
            "deadheat-instrument",
        ],
        outside: &[
            "anstyle",
            "anyhow",
            "clap",
            "indicatif",
            "mimalloc",
            "rustix",
            "serde",
            "serde_json",
            "signal-hook",
            "tempfile",
        ],
    },
    Rule {
        name: "xtask",
        own: &[],
        outside: &["anyhow", "serde_json"],
    },
];

/// What tests and benchmarks of any crate may use besides. Of this workspace: `detect` is compared with the reference
/// on traces that `trace` makes, and `predict` with the same reference.
const DEV: &[&str] = &[
    "divan",
    "insta",
    "libtest-mimic",
    "proptest",
    "serde_json",
    "tempfile",
    "deadheat-detect",
    "deadheat-event",
    "deadheat-trace",
];

/// All violations.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .context("cannot run cargo metadata")?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(violations(&metadata))
}

fn violations(metadata: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for package in list(&metadata["packages"]) {
        let name = text(&package["name"]);
        let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
            wrong.push(format!(
                "{name}: no dependency rule; add one to xtask/src/deps.rs and ARCHITECTURE.md"
            ));
            continue;
        };
        for dependency in list(&package["dependencies"]) {
            let used = text(&dependency["name"]);
            let dev = dependency["kind"] == "dev";
            if !rule.own.contains(&used)
                && !rule.outside.contains(&used)
                && !(dev && (DEV.contains(&used) || used == name))
            {
                let how = if dev { "in tests " } else { "" };
                wrong.push(format!(
                    "{name} must not use {used} {how}(xtask/src/deps.rs says what it may)"
                ));
            }
        }
    }
    wrong
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(name: &str, used: &str, kind: Option<&str>) -> usize {
        let dependency = json!({ "name": used, "kind": kind });
        violations(&json!({ "packages": [{ "name": name, "dependencies": [dependency] }] })).len()
    }

    #[test]
    fn dependencies_point_one_way() {
        assert_eq!(check("deadheat-detect", "deadheat-event", None), 0);
        assert_eq!(check("deadheat-event", "deadheat-detect", None), 1);
        assert_eq!(check("deadheat-detect", "deadheat-trace", None), 1);
        assert_eq!(check("deadheat-detect", "deadheat-trace", Some("dev")), 0);
        assert_eq!(check("deadheat-report", "deadheat-trace", Some("build")), 1);
    }

    #[test]
    fn outside_crates_and_new_crates_need_an_entry() {
        assert_eq!(check("deadheat-detect", "inkwell", None), 1);
        assert_eq!(check("deadheat-detect", "inkwell", Some("dev")), 1);
        assert_eq!(check("deadheat-new", "deadheat-event", None), 1);
    }
}
