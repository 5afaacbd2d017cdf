//! Runs every program of `tests/programs` and `tests/libraries` under `deadheat check` and compares it with what its source says.
//!
//! Each program is a test of its own: it must report exactly the pairs of lines that are marked in it, print what its
//! native build prints, and, if it races, give the report that is kept beside it. The README there says how a program is
//! written. `DEADHEAT_RUNS` is how often each program is run, `DEADHEAT_FLAGS` are further flags for every compiler,
//! `DEADHEAT_BLESS` takes the present reports as the expected ones.

mod compare;
mod program;
mod run;

use libtest_mimic::{Arguments, Failed, Trial};
use program::{Language, Program};
use std::path::{Path, PathBuf};

fn main() {
    let arguments = Arguments::from_args();
    let trials = sources().iter().map(|source| trial(source)).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

/// The repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Every source, as a path below the repository.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for language in Language::ALL {
        let directory = Path::new("tests/programs").join(language.directory());
        found.extend(files(&directory, language.extension()));
        found.extend(files(Path::new("tests/libraries"), language.extension()));
    }
    // Not a program, but what some of them use.
    found.retain(|path| path.file_stem().is_some_and(|stem| stem != "opaque"));
    found.sort();
    found
}

/// The files in a directory with an extension.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(directory)).expect("the programs are there");
    entries
        .map(|entry| directory.join(entry.expect("the programs can be listed").file_name()))
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect()
}

fn trial(source: &Path) -> Trial {
    let text = std::fs::read_to_string(root().join(source)).expect("the program can be read");
    let name = source
        .strip_prefix("tests/programs")
        .or(source.strip_prefix("tests"))
        .unwrap_or(source)
        .with_extension("");
    let program = Program::parse(source, &text);
    let skipped = program
        .as_ref()
        .is_ok_and(|program| program.ignored || !program.can_run_here());
    Trial::test(name.display().to_string(), move || {
        compare::check(&program?).map_err(Failed::from)
    })
    .with_ignored_flag(skipped)
}
