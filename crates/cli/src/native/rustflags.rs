//! The user's own flags for rustc, and ours behind them.
//!
//! Cargo takes flags from one of: the environment (`CARGO_ENCODED_RUSTFLAGS`, then `RUSTFLAGS`), `target.*.rustflags` of
//! its configuration, `build.rustflags`. Ours go to where the user's come from, so that both count. Into `target.*` cargo
//! joins them by itself.

use super::compilers;
use super::home::Home;
use anyhow::Result;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// Separates flags in cargo's encoded variables.
const SEPARATOR: &str = "\x1f";

/// The user's flags for rustc and rustdoc, and the user's linker.
#[derive(Debug, Default)]
pub struct Flags {
    rustc: Source,
    rustdoc: Source,
    linker: Option<OsString>,
}

/// Where flags come from.
#[derive(Debug, PartialEq, Eq)]
enum Source {
    /// The environment: cargo looks nowhere else.
    Environment(Vec<String>),
    /// The configuration; these are not yet where cargo joins them with ours.
    Config(Vec<String>),
}

impl Default for Source {
    fn default() -> Source {
        Source::Config(Vec::new())
    }
}

impl Flags {
    /// Finds the user's flags for programs of `target`.
    pub fn of_user(target: &str) -> Result<Flags> {
        let config = Config {
            target: config("target"),
            build: config("build"),
        };
        let variable = |name: &str| std::env::var(name).ok();
        let mut flags = Flags {
            rustc: source(
                &config,
                "rustflags",
                variable,
                ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"],
            ),
            rustdoc: source(
                &config,
                "rustdocflags",
                variable,
                ["CARGO_ENCODED_RUSTDOCFLAGS", "RUSTDOCFLAGS"],
            ),
            linker: None,
        };
        let name = target.to_uppercase().replace(['-', '.'], "_");
        flags.linker = std::env::var_os("DEADHEAT_CC")
            .or_else(|| flags.rustc.linker())
            .or_else(|| std::env::var_os(format!("CARGO_TARGET_{name}_LINKER")))
            .or_else(|| config.target[target]["linker"].as_str().map(OsString::from));
        Ok(flags)
    }

    /// Has `command`, a cargo, build programs for `target` that are instrumented.
    pub fn apply(&self, command: &mut Command, target: &str, home: &Home) {
        let linker = compilers::linker_flag(&home.compiler_face());
        let ours: Vec<String> = compilers::rust_flags()
            .into_iter()
            .chain([linker.to_string_lossy().into_owned()])
            .collect();
        let places = [
            (&self.rustc, "rustflags", "CARGO_ENCODED_RUSTFLAGS"),
            (&self.rustdoc, "rustdocflags", "CARGO_ENCODED_RUSTDOCFLAGS"),
        ];
        for (source, name, variable) in places {
            match source {
                Source::Environment(theirs) => {
                    let all: Vec<&str> = theirs.iter().chain(&ours).map(String::as_str).collect();
                    command.env(variable, all.join(SEPARATOR));
                }
                Source::Config(theirs) => {
                    let all: Vec<&String> = theirs.iter().chain(&ours).collect();
                    // A JSON list of strings is one in TOML as well.
                    let list = serde_json::json!(all);
                    command
                        .arg("--config")
                        .arg(format!("target.{target}.{name}={list}"));
                }
            }
        }
        if let Some(linker) = &self.linker {
            command.env("DEADHEAT_CC", linker);
        }
    }
}

impl Source {
    /// The last linker that is named in the flags.
    fn linker(&self) -> Option<OsString> {
        let (Source::Environment(flags) | Source::Config(flags)) = self;
        let joined = flags.iter().map(String::as_str).zip(flags.iter().skip(1));
        let apart = joined.filter_map(|(flag, value)| (flag == "-C").then_some(value.as_str()));
        let together = flags.iter().filter_map(|flag| flag.strip_prefix("-C"));
        let mut linker = apart
            .chain(together)
            .filter_map(|value| value.strip_prefix("linker="));
        linker.next_back().map(OsString::from)
    }
}

/// Parts of cargo's configuration.
struct Config {
    target: Value,
    build: Value,
}

fn source(
    config: &Config,
    name: &str,
    variable: impl Fn(&str) -> Option<String>,
    [encoded, plain]: [&str; 2],
) -> Source {
    if let Some(text) = variable(encoded) {
        let flags = text.split(SEPARATOR).filter(|flag| !flag.is_empty());
        return Source::Environment(flags.map(str::to_owned).collect());
    }
    if let Some(text) = variable(plain) {
        return Source::Environment(text.split_whitespace().map(str::to_owned).collect());
    }
    let of_targets = config.target.as_object().into_iter().flatten();
    if of_targets
        .map(|(_, settings)| &settings[name])
        .any(|flags| !flags.is_null())
    {
        return Source::default();
    }
    Source::Config(list(&config.build[name]))
}

/// Flags in the configuration: a list, or text with spaces.
fn list(flags: &Value) -> Vec<String> {
    match flags {
        Value::Array(flags) => flags
            .iter()
            .filter_map(|flag| flag.as_str())
            .map(str::to_owned)
            .collect(),
        Value::String(flags) => flags.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// A part of cargo's configuration, from all its files and the environment; null if there is none, or if this cargo
/// cannot tell. Asking is not stable yet; the variable is only for the question.
fn config(key: &str) -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsStr::new("cargo").to_owned());
    let output = Command::new(Path::new(&cargo))
        .args([
            "-Zunstable-options",
            "config",
            "get",
            "--format",
            "json-value",
            key,
        ])
        .env("RUSTC_BOOTSTRAP", "1")
        .output();
    output
        .ok()
        .and_then(|output| serde_json::from_slice(&output.stdout).ok())
        .unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn find(target: Value, build: Value, environment: &[(&str, &str)]) -> Source {
        let variable = |name: &str| {
            let found = environment.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        source(
            &Config { target, build },
            "rustflags",
            variable,
            ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"],
        )
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn flags_come_from_one_place_as_cargo_has_it() {
        let build = json!({ "rustflags": ["--cfg", "b"] });
        let target = json!({ "cfg(unix)": { "rustflags": "--cfg t" }, "x": { "linker": "l" } });
        let encoded = ("CARGO_ENCODED_RUSTFLAGS", "--cfg\x1fa b");
        let plain = ("RUSTFLAGS", "--cfg p");
        let all = find(target.clone(), build.clone(), &[plain, encoded]);
        assert_eq!(all, Source::Environment(vec!["--cfg".into(), "a b".into()]));
        let variable = find(target.clone(), build.clone(), &[plain]);
        assert_eq!(variable, Source::Environment(words("--cfg p")));
        // Cargo joins them itself.
        assert_eq!(find(target, build.clone(), &[]), Source::Config(vec![]));
        let no_flags = json!({ "x": { "linker": "l" } });
        assert_eq!(find(no_flags, build, &[]), Source::Config(words("--cfg b")));
        assert_eq!(find(Value::Null, Value::Null, &[]), Source::Config(vec![]));
    }

    #[test]
    fn the_users_linker_is_found_among_flags() {
        for (flags, expect) in [
            ("-C linker=a", Some("a")),
            ("-Clinker=b --cfg x", Some("b")),
            ("-C opt-level=2 --cfg linker=c", None),
            ("", None),
        ] {
            let linker = Source::Environment(words(flags)).linker();
            assert_eq!(linker.as_deref(), expect.map(OsStr::new), "{flags}");
        }
    }
}
