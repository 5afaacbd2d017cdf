//! The report as a page, in a real browser: what it shows, that its script runs, and that nothing comes from elsewhere.

use crate::harness::{Files, deadheat, needs};
use std::net::TcpListener;
use std::process::Command;

/// What the browser made of a page, and what it said.
struct Seen {
    dom: String,
    said: String,
}

/// Opens a file (and what stands behind its name) in Chromium and gives the page as it is when its script has run.
#[track_caller]
fn browse(files: &Files, page: &str) -> Seen {
    needs(&["chromium"]);
    let profile = tempfile::tempdir_in(files.path("")).unwrap();
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .args(["--no-proxy-server", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", files.path(page)))
        .output()
        .unwrap_or_else(|error| panic!("chromium, which scripts/setup installs, cannot be run: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let seen = Seen {
        dom: text(&output.stdout),
        said: text(&output.stderr),
    };
    assert!(
        output.status.success() && seen.dom.contains("</html>"),
        "{}",
        seen.said
    );
    // Errors of scripts, and what the page's policy refused.
    assert!(!seen.said.contains(":CONSOLE"), "{}", seen.said);
    seen
}

/// The opening tags of all findings.
fn findings(dom: &str) -> Vec<&str> {
    let articles = dom.split("<article ").skip(1);
    articles.map(|rest| rest.split('>').next().unwrap()).collect()
}

#[test]
fn a_browser_shows_the_findings_and_filters_them() {
    let files = Files::new();
    files.file("a.c", "int x;\nx = 1; // <b>bold</b>\n");
    let trace = files.file(
        "t.txt",
        "main fork worker @a.c:1(main)\nmain acq big; main w x @a.c:2:1(writer); main rel big; worker acq small; worker r x @b.c:7(reader); worker rel small\n\
         main w y @a.c:1(first); worker w y @b.c:9(second)\n",
    );
    let json = files.path("run.json");
    deadheat(&["analyze", "--format", "json", "--output", &json, &trace]);
    let run = deadheat(&[
        "report",
        &json,
        "--html",
        &files.path("run.html"),
        "--sarif",
        &files.path("run.sarif"),
    ]);
    // The files are what was asked for: no text besides, and the last line as ever.
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (66, "deadheat: 2 data races\n")
    );
    let sarif = std::fs::read_to_string(files.path("run.sarif")).unwrap();
    assert!(sarif.contains("\"2.1.0\""), "{sarif}");

    let all = browse(&files, "run.html");
    assert_eq!(findings(&all.dom).len(), 2);
    assert!(
        findings(&all.dom).iter().all(|tag| !tag.contains("hidden")),
        "{:?}",
        findings(&all.dom)
    );
    // The script has run: it shows what it looks for.
    assert!(all.dom.contains("<p id=\"filter\">"), "{}", all.dom);
    for part in [
        "Previous write of size 8",
        "writer",
        "b.c:9",
        "thread worker",
        "deadheat analyze --only",
    ] {
        assert!(all.dom.contains(part), "no {part} in {}", all.dom);
    }

    let some = browse(&files, "run.html?search=READER%20small%20x");
    let hidden: Vec<bool> = findings(&some.dom)
        .iter()
        .map(|tag| tag.contains("hidden"))
        .collect();
    assert_eq!(hidden, [false, true]);
    assert!(some.dom.contains(">1 of 2<"), "{}", some.dom);
}

#[test]
fn hostile_names_do_nothing_in_a_browser() {
    let files = Files::new();
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    outside.set_nonblocking(true).unwrap();
    let port = outside.local_addr().unwrap().port();
    let evil = format!(
        "</code></td></table></script><script>document.title='taken'</script>\
         <img src='http://127.0.0.1:{port}/x' onerror='document.title=1'><link rel=stylesheet href='http://127.0.0.1:{port}/y'>"
    );
    let trace = files.file(
        "t.txt",
        format!("\"{evil}\" w \"{evil}\" @\"{evil}\":1(\"{evil}\"); T2 acq \"{evil}\"; T2 w \"{evil}\" @b.c:2(\"{evil}\")\n"),
    );
    let page = files.path("run.html");
    let run = deadheat(&["predict", "--format", "html", "--output", &page, &trace]);
    assert_eq!(run.last_line(), "deadheat: 1 data race", "{}", run.stderr);
    let seen = browse(&files, "run.html");
    assert!(
        seen.dom.contains("<title>deadheat: 1 data race</title>"),
        "{}",
        seen.dom
    );
    assert_eq!(findings(&seen.dom).len(), 1);
    assert_eq!(
        (
            seen.dom.matches("<script").count(),
            seen.dom.matches("<img").count()
        ),
        (1, 0)
    );
    assert!(seen.dom.contains("class=\"witness\""), "{}", seen.dom);
    let came = outside.accept().map(|(_, from)| from);
    assert!(came.is_err(), "the page asked for something: {came:?}");
}

#[test]
fn the_policy_of_a_page_lets_nothing_in() {
    let files = Files::new();
    let trace = files.file("t.txt", "T1 w x; T2 w x\n");
    let page = files.path("run.html");
    deadheat(&["analyze", "--format", "html", "--output", &page, &trace]);
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    outside.set_nonblocking(true).unwrap();
    let port = outside.local_addr().unwrap().port();
    // As if a name had not been escaped.
    let broken = std::fs::read_to_string(&page).unwrap().replace(
        "<main>",
        &format!("<main><script>document.title='taken'</script><img src='http://127.0.0.1:{port}/x'>"),
    );
    std::fs::write(&page, broken).unwrap();
    let seen = std::panic::catch_unwind(|| browse(&files, "run.html"));
    let said = match seen {
        Ok(_) => panic!("the browser did not complain"),
        Err(said) => said.downcast_ref::<String>().cloned().unwrap_or_default(),
    };
    assert!(said.contains("Content Security Policy"), "{said}");
    assert!(outside.accept().is_err(), "the page asked for something");
}

#[test]
fn a_page_can_go_to_stdout_and_not_over_the_input() {
    let files = Files::new();
    let trace = files.file("t.txt", "T1 w x; T2 w x\n");
    let run = deadheat(&["analyze", "--format", "html", &trace]);
    assert!(run.stdout.starts_with("<!DOCTYPE html>"), "{}", run.stdout);
    let json = files.path("run.json");
    deadheat(&["analyze", "--format", "json", "--output", &json, &trace]);
    let run = deadheat(&["report", &json, "--html", "-", "--exit-code", "0"]);
    assert_eq!((run.status, run.last_line()), (0, "deadheat: 1 data race"));
    assert!(run.stdout.ends_with("</html>\n"), "{}", run.stdout);
    deadheat(&["report", &json, "--html", &json]).fails_with(&["is the input"]);
    deadheat(&["report", &json, "--sarif", "/no/such/directory/x"]).fails_with(&["cannot write"]);
}

#[test]
fn an_id_that_is_not_there_is_an_error_that_names_those_that_are() {
    let files = Files::new();
    let trace = files.file("t.txt", "T1 w x @a.c:1; T2 w x @a.c:2\n");
    let run = deadheat(&["analyze", "--format", "json", &trace]);
    let id = run.json()["races"][0]["id"].as_str().unwrap().to_owned();
    let json = files.file("run.json", &run.stdout);
    for command in ["analyze", "predict"] {
        deadheat(&[command, "--only", "wrong", &trace])
            .fails_with(&["no finding has the id wrong", "there are "]);
    }
    deadheat(&["analyze", "--only", "wrong", &trace]).fails_with(&[&id]);
    deadheat(&["report", "--only", "wrong", &json]).fails_with(&["no finding has the id wrong", &id]);
    assert_eq!(deadheat(&["report", "--only", &id, &json]).status, 66);
    let none = files.file("none.txt", "T1 w x\n");
    deadheat(&["analyze", "--only", "wrong", &none]).fails_with(&["no findings at all"]);
    // What was asked for may be behind the damage.
    let damaged = files.file("damaged.txt", "T1 w x\nT2 nonsense\n");
    for command in ["analyze", "predict"] {
        deadheat(&[command, "--only", "wrong", &damaged]).fails_with(&["damaged.txt", "nonsense"]);
    }
}
