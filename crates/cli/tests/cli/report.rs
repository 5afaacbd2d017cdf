//! The report in its three forms.

use crate::harness::{Files, TWO_RACES, deadheat};
use serde_json::{Value, json};

/// A trace with everything that a report can show.
const RICH: &str = "\
main fork worker @main.c:40:5(main)
main acq big; main w buffer:4+12 @main.c:41:9(main); main rel big
worker acqr small; worker acq other; worker r buffer:8+8 @work.c:7(work); worker rel other; worker rel small
T9 w table[0..63:2] @work.c:8(sweep); worker r table[4] @work.c:9
worker store flag rlx @work.c:10(work); T9 r flag @work.c:11(poll)
T9 w nowhere; worker w nowhere
T9 w 0x1000:1 @work.c:12; worker w 0x1000:1 @work.c:12; T9 w 0x1000:1 @work.c:12
";

fn rich(files: &Files) -> String {
    files.file("rich.txt", RICH)
}

/// The output without the test's own directory.
fn settle(files: &Files, text: &str) -> String {
    text.replace(&files.path(""), "DIR/")
}

#[test]
fn the_text_report_is_as_blessed() {
    let files = Files::new();
    files.file(
        "work.c",
        "1\n2\n3\n4\n5\n6\n    use(buffer);\n\tsweep\u{1b}[31m(table);\n",
    );
    let run = deadheat(&["analyze", &rich(&files)]);
    insta::assert_snapshot!("text", settle(&files, &run.stderr));
}

#[test]
fn the_report_of_a_discipline_violation_is_as_blessed() {
    let files = Files::new();
    let trace = files.file(
        "t.txt",
        "T1 w x @a.c:1(give); T1 send c; T2 recv c; T2 w x @b.c:2(take)",
    );
    let run = deadheat(&["analyze", "--detector", "multirace", &trace]);
    insta::assert_snapshot!("discipline", settle(&files, &run.stderr));
}

#[test]
fn the_coloured_report_is_as_blessed() {
    let files = Files::new();
    let run = deadheat(&[
        "analyze",
        "--color",
        "always",
        &files.file("t.txt", "T1 w x; T2 w x"),
    ]);
    insta::assert_snapshot!("color", settle(&files, &run.stderr).replace('\u{1b}', "ESC"));
}

#[test]
fn the_json_report_is_as_blessed() {
    let files = Files::new();
    let mut report = deadheat(&["analyze", "--format", "json", &rich(&files)]).json();
    report["summary"]["seconds"] = json!(0);
    report["version"] = json!("VERSION");
    let text = serde_json::to_string_pretty(&report).unwrap();
    insta::assert_snapshot!("json", settle(&files, &text));
}

#[test]
fn json_keeps_the_contract() {
    let files = Files::new();
    let run = deadheat(&["analyze", "--format", "json", &files.file("t.txt", TWO_RACES)]);
    assert_eq!(run.stderr, "deadheat: 2 data races\n");
    let report = run.json();
    assert_eq!(report["tool"], "deadheat");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert!(
        report["command"]
            .as_str()
            .unwrap()
            .starts_with("deadheat analyze --format json")
    );
    assert_eq!(report["summary"]["races"], 2);
    assert_eq!(report["summary"]["suppressed"], 0);
    assert_eq!(report["summary"]["events"], 10);
    let race = &report["races"][0];
    assert_eq!(race["kind"], "write-read");
    assert_eq!(race["predicted"], false);
    assert_eq!(race["detector"], "fasttrack");
    assert_eq!(race["witness"], Value::Null);
    assert_eq!(race["location"]["name"], "x");
    assert_eq!(race["location"]["size"], 8);
    assert_eq!(race["location"]["allocated_at"], json!([]));
    assert!(race["location"]["address"].as_str().unwrap().starts_with("0x"));
    assert_eq!(race["accesses"].as_array().map(Vec::len), Some(2));
    assert_eq!(race["accesses"][0]["op"], "write");
    assert_eq!(race["accesses"][1]["op"], "read");
    assert_eq!(race["accesses"][1]["thread"], 2);
    assert_eq!(race["accesses"][1]["atomic"], false);
    let frame = json!({ "function": "reader", "file": "b.c", "line": 2, "column": null });
    assert_eq!(race["accesses"][1]["frames"], json!([frame]));
    assert_ne!(race["id"], report["races"][1]["id"]);
}

#[test]
fn sarif_has_what_the_standard_requires() {
    let files = Files::new();
    let run = deadheat(&["analyze", "--format", "sarif", &rich(&files)]);
    assert_eq!(run.status, 66);
    let sarif = run.json();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(sarif["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let run = &sarif["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "deadheat");
    let rules: Vec<&Value> = driver["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| &rule["id"])
        .collect();
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 5);
    for result in results {
        assert!(rules.contains(&&result["ruleId"]), "{result}");
        assert!(
            result["message"]["text"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        for location in result["locations"].as_array().into_iter().flatten() {
            if let Some(region) = location["physicalLocation"].get("region") {
                assert!(region["startLine"].as_u64().is_some_and(|line| line > 0));
            }
        }
    }
    let first = &results[0];
    assert_eq!(
        first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        "work.c"
    );
    assert_eq!(
        first["relatedLocations"][0]["physicalLocation"]["region"]["startColumn"],
        9
    );
    assert_eq!(
        first["relatedLocations"][0]["logicalLocations"][0]["fullyQualifiedName"],
        "main"
    );
}

#[test]
fn a_race_in_a_loop_is_one_finding_with_a_count() {
    let files = Files::new();
    // Variables differ from turn to turn, the two lines do not.
    let turns = (0..1000).map(|turn| {
        format!("T1 w v{turn} @a.c:1; T2 w v{turn} @b.c:2\nT2 w u{turn} @b.c:2; T1 w u{turn} @a.c:1\n")
    });
    let trace = files.file("t.txt", turns.collect::<String>());
    let report = deadheat(&["analyze", "--format", "json", &trace]).json();
    assert_eq!(report["summary"]["races"], 1);
    assert_eq!(report["summary"]["occurrences"], 2000);
    assert_eq!(report["races"][0]["count"], 2000);
}

#[test]
fn without_program_locations_each_variable_is_a_finding() {
    let files = Files::new();
    let trace = files.file(
        "t.txt",
        "T1 w x; T2 w x; T1 w y; T2 w y; T1 w x; T1 w a[1]; T2 w a[1]; T1 w a[2]; T2 w a[2]",
    );
    let report = deadheat(&["analyze", "--format", "json", &trace]).json();
    let found: Vec<_> = report["races"]
        .as_array()
        .unwrap()
        .iter()
        .map(|race| (&race["location"]["name"], &race["count"]))
        .collect();
    assert_eq!(
        found,
        [
            (&json!("x"), &json!(2)),
            (&json!("y"), &json!(1)),
            (&json!("a[1]"), &json!(2))
        ]
    );
}

#[test]
fn a_thread_number_used_twice_is_not_given_a_wrong_origin() {
    let files = Files::new();
    let once = "T0 fork T1 @a.c:1; T0 w x @a.c:2; T1 w x @a.c:3\n";
    let twice = format!("T0 fork T1 @a.c:8; T1 end; T0 join T1\n{once}");
    let origin = |text: &str| {
        let report = deadheat(&["analyze", "--format", "json", &files.file("t.txt", text)]).json();
        let threads = report["races"][0]["threads"].as_array().unwrap().clone();
        threads.into_iter().find(|thread| thread["id"] == 1).unwrap()["created_by"].clone()
    };
    assert_eq!(origin(once), 0);
    assert_eq!(origin(&twice), Value::Null);
}

#[test]
fn names_cannot_drive_the_terminal() {
    let files = Files::new();
    let trace = files.file(
        "t.txt",
        "T1 w \"x\u{1b}[2J\" @\"a\u{7}.c\":1(\"f\u{9b}\"); T2 w \"x\u{1b}[2J\" @b.c:2",
    );
    let run = deadheat(&["analyze", &trace]);
    assert_eq!(run.status, 66);
    assert!(
        !run.stderr.contains(|c: char| c.is_control() && c != '\n'),
        "{:?}",
        run.stderr
    );
}
