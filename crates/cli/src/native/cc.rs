//! `deadheat cc` and `deadheat c++`: clang, for projects that build themselves (`CC="deadheat cc"`).
//!
//! An object is an ordinary one, so that archivers, `nm` and configure scripts find what they expect, and has its bitcode
//! in a section. A link goes through this command under its name as a linker, which instruments that bitcode.

use super::compilers::{self, Language};
use super::home::Home;
use super::run;
use anyhow::{Context, Result, bail};
use deadheat_instrument::bitcode;
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What the user's own words mean for ours.
#[derive(Debug, Default, PartialEq, Eq)]
struct Line {
    /// The words for clang: the user's, but for those that choose when to compile and how to link.
    words: Vec<OsString>,
    /// The linker that the user asked for.
    linker: Option<OsString>,
    debug: bool,
    optimised: bool,
    /// Objects that will be written, if nothing is linked.
    objects: Vec<PathBuf>,
}

/// Sanitizers that keep a shadow of memory or a heap of their own.
const CONFLICTING: &[&str] = &[
    "thread",
    "address",
    "hwaddress",
    "kernel-address",
    "memory",
    "leak",
    "dataflow",
];

/// Options whose next word is not a file to be compiled.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-I",
    "-L",
    "-D",
    "-U",
    "-x",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-T",
    "-u",
    "-z",
    "-arch",
    "-target",
];

/// Runs clang with these arguments.
pub fn run(language: Language, arguments: Vec<OsString>) -> Result<ExitCode> {
    let line = Line::read(arguments)?;
    let home = Home::open()?;
    let mut command = Command::new(compilers::find_clang()?);
    if language == Language::Cpp {
        command.arg("--driver-mode=g++");
    }
    // In front of the user's, which may say otherwise; and silent where there is nothing to compile or to link.
    // Not the option of the driver, which does not go with some others.
    command.args(["--start-no-unused-arguments", "-Xclang", "-fembed-bitcode=all"]);
    if !line.debug {
        command.arg("-g");
    }
    if line.optimised {
        command.args(["-Xclang", "-disable-llvm-passes"]);
    }
    command
        .arg(compilers::ld_path(&home))
        .arg("--end-no-unused-arguments");
    if let Some(linker) = &line.linker {
        command.env("DEADHEAT_LD", linker);
    }
    command.args(&line.words);
    let end = run::attended(&mut command)?;
    for object in &line.objects {
        hide_bitcode(object).with_context(|| format!("cannot finish {}", object.display()))?;
    }
    Ok(ExitCode::from(end.status()))
}

/// Gives the section with the bitcode another name, see [`bitcode::name_to_hide`].
fn hide_bitcode(object: &Path) -> std::io::Result<()> {
    let Ok(data) = fs::read(object) else {
        // Not written, or not where it was expected.
        return Ok(());
    };
    match bitcode::name_to_hide(&data) {
        Some((at, name)) => OpenOptions::new()
            .write(true)
            .open(object)?
            .write_all_at(name, at),
        None => Ok(()),
    }
}

impl Line {
    fn read(arguments: Vec<OsString>) -> Result<Line> {
        let mut line = Line::default();
        let (mut compiles, mut output, mut sources) = (false, None, Vec::new());
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            // Names that are not UTF-8 are files.
            let text = argument.to_str().unwrap_or_default();
            if let Some(list) = text.strip_prefix("-fsanitize=") {
                if let Some(name) = list.split(',').find(|name| CONFLICTING.contains(name)) {
                    bail!(
                        "-fsanitize={name} and deadheat cannot both watch the same memory; build without it, or apart for each"
                    );
                }
            } else if text == "-flto" || text.starts_with("-flto=") || text == "-fwhole-program-vtables" {
                // All is compiled when it is linked anyway.
                continue;
            } else if let Some(path) = text.strip_prefix("--ld-path=") {
                line.linker = Some(path.into());
                continue;
            } else if let Some(name) = text.strip_prefix("-fuse-ld=") {
                line.linker = Some(if name.contains('/') {
                    name.into()
                } else {
                    format!("ld.{name}").into()
                });
                continue;
            } else if let Some(level) = text.strip_prefix("-O") {
                line.optimised = level != "0";
            } else if text.starts_with("-g") && !text.starts_with("-gcc") {
                line.debug = text != "-g0";
            } else if matches!(text, "-c" | "-E" | "-S" | "-M" | "-MM" | "-fsyntax-only") {
                compiles = text == "-c";
            } else if WITH_VALUE.contains(&text) {
                let value = arguments.next();
                if text == "-o" {
                    output = value.clone();
                }
                line.words.push(argument);
                line.words.extend(value);
                continue;
            } else if !text.starts_with('-') {
                sources.push(PathBuf::from(&argument));
            }
            line.words.push(argument);
        }
        if compiles {
            line.objects = match output {
                Some(output) => vec![output.into()],
                None => sources
                    .iter()
                    .filter_map(|source| default_object(source))
                    .collect(),
            };
        }
        Ok(line)
    }
}

/// The object that a source is compiled to if nothing is said.
fn default_object(source: &Path) -> Option<PathBuf> {
    Some(Path::new(source.file_name()?).with_extension(OsStr::new("o")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Line> {
        Line::read(text.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn what_is_written_is_known() {
        for (text, expect) in [
            ("-c a.c", &["a.o"][..]),
            ("-c src/a.c -I include b.cc", &["a.o", "b.o"]),
            ("-c a.c -o out/x.o", &["out/x.o"]),
            ("a.c -o a", &[]),
            ("-E a.c -o a.i", &[]),
        ] {
            let objects = read(text).unwrap().objects;
            assert_eq!(
                objects,
                expect.iter().map(PathBuf::from).collect::<Vec<_>>(),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_ours_to_say_is_taken_out() {
        let line = read("-O2 -flto=thin -fuse-ld=lld -g1 a.o -o a -Wl,-O1").unwrap();
        assert_eq!(line.words, ["-O2", "-g1", "a.o", "-o", "a", "-Wl,-O1"]);
        assert_eq!(
            (line.linker, line.debug, line.optimised),
            (Some("ld.lld".into()), true, true)
        );
        let line = read("-O3 -O0 -g0 a.c").unwrap();
        assert!(!line.debug && !line.optimised);
    }

    #[test]
    fn sanitizers_that_get_in_the_way_are_refused() {
        for text in ["-fsanitize=thread a.c", "-fsanitize=undefined,address a.c"] {
            assert!(
                read(text).unwrap_err().to_string().contains("-fsanitize="),
                "{text}"
            );
        }
        assert!(read("-fsanitize=undefined a.c").is_ok());
    }
}
