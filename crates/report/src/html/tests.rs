//! What a page has, and that names stay names in it. `crates/cli/tests` has a browser look at one.

use super::*;
use crate::{Access, Frame, Location, Lock, Operation, Role, Step, Thread, What, Witness};

const HOSTILE: &str = "<script>alert('1')</script>\"&\u{1b}\u{202e}</table>--><img src=x onerror=alert(1)>";

fn frame(function: &str, role: Role) -> Frame {
    Frame {
        function: Some(function.to_owned()),
        file: Some(function.to_owned()),
        line: Some(1),
        column: Some(2),
        role,
        ..Frame::default()
    }
}

fn access(text: &str, frames: Vec<Frame>) -> Access {
    Access {
        thread: Some(1),
        op: Operation::Write,
        atomic: false,
        address: None,
        size: Some(8),
        also: vec![frames[0].clone()],
        also_more: true,
        frames,
        locks: Some(vec![Lock {
            id: 3,
            name: Some(text.to_owned()),
            kind: Some(text.to_owned()),
            address: None,
            taken_at: vec![frame(text, Role::User)],
        }]),
    }
}

/// A report in which every text is the same.
fn report(text: &str) -> Report {
    let user = || frame(text, Role::User);
    let std = || frame(text, Role::Std);
    let finding = Finding {
        id: text.to_owned(),
        kind: text.to_owned(),
        confirmed: true,
        rank: Some(text.to_owned()),
        predicted: true,
        location: Location {
            address: Some(text.to_owned()),
            size: Some(8),
            what: What::Memory,
            name: Some(text.to_owned()),
            elements: None,
            allocated_at: vec![std(), user()],
            block: None,
            thread: Some(0),
            declared_at: None,
        },
        accesses: vec![
            access(text, vec![std(), user(), std()]),
            access(text, vec![user()]),
        ],
        threads: vec![Thread {
            id: 1,
            tid: None,
            name: Some(text.to_owned()),
            created_by: Some(0),
            created_at: vec![user()],
        }],
        detector: text.to_owned(),
        witness: Some(Witness {
            start: 4,
            schedule: vec![5, 9, 7, 8],
            steps: [(5, 2), (7, 1), (8, 2)]
                .map(|(event, thread)| Step {
                    event,
                    thread,
                    name: Some(text.to_owned()),
                    does: text.to_owned(),
                    frame: Some(user()),
                })
                .to_vec(),
        }),
        confirmation: None,
        event: Some(7),
        count: 2,
        again: text.to_owned(),
        hint: Some(text.to_owned()),
    };
    Report {
        tool: "deadheat".to_owned(),
        version: text.to_owned(),
        command: text.to_owned(),
        races: vec![finding],
        summary: Summary {
            races: 1,
            notes: vec![text.to_owned()],
            ..Summary::default()
        },
    }
}

fn page(report: &Report) -> String {
    let mut page = Vec::new();
    write(report, &mut Sources::default(), &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

/// The names of all tags that are opened or closed.
fn tags(page: &str) -> Vec<&str> {
    let body = page.split_once("<body>").unwrap().1;
    let body = body.split_once("<script>").unwrap().0;
    let names = body.split('<').skip(1);
    names
        .map(|tag| tag.split(|c: char| c == '>' || c.is_whitespace()).next().unwrap())
        .collect()
}

#[test]
fn hostile_names_stay_text() {
    let page_of_hostile = page(&report(HOSTILE));
    // Whatever the names are, the elements are the same.
    assert_eq!(tags(&page_of_hostile), tags(&page(&report("name"))));
    assert!(
        page_of_hostile
            .contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;\u{fffd}\u{fffd}")
    );
    let shown = page_of_hostile.split_once("<body>").unwrap().1;
    let odd = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
    assert!(!shown.contains(odd));
    assert!(!shown.contains("id=\"race-") && shown.contains("<article id=\"finding-1\">"));
}

#[test]
fn elements_are_closed_in_order() {
    let page = page(&report("name"));
    let mut open = Vec::new();
    for tag in tags(&page) {
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag == "input" => {}
            None => open.push(tag),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_finding_has_an_anchor_and_all_that_is_known() {
    let page = page(&report("name"));
    for part in [
        "<a href=\"#race-name\">",
        "<article id=\"race-name\">",
        "Previous write of size 8 at name",
        "by thread name",
        "holding ",
        "created by thread T0",
        "<details><summary>… 1 frame of the standard library",
        "… 1 more",
        "Predicted by name at event 7.",
        "<pre class=\"again\">name</pre>",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert!(!page.contains("src=") && !page.contains("http://") && !page.contains("https://"));
}

#[test]
fn a_report_without_findings_is_a_page_too() {
    let mut report = report("name");
    report.races.clear();
    report.summary = Summary::default();
    let page = page(&report);
    assert!(page.contains("<span class=\"good\">no data races</span>") && !page.contains("<script>"));
}

#[test]
fn the_line_of_an_access_is_shown_with_its_word_marked() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.c"), "int a < b;\n  count++;\nend\n").unwrap();
    let mut report = report("name");
    report.races[0].accesses[0].frames = vec![Frame {
        file: Some("a.c".to_owned()),
        line: Some(2),
        column: Some(3),
        ..Frame::default()
    }];
    let mut page = Vec::new();
    write(
        &report,
        &mut Sources::new(vec![directory.path().into()]),
        &mut page,
    )
    .unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(
        page.contains("<tr><td>1</td><td>int a &lt; b;</td></tr>"),
        "{page}"
    );
    assert!(page.contains("<tr class=\"here\"><td>2</td><td>  <mark>count</mark>++;</td></tr>"));
}
