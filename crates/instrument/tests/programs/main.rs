//! Small programs, instrumented and linked with a runtime that tells what it is asked (`mock.c`). What they must tell
//! stands in their sources, as `expect:` comments in the order of execution.
//!
//! The accesses are volatile or atomic where the optimiser could change them, so the expectations hold at every level.

use deadheat_instrument::module::{Options, Placement, compile};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest clang that makes bitcode that the toolchain's LLVM reads.
const CLANG: &str = "clang-22";

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Runs a command that must succeed, and gives what it printed.
fn run(command: &mut Command) -> String {
    let program = command.get_program().to_owned();
    let output = command.output().unwrap_or_else(|error| {
        panic!("cannot run {program:?}: {error}. These tests need {CLANG} (on Debian: apt install {CLANG})")
    });
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{told}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    told
}

/// Makes bitcode of a source file as the command-line tool does.
fn bitcode(source: &Path, flags: &[&str], level: u8, output: &Path) {
    if is_rust(source) {
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition=2024", "--crate-type=bin", "--emit=llvm-bc", "-g"]);
        rustc.args(["-Cpanic=abort", "-Cno-prepopulate-passes", "-Ccodegen-units=1"]);
        rustc.arg(format!("-Copt-level={level}"));
        run(rustc.args(flags).arg(source).arg("-o").arg(output));
    } else {
        let mut clang = Command::new(CLANG);
        clang.args(["-g", "-c", "-flto", "-Xclang", "-disable-llvm-passes"]);
        clang.arg(format!("-O{level}"));
        run(clang.args(flags).arg(source).arg("-o").arg(output));
    }
}

/// Whether a source is in Rust.
fn is_rust(source: &Path) -> bool {
    source.extension().is_some_and(|extension| extension == "rs")
}

/// The compiled `core`, for what a Rust program of a single module still calls of it.
fn core_library() -> Vec<PathBuf> {
    let directory = run(Command::new("rustc").args(["--print", "target-libdir"]));
    let files = fs::read_dir(directory.trim()).expect("the toolchain's libraries");
    let paths = files.map(|file| file.expect("a file of the toolchain").path());
    let is_core = |path: &PathBuf| {
        let name = path.file_name().expect("a file has a name").to_string_lossy();
        name.ends_with(".rlib") && (name.starts_with("libcore-") || name.starts_with("libcompiler_builtins-"))
    };
    paths.filter(is_core).collect()
}

/// Checks a program of `sources/` at all levels.
fn check(name: &str) {
    check_with(name, &[], |line| line.to_owned());
}

/// The same with flags for the compiler, and with something done to every line that the program tells.
fn check_with(name: &str, flags: &[&str], normalise: impl Fn(&str) -> String) {
    let source = sources().join("sources").join(name);
    let text = fs::read_to_string(&source).expect("the source is there");
    let expected: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once("// expect: "))
        .map(|(_, expectation)| expectation)
        .collect();
    assert!(!expected.is_empty(), "{name} expects nothing");
    let work = tempfile::tempdir().expect("a temporary directory");
    let at = |file: &str| work.path().join(file);
    run(Command::new(CLANG)
        .args(["-O1", "-g", "-c"])
        .arg(sources().join("mock.c"))
        .arg("-o")
        .arg(at("mock.o")));
    let libraries = if is_rust(&source) {
        core_library()
    } else {
        Vec::new()
    };
    for level in 0..=3 {
        // Once without position-independent code.
        for pic in [true, false].into_iter().take(if level == 2 { 2 } else { 1 }) {
            bitcode(&source, flags, level, &at("program.bc"));
            let options = Options {
                opt_level: level,
                cpu: "x86-64".into(),
                pic,
                // Here it is about the check of each access.
                placement: Placement::Off,
                ..Options::default()
            };
            let module = fs::read(at("program.bc")).expect("bitcode");
            let object = compile(&module, name, &options).unwrap_or_else(|error| panic!("{error}"));
            fs::write(at("program.o"), object).expect("a file in the temporary directory");
            run(Command::new(CLANG)
                .arg(if pic { "-pie" } else { "-no-pie" })
                .args([at("program.o"), at("mock.o")])
                .args(&libraries)
                .args(["-lstdc++", "-Wl,--gc-sections", "-o"])
                .arg(at("program")));
            let told = run(&mut Command::new(at("program")));
            let told: Vec<String> = told.lines().map(&normalise).collect();
            assert_eq!(told, expected, "{name} at level {level}, pic {pic}");
        }
    }
}

#[test]
fn assembly_that_cannot_be_assembled_is_an_error_with_the_name_of_the_module() {
    let work = tempfile::tempdir().expect("a temporary directory");
    let source = work.path().join("bad.c");
    fs::write(&source, "int main(void) { __asm__(\"no_such_instruction\"); }").expect("a file");
    bitcode(&source, &[], 2, &work.path().join("bad.bc"));
    let module = fs::read(work.path().join("bad.bc")).expect("bitcode");
    let options = Options {
        opt_level: 2,
        cpu: "x86-64".into(),
        pic: true,
        ..Options::default()
    };
    let error = compile(&module, "bad.o", &options).expect_err("no such instruction");
    let error = error.to_string();
    assert!(
        error.starts_with("bad.o: ") && error.contains("no_such_instruction"),
        "{error}"
    );
}

#[test]
fn plain_accesses() {
    check("plain.c");
}

#[test]
fn inline_tests_ask_when_they_should_and_only_then() {
    check("decisions.c");
}

#[test]
fn masked_accesses() {
    check("masked.c");
}

#[test]
fn atomics() {
    check("atomic.c");
}

#[test]
fn contexts_and_stacks() {
    check("stacks.c");
}

#[test]
fn contexts_and_exceptions() {
    check("throws.cc");
}

#[test]
fn known_functions() {
    check("known.c");
}

/// "read4 8" and "read_range 8 4" both as "read 8 4".
fn extent(line: &str) -> String {
    let mut words = line.split(' ');
    let (hook, at, len) = (words.next().unwrap_or_default(), words.next(), words.next());
    let kind = hook.trim_end_matches("_range").trim_end_matches(char::is_numeric);
    let len = len.unwrap_or(&hook[kind.len()..]);
    format!("{kind} {} {len}", at.unwrap_or_default())
}

#[test]
fn what_is_not_read_is_not_checked() {
    check_with("unread.c", &[], extent);
    if is_x86_feature_detected!("avx2") {
        check_with("unread.c", &["-mavx2"], extent);
    } else {
        eprintln!("this processor has no AVX2: masked loads were not run");
    }
}

#[test]
fn accesses_by_intrinsics_of_the_processor() {
    assert!(
        is_x86_feature_detected!("avx2"),
        "this test needs a processor with AVX2"
    );
    check_with("intrinsics.c", &["-mavx2"], extent);
}

#[test]
fn rust() {
    check("core.rs");
}
