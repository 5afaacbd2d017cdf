//! The text of findings.

use super::program::Program;
use super::session::Session;
use deadheat_report::text::{self, Colors};
use deadheat_report::{Sources, sarif};

/// Everything that a report can show.
fn rich(program: &Program) -> Session {
    let mut session = Session::new(program);
    let created = session.stack(&[program.mark("create")]);
    let taken = session.stack(&[program.mark("price")]);
    let (work, main) = (
        [program.mark("add"), program.mark("worker")],
        [program.mark("price")],
    );
    let allocated = session.stack(&[program.mark("alloc")]);
    for id in [1, 2] {
        session.say(&format!("thread\t{id}\t8{id}\t0\t{created}\tnet-{id}"));
    }
    session.race(
        program.address("counter"),
        [(1, "write plain", &work), (0, "read plain", &main)],
        "global",
    );
    session.race(
        0x7f00_1018,
        [(1, "read plain", &work), (2, "write plain", &work)],
        &format!("heap\t7f001000\t20\t0\t{allocated}"),
    );
    let lock = program.address("table");
    let held = format!("\nlock\tmutex\t{lock:x}\t{taken}\nlock\trwlock-read\tabcd\t-\n");
    let at = session.lines.rfind("\naccess").unwrap();
    let end = at + 1 + session.lines[at + 1..].find('\n').unwrap();
    session.lines.replace_range(end..=end, &held);
    session.race(
        0x7f00_2000,
        [(1, "free plain", &main), (0, "write atomic", &[])],
        "freed\t7f002000\t8\t-\t-",
    );
    session.race(
        0x10,
        [(2, "write plain", &[0x99]), (0, "read plain", &main)],
        "stack\t1",
    );
    for (address, memory) in [(0x10, "tls\t2"), (0x1010, "map\t1000\t1000"), (0x20, "unknown")] {
        let sides = [(2, "write plain", &main[..]), (0, "read plain", &[])];
        session.race(address, sides, memory);
    }
    for line in ["count\t1\t3", "exit\t0"] {
        session.say(line);
    }
    session
}

/// Addresses depend on the compiler.
fn settled(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut settled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        settled.push_str("0xN");
        settled.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    settled
}

fn shown(program: &Program, session: &Session, colors: Colors) -> String {
    let (report, _) = session.play(Session::reporter(program));
    let mut sources = Sources::new(vec![program.directory.path().into()]);
    let mut text = Vec::new();
    text::write(&report, colors, &mut sources, &mut text).unwrap();
    settled(&String::from_utf8(text).unwrap())
}

#[test]
fn the_text_is_as_blessed() {
    let program = Program::new("cc", "demo.c", "-g -O1");
    insta::assert_snapshot!("text", shown(&program, &rich(&program), Colors::none()));
}

#[test]
fn the_coloured_text_is_as_blessed() {
    let program = Program::new("cc", "demo.c", "-g -O1");
    let mut session = Session::new(&program);
    let stack = [program.mark("add"), program.mark("worker")];
    session.race(
        program.address("counter"),
        [(1, "write plain", &stack), (2, "write atomic", &stack)],
        "global",
    );
    let text = shown(&program, &session, Colors::ansi());
    insta::assert_snapshot!("color", text.replace('\u{1b}', "ESC"));
}

#[test]
fn the_json_is_as_blessed() {
    let program = Program::new("cc", "demo.c", "-g -O1");
    let (mut report, _) = rich(&program).play(Session::reporter(&program));
    report.version = "VERSION".to_owned();
    report.races.truncate(2);
    for race in &mut report.races {
        // Both say the file and the line, which are this test's, and the kind of access.
        race.id = format!("{} digits", race.id.len());
        for access in &mut race.accesses {
            access.locks.iter_mut().flatten().for_each(|lock| lock.id = 0);
        }
    }
    let text = serde_json::to_string_pretty(&report).unwrap();
    insta::assert_snapshot!("json", settled(&text));
}

#[test]
fn sarif_says_where() {
    let program = Program::new("cc", "demo.c", "-g -O1");
    let (mut report, _) = rich(&program).play(Session::reporter(&program));
    let also = deadheat_report::Frame {
        line: Some(4321),
        file: Some("other.c".to_owned()),
        ..Default::default()
    };
    report.races[0].accesses[0].also = vec![also];
    let mut text = Vec::new();
    sarif::write(&report, &mut text).unwrap();
    let sarif: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "demo.c");
    assert_eq!(place["region"]["startLine"], program.line("add"));
    // The other access, and where else it may be.
    let related = result["relatedLocations"].as_array().unwrap();
    assert_eq!(related.len(), 2);
    let place = &related[1]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "other.c");
    assert_eq!(place["region"]["startLine"], 4321);
}

#[test]
fn rust_s_own_frames_are_folded() {
    // A program that is not stripped has the standard library's lines in it: any function of it will do.
    let program = Program::new("rustc", "bank.rs", "-g");
    let std = program.containing("lang_start") + 1;
    let stack = [std, std, program.mark("deposit"), program.mark("main"), std, std];
    let mut session = Session::new(&program);
    session.race(
        1,
        [(1, "write plain", &stack), (2, "write plain", &stack)],
        "unknown",
    );
    let text = shown(&program, &session, Colors::none());
    let frames: Vec<&str> = { text.lines() }
        .filter(|line| line.contains('#'))
        .take(5)
        .collect();
    assert!(frames[0].contains("#0 std::rt::lang_start") && frames[0].ends_with("(standard library)"));
    let last = { frames.iter() }.rfind(|line| line.contains("bank")).unwrap();
    assert!(last.contains("bank::main bank.rs"), "{text}");
    assert!(!text.contains("#5"), "{text}");
    let line = format!("{} | unsafe", program.line("deposit"));
    assert!(text.contains(&line), "{text}");
}

#[test]
fn names_cannot_drive_the_terminal() {
    let program = Program::new("cc", "demo.c", "");
    let mut session = Session::with_modules("module\t1000\t2000\t0\t-\t/x/\u{1b}[2J\n");
    session.say("thread\t1\t1\t0\t-\tbad\u{1b}[31m%0a");
    session.race(
        1,
        [(1, "write plain", &[0x1100]), (1, "write plain", &[])],
        "unknown",
    );
    session.say("loss\tx");
    let text = shown(&program, &session, Colors::none());
    assert!(text.contains("'bad"), "{text}");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
}
