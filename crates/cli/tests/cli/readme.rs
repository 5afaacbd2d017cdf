//! The README shows what really comes out. `cargo xtask bless` puts the present output there.

use crate::harness::{deadheat, root};
use std::collections::BTreeSet;

const COMMAND: &str = "cargo run -- check demo/bank.rs";

/// Addresses, and which thread came first, differ from run to run; the frames of the program do not.
fn frames(report: &str) -> BTreeSet<&str> {
    report
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('#') && line.contains("demo/"))
        .collect()
}

#[test]
fn the_report_in_the_readme_is_the_output_of_its_command() {
    let run = deadheat(&["check", "demo/bank.rs"]);
    assert_eq!(run.status, 66, "{}", run.stderr);
    let path = root().join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let fence = format!("```console\n$ {COMMAND}\n");
    let (before, rest) = readme
        .split_once(&fence)
        .expect("the README shows the command in a console block");
    let (block, after) = rest.split_once("```\n").expect("the block ends");
    if std::env::var_os("DEADHEAT_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{fence}{}```\n{after}", run.stderr)).unwrap();
    } else {
        assert_eq!(
            frames(block),
            frames(&run.stderr),
            "run `cargo xtask bless` if this is meant"
        );
        assert_eq!(block.lines().last(), run.stderr.lines().last());
    }
}

#[test]
fn the_readme_names_the_test_command() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("cargo xtask test"));
}
