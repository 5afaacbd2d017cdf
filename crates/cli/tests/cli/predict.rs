//! `deadheat predict`: exit status, last line, options, witnesses.

use crate::harness::{Files, deadheat, deadheat_reading};

/// MultiRace, Figure 8: the locks happened to order the writes of y.
const FIGURE_8: &str = "T1 w y @a.c:1(give); T1 acq L; T1 w x @a.c:2(give); T1 rel L
T2 acq L; T2 w x @b.c:3(take); T2 rel L; T2 w y @b.c:4(take)
";

/// Figure 4.1 of RDIT: ad hoc synchronisation inside two calls.
const AD_HOC: &str = "T1 w x @a.c:1; T1 call set {y}; T1 ret; T2 call wait {y}; T2 ret; T2 r x @b.c:2\n";

#[test]
fn a_race_that_the_run_did_not_show_is_predicted() {
    let files = Files::new();
    let trace = files.file("t.txt", FIGURE_8);
    assert_eq!(deadheat(&["analyze", &trace]).status, 0);
    let run = deadheat(&["predict", &trace]);
    assert_eq!((run.status, run.last_line()), (66, "deadheat: 1 data race"));
    assert_eq!(run.stdout, "");
    let report = "WARNING: deadheat: predicted data race on y
  Write of size 8 at 0x100000000000 by thread T2, no locks held:
    #0 take b.c:4

  Previous write of size 8 at 0x100000000000 by thread T1, no locks held:";
    assert!(run.stderr.contains(report), "{}", run.stderr);
    let witness = "
  It happens in this order (5 events):
    4  T2  acquire L
    5  T2  write x    take b.c:3
    6  T2  release L
  > 0  T1  write y    give a.c:1
  > 7  T2  write y    take b.c:4
";
    assert!(run.stderr.contains(witness), "{}", run.stderr);
}

#[test]
fn json_has_the_witness_in_full() {
    let files = Files::new();
    let trace = files.file("t.txt", FIGURE_8);
    let report = deadheat(&["predict", "--format", "json", &trace]).json();
    let race = &report["races"][0];
    assert_eq!(
        (&race["predicted"], &race["detector"]),
        (&true.into(), &"rdit".into())
    );
    assert_eq!(race["witness"]["start"], 0);
    assert_eq!(race["witness"]["schedule"], serde_json::json!([4, 5, 6, 0, 7]));
    let step = &race["witness"]["steps"][1];
    assert_eq!((&step["event"], &step["does"]), (&5.into(), &"write x".into()));
    assert_eq!(step["frame"]["line"], 3);
    assert_eq!(report["summary"]["races"], 1);
    assert_eq!(report["summary"]["events"], 8);
    // A saved report is shown as it was.
    let saved = files.file("saved.json", report.to_string());
    let shown = deadheat(&["report", &saved]);
    assert_eq!(shown.last_line(), "deadheat: 1 data race");
    assert!(
        shown.stderr.contains("It happens in this order (5 events)"),
        "{}",
        shown.stderr
    );
}

#[test]
fn sarif_has_the_witness_as_a_code_flow() {
    let files = Files::new();
    let report = deadheat(&["predict", "--format", "sarif", &files.file("t.txt", FIGURE_8)]).json();
    let result = &report["runs"][0]["results"][0];
    let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("flows");
    assert_eq!(flows.len(), 2);
    let last = flows[0]["locations"]
        .as_array()
        .and_then(|steps| steps.last())
        .expect("steps");
    assert_eq!(last["executionOrder"], 5);
    assert_eq!(last["location"]["physicalLocation"]["region"]["startLine"], 4);
}

#[test]
fn models_see_what_they_should() {
    let files = Files::new();
    let (figure, ad_hoc) = (files.file("t.txt", FIGURE_8), files.file("a.txt", AD_HOC));
    for (model, figure_8, calls) in [("hb", 0, 66), ("cp", 0, 66), ("mc", 66, 66), ("rdit", 66, 0)] {
        let status = |trace: &str| deadheat(&["predict", "--model", model, trace]).status;
        assert_eq!((status(&figure), status(&ad_hoc)), (figure_8, calls), "{model}");
    }
}

#[test]
fn options_are_those_of_analyze() {
    let files = Files::new();
    let trace = files.file("t.txt", FIGURE_8);
    let none = deadheat(&[
        "predict",
        "--suppressions",
        &files.file("s", "race:give\n"),
        &trace,
    ]);
    assert_eq!(
        (none.status, none.last_line()),
        (0, "deadheat: no data races (1 suppressed)")
    );
    let known = files.file(
        "known.json",
        &deadheat(&["predict", "--format", "json", &trace]).stdout,
    );
    let none = deadheat(&["predict", "--baseline", &known, &trace]);
    assert_eq!(
        (none.status, none.last_line()),
        (0, "deadheat: no data races (1 in the baseline)")
    );
    assert_eq!(deadheat(&["predict", "--exit-code", "3", &trace]).status, 3);
    let stats = deadheat(&["predict", "--stats", "-q", "--jobs", "1", &trace]);
    for part in ["windows", "pairs in observed order", "events per second"] {
        assert!(stats.stderr.contains(part), "{}", stats.stderr);
    }
    let written = files.path("out.json");
    let run = deadheat(&["predict", "--format", "json", "-o", &written, &trace]);
    assert_eq!((run.status, run.stdout.as_str()), (66, ""));
    assert!(
        std::fs::read_to_string(&written)
            .expect("a report")
            .contains("\"schedule\"")
    );
}

#[test]
fn the_command_in_a_report_shows_it_again() {
    let files = Files::new();
    let trace = files.file("t.txt", FIGURE_8);
    let report = deadheat(&[
        "predict", "--model", "mc", "--window", "50", "--format", "json", &trace,
    ])
    .json();
    let again = report["races"][0]["again"].as_str().expect("a command");
    let words: Vec<&str> = again.split(' ').skip(1).collect();
    assert!(
        words.starts_with(&["predict", "--model", "mc", "--window", "50", "--only"]),
        "{again}"
    );
    assert_eq!(deadheat(&words).last_line(), "deadheat: 1 data race");
}

#[test]
fn all_formats_can_be_predicted_from() {
    let files = Files::new();
    let text = files.file("t.txt", FIGURE_8);
    for name in ["t.dht", "t.std"] {
        let other = files.path(name);
        assert_eq!(deadheat(&["trace", "convert", &text, "-o", &other]).status, 0);
        assert_eq!(
            deadheat(&["predict", &other]).last_line(),
            "deadheat: 1 data race",
            "{name}"
        );
    }
    assert_eq!(
        deadheat_reading(&["predict", "-"], FIGURE_8.as_bytes()).status,
        66
    );
}

#[test]
fn bad_input_and_options_give_2_and_say_what_to_do() {
    let files = Files::new();
    deadheat(&["predict", "nowhere.dht"]).fails_with(&["nowhere.dht"]);
    let trace = files.file("t.txt", FIGURE_8);
    deadheat(&["predict", "--window", "1", &trace]).fails_with(&["--window"]);
    deadheat(&["predict", "--model", "all", &trace]).fails_with(&["hb", "cp", "mc", "rdit"]);
    // What is in front of an event that makes no sense is reported.
    let ill = files.file("ill.txt", "T1 w x; T2 w x; T1 rel L\n");
    let run = deadheat(&["predict", &ill]);
    run.fails_with(&[
        "event 2",
        "nobody holds the lock",
        "deadheat trace validate",
        "1 data race so far",
    ]);
    let empty = deadheat(&["predict", &files.file("e.txt", "# nothing\n")]);
    assert_eq!((empty.status, empty.last_line()), (0, "deadheat: no data races"));
    assert!(empty.stderr.contains("no events"), "{}", empty.stderr);
}

#[test]
fn windows_and_jobs_do_not_change_what_is_near() {
    let files = Files::new();
    let trace = files.path("g.dht");
    let made = [
        "trace", "generate", "--events", "20000", "--races", "5", "--sites", "0", "-o", &trace,
    ];
    assert_eq!(deadheat(&made).status, 0);
    let reports: Vec<_> = ["1", "3"]
        .iter()
        .map(|jobs| {
            deadheat(&[
                "predict", "--window", "2000", "--jobs", jobs, "--format", "json", &trace,
            ])
            .json()
        })
        .map(|report| report["races"].clone())
        .collect();
    assert_eq!(reports[0], reports[1]);
    assert!(reports[0].as_array().is_some_and(|races| races.len() >= 5));
}

#[test]
fn what_there_was_no_time_for_is_said() {
    let files = Files::new();
    let trace = files.file("t.txt", FIGURE_8);
    let run = deadheat(&["predict", "--limit", "0", &trace]);
    assert_eq!((run.status, run.last_line()), (0, "deadheat: no data races"));
    let note = "1 window was not finished in time: a longer --timeout or --limit or a smaller --window may show more races";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    let report = deadheat(&["predict", "--limit", "0", "--format", "json", &trace]).json();
    assert_eq!(report["summary"]["notes"][0], note);
    let run = deadheat(&["predict", "--limit", "1000", &trace]);
    assert_eq!((run.status, run.last_line()), (66, "deadheat: 1 data race"));
}
