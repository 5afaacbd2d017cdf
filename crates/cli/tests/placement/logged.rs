//! Programs that log their accesses and their checks, and what [`verify`] says of the logs.

use crate::generate;
use crate::generated::{cache, scenarios, seeds};
use crate::harness::{Files, command, ran, root};
use crate::verify::{self, Seen};
use std::path::Path;
use std::process::Command;

const LEVELS: &[&str] = &["-O0", "-O2"];
const PLACEMENTS: &[&str] = &["redundant", "full"];

/// Builds a program so that it logs, runs it, and verifies what it logged. How many threads have logged something.
fn verify(
    source: &str,
    flags: &str,
    arguments: &[&str],
    placement: &str,
    seen: &mut Seen,
) -> Result<usize, String> {
    let files = Files::new();
    let (library, logs) = (files.path("liblog.so"), files.path("logs"));
    std::fs::create_dir(&logs).expect("a directory can be made");
    let made = Command::new("cc")
        .args(["-O2", "-shared", "-fPIC", "-pthread", "-o", &library])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/placement/log.c"))
        .status();
    assert!(made.is_ok_and(|status| status.success()), "log.c can be compiled");
    let flags = format!("{flags} -w {library} -Wl,-rpath,{}", files.path(""));
    let mut command = command(&["check", "--placement", placement, "--cflags", &flags, source]);
    if !arguments.is_empty() {
        command.arg("--").args(arguments);
    }
    let ran = ran(command
        .env("DEADHEAT_CACHE", cache())
        .env("DEADHEAT_LOG", "1")
        .env("DEADHEAT_LOG_TO", &logs)
        .env_remove("DEADHEAT_OPTIONS")
        .env_remove("DEADHEAT_PLACEMENT"));
    let log =
        |entry: std::io::Result<std::fs::DirEntry>| verify::read(&entry.expect("they can be listed").path());
    let logs: Vec<Vec<verify::Event>> = std::fs::read_dir(&logs)
        .expect("the logs are there")
        .map(log)
        .collect();
    assert!(ran.stderr.contains("data race"), "{source}: {}", ran.stderr);
    let right = logs
        .iter()
        .try_for_each(|events| verify::verify(events, seen))
        .and_then(|()| verify::unshared(&logs, seen));
    right
        .map(|()| logs.len())
        .map_err(|wrong| format!("{source} {flags} with --placement {placement}: {wrong}"))
}

#[test]
fn accesses_are_covered_and_checks_legitimate_in_generated_programs() {
    let mut seen = Seen::default();
    for seed in seeds(1) {
        let program = generate::program(seed, scenarios());
        let files = Files::new();
        let source = files.file("generated.c", &program.text);
        for level in LEVELS {
            for placement in PLACEMENTS {
                match verify(&source, level, &[], placement, &mut seen) {
                    Ok(threads) => assert!(threads > 1, "seed {seed} logs nothing"),
                    Err(wrong) => panic!(
                        "{wrong}\nagain: DEADHEAT_SEED={seed} cargo test -p deadheat --test placement logged"
                    ),
                }
            }
        }
    }
    eprintln!("{} accesses, {} checks", seen.accesses, seen.checks);
    assert!(seen.checks > 0 && seen.checks < seen.accesses);
}

/// How the names of test programs in C begin that CI verifies; `DEADHEAT_PROGRAMS` has others, or is `all`: those in C++ as well.
const PROGRAMS: &str = "array_ escape_ lines_ loop_ nest_ placement_ sweep_";

/// A race by which a loop loses its way: it is reported, and what the loop accessed is not checked, as docs/placement.md says.
const LOST: &str = "moved_pointer_race.c";

#[test]
fn accesses_are_covered_and_checks_legitimate_in_test_programs() {
    let named = std::env::var("DEADHEAT_PROGRAMS").unwrap_or_else(|_| PROGRAMS.to_owned());
    let mut sources = Vec::new();
    for directory in ["tests/programs/c", "tests/programs/cpp"] {
        let entries = std::fs::read_dir(root().join(directory)).expect("the programs are there");
        sources.extend(entries.map(|entry| entry.expect("they can be listed").path()));
    }
    sources.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let end = path.extension().unwrap_or_default();
        let meant = named.split(' ').any(|start| name.starts_with(start));
        name != LOST && (named == "all" && (end == "c" || end == "cpp") || meant && end == "c")
    });
    sources.sort();
    let (mut seen, mut wrong, mut logging) = (Seen::default(), Vec::new(), 0);
    for path in &sources {
        let text = std::fs::read_to_string(path).expect("it can be read");
        let own = text.lines().find_map(|line| line.strip_prefix("// flags: "));
        let source = path.to_str().expect("a UTF-8 path");
        for level in LEVELS {
            let flags = format!("{level} {}", own.unwrap_or_default());
            match verify(source, &flags, &[], "full", &mut seen) {
                // Some have but atomics, or end without a word.
                Ok(threads) => logging += usize::from(threads > 1),
                Err(why) => wrong.push(why),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    eprintln!(
        "{} programs, {logging} builds of them with logs of several threads: {} accesses, {} checks, {} private or published",
        sources.len(),
        seen.accesses,
        seen.checks,
        seen.untold
    );
    assert!(logging > sources.len(), "only {logging} of {}", 2 * sources.len());
}

/// Workloads that CI verifies; `DEADHEAT_WORKLOADS` names others, or `all`.
const WORKLOADS: &str = "sor crypt lufact tsp";

#[test]
fn accesses_are_covered_and_checks_legitimate_in_workloads() {
    let named = std::env::var("DEADHEAT_WORKLOADS").unwrap_or_else(|_| WORKLOADS.to_owned());
    let directory = root().join("bench/workloads");
    let mut verified = 0;
    for entry in std::fs::read_dir(&directory).expect("the workloads are there") {
        let path = entry.expect("they can be listed").path();
        let stem = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let wanted = named == "all" || named.split(' ').any(|name| name == stem);
        if !wanted || path.extension().is_none_or(|end| end != "c") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let quick = text.split_once("quick: ").map(|(_, rest)| rest);
        let quick = quick
            .and_then(|rest| rest.split_whitespace().next())
            .unwrap_or("1");
        let flags = format!("-O2 -I{}/include -lm", directory.display());
        let mut seen = Seen::default();
        let source = path.to_str().expect("a UTF-8 path");
        let threads = verify(source, &flags, &["2", quick], "full", &mut seen);
        let threads = threads.unwrap_or_else(|wrong| panic!("{wrong}"));
        assert!(threads > 1, "{stem} logs nothing");
        eprintln!(
            "{stem}: {} accesses, {} checks, {} private or published",
            seen.accesses, seen.checks, seen.untold
        );
        verified += 1;
    }
    assert!(verified > 0, "no workload is called {named}");
}
