//! Calls clang and rustc so that they leave the compiling to the linker, which is us.
//!
//! The bitcode they hand over has not been optimised: what the optimiser may do to a program under observation is for
//! `instrument` to say. At -O0 clang marks functions as not to be optimised, and they stay so.

use super::home::Home;
use super::shim::RECORD;
use anyhow::{Context, Result, bail};
use deadheat_instrument::driver::split_words;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// The newest bitcode that can be read, as a version of LLVM and of clang.
const NEWEST: u32 = 22;
/// Older clangs are not tried by name: their bitcode can be read, but nothing is tested with it.
const OLDEST: u32 = 14;

/// Languages that a source can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
    /// Rust.
    Rust,
}

impl Language {
    /// By the extension of the file.
    pub fn of(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "c" => Some(Language::C),
            "cc" | "cpp" | "cxx" | "C" | "c++" | "CPP" => Some(Language::Cpp),
            "rs" => Some(Language::Rust),
            _ => None,
        }
    }
}

/// The command that builds `source` into the program at `output`, to be recorded or to be checked.
pub fn command(
    language: Language,
    source: &Path,
    output: &Path,
    cflags: &[String],
    rustflags: &[String],
    home: &Home,
    record: bool,
) -> Result<Command> {
    let mut command = match language {
        Language::Rust => rustc(source, rustflags, home),
        Language::C | Language::Cpp => clang(language, source, cflags, home)?,
    };
    command.arg("-o").arg(output);
    command.env(RECORD, if record { "1" } else { "0" });
    Ok(command)
}

/// Builds `source` by a [`command`].
pub fn build(mut command: Command, source: &Path) -> Result<()> {
    let name = Path::new(command.get_program()).display().to_string();
    let status = command.status().with_context(|| format!("cannot run `{name}`"))?;
    if !status.success() {
        bail!("{} cannot be built: {name} failed", source.display());
    }
    Ok(())
}

/// Flags that make rustc leave the compiling to the linker.
pub fn rust_flags() -> Vec<String> {
    [
        "-Clinker-plugin-lto",
        "-Cno-prepopulate-passes",
        // Whatever the profile says: it would optimise before anything is instrumented.
        "-Clto=off",
        // Debug information belongs into the program: reports are made from it.
        "-Cdebuginfo=2",
        "-Csplit-debuginfo=off",
        "-Cstrip=none",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn rustc(source: &Path, flags: &[String], home: &Home) -> Command {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(program);
    let flags: Vec<OsString> = flags.iter().flat_map(|flags| split_words(flags)).collect();
    let edition = |flag: &OsString| flag.as_encoded_bytes().starts_with(b"--edition");
    if !flags.iter().any(edition) {
        command.args(["--edition", "2024"]);
    }
    command.args(rust_flags()).arg(source).args(flags);
    command.arg(linker_flag(&home.compiler_face()));
    command
}

/// Tells rustc which linker to use.
pub fn linker_flag(linker: &Path) -> OsString {
    let mut flag = OsString::from("-Clinker=");
    flag.push(linker);
    flag
}

fn clang(language: Language, source: &Path, flags: &[String], home: &Home) -> Result<Command> {
    let mut command = Command::new(find_clang()?);
    let flags: Vec<OsString> = flags.iter().flat_map(|flags| split_words(flags)).collect();
    if language == Language::Cpp {
        command.arg("--driver-mode=g++");
    }
    // The flags may name libraries, which must stand behind what needs them.
    command
        .args(["-g", "-O0", "-pthread"])
        .arg(source)
        .args(&flags)
        .arg("-flto");
    if is_optimised(&flags) {
        command.args(["-Xclang", "-disable-llvm-passes"]);
    }
    command.arg(ld_path(home));
    Ok(command)
}

/// Tells clang which linker to use.
pub fn ld_path(home: &Home) -> OsString {
    let mut flag = OsString::from("--ld-path=");
    flag.push(home.linker_face());
    flag
}

/// Whether the last level asked for is above 0.
fn is_optimised(flags: &[OsString]) -> bool {
    let mut levels = flags.iter().filter_map(|flag| flag.to_str()?.strip_prefix("-O"));
    levels.next_back().is_some_and(|level| level != "0")
}

/// The newest clang whose bitcode can be read.
pub fn find_clang() -> Result<OsString> {
    if let Some(named) = std::env::var_os("DEADHEAT_CLANG").filter(|value| !value.is_empty()) {
        return match version(&named) {
            Some(version) if version <= NEWEST => Ok(named),
            Some(version) => bail!(
                "DEADHEAT_CLANG names clang {version}, but LLVM {NEWEST} is the newest whose bitcode can be read"
            ),
            None => bail!(
                "DEADHEAT_CLANG names `{}`, which is no clang that runs here; {INSTALL}",
                Path::new(&named).display()
            ),
        };
    }
    let numbered = (OLDEST..=NEWEST).rev().map(|number| format!("clang-{number}"));
    let names = numbered.chain(["clang".to_owned()]).map(OsString::from);
    let readable = |name: &OsString| version(name).is_some_and(|version| version <= NEWEST);
    names
        .into_iter()
        .find(readable)
        .with_context(|| format!("C and C++ sources need clang (up to version {NEWEST}); {INSTALL}"))
}

const INSTALL: &str =
    "install the package clang-22 (`apt-get install clang-22`), or name one in DEADHEAT_CLANG";

/// The major version of the clang that `name` runs.
fn version(name: &OsStr) -> Option<u32> {
    let output = Command::new(name).arg("--version").output().ok()?;
    parse_version(std::str::from_utf8(&output.stdout).ok()?)
}

fn parse_version(text: &str) -> Option<u32> {
    let (_, rest) = text.lines().next()?.split_once("clang version ")?;
    rest.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_go_by_extension() {
        for (name, expect) in [
            ("a.c", Some(Language::C)),
            ("a.C", Some(Language::Cpp)),
            ("a.b.cc", Some(Language::Cpp)),
            ("a.rs", Some(Language::Rust)),
            ("a", None),
            ("a.o", None),
        ] {
            assert_eq!(Language::of(Path::new(name)), expect, "{name}");
        }
    }

    #[test]
    fn clang_says_its_version() {
        for (text, expect) in [
            ("Debian clang version 22.1.2 (1)\nTarget: x", Some(22)),
            ("clang version 14.0.6\n", Some(14)),
            ("gcc (Debian 12.2.0) 12.2.0", None),
            ("", None),
        ] {
            assert_eq!(parse_version(text), expect);
        }
    }

    #[test]
    fn the_last_level_decides() {
        for (flags, expect) in [
            (&[][..], false),
            (&["-O2"], true),
            (&["-O2", "-O0"], false),
            (&["-O0", "-Os"], true),
        ] {
            let flags: Vec<OsString> = flags.iter().map(OsString::from).collect();
            assert_eq!(is_optimised(&flags), expect, "{flags:?}");
        }
    }
}
