//! `deadheat bench` on workloads of a few lines.

use crate::harness::{Files, Ran, command, ran, root};
use crate::native::cache;
use serde_json::Value;

/// Two threads add up numbers under a lock; with the race, without.
const SUM: &str = r#"// suite: splash
// size: 2000 quick: 200 sweep: 100 200
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long size, sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    (void)unused;
    for (long i = 1; i <= size; i++) {
#ifndef RACE
        pthread_mutex_lock(&lock);
#endif
        sum += i; //~ RACE sum
#ifndef RACE
        pthread_mutex_unlock(&lock);
#endif
    }
    return 0;
}

int main(int count, char **words) {
    pthread_t threads[64];
    int n = count > 1 ? atoi(words[1]) : 2;
    size = count > 2 ? atol(words[2]) : 2000;
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], 0);
#ifndef RACE
    if (sum != n * size * (size + 1) / 2) {
        printf("wrong %ld\n", sum);
        return 1;
    }
#endif
    printf("ok %ld\n", sum);
    return 0;
}
"#;

/// Gets its result wrong.
const WRONG: &str = "// suite: nas\n// size: 1 quick: 1\n#include <stdio.h>\nint main(void) { puts(\"wrong 7\"); return 1; }\n";

/// Cannot be built.
const BROKEN: &str = "// suite: nas\n// size: 1 quick: 1\nint main(void) { return nothing; }\n";

struct Place(Files);

impl Place {
    fn new(workloads: &[(&str, &str)]) -> Place {
        let files = Files::new();
        std::fs::create_dir(files.path("workloads")).unwrap();
        for (name, text) in workloads {
            files.file(&format!("workloads/{name}"), text);
        }
        Place(files)
    }

    fn bench(&self, arguments: &[&str]) -> Ran {
        let mut all = vec!["bench"];
        let (workloads, directory) = (self.0.path("workloads"), self.0.path("built"));
        all.extend(["--workloads", &workloads, "--dir", &directory]);
        all.extend(arguments);
        ran(command(&all).env("DEADHEAT_CACHE", cache()))
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.0.path(name)).unwrap()).unwrap()
    }
}

#[test]
fn tools_are_measured_side_by_side() {
    let place = Place::new(&[("sum.c", SUM)]);
    let (json, svg) = (place.0.path("results.json"), place.0.path("plots"));
    let arguments = [
        "--tools",
        "native,empty,deadheat",
        "--runs",
        "2",
        "--quick",
        "--json",
        &json,
        "--svg",
        &svg,
    ];
    let ran = place.bench(&arguments);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for part in [
        "## Time, 2 threads",
        "## Peak memory",
        "| workload | size | native s | empty × | deadheat × |",
        "| sum | 200 |",
        "**mean**",
    ] {
        assert!(ran.stdout.contains(part), "no `{part}` in {}", ran.stdout);
    }
    let results = place.json("results.json");
    assert!(results["machine"]["cores"].as_u64().unwrap() > 0);
    let points = results["points"].as_array().unwrap();
    assert_eq!(points.len(), 3);
    for point in points {
        let samples = point["samples"].as_array().unwrap();
        assert_eq!(samples.len(), 2);
        for sample in samples {
            assert_eq!((&sample["outcome"], &sample["races"]), (&"ok".into(), &0.into()));
            let kilobytes = sample["kilobytes"].as_u64().unwrap();
            // A small program's own, not that of whoever started it.
            assert!((100..16_000).contains(&kilobytes), "{kilobytes}");
        }
    }
    let counters = &points[2]["counters"];
    let of = |name: &str| counters[name].as_u64().unwrap();
    // The loop reads and writes the sum, with one check for both, and each turn has an epoch of its own.
    assert!(of("accesses") >= 2 * 400 && of("checks") >= 400, "{counters}");
    assert!(of("checks") < of("accesses"), "{counters}");
    assert!((400..=of("checks")).contains(&of("race-checks")), "{counters}");
    assert!(of("shadow-states") > 0 && of("shadow-bytes") > 0, "{counters}");
    let plots: Vec<_> = std::fs::read_dir(svg)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(plots.len(), 2, "{plots:?}");

    // What is kept can be shown again, as a document's table as well, and compared.
    let again = place.bench(&["--from", &json]);
    assert_eq!((again.status, &again.stdout), (0, &ran.stdout));
    let table = place.bench(&["--from", &json, "--table", "bigfoot-1"]);
    assert!(
        table.stdout.contains("| sum |") && table.stdout.contains("--tools native,ft,rc,ss,sc,deadheat"),
        "{}",
        table.stdout
    );
    let same = ran_compare(&json, &json);
    assert_eq!(same.status, 0);
    assert!(
        same.stdout.contains("2 compared, 0 worse, 0 better."),
        "{}",
        same.stdout
    );
    let mut worse = results.clone();
    for sample in worse["points"][2]["samples"].as_array_mut().unwrap() {
        sample["seconds"] = (sample["seconds"].as_f64().unwrap() * 50.0).into();
    }
    let worse = place.0.file("worse.json", worse.to_string());
    let slower = ran_compare(&json, &worse);
    assert_eq!(slower.status, 1, "{}", slower.stdout);
    assert!(
        slower.stdout.contains("| sum 2 200 | deadheat | time |"),
        "{}",
        slower.stdout
    );
    assert_eq!(ran_compare(&worse, &json).status, 0, "faster is fine");
    // Two runs say little, and what is in one file only is not lost.
    assert!(
        slower
            .stdout
            .contains("2 of the 2 compared have fewer than 3 runs"),
        "{}",
        slower.stdout
    );
    let mut fewer = results.clone();
    fewer["points"].as_array_mut().unwrap().remove(1);
    fewer["skipped"] = serde_json::json!(["helgrind cannot be used"]);
    let fewer = place.0.file("fewer.json", fewer.to_string());
    let gone = ran_compare(&json, &fewer).stdout;
    assert!(
        gone.contains("Only measured before: sum 2 200 with empty\n"),
        "{gone}"
    );
    let come = ran_compare(&fewer, &json).stdout;
    assert!(
        come.contains("Only measured now: sum 2 200 with empty\n"),
        "{come}"
    );
    // A table says which tools are not in it.
    let table = place.bench(&["--from", &fewer, "--table", "bigfoot-1"]);
    assert!(
        table.stdout.contains("- left out: helgrind cannot be used"),
        "{}",
        table.stdout
    );
}

/// Results with a point for each tool, with what is given instead of what is usual.
fn results(tools: &[(&str, Value)]) -> String {
    let points = tools.iter().map(|(tool, other)| {
        let mut sample = serde_json::json!({
            "seconds": 1.0, "user": 1.0, "system": 0.0, "kilobytes": 100, "races": 0, "outcome": "ok"
        });
        for (name, value) in other.as_object().unwrap() {
            sample[name] = value.clone();
        }
        serde_json::json!({
            "workload": "sum", "suite": "splash", "threads": 2, "size": 9, "tool": tool, "samples": [sample]
        })
    });
    let machine = serde_json::json!({ "cpu": "A", "cores": 2, "memory": 1 << 30, "kernel": "6" });
    serde_json::json!({
        "version": 1, "command": "deadheat bench", "date": "2026-01-31 23:59", "machine": machine, "tools": [],
        "skipped": [], "points": points.collect::<Vec<_>>()
    })
    .to_string()
}

#[test]
fn compare_says_what_it_could_not_compare() {
    let files = Files::new();
    let usual = || serde_json::json!({});
    let old = files.file("old.json", results(&[("native", usual()), ("deadheat", usual())]));
    let wrong = serde_json::json!({ "outcome": { "wrong": "wrong 7" } });
    let racing = serde_json::json!({ "races": 3 });
    for (name, points, compared, row) in [
        (
            "wrong.json",
            vec![("native", usual()), ("deadheat", wrong.clone())],
            "0 compared, 1 worse (1 broken), 0 better.",
            "| deadheat | wrong | ok | – | broken |",
        ),
        (
            "alone.json",
            vec![("deadheat", usual())],
            "0 compared, 1 worse (1 broken), 0 better.",
            "| deadheat | no native | ok | – | broken |",
        ),
        (
            "races.json",
            vec![("native", usual()), ("deadheat", racing)],
            "1 compared, 1 worse, 0 better.",
            "| deadheat | races | 0 | 3 | reported |",
        ),
    ] {
        let new = files.file(name, results(&points));
        let ran = ran_compare(&old, &new);
        assert_eq!(ran.status, 1, "{name}: {}", ran.stdout);
        for part in [compared, row] {
            assert!(ran.stdout.contains(part), "no `{part}` in {}", ran.stdout);
        }
    }
    let alone = files.path("alone.json");
    ran_compare(&alone, &alone).fails_with(&["nothing can be compared"]);
    let compare = |more: &[&str]| ran(&mut command(&[&["bench", "compare", &old, &old], more].concat()));
    assert_eq!(compare(&["--tools", "d*"]).status, 0);
    compare(&["--tools", "deadheat,tsen"]).fails_with(&["`tsen`", "there are deadheat"]);
    for threshold in ["nan", "inf", "-1", "much"] {
        compare(&[&format!("--threshold={threshold}")]).fails_with(&["--threshold"]);
    }
    let elsewhere =
        results(&[("native", usual()), ("deadheat", usual())]).replace("\"cores\":2", "\"cores\":4");
    let differ = ran_compare(&old, &files.file("elsewhere.json", elsewhere));
    assert!(
        differ
            .stdout
            .contains("The machines differ: 2 cores and 4 cores.\n"),
        "{}",
        differ.stdout
    );
}

fn ran_compare(old: &str, new: &str) -> Ran {
    ran(&mut command(&["bench", "compare", old, new]))
}

#[test]
fn sizes_and_threads_are_swept() {
    let place = Place::new(&[("sum.c", SUM)]);
    let (json, svg) = (place.0.path("results.json"), place.0.path("plots"));
    let arguments = [
        "--tools",
        "native,deadheat",
        "--runs",
        "1",
        "--sizes",
        "--threads",
        "1,2",
        "--no-counters",
    ];
    let ran = place.bench(&[&arguments[..], &["--json", &json, "--svg", &svg]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(place.json("results.json")["points"].as_array().unwrap().len(), 8);
    for plot in ["time-1.svg", "time-threads-sum.svg", "memory-size-sum-2.svg"] {
        assert!(std::path::Path::new(&svg).join(plot).exists(), "{plot}");
    }
}

#[test]
fn results_that_cannot_be_kept_are_known_before_or_shown() {
    let place = Place::new(&[("sum.c", SUM)]);
    let below = place.0.path("workloads/sum.c/below");
    let quick = ["--tools", "native", "--runs", "1", "--quick"];
    for option in ["--json", "--svg"] {
        let ran = place.bench(&[&quick[..], &[option, &below]].concat());
        ran.fails_with(&["cannot write", &below]);
        assert_eq!(ran.stdout, "", "nothing was measured");
    }
    place
        .bench(&["--table", "tree-figure-5.1", "--svg", &below])
        .fails_with(&["cannot write", &below]);
    let json = place.0.path("made/results.json");
    let ran = place.bench(&[&quick[..], &["--json", &json]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(std::path::Path::new(&json).exists());
    // It can be opened, and nothing can be written to it.
    let full = place.bench(&[&quick[..], &["--json", "/dev/full"]].concat());
    full.fails_with(&["cannot write /dev/full"]);
    assert!(full.stdout.contains("| sum | 200 |"), "{}", full.stdout);
}

#[test]
fn a_table_is_made_of_its_own_tools() {
    let place = Place::new(&[("sum.c", SUM)]);
    let json = place.0.path("results.json");
    let arguments = ["--quick", "--runs", "1", "--threads", "2,2", "--no-counters"];
    let ran = place.bench(&[&arguments[..], &["--table", "shrinkwrap-5.2", "--json", &json]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let results = place.json("results.json");
    let points = results["points"].as_array().unwrap();
    let tools: Vec<&str> = points.iter().filter_map(|point| point["tool"].as_str()).collect();
    // And what is said twice is measured once.
    assert_eq!(tools, ["native", "empty", "ft", "ss"]);
}

#[test]
fn small_is_the_smallest_size_of_a_sweep() {
    let place = Place::new(&[("sum.c", SUM)]);
    let ran = place.bench(&["--tools", "native", "--runs", "1", "--small"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("| sum | 100 |"), "{}", ran.stdout);
}

#[test]
fn what_goes_wrong_is_named_and_not_averaged() {
    let place = Place::new(&[("bad.c", WRONG), ("broken.c", BROKEN), ("sum.c", SUM)]);
    let ran = place.bench(&["--tools", "native", "--runs", "2", "--quick"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("| bad | 1 | wrong |"), "{}", ran.stdout);
    assert!(ran.stdout.contains("| broken | 1 | n/a |"), "{}", ran.stdout);
    assert!(
        ran.stderr
            .contains("bad 2 1 with native: its result is wrong: wrong 7"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("broken 2 1 with native: it cannot be built") && ran.stderr.contains("nothing"),
        "{}",
        ran.stderr
    );
    // The others are measured.
    let row = ran.stdout.split("| sum | 200 | ").nth(1).unwrap_or_default();
    assert!(
        row.starts_with(|first: char| first.is_ascii_digit()),
        "{}",
        ran.stdout
    );
}

#[test]
fn the_known_race_is_found_and_nothing_false() {
    let place = Place::new(&[("sum.c", SUM)]);
    let ran = place.bench(&["--quality", "--tools", "native,empty,deadheat", "--runs", "2"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for part in [
        "| workload | version | deadheat |",
        "| sum | race-free | silent |",
        "| sum | racing | found |",
        "| **found** | | 1 of 1 |",
    ] {
        assert!(ran.stdout.contains(part), "no `{part}` in {}", ran.stdout);
    }
}

#[test]
fn what_goes_wrong_is_no_silence_and_decides_the_status() {
    for (name, text, cell) in [("bad.c", WRONG, "wrong"), ("broken.c", BROKEN, "n/a")] {
        let place = Place::new(&[(name, text)]);
        let ran = place.bench(&["--quality", "--tools", "deadheat", "--runs", "1"]);
        assert_eq!(ran.status, 1, "{}", ran.stdout);
        assert!(
            ran.stdout.contains(&format!("| race-free | {cell} |")),
            "{}",
            ran.stdout
        );
    }
    let place = Place::new(&[("broken.c", BROKEN), ("sum.c", SUM)]);
    let ran = place.bench(&["--tools", "native", "--runs", "1", "--quick"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    place
        .bench(&["--quality", "--tools", "native,empty"])
        .fails_with(&["about reports", "native, empty"]);
}

/// A directory with all that PATH has but valgrind.
fn without_valgrind(files: &Files) -> String {
    let directory = files.path("bin");
    std::fs::create_dir(&directory).unwrap();
    for path in std::env::split_paths(&std::env::var_os("PATH").unwrap()) {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            if entry.file_name() != "valgrind" {
                // Of two with the same name, the first counts.
                let _ = std::os::unix::fs::symlink(
                    entry.path(),
                    std::path::Path::new(&directory).join(entry.file_name()),
                );
            }
        }
    }
    directory
}

#[test]
fn tools_that_are_not_here_are_named_below_the_table() {
    let place = Place::new(&[("sum.c", SUM)]);
    let path = without_valgrind(&place.0);
    let bench = |arguments: &[&str]| {
        let (workloads, directory) = (place.0.path("workloads"), place.0.path("built"));
        let all = [
            "bench",
            "--workloads",
            &workloads,
            "--dir",
            &directory,
            "--runs",
            "1",
        ];
        ran(command(&[&all[..], arguments].concat())
            .env("DEADHEAT_CACHE", cache())
            .env("PATH", &path))
    };
    for arguments in [
        &["--quality", "--tools", "deadheat,drd"][..],
        &["--table", "multirace-18", "--quick", "--tools", "native,drd"],
    ] {
        let ran = bench(arguments);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let (table, below) = ran.stdout.split_once("- left out: drd").unwrap_or_default();
        assert!(
            table.contains("| sum |") && below.contains("apt-get install valgrind"),
            "{}",
            ran.stdout
        );
    }
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let place = Place::new(&[("sum.c", SUM)]);
    for (arguments, part) in [
        (&["--quality", "--json", "x.json"][..], "--json"),
        (&["--quality", "--quick"], "--quick"),
        (&["--quality", "--table", "bigfoot-1"], "--table"),
        (&["--instructions", "--filter", "sum"], "--filter"),
        (&["--instructions", "--svg", "x"], "--svg"),
        (&["--from", "x.json", "--json", "y.json"], "--json"),
        (&["--from", "x.json", "--runs", "3"], "--runs"),
        (&["--list", "--table", "bigfoot-1"], "--table"),
        (
            &["--table", "tree-5.1", "--traces", "x", "--threads", "4"],
            "--threads",
        ),
        (
            &["--table", "tree-5.1", "--traces", "x", "--svg", "y"],
            "tree-5.1 has no plot",
        ),
        (
            &["--table", "tree-figure-5.1", "--json", "x.json"],
            "--json would do nothing",
        ),
        (&["--table", "rdit-5.3", "--quick"], "--quick would do nothing"),
        (&["--table", "rdit-5.3", "--runs", "5"], "--runs would do nothing"),
        (
            &["--table", "rdit-5.4", "--timeout", "9"],
            "--timeout would do nothing",
        ),
        (
            &["--table", "tree-figure-5.1", "--threads", "2"],
            "--threads would do nothing",
        ),
        (
            &["--table", "bigfoot-1", "--traces", "x"],
            "--traces would do nothing",
        ),
        (
            &["--table", "rdit-5.3", "--traces", "x"],
            "--traces would do nothing",
        ),
        (
            &["--table", "rdit-5.3", "--from", "x.json"],
            "--from would do nothing",
        ),
        (
            &["--table", "tree-5.1", "--traces", "x", "--from", "x.json"],
            "--from would do nothing",
        ),
        (&["--table", "rdit-5.3", "--svg", "x"], "--svg would do nothing"),
        (&["--quality", "--threads", "2,4"], "--threads"),
        (&["--list", "--runs", "5"], "--runs"),
        (&["--list", "--threads", "2"], "--threads"),
        (&["--micro", "x"], "--instructions"),
        (&["--from", "x.json", "--timeout", "300"], "--timeout"),
        (
            &["--table", "bigfoot-1", "--tools", "deadheat"],
            "not among --tools",
        ),
    ] {
        place.bench(arguments).fails_with(&[part]);
    }
}

#[test]
fn a_run_that_takes_too_long_is_ended() {
    let endless =
        "// suite: nas\n// size: 1 quick: 1\n#include <unistd.h>\nint main(void) { for (;;) pause(); }\n";
    let place = Place::new(&[("endless.c", endless)]);
    let ran = place.bench(&["--tools", "native", "--runs", "1", "--timeout", "1"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains("| endless | 1 | timeout |"), "{}", ran.stdout);
}

#[test]
fn mistakes_are_answered_with_the_next_step() {
    let place = Place::new(&[("sum.c", SUM), ("nosuite.c", "int main(void) {}\n")]);
    place.bench(&["--filter", "sun"]).fails_with(&["`sun`", "--list"]);
    place
        .bench(&["--filter", "sum,nosuch"])
        .fails_with(&["is `nosuch`", "--list"]);
    place
        .bench(&["--tools", "tsen"])
        .fails_with(&["`tsen`", "gcc-tsan"]);
    place
        .bench(&["--from", "/no/such.json"])
        .fails_with(&["/no/such.json"]);
    place
        .bench(&["--table", "tree-5.1"])
        .fails_with(&["--traces DIR"]);
    place.bench(&["--table", "bigfoot"]).fails_with(&["bigfoot-1"]);
    place.bench(&["--runs", "0"]).fails_with(&["--runs"]);
    place.bench(&["--bless"]).fails_with(&["--instructions"]);
    place
        .bench(&["--instructions", "--micro", "/no/such"])
        .fails_with(&["/no/such", "--micro"]);
    ran(&mut command(&["bench", "--workloads", "/no/such"])).fails_with(&["/no/such", "--workloads"]);
    let list = place.bench(&["--list", "--tools", "native"]);
    assert_eq!(list.status, 0, "{}", list.stderr);
    assert!(
        list.stdout
            .contains("| sum | splash | 2000 | 200 | 100 200 | yes |"),
        "{}",
        list.stdout
    );
    assert!(
        list.stderr.contains("nosuite.c") && list.stderr.contains("// suite: NAME"),
        "{}",
        list.stderr
    );
}

#[test]
fn a_trace_that_is_cut_off_is_named() {
    let files = Files::new();
    std::fs::create_dir(files.path("traces")).unwrap();
    let trace = files.path("traces/sum.dht");
    let generate = ["trace", "generate", "--events", "20000", "-o", &trace];
    assert_eq!(ran(&mut command(&generate)).status, 0);
    let table = || {
        let traces = files.path("traces");
        ran(&mut command(&[
            "bench", "--table", "tree-5.1", "--traces", &traces,
        ]))
    };
    assert_eq!(table().stderr, "");
    let bytes = std::fs::read(&trace).unwrap();
    std::fs::write(&trace, &bytes[..bytes.len() / 2]).unwrap();
    let cut = table();
    let analysed = ran(&mut command(&["analyze", "-q", &trace]));
    let line = analysed
        .stderr
        .lines()
        .find(|line| line.contains("sum.dht"))
        .unwrap_or_default();
    assert!(!line.is_empty(), "{}", analysed.stderr);
    assert_eq!(cut.stderr, format!("{line}\n"), "once, as `analyze` does");
    assert!(cut.stdout.contains("| sum |"), "{}", cut.stdout);
}

#[test]
fn a_workload_that_is_not_there_is_not_recorded() {
    let files = Files::new();
    let traces = files.path("traces");
    let mut record = std::process::Command::new(root().join("bench/workloads/record"));
    record.args([&traces, "sor", "nosuch"]).env("DEADHEAT", "false");
    let ran = ran(&mut record);
    ran.fails_with(&["`nosuch`"]);
    assert!(!std::path::Path::new(&traces).exists(), "nothing is begun");
}

/// Stands for deadheat: says what it is called with, and fails at one table, having written results.
const FAKE: &str = r#"#!/bin/sh
echo "called with $*"
case "$*" in
*--json*) echo new >"$(echo "$*" | sed 's/.*--json \([^ ]*\).*/\1/')" ;;
esac
case "$*" in
*rdit-5.3* | *--sizes*) exit 1 ;;
esac
"#;

#[test]
fn what_fails_in_the_whole_measurement_keeps_its_table_and_stops_no_other() {
    use std::os::unix::fs::PermissionsExt;
    let files = Files::new();
    let fake = files.file("fake", FAKE);
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    for name in ["rdit-5.3.md", "rdit-5.4.md", "sizes.json"] {
        files.file(name, "old\n");
    }
    let directory = files.path("");
    let full = |parts: &[&str]| {
        let mut command = std::process::Command::new(root().join("bench/full"));
        command.arg(&directory).args(parts).env("DEADHEAT", &fake);
        ran(&mut command)
    };
    let ran = full(&["rdit", "sizes", "programs"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for failed in [
        "bench/full: failed: deadheat bench --table rdit-5.3\n",
        "bench/full: failed: deadheat bench --filter sor,crypt",
    ] {
        assert!(ran.stderr.contains(failed), "no `{failed}` in {}", ran.stderr);
    }
    let read = |name: &str| std::fs::read_to_string(files.path(name)).unwrap();
    assert_eq!(
        (read("rdit-5.3.md"), read("sizes.json")),
        ("old\n".to_owned(), "old\n".to_owned())
    );
    let made = read("rdit-5.4.md");
    assert!(
        made.starts_with("`deadheat bench --table rdit-5.4`, ")
            && made.ends_with("\n\ncalled with bench --table rdit-5.4\n"),
        "{made}"
    );
    // The documents' figures are those of docs/results.
    let figures = format!("--svg {}/figures\n", directory.trim_end_matches('/'));
    assert!(read("programs.md").ends_with(&figures), "{}", read("programs.md"));
    assert_eq!(read("programs.json"), "new\n");
    let left: Vec<String> = std::fs::read_dir(&directory)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".new") || name.ends_with(".old"))
        .collect();
    assert_eq!(left, Vec::<String>::new());

    assert_eq!(full(&["quality"]).status, 0);
    full(&["qualities"]).fails_with(&["no part `qualities`", "quality"]);
}
