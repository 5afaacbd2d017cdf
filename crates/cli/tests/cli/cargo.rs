//! `cargo deadheat` on a workspace: what is instrumented, what is counted, how it ends.

use crate::harness::{Files, Ran, ran, root};
use crate::native::cache;
use std::path::Path;
use std::process::Command;

/// A library with a race, a program that uses it, a procedural macro, a build script, an example, tests, a doctest.
const WORKSPACE: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[workspace]\nresolver = \"2\"\nmembers = [\"app\", \"shared\", \"mac\"]\n\
         [profile.release]\nlto = true\nstrip = true\npanic = \"abort\"\n",
    ),
    (
        "mac/Cargo.toml",
        "[package]\nname = \"mac\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n",
    ),
    (
        "mac/src/lib.rs",
        "#[proc_macro]\npub fn forty(_: proc_macro::TokenStream) -> proc_macro::TokenStream { \"40\".parse().unwrap() }\n",
    ),
    (
        "shared/Cargo.toml",
        "[package]\nname = \"shared\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    ),
    (
        "shared/src/lib.rs",
        r#"
use std::cell::UnsafeCell;

pub struct Counter(UnsafeCell<u64>);
unsafe impl Sync for Counter {} // SAFETY: none. It is the race that is to be found.

impl Counter {
    pub const fn new() -> Counter {
        Counter(UnsafeCell::new(0))
    }

    fn bump(&self) {
        unsafe { *self.0.get() += 1 } // SAFETY: none, as above.
    }
}

/// ```
/// static COUNTER: shared::Counter = shared::Counter::new();
/// shared::race(&COUNTER);
/// ```
pub fn race(counter: &'static Counter) {
    let barrier = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                barrier.wait();
                counter.bump();
            });
        }
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn calm() {
        assert_eq!(1 + 1, 2);
    }

    #[test]
    fn racy() {
        static COUNTER: super::Counter = super::Counter::new();
        super::race(&COUNTER);
    }
}
"#,
    ),
    (
        "app/Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[features]\nracy = []\n\
         [dependencies]\nshared = { path = \"../shared\" }\nmac = { path = \"../mac\" }\n",
    ),
    (
        "app/build.rs",
        "fn main() { println!(\"cargo:rustc-env=FROM_BUILD=2\"); }\n",
    ),
    (
        "app/src/main.rs",
        r#"
static COUNTER: shared::Counter = shared::Counter::new();

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    println!("{} {} {arguments:?} {}", mac::forty!(), env!("FROM_BUILD"), cfg!(from_config));
    if cfg!(feature = "racy") {
        shared::race(&COUNTER);
    }
    std::process::exit(7);
}
"#,
    ),
    ("app/examples/calm.rs", "fn main() { println!(\"calm\"); }\n"),
    ("app/tests/calm.rs", "#[test]\nfn calm() {}\n"),
];

fn workspace() -> Files {
    let files = Files::new();
    for (name, contents) in WORKSPACE {
        let path = files.path(name);
        std::fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        files.file(name, contents);
    }
    files
}

/// Cargo finds `cargo-deadheat` beside the command under test.
pub fn cargo_command(directory: &Path, arguments: &[&str]) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_cargo-deadheat"));
    let mut path = vec![binary.parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let mut command = Command::new("cargo");
    command
        .arg("deadheat")
        .args(arguments)
        .current_dir(directory)
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("DEADHEAT_CACHE", cache());
    for name in [
        "DEADHEAT_OPTIONS",
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_TARGET_DIR",
        "CARGO",
        "RUSTC",
    ] {
        command.env_remove(name);
    }
    command
}

fn cargo(files: &Files, arguments: &[&str]) -> Ran {
    ran(&mut cargo_command(Path::new(&files.path("")), arguments))
}

#[test]
fn programs_run_as_cargo_runs_them_and_races_are_counted() {
    let files = workspace();
    let run = cargo(&files, &["run", "--package", "app", "--", "a", "b"]);
    assert_eq!(run.stdout, "40 2 [\"a\", \"b\"] false\n", "{}", run.stderr);
    assert_eq!(run.status, 7, "{}", run.stderr);
    assert_eq!(run.last_line(), "deadheat: no data races");

    let run = cargo(&files, &["run", "--package", "app", "--features", "racy"]);
    assert_eq!(run.status, 66, "{}", run.stderr);
    assert!(run.stderr.contains("shared/src/lib.rs:13:"), "{}", run.stderr);
    assert_eq!(run.last_line(), "deadheat: 1 data race");
    // The program's own reporter leaves that to the command.
    assert_eq!(
        run.stderr.matches("deadheat: 1 data race").count(),
        1,
        "{}",
        run.stderr
    );

    let run = cargo(&files, &["run", "--example", "calm"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "calm\n"), "{}", run.stderr);

    // Nothing is put where cargo's own builds go.
    let entries = std::fs::read_dir(files.path("target")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.retain(|name| name != "CACHEDIR.TAG" && name != ".rustc_info.json");
    assert_eq!(names, ["deadheat"]);
}

#[test]
fn a_release_build_with_its_own_ideas_still_has_lines() {
    let files = workspace();
    let run = cargo(
        &files,
        &["run", "--release", "--package", "app", "--features", "racy"],
    );
    assert_eq!(run.status, 66, "{}", run.stderr);
    assert!(run.stderr.contains("shared/src/lib.rs:13:"), "{}", run.stderr);
}

#[test]
fn tests_and_doctests_are_checked() {
    let files = workspace();
    let run = cargo(&files, &["test", "--workspace", "calm"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(run.last_line(), "deadheat: no data races");

    let output = files.path("races.json");
    let run = cargo(
        &files,
        &["--format", "json", "--output", &output, "test", "--no-fail-fast"],
    );
    assert_eq!(run.status, 66, "{}", run.stderr);
    // By themselves the tests pass; the program that ran them does not.
    assert!(run.stdout.contains("test tests::racy ... ok"), "{}", run.stdout);
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&output).unwrap()).unwrap();
    let count = report["summary"]["races"].as_u64().unwrap();
    assert_eq!(report["races"].as_array().unwrap().len() as u64, count);
    assert!(
        run.last_line()
            .starts_with(&format!("deadheat: {count} data race")),
        "{}",
        run.stderr
    );

    let run = cargo(&files, &["test", "--package", "shared", "--doc"]);
    assert_eq!(run.status, 66, "{}", run.stderr);
}

#[test]
fn flags_of_the_user_stay() {
    let files = workspace();
    std::fs::create_dir(files.path(".cargo")).unwrap();
    files.file(
        ".cargo/config.toml",
        "[build]\nrustflags = [\"--cfg\", \"from_config\"]\n",
    );
    let run = cargo(&files, &["run", "--package", "app", "--features", "racy"]);
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "40 2 [] true\n"),
        "{}",
        run.stderr
    );
    let run = ran(cargo_command(
        Path::new(&files.path("")),
        &["run", "--package", "app", "--features", "racy"],
    )
    .env("RUSTFLAGS", "--cfg other"));
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "40 2 [] false\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_runs_on_the_host_is_left_alone() {
    let files = workspace();
    assert_eq!(cargo(&files, &["build", "--workspace"]).status, 0);
    let host = Path::new(&files.path("target/deadheat/debug")).to_owned();
    let mut looked_at = 0;
    for directory in [host.join("deps"), host.join("build")] {
        for entry in walk(&directory) {
            let data = std::fs::read(&entry).unwrap();
            if data.starts_with(b"\x7fELF") {
                looked_at += 1;
                assert!(
                    !data.windows(14).any(|part| part == b"libdeadheat_rt"),
                    "{}",
                    entry.display()
                );
            }
        }
    }
    assert!(looked_at >= 2, "a build script and a macro");
}

fn walk(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}

#[test]
fn what_cannot_be_done_is_said() {
    let files = workspace();
    cargo(&files, &["build", "--target", "wasm32-unknown-unknown"])
        .fails_with(&["wasm32-unknown-unknown", "cannot be checked here"]);
    cargo(&files, &["publish"]).fails_with(&["publish", "build", "test", "nextest"]);
    cargo(&files, &["--suppressions", "/no/such/file", "test"]).fails_with(&["/no/such/file"]);
    files.file("app/src/main.rs", "fn main() {");
    let run = cargo(&files, &["build"]);
    assert_eq!(run.status, 101, "cargo's own: {}", run.stderr);
}

/// Crates that do hard things right, used hard. What they say of themselves is a race is reported, and nothing else.
#[test]
fn well_known_crates_have_no_races_but_those_they_speak_of() {
    // See docs/findings.md.
    const KNOWN: [&str; 2] = [
        "crossbeam_deque::deque::Buffer<T>::",
        "crossbeam_utils::atomic::atomic_cell::",
    ];
    let directory = root().join("tests/fixtures/crates");
    let files = Files::new();
    let output = files.path("races.json");
    let mut command = cargo_command(
        &directory,
        &[
            "--format",
            "json",
            "--output",
            &output,
            "test",
            "--locked",
            "--no-fail-fast",
        ],
    );
    command.env(
        "CARGO_TARGET_DIR",
        concat!(env!("CARGO_TARGET_TMPDIR"), "/crates"),
    );
    let run = ran(&mut command);
    let report = std::fs::read(&output).unwrap_or_else(|error| panic!("{error}: {}", run.stderr));
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    for race in report["races"].as_array().unwrap() {
        let functions: Vec<&str> = race["accesses"]
            .as_array()
            .unwrap()
            .iter()
            .map(innermost_of_program)
            .collect();
        assert!(
            KNOWN
                .iter()
                .any(|known| functions.iter().all(|function| function.starts_with(known))),
            "{race:#}"
        );
    }
    assert_eq!(
        run.stdout.matches("test result: ok").count(),
        14,
        "{}{}",
        run.stdout,
        run.stderr
    );
}

/// The innermost function of an access that is not std's.
fn innermost_of_program(access: &serde_json::Value) -> &str {
    let mut frames = access["frames"].as_array().unwrap().iter();
    let own = frames
        .find(|frame| frame["role"].is_null())
        .expect("a frame of the program's");
    own["function"].as_str().expect("a function with a name")
}
