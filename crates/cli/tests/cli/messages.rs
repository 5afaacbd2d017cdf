//! Errors say what to do next.

use crate::harness::{Files, deadheat};

#[test]
fn a_solver_that_was_left_out_names_the_feature() {
    if cfg!(feature = "z3") {
        return;
    }
    let files = Files::new();
    let trace = files.file("t.txt", "T1 w x; T2 w x\n");
    deadheat(&["predict", "--solver", "z3", &trace]).fails_with(&["built without it", "--features z3"]);
    deadheat(&["predict", "--solver", "none", &trace]).fails_with(&["order"]);
}

#[test]
fn a_program_that_cannot_be_checked_says_how_to_build_it() {
    let files = Files::new();
    deadheat(&["check", "/bin/true"]).fails_with(&[
        "not built with deadheat",
        "`deadheat cc`",
        "cargo deadheat build",
    ]);
    deadheat(&["check", &files.path("nothing")]).fails_with(&["cannot find the program", "give its path"]);
}

#[test]
fn a_report_of_another_tool_says_how_to_make_one() {
    let files = Files::new();
    let other = r#"{"tool":"other","version":"1","command":"","races":[],"summary":{"races":0,"suppressed":0,"events":0}}"#;
    let other = files.file("other.json", other);
    deadheat(&["report", &other]).fails_with(&["a report of `other`", "--format json"]);
}

#[test]
fn a_directory_without_workloads_or_traces_says_where_to_get_them() {
    let files = Files::new();
    let empty = files.path("");
    deadheat(&["bench", "--workloads", &empty]).fails_with(&["no workloads in", "--workloads"]);
    let table = deadheat(&["bench", "--table", "shrinkwrap-5.1", "--traces", &empty]);
    table.fails_with(&["there are no traces in", "bench/workloads/record"]);
}
