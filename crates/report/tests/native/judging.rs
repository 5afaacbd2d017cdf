//! Which races are one finding, which are reported, and what is said besides.

use super::program::Program;
use super::session::{Session, options};
use deadheat_report::native::{Event, Exit, Options, Reporter};
use deadheat_report::{Baseline, Judge, Report, Suppressions, json};

fn demo() -> Program {
    Program::new("cc", "demo.c", "-g -O1")
}

/// One race between `work` (through `add`) and `main`.
fn session(program: &Program) -> Session {
    let mut session = Session::new(program);
    let stack = session.stack(&[program.mark("create")]);
    session.say(&format!("thread\t1\t78\t0\t{stack}\tnet%09work"));
    race(&mut session, program, false);
    session
}

fn race(session: &mut Session, program: &Program, other_way_round: bool) {
    let mut sides: [super::session::Side<'_>; 2] = [
        (1, "write plain", &[program.mark("add"), program.mark("worker")]),
        (0, "read plain", &[program.mark("price")]),
    ];
    if other_way_round {
        sides.reverse();
    }
    session.race(program.address("counter"), sides, "global");
}

#[test]
fn the_same_pair_of_places_is_one_finding_that_is_counted() {
    let program = demo();
    let mut session = session(&program);
    race(&mut session, &program, true);
    // Another line, another finding; and other kinds of access.
    let (add, create) = ([program.mark("add")], [program.mark("create")]);
    let address = program.address("counter");
    session.race(
        address,
        [(1, "write plain", &add), (0, "read plain", &create)],
        "global",
    );
    session.race(
        address,
        [(1, "write atomic", &add), (0, "read plain", &create)],
        "global",
    );
    for line in [
        "count\t1\t5",
        "count\t2\t7",
        "count\t3\t1",
        "count\t9\t100",
        "exit\t3",
    ] {
        session.say(line);
    }
    let mut reporter = Session::reporter(&program);
    let events: Vec<Event> = session
        .lines
        .lines()
        .filter_map(|line| reporter.line(line))
        .collect();
    let printed: Vec<bool> = events
        .iter()
        .map(|event| {
            matches!(
                event,
                Event::Race {
                    counts: true,
                    finding: Some(_)
                }
            )
        })
        .collect();
    assert_eq!(printed, [true, false, true, true]);
    assert!(events.iter().all(|event| event.answer() == Some(b'1')));
    assert_eq!((reporter.count(), reporter.exit()), (3, Some(Exit::Status(3))));
    let report = reporter.finish();
    assert_eq!(
        report.races.iter().map(|race| race.count).collect::<Vec<_>>(),
        [12, 1, 1]
    );
    assert_eq!((report.summary.races, report.summary.occurrences), (3, 14));
    assert!(!report.summary.partial, "{:?}", report.summary);
    assert_eq!(report.command, "./program '--fast mode'");
    assert_eq!(report.races[0].again, report.command);
}

#[test]
fn ids_do_not_depend_on_addresses() {
    let program = demo();
    let id = session(&program).finding(&program).id;
    let moved = session(&program).lines.replace("55555555", "7f1234560");
    let mut again = session(&program);
    again.lines = moved;
    assert_eq!(again.finding(&program).id, id);
}

fn judged(program: &Program, rules: &str) -> (Report, Vec<Event>) {
    let judge = Judge {
        suppressions: Suppressions::parse(rules).unwrap(),
        ..Judge::default()
    };
    session(program).play(Reporter::new(Options {
        judge,
        ..options(program)
    }))
}

#[test]
fn suppressions_look_at_functions_files_modules_globals_and_threads() {
    let program = demo();
    for (rule, expect) in [
        ("race:^add$", true),
        ("race:^worker$", true),
        ("race:demo.c", true),
        ("race:^demo.h$", false),
        ("race:^program$", true),
        ("race:^counter$", true),
        ("race:^main$", true),
        ("race:nothing", false),
        ("race_top:^add$", true),
        ("race_top:^work$", false),
        ("race_top:^main$", true),
        ("called_from_lib:^program$", true),
        ("called_from_lib:demo.c", false),
        ("thread:add", false),
        ("deadlock:add", false),
    ] {
        let (report, events) = judged(&program, rule);
        assert_eq!(report.summary.suppressed, u64::from(expect), "{rule}");
        assert_eq!(report.races.is_empty(), expect, "{rule}");
        let answer = if expect { b'0' } else { b'1' };
        assert_eq!(events[0].answer(), Some(answer), "{rule}");
    }
}

#[test]
fn what_created_a_thread_suppresses_its_races_as_in_tsan() {
    let program = demo();
    let mut session = Session::new(&program);
    let stack = session.stack(&[program.mark("create")]);
    session.say(&format!("thread\t1\t78\t0\t{stack}\t"));
    let add = [program.mark("worker")];
    session.race(1, [(1, "write plain", &add), (1, "write plain", &add)], "unknown");
    let judge = Judge {
        suppressions: Suppressions::parse("race:^main$").unwrap(),
        ..Judge::default()
    };
    let options = Options {
        judge,
        ..options(&program)
    };
    assert_eq!(session.play(Reporter::new(options)).0.summary.suppressed, 1);
}

#[test]
fn a_report_comes_back_from_json_and_is_a_baseline() {
    let program = demo();
    let (report, _) = session(&program).play(Session::reporter(&program));
    let mut text = Vec::new();
    json::write(&report, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    let judge = Judge {
        baseline: Baseline::parse(&text).unwrap(),
        ..Judge::default()
    };
    let (again, events) = session(&program).play(Reporter::new(Options {
        judge,
        ..options(&program)
    }));
    assert_eq!((again.races.len(), again.summary.known), (0, 1));
    assert_eq!(events[0].answer(), Some(b'0'));
}

#[test]
fn losses_ends_and_counters_are_told() {
    let program = demo();
    let mut session = session(&program);
    session.say("loss\tno room for %25 more");
    session.say("loss\tno room for %25 more");
    session.say("stat\taccesses\t12");
    session.say("stat\taccesses\t3");
    let (killed, events) = session.play(Session::reporter(&program));
    let notes = |event: &&Event| matches!(event, Event::Note(_));
    assert_eq!(events.iter().filter(notes).count(), 1);
    assert!(events.contains(&Event::Note("no room for % more".to_owned())));
    assert!(killed.summary.partial);
    assert!(killed.summary.notes.iter().any(|note| note.contains("killed")));
    assert!(killed.summary.stats.is_empty());
    session.say("exit\tsignal 6");
    let options = Options {
        stats: true,
        ..options(&program)
    };
    let (ended, _) = session.play(Reporter::new(options));
    assert!(!ended.summary.partial);
    assert_eq!(ended.summary.stats["accesses"], 15);
}

#[test]
fn processes_on_one_channel_are_kept_apart() {
    let program = demo();
    let mut session = session(&program);
    let (stack, modules) = (program.mark("create"), program.modules());
    let address = program.address("counter");
    // A child with stack 2 of its own; then the parent goes on with the one it told.
    session.say("deadheat\t1\t99");
    session.say(modules.trim_end());
    session.say(&format!("stack\t2\t{stack:x}"));
    let one = |number: u32| {
        format!("race\t{number}\t{address:x}\t4\naccess\t0\twrite\tplain\t{address:x}\t4\t2\nend\t{number}")
    };
    session.say(&one(1));
    session.say("count\t1\t10\nexit\t0");
    session.say("deadheat\t1\t77");
    session.say(&one(2));
    let (report, _) = session.play(Session::reporter(&program));
    let lines: Vec<_> = { report.races.iter() }
        .map(|race| (race.accesses[0].frames[0].line, race.count))
        .collect();
    assert_eq!(
        lines,
        [
            (Some(program.line("price")), 1),
            (Some(program.line("create")), 10),
            (Some(program.line("add")), 1),
        ]
    );
    // The child's end is not the program's.
    assert!(report.summary.partial);
    // A new program in the same process has nothing of the old one.
    session.say("command\tother");
    session.say(&one(3));
    let (report, _) = session.play(Session::reporter(&program));
    assert_eq!(report.races.last().unwrap().accesses[0].frames, []);
}

#[test]
fn hints_say_what_is_obvious() {
    let program = demo();
    let hint = |first: &str, locks: &[&str], second: &str, other: &[&str]| {
        let mut text = Session::new(&program).lines;
        text.push_str("race\t1\t10\t4\n");
        for (words, locks) in [(first, locks), (second, other)] {
            text.push_str(&format!("access\t1\t{}\t10\t4\t-\n", words.replace(' ', "\t")));
            for lock in locks {
                text.push_str(&format!("lock\t{}\t-\n", lock.replace(' ', "\t")));
            }
        }
        text.push_str("end\t1\n");
        let mut reporter = Session::reporter(&program);
        text.lines().for_each(|line| drop(reporter.line(line)));
        reporter.finish().races.remove(0).hint
    };
    let (read, write) = ("read plain", "write plain");
    assert_eq!(hint(read, &[], write, &[]), None);
    for (text, part) in [
        (hint(read, &[], "write atomic", &[]), "One access is atomic"),
        (hint(read, &[], "free plain", &[]), "use after free"),
        (hint("free plain", &[], write, &[]), "may still use it"),
        (hint("free plain", &[], "free plain", &[]), "freed twice"),
        (
            hint(read, &["mutex ff"], write, &[]),
            "Only one side holds mutex 0xff.",
        ),
        (
            hint(read, &["mutex ff"], write, &["spin aa"]),
            "spin 0xaa and mutex 0xff",
        ),
        (
            hint(read, &["rwlock-read ff"], write, &["rwlock-read ff"]),
            "Rwlock 0xff is held at both",
        ),
    ] {
        let text = text.expect(part);
        assert!(text.contains(part), "{text}");
    }
}
